//! Service of a broadcast: level of its source, limits of its options.
//!
//! The server is named after its source and lists its viewers as players.

use std::borrow::Cow;

use super::{
    bans, commands,
    options::BroadcastOptions,
    state::RelayState,
    viewer::{ViewerKey, ViewerRole, ViewerState, Viewers},
};
use crate::{
    limits::{BucketLimit, QueryLimits, is_this_machine},
    model::{Buttons, Millis, UserCmd, text, text::atoi},
    node::Route,
    observe::Counter,
    serving::{
        connection::{AdmissionLimits, Connections, ReceiveBuffer, Service, Timeouts, enter_level},
        guards::ChallengeRequest,
    },
    wire::{
        Protocol,
        connectionless::{GetChallenge, InfoResponse, StatusPlayer},
        info::InfoString,
        text::WireText,
    },
};

/// Newest protocol number that is accepted. Its two framings are told apart by the first packet.
const NEWEST_PROTOCOL: i32 = 71;
/// Least time between two connects of one client.
const RECONNECT_INTERVAL: Millis = Millis::seconds(1);
/// Viewers of one IPv6 network, for each viewer that one address may have.
const ADDRESSES_PER_SUBNET6: usize = 4;
/// Divisor of all viewers that gives those of one IPv6 network, unless one address may have more.
const SUBNET6_SHARE: usize = 2;
/// Time after which a viewer that has not entered may give way to another network.
const ENTRY_TIME: Millis = Millis::seconds(5);
/// Time in which a viewer has to load a level.
const JOIN_TIMEOUT: Millis = Millis::seconds(180);
/// Time for which a dropped viewer is kept.
const ZOMBIE_TIME: Millis = Millis::seconds(2);
/// Viewers that the response to getstatus lists.
const MAX_LISTED: usize = 64;
/// Limits of answers to queries.
const QUERIES: QueryLimits = QueryLimits {
    each: BucketLimit { burst: 10, period: Millis(1000) },
    all: BucketLimit { burst: 100, period: Millis(10) },
    bytes_per_second: 50_000,
};

impl Service for RelayState {
    type Role = ViewerRole;

