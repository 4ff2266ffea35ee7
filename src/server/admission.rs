//! The door: challenges, `connect`, and why somebody is refused.
//!
//! Nothing is kept of an address before it has echoed its challenge, and of its userinfo only the numbers
//! that validate_connect it are read before. Every test comes in the order and with the words that clients know.
//! Source: Quake III protocol 68, connect; ioquake3's texts.

use std::net::SocketAddr;

use super::{
    Server,
    client::{Client, ClientState},
    core::Core,
    rate_limiter::{is_lan, same_host, same_subnet},
};
use crate::{
    model::{Challenge, ClientNum, Millis, Qport, text},
    netchan::Sender,
    node::Route,
    observe::{Counter, Event},
    settings::key,
    wire::{
        Protocol,
        connect::{Claim, Connect, ConnectError, ConnectText},
        connectionless::{ChallengeResponse, ConnectResponse, GetChallenge, Message},
        info::Info,
        userinfo::Userinfo,
    },
};

/// Silence of a client after which a newcomer of its host and qport is given its slot.
pub(super) const ABANDONED_AFTER: Millis = Millis::seconds(5);
/// The same on a full server, where the newcomer would have to wait outside.
const ABANDONED_WHEN_FULL: Millis = Millis::seconds(2);
/// Silence of a client after which a newcomer from its very address and port is given its slot. A client
/// that is heard is not replaced: a challenge could have been guessed.
const REPLACED_AFTER: Millis = Millis::seconds(1);

/// Why a `connect` is refused.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Rejection {
    /// The client is told this.
    Message(String),
    /// A repeated request, answered as the first was.
    ResendAccept,
    /// Not a packet of any client: not answered.
    Unanswered,
}

impl Rejection {
    fn message(text: &str) -> Self {
        Self::Message(text.to_owned())
    }
}

const USERINFO_TOO_LONG: &str =
    "Userinfo string length exceeded.  Try removing setu cvars from your config.";

impl Core {
    /// Answers a request for a challenge.
    pub(super) fn handle_get_challenge(&mut self, route: Route, request: GetChallenge<'_>) {
        let ours = self.settings.text(key::COM_GAMENAME);
        // A request without a name comes from a client of the older protocol.
        if !request.gamename.is_empty() && request.gamename != *ours {
            let text = format!("Game mismatch: This is a {ours} server\n");
            self.send_rejection(route, &text);
            return;
        }
        let is_timed = self.measures_pings();
        let is_used = |challenge| self.clients.has_used(challenge);
        let Some(challenge) =
            self.guards.issue_challenge(self.now, route.remote, is_timed, is_used)
        else {
            self.stats.bump(Counter::ChallengesLimited);
            return;
        };
        let protocol = request.client_challenge.map(|_| self.settings.int(key::COM_PROTOCOL));
        let client_challenge = request.client_challenge;
        let response = ChallengeResponse { challenge, client_challenge, protocol };
        self.answer(route, |out| Message::ChallengeResponse(response).write(out));
    }

    /// Whether the way to a newcomer and back decides who gets in.
    fn measures_pings(&self) -> bool {
        self.settings.int(key::SV_MIN_PING) != 0 || self.settings.int(key::SV_MAX_PING) != 0
    }

    /// Tests a newcomer's challenge, and the time from its making until now: the ping.
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

    /// Tells a client why it is refused, as often as its address may be told.
    fn send_rejection(&mut self, route: Route, text: &str) {
        if self.guards.allows_rejection(self.now, route.remote) {
            self.answer(route, |out| Message::Print(text.into()).write(out));
        }
    }

    /// Returns the protocol with that number, and whether the number alone tells it. `None` if the number
    /// is not accepted.
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

