//! Game log lines: the match record that log tools read.
//!
//! A line says what happened in words of its own; when, stands in front of it in the file. Source: the
//! base game's log lines; OpenArena's clock, which goes on over restarts.

use super::Clients;
use crate::game::Host;

/// Stands before each level and after it.
const RULE: &str = "------------------------------------------------------------";

impl Clients {
    /// Writes a line to the log.
    pub(in crate::game) fn log(&self, host: &mut dyn Host, line: &str) {
        host.log_line(self.now.distance(self.logged_from).max(0), line);
    }

    /// A level begins: what the server says of itself.
    pub(in crate::game) fn log_start(&self, host: &mut dyn Host) {
        self.log(host, RULE);
        let info = host.serverinfo();
        self.log(host, &format!("InitGame: {info}"));
    }

    /// A level ends.
    pub(in crate::game) fn log_end(&self, host: &mut dyn Host) {
        self.log(host, "ShutdownGame:");
        self.log(host, RULE);
    }
}
