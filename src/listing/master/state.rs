//! State of a master as text, and its rows as JSON.
//!
//! The state file has one JSON object per line: a header, then one per server. A server of the file is listed
//! for the rest of its life, if the limits and policies still allow it. Invariant: a damaged line is an
//! error with its number, and lists nothing.

use std::{fmt::Write as _, net::SocketAddr};

use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::{
    discovery::Family,
    model::{Millis, UnixMillis},
    node::LocalPort,
    wire::text::WireText,
};

use super::{
    node::{Master, PROBE_INTERVAL},
    registration::{QUAKE4, QUAKEWORLD},
    registry::{Announcement, Description, LISTED_LIFE, ListKey, Listed, MAX_TEXT},
};

/// Format of the file.
const FORMAT: &str = "fragd-master-1";

/// Error of a state file.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("line {line}: {problem}; delete the file to start with an empty list")]
pub struct StateError {
    line: usize,
    problem: String,
}

/// First line of the file.
#[derive(Debug, Serialize, Deserialize)]
struct Header {
    format: String,
    saved_unix_ms: u64,
}

/// A listed server, in the state file and in `/servers.json`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ServerRow {
    /// Address that clients get.
    pub address: SocketAddr,
    /// Source address, if it differs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<SocketAddr>,
    /// Word of the game's heartbeat; `quake4` and `quakeworld` have none on the wire.
    pub heartbeat: String,
    /// Name of the game.
    pub game: String,
    /// Protocol number.
    pub protocol: i32,
    /// Host name.
    pub name: String,
    /// Map.
    pub map: String,
    /// Game type, as sent.
    pub game_type: String,
    /// Modification.
    pub modification: String,
    /// Clients.
    pub clients: u16,
    /// Places for clients.
    pub max_clients: u16,
    /// Whether a password is needed.
    pub needs_password: bool,
    /// Number of our port that the server uses.
    pub port_number: u16,
    /// Rest of its life, in ms.
    pub expires_in_ms: u64,
}

/// Words of the families without heartbeat words.
const UNNAMED: [(&str, Family); 2] =
    [("quake4", Family::Quake4), ("quakeworld", Family::QuakeWorld)];

impl Master {
    /// Iterates over the listed servers.
    pub fn rows(&self, now: Millis) -> impl Iterator<Item = ServerRow> {
        let live = self.registry.iter().filter(move |(server, _)| server.expires > now);
        live.map(move |(server, list)| {
            self.row(now, server, list.family, &list.name, list.protocol)
        })
    }

    /// Count of changes of the list, to tell whether the state file is up to date.
    #[must_use]
    pub const fn changes(&self) -> u64 {
        self.registry.changes()
    }

    /// Returns the text of the state file.
    #[must_use]
    pub fn state_text(&self, now: Millis, saved: UnixMillis) -> String {
        let mut text = String::new();
        let header = Header { format: FORMAT.to_owned(), saved_unix_ms: saved.0 };
        push_line(&mut text, &header);
        self.rows(now).for_each(|row| push_line(&mut text, &row));
        text
    }

    /// Lists the servers of a state file and returns their number.
    ///
    /// # Errors
    /// The first line that is not of this format.
    pub fn restore(
        &mut self,
        now: Millis,
        unix: UnixMillis,
        text: &str,
    ) -> Result<usize, StateError> {
        let mut lines = text.lines().enumerate();
        let error = |at: usize, problem: String| StateError { line: at + 1, problem };
        let (at, first) = lines.next().ok_or_else(|| error(0, "no header".to_owned()))?;
        let header: Header =
            serde_json::from_str(first).map_err(|problem| error(at, problem.to_string()))?;
        if header.format != FORMAT {
            let problem = format!("unknown format '{}' (expected {FORMAT})", header.format);
            return Err(error(at, problem));
        }
        let passed = unix.0.saturating_sub(header.saved_unix_ms);
        let parse = |(at, line)| {
            serde_json::from_str::<ServerRow>(line)
                .map_err(|problem| error(at, problem.to_string()))
        };
        // Read completely first: a damaged file lists nothing.
        let rows: Vec<ServerRow> = lines.map(parse).collect::<Result<_, _>>()?;
        Ok(rows.iter().filter(|row| self.restore_row(now, passed, row)).count())
    }

    fn restore_row(&mut self, now: Millis, passed: u64, row: &ServerRow) -> bool {
        let source = row.source.unwrap_or(row.address);
        let life = row.expires_in_ms.min(LISTED_LIFE.0).saturating_sub(passed);
        let unnamed = UNNAMED.iter().find(|(word, _)| row.heartbeat == *word);
        let (tag, family) = match unnamed {
            Some((_, Family::Quake4)) => (Some(QUAKE4), Family::Quake4),
            Some(_) => (Some(QUAKEWORLD), Family::QuakeWorld),
            None => (self.games.tag_named(&row.heartbeat), Family::Quake3),
        };
        let is_legal = life > 0
            && source.port() != 0
            && self.may_list(source)
            && !self.options.deny.contains(source.ip())
            && super::games::is_name(WireText::from(&*row.game))
            && self.games.accepts(WireText::from(&*row.game));
        let Some(tag) = tag.filter(|_| is_legal) else { return false };
        let heartbeat = self.games.heartbeat(tag);
        let is_probed = heartbeat.is_some_and(|heartbeat| heartbeat.is_probed);
        let local = if row.port_number < self.options.ports { row.port_number } else { 0 };
        let announcement = Announcement {
            source,
            public: self.public_address(source),
            local: LocalPort(local),
            local_ip: None,
            tag,
            is_anonymous: heartbeat.is_none_or(|heartbeat| heartbeat.is_anonymous),
            list: ListKey { family, name: row.game.as_bytes(), protocol: row.protocol },
        };
        let text = |text: &str| crate::model::text::truncated(text, MAX_TEXT).into();
        let description = Description {
            name: text(&row.name),
            map: text(&row.map),
            game_type: text(&row.game_type),
            modification: text(&row.modification),
            clients: row.clients,
            max_clients: row.max_clients,
            needs_password: row.needs_password,
        };
        let next_probe = if is_probed { now + PROBE_INTERVAL } else { Millis::NEVER };
        self.registry.announce(announcement, description, now + Millis(life), next_probe).is_ok()
    }

    fn row(
        &self,
        now: Millis,
        server: &Listed,
        family: Family,
        game: &str,
        protocol: i32,
    ) -> ServerRow {
        let description = &server.description;
        let unnamed = UNNAMED.iter().find(|(_, other)| *other == family).map(|(word, _)| *word);
        let word = self.games.heartbeat(server.tag).map(|heartbeat| heartbeat.word.as_str());
        ServerRow {
            address: server.public,
            source: (server.source != server.public).then_some(server.source),
            heartbeat: unnamed.or(word).unwrap_or_default().to_owned(),
            game: game.to_owned(),
            protocol,
            name: description.name.to_string(),
            map: description.map.to_string(),
            game_type: description.game_type.to_string(),
            modification: description.modification.to_string(),
            clients: description.clients,
            max_clients: description.max_clients,
            needs_password: description.needs_password,
            port_number: server.local.0,
            expires_in_ms: server.expires.since(now).0,
        }
    }
}

fn push_line(text: &mut String, value: &impl Serialize) {
    // Rows have neither maps nor fallible serializers.
    let line = serde_json::to_string(value).unwrap_or_default();
    let _ = writeln!(text, "{line}");
}
