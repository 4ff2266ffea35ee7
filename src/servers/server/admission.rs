//! Connection admission: challenge and connect handling.
//!
//! Nothing is stored for an address before it has returned its challenge. Of its userinfo only the
//! numbers that the checks need are read before. Checks run in the order, and rejections have the
//! texts, that clients know.
//! Source: Quake III protocol 68, connect; ioquake3's texts.
//! Engine names: `SV_GetChallenge`, `SV_DirectConnect`.

use std::net::SocketAddr;

use super::{
    Server,
    authorization::Admission,
    bots,
    client::{Client, ClientState},
    core::Core,
    game_faults::{LEVEL_ENDED, connect_to_game},
    lan::is_lan,
};
use crate::{
    limits::{same_host, same_subnet},
    model::{Challenge, ClientNum, Millis, Qport, text},
    netchan::{AddressMatch, PeerAddress},
    node::Route,
    observe::{Counter, LogEvent},
    serving::rejection::{Rejection, USERINFO_TOO_LONG},
    settings::key,
    wire::{
        Protocol,
        connect::{Claim, Connect, ConnectError, ConnectText},
        connectionless::{ChallengeResponse, ConnectResponse, GetChallenge, Message},
        info::InfoString,
        userinfo::Userinfo,
    },
};

/// Length of a guid, in hexadecimal digits.
const GUID_LEN: usize = 32;
/// Silence of a client after which a connect from its host with its qport takes over its slot.
pub(super) const ABANDONED_AFTER: Millis = Millis::seconds(5);
/// The same on a full server.
const ABANDONED_WHEN_FULL: Millis = Millis::seconds(2);
/// Silence of a client after which a connect from its address and port takes over its slot. A
/// client that sends is not replaced: a challenge could have been guessed.
const REPLACED_AFTER: Millis = Millis::seconds(1);
/// Silence of a player after which a connect from its host with its guid takes over its slot. A game that crashed has
/// another port and qport.
const LEFT_AFTER: Millis = Millis::seconds(3);
/// The same for a client that loads a level, since it sends nothing meanwhile.
const LEFT_LOADING_AFTER: Millis = Millis::seconds(15);

impl Core {
    /// Answers a request for a challenge.
    pub(super) fn handle_get_challenge(
        &mut self,
        route: Route,
        request: GetChallenge<'_>,
        is_probe: bool,
    ) {
        let ours = self.settings.text(key::COM_GAMENAME);
        // Clients of protocol 68 send no game name.
        if !request.gamename.is_empty() && request.gamename != *ours {
            let text = format!("Game mismatch: This is a {ours} server\n");
            self.send_rejection(route, &text);
            return;
        }
        // A master asks for a challenge and never joins.
        match if is_probe { Admission::Now } else { self.authorize(route, request) } {
            Admission::Now => self.send_challenge(route, request.client_challenge, is_probe),
            Admission::Deferred => {}
            Admission::Limited => self.stats.bump(Counter::ChallengesLimited),
        }
    }

    /// Sends a challenge. `is_probe`: without a limit.
    pub(super) fn send_challenge(
        &mut self,
        route: Route,
        client_challenge: Option<Challenge>,
        is_probe: bool,
    ) {
        let is_timed = self.measures_pings();
        let is_used = |challenge| self.clients.has_used(challenge);
        let Some(challenge) =
            self.guards.issue_challenge(self.now, route.remote, (is_timed, is_probe), is_used)
        else {
            self.stats.bump(Counter::ChallengesLimited);
            return;
        };
        let protocol = client_challenge.map(|_| self.settings.int(key::COM_PROTOCOL));
        let response = ChallengeResponse { challenge, client_challenge, protocol };
        self.answer(route, |out| Message::ChallengeResponse(response).write(out));
    }

    /// Whether admission depends on the ping.
    fn measures_pings(&self) -> bool {
        self.settings.int(key::SV_MIN_PING) != 0 || self.settings.int(key::SV_MAX_PING) != 0
    }

    /// Validates a challenge, and the time since it was issued, which is the ping.
    fn validate_challenge(&self, route: Route, challenge: Challenge) -> Result<(), Rejection> {
        let is_timed = self.measures_pings();
        let age = self.guards.check_challenge(self.now, route.remote, challenge, is_timed);
        let age = age.ok_or(Rejection::message("No or bad challenge for your address."))?;
        let is_lan = is_lan(&self.settings, route.remote);
        let Some((least_ms, most_ms)) = age.bounds_ms.filter(|_| !is_lan) else {
            return Ok(());
        };
        let limit = |key| u64::from(self.settings.int(key).unsigned_abs());
        let (low, high) = (limit(key::SV_MIN_PING), limit(key::SV_MAX_PING));
        if most_ms < low {
            return Err(Rejection::message("Server is for high pings only"));
        }
        if high != 0 && least_ms > high {
            return Err(Rejection::message("Server is for low pings only"));
        }
        Ok(())
    }

