//! Reports of a browser: plain lines, JSON, CSV, and the changes between two rounds.

use std::{borrow::Cow, collections::HashMap, fmt::Write as _, net::SocketAddr};

use serde::Serialize;

use crate::{
    discovery::Family,
    model::{Millis, text::formula_free},
};

use super::{
    filter::Filter,
    masters::{Master, MasterState},
    node::Browser,
    order::Order,
    server::{Origin, Player, Sample, Server, ServerState},
};

/// Selection of servers for a report.
#[derive(Clone, Debug, Default)]
pub struct Selection {
    /// Filter.
    pub filter: Filter,
    /// Order.
    pub order: Order,
    /// Whether to include servers without an answer.
    pub silent: bool,
}

impl Selection {
    /// Returns the selected servers in order.
    #[must_use]
    pub fn of<'a>(&self, servers: &'a [Server]) -> Vec<&'a Server> {
        let shown = |server: &&Server| {
            (self.silent || server.state == ServerState::Answered) && self.filter.matches(server)
        };
        let mut selected: Vec<_> = servers.iter().filter(shown).collect();
        selected.sort_by(|a, b| self.order.compare(a, b));
        selected
    }
}

/// Row of a report.
#[derive(Debug, Serialize)]
struct Row<'a> {
    game: &'a str,
    address: String,
    state: ServerState,
    origin: Origin,
    ping_ms: Option<u64>,
    name: &'a str,
    map: &'a str,
    gametype: &'a str,
    #[serde(rename = "mod")]
    game_mod: &'a str,
    players: u32,
    humans: Option<u32>,
    max_players: u32,
    protocol: &'a str,
    password: bool,
}

impl<'a> Row<'a> {
    fn of(server: &'a Server) -> Self {
        let details = server.shown();
        Self {
            game: server.game.word,
            address: server.address.to_string(),
            state: server.state,
            origin: server.origin,
            ping_ms: server.ping.map(|ping| ping.0),
            name: &details.name,
            map: &details.map,
            gametype: &details.gametype,
            game_mod: &details.game_mod,
            players: details.clients,
            humans: details.humans,
            max_players: details.max_clients,
            protocol: &details.protocol,
            password: details.password,
        }
    }
}

/// Server of a JSON report.
#[derive(Serialize)]
struct FullRow<'a> {
    #[serde(flatten)]
    row: Row<'a>,
    info: serde_json::Map<String, serde_json::Value>,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    player_list: &'a [Player],
    #[serde(skip_serializing_if = "Vec::is_empty")]
    history: Vec<Sample>,
}

/// Master of a JSON report.
#[derive(Serialize)]
struct MasterRow<'a> {
    master: &'a str,
    address: String,
    answered: bool,
    packets: u64,
    listed: u64,
    missing_lists: usize,
}

impl<'a> MasterRow<'a> {
    fn of(master: &'a Master) -> Self {
        Self {
            master: &master.options.label,
            address: master.options.address.to_string(),
            answered: master.packets > 0,
            packets: master.packets,
            listed: master.listed,
            missing_lists: master.missing_lists(),
        }
    }
}

/// JSON report.
#[derive(Serialize)]
struct Document<'a> {
    round: u32,
    complete: bool,
    answered: usize,
    silent: usize,
    masters: Vec<MasterRow<'a>>,
    servers: Vec<FullRow<'a>>,
}

/// Returns the number of servers that answered and of those that did not.
#[must_use]
pub fn counts(browser: &Browser) -> (usize, usize) {
    let servers = browser.table().servers();
    let answered = servers.iter().filter(|server| server.state == ServerState::Answered).count();
    (answered, servers.len() - answered)
}

/// Returns one JSON object, on one line in a watch.
#[must_use]
pub fn json(browser: &Browser, selection: &Selection, watch: bool) -> String {
    let (answered, silent) = counts(browser);
    let full = |server| {
        let pairs = Server::shown(server).pairs.iter();
        FullRow {
            row: Row::of(server),
            info: pairs.map(|(key, value)| (key.clone(), value.as_str().into())).collect(),
            player_list: &server.shown().players,
            history: if watch { server.history.iter().copied().collect() } else { Vec::new() },
        }
    };
    let document = Document {
        round: browser.rounds(),
        complete: !browser.was_cut(),
        answered,
        silent,
        masters: browser.masters().iter().map(MasterRow::of).collect(),
        servers: selection.of(browser.table().servers()).into_iter().map(full).collect(),
    };
    let written = if watch {
        serde_json::to_string(&document)
    } else {
        serde_json::to_string_pretty(&document)
    };
    written.expect("text and numbers") + "\n"
}

/// Row of a CSV report.
#[derive(Serialize)]
struct CsvRow<'a> {
    round: u32,
    game: &'a str,
    address: &'a str,
    state: ServerState,
    ping_ms: Option<u64>,
    players: u32,
    humans: Option<u32>,
    max_players: u32,
    gametype: Cow<'a, str>,
    #[serde(rename = "mod")]
    game_mod: Cow<'a, str>,
    map: Cow<'a, str>,
    name: Cow<'a, str>,
    protocol: Cow<'a, str>,
    password: bool,
}

