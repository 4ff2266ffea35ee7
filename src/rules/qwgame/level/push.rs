//! Moves of movers: they take players along, and stop at a player without room.

use super::super::game::Cause;
use super::{Level, MAX_PLAYERS};
use crate::bsp29::{Contents, HullSize};
use crate::model::Vec3;

/// Interval of the damage by a blocked mover, in seconds.
const HURT_INTERVAL: f64 = 0.5;

impl Level {
    /// Moves all movers.
    pub(super) fn advance_movers(&mut self, seconds: f32) {
        for number in 0..self.movers.len() {
            let step = self.movers[number].step(seconds);
            let way = self.movers[number].velocity * step;
            if way != Vec3::ZERO
                && let Some(slot) = self.push(number, way)
            {
                self.crush(number, slot);
                continue;
            }
            self.movers[number].pass(step);
        }
    }

    /// Moves a mover. Returns the slot of a player who blocks it; then nothing has moved.
    fn push(&mut self, number: usize, way: Vec3) -> Option<usize> {
        let mut old = [None; MAX_PLAYERS];
        self.movers[number].offset += way;
        for slot in 0..MAX_PLAYERS {
            let Some(player) = self.players[slot].as_ref().filter(|player| player.is_solid())
            else {
                continue;
            };
            let (origin, is_rider) = (player.state.origin, player.ground == Some(number));
            if !is_rider && !self.is_inside(number, origin) {
                continue;
            }
            let moved = origin + way;
            if self.has_room(slot, moved) {
                old[slot] = Some(origin);
                self.place(slot, moved);
            } else if !self.has_room(slot, origin) {
                for (slot, origin) in old.into_iter().enumerate() {
                    if let Some(origin) = origin {
                        self.place(slot, origin);
                    }
                }
                self.movers[number].offset = self.movers[number].offset - way;
                return Some(slot);
            }
        }
        None
    }

    fn place(&mut self, slot: usize, origin: Vec3) {
        if let Some(player) = &mut self.players[slot] {
            player.state.origin = origin;
        }
    }

    /// Whether a player at a place is inside a mover.
    fn is_inside(&self, number: usize, origin: Vec3) -> bool {
        let mover = &self.movers[number];
        let hull = self.map.hull(mover.model, HullSize::Player);
        hull.contents_at(origin - mover.offset) == Contents::SOLID
    }

    fn crush(&mut self, number: usize, slot: usize) {
        let mover = &mut self.movers[number];
        if mover.damage > 0 && self.seconds >= mover.next_hurt {
            mover.next_hurt = self.seconds + HURT_INTERVAL;
            let damage = mover.damage;
            self.hurt(slot, damage, Cause::Crushed);
        }
    }
}
