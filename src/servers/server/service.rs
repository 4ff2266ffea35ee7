//! Service of the server: level and game, slots and limits of its settings.
//!
//! Source: Quake III protocol 68, connect, getinfo and getstatus; the keys are ioquake3's.

use std::borrow::Cow;

use super::{
    bots,
    challenge_requests::{handle_get_challenge, issue_challenge, ping_limits},
    client::{self, ServerRole},
    client_commands,
    console::remote::handle_rcon,
    core::Core,
    downloads::commands::is_download_command,
    game_faults::LEVEL_ENDED,
    gate,
    info_strings::serverinfo,
    lan::is_lan,
    moderation, protocols,
    send::send_snapshot,
    state::Server,
    usercmds,
};
use crate::{
    bg::GameType,
    limits::{BucketLimit, QueryLimits},
    model::{ClientNum, CommandNum, Millis, Sequence, UserCmd},
    node::Route,
    serving::connection::{
        AdmissionLimits, Connections, Passage, RconRequest, ReceiveBuffer, Service, Slots, Timeouts,
    },
    settings::key,
    wire::{
        Protocol,
        connectionless::{GetChallenge, InfoResponse, StatusPlayer},
        info::InfoString,
        text::WireText,
        userinfo::Userinfo,
    },
};

/// Game type of a single-player game, which answers no queries.
const SINGLE_PLAYER: i32 = GameType::SinglePlayer as i32;

impl Service for Server {
    type Role = ServerRole;

