//! Header of a load test's results: program, time, machine, servers, options.
//!
//! Source: Quake III protocol 68, serverinfo.

use std::net::SocketAddr;

use serde::Serialize;

use super::{levels::Levels, server_silence::ServerSilence};
use crate::{
    bg::GameType,
    client::Client,
    model::{ConfigIndex, Millis, ServerId, UnixMillis, text::escaped},
    wire::info::InfoString,
};

/// Maximum maps listed for a server.
const MAX_MAPS: usize = 32;
/// Maximum length of a shown name.
const MAX_NAME: usize = 128;

/// Circumstances of a load test, known to its caller.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct RunInfo {
    /// Version of the program.
    pub version: String,
    /// Calendar time of time 0 of the node; `None` in virtual time.
    #[serde(skip)]
    pub epoch: Option<UnixMillis>,
    /// Machine of the load generator.
    pub machine: Machine,
    /// Options as given on the command line.
    pub options: String,
}

/// Machine of the load generator.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Machine {
    /// Host name.
    pub host: String,
    /// Model of the processor.
    pub cpu: String,
    /// Processors that the program may use.
    pub cores: usize,
    /// Operating system and kernel.
    pub os: String,
}

impl RunInfo {
    /// Returns the calendar time of a time of the node, as in RFC 3339; empty in virtual time.
    #[must_use]
    pub fn calendar_time(&self, now: Millis) -> String {
        let Some(epoch) = self.epoch else { return String::new() };
        let at = epoch + now;
        format!("{}.{:03}Z", at.to_string().replace(' ', "T"), at.0 % 1000)
    }
}

impl Machine {
    /// Returns the machine in one line; empty when unknown.
    #[must_use]
    pub fn describe(&self) -> String {
        let cores = match self.cores {
            0 => String::new(),
            1 => "1 core".to_owned(),
            cores => format!("{cores} cores"),
        };
        let parts = [self.host.clone(), self.cpu.clone(), cores, self.os.clone()];
        parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(", ")
    }
}

/// Server of a load test, as its serverinfo describes it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ServerInfo {
    /// Address.
    pub address: String,
    /// Name (`sv_hostname`).
    pub name: String,
    /// Program and version (`version`).
    pub version: String,
    /// Maps in order. A map that begins again is listed once.
    pub maps: Vec<String>,
    /// Game type.
    pub game_type: String,
    /// Protocol of the bots.
    pub protocol: String,
}

impl ServerInfo {
    /// Returns the known parts in one line, without the address.
    #[must_use]
    pub fn describe(&self) -> String {
        let maps = self.maps.join(" → ");
        let parts = [&self.name, &maps, &self.game_type, &self.version];
        parts.into_iter().filter(|part| !part.is_empty()).cloned().collect::<Vec<_>>().join(", ")
    }
}

/// Server of a connection, by its newest level.
#[derive(Debug)]
pub(super) struct ServerDescription {
    pub(super) level: Option<ServerId>,
    pub(super) name: String,
    pub(super) version: String,
    pub(super) map: String,
    /// Title of the game type.
    pub(super) game_type: String,
    pub(super) protocol: String,
}

impl ServerDescription {
    /// Reads the gamestate of a client.
    pub(super) fn of_quake3(client: &Client) -> Self {
        let info = InfoString::parse(client.configstring(ConfigIndex::at(0)));
        let value = |key: &str| info.get(key).unwrap_or_default().to_owned();
        Self {
            level: client.server_id(),
            name: value("sv_hostname"),
            version: value("version"),
            map: value("mapname"),
            game_type: match value("g_gametype").trim() {
                "" => String::new(),
                number => game_type(number),
            },
            protocol: client.protocol().to_string(),
        }
    }
}

/// Serverinfo and level of a server, by its gamestates.
#[derive(Clone, Debug, Default)]
pub(super) struct ServerRecord {
    pub(super) info: ServerInfo,
    /// Id of the newest level.
    pub(super) level: Option<ServerId>,
    pub(super) levels: Levels,
    pub(super) silence: ServerSilence,
}

impl ServerRecord {
    /// Creates the records of all servers.
    pub(super) fn for_all(servers: &[SocketAddr]) -> Vec<Self> {
        let record = |address: &SocketAddr| {
            let info = ServerInfo { address: address.to_string(), ..ServerInfo::default() };
            Self { info, ..Self::default() }
        };
        servers.iter().map(record).collect()
    }

    /// Takes over a description, unless it is of an earlier level.
    pub(super) fn read(&mut self, server: ServerDescription) {
        let before = std::mem::replace(&mut self.level, server.level);
        // Clients learn of a level one after the other.
        let is_later = |(before, now): (ServerId, ServerId)| now.0.wrapping_sub(before.0) > 0;
        let is_new = before.zip(self.level).is_some_and(is_later);
        if before.is_some() && !is_new {
            self.level = before;
            return;
        }
        let ServerDescription { name, version, map, game_type, protocol, .. } = server;
        let map = shown(&map);
        let is_listed = self.info.maps.last() == Some(&map);
        if self.info.maps.len() < MAX_MAPS && !map.is_empty() && !is_listed {
            self.info.maps.push(map);
        }
        self.info.name = shown(&name);
        self.info.version = shown(&version);
        self.info.game_type = shown(&game_type);
        self.info.protocol = protocol;
    }
}

/// Returns a text of a server, shortened and without control characters.
fn shown(text: &str) -> String {
    let text: String = text.chars().take(MAX_NAME).collect();
    escaped(text.as_bytes()).to_string()
}

/// Returns the title of a game type of the base game, or its number.
fn game_type(number: &str) -> String {
    let known = number.parse::<i32>().ok().and_then(|number| GameType::try_from(number).ok());
    known.map_or_else(|| format!("game type {number}"), |kind| kind.title().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calendar_time_follows_rfc_3339() {
        let mut run = RunInfo::default();
        assert_eq!(run.calendar_time(Millis(5)), "");
        run.epoch = Some(UnixMillis(951_868_800_000));
        assert_eq!(run.calendar_time(Millis(61_007)), "2000-03-01T00:01:01.007Z");
    }

    #[test]
    fn game_types_have_titles() {
        assert_eq!([game_type("4"), game_type("9")], ["Capture the Flag", "game type 9"]);
    }
}
