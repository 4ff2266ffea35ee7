//! Server query: `getinfo` and `getstatus` to one server.
//!
//! Each request has its own challenge, which identifies its response and gives the round-trip time.
//! Invariants: responses from other addresses or without our challenge are ignored; a query ends
//! with both responses or at its timeout. Source: Quake III protocol 68, connectionless queries.

use std::{collections::BTreeMap, fmt, net::SocketAddr};

use rand_pcg::{
    Pcg64Mcg,
    rand_core::{Rng as _, SeedableRng as _},
};
use serde::Serialize;

use crate::{
    model::{Millis, text::strip_colors},
    node::{Hosted, LocalPort, LoopCounters, Node, Outbox, Route},
    wire::{
        connectionless::{self, InfoResponse, Message, StatusResponse},
        info::InfoString,
        text::WireText,
    },
};

/// Maximum number of players in a result. Servers have fewer.
const MAX_PLAYERS: usize = 256;

/// Options of a query.
#[derive(Clone, Copy, Debug)]
pub struct QueryOptions {
    /// Address of the server.
    pub server: SocketAddr,
    /// Seed of the challenges; must be secret.
    pub seed: u64,
    /// Interval between retries.
    pub retry: Millis,
    /// Timeout of the query.
    pub timeout: Millis,
}

impl QueryOptions {
    /// Creates options with a retry every second and a timeout of four seconds.
    #[must_use]
    pub const fn new(server: SocketAddr, seed: u64) -> Self {
        Self { server, seed, retry: Millis(1000), timeout: Millis(4000) }
    }
}

/// Result of a query.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct QueryResult {
    /// Address of the server.
    pub address: String,
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
    /// Score.
    pub score: i32,
    /// Round-trip time reported by the server, in ms; 0 for bots.
    pub ping_ms: i32,
    /// Name without color codes.
    pub name: String,
    /// Name as received.
    pub coloured_name: String,
}

/// Kind of a request.
#[derive(Clone, Copy, Debug)]
enum RequestKind {
    Info,
    Status,
}

/// One request, repeated until its response arrives.
#[derive(Debug)]
struct PendingRequest {
    asks: RequestKind,
    /// Challenge and time of each attempt.
    asked: Vec<(String, Millis)>,
    answered: bool,
}

/// Node that queries one server. It owns one port.
#[derive(Debug)]
pub struct Query {
    options: QueryOptions,
    challenges: Pcg64Mcg,
    info: PendingRequest,
    status: PendingRequest,
    /// Result so far, with the shortest round-trip time.
    result: Option<QueryResult>,
    next_ask: Millis,
    give_up: Millis,
    finished: bool,
    outbox: Outbox,
}

impl Query {
    /// Creates a query that starts at `now`.
    #[must_use]
    pub fn new(options: QueryOptions, now: Millis) -> Self {
        let question = |asks| PendingRequest { asks, asked: Vec::new(), answered: false };
        Self {
            challenges: Pcg64Mcg::seed_from_u64(options.seed),
            info: question(RequestKind::Info),
            status: question(RequestKind::Status),
            result: None,
            next_ask: now,
            give_up: now + options.timeout,
            finished: false,
            outbox: Outbox::default(),
            options,
        }
    }

    /// Returns the result so far. `None` without a response; once the query is finished that is
    /// final.
    #[must_use]
    pub fn result(&self) -> Option<&QueryResult> {
        self.result.as_ref()
    }

    fn route(&self) -> Route {
        Route { local: LocalPort(0), remote: self.options.server }
    }

    fn ask(&mut self, now: Millis) {
        let route = self.route();
        for question in [&mut self.info, &mut self.status] {
            if question.answered {
                continue;
            }
            let challenge = format!("{:016x}", self.challenges.next_u64());
            let query = connectionless::Query { challenge: WireText::from(challenge.as_str()) };
            let message = match question.asks {
                RequestKind::Info => Message::GetInfo(query),
                RequestKind::Status => Message::GetStatus(query),
            };
            self.outbox.push_with(route, |out| message.write(out));
            question.asked.push((challenge, now));
        }
    }

    /// Returns the send time of a response's request and stores the response's pairs. `None` for a
    /// response without our challenge.
    fn pairs(
        question: &PendingRequest,
        info: WireText<'_>,
    ) -> Option<(BTreeMap<String, String>, Millis)> {
        let info = InfoString::from_wire(info);
        let echoed = info.get("challenge")?;
        let (_, asked) = question.asked.iter().find(|(challenge, _)| challenge == echoed)?;
        let pairs = info.iter().filter(|(key, _)| !key.eq_ignore_ascii_case("challenge"));
        let pairs = pairs.map(|(key, value)| (key.to_owned(), value.to_owned()));
        Some((pairs.collect(), *asked))
    }

