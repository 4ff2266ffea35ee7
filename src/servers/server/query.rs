//! Query responses: getinfo and getstatus of server browsers.
//!
//! Source: Quake III protocol 68, getinfo and getstatus; the keys are ioquake3's.
//! Engine names: `SVC_Info`, `SVC_Status`.

use super::{Server, core::Core};
use crate::{
    bg::GameType,
    limits::{BucketLimit, same_host},
    model::Millis,
    node::Route,
    observe::Counter,
    serving::rate_limits::QueryLimits,
    settings::{Settings, key},
    wire::{
        connectionless::{Echo, InfoResponse, Message, Query, StatusPlayer, write_status_response},
        info::InfoString,
    },
};

/// Longest response in bytes: one datagram that is not fragmented by IP.
const MAX_REPLY_LEN: usize = 1400;
/// Game type of a single-player game, which answers no queries.
const SINGLE_PLAYER: i32 = GameType::SinglePlayer as i32;

/// Source of a query.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum QuerySource {
    /// A host with a connected client.
    Client,
    /// A master that probes the server.
    Master,
    /// An address that may be forged.
    Unproven,
}

impl Core {
    /// Source of a query that is answered; `None` if it is not.
    fn admit_query(&mut self, route: Route, is_probe: bool) -> Option<QuerySource> {
        let is_client =
            self.clients.iter().any(|(_, c)| same_host(c.remote.address(), route.remote));
        let allowed = self.settings.int(key::G_GAMETYPE) != SINGLE_PLAYER
            && (is_probe
                || self.guards.allows_query(
                    query_limits(&self.settings),
                    self.now,
                    route.remote,
                    is_client,
                ));
        self.stats.bump(if allowed { Counter::QueriesAnswered } else { Counter::QueriesLimited });
        allowed.then_some(match (is_probe, is_client) {
            (true, _) => QuerySource::Master,
            (false, true) => QuerySource::Client,
            (false, false) => QuerySource::Unproven,
        })
    }

    fn charge_answer(&mut self, source: QuerySource, len: usize) {
        self.stats.bump(Counter::PacketsOutConnectionless);
        if source == QuerySource::Unproven {
            self.guards.charge_answer(len);
        }
    }

    /// Answers a getinfo.
    pub(super) fn handle_get_info(&mut self, route: Route, query: Query<'_>, is_probe: bool) {
        let echo = query.echo();
        if echo == Echo::Silence {
            return;
        }
        let Some(source) = self.admit_query(route, is_probe) else { return };
        let settings = &self.settings;
        let int = |key| settings.int(key).max(0).unsigned_abs();
        let private = int(key::SV_PRIVATE_CLIENTS);
        let public = self.clients.present().filter(|(n, _)| n.index() >= private as usize);
        let humans = public.count() as u32;
        let bots = self.bots.iter().filter(|(n, _)| n.index() >= private as usize);
        let clients = humans + bots.count() as u32;
        let summary = InfoResponse {
            gamename: settings.text(key::COM_GAMENAME),
            protocol: settings.int(key::PROTOCOL),
            hostname: settings.text(key::SV_HOSTNAME),
            mapname: &self.level.map,
            clients,
            humans: Some(humans),
            max_clients: (self.slots() as u32).saturating_sub(private),
            gametype: settings.int(key::G_GAMETYPE),
            pure: settings.flag(key::SV_PURE),
            needs_password: Some(settings.flag(key::G_NEEDPASS)),
            voip: "",
            min_ping: int(key::SV_MIN_PING),
            max_ping: int(key::SV_MAX_PING),
            game: settings.text(key::FS_GAME),
        };
        let challenge = if let Echo::Send(challenge) = echo { Some(challenge) } else { None };
        let info = summary.to_info(challenge);
        let message = Message::InfoResponse(info.as_str().into());
        let len = self.sender.push(route, |out| message.write(out));
        self.charge_answer(source, len);
    }

    /// The systeminfo as an info string.
    pub(super) fn systeminfo(&self) -> InfoString {
        let mut info = InfoString::big();
        for (name, value) in self.settings.systeminfo() {
            let _ = info.set_cleaned(name, value);
        }
        info
    }

    /// The serverinfo as an info string.
    pub(super) fn serverinfo(&self) -> InfoString {
        let mut info = InfoString::normal();
        for (name, value) in self.settings.serverinfo() {
            // The settings reject a value that does not fit.
            let _ = info.set_cleaned(name, value);
        }
        info
    }
}

/// Limits of answers to queries by the settings.
fn query_limits(settings: &Settings) -> QueryLimits {
    let limit = |burst, period| BucketLimit {
        burst: settings.int(burst).unsigned_abs(),
        period: Millis(u64::from(settings.int(period).unsigned_abs())),
    };
    QueryLimits {
        each: limit(key::SV_QUERY_BURST, key::SV_QUERY_PERIOD),
        all: limit(key::SV_QUERY_GLOBAL_BURST, key::SV_QUERY_GLOBAL_PERIOD),
        bytes_per_second: u64::from(settings.int(key::SV_QUERY_GLOBAL_RATE).unsigned_abs()),
    }
}

/// Answers a getstatus.
pub(super) fn handle_get_status(
    server: &mut Server,
    route: Route,
    query: Query<'_>,
    is_probe: bool,
) {
    let echo = query.echo();
    if echo == Echo::Silence {
        return;
    }
    let Some(source) = server.core.admit_query(route, is_probe) else { return };
    let mut info = server.core.serverinfo();
    if let Echo::Send(challenge) = echo {
        let _ = info.set("challenge", &challenge.to_string());
    }
    let Server { core, game, .. } = server;
    let players: Vec<_> = core
        .clients
        .present()
        .map(|(number, client)| StatusPlayer {
            score: game.score(number),
            ping: client.ping_ms(),
            name: client.name.as_str().into(),
        })
        .chain(core.bots.iter().map(|(number, bot)| StatusPlayer {
            score: game.score(number),
            ping: 0,
            name: bot.name.as_str().into(),
        }))
        .collect();
    let len = core.sender.push(route, |out| {
        write_status_response(out, &info, players, MAX_REPLY_LEN);
    });
    core.charge_answer(source, len);
}
