//! Team flags: team, powerup, item and names of each.
//!
//! Source: the base game's capture the flag.

use crate::bg::{Powerup, Team, TeamColor, TeamSound};

/// Flag of a team.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Flag {
    Red,
    Blue,
}

/// Constants of one flag.
#[derive(Debug)]
pub(super) struct FlagSpec {
    pub(super) flag: Flag,
    pub(super) team: Team,
    pub(super) item: i32,
    pub(super) powerup: Powerup,
    pub(super) back_sound: TeamSound,
    pub(super) name: &'static str,
}

/// Constants of both flags.
pub(super) const FLAGS: [FlagSpec; 2] = [
    FlagSpec {
        flag: Flag::Red,
        team: Team::Red,
        item: 34,
        powerup: Powerup::RedFlag,
        back_sound: TeamSound::RedReturned,
        name: "RED",
    },
    FlagSpec {
        flag: Flag::Blue,
        team: Team::Blue,
        item: 35,
        powerup: Powerup::BlueFlag,
        back_sound: TeamSound::BlueReturned,
        name: "BLUE",
    },
];

impl Flag {
    /// Returns the flag of an item index, if the item is one.
    pub(super) fn of_item(number: i32) -> Option<Self> {
        FLAGS.iter().find(|spec| spec.item == number).map(|spec| spec.flag)
    }

    /// Team that owns the flag.
    pub(super) fn team(self) -> Team {
        self.spec().team
    }

    /// Returns the flag of a team color.
    pub(super) const fn of_color(color: TeamColor) -> Self {
        match color {
            TeamColor::Red => Self::Red,
            TeamColor::Blue => Self::Blue,
        }
    }

    /// Team color of the flag.
    pub(super) const fn color(self) -> TeamColor {
        match self {
            Self::Red => TeamColor::Red,
            Self::Blue => TeamColor::Blue,
        }
    }

    /// Powerup that marks the carrier of the flag.
    pub(super) fn powerup(self) -> Powerup {
        self.spec().powerup
    }

    /// Team name in messages.
    pub(super) fn name(self) -> &'static str {
        self.spec().name
    }

    /// Flag of the other team.
    pub(super) const fn other(self) -> Self {
        match self {
            Self::Red => Self::Blue,
            Self::Blue => Self::Red,
        }
    }

    /// Constants of the flag.
    pub(super) fn spec(self) -> &'static FlagSpec {
        &FLAGS[self as usize]
    }
}
