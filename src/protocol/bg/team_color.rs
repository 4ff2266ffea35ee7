//! The two teams of a team game.
//!
//! Source: the base game's teams.

use super::Team;

/// A team color.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(usize)]
pub enum TeamColor {
    /// Red, the first in per-team arrays.
    Red = 0,
    /// Blue.
    Blue = 1,
}

impl TeamColor {
    /// Both colors.
    pub const ALL: [Self; 2] = [Self::Red, Self::Blue];

    /// Returns the opposing team.
    #[must_use]
    pub const fn other(self) -> Self {
        match self {
            Self::Red => Self::Blue,
            Self::Blue => Self::Red,
        }
    }

    /// Returns the team number of player states.
    #[must_use]
    pub const fn team(self) -> Team {
        match self {
            Self::Red => Team::Red,
            Self::Blue => Team::Blue,
        }
    }

    /// Lower-case name, for the middle of a sentence.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Red => "red",
            Self::Blue => "blue",
        }
    }

    /// Capitalized name, for the start of a sentence.
    #[must_use]
    pub const fn title(self) -> &'static str {
        match self {
            Self::Red => "Red",
            Self::Blue => "Blue",
        }
    }

    /// Upper-case name, used before the word "flag".
    #[must_use]
    pub const fn upper_name(self) -> &'static str {
        match self {
            Self::Red => "RED",
            Self::Blue => "BLUE",
        }
    }
}