    fn connections(&mut self) -> Connections<'_, ServerRole> {
        self.core.connections()
    }

    fn slots(&self) -> &Slots<ServerRole> {
        &self.core.clients
    }

    fn receive_buffer(&mut self) -> &mut Option<Box<ReceiveBuffer>> {
        &mut self.receive_buffer
    }

    fn has_gamestate(&self) -> bool {
        !self.faults.has_ended_level()
    }

    fn level_name(&self) -> String {
        format!("map {}", self.core.level.map)
    }

    fn intercept(&mut self, route: Route, datagram: &[u8]) -> Passage {
        let (mut connections, authorizer, announcer) = self.core.services();
        let admitted = |connections: &mut Connections<'_, ServerRole>, client, challenge| {
            issue_challenge(connections, client, challenge, false);
        };
        if authorizer.handle_verdict(&mut connections, route, datagram, admitted)
            || announcer.ignores(route)
        {
            Passage::Handled
        } else if announcer.takes_probe(&mut connections, route, datagram) {
            Passage::Probe
        } else {
            Passage::Limited
        }
    }

    fn gamename(&self) -> Cow<'_, str> {
        self.core.settings.text(key::COM_GAMENAME).into()
    }

    fn answer_challenge(&mut self, route: Route, request: GetChallenge<'_>, is_probe: bool) {
        let (mut connections, authorizer, _) = self.core.services();
        handle_get_challenge(authorizer, &mut connections, route, request, is_probe);
    }

    fn run_rcon(&mut self, route: Route, request: RconRequest<'_>) {
        handle_rcon(self, route, request);
    }

    fn query_limits(&self) -> Option<QueryLimits> {
        let settings = &self.core.settings;
        if settings.int(key::G_GAMETYPE) == SINGLE_PLAYER {
            return None;
        }
        let limit = |burst, period| BucketLimit {
            burst: settings.int(burst).unsigned_abs(),
            period: Millis(u64::from(settings.int(period).unsigned_abs())),
        };
        Some(QueryLimits {
            each: limit(key::SV_QUERY_BURST, key::SV_QUERY_PERIOD),
            all: limit(key::SV_QUERY_GLOBAL_BURST, key::SV_QUERY_GLOBAL_PERIOD),
            bytes_per_second: u64::from(settings.int(key::SV_QUERY_GLOBAL_RATE).unsigned_abs()),
        })
    }

    fn info_response(&self, challenge: Option<WireText<'_>>) -> InfoString {
        let Core { settings, clients, bots, level, .. } = &self.core;
        let int = |key| settings.int(key).max(0).unsigned_abs();
        let private = int(key::SV_PRIVATE_CLIENTS);
        let public = clients.present().filter(|(n, _)| n.index() >= private as usize);
        let humans = public.count() as u32;
        let simulated = bots.iter().filter(|(n, _)| n.index() >= private as usize);
        let all = humans + simulated.count() as u32;
        let summary = InfoResponse {
            gamename: settings.text(key::COM_GAMENAME),
            protocol: settings.int(key::PROTOCOL),
            hostname: settings.text(key::SV_HOSTNAME),
            mapname: &level.map,
            clients: all,
            humans: Some(humans),
            max_clients: (self.core.slots() as u32).saturating_sub(private),
            gametype: settings.int(key::G_GAMETYPE),
            pure: settings.flag(key::SV_PURE),
            needs_password: Some(settings.flag(key::G_NEEDPASS)),
            voip: "",
            min_ping: int(key::SV_MIN_PING),
            max_ping: int(key::SV_MAX_PING),
            game: settings.text(key::FS_GAME),
        };
        summary.to_info(challenge)
    }

    fn status_response(&self) -> (InfoString, Vec<StatusPlayer<'_>>) {
        let Self { core, game, .. } = self;
        let clients = core.clients.present().map(|(number, client)| StatusPlayer {
            score: game.score(number),
            ping: client.ping_ms(),
            name: client.name.as_str().into(),
        });
        let bots = core.bots.iter().map(|(number, bot)| StatusPlayer {
            score: game.score(number),
            ping: 0,
            name: bot.name.as_str().into(),
        });
        (serverinfo(&core.settings), clients.chain(bots).collect())
    }

    fn admission_limits(&self, route: Route) -> AdmissionLimits {
        let settings = &self.core.settings;
        let limit = |key| settings.int(key).unsigned_abs();
        let subnet = if route.remote.ip().to_canonical().is_ipv6() {
            key::SV_MAXCLIENTS_PER_SUBNET6
        } else {
            key::SV_MAXCLIENTS_PER_SUBNET
        };
        let per_host = limit(key::SV_MAXCLIENTS_PER_IP);
        AdmissionLimits {
            closed: if self.faults.has_ended_level() {
                Some(LEVEL_ENDED.into())
            } else {
                self.core.drain.refusal()
            },
            protocol: settings.int(key::PROTOCOL),
            ping_ms: ping_limits(settings),
            reconnect_interval: Millis::seconds(settings.int(key::SV_RECONNECTLIMIT).max(0) as u64),
            per_host: per_host as usize,
            per_subnet: limit(subnet) as usize,
            per_site: if per_host == 0 { self.core.slots() as u32 } else { per_host },
            // Loading clients of a game have `sv_joinTimeout`.
            entry_time: None,
            is_exempt: is_lan(settings, route.remote),
        }
    }

    fn protocol_of(&self, number: i32) -> Result<(&'static Protocol, bool), Option<String>> {
        let settings = &self.core.settings;
        if let Some(known) = protocols::older(&self.core, number) {
            return known;
        }
        let newest = settings.int(key::COM_PROTOCOL);
        let legacy = settings.int(key::COM_LEGACYPROTOCOL);
        if number != newest && (number != legacy || legacy == 0) {
            return Err(None);
        }
        // A number without a row, such as OpenArena's former 69 and 70, has the framing of a 71.
        let known = Protocol::with_number(number).next().map_or(71, |_| number);
        let guess = Protocol::with_number(known).next().ok_or(None)?;
        if guess.next_with_number() == guess {
            return Ok((guess, true));
        }
        let chosen = Protocol::named(&settings.choice(key::SV_WIRE71).to_string());
        Ok(chosen.map_or((guess, false), |chosen| (chosen, true)))
    }

    fn slots_for(
        &self,
        route: Route,
        info: &InfoString,
    ) -> Result<impl Iterator<Item = ClientNum>, String> {
        moderation::check_bans(&self.core, route, info)?;
        let settings = &self.core.settings;
        let password = settings.text(key::SV_PRIVATE_PASSWORD);
        let private = settings.int(key::SV_PRIVATE_CLIENTS).unsigned_abs() as usize;
        let may_be_private = !password.is_empty() && Userinfo(info).password() == password;
        let first = if may_be_private { 0 } else { private };
        Ok(ClientNum::all().take(self.core.slots()).skip(first))
    }

    fn is_free(&self, number: ClientNum) -> bool {
        bots::is_free(&self.core.clients, &self.core.bots, number)
    }

    fn store_userinfo(&mut self, number: ClientNum, info: InfoString) {
        let Core { clients, settings, .. } = &mut self.core;
        client::store_userinfo(clients, settings, number, info);
    }

    fn connect(&mut self, number: ClientNum) -> Result<(), String> {
        gate::connect_to_game(self, number, true)
    }

    fn expect_usercmds(&mut self, number: ClientNum) {
        self.game.expect_usercmds(number);
    }

    fn runs_without_level(&self, number: ClientNum, commands: &[(CommandNum, String)]) -> bool {
        self.core.clients.get(number).is_some_and(|client| client.own.downloads.is_active())
            || commands.iter().any(|(_, text)| is_download_command(text))
    }

    fn run_command(&mut self, number: ClientNum, text: &str) -> bool {
        client_commands::run_client_command(self, number, text)
    }

    fn record_acknowledged(&mut self, number: ClientNum, acknowledged: Sequence) {
        if let Some(client) = self.core.clients.get_mut(number) {
            client.own.downloads.record_received(acknowledged);
        }
    }

    fn run_usercmds(&mut self, number: ClientNum, usercmds: &[UserCmd]) {
        usercmds::run(self, number, usercmds);
    }

    fn timeouts(&self) -> Timeouts {
        let settings = &self.core.settings;
        let seconds = |key| Millis::seconds(settings.int(key).max(0) as u64);
        Timeouts {
            silence: seconds(key::SV_TIMEOUT),
            join: Some(seconds(key::SV_JOIN_TIMEOUT)).filter(|&limit| limit > Millis(0)),
            zombie: seconds(key::SV_ZOMBIETIME),
        }
    }

    fn drop_client(&mut self, number: ClientNum, reason: &str) {
        if self.core.audience().begin_drop(number, reason) {
            self.enter_game(|game, host| game.client_disconnect(host, number));
            self.core.end_drop(number, reason);
        }
    }

    fn send_last(&mut self, number: ClientNum) {
        send_snapshot(self, number);
    }
}
