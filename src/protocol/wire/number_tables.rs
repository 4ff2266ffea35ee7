//! Tables of game numbers: those of 1.32 and of other versions.
//!
//! Source: `tests/vectors/map_68_to_43.csv`; demos of Quake Live. Engine names: `EV_*`, `CS_*`, `PERS_*`.

/// Numbers of 1.32, from `first` to `last`, and the older number of the first one.
pub(super) struct Range {
    first: i32,
    last: i32,
    older: i32,
}

const fn range(first: i32, last: i32, older: i32) -> Range {
    Range { first, last, older }
}

/// Rows of a translation. Of two rows with one older number, the first is its meaning.
pub(super) struct Table(&'static [Range]);

impl Table {
    /// Returns the older number; `None` if the older game has none.
    pub(super) fn older(&self, number: i32) -> Option<i32> {
        let row = self.0.iter().find(|row| (row.first..=row.last).contains(&number))?;
        Some(number - row.first + row.older)
    }

    /// Returns the number of 1.32.
    pub(super) fn newer(&self, number: i32) -> Option<i32> {
        let row = self
            .0
            .iter()
            .find(|row| (row.older..=row.older + row.last - row.first).contains(&number))?;
        Some(number - row.older + row.first)
    }
}

/// Events. `GlobalTeamSound`, `Bullet`, `ScorePlum` and those of the team arena have no older number.
pub(super) const EVENTS: Table = Table(&[
    range(0, 46, 0),
    // Bullet hits, missile hit, missile miss.
    range(48, 51, 47),
    // A missile that misses on metal.
    range(52, 52, 50),
    // Rail trail, shotgun.
    range(53, 54, 51),
    // Pain to the gibbed player.
    range(56, 64, 54),
    // Taunt.
    range(76, 76, 64),
]);

/// Configstrings; the game version is 20, locations begin at 608.
pub(super) const CONFIGSTRINGS: Table = Table(&[
    range(0, 11, 0),
    range(20, 23, 12),
    range(27, 27, 27),
    range(32, 607, 32),
    range(608, 671, 672),
]);

/// Persistent values. The count and kind of rewards have no number of 1.32; see `sent_player`.
pub(super) const PERSISTENT: Table =
    Table(&[range(0, 4, 0), range(6, 6, 7), range(8, 10, 8), range(13, 13, 11)]);

/// Events of Quake Live, as far as demos show them.
pub(super) const EVENTS_QUAKE_LIVE: Table = Table(&[
    // Pickups.
    range(19, 20, 15),
    // Weapon fired.
    range(23, 23, 20),
    // Items, teleports, sounds, hits, rail trail.
    range(40, 53, 37),
    // Obituary, sounds of powerups.
    range(60, 63, 58),
]);

/// Configstrings of Quake Live: those of 1.32 without the votes of teams.
pub(super) const CONFIGSTRINGS_QUAKE_LIVE: Table = Table(&[
    range(0, 11, 0),
    range(20, 22, 12),
    range(23, 23, 658),
    range(27, 27, 15),
    range(32, 671, 17),
]);

/// Persistent values of Quake Live.
pub(super) const PERSISTENT_QUAKE_LIVE: Table =
    Table(&[range(0, 4, 0), range(6, 6, 6), range(7, 7, 14), range(8, 14, 7)]);
