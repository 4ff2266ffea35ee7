//! Server of a browser's table: what it answered, its ping and its history.
//!
//! Invariants: every text is printable ASCII of bounded length; a history has a bounded number of samples.

use std::{collections::VecDeque, net::SocketAddr};

use serde::Serialize;

use crate::{
    discovery::Game,
    model::{
        Millis,
        text::{atoi, strip_colors, truncated},
    },
};

/// Maximum length of a shown text, in bytes.
const MAX_TEXT_LEN: usize = 128;
/// Maximum number of pairs kept for a server.
pub(super) const MAX_PAIRS: usize = 128;
/// Maximum number of players kept for a server.
pub(super) const MAX_PLAYERS: usize = 128;
/// Maximum number of samples of a history.
const MAX_SAMPLES: usize = 60;

/// Origin of a server in the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Origin {
    /// List of a master.
    Master,
    /// File of favorites, or the command line.
    Favorite,
    /// Answer to a broadcast.
    Lan,
}

/// State of a server in the current round.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum ServerState {
    /// Not yet asked.
    #[default]
    Waiting,
    /// Asked.
    Asked,
    /// Answered.
    Answered,
    /// Asked without an answer in time.
    Silent,
}

/// Player of a server.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Player {
    /// Name without color codes.
    pub name: String,
    /// Score.
    pub score: i32,
    /// Round-trip time reported by the server, in ms.
    pub ping_ms: i32,
}

/// Values of a server's answer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Details {
    /// Name without color codes.
    pub name: String,
    /// Map.
    pub map: String,
    /// Game type, as a word where its number is known.
    pub gametype: String,
    /// Mod; empty for the base game.
    pub game_mod: String,
    /// Number of players.
    pub clients: u32,
    /// Number of human players, if the server tells.
    pub humans: Option<u32>,
    /// Number of slots.
    pub max_clients: u32,
    /// Protocol, as the game writes it.
    pub protocol: String,
    /// Whether a password is needed.
    pub password: bool,
    /// All pairs of the answer, without the challenge.
    pub pairs: Vec<(String, String)>,
    /// Players, if they were asked for.
    pub players: Vec<Player>,
}

/// Result of one round of a watch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Sample {
    /// Time of the round's start since the browser's start, in ms.
    pub at_ms: u64,
    /// Round-trip time, in ms; none without an answer.
    pub ping_ms: Option<u64>,
    /// Number of players.
    pub players: u32,
}

/// Server of a browser's table.
#[derive(Clone, Debug)]
pub struct Server {
    /// Game by which it was found, then the game that it names itself.
    pub game: &'static Game,
    /// Address.
    pub address: SocketAddr,
    /// Origin.
    pub origin: Origin,
    /// State in the current round.
    pub state: ServerState,
    /// Shortest round-trip time of the current round.
    pub ping: Option<Millis>,
    /// Values of the last answer; `None` before the first.
    pub details: Option<Box<Details>>,
    /// Results of the rounds that ended, oldest first.
    pub history: VecDeque<Sample>,
    /// Number of rounds in a row without an answer.
    pub silent_rounds: u32,
}

impl Server {
    /// Creates a server that is not asked yet.
    #[must_use]
    pub const fn new(game: &'static Game, address: SocketAddr, origin: Origin) -> Self {
        Self {
            game,
            address,
            origin,
            state: ServerState::Waiting,
            ping: None,
            details: None,
            history: VecDeque::new(),
            silent_rounds: 0,
        }
    }

    /// Stores the result of a round that started at `start`.
    pub(super) fn end_round(&mut self, start: Millis) {
        if self.history.len() == MAX_SAMPLES {
            self.history.pop_front();
        }
        let answered = self.state == ServerState::Answered;
        self.silent_rounds = if answered { 0 } else { self.silent_rounds.saturating_add(1) };
        let players = self.details.as_ref().filter(|_| answered).map_or(0, |found| found.clients);
        let ping_ms = self.ping.map(|ping| ping.0);
        self.history.push_back(Sample { at_ms: start.0, ping_ms, players });
    }

