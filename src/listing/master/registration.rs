//! Registration: heartbeats, challenges, responses, probes.
//!
//! | family | heartbeat | query | proof |
//! |---|---|---|---|
//! | Quake III | `heartbeat WORD` | `getinfo CHALLENGE` | challenge of 64 bits in `infoResponse` |
//! | Quake 4 | `heartbeat` | `getInfo` with a number | that number, 32 bits |
//! | QuakeWorld | `a` | `status 15` | none: the response only has to arrive in time |
//!
//! QuakeWorld has no proof that survives a forged source, so its servers get at most a quarter of the list.

use std::net::SocketAddr;

use crate::{
    discovery::{Family, Game, InfoText, quake4, quakeworld},
    limits::AddressKey,
    model::Millis,
    node::Route,
    wire::{connectionless::OUT_OF_BAND, text::WireText},
};

use super::{
    challenge::{CHALLENGE_LIFE, Deferred},
    counters::MasterCounter,
    games::{Meaning, Tag, is_name},
    node::{Master, PROBE_INTERVAL},
    registry::{Announcement, Description, LISTED_LIFE, ListKey, MAX_TEXT, NotListed},
};

/// Heartbeat of Quake 4, which has no word.
pub(super) const QUAKE4: Tag = Tag(254);
/// Heartbeat of QuakeWorld, which has no word.
pub(super) const QUAKEWORLD: Tag = Tag(255);
/// Longest game type, in bytes.
const MAX_GAME_TYPE: usize = 31;
/// Divisor of the list's size that gives the places of unprovable servers.
const UNPROVABLE_SHARE: usize = 4;
/// Query of QuakeWorld servers: settings, players and spectators.
const QUAKEWORLD_QUERY: u8 = 15;

impl Master {
    /// Handles `heartbeat WORD`.
    pub(super) fn heartbeat(&mut self, now: Millis, route: Route, word: WireText<'_>) {
        match self.games.meaning(word) {
            Some(Meaning::Up(tag)) => self.challenge(now, route, tag),
            Some(Meaning::Flatline) => self.counters.bump(MasterCounter::Flatlines),
            None => self.counters.bump(MasterCounter::HeartbeatsUnknown),
        }
    }

    /// Queries the sender of a heartbeat, if it may be listed and has a place.
    pub(super) fn challenge(&mut self, now: Millis, route: Route, tag: Tag) {
        if !self.may_list(route.remote) {
            return self.counters.bump(MasterCounter::HeartbeatsForbidden);
        }
        let is_new = self.registry.find(route.remote).is_none();
        if is_new && !self.has_room(now, route.remote, tag) {
            return;
        }
        let mut reserve = false;
        if is_new {
            let host = AddressKey::host(route.remote.ip());
            let reserved = self.challenges.reservations(now, route.remote, host);
            reserve = reserved.is_calm;
            let is_taken = reserved.is_calm
                && self
                    .registry
                    .check_room(route.remote.ip(), family_of(tag), reserved.all, reserved.of_host)
                    .is_err();
            if is_taken && self.challenges.defer(now, route, tag) {
                return self.counters.bump(MasterCounter::HeartbeatsDeferred);
            }
        }
        self.send_challenge(now, route, tag, reserve);
    }

    /// Queries the sender of a heartbeat whose place was reserved by others, which had their time.
    pub(super) fn challenge_deferred(&mut self, now: Millis, deferred: Deferred) {
        if self.has_room(now, deferred.route.remote, deferred.tag) {
            self.send_challenge(now, deferred.route, deferred.tag, false);
        }
    }

