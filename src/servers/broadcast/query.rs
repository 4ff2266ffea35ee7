//! Query responses: getinfo and getstatus of server browsers.
//!
//! The server is named after its source and lists its viewers as players.
//! Source: Quake III protocol 68, getinfo and getstatus; the keys are ioquake3's.

use super::{admission::NEWEST_PROTOCOL, house::House};
use crate::{
    limits::{BucketLimit, same_host},
    model::{Millis, text::atoi},
    node::Route,
    serving::rate_limits::QueryLimits,
    wire::connectionless::{
        Echo, InfoResponse, Message, Query, StatusPlayer, write_status_response,
    },
};

/// Longest response in bytes: one datagram that is not fragmented by IP.
const MAX_REPLY_LEN: usize = 1400;
/// Limits of answers.
const LIMITS: QueryLimits = QueryLimits {
    each: BucketLimit { burst: 10, period: Millis(1000) },
    all: BucketLimit { burst: 20, period: Millis(50) },
    bytes_per_second: 50_000,
};

impl House {
    /// Whether a query is answered; `None` if not, else whether its answer is charged.
    fn admit_query(&mut self, route: Route) -> Option<bool> {
        let is_viewer =
            self.viewers.iter().any(|(_, v)| same_host(v.remote.address(), route.remote));
        let allowed = self.guards.allows_query(LIMITS, self.now, route.remote, is_viewer);
        self.counts.dropped_datagrams += u64::from(!allowed);
        allowed.then_some(!is_viewer)
    }

    fn charge(&mut self, is_charged: bool, len: usize) {
        if is_charged {
            self.guards.charge_answer(len);
        }
    }

    /// Answers a getinfo.
    pub(super) fn answer_info(&mut self, route: Route, query: Query<'_>) {
        let echo = query.echo();
        if echo == Echo::Silence {
            return;
        }
        let Some(is_charged) = self.admit_query(route) else { return };
        let source = self.stage.public_info();
        let value = |key| source.get(key).unwrap_or_default();
        let clients = self.viewers.present() as u32;
        let gamename = match value("com_gamename") {
            "" => "Quake3Arena",
            gamename => gamename,
        };
        let summary = InfoResponse {
            gamename,
            protocol: NEWEST_PROTOCOL,
            hostname: value("sv_hostname"),
            mapname: value("mapname"),
            clients,
            humans: Some(clients),
            max_clients: self.options.max_viewers,
            gametype: atoi(value("g_gametype")),
            pure: false,
            needs_password: Some(false),
            voip: "",
            min_ping: 0,
            max_ping: 0,
            game: value("fs_game"),
        };
        let challenge = if let Echo::Send(challenge) = echo { Some(challenge) } else { None };
        let info = summary.to_info(challenge);
        let message = Message::InfoResponse(info.as_str().into());
        let len = self.answer(route, |out| message.write(out));
        self.charge(is_charged, len);
    }

    /// Answers a getstatus.
    pub(super) fn answer_status(&mut self, route: Route, query: Query<'_>) {
        let echo = query.echo();
        if echo == Echo::Silence {
            return;
        }
        let Some(is_charged) = self.admit_query(route) else { return };
        let mut info = self.stage.public_info();
        let _ = info.set("sv_maxclients", &self.options.max_viewers.to_string());
        let _ = info.set("g_needpass", "0");
        if let Echo::Send(challenge) = echo {
            let _ = info.set("challenge", &challenge.to_string());
        }
        let Self { viewers, outbox, .. } = self;
        let players =
            viewers.iter().filter(|(_, viewer)| !viewer.is_zombie()).map(|(_, viewer)| {
                let ping = i32::try_from(viewer.sent.ping_ms()).unwrap_or(999);
                StatusPlayer { score: 0, ping, name: viewer.name.as_str().into() }
            });
        let players: Vec<_> = players.take(64).collect();
        let len = outbox.push_with(route, |out| {
            write_status_response(out, &info, players, MAX_REPLY_LEN);
        });
        self.charge(is_charged, len);
    }
}