    /// Resets the state for a new round.
    pub(super) fn begin_round(&mut self) {
        self.state = ServerState::Waiting;
        self.ping = None;
    }

    /// Returns the values of an answer, or empty ones.
    #[must_use]
    pub fn shown(&self) -> &Details {
        const NONE: &Details = &Details {
            name: String::new(),
            map: String::new(),
            gametype: String::new(),
            game_mod: String::new(),
            clients: 0,
            humans: None,
            max_clients: 0,
            protocol: String::new(),
            password: false,
            pairs: Vec::new(),
            players: Vec::new(),
        };
        self.details.as_deref().unwrap_or(NONE)
    }
}

impl Details {
    /// Takes the pairs of an answer. Each value is found under the key of its game.
    pub(super) fn of_pairs<'a>(
        game: &Game,
        pairs: impl Iterator<Item = (&'a str, &'a str)>,
    ) -> Self {
        let pairs: Vec<_> = pairs
            .filter(|(key, _)| !key.eq_ignore_ascii_case("challenge"))
            .take(MAX_PAIRS)
            .map(|(key, value)| (plain(key), printable(value)))
            .collect();
        let value = |keys: &[&str]| {
            let named =
                |key: &&str| pairs.iter().find(|(found, _)| found.eq_ignore_ascii_case(key));
            keys.iter().find_map(named).map(|(_, value)| value.as_str())
        };
        let text = |keys: &[&str]| value(keys).map(plain).unwrap_or_default();
        let count = |keys: &[&str]| value(keys).map(|text| atoi(text).max(0).unsigned_abs());
        let flag = |keys: &[&str]| value(keys).is_some_and(|text| atoi(text) != 0);
        let gametype = text(&["gametype", "g_gametype", "si_gametype", "deathmatch"]);
        Self {
            name: text(&["hostname", "sv_hostname", "si_name"]),
            map: map_name(&text(&["mapname", "map", "si_map"])),
            gametype: gametype_word(game, &gametype),
            game_mod: text(&["game", "gamename_mod", "fs_game", "*gamedir"]),
            clients: count(&["clients", "si_players"]).unwrap_or(0),
            humans: count(&["g_humanplayers", "humans"]),
            max_clients: count(&["sv_maxclients", "si_maxplayers", "maxclients"]).unwrap_or(0),
            protocol: text(&["protocol", "com_protocol"]),
            password: flag(&["g_needpass", "needpass", "si_usepass", "si_needpass"]),
            players: Vec::new(),
            pairs,
        }
    }
}

/// Returns the text without color codes and control bytes, of bounded length.
pub(super) fn plain(text: &str) -> String {
    strip_colors(truncated(text, MAX_TEXT_LEN)).trim().to_owned()
}

/// Returns the text without control bytes, of bounded length.
fn printable(text: &str) -> String {
    let legal = |c: &char| (' '..='~').contains(c);
    truncated(text, MAX_TEXT_LEN).chars().filter(legal).collect()
}

/// Returns a map's name without the folder and extension that Quake 4 writes.
fn map_name(text: &str) -> String {
    let name = text.rsplit_once('/').map_or(text, |(_, name)| name);
    name.strip_suffix(".map").unwrap_or(name).to_owned()
}

/// Returns the word of a game type's number, where the game counts them.
fn gametype_word(game: &Game, text: &str) -> String {
    const QUAKE3: &[&str] =
        &["ffa", "tourney", "single", "tdm", "ctf", "oneflag", "obelisk", "harvester"];
    const ENEMY_TERRITORY: &[&str] =
        &["single", "coop", "objective", "stopwatch", "campaign", "lms", "mapvote"];
    const RETURN_TO_CASTLE: &[&str] =
        &["ffa", "tourney", "single", "tdm", "ctf", "objective", "stopwatch", "checkpoint"];
    let words = match game.word {
        "q3" => QUAKE3,
        "et" => ENEMY_TERRITORY,
        "rtcw" => RETURN_TO_CASTLE,
        _ => return text.to_owned(),
    };
    let number = text.parse::<usize>().ok();
    number
        .and_then(|number| words.get(number))
        .map_or_else(|| text.to_owned(), |word| (*word).to_owned())
}