    /// Handles `infoResponse` of the Quake III family.
    pub(super) fn info_response(&mut self, now: Millis, route: Route, info: InfoText<'_>) {
        let challenge = info.get("challenge").unwrap_or_default();
        let Some(tag) = self.challenges.verify(now, route.remote, challenge.raw()) else {
            return self.counters.bump(MasterCounter::InfosUnproven);
        };
        let Some(heartbeat) = self.games.heartbeat(tag) else { return };
        let (is_anonymous, is_probed) = (heartbeat.is_anonymous, heartbeat.is_probed);
        let Some(response) = Response::read(info) else {
            return self.counters.bump(MasterCounter::InfosInvalid);
        };
        let of_heartbeat = heartbeat.name.clone();
        let of_heartbeat = of_heartbeat.as_deref().map(WireText::from);
        let name = match (response.game, of_heartbeat) {
            (Some(name), Some(expected)) if name != expected => None,
            (Some(name), _) | (None, Some(name)) => Some(name),
            (None, None) => return self.counters.bump(MasterCounter::InfosInvalid),
        };
        let Some(name) = name.filter(|name| self.games.accepts(*name)) else {
            return self.counters.bump(MasterCounter::InfosRejected);
        };
        let key = ListKey { family: Family::Quake3, name: name.raw(), protocol: response.protocol };
        let announcement = Announcement {
            source: route.remote,
            public: self.public_address(route.remote),
            local: route.local,
            local_ip: route.local_ip,
            tag,
            is_anonymous,
            list: key,
        };
        self.list(now, announcement, response.description, is_probed);
    }

    /// Queries a listed server, as the publisher's master did.
    pub(super) fn probe(&mut self, now: Millis, route: Route, tag: Tag) {
        self.counters.bump(MasterCounter::Probes);
        for command in [&b"getchallenge"[..], b"getstatus"] {
            self.outbox.push_with(route, |out| {
                out.extend_from_slice(OUT_OF_BAND);
                out.extend_from_slice(command);
            });
        }
        self.push_getinfo(now, route, tag, false);
    }

    /// Handles Quake 4 packets.
    pub(super) fn quake4(
        &mut self,
        now: Millis,
        route: Route,
        len: usize,
        packet: quake4::Packet<'_>,
    ) {
        match packet {
            quake4::Packet::Heartbeat => self.challenge(now, route, QUAKE4),
            quake4::Packet::InfoResponse(response) => self.quake4_response(now, route, response),
            quake4::Packet::GetServers(request) => self.answer_quake4(now, route, len, request),
            quake4::Packet::GameAuth(request) => self.game_auth(now, route, len, request),
            quake4::Packet::GetInfo(_) | quake4::Packet::AuthKey(_) => {
                self.counters.bump(MasterCounter::Malformed);
            }
        }
    }

    /// Handles QuakeWorld packets.
    pub(super) fn quakeworld(
        &mut self,
        now: Millis,
        route: Route,
        len: usize,
        packet: quakeworld::Packet<'_>,
    ) {
        match packet {
            quakeworld::Packet::Heartbeat { .. } => self.challenge(now, route, QUAKEWORLD),
            quakeworld::Packet::Shutdown => self.counters.bump(MasterCounter::Flatlines),
            quakeworld::Packet::Ping { .. } => {
                let ack = quakeworld::Packet::Ack(quakeworld::AckForm::Line);
                self.reply(now, route, len, |out| ack.write(out));
            }
            quakeworld::Packet::ListRequest => self.answer_quakeworld(now, route, len),
            quakeworld::Packet::Status(status) => self.quakeworld_response(now, route, status),
            _ => self.counters.bump(MasterCounter::Unexpected),
        }
    }

    fn quake4_response(&mut self, now: Millis, route: Route, response: quake4::InfoResponse<'_>) {
        if !self.challenges.verify_number(now, route.remote, response.challenge) {
            return self.counters.bump(MasterCounter::InfosUnproven);
        }
        let text = |key| response.get(key).unwrap_or_default();
        let max_clients = count(text("si_maxPlayers"));
        if max_clients == 0 {
            return self.counters.bump(MasterCounter::InfosInvalid);
        }
        let description = Description {
            name: cut(text("si_name"), MAX_TEXT),
            map: cut(text("si_map"), MAX_TEXT),
            game_type: cut(text("si_gameType"), MAX_GAME_TYPE),
            modification: cut(text("fs_game"), MAX_TEXT),
            clients: response.players().count() as u16,
            max_clients,
            needs_password: text("si_usePass").atoi() != 0,
        };
        let protocol = (response.protocol & !quake4::PROTOCOL_FLAG).cast_signed();
        self.list_unnamed(now, route, Family::Quake4, QUAKE4, protocol, description);
    }

