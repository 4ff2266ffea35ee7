//! Usercmd timing: division into sub-steps, and the start of each sub-step before the move.
//!
//! Invariants: a usercmd runs a bounded number of sub-steps (it covers at most [`LONGEST_LAG_MS`]); the
//! command time never decreases. Source: the base game's movement.

use super::{Arithmetic, HEALTH, angles, set};
use crate::bg::{PmType, entity_flag, pm_flag};
use crate::model::{Buttons, PlayerState, UserCmd, trig::Axes};

/// Maximum length of a sub-step without `pmove_fixed`, in ms.
pub const LONGEST_STEP_MS: i32 = 66;
/// Maximum time that one usercmd covers, in ms.
pub const LONGEST_LAG_MS: i32 = 1000;
/// Mask of the pmove frame counter: 6 bits, as in the client's prediction.
const FRAME_COUNT_MASK: i32 = 63;
/// Minimum upward move of a jump.
pub(super) const JUMP_MOVE: i8 = 10;
/// Maximum forward or sideways move with the walk button.
const WALK_MOVE: u8 = 64;

/// A sub-step of a usercmd.
#[derive(Clone, Copy, Debug)]
pub(super) struct Substep {
    /// Length in ms, 1 to 200.
    pub(super) ms: i32,
    /// Length in seconds.
    pub(super) seconds: f32,
    /// Axes of the view angles.
    pub(super) axes: Axes,
    /// Arithmetic of the sub-step.
    pub(super) arithmetic: Arithmetic,
}

/// Runs `step` for each sub-step of a usercmd, of at most [`LONGEST_STEP_MS`] or of `fixed_ms`.
///
/// Changes to the usercmd (moves cleared while talking) apply to later sub-steps too.
pub(super) fn run_command(
    state: &mut PlayerState,
    command: &UserCmd,
    fixed_ms: Option<i32>,
    mut step: impl FnMut(&mut PlayerState, &mut UserCmd),
) {
    let end = command.server_time;
    if end < state.command_time {
        return;
    }
    let longest = fixed_ms.unwrap_or(LONGEST_STEP_MS).max(1);
    state.command_time = state.command_time.max(end.saturating_sub(LONGEST_LAG_MS));
    state.pmove_framecount = (state.pmove_framecount + 1) & FRAME_COUNT_MASK;
    let mut command = *command;
    while state.command_time < end {
        let ms = (end - state.command_time).min(longest);
        command.server_time = state.command_time + ms;
        step(state, &mut command);
        if state.pm_flags & pm_flag::JUMP_HELD != 0 {
            command.upmove = 20;
        }
    }
}

/// Starts a sub-step: flags from buttons, command time, view angles.
pub(super) fn begin_step(
    state: &mut PlayerState,
    command: &mut UserCmd,
    noclip_fires: bool,
    arithmetic: Arithmetic,
) -> Substep {
    if command.forwardmove.unsigned_abs() > WALK_MOVE
        || command.rightmove.unsigned_abs() > WALK_MOVE
    {
        command.buttons.0 &= !Buttons::WALKING.0;
    }
    let down = |buttons| command.buttons.contains(buttons);
    set(&mut state.e_flags, entity_flag::TALK, down(Buttons::TALK));
    let fires = down(Buttons::ATTACK)
        && state.pm_flags & pm_flag::RESPAWNED == 0
        && state.pm_type != PmType::Intermission
        && (noclip_fires || state.pm_type != PmType::Noclip)
        && usize::try_from(state.weapon).ok().and_then(|weapon| state.ammo.get(weapon)) != Some(&0);
    set(&mut state.e_flags, entity_flag::FIRING, fires);
    if state.stats[HEALTH] > 0 && !down(Buttons::ATTACK) && !down(Buttons::USE_HOLDABLE) {
        state.pm_flags &= !pm_flag::RESPAWNED;
    }
    if down(Buttons::TALK) {
        command.buttons = Buttons::TALK;
        clear_moves(command);
    }

    let ms = command.server_time.saturating_sub(state.command_time).clamp(1, 200);
    state.command_time = command.server_time;
    angles::turn(state, command);
    let axes = arithmetic.axes(state.viewangles);

    if command.upmove < JUMP_MOVE {
        state.pm_flags &= !pm_flag::JUMP_HELD;
    }
    if command.forwardmove < 0 {
        state.pm_flags |= pm_flag::BACKWARDS_RUN;
    } else if command.forwardmove > 0 || command.rightmove != 0 {
        state.pm_flags &= !pm_flag::BACKWARDS_RUN;
    }
    if state.pm_type >= PmType::Dead as i32 {
        clear_moves(command);
    }
    Substep { ms, seconds: arithmetic.seconds(ms), axes, arithmetic }
}