    fn answered(&mut self, now: Millis, asked: Millis) -> &mut QueryResult {
        let ping_ms = now.since(asked).0;
        let result = self.result.get_or_insert_with(|| QueryResult {
            address: self.options.server.to_string(),
            ping_ms,
            ..QueryResult::default()
        });
        result.ping_ms = result.ping_ms.min(ping_ms);
        result
    }
}

impl Node for Query {
    fn handle_datagram(&mut self, now: Millis, route: Route, bytes: &[u8]) {
        if route.remote != self.options.server || self.finished {
            return;
        }
        match Message::parse(bytes) {
            Ok(Message::InfoResponse(info)) if !self.info.answered => {
                let Some((pairs, asked)) = Self::pairs(&self.info, info) else { return };
                self.info.answered = true;
                self.answered(now, asked).info = pairs;
            }
            Ok(Message::StatusResponse(status)) if !self.status.answered => {
                let Some((pairs, asked)) = Self::pairs(&self.status, status.info) else { return };
                self.status.answered = true;
                let result = self.answered(now, asked);
                result.status = pairs;
                result.players = players(status);
            }
            _ => {}
        }
        self.finished = self.info.answered && self.status.answered;
    }

    fn frame(&mut self, now: Millis) {
        if now >= self.give_up {
            self.finished = true;
        } else if now >= self.next_ask && !self.finished {
            self.next_ask = now + self.options.retry;
            self.ask(now);
        }
    }

    fn next_frame(&self) -> Millis {
        if self.finished { Millis::NEVER } else { self.next_ask.min(self.give_up) }
    }

    fn poll_transmit(&mut self, packet: &mut Vec<u8>) -> Option<Route> {
        self.outbox.pop(packet)
    }

    fn is_finished(&self) -> bool {
        self.finished
    }
}

impl Hosted for Query {
    fn handle_console_line(&mut self, _: Millis, _: &str) {}

    fn set_loop_counters(&mut self, _: Millis, _: &LoopCounters) {}

    fn receive_coalescing(&self) -> Millis {
        Millis(0)
    }

    fn poll_console(&mut self) -> Option<String> {
        None
    }

    fn poll_game_log(&mut self) -> Option<String> {
        None
    }

    fn local_ports(&self) -> u16 {
        1
    }

    fn stop(&mut self, _now: Millis, _reason: &str) {
        self.finished = true;
    }
}

fn players(status: StatusResponse<'_>) -> Vec<QueryPlayer> {
    let player = |player: connectionless::StatusPlayer<'_>| {
        let coloured_name = player.name.to_string();
        QueryPlayer {
            score: player.score,
            ping_ms: player.ping,
            name: strip_colors(&coloured_name),
            coloured_name,
        }
    };
    status.players().take(MAX_PLAYERS).map(player).collect()
}