    fn quakeworld_response(&mut self, now: Millis, route: Route, status: quakeworld::Status<'_>) {
        let is_listed = self.registry.find(route.remote).is_some();
        if !self.challenges.is_open(now, route.remote, QUAKEWORLD) {
            return self.counters.bump(MasterCounter::InfosUnproven);
        }
        let most = self.options.max_servers.div_ceil(UNPROVABLE_SHARE);
        if !is_listed && self.registry.len_of(Family::QuakeWorld) >= most {
            return self.counters.bump(MasterCounter::InfosFull);
        }
        let text = |key| status.info.get(key).unwrap_or_default();
        let max_clients = count(text("maxclients"));
        if max_clients == 0 || status.info.has_long_part() {
            return self.counters.bump(MasterCounter::InfosInvalid);
        }
        let description = Description {
            name: cut(text("hostname"), MAX_TEXT),
            map: cut(text("map"), MAX_TEXT),
            game_type: cut(text("deathmatch"), MAX_GAME_TYPE),
            modification: cut(text("*gamedir"), MAX_TEXT),
            clients: status.players().filter(|player| player.frags.is_some()).count() as u16,
            max_clients,
            needs_password: text("needpass").atoi() & 1 != 0,
        };
        self.list_unnamed(now, route, Family::QuakeWorld, QUAKEWORLD, 0, description);
    }

    /// Lists a server of a family with one game.
    fn list_unnamed(
        &mut self,
        now: Millis,
        route: Route,
        family: Family,
        tag: Tag,
        protocol: i32,
        description: Description,
    ) {
        let Some(game) = Game::of_family(family) else { return };
        if !self.games.accepts(WireText::from(game.name)) {
            return self.counters.bump(MasterCounter::InfosRejected);
        }
        let announcement = Announcement {
            source: route.remote,
            public: self.public_address(route.remote),
            local: route.local,
            local_ip: route.local_ip,
            tag,
            is_anonymous: true,
            list: ListKey { family, name: game.name.as_bytes(), protocol },
        };
        self.list(now, announcement, description, false);
    }

    fn list(
        &mut self,
        now: Millis,
        announcement: Announcement<'_>,
        description: Description,
        is_probed: bool,
    ) {
        let next_probe = if is_probed { now + PROBE_INTERVAL } else { Millis::NEVER };
        let source = announcement.source;
        let is_new = self.registry.find(source).is_none();
        match self.registry.announce(announcement, description, now + LISTED_LIFE, next_probe) {
            Ok(_) => {
                self.counters.bump(MasterCounter::InfosListed);
                self.challenges.settle(source);
                if is_new {
                    log::debug!("{source} listed");
                }
            }
            Err(
                NotListed::Full
                | NotListed::HostFull
                | NotListed::NetworkFull
                | NotListed::AddressTaken,
            ) => self.counters.bump(MasterCounter::InfosFull),
        }
    }

    /// Whether a new server has a place. Counts a refusal.
    fn has_room(&mut self, now: Millis, remote: SocketAddr, tag: Tag) -> bool {
        let refusal = match self.registry.check_room(remote.ip(), family_of(tag), 0, 0) {
            Ok(_) => return true,
            Err(NotListed::Full) => MasterCounter::HeartbeatsFull,
            Err(NotListed::NetworkFull) => MasterCounter::HeartbeatsFullNetwork,
            Err(NotListed::HostFull | NotListed::AddressTaken) => {
                MasterCounter::HeartbeatsFullAddress
            }
        };
        self.counters.bump(refusal);
        self.note(now, "new servers found no place on the list");
        false
    }