    fn connections(&mut self) -> Connections<'_, ViewerRole> {
        Connections {
            slots: &mut self.viewers,
            guards: &mut self.guards,
            outbox: &mut self.outbox,
            writer: &mut self.writer,
            stats: &mut self.stats,
            drops: &mut self.drops,
            tap: &mut self.tap,
            rates: &self.options,
            level: self.current.served(),
            now: self.now,
        }
    }

    fn slots(&self) -> &Viewers {
        &self.viewers
    }

    fn receive_buffer(&mut self) -> &mut Option<Box<ReceiveBuffer>> {
        &mut self.receive_buffer
    }

    fn has_gamestate(&self) -> bool {
        self.current.has_level()
    }

    fn level_name(&self) -> String {
        format!("level {}", text::escaped(self.current.info_value("mapname").as_bytes()))
    }

    fn gamename(&self) -> Cow<'_, str> {
        match self.current.info_value("com_gamename") {
            gamename if gamename.is_empty() => "Quake3Arena".into(),
            gamename => gamename.into(),
        }
    }

    fn answer_challenge(&mut self, route: Route, request: GetChallenge<'_>, is_probe: bool) {
        let (challenge, form) =
            (request.client_challenge, ChallengeRequest { is_timed: false, is_probe });
        self.connections().send_challenge(route, challenge, NEWEST_PROTOCOL, form);
    }

    fn query_limits(&self) -> Option<QueryLimits> {
        Some(QUERIES)
    }

    fn info_response(&self, challenge: Option<WireText<'_>>) -> InfoString {
        let source = self.current.public_info();
        let value = |key| source.get(key).unwrap_or_default();
        let clients = self.viewers.present().count() as u32;
        let summary = InfoResponse {
            gamename: &self.gamename(),
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
        summary.to_info(challenge)
    }

    fn status_response(&self) -> (InfoString, Vec<StatusPlayer<'_>>) {
        let mut info = self.current.public_info();
        let _ = info.set("sv_maxclients", &self.options.max_viewers.to_string());
        let _ = info.set("g_needpass", "0");
        let players = self.viewers.present().map(|(_, viewer)| {
            let name = viewer.name.as_str().into();
            StatusPlayer { score: 0, ping: viewer.ping_ms(), name }
        });
        (info, players.take(MAX_LISTED).collect())
    }

    fn admission_limits(&self, route: Route) -> AdmissionLimits {
        let BroadcastOptions { max_per_address, max_viewers, .. } = self.options;
        let ip = route.remote.ip().to_canonical();
        let per_host = max_per_address as usize;
        let share = (max_viewers as usize / SUBNET6_SHARE).max(per_host);
        let per_subnet6 = (per_host * ADDRESSES_PER_SUBNET6).min(share);
        let closed = "The source of this relay is not there yet.";
        AdmissionLimits {
            closed: if self.current.has_level() {
                self.drain.refusal()
            } else {
                Some(closed.into())
            },
            protocol: NEWEST_PROTOCOL,
            ping_ms: (0, 0),
            reconnect_interval: RECONNECT_INTERVAL,
            per_host,
            per_subnet: if ip.is_ipv6() { per_subnet6 } else { 0 },
            per_site: max_per_address,
            entry_time: Some(ENTRY_TIME),
            is_exempt: is_this_machine(ip),
        }
    }

    fn protocol_of(&self, number: i32) -> Result<(&'static Protocol, bool), Option<String>> {
        let guess = Protocol::with_number(number).find(|row| row.is_live).ok_or(None)?;
        // Viewers share messages of one encoding.
        if !std::ptr::eq(guess.encoding, Protocol::Q3_68.encoding) {
            return Err(Some(format!("A relay serves protocols 66 to 71 (yours is {number}).")));
        }
        Ok((guess, guess.next_with_number() == guess))
    }

    fn slots_for(
        &self,
        route: Route,
        info: &InfoString,
    ) -> Result<impl Iterator<Item = ViewerKey>, String> {
        if let Some(refusal) = bans::ban_refusal(self, route, info) {
            return Err(refusal);
        }
        Ok(0..self.options.max_viewers as usize)
    }

    fn store_userinfo(&mut self, key: ViewerKey, info: InfoString) {
        self.set_userinfo(key, info);
    }

    fn run_command(&mut self, key: ViewerKey, text: &str) -> bool {
        commands::run(self, key, text)
    }

    fn run_usercmds(&mut self, key: ViewerKey, usercmds: &[UserCmd]) {
        let Some(newest) = usercmds.last() else { return };
        let Some(viewer) = self.viewers.get_mut(key) else { return };
        match &viewer.state {
            ViewerState::Primed(_) => {
                enter_level(self.connections(), key, *newest);
                self.greet(key);
            }
            ViewerState::Active(_) => {
                self.stats.bump(Counter::Moves);
                let held = std::mem::replace(&mut viewer.last_usercmd, *newest).buttons;
                let pressed = |buttons: Buttons| buttons.contains(Buttons::ATTACK);
                if pressed(newest.buttons) && !pressed(held) {
                    commands::follow_next(self, key, 1, true);
                }
            }
            ViewerState::Connected(_) | ViewerState::Zombie(_) => {}
        }
    }

    fn timeouts(&self) -> Timeouts {
        Timeouts { silence: self.options.timeout, join: Some(JOIN_TIMEOUT), zombie: ZOMBIE_TIME }
    }

    fn drop_client(&mut self, key: ViewerKey, reason: &str) {
        self.drop_viewer(key, reason);
    }

    fn send_last(&mut self, key: ViewerKey) {
        self.connections().send_commands(key);
    }
}