    /// Sends the reason of a rejection, within the rate limit.
    pub(super) fn send_rejection(&mut self, route: Route, text: &str) {
        if self.guards.allows_rejection(self.now, route.remote) {
            self.answer(route, |out| Message::Print(text.into()).write(out));
        }
    }

    /// Returns the protocol with that number, and whether the number alone tells it. `None` if the
    /// number is not accepted.
    fn protocol_of(&self, number: i32) -> Option<(&'static Protocol, bool)> {
        let newest = self.settings.int(key::COM_PROTOCOL);
        let legacy = self.settings.int(key::COM_LEGACYPROTOCOL);
        if number != newest && (number != legacy || legacy == 0) {
            return None;
        }
        // A number without a row, such as OpenArena's former 69 and 70, has the framing of a 71.
        let known = Protocol::with_number(number).next().map_or(71, |_| number);
        let guess = Protocol::with_number(known).next()?;
        if guess.next_with_number() == guess {
            return Some((guess, true));
        }
        let chosen = Protocol::named(&self.settings.choice(key::SV_WIRE71).to_string());
        Some(chosen.map_or((guess, false), |chosen| (chosen, true)))
    }

    /// Slot of an earlier connection that a connect takes over. A slot with the same address and
    /// port is preferred to one with another port, or two slots would have one address.
    fn earlier_slot(&self, route: Route, qport: Qport) -> Option<ClientNum> {
        let silent_for = |client: &Client, least| {
            client.is_zombie() || self.now.since(client.received_at) >= least
        };
        let nearness = |client: &Client| match client.remote.match_source(route.remote, qport) {
            AddressMatch::Exact => Some(0),
            // The challenge proves the address, which no other client can have: the game was restarted.
            AddressMatch::Mismatch if client.remote.address() == route.remote => {
                silent_for(client, REPLACED_AFTER).then_some(1)
            }
            AddressMatch::PortChanged => silent_for(client, ABANDONED_AFTER).then_some(2),
            AddressMatch::Mismatch => None,
        };
        self.clients
            .iter()
            .filter_map(|(number, client)| Some((nearness(client)?, number)))
            .min()
            .map(|(_, number)| number)
    }

    /// Validates a `connect` up to the choice of a slot.
    fn validate_connect(
        &self,
        route: Route,
        claim: &Claim,
        earlier: Option<ClientNum>,
    ) -> Result<(&'static Protocol, bool), Rejection> {
        let protocol = claim.protocol.unwrap_or(0);
        let found = self.protocol_of(protocol).ok_or_else(|| {
            Rejection::Message(format!(
                "Server uses protocol version {} (yours is {protocol}).",
                self.settings.int(key::PROTOCOL)
            ))
        })?;
        let challenge = claim.challenge.unwrap_or_default();
        if let Some(client) = earlier.and_then(|number| self.clients.get(number)) {
            if client.channel.challenge() == challenge
                && !client.has_sent_message()
                && !client.is_zombie()
            {
                // The first answer was lost.
                return Err(Rejection::ResendAccept);
            }
            check_reconnect(self, client)?;
        }
        self.validate_challenge(route, challenge)?;
        let occupied = self.clients.present().any(|(number, client)| {
            Some(number) != earlier && client.remote.address() == route.remote
        });
        if occupied {
            return Err(Rejection::message("Reconnecting, please wait 1 second."));
        }
        Ok(found)
    }

    /// Checks the number of clients of an address and of its network, and the connect backoff of
    /// the address. Zombies count while they hold a slot. LAN addresses are exempt.
    fn check_address_limits(
        &mut self,
        route: Route,
        earlier: Option<ClientNum>,
    ) -> Result<(), Rejection> {
        if is_lan(&self.settings, route.remote) {
            return Ok(());
        }
        let full = |key, alike: fn(SocketAddr, SocketAddr) -> bool| {
            let most = self.settings.int(key).unsigned_abs() as usize;
            let others = self.clients.iter().filter(|(number, client)| {
                Some(*number) != earlier && alike(client.remote.address(), route.remote)
            });
            most != 0 && others.count() >= most
        };
        let subnet = if route.remote.ip().to_canonical().is_ipv6() {
            key::SV_MAXCLIENTS_PER_SUBNET6
        } else {
            key::SV_MAXCLIENTS_PER_SUBNET
        };
        if full(key::SV_MAXCLIENTS_PER_IP, same_host)
            || full(subnet, same_subnet)
            || !self.guards.allows_admission(self.now, route.remote, self.clients_per_address())
        {
            return Err(Rejection::message("Too many connections."));
        }
        Ok(())
    }