/// Returns a CSV table, with its header in the first round only.
#[must_use]
pub fn csv(browser: &Browser, selection: &Selection) -> String {
    let header = browser.rounds() <= 1;
    let mut writer = csv::WriterBuilder::new().has_headers(header).from_writer(Vec::new());
    for server in selection.of(browser.table().servers()) {
        let row = Row::of(server);
        let row = CsvRow {
            round: browser.rounds(),
            game: row.game,
            address: &row.address,
            state: row.state,
            ping_ms: row.ping_ms,
            players: row.players,
            humans: row.humans,
            max_players: row.max_players,
            gametype: formula_free(row.gametype),
            game_mod: formula_free(row.game_mod),
            map: formula_free(row.map),
            name: formula_free(row.name),
            protocol: formula_free(row.protocol),
            password: row.password,
        };
        writer.serialize(row).expect("a row in memory");
    }
    let bytes = writer.into_inner().expect("a buffer in memory");
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Head of the plain table.
pub(super) const HEAD: &str = "ping  players  game  type       mod         map               name                              address";

/// Returns one line of the plain table.
pub(super) fn line(server: &Server) -> String {
    let details = server.shown();
    let ping = server.ping.map_or_else(|| "-".to_owned(), |ping| ping.0.to_string());
    let players = match server.state {
        ServerState::Answered => format!("{}/{}", details.clients, details.max_clients),
        _ => "-".to_owned(),
    };
    format!(
        "{ping:>4}  {players:>7}  {:<4}  {:<9.9}  {:<10.10}  {:<16.16}  {:<32.32}  {}",
        server.game.word,
        details.gametype,
        details.game_mod,
        details.map,
        details.name,
        server.address
    )
}

/// Returns a plain table with its head and a summary.
#[must_use]
pub fn plain(browser: &Browser, selection: &Selection) -> String {
    let mut text = String::new();
    let servers = selection.of(browser.table().servers());
    if !servers.is_empty() {
        text = format!("{HEAD}\n");
    }
    for server in servers {
        let _ = writeln!(text, "{}", line(server).trim_end());
        for player in &server.shown().players {
            let Player { score, ping_ms, name } = player;
            let _ = writeln!(text, "      {score:>6} {ping_ms:>5}  {name}");
        }
    }
    text + &summary(browser) + "\n"
}

/// Returns the number of servers and the silent masters, on one line.
#[must_use]
pub fn summary(browser: &Browser) -> String {
    let (answered, silent) = counts(browser);
    let players: u64 = browser.table().servers().iter().map(|s| u64::from(s.shown().clients)).sum();
    let mut text =
        format!("{answered} servers, {players} players, {silent} servers without answer");
    let masters = browser.masters();
    let mute = masters.iter().filter(|master| master.state == MasterState::Silent).count();
    if mute > 0 {
        let _ = write!(text, ", {mute} of {} masters silent", masters.len());
    }
    let partial = masters.iter().filter(|master| master.packets > 0 && !master.is_whole()).count();
    if partial > 0 && !browser.is_running() {
        let _ = write!(text, ", {partial} of {} masters with missing lists", masters.len());
    }
    if browser.table().dropped() > 0 {
        let _ = write!(text, ", {} addresses dropped", browser.table().dropped());
    }
    if browser.was_cut() {
        text += ", cut at the time limit";
    }
    text
}

/// Values of a server that a change is reported for.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Shown {
    answered: bool,
    clients: u32,
    map: String,
    name: String,
}

/// Changes between the rounds of a watch.
#[derive(Debug, Default)]
pub struct Changes {
    known: HashMap<(SocketAddr, Family), Shown>,
}

impl Changes {
    /// Returns a line for each selected server that appeared, left or changed since the last call.
    pub fn lines(&mut self, browser: &Browser, selection: &Selection, at: Millis) -> String {
        let mut text = String::new();
        let mut known = HashMap::new();
        let everything = Selection { silent: true, ..selection.clone() };
        for server in everything.of(browser.table().servers()) {
            let details = server.shown();
            let shown = Shown {
                answered: server.state == ServerState::Answered,
                clients: details.clients,
                map: details.map.clone(),
                name: details.name.clone(),
            };
            let key = (server.address, server.game.family);
            if let Some(change) = change(self.known.get(&key), &shown) {
                let at = at.0 / 1000;
                let address = server.address;
                let _ = writeln!(text, "{at:>6} s  {address:<21}  {:<32.32}  {change}", shown.name);
            }
            known.insert(key, shown);
        }
        self.known = known;
        text
    }
}

/// Returns the change from `old` to `new`, if there is one.
fn change(old: Option<&Shown>, new: &Shown) -> Option<String> {
    match (old, new.answered) {
        (None | Some(Shown { answered: false, .. }), true) => {
            Some(format!("appeared: {} with {} players", new.map, new.clients))
        }
        (Some(Shown { answered: true, .. }), false) => Some("gone".to_owned()),
        (Some(old), true) if old != new => {
            let mut parts = Vec::new();
            if old.map != new.map {
                parts.push(format!("map {} to {}", old.map, new.map));
            }
            if old.clients != new.clients {
                parts.push(format!("players {} to {}", old.clients, new.clients));
            }
            if old.name != new.name {
                parts.push(format!("name from {}", old.name));
            }
            Some(parts.join(", "))
        }
        _ => None,
    }
}
