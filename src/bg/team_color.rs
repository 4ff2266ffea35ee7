//! The two sides of a game of teams.
//!
//! Source: the base game's teams.

use super::Team;

/// The colour of a team.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(usize)]
pub enum TeamColor {
    /// Red: the first of everything that teams have two of.
    Red = 0,
    /// Blue.
    Blue = 1,
}

impl TeamColor {
    /// Both.
    pub const ALL: [Self; 2] = [Self::Red, Self::Blue];

    /// The other side.
    #[must_use]
    pub const fn other(self) -> Self {
        match self {
            Self::Red => Self::Blue,
            Self::Blue => Self::Red,
        }
    }

    /// The team that clients are told.
    #[must_use]
    pub const fn team(self) -> Team {
        match self {
            Self::Red => Team::Red,
            Self::Blue => Team::Blue,
        }
    }

    /// In the middle of a sentence.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Red => "red",
            Self::Blue => "blue",
        }
    }

    /// At the beginning of a sentence.
    #[must_use]
    pub const fn title(self) -> &'static str {
        match self {
            Self::Red => "Red",
            Self::Blue => "Blue",
        }
    }

    /// Before the word flag.
    #[must_use]
    pub const fn upper_name(self) -> &'static str {
        match self {
            Self::Red => "RED",
            Self::Blue => "BLUE",
        }
    }
}