/// Advances the movement timer and the animation timers by the length of a sub-step.
pub(super) fn drop_timers(state: &mut PlayerState, ms: i32) {
    if state.pm_time != 0 {
        if ms >= state.pm_time {
            state.pm_flags &= !pm_flag::ALL_TIMES;
            state.pm_time = 0;
        } else {
            state.pm_time -= ms;
        }
    }
    for timer in [&mut state.legs_timer, &mut state.torso_timer] {
        if *timer > 0 {
            *timer = (*timer - ms).max(0);
        }
    }
}

fn clear_moves(command: &mut UserCmd) {
    command.forwardmove = 0;
    command.rightmove = 0;
    command.upmove = 0;
}

#[cfg(test)]
mod tests {
    use super::*;

    fn steps_of(command_time: i32, server_time: i32, fixed_ms: Option<i32>) -> Vec<i32> {
        let mut state = PlayerState { command_time, ..PlayerState::default() };
        let command = UserCmd { server_time, ..UserCmd::default() };
        let mut lengths = Vec::new();
        run_command(&mut state, &command, fixed_ms, |state, command| {
            lengths.push(begin_step(state, command, true, Arithmetic::Bytecode).ms);
        });
        lengths
    }

    #[test]
    fn usercmds_are_divided_into_sub_steps() {
        assert_eq!(steps_of(0, 150, None), [66, 66, 18]);
        assert_eq!(steps_of(0, 66, None), [66]);
        assert_eq!(steps_of(100, 132, Some(8)), [8; 4]);
        assert_eq!(steps_of(100, 99, None), [0; 0]);
        assert_eq!(steps_of(0, 10_000, None).iter().sum::<i32>(), LONGEST_LAG_MS);
        assert_eq!(steps_of(i32::MIN, i32::MAX, None).len(), 16);
    }

    #[test]
    fn talking_player_neither_moves_nor_fires() {
        let mut state = PlayerState { weapon: 2, ..PlayerState::default() };
        state.stats[HEALTH] = 100;
        state.ammo[2] = 10;
        let mut command = UserCmd {
            server_time: 8,
            buttons: Buttons(Buttons::TALK.0 | Buttons::GESTURE.0),
            forwardmove: 127,
            ..UserCmd::default()
        };
        begin_step(&mut state, &mut command, true, Arithmetic::Bytecode);
        assert_eq!((command.forwardmove, command.buttons), (0, Buttons::TALK));
        assert_eq!(state.e_flags, entity_flag::TALK);
    }

    #[test]
    fn spawned_player_fires_after_releasing_attack() {
        let mut state =
            PlayerState { weapon: 2, pm_flags: pm_flag::RESPAWNED, ..PlayerState::default() };
        state.stats[HEALTH] = 100;
        state.ammo[2] = 10;
        let mut shown = Vec::new();
        for (buttons, server_time) in [(1, 8), (0, 16), (1, 24)] {
            let mut command =
                UserCmd { server_time, buttons: Buttons(buttons), ..UserCmd::default() };
            begin_step(&mut state, &mut command, true, Arithmetic::Bytecode);
            shown.push(state.e_flags & entity_flag::FIRING);
        }
        assert_eq!(shown, [0, 0, entity_flag::FIRING]);
    }

    #[test]
    fn movement_timer_clears_its_flags() {
        let mut state = PlayerState {
            pm_time: 100,
            pm_flags: pm_flag::TIME_KNOCKBACK | pm_flag::DUCKED,
            torso_timer: 20,
            ..PlayerState::default()
        };
        drop_timers(&mut state, 66);
        assert_eq!((state.pm_time, state.torso_timer), (34, 0));
        assert_ne!(state.pm_flags & pm_flag::TIME_KNOCKBACK, 0);
        drop_timers(&mut state, 34);
        assert_eq!((state.pm_time, state.pm_flags), (0, pm_flag::DUCKED));
    }
}
