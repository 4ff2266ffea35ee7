//! Movers: brush entities that move between stops by their own clock.
//!
//! The clock counts down to the next action, so that it stays exact in a level of weeks. It stands while a player
//! blocks the mover. A stop ends the move of a frame; the rest of the frame is lost,
//! as in the engine.
//!
//! Source: QuakeWorld protocol 28. Engine names: `MOVETYPE_PUSH`, `ltime`, `func_train`, `path_corner`.

use crate::model::Vec3;

/// Shortest time of a move, in seconds.
const MIN_TRAVEL: f32 = 0.1;

/// A place where a mover stops.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Stop {
    /// Offset of the model there.
    pub offset: Vec3,
    /// Pause, in seconds.
    pub wait: f32,
}

/// Next action of a mover.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// Arrives at a stop.
    Arrive(usize),
    /// Leaves a stop.
    Leave(usize),
}

/// A brush entity that moves.
#[derive(Clone, Debug, PartialEq)]
pub struct Mover {
    /// Model of the map.
    pub model: usize,
    /// Offset of the model.
    pub offset: Vec3,
    /// Velocity, in units per second.
    pub velocity: Vec3,
    /// Damage to a player in the way, twice a second.
    pub damage: i32,
    stops: Vec<Stop>,
    speed: f32,
    phase: Phase,
    /// Time to the next action, in seconds.
    left: f32,
    /// Level time from which it hurts again.
    pub(super) next_hurt: f64,
}

impl Mover {
    /// Creates a mover at its first stop. It leaves after a pause, in seconds.
    #[must_use]
    pub fn new(model: usize, stops: Vec<Stop>, speed: f32, damage: i32, pause: f32) -> Self {
        let offset = stops.first().map_or(Vec3::ZERO, |stop| stop.offset);
        Self {
            model,
            offset,
            velocity: Vec3::ZERO,
            damage,
            stops,
            speed: if speed > 0.0 { speed } else { 100.0 },
            phase: Phase::Leave(0),
            left: pause,
            next_hurt: 0.0,
        }
    }

    /// Returns the part of a frame before the next action, in seconds.
    pub(super) fn step(&self, seconds: f32) -> f32 {
        self.left.min(seconds)
    }

    /// Passes time that was not blocked, and acts when it is due.
    pub(super) fn pass(&mut self, seconds: f32) {
        self.left -= seconds;
        if self.left > 0.0 {
            return;
        }
        self.left = 0.0;
        if self.stops.len() < 2 {
            return;
        }
        match self.phase {
            Phase::Arrive(stop) => {
                let Stop { offset, wait } = self.stops[stop];
                self.offset = offset;
                self.velocity = Vec3::ZERO;
                if wait <= 0.0 {
                    return self.leave(stop);
                }
                self.left = wait;
                self.phase = Phase::Leave(stop);
            }
            Phase::Leave(stop) => self.leave(stop),
        }
    }

    fn leave(&mut self, stop: usize) {
        let to = (stop + 1) % self.stops.len();
        let way = self.stops[to].offset - self.offset;
        let travel = (way.length() / self.speed).max(MIN_TRAVEL);
        self.velocity = Vec3(way.0.map(|part| part / travel));
        self.left = travel;
        self.phase = Phase::Arrive(to);
    }
}
