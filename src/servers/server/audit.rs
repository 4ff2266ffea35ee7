//! Audit log: acts of administrators, each a line in JSON with time, author, act and result.
//!
//! [`Audit::record`] is the only entry. Invariants: lines that wait, and those that `auditlog` shows, are bounded; a name of a
//! player ends no line.

use std::{
    collections::VecDeque,
    net::{IpAddr, SocketAddr},
};

use serde_json::{Map, Value};

use crate::model::{Millis, state_folder::StateFolder, text};

/// Name of the file in the state folder.
pub const AUDIT_FILE: &str = "audit.jsonl";
/// Lines that `auditlog` shows at most.
const MAX_RECENT: usize = 200;
/// Part of an earlier file that is read for them, in bytes.
const RECENT_LEN: u64 = 64 << 10;
/// Longest act, result and name, in bytes.
const MAX_TEXT_LEN: usize = 300;
/// Bytes of lines that wait for the file; later lines are only shown.
const MAX_WAITING: usize = 1 << 20;

/// Author of an act.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) enum Actor {
    /// The console of the operator.
    #[default]
    Console,
    /// A remote console.
    Rcon(SocketAddr),
    /// Players by a vote.
    Vote,
    /// A player who logs in or has logged in.
    Player {
        /// Name and login, e.g. `Anna (anna)`.
        name: String,
        /// Slot.
        slot: usize,
        /// Address of the client.
        address: SocketAddr,
    },
}

/// Acts that wait for the file, and the last ones.
#[derive(Debug, Default)]
pub(super) struct Audit {
    /// Author of the commands that run.
    pub(super) actor: Actor,
    /// Console line that is queued by an act that is recorded already.
    pub(super) recorded_line: Option<String>,
    /// Address and time of the last remote command.
    pub(super) last_rcon: Option<(IpAddr, Millis)>,
    /// Lines for the file.
    waiting: String,
    /// Last lines, oldest first.
    recent: VecDeque<String>,
}

impl Audit {
    /// An audit log that shows the last acts of a file, too.
    pub(super) fn open(folder: Option<&dyn StateFolder>) -> Self {
        let mut audit = Self::default();
        match folder.map(|folder| folder.read_end(AUDIT_FILE, RECENT_LEN)) {
            Some(Ok(Some(end))) => end.lines().for_each(|line| audit.remember(line)),
            Some(Err(error)) => log::warn!("{error}"),
            Some(Ok(None)) | None => {}
        }
        audit
    }

    /// Records an act at a calendar time in seconds. Secrets are those of the caller to leave out.
    pub(super) fn record(&mut self, at: u64, actor: &Actor, act: &str, result: &str) {
        let shown =
            |part: &str| Value::from(text::escaped(text::truncated(part, MAX_TEXT_LEN).as_bytes()));
        let mut line = Map::new();
        line.insert("time".to_owned(), at.into());
        let who = match actor {
            Actor::Console => "console",
            Actor::Vote => "vote",
            Actor::Rcon(address) => {
                line.insert("address".to_owned(), address.to_string().into());
                "rcon"
            }
            Actor::Player { name, slot, address } => {
                line.insert("address".to_owned(), address.to_string().into());
                line.insert("player".to_owned(), shown(name));
                line.insert("slot".to_owned(), (*slot).into());
                "player"
            }
        };
        line.insert("who".to_owned(), who.into());
        line.insert("act".to_owned(), shown(act));
        if !result.is_empty() {
            line.insert("result".to_owned(), shown(result));
        }
        let line = Value::Object(line).to_string();
        if self.waiting.len() + line.len() < MAX_WAITING {
            self.waiting.push_str(&line);
            self.waiting.push('\n');
        }
        self.remember(&line);
    }

    /// Takes the lines for the file.
    pub(super) fn take(&mut self) -> Option<String> {
        (!self.waiting.is_empty()).then(|| std::mem::take(&mut self.waiting))
    }

    /// The last lines, oldest first.
    pub(super) fn recent(&self, count: usize) -> impl Iterator<Item = &str> {
        let skipped = self.recent.len().saturating_sub(count);
        self.recent.iter().skip(skipped).map(String::as_str)
    }

    fn remember(&mut self, line: &str) {
        if self.recent.len() == MAX_RECENT {
            self.recent.pop_front();
        }
        self.recent.push_back(line.to_owned());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_bounded_and_hold_any_text() {
        let mut audit = Audit::default();
        let long = format!("a\"\n\u{202e}{}", "x".repeat(1000));
        for at in 0..9000 {
            audit.record(at, &Actor::Vote, &long, "");
        }
        assert_eq!(audit.recent(usize::MAX).count(), MAX_RECENT);
        assert_eq!(audit.recent(2).count(), 2);
        let all = audit.take().expect("lines");
        assert!(all.len() <= MAX_WAITING && audit.take().is_none());
        for line in all.lines() {
            let read: Value = serde_json::from_str(line).expect("JSON");
            assert_eq!(read["who"], "vote");
            assert!(line.is_ascii() && line.len() < 1000, "{line}");
        }
        audit.record(7, &Actor::Rcon("192.0.2.1:5".parse().expect("an address")), "kick 3", "done");
        let last = audit.recent(1).next().expect("a line");
        let expected =
            r#"{"act":"kick 3","address":"192.0.2.1:5","result":"done","time":7,"who":"rcon"}"#;
        assert_eq!(last, expected);
    }
}
