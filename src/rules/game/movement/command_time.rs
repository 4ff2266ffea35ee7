//! Command time limits: a client moves no faster than the server time passes.
//!
//! Source: the base game's server side.

use super::PmoveRules;
use crate::model::{LevelTime, PlayerState, UserCmd};

/// Maximum lag and lead of a usercmd relative to the level time, in ms.
const WINDOW_MS: (i32, i32) = (1000, 200);
/// Maximum time per usercmd that counts for timers of once a second, in ms.
const LONGEST_MS: i32 = 200;

/// A usercmd with a valid time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClampedCommand {
    /// The usercmd with its time clamped and, with `pmove_fixed`, rounded up to a whole sub-step.
    pub command: UserCmd,
    /// Time since the state's last usercmd that counts for timers of once a second, in ms.
    pub ms: i32,
}

/// Clamps a usercmd's time to the window around `now`, the time of the last server frame. Returns
/// `None` if the state has reached that time.
#[must_use]
pub fn clamp_command_time(
    state: &PlayerState,
    command: &UserCmd,
    rules: &PmoveRules,
    now: LevelTime,
) -> Option<ClampedCommand> {
    let mut command = *command;
    let earliest = now.0.saturating_sub(WINDOW_MS.0);
    let latest = now.0.saturating_add(WINDOW_MS.1);
    command.server_time = command.server_time.clamp(earliest, latest);
    let ms = command.server_time.saturating_sub(state.command_time);
    if ms < 1 {
        return None;
    }
    if let Some(step) = rules.fixed_step_ms {
        // A time that would overflow stays.
        let whole = command.server_time.checked_add(step - 1).map(|time| time / step * step);
        command.server_time = whole.unwrap_or(command.server_time);
    }
    Some(ClampedCommand { command, ms: ms.min(LONGEST_MS) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::game::movement::{Arithmetic, PmoveSettings, PmoveVariant};

    fn check(command_time: i32, server_time: i32, fixed: bool) -> Option<(i32, i32)> {
        let settings = PmoveSettings {
            fixed,
            fixed_step_ms: 8,
            float: false,
            dmflags: 0,
            arithmetic: Arithmetic::Bytecode,
        };
        let rules = PmoveRules::new(PmoveVariant::QUAKE3, settings);
        let state = PlayerState { command_time, ..PlayerState::default() };
        let command = UserCmd { server_time, ..UserCmd::default() };
        clamp_command_time(&state, &command, &rules, LevelTime(10_000))
            .map(|clamped| (clamped.command.server_time, clamped.ms))
    }

    #[test]
    fn command_time_is_clamped_to_level_time() {
        assert_eq!(check(9990, 10_000, false), Some((10_000, 10)));
        assert_eq!(check(9990, i32::MAX, false), Some((10_200, 200)));
        assert_eq!(check(0, i32::MIN, false), Some((9000, 200)));
        assert_eq!(check(9990, 9990, false), None);
        assert_eq!(check(10_200, i32::MAX, false), None);
        assert_eq!(check(i32::MIN, i32::MAX, false), Some((10_200, 200)));
    }

    #[test]
    fn command_time_is_rounded_to_fixed_steps() {
        assert_eq!(check(9990, 10_001, true), Some((10_008, 11)));
        assert_eq!(check(9990, 10_000, true), Some((10_000, 10)));
    }
}