    /// Maximum number of clients of one address.
    fn clients_per_address(&self) -> u32 {
        match self.settings.int(key::SV_MAXCLIENTS_PER_IP).unsigned_abs() {
            0 => self.slots() as u32,
            most => most,
        }
    }

    /// Slots that a client with this userinfo may use.
    fn slots_for(&self, info: &InfoString) -> impl Iterator<Item = ClientNum> {
        let password = self.settings.text(key::SV_PRIVATE_PASSWORD);
        let private = self.settings.int(key::SV_PRIVATE_CLIENTS).unsigned_abs() as usize;
        let may_be_private = !password.is_empty() && Userinfo(info).password() == password;
        let first = if may_be_private { 0 } else { private };
        ClientNum::all().take(self.slots()).skip(first)
    }

    /// First free slot that a client with this userinfo may use.
    fn free_slot(&self, info: &InfoString) -> Option<ClientNum> {
        self.slots_for(info).find(|&number| bots::is_free(self, number))
    }

    /// Slot of an abandoned connection of the same host, for a full server. Its client has the same qport, or it is in
    /// the game with the same name, and neither has a guid.
    fn abandoned_slot(&self, route: Route, qport: Qport, info: &InfoString) -> Option<ClientNum> {
        let is_left_behind = |client: &Client| {
            let same_qport = client.remote.match_source(route.remote, qport)
                != AddressMatch::Mismatch
                && !is_other_player(client, info);
            self.now.since(client.received_at) >= ABANDONED_WHEN_FULL
                && (same_qport || client.is_active() && is_namesake(client, route, info))
        };
        self.clients.present().find(|(_, client)| is_left_behind(client)).map(|(number, _)| number)
    }

    /// Slot of the oldest zombie, which yields to a connect on a full server.
    fn zombie_slot(&self, info: &InfoString) -> Option<ClientNum> {
        self.slots_for(info)
            .filter_map(|number| match &self.clients.get(number)?.state {
                ClientState::Zombie(zombie) => Some((zombie.since, number)),
                ClientState::Connected(_) | ClientState::Primed(_) | ClientState::Active(_) => None,
            })
            .min()
            .map(|(_, number)| number)
    }

    /// Counts a `connect` that cannot be read. Returns how it is answered.
    fn connect_rejection(&mut self, route: Route, error: &ConnectError) -> Rejection {
        self.log_connectionless_error(route, error);
        error.into()
    }

    pub(super) fn accept(&mut self, route: Route, challenge: Challenge) {
        let response = ConnectResponse { challenge: Some(challenge), protocol: None };
        self.answer(route, |out| Message::ConnectResponse(response).write(out));
    }
}

/// Handles a `connect`: accepts or rejects it.
pub(super) fn handle_connect(server: &mut Server, route: Route, request: Connect<'_>) {
    let admitted = match request.text() {
        Ok(text) => admit(server, route, &text),
        Err(error) => Err(server.core.connect_rejection(route, &error)),
    };
    if let Err(refusal) = admitted {
        reject(server, route, refusal);
    }
}

fn reject(server: &mut Server, route: Route, refusal: Rejection) {
    match refusal {
        Rejection::Message(text) => {
            server.core.stats.bump(Counter::ConnectsRefused);
            if server.core.stats.allows_log(LogEvent::Refusal, server.core.now).is_some() {
                log::info!("{} rejected: {text}", route.remote);
            }
            server.core.send_rejection(route, &format!("{text}\n"));
        }
        Rejection::ResendAccept | Rejection::Unanswered => {}
    }
}

fn admit(server: &mut Server, route: Route, text: &ConnectText) -> Result<(), Rejection> {
    let claim = text.claim();
    let qport = claim.qport.unwrap_or_default();
    let challenge = claim.challenge.unwrap_or_default();
    let earlier = server.core.earlier_slot(route, qport);
    let protocol = match server.core.validate_connect(route, &claim, earlier) {
        Err(Rejection::ResendAccept) => {
            // The client is not silent: the answer to its connect was lost.
            if let Some(client) = earlier.and_then(|number| server.core.clients.get_mut(number)) {
                client.received_at = server.core.now;
            }
            server.core.accept(route, challenge);
            return Ok(());
        }
        judged => judged?,
    };
    if server.faults.has_ended_level() {
        return Err(Rejection::message(LEVEL_ENDED));
    }
    let mut info = text.userinfo().map_err(|error| server.core.connect_rejection(route, &error))?;
    let free = server.core.free_slot(&info);
    let earlier = replaced_slot(&server.core, route, qport, &info, (earlier, free.is_none()))?;
    server.core.check_address_limits(route, earlier)?;
    let ip = route.remote.ip().to_canonical().to_string();
    // The address is added last, so an overflow is caused by the userinfo of the client.
    info.set("ip", &ip).map_err(|_| Rejection::message(USERINFO_TOO_LONG))?;

    let number = match earlier {
        Some(number) => {
            // The old client is dropped before its slot is reused.
            server.drop_client(number, "reconnected");
            server.core.clients.free(number);
            number
        }
        None => free
            .or_else(|| server.core.zombie_slot(&info))
            .ok_or(Rejection::message("Server is full"))?,
    };
    for engine_only in ["challenge", "qport", "protocol"] {
        info.remove(engine_only);
    }
    let remote = PeerAddress::new(route.remote, qport).with_local_ip(route.local_ip);
    let client = Client::new(remote, challenge, protocol, server.core.now);
    server.core.clients.put(number, client);
    server.core.store_userinfo(number, info);
    if let Err(reason) = connect_to_game(server, number, true) {
        server.core.clients.free(number);
        return Err(Rejection::Message(reason));
    }
    server.process_pending_drops();
    server.core.accept(route, challenge);
    server.core.stats.bump(Counter::ConnectsAccepted);
    if let Some(client) = server.core.clients.get(number) {
        log::info!(
            "client {number} \"{}\" connected from {}",
            text::escaped(client.name.as_bytes()),
            route.remote
        );
    }
    Ok(())
}

