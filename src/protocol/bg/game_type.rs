//! Game types (`g_gametype`).
//!
//! Game types of the Team Arena, and OpenArena's beyond the base game's, are not supported. Source: the base
//! game's and OpenArena's game types. Engine names: `GT_*`.

wire_enum! {
    /// A game type (`g_gametype`).
    #[derive(Default)]
    pub enum GameType {
        /// Free for all.
        #[default]
        FreeForAll = 0,
        /// Tournament: one against one, the others queue.
        Tournament = 1,
        /// Single player, not hosted by servers.
        SinglePlayer = 2,
        /// Team deathmatch.
        TeamDeathmatch = 3,
        /// Capture the flag.
        CaptureTheFlag = 4,
    }
}

/// Names of a game type.
struct GameTypeRow {
    kind: GameType,
    /// Title in texts for players.
    title: &'static str,
    /// Name in the `gametype` key of map entities.
    key: &'static str,
}

const ROWS: [GameTypeRow; 5] = [
    GameTypeRow { kind: GameType::FreeForAll, title: "Free For All", key: "ffa" },
    GameTypeRow { kind: GameType::Tournament, title: "Tournament", key: "tournament" },
    GameTypeRow { kind: GameType::SinglePlayer, title: "Single Player", key: "single" },
    GameTypeRow { kind: GameType::TeamDeathmatch, title: "Team Deathmatch", key: "team" },
    GameTypeRow { kind: GameType::CaptureTheFlag, title: "Capture the Flag", key: "ctf" },
];

impl GameType {
    /// Returns the game type of a `g_gametype` number. `None` if it is not supported.
    #[must_use]
    pub fn of_number(number: i32) -> Option<Self> {
        ROWS.iter().map(|row| row.kind).find(|&kind| kind as i32 == number)
    }

    /// Whether red plays against blue.
    #[must_use]
    pub const fn has_teams(self) -> bool {
        matches!(self, Self::TeamDeathmatch | Self::CaptureTheFlag)
    }

    /// Whether a server hosts it; false for single player.
    #[must_use]
    pub const fn is_for_many(self) -> bool {
        !matches!(self, Self::SinglePlayer)
    }

    /// Whether the level has flags.
    #[must_use]
    pub const fn has_flags(self) -> bool {
        matches!(self, Self::CaptureTheFlag)
    }

    /// Title in texts for players.
    #[must_use]
    pub fn title(self) -> &'static str {
        self.row().title
    }

    /// Name in the `gametype` key of map entities.
    #[must_use]
    pub fn key(self) -> &'static str {
        self.row().key
    }

    fn row(self) -> &'static GameTypeRow {
        &ROWS[self as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn game_type_row_equals_its_number() {
        for (number, row) in ROWS.iter().enumerate() {
            assert_eq!(row.kind as usize, number);
            assert_eq!(GameType::of_number(number as i32), Some(row.kind));
        }
        assert_eq!((GameType::of_number(-1), GameType::of_number(5)), (None, None));
    }
}
