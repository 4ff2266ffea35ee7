//! Noclip movement: flight without collision.
//!
//! Velocity is not rounded in any game, regardless of `pmove_float`. Source: the base game's movement;
//! checked against 250 usercmds run by its bytecode.

use super::{
    Acceleration, Arithmetic, Pmove, PmoveWorld,
    command::{Substep, begin_step, drop_timers, run_command},
    velocity::{
        GROUND_FRICTION, Length, STOP_SPEED, accelerated, command_scale, normalized, slowed,
    },
};
use crate::bg::player_box::VIEW_HEIGHT;
use crate::model::{PlayerState, UserCmd, Vec3};

/// Friction: 1.5 times that on ground.
const FRICTION: f32 = GROUND_FRICTION * 1.5;
/// Acceleration, equal to that on ground.
const ACCELERATION: f32 = 10.0;

/// Runs one usercmd in noclip, with the rules common to all games and without a world.
pub fn noclip_move(
    state: &mut PlayerState,
    command: &UserCmd,
    fixed_ms: Option<i32>,
    how: Acceleration,
    arithmetic: Arithmetic,
) {
    run_command(state, command, fixed_ms, |state, command| {
        let step = begin_step(state, command, true, arithmetic);
        fly(state, command, &step, how, Length::Root);
        drop_timers(state, step.ms);
    });
}

impl<W: PmoveWorld + ?Sized> Pmove<'_, W> {
    /// Moves without collision for the length of the sub-step.
    pub(super) fn noclip_move(&mut self) {
        let (how, length) = (self.rules.acceleration, self.rules.variant.length);
        fly(self.state, self.command, &self.step, how, length);
    }
}

fn fly(
    state: &mut PlayerState,
    command: &UserCmd,
    step: &Substep,
    how: Acceleration,
    length: Length,
) {
    state.viewheight = VIEW_HEIGHT;
    let speed = state.velocity.length();
    state.velocity = if speed < 1.0 {
        Vec3::ZERO
    } else {
        let drop = step.arithmetic.friction_drop(speed.max(STOP_SPEED), FRICTION, step.seconds);
        slowed(state.velocity, speed, drop)
    };
    let scale = command_scale(command, state.speed, step.arithmetic);
    let mut wish = step.axes.forward * f32::from(command.forwardmove)
        + step.axes.right * f32::from(command.rightmove);
    wish[2] += f32::from(command.upmove);
    let (direction, length) = normalized(wish, length, step.arithmetic);
    state.velocity = accelerated(
        state.velocity,
        direction,
        length * scale,
        ACCELERATION,
        step.seconds,
        how,
        step.arithmetic,
    );
    state.origin = state.origin.add_scaled(state.velocity, step.seconds);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bg::pm_flag;

    /// Returns the start state of the vectors: spawned, looking along y.
    fn spawned() -> PlayerState {
        let mut state = PlayerState {
            command_time: 1000,
            pm_type: 1,
            pm_flags: pm_flag::RESPAWNED | pm_flag::TIME_KNOCKBACK,
            pm_time: 100,
            origin: Vec3::new(104.0, 1392.0, 33.0),
            gravity: 800,
            speed: 320,
            delta_angles: [0, 16_384, 0],
            ..PlayerState::default()
        };
        state.stats[0] = 125;
        state
    }

    #[test]
    fn noclip_vector() {
        let mut state = spawned();
        for line in include_str!("../../../../tests/vectors/flight/noclip.csv").lines().skip(1) {
            let column: Vec<&str> = line.split(',').collect();
            let number = |at: usize| column[at].parse::<i32>().expect("a number");
            let word = |at: usize| u32::from_str_radix(column[at], 16).expect("a word");
            let command = UserCmd {
                server_time: number(0),
                angles: [number(1), number(2), 0],
                forwardmove: number(3) as i8,
                rightmove: number(4) as i8,
                upmove: number(5) as i8,
                ..UserCmd::default()
            };
            noclip_move(&mut state, &command, None, Acceleration::Plain, Arithmetic::Bytecode);
            assert_eq!((state.pm_flags, state.pmove_framecount), (number(6), number(7)), "{line}");
            let ours = [state.origin.0, state.velocity.0].concat();
            let ours: Vec<u32> = ours.iter().map(|f| f.to_bits()).collect();
            let theirs: Vec<u32> = (8..14).map(word).collect();
            assert_eq!(ours, theirs, "{line}");
            let view = [state.viewangles[0], state.viewangles[1]].map(f32::to_bits);
            assert_eq!(view, [word(14), word(15)], "{line}");
            assert_eq!(state.viewheight, 26);
        }
    }

    #[test]
    fn noclip_step_matches_hand_computation() {
        let mut state = spawned();
        state.velocity = Vec3::new(200.0, 0.0, 0.0);
        let command = UserCmd { server_time: 1050, ..UserCmd::default() };
        noclip_move(&mut state, &command, None, Acceleration::Plain, Arithmetic::Bytecode);
        // Friction: 200·9·0.05 = 90. Distance: 110·0.05 = 5.5.
        assert!((state.velocity[0] - 110.0).abs() < 1e-4, "{:?}", state.velocity);
        assert!((state.origin[0] - 109.5).abs() < 1e-4, "{:?}", state.origin);

        let mut state = spawned();
        state.velocity = Vec3::new(0.5, 0.5, 0.0);
        noclip_move(&mut state, &command, None, Acceleration::Plain, Arithmetic::Bytecode);
        assert_eq!((state.velocity, state.origin), (Vec3::ZERO, spawned().origin));

        let mut state = spawned();
        let up = UserCmd { upmove: 127, ..command };
        noclip_move(&mut state, &up, None, Acceleration::Plain, Arithmetic::Bytecode);
        // From rest: 10·0.05·320 = 160 up, for 0.05 s.
        assert!((state.velocity[2] - 160.0).abs() < 1e-4, "{:?}", state.velocity);
        assert!((state.origin[2] - 41.0).abs() < 1e-4, "{:?}", state.origin);
    }

    #[test]
    fn fixed_steps_make_flight_independent_of_usercmd_lengths() {
        let command = |server_time| UserCmd { server_time, forwardmove: 127, ..UserCmd::default() };
        let mut whole = spawned();
        noclip_move(&mut whole, &command(1064), Some(8), Acceleration::Plain, Arithmetic::Bytecode);
        let mut cut = spawned();
        for time in [1008, 1032, 1064] {
            noclip_move(
                &mut cut,
                &command(time),
                Some(8),
                Acceleration::Plain,
                Arithmetic::Bytecode,
            );
        }
        assert_eq!((whole.origin, whole.velocity), (cut.origin, cut.velocity));
    }
}