    /// The slot that a newcomer from there takes over: its own from before. One with its very address
    /// comes before one that it may have left behind at another port, or two slots would be at one
    /// address.
    fn earlier_slot(&self, route: Route, qport: Qport) -> Option<ClientNum> {
        let silent_for = |client: &Client, least| {
            client.is_zombie() || self.now.since(client.received_at) >= least
        };
        let nearness = |client: &Client| match client.remote.compare(route.remote, qport) {
            Sender::Same => Some(0),
            // Its challenge proves that it is at that address, where nobody else can be then: a game
            // that was started anew.
            Sender::Stranger if client.remote.address() == route.remote => {
                silent_for(client, REPLACED_AFTER).then_some(1)
            }
            Sender::OtherPort => silent_for(client, ABANDONED_AFTER).then_some(2),
            Sender::Stranger => None,
        };
        self.clients
            .iter()
            .filter_map(|(number, client)| Some((nearness(client)?, number)))
            .min()
            .map(|(_, number)| number)
    }

    /// The tests of a `connect` up to the choice of a slot.
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
                // Our answer was lost.
                return Err(Rejection::ResendAccept);
            }
            let limit = Millis::seconds(self.settings.int(key::SV_RECONNECTLIMIT).max(0) as u64);
            let passed = self.now.since(client.connected_at);
            if passed < limit {
                let seconds = limit.since(passed).0.div_ceil(1000);
                let plural = if seconds == 1 { "" } else { "s" };
                let text = format!("Reconnecting, please wait {seconds} second{plural}.");
                return Err(Rejection::Message(text));
            }
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

    /// Tests how many come from a newcomer's address and from its network, and whether the address has
    /// brought players who were never heard of. ClientSlots that are gone count while they hold a slot. The
    /// local network may bring as many as it likes.
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

    /// ClientSlots that one address may bring.
    fn clients_per_address(&self) -> u32 {
        match self.settings.int(key::SV_MAXCLIENTS_PER_IP).unsigned_abs() {
            0 => self.slots() as u32,
            most => most,
        }
    }

    /// The slots that this userinfo may have.
    fn slots_for(&self, info: &Info) -> impl Iterator<Item = ClientNum> {
        let password = self.settings.text(key::SV_PRIVATE_PASSWORD);
        let private = self.settings.int(key::SV_PRIVATE_CLIENTS).unsigned_abs() as usize;
        let may_be_private = !password.is_empty() && Userinfo(info).password() == password;
        let first = if may_be_private { 0 } else { private };
        ClientNum::all().take(self.slots()).skip(first)
    }

    /// The first free slot that this userinfo may have.
    fn free_slot(&self, info: &Info) -> Option<ClientNum> {
        self.slots_for(info).find(|&number| self.clients.get(number).is_none())
    }

    /// The slot on a full server that a newcomer left behind: of a silent client of its host that has its
    /// qport, or its name and guid, since a restarted game has another qport.
    fn abandoned_slot(&self, route: Route, qport: Qport, info: &Info) -> Option<ClientNum> {
        let is_left_behind = |client: &Client| {
            let same_qport = client.remote.compare(route.remote, qport) != Sender::Stranger;
            self.now.since(client.received_at) >= ABANDONED_WHEN_FULL
                && (same_qport || client.is_active() && is_same_player(client, route, info))
        };
        self.clients.present().find(|(_, client)| is_left_behind(client)).map(|(number, _)| number)
    }

    /// The slot of the client that left first of those that are gone. A client that is gone yields to a
    /// newcomer where no slot is free.
    fn zombie_slot(&self, info: &Info) -> Option<ClientNum> {
        self.slots_for(info)
            .filter_map(|number| match &self.clients.get(number)?.state {
                ClientState::Zombie(zombie) => Some((zombie.since, number)),
                ClientState::Connected(_) | ClientState::Primed(_) | ClientState::Active(_) => None,
            })
            .min()
            .map(|(_, number)| number)
    }

    /// Counts a `connect` that could not be read, and says how it is answered.
    fn connect_rejection(&mut self, route: Route, error: &ConnectError) -> Rejection {
        self.log_connectionless_error(route, error);
        match error {
            ConnectError::UserinfoTooLong(_) => Rejection::message(USERINFO_TOO_LONG),
            ConnectError::Userinfo(_) => Rejection::message("Invalid userinfo."),
            ConnectError::PacketTooLong(_)
            | ConnectError::TooFewBits { .. }
            | ConnectError::Truncated(_) => Rejection::Unanswered,
        }
    }

    pub(super) fn accept(&mut self, route: Route, challenge: Challenge) {
        let response = ConnectResponse { challenge: Some(challenge), protocol: None };
        self.answer(route, |out| Message::ConnectResponse(response).write(out));
    }
}

