//! Team flags: item, powerup and sound of each. A flag is named by the color of its team.
//!
//! Source: the base game's capture the flag.

use crate::bg::{Powerup, TeamColor, TeamSound};

/// Constants of one flag.
#[derive(Debug)]
pub(super) struct FlagSpec {
    pub(super) color: TeamColor,
    pub(super) item: i32,
    /// Powerup that marks the carrier of the flag.
    pub(super) powerup: Powerup,
    pub(super) back_sound: TeamSound,
}

/// Constants of both flags, by color.
pub(super) const FLAGS: [FlagSpec; 2] = [
    FlagSpec {
        color: TeamColor::Red,
        item: 34,
        powerup: Powerup::RedFlag,
        back_sound: TeamSound::RedReturned,
    },
    FlagSpec {
        color: TeamColor::Blue,
        item: 35,
        powerup: Powerup::BlueFlag,
        back_sound: TeamSound::BlueReturned,
    },
];

/// Returns the flag of a team.
pub(super) const fn flag_of(color: TeamColor) -> &'static FlagSpec {
    &FLAGS[color as usize]
}

/// Returns the color of a flag by its item, if the item is one.
pub(super) fn color_of_item(number: i32) -> Option<TeamColor> {
    FLAGS.iter().find(|spec| spec.item == number).map(|spec| spec.color)
}
