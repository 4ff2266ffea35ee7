//! Torso animation: weapon, taunt and team orders (`PM_TorsoAnimation`).
//!
//! Source: the base game's movement; OpenArena's team gestures.

use super::{
    Pmove, PmoveWorld,
    animation::{continue_torso, start_torso},
    events::queue,
};
use crate::bg::{Event, Weapon, WeaponState, animation};
use crate::model::Buttons;

/// Torso timer of a taunt, in ms.
const TAUNT_MS: i32 = 2294;
/// Torso timer of a team order, in ms.
const ORDER_MS: i32 = 600;

/// Buttons of team orders with their animations, by precedence.
const ORDERS: [(Buttons, i32); 6] = [
    (Buttons::GETFLAG, animation::TORSO_GETFLAG),
    (Buttons::GUARDBASE, animation::TORSO_GUARDBASE),
    (Buttons::PATROL, animation::TORSO_PATROL),
    (Buttons::FOLLOWME, animation::TORSO_FOLLOWME),
    (Buttons::AFFIRMATIVE, animation::TORSO_AFFIRMATIVE),
    (Buttons::NEGATIVE, animation::TORSO_NEGATIVE),
];

impl<W: PmoveWorld + ?Sized> Pmove<'_, W> {
    /// Starts a taunt or a team order gesture, unless the torso timer runs.
    pub(super) fn gesture(&mut self) {
        let down = |button| self.command.buttons.contains(button);
        let taunts = down(Buttons::GESTURE);
        let order = ORDERS.iter().find(|(button, _)| down(*button));
        if self.state.torso_timer != 0 {
            return;
        }
        if taunts {
            start_torso(self.state, animation::TORSO_GESTURE);
            self.state.torso_timer = TAUNT_MS;
            queue(self.state, Event::Taunt, 0);
        } else if let Some((_, animation)) = order.filter(|_| self.rules.variant.team_gestures) {
            start_torso(self.state, *animation);
            self.state.torso_timer = ORDER_MS;
        }
    }

    /// Continues the torso animation of a ready weapon.
    pub(super) fn hold_weapon(&mut self) {
        if self.state.weaponstate == WeaponState::Ready {
            continue_torso(self.state, resting(self.state.weapon));
        }
    }
}

/// Returns the torso animation of a ready weapon.
pub(super) const fn resting(weapon: i32) -> i32 {
    if weapon == Weapon::Gauntlet as i32 { animation::TORSO_STAND2 } else { animation::TORSO_STAND }
}
