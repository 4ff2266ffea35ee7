//! Result of a query, as text and JSON.

use std::{collections::BTreeMap, fmt};

use serde::Serialize;

use crate::{
    discovery::{Game, quake4, quakeworld},
    model::text::strip_colors,
    wire::{
        connectionless::{InfoResponse, StatusResponse},
        info::InfoString,
        text::WireText,
    },
};

/// Maximum number of players in a result. Servers have fewer.
const MAX_PLAYERS: usize = 256;
/// Maximum number of pairs in a result. Servers send fewer.
const MAX_PAIRS: usize = 512;

/// Result of a query.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct QueryResult {
    /// Address of the server.
    pub address: String,
    /// Word of the game that answered, as in the table of games.
    pub game: &'static str,
    /// Name of the game that answered.
    pub game_title: String,
    /// Round-trip time of the faster response, in ms.
    pub ping_ms: u64,
    /// Pairs of `infoResponse` without our challenge; empty without a response.
    pub info: BTreeMap<String, String>,
    /// Pairs of `statusResponse` without our challenge; empty without a response.
    pub status: BTreeMap<String, String>,
    /// Players in slot order.
    pub players: Vec<QueryPlayer>,
}

/// One player of a queried server.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct QueryPlayer {
    /// Score; 0 in games that do not tell it.
    pub score: i32,
    /// Round-trip time reported by the server, in ms; 0 for bots.
    pub ping_ms: i32,
    /// Name without color codes.
    pub name: String,
    /// Name as received.
    pub coloured_name: String,
}

impl QueryPlayer {
    fn new(score: i32, ping_ms: i32, coloured_name: String) -> Self {
        Self { score, ping_ms, name: strip_colors(&coloured_name), coloured_name }
    }
}

impl QueryResult {
    /// Stores which game of the Quake III family answered: by its name, else by its protocol.
    pub(super) fn name_quake3(&mut self) {
        let value = |key: &str| self.info.get(key).or_else(|| self.status.get(key));
        let name = self.info.get("gamename").map_or("", String::as_str);
        let protocol = value("protocol").and_then(|text| text.parse().ok());
        let game = Game::by_name(name.into()).or_else(|| protocol.and_then(Game::by_protocol));
        self.game_title = match game {
            Some(game) => game.title.to_owned(),
            None if name.is_empty() => "Quake III Arena".to_owned(),
            None => strip_colors(name),
        };
        self.game = game.map_or("q3", |game| game.word);
    }

    pub(super) fn set_quake3_players(&mut self, status: StatusResponse<'_>) {
        let players = status.players().take(MAX_PLAYERS);
        self.players = players
            .map(|player| QueryPlayer::new(player.score, player.ping, player.name.to_string()))
            .collect();
    }

    pub(super) fn set_quake4(&mut self, response: quake4::InfoResponse<'_>) {
        (self.game, self.game_title) = ("q4", "Quake 4".to_owned());
        let text = |text: WireText<'_>| text.to_string();
        let pairs = response.pairs().take(MAX_PAIRS).map(|(key, value)| (text(key), text(value)));
        self.info = pairs.collect();
        let protocol =
            format!("{}.{}", response.protocol >> 16 & 0x7fff, response.protocol & 0xffff);
        self.info.insert("protocol".to_owned(), protocol);
        self.status = self.info.clone();
        let players = response.players().take(MAX_PLAYERS);
        self.players = players
            .map(|player| QueryPlayer::new(0, player.ping.into(), player.name.to_string()))
            .collect();
    }

    pub(super) fn set_quakeworld(&mut self, status: quakeworld::Status<'_>) {
        (self.game, self.game_title) = ("qw", "QuakeWorld".to_owned());
        let text = quakeworld::plain_text;
        let pairs = status.info.pairs().filter(|(key, _)| !key.is_empty()).take(MAX_PAIRS);
        self.info = pairs.map(|(key, value)| (text(key), text(value))).collect();
        self.status = self.info.clone();
        let players = status.players().take(MAX_PLAYERS);
        self.players = players
            .map(|player| {
                // The game has no color codes: a caret is part of the name.
                let name = player.plain_name();
                let (score, ping_ms) = (player.frags.unwrap_or(0), player.ping);
                QueryPlayer { score, ping_ms, name: name.clone(), coloured_name: name }
            })
            .collect();
    }

    /// Returns the result as one JSON object.
    #[must_use]
    pub fn to_json(&self) -> String {
        serde_json::to_string_pretty(self).expect("text and numbers")
    }

    /// Returns all settings of the server, one per line.
    #[must_use]
    pub fn settings(&self) -> String {
        let width = self.status.keys().map(|key| strip_colors(key).len()).max().unwrap_or(0);
        let line = |(key, value): (&String, &String)| {
            format!("{:<width$}  {}\n", strip_colors(key), strip_colors(value))
        };
        self.status.iter().map(line).collect()
    }

    /// Returns a value of either response without color codes, or a dash.
    fn shown(&self, keys: &[&str]) -> String {
        let value = |key: &&str| self.status.get(*key).or_else(|| self.info.get(*key));
        keys.iter().find_map(value).map_or_else(|| "-".to_owned(), |value| strip_colors(value))
    }
}

/// Summary for terminals: main values, then the players.
impl fmt::Display for QueryResult {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut info = InfoString::normal();
        for (key, value) in &self.info {
            // The value came from an info string, so it fits.
            let _ = info.set(key, value);
        }
        let summary = InfoResponse::from_info(&info);
        let clients = match summary.humans {
            _ if !self.info.contains_key("clients") => self.players.len().to_string(),
            Some(humans) => format!("{} ({humans} human)", summary.clients),
            None => summary.clients.to_string(),
        };
        let players = format!(
            "{clients} of {}",
            self.shown(&["sv_maxclients", "si_maxPlayers", "maxclients"])
        );
        for (name, value) in [
            ("address", self.address.clone()),
            ("ping", format!("{} ms", self.ping_ms)),
            ("answered", self.game_title.clone()),
            ("name", self.shown(&["hostname", "sv_hostname", "si_name"])),
            ("map", self.shown(&["mapname", "si_map", "map"])),
            ("game", self.shown(&["game", "gamename", "*gamedir"])),
            ("protocol", self.shown(&["protocol", "com_protocol"])),
            ("players", players),
        ] {
            writeln!(f, "{name:<10}{value}")?;
        }
        if !self.players.is_empty() {
            writeln!(f, "\n{:>6} {:>5}  name", "score", "ping")?;
            for QueryPlayer { score, ping_ms, name, .. } in &self.players {
                writeln!(f, "{score:>6} {ping_ms:>5}  {name}")?;
            }
        }
        Ok(())
    }
}