impl Server {
    /// Lets a client in, or says why not.
    pub(super) fn handle_connect(&mut self, route: Route, request: Connect<'_>) {
        let admitted = match request.text() {
            Ok(text) => self.admit(route, &text),
            Err(error) => Err(self.core.connect_rejection(route, &error)),
        };
        if let Err(refusal) = admitted {
            self.reject(route, refusal);
        }
    }

    fn reject(&mut self, route: Route, refusal: Rejection) {
        match refusal {
            Rejection::Message(text) => {
                self.core.stats.bump(Counter::ConnectsRefused);
                if self.core.stats.allows_log(Event::Refusal, self.core.now).is_some() {
                    log::info!("{} refused: {text}", route.remote);
                }
                self.core.send_rejection(route, &format!("{text}\n"));
            }
            Rejection::ResendAccept | Rejection::Unanswered => {}
        }
    }

    fn admit(&mut self, route: Route, text: &ConnectText) -> Result<(), Rejection> {
        let claim = text.claim();
        let qport = claim.qport.unwrap_or_default();
        let challenge = claim.challenge.unwrap_or_default();
        let earlier = self.core.earlier_slot(route, qport);
        let protocol = match self.core.validate_connect(route, &claim, earlier) {
            Err(Rejection::ResendAccept) => {
                // The client is not silent: it has not heard of its place yet.
                if let Some(client) = earlier.and_then(|number| self.core.clients.get_mut(number)) {
                    client.received_at = self.core.now;
                }
                self.core.accept(route, challenge);
                return Ok(());
            }
            judged => judged?,
        };
        let mut info =
            text.userinfo().map_err(|error| self.core.connect_rejection(route, &error))?;
        let free = self.core.free_slot(&info);
        let earlier = earlier.or_else(|| match free {
            Some(_) => None,
            None => self.core.abandoned_slot(route, qport, &info),
        });
        self.core.check_address_limits(route, earlier)?;
        let ip = route.remote.ip().to_canonical().to_string();
        // The address goes in last, so what does not fit is the client's doing.
        info.set("ip", &ip).map_err(|_| Rejection::message(USERINFO_TOO_LONG))?;

        let number = match earlier {
            Some(number) => {
                // Never a new player over a live one: the old one leaves first.
                self.drop_client(number, "reconnected");
                self.core.clients.free(number);
                number
            }
            None => free
                .or_else(|| self.core.zombie_slot(&info))
                .ok_or(Rejection::message("Server is full"))?,
        };
        for engine_only in ["challenge", "qport", "protocol"] {
            info.remove(engine_only);
        }
        let client = Client::new(route.remote, qport, challenge, protocol, self.core.now);
        self.core.clients.put(number, client);
        self.core.store_userinfo(number, info);
        if let Err(reason) = self.game.client_connect(&mut self.core, number, true, false) {
            self.core.clients.free(number);
            return Err(Rejection::Message(reason));
        }
        self.process_pending_drops();
        self.core.accept(route, challenge);
        self.core.stats.bump(Counter::ConnectsAccepted);
        if let Some(client) = self.core.clients.get(number) {
            log::info!(
                "client {number} \"{}\" connects from {}",
                text::escaped(client.name.as_bytes()),
                route.remote
            );
        }
        Ok(())
    }
}

/// Whether a newcomer has the host, the name and the guid of a client.
fn is_same_player(client: &Client, route: Route, info: &Info) -> bool {
    let (ours, theirs) = (Userinfo(&client.userinfo), Userinfo(info));
    same_host(client.remote.address(), route.remote)
        && ours.name() == theirs.name()
        && ours.guid() == theirs.guid()
}