/// Checks the time since the connect of a client that another connection replaces.
fn check_reconnect(core: &Core, client: &Client) -> Result<(), Rejection> {
    let limit = Millis::seconds(core.settings.int(key::SV_RECONNECTLIMIT).max(0) as u64);
    let passed = core.now.since(client.connected_at);
    if passed >= limit {
        return Ok(());
    }
    let seconds = limit.since(passed).0.div_ceil(1000);
    let plural = if seconds == 1 { "" } else { "s" };
    Err(Rejection::Message(format!("Reconnecting, please wait {seconds} second{plural}.")))
}

/// Slot of the connection that a connect replaces. It is the `earlier` one, unless that is another player's, or one
/// that the player left behind.
fn replaced_slot(
    core: &Core,
    route: Route,
    qport: Qport,
    info: &InfoString,
    (earlier, is_full): (Option<ClientNum>, bool),
) -> Result<Option<ClientNum>, Rejection> {
    let is_own = |number: &ClientNum| {
        let client = core.clients.get(*number);
        client.is_some_and(|client| {
            client.remote.address() == route.remote || !is_other_player(client, info)
        })
    };
    if let Some(number) = earlier.filter(is_own) {
        return Ok(Some(number));
    }
    let left = left_slot(core, route, info);
    if let Some(client) = left.and_then(|number| core.clients.get(number)) {
        check_reconnect(core, client)?;
    }
    Ok(left.or_else(|| core.abandoned_slot(route, qport, info).filter(|_| is_full)))
}

/// Slot that a player left behind when its game crashed. It is that of a silent client of the same host with the
/// same guid, of several the longest silent one. Players that share a host have different guids, and no server tells a guid
/// to other players.
fn left_slot(core: &Core, route: Route, info: &InfoString) -> Option<ClientNum> {
    let guid = Userinfo(info).guid();
    if !identifies_player(guid) {
        return None;
    }
    let is_left = |client: &Client| {
        let least = if client.is_active() { LEFT_AFTER } else { LEFT_LOADING_AFTER };
        core.now.since(client.received_at) >= least
            && same_host(client.remote.address(), route.remote)
            && Userinfo(&client.userinfo).guid().eq_ignore_ascii_case(guid)
    };
    let left = core.clients.present().filter(|(_, client)| is_left(client));
    left.min_by_key(|(_, client)| client.received_at).map(|(number, _)| number)
}

/// Whether the guids tell that a connect is not from the player of a client.
fn is_other_player(client: &Client, info: &InfoString) -> bool {
    let (ours, theirs) = (Userinfo(&client.userinfo).guid(), Userinfo(info).guid());
    identifies_player(ours) && !ours.eq_ignore_ascii_case(theirs)
}

/// Whether a connect has the host and the name of a client, and neither has a guid. Clients of protocol 68 have none.
fn is_namesake(client: &Client, route: Route, info: &InfoString) -> bool {
    let (ours, theirs) = (Userinfo(&client.userinfo), Userinfo(info));
    same_host(client.remote.address(), route.remote)
        && ours.name() == theirs.name()
        && ours.guid().is_empty()
        && theirs.guid().is_empty()
}

/// Whether a guid tells players apart. It has 32 hexadecimal digits that are not all the same. Other values are
/// placeholders, which several players can have.
fn identifies_player(guid: &str) -> bool {
    let digits = guid.as_bytes();
    digits.len() == GUID_LEN
        && digits.iter().all(u8::is_ascii_hexdigit)
        && digits.iter().any(|&digit| digit != digits[0])
}
