//! Console streams: output for the operator or the remote console, and lines queued by the game.

use std::collections::VecDeque;

/// Output and queued lines of the console.
#[derive(Debug, Default)]
pub(in crate::server) struct ConsoleStreams {
    output: VecDeque<String>,
    /// Output of the remote command that runs.
    redirected: Option<Vec<String>>,
    queued: VecDeque<String>,
}

impl ConsoleStreams {
    /// Prints a line to the operator, or to the remote console whose command runs.
    pub(in crate::server) fn print(&mut self, text: impl Into<String>) {
        let mut text = text.into();
        if !text.ends_with('\n') {
            text.push('\n');
        }
        match &mut self.redirected {
            Some(collected) => collected.push(text),
            None => self.output.push_back(text),
        }
    }

    /// Collects output from now on instead of printing it.
    pub(in crate::server) fn redirect(&mut self) {
        self.redirected = Some(Vec::new());
    }

    /// Ends the redirection. Returns what was printed, print by print.
    pub(in crate::server) fn end_redirect(&mut self) -> Vec<String> {
        self.redirected.take().unwrap_or_default()
    }

    pub(in crate::server) fn poll(&mut self) -> Option<String> {
        self.output.pop_front()
    }

    /// Queues a line that runs after the current frame.
    pub(in crate::server) fn queue(&mut self, line: &str) {
        self.queued.push_back(line.to_owned());
    }

    /// Number of queued lines.
    pub(in crate::server) fn queued(&self) -> usize {
        self.queued.len()
    }

    pub(in crate::server) fn next_queued(&mut self) -> Option<String> {
        self.queued.pop_front()
    }
}
