//! Ducking: player box and view height (`PM_CheckDuck`).
//!
//! Source: the base game's movement.

use super::{Pmove, PmoveWorld};
use crate::bg::{
    PmType,
    player_box::{CROUCHED_MAXS, CROUCHED_VIEW_HEIGHT, DEAD_MAXS, DEAD_VIEW_HEIGHT, MAXS, MINS},
    pm_flag,
};
use crate::model::Vec3;

/// Half the side of the box of an expanded invulnerability sphere, in units.
const SPHERE_HALF: f32 = 42.0;

impl<W: PmoveWorld + ?Sized> Pmove<'_, W> {
    /// Sets bounding box and view height. A ducked player stands up only if the standing box fits.
    pub(super) fn check_duck(&mut self) {
        if self.is_invulnerable() {
            if self.has(pm_flag::INVULEXPAND) {
                self.set_box(
                    Vec3::new(-SPHERE_HALF, -SPHERE_HALF, -SPHERE_HALF),
                    Vec3::new(SPHERE_HALF, SPHERE_HALF, SPHERE_HALF),
                );
            } else {
                self.set_box(MINS, CROUCHED_MAXS);
            }
            self.state.pm_flags |= pm_flag::DUCKED;
            self.state.viewheight = CROUCHED_VIEW_HEIGHT;
            return;
        }
        self.state.pm_flags &= !pm_flag::INVULEXPAND;
        if self.state.pm_type == PmType::Dead {
            self.set_box(MINS, DEAD_MAXS);
            self.state.viewheight = DEAD_VIEW_HEIGHT;
            return;
        }
        if self.command.upmove < 0 {
            self.state.pm_flags |= pm_flag::DUCKED;
        } else if self.has(pm_flag::DUCKED) {
            self.set_box(MINS, MAXS);
            if !self.trace(self.state.origin, self.state.origin).allsolid {
                self.state.pm_flags &= !pm_flag::DUCKED;
            }
        }
        if self.has(pm_flag::DUCKED) {
            self.set_box(MINS, CROUCHED_MAXS);
            self.state.viewheight = CROUCHED_VIEW_HEIGHT;
        } else {
            self.set_box(MINS, MAXS);
            self.state.viewheight = self.rules.view_height;
        }
    }

    fn set_box(&mut self, mins: Vec3, maxs: Vec3) {
        self.outcome.mins = mins;
        self.outcome.maxs = maxs;
    }
}
