//! Usercmd timing: division into sub-steps, and the work of each sub-step around the move.
//!
//! Invariants: a command runs a bounded number of steps (it may lag at most [`LONGEST_LAG_MS`]); the
//! state's command time never goes back. Source: the base game's movement.

use super::{HEALTH, angles, set};
use crate::bg::{PmType, entity_flag, pm_flag};
use crate::model::{Buttons, PlayerState, UserCmd, trig::Axes};

/// Longest step, when steps are not fixed.
pub const LONGEST_STEP_MS: i32 = 66;
/// Time that one command can make up for.
pub const LONGEST_LAG_MS: i32 = 1000;
/// How many values the count of commands has (it travels in 6 bits of prediction's memory).
const FRAME_COUNT_MASK: i32 = 63;
/// Upward move that counts as a jump.
pub(super) const JUMP_MOVE: i8 = 10;
/// Sideways or forward move up to which a player may walk.
const WALK_MOVE: u8 = 64;

/// One step of a command.
#[derive(Clone, Copy, Debug)]
pub(super) struct Step {
    /// Length in milliseconds, 1 to 200.
    pub(super) ms: i32,
    /// Length in seconds.
    pub(super) seconds: f32,
    /// Where the view points, as axes.
    pub(super) axes: Axes,
}

/// Runs `step` over the command in pieces of at most [`LONGEST_STEP_MS`], or of `fixed_ms`.
///
/// Changes that a step makes to the command (moves cleared while talking) stay for the next.
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

/// What comes before the move in every step: buttons to flags, time, view angles.
pub(super) fn begin_step(
    state: &mut PlayerState,
    command: &mut UserCmd,
    noclip_fires: bool,
) -> Step {
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
    let axes = angles::axes(state.viewangles);

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
    Step { ms, seconds: ms as f32 * 0.001, axes }
}

/// Lets a step's time pass on the movement timer and the animation timers.
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
            lengths.push(begin_step(state, command, true).ms);
        });
        lengths
    }

    #[test]
    fn long_commands_are_cut() {
        assert_eq!(steps_of(0, 150, None), [66, 66, 18]);
        assert_eq!(steps_of(0, 66, None), [66]);
        assert_eq!(steps_of(100, 132, Some(8)), [8; 4]);
        assert_eq!(steps_of(100, 99, None), [0; 0]);
        assert_eq!(steps_of(0, 10_000, None).iter().sum::<i32>(), LONGEST_LAG_MS);
        assert_eq!(steps_of(i32::MIN, i32::MAX, None).len(), 16);
    }

    #[test]
    fn a_talking_player_neither_moves_nor_fires() {
        let mut state = PlayerState { weapon: 2, ..PlayerState::default() };
        state.stats[HEALTH] = 100;
        state.ammo[2] = 10;
        let mut command = UserCmd {
            server_time: 8,
            buttons: Buttons(Buttons::TALK.0 | Buttons::GESTURE.0),
            forwardmove: 127,
            ..UserCmd::default()
        };
        begin_step(&mut state, &mut command, true);
        assert_eq!((command.forwardmove, command.buttons), (0, Buttons::TALK));
        assert_eq!(state.e_flags, entity_flag::TALK);
    }

    #[test]
    fn fire_waits_for_the_button_to_come_up_after_a_spawn() {
        let mut state =
            PlayerState { weapon: 2, pm_flags: pm_flag::RESPAWNED, ..PlayerState::default() };
        state.stats[HEALTH] = 100;
        state.ammo[2] = 10;
        let mut shown = Vec::new();
        for (buttons, server_time) in [(1, 8), (0, 16), (1, 24)] {
            let mut command =
                UserCmd { server_time, buttons: Buttons(buttons), ..UserCmd::default() };
            begin_step(&mut state, &mut command, true);
            shown.push(state.e_flags & entity_flag::FIRING);
        }
        assert_eq!(shown, [0, 0, entity_flag::FIRING]);
    }

    #[test]
    fn the_movement_timer_takes_its_flags_along() {
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
