//! Limits of the commands and scripts that console lines run.

/// Maximum number of commands that one line runs, without and with a script. A variable that runs itself, or the next
/// one twice, must end.
const MAX_COMMANDS: u32 = 512;
const MAX_SCRIPTED_COMMANDS: u32 = 8192;
/// Maximum number of scripts that are read from one frame to the next, since each is a file.
pub(super) const MAX_SCRIPTS: u32 = 32;

/// Commands and scripts that console lines may still run.
#[derive(Debug)]
pub(in crate::server) struct ConsoleBudget {
    /// Commands that the line may run, and how many of them are left.
    commands: u32,
    commands_left: u32,
    /// Scripts that may be read until the next frame.
    scripts_left: u32,
}

impl Default for ConsoleBudget {
    fn default() -> Self {
        Self { commands: 0, commands_left: 0, scripts_left: MAX_SCRIPTS }
    }
}

impl ConsoleBudget {
    pub(in crate::server) fn begin_frame(&mut self) {
        self.scripts_left = MAX_SCRIPTS;
    }

    pub(super) fn begin_line(&mut self) {
        self.commands = MAX_COMMANDS;
        self.commands_left = MAX_COMMANDS;
    }

    /// Begins a line that is a script.
    pub(super) fn begin_script_line(&mut self) {
        self.begin_line();
        self.take_script();
    }

    /// Takes a command. The one that reaches the limit is an error with a message, later ones have none.
    pub(super) fn take_command(&mut self) -> Result<(), Option<String>> {
        self.commands_left = self.commands_left.checked_sub(1).ok_or(None)?;
        if self.commands_left > 0 {
            return Ok(());
        }
        Err(Some(format!(
            "command limit reached ({}): rest of the line and its scripts ignored",
            self.commands
        )))
    }

    /// Takes a script. Returns whether it may be read.
    pub(super) fn take_script(&mut self) -> bool {
        let Some(left) = self.scripts_left.checked_sub(1) else { return false };
        self.scripts_left = left;
        self.commands_left += MAX_SCRIPTED_COMMANDS - self.commands;
        self.commands = MAX_SCRIPTED_COMMANDS;
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scripts_raise_the_command_limit_of_their_line() {
        let mut budget = ConsoleBudget::default();
        let commands = |budget: &mut ConsoleBudget| {
            (0..).take_while(|_| budget.take_command().is_ok()).count()
        };
        budget.begin_line();
        assert_eq!(commands(&mut budget), 511);
        assert_eq!(budget.take_command(), Err(None));
        budget.begin_line();
        assert!(budget.take_script() && budget.take_script());
        assert_eq!(commands(&mut budget), 8191);
        for _ in 2..MAX_SCRIPTS {
            assert!(budget.take_script());
        }
        assert!(!budget.take_script());
        budget.begin_line();
        assert!(!budget.take_script(), "a line of the same frame");
        budget.begin_frame();
        assert!(budget.take_script());
    }
}