impl QueryResult {
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
            _ if self.info.is_empty() => self.players.len().to_string(),
            Some(humans) => format!("{} ({humans} human)", summary.clients),
            None => summary.clients.to_string(),
        };
        let players = format!("{clients} of {}", self.shown(&["sv_maxclients"]));
        for (name, value) in [
            ("address", self.address.clone()),
            ("ping", format!("{} ms", self.ping_ms)),
            ("name", self.shown(&["hostname", "sv_hostname"])),
            ("map", self.shown(&["mapname"])),
            ("game", self.shown(&["game", "gamename"])),
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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::wire::connectionless::{CommandKind, StatusPlayer, write_status_response};

    fn server() -> SocketAddr {
        ([10, 0, 0, 1], 27_960).into()
    }

    fn route(remote: SocketAddr) -> Route {
        Route { local: LocalPort(0), remote }
    }

    /// Returns the request sent by the query: its command and challenge.
    fn asked(query: &mut Query, now: u64) -> Vec<(CommandKind, String)> {
        query.frame(Millis(now));
        let mut packet = Vec::new();
        let mut asked = Vec::new();
        while let Some(to) = query.poll_transmit(&mut packet) {
            assert_eq!(to, route(server()));
            let message = Message::parse(&packet).unwrap();
            let (Message::GetInfo(query) | Message::GetStatus(query)) = message else {
                panic!("{message:?}")
            };
            asked.push((message.kind(), query.challenge.to_string()));
        }
        asked
    }

    fn info_response(challenge: &str) -> Vec<u8> {
        let text = format!(
            "\\challenge\\{challenge}\\hostname\\^1Frag\\mapname\\oa_dm1\\clients\\1\
            \\sv_maxclients\\8\\g_humanplayers\\1\\gamename\\Quake3Arena\\protocol\\71"
        );
        let mut out = Vec::new();
        Message::InfoResponse(WireText::from(text.as_str())).write(&mut out);
        out
    }

    fn status_response(challenge: &str) -> Vec<u8> {
        let info = InfoString::parse(&format!(
            "\\sv_hostname\\^1Frag\\fraglimit\\20\\challenge\\{challenge}"
        ));
        let player = StatusPlayer { score: -3, ping: 48, name: WireText::from("^2Sarge") };
        let mut out = Vec::new();
        write_status_response(&mut out, &info, [player], 1400);
        out
    }

    #[test]
    fn both_responses_complete_the_result() {
        let mut query = Query::new(QueryOptions::new(server(), 7), Millis(100));
        let first = asked(&mut query, 100);
        let [(CommandKind::GetInfo, info), (CommandKind::GetStatus, status)] = &first[..] else {
            panic!("{first:?}")
        };
        assert_ne!(info, status);
        query.handle_datagram(Millis(130), route(server()), &info_response(info));
        assert!(!query.is_finished());
        // Only the missing one is requested again.
        let again = asked(&mut query, 1100);
        assert_eq!(
            again.iter().map(|(kind, _)| *kind).collect::<Vec<_>>(),
            [CommandKind::GetStatus]
        );
        query.handle_datagram(Millis(1150), route(server()), &status_response(&again[0].1));
        assert!(query.is_finished());
        assert_eq!(query.next_frame(), Millis::NEVER);

        let result = query.result().unwrap();
        assert_eq!(result.ping_ms, 30);
        assert_eq!(
            result.to_string(),
            "address   10.0.0.1:27960\nping      30 ms\nname      Frag\nmap       oa_dm1\n\
             game      Quake3Arena\nprotocol  71\nplayers   1 (1 human) of 8\n\n \
             score  ping  name\n    -3    48  Sarge\n"
        );
        assert_eq!(result.settings(), "fraglimit    20\nsv_hostname  Frag\n");
        let json: serde_json::Value = serde_json::from_str(&result.to_json()).unwrap();
        assert_eq!(json["info"]["hostname"], "^1Frag");
        assert_eq!(json["info"].get("challenge"), None);
        assert_eq!(json["status"]["fraglimit"], "20");
        assert_eq!(json["players"][0]["score"], -3);
        assert_eq!(json["players"][0]["name"], "Sarge");
    }

    #[test]
    fn late_response_is_timed_from_its_own_request() {
        let mut query = Query::new(QueryOptions::new(server(), 7), Millis(0));
        let first = asked(&mut query, 0);
        asked(&mut query, 1000);
        query.handle_datagram(Millis(1200), route(server()), &info_response(&first[0].1));
        assert_eq!(query.result().map(|result| result.ping_ms), Some(1200));
    }

    #[test]
    fn unrequested_responses_are_ignored() {
        let mut query = Query::new(QueryOptions::new(server(), 7), Millis(0));
        let first = asked(&mut query, 0);
        let stranger = route(([10, 0, 0, 2], 27_960).into());
        query.handle_datagram(Millis(1), stranger, &info_response(&first[0].1));
        query.handle_datagram(Millis(1), route(server()), &info_response(&first[1].1));
        query.handle_datagram(Millis(1), route(server()), &info_response("xyz"));
        query.handle_datagram(Millis(1), route(server()), b"\xff\xff\xff\xffinfoResponse\n\\a\\1");
        assert_eq!(query.result(), None);
    }

    #[test]
    fn silent_server_ends_query_at_timeout() {
        let mut query = Query::new(QueryOptions::new(server(), 7), Millis(0));
        let mut questions = 0;
        while !query.is_finished() {
            let now = query.next_frame();
            assert!(now <= Millis(4000));
            questions += asked(&mut query, now.0).len();
        }
        assert_eq!(questions, 8);
        assert_eq!(query.result(), None);
    }

    proptest! {
        #[test]
        fn any_answer_is_safe(body in prop::collection::vec(any::<u8>(), 0..300), status in any::<bool>()) {
            let mut query = Query::new(QueryOptions::new(server(), 7), Millis(0));
            let first = asked(&mut query, 0);
            let mut datagram = b"\xff\xff\xff\xff".to_vec();
            datagram.extend_from_slice(if status { b"statusResponse\n" } else { b"infoResponse\n" });
            let challenge = &first[usize::from(status)].1;
            datagram.extend_from_slice(format!("\\challenge\\{challenge}\\x\\").as_bytes());
            datagram.extend_from_slice(&body);
            query.handle_datagram(Millis(1), route(server()), &datagram);
            let result = query.result().map(ToString::to_string).unwrap_or_default();
            prop_assert!(result.bytes().all(|byte| byte == b'\n' || (0x20..0x7f).contains(&byte)));
        }
    }
}
