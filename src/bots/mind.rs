//! What a bot does: fly about, turning smoothly, and press a button now and then.
//!
//! Everything is drawn from the seed and from the milliseconds played, in whole numbers, so the same
//! seed plays the same on every machine.

use rand_pcg::{
    Pcg32,
    rand_core::{Rng as _, SeedableRng as _},
};

use crate::model::{Buttons, UserCmd};

/// Angles are 16-bit fractions of a turn.
const TURN: i32 = 1 << 16;
/// Fastest turn, in angle units per millisecond: about a third of a turn per second.
const MAX_YAW_RATE: i32 = 22;
/// Change of the turn's speed per step.
const YAW_RATE_STEP: i32 = 2;
/// Steepest look up or down.
const MAX_PITCH: i32 = TURN / 8;
/// Change of the pitch, in angle units per millisecond.
const PITCH_RATE: i32 = 5;

/// A bot's intentions.
#[derive(Debug)]
pub(super) struct Mind {
    random: Pcg32,
    yaw: i32,
    yaw_rate: i32,
    wanted_yaw_rate: i32,
    pitch: i32,
    wanted_pitch: i32,
    forward: i8,
    right: i8,
    up: i8,
    buttons: Buttons,
    /// Milliseconds until it thinks of something else.
    decides_in: u32,
    /// Milliseconds until it says something.
    talks_in: u32,
}

/// What a bot says, in turn.
const SAYINGS: [&str; 6] =
    ["hello", "nice shot", "where is everybody?", "lag?", "good game", "one more round"];

impl Mind {
    pub(super) fn new(seed: u64) -> Self {
        let mut random = Pcg32::seed_from_u64(seed);
        let yaw = random.next_u32() as i32 & (TURN - 1);
        let talks_in = 5000 + random.next_u32() % 20_000;
        Self {
            random,
            yaw,
            yaw_rate: 0,
            wanted_yaw_rate: 0,
            pitch: 0,
            wanted_pitch: 0,
            forward: 0,
            right: 0,
            up: 0,
            buttons: Buttons::default(),
            decides_in: 0,
            talks_in,
        }
    }

    /// The next usercmd, `step_ms` after the last, for the level time `server_time`.
    pub(super) fn step(&mut self, server_time: i32, step_ms: u32, weapon: u8) -> UserCmd {
        match self.decides_in.checked_sub(step_ms) {
            Some(left) => self.decides_in = left,
            None => self.decide(),
        }
        self.talks_in = self.talks_in.saturating_sub(step_ms);
        let step = step_ms.min(200) as i32;
        self.yaw_rate +=
            (self.wanted_yaw_rate - self.yaw_rate).clamp(-YAW_RATE_STEP, YAW_RATE_STEP);
        self.yaw = (self.yaw + self.yaw_rate * step) & (TURN - 1);
        let most = PITCH_RATE * step;
        self.pitch += (self.wanted_pitch - self.pitch).clamp(-most, most);
        UserCmd {
            server_time,
            angles: [self.pitch & (TURN - 1), self.yaw, 0],
            buttons: self.buttons,
            weapon,
            forwardmove: self.forward,
            rightmove: self.right,
            upmove: self.up,
        }
    }

    /// What it says now, if it has something to say.
    pub(super) fn talk(&mut self) -> Option<&'static str> {
        if self.talks_in > 0 {
            return None;
        }
        self.talks_in = 20_000 + self.below(20_000);
        let which = self.below(SAYINGS.len() as u32);
        SAYINGS.get(which as usize).copied()
    }

    fn decide(&mut self) {
        self.decides_in = 400 + self.below(1600);
        self.wanted_yaw_rate = self.below(2 * MAX_YAW_RATE as u32 + 1) as i32 - MAX_YAW_RATE;
        self.wanted_pitch = self.below(2 * MAX_PITCH as u32 + 1) as i32 - MAX_PITCH;
        self.forward = [127, 127, 127, 127, 127, 64, 0, -127][self.below(8) as usize];
        self.right = [0, 0, 0, 127, -127][self.below(5) as usize];
        self.up = [0, 0, 0, 127, -127][self.below(5) as usize];
        let attacks = self.below(4) == 0;
        self.buttons = if attacks { Buttons::ATTACK } else { Buttons::default() };
    }

    fn below(&mut self, limit: u32) -> u32 {
        self.random.next_u32() % limit
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn play(seed: u64) -> Vec<UserCmd> {
        let mut mind = Mind::new(seed);
        (0..6000).map(|step| mind.step(step * 16, 16, 2)).collect()
    }

    #[test]
    fn the_same_seed_plays_the_same() {
        assert_eq!(play(1), play(1));
        assert_ne!(play(1), play(2));
    }

    #[test]
    fn it_turns_smoothly_and_uses_every_key() {
        let played = play(3);
        for pair in played.windows(2) {
            for axis in [0, 1] {
                let turned = (pair[1].angles[axis] - pair[0].angles[axis]) as i16;
                assert!(turned.unsigned_abs() <= 16 * 22, "{turned}");
            }
            assert!(pair[1].angles.iter().all(|angle| (0..TURN).contains(angle)));
        }
        let pressed = |key: fn(&UserCmd) -> bool| played.iter().any(key);
        assert!(pressed(|usercmd| usercmd.forwardmove > 0) && pressed(|u| u.forwardmove < 0));
        assert!(pressed(|usercmd| usercmd.rightmove > 0) && pressed(|u| u.rightmove < 0));
        assert!(pressed(|usercmd| usercmd.upmove > 0) && pressed(|u| u.upmove < 0));
        assert!(pressed(|u| u.buttons == Buttons::ATTACK) && pressed(|u| u.buttons.0 == 0));
    }
}
