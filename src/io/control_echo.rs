//! Echo of control characters (`^C`) on a terminal, off while a progress display rewrites lines.
//!
//! The echo moves the cursor, so that a cleared display would leave a line. Invariant: a process in the
//! background changes nothing, because the terminal would stop it.

use std::io::{Stderr, stderr};

use rustix::{
    process::getpgrp,
    termios::{LocalModes, OptionalActions, Termios, tcgetattr, tcgetpgrp, tcsetattr},
};

/// Restores the echo of the terminal when it is dropped.
pub struct ControlEchoOff {
    terminal: Stderr,
    before: Option<Termios>,
}

impl ControlEchoOff {
    /// Disables the echo if standard error is a terminal of this process.
    #[must_use]
    pub fn begin() -> Self {
        let terminal = stderr();
        let before = tcgetattr(&terminal).ok().filter(|_| is_in_foreground(&terminal));
        if let Some(before) = &before {
            let mut quiet = before.clone();
            quiet.local_modes.remove(LocalModes::ECHOCTL);
            // Without it, only the display suffers.
            let _ = tcsetattr(&terminal, OptionalActions::Now, &quiet);
        }
        Self { terminal, before }
    }
}

impl Drop for ControlEchoOff {
    fn drop(&mut self) {
        if let Some(before) = self.before.take().filter(|_| is_in_foreground(&self.terminal)) {
            let _ = tcsetattr(&self.terminal, OptionalActions::Now, &before);
        }
    }
}

fn is_in_foreground(terminal: &Stderr) -> bool {
    tcgetpgrp(terminal).is_ok_and(|group| group == getpgrp())
}
