//! What is played on a level: everybody alone, in pairs, in teams, around flags.
//!
//! Source: the base game's and OpenArena's game types; those of OpenArena beyond the base game's, and
//! the team arena's, are not played.

wire_enum! {
    /// What is played.
    #[derive(Default)]
    pub enum GameType {
        /// Everybody for themselves.
        #[default]
        FreeForAll = 0,
        /// One against one; the others wait for their turn.
        Tournament = 1,
        /// Everybody for themselves, alone at home.
        SinglePlayer = 2,
        /// Red against blue.
        TeamDeathmatch = 3,
        /// Red against blue, for each other's flag.
        CaptureTheFlag = 4,
    }
}

/// What a game type is called.
struct Row {
    kind: GameType,
    /// In texts that players read.
    title: &'static str,
    /// In the `gametype` key of maps' entities.
    key: &'static str,
}

const ROWS: [Row; 5] = [
    Row { kind: GameType::FreeForAll, title: "Free For All", key: "ffa" },
    Row { kind: GameType::Tournament, title: "Tournament", key: "tournament" },
    Row { kind: GameType::SinglePlayer, title: "Single Player", key: "single" },
    Row { kind: GameType::TeamDeathmatch, title: "Team Deathmatch", key: "team" },
    Row { kind: GameType::CaptureTheFlag, title: "Capture the Flag", key: "ctf" },
];

impl GameType {
    /// The type of a number of the setting `g_gametype`. None for those that are not played.
    #[must_use]
    pub fn of_number(number: i32) -> Option<Self> {
        ROWS.iter().map(|row| row.kind).find(|&kind| kind as i32 == number)
    }

    /// Whether red plays against blue.
    #[must_use]
    pub const fn has_teams(self) -> bool {
        matches!(self, Self::TeamDeathmatch | Self::CaptureTheFlag)
    }

    /// Whether a server plays it: not the game that somebody plays alone at home.
    #[must_use]
    pub const fn is_for_many(self) -> bool {
        !matches!(self, Self::SinglePlayer)
    }

    /// Whether flags lie on the level.
    #[must_use]
    pub const fn has_flags(self) -> bool {
        matches!(self, Self::CaptureTheFlag)
    }

    /// What players call it.
    #[must_use]
    pub fn title(self) -> &'static str {
        self.row().title
    }

    /// What entities of maps call it.
    #[must_use]
    pub fn key(self) -> &'static str {
        self.row().key
    }

    fn row(self) -> &'static Row {
        &ROWS[self as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_type_stands_at_its_number() {
        for (number, row) in ROWS.iter().enumerate() {
            assert_eq!(row.kind as usize, number);
            assert_eq!(GameType::of_number(number as i32), Some(row.kind));
        }
        assert_eq!((GameType::of_number(-1), GameType::of_number(5)), (None, None));
    }
}
