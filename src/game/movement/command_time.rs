//! Command time: a client moves no faster than server time passes.
//!
//! Source: the base game's server side.

use super::PmoveRules;
use crate::model::{LevelTime, PlayerState, UserCmd};

/// How far behind and ahead of the level's clock a command may be, in milliseconds.
const WINDOW_MS: (i32, i32) = (1000, 200);
/// Longest time that counts for what happens once a second, in milliseconds.
const LONGEST_MS: i32 = 200;

/// A command whose time is one that it may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClampedCommand {
    /// The command, its time brought into the window and, where steps are fixed, up to a whole step.
    pub command: UserCmd,
    /// Milliseconds since the state's last command as they count for what happens once a second.
    pub ms: i32,
}

/// Brings a command's time near `now`, the time of the last server frame. None when the state is that
/// far already.
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
        // A clock at its very end stays there.
        let whole = command.server_time.checked_add(step - 1).map(|time| time / step * step);
        command.server_time = whole.unwrap_or(command.server_time);
    }
    Some(ClampedCommand { command, ms: ms.min(LONGEST_MS) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::game::movement::{PmoveSettings, PmoveVariant};

    fn check(command_time: i32, server_time: i32, fixed: bool) -> Option<(i32, i32)> {
        let settings = PmoveSettings { fixed, fixed_step_ms: 8, float: false, dmflags: 0 };
        let rules = PmoveRules::new(PmoveVariant::QUAKE3, settings);
        let state = PlayerState { command_time, ..PlayerState::default() };
        let command = UserCmd { server_time, ..UserCmd::default() };
        clamp_command_time(&state, &command, &rules, LevelTime(10_000)).map(|clamp_command_time| {
            (clamp_command_time.command.server_time, clamp_command_time.ms)
        })
    }

    #[test]
    fn commands_stay_near_the_levels_clock() {
        assert_eq!(check(9990, 10_000, false), Some((10_000, 10)));
        assert_eq!(check(9990, i32::MAX, false), Some((10_200, 200)));
        assert_eq!(check(0, i32::MIN, false), Some((9000, 200)));
        assert_eq!(check(9990, 9990, false), None);
        assert_eq!(check(10_200, i32::MAX, false), None);
        assert_eq!(check(i32::MIN, i32::MAX, false), Some((10_200, 200)));
    }

    #[test]
    fn fixed_steps_are_whole() {
        assert_eq!(check(9990, 10_001, true), Some((10_008, 11)));
        assert_eq!(check(9990, 10_000, true), Some((10_000, 10)));
    }
}