    fn send_challenge(&mut self, now: Millis, route: Route, tag: Tag, reserve: bool) {
        if !self.registry.admits_challenge(now, route.remote)
            && !self.challenge_guard.allows(now, route.remote)
        {
            self.counters.bump(MasterCounter::HeartbeatsLimited);
            return self.note(now, "heartbeats of one host exceed the limit of challenges");
        }
        self.counters.bump(MasterCounter::Heartbeats);
        match tag {
            QUAKE4 => {
                self.challenges.issue(now, route.remote, tag, reserve);
                let number = self.challenges.number(now, route.remote);
                self.reply(now, route, 12, |out| quake4::Packet::GetInfo(number).write(out));
            }
            QUAKEWORLD => {
                self.challenges.issue(now, route.remote, tag, reserve);
                let query = quakeworld::Packet::GetStatus(Some(u32::from(QUAKEWORLD_QUERY)));
                self.reply(now, route, 6, |out| query.write(out));
            }
            _ => self.push_getinfo(now, route, tag, reserve),
        }
    }

    fn push_getinfo(&mut self, now: Millis, route: Route, tag: Tag, reserve: bool) {
        let challenge = self.challenges.issue(now, route.remote, tag, reserve);
        let sent = self.outbox.push_with(route, |out| {
            out.extend_from_slice(OUT_OF_BAND);
            out.extend_from_slice(b"getinfo ");
            out.extend_from_slice(challenge.as_bytes());
        });
        self.counters.add(MasterCounter::BytesOut, sent as u64);
    }
}

/// Family of a heartbeat.
fn family_of(tag: Tag) -> Family {
    match tag {
        QUAKE4 => Family::Quake4,
        QUAKEWORLD => Family::QuakeWorld,
        _ => Family::Quake3,
    }
}

/// Values of an `infoResponse` that a master needs.
struct Response<'a> {
    protocol: i32,
    game: Option<WireText<'a>>,
    description: Description,
}

impl<'a> Response<'a> {
    /// Reads the values in one pass; `None` if a required one is missing or invalid.
    fn read(info: InfoText<'a>) -> Option<Self> {
        let mut found = [None; KEYS.len()];
        for (key, value) in info.pairs() {
            if key.len() > MAX_PART || value.len() > MAX_PART {
                return None;
            }
            // Readers take the first of equal keys.
            if let Some(at) = KEYS.iter().position(|known| key == **known) {
                found[at].get_or_insert(value);
            }
        }
        let [protocol, game_type, max_clients, clients, game, name, map, modification, pass, needs] =
            found;
        let protocol = protocol?.to_integer()?;
        let game_type = game_type.unwrap_or(WireText::from("0"));
        let max_clients = count(max_clients?);
        let clients = count(clients?);
        let has_blank = |text: WireText<'_>| text.bytes().any(|byte| byte <= b' ');
        if max_clients == 0 || has_blank(game_type) {
            return None;
        }
        if let Some(game) = game
            && !is_name(game)
        {
            return None;
        }
        let flag = |value: Option<WireText<'_>>| value.is_some_and(|value| value.atoi() != 0);
        let description = Description {
            name: cut(name.unwrap_or_default(), MAX_TEXT),
            map: cut(map.unwrap_or_default(), MAX_TEXT),
            game_type: cut(game_type, MAX_GAME_TYPE),
            modification: cut(modification.unwrap_or_default(), MAX_TEXT),
            clients,
            max_clients,
            needs_password: flag(pass) || flag(needs),
        };
        Some(Self { protocol, game, description })
    }
}

/// Keys that a master reads. Unlike games, masters respect their letter case.
const KEYS: [&str; 10] = [
    "protocol",
    "gametype",
    "sv_maxclients",
    "clients",
    "gamename",
    "hostname",
    "mapname",
    "game",
    "g_needpass",
    "needpass",
];
/// Longest key or value, in bytes.
const MAX_PART: usize = 255;

/// Returns a count of clients. A negative one is not 0, so that it does not mean "empty".
fn count(text: WireText<'_>) -> u16 {
    u16::try_from(text.atoi()).unwrap_or(u16::MAX)
}

/// Returns at most `len` printable characters, so that page, list, state file and log agree.
fn cut(text: WireText<'_>, len: usize) -> Box<str> {
    let printable = text.bytes().filter(|byte| (0x20..0x7f).contains(byte));
    printable.take(len).map(char::from).collect::<String>().into()
}

const _: () = assert!(CHALLENGE_LIFE.0 < LISTED_LIFE.0, "a server outlives its challenge");
