//! Game log lines: the match record that log tools read.
//!
//! The writer prefixes each line with the clock. Source: the base game's log lines; OpenArena's clock,
//! which continues over restarts.

use super::Clients;
use crate::game::Host;

/// Line before and after each level.
const RULE: &str = "------------------------------------------------------------";

impl Clients {
    /// Writes a line to the log.
    pub(in crate::game) fn log(&self, host: &mut dyn Host, line: &str) {
        host.log_line(self.now.distance(self.logged_from).max(0), line);
    }

    /// Writes the header of a level with the serverinfo.
    pub(in crate::game) fn log_start(&self, host: &mut dyn Host) {
        self.log(host, RULE);
        let info = host.serverinfo();
        self.log(host, &format!("InitGame: {info}"));
    }

    /// Writes the footer of a level.
    pub(in crate::game) fn log_end(&self, host: &mut dyn Host) {
        self.log(host, "ShutdownGame:");
        self.log(host, RULE);
    }
}
