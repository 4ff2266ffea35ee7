//! Connection admission: challenge and connect handling.
//!
//! Nothing is stored for an address before it has returned its challenge. Of its userinfo only the
//! numbers that the checks need are read before. Checks run in the order, and rejections have the
//! texts, that clients know.
//! Source: Quake III protocol 68, connect; ioquake3's texts.
//! Engine names: `SV_GetChallenge`, `SV_DirectConnect`.

use std::{borrow::Cow, net::SocketAddr};

use super::{
    Connections, Role,
    reconnect::{ConnectSender, check_reconnect, earlier_slot, replaced_slot, zombie_slot},
    service::{KeyOf, Service},
    state::Connection,
};
use crate::{
    limits::{crowded, same_host, same_network},
    model::{Challenge, Millis, Qport, text},
    netchan::PeerAddress,
    node::Route,
    observe::{Counter, LogEvent},
    serving::{
        guards::ChallengeRequest,
        rejection::{Rejection, USERINFO_TOO_LONG},
    },
    wire::{
        Protocol,
        connect::{Claim, Connect, ConnectForm, ConnectText},
        connectionless::{ChallengeResponse, GetChallenge, Message},
    },
};

/// Limits of connects from one address.
#[derive(Clone, Debug)]
pub(crate) struct AdmissionLimits {
    /// Reason for rejecting every connect.
    pub(crate) closed: Option<Cow<'static, str>>,
    /// Protocol number that a rejection names.
    pub(crate) protocol: i32,
    /// Least and most ping in ms; 0 for no limit.
    pub(crate) ping_ms: (u64, u64),
    /// Least time between two connects of one client.
    pub(crate) reconnect_interval: Millis,
    /// Most clients of the host of the address, and of its network; 0 for no limit.
    pub(crate) per_host: usize,
    pub(crate) per_subnet: usize,
    /// Clients of one site whose connects are accepted within a few seconds.
    pub(crate) per_site: u32,
    /// Time after which a client that has not entered may give way to one of another network; `None` for never.
    pub(crate) entry_time: Option<Millis>,
    /// Whether the address is exempt from limits of pings and clients.
    pub(crate) is_exempt: bool,
}

impl<R: Role> Connections<'_, R> {
    /// Sends a challenge.
    pub(crate) fn send_challenge(
        &mut self,
        route: Route,
        client_challenge: Option<Challenge>,
        protocol: i32,
        request: ChallengeRequest,
    ) {
        let is_used = |challenge| self.slots.has_used(challenge);
        let Some(challenge) = self.guards.issue_challenge(self.now, route.remote, request, is_used)
        else {
            self.stats.record_limit(Counter::ChallengesLimited, self.now, "challenge requests");
            return;
        };
        let protocol = client_challenge.map(|_| protocol);
        let response = ChallengeResponse { challenge, client_challenge, protocol };
        self.answer(route, |out| Message::ChallengeResponse(response).write(out));
    }

    /// Puts a client that is accepted into its slot. A client that was found not to scramble has the other row of its
    /// number.
    fn open_slot(
        &mut self,
        key: R::Key,
        route: Route,
        qport: Qport,
        challenge: Challenge,
        (protocol, is_known): (&'static Protocol, bool),
    ) {
        let remote = PeerAddress::new(route.remote, qport).with_local_ip(route.local_ip);
        let is_clear = !is_known && self.guards.unscrambled.contains(route.remote, qport);
        let protocol = if is_clear { protocol.next_with_number() } else { protocol };
        let client = Connection::new(remote, challenge, protocol, is_known, self.now);
        self.slots.put(key, client.on_port(route.local));
    }

    /// Sends the reason of a rejection, within the rate limit.
    pub(crate) fn send_rejection(&mut self, route: Route, text: &str) {
        if self.guards.allows_rejection(self.now, route.remote) {
            self.answer(route, |out| Message::Print(text.into()).write(out));
        }
    }

    fn reject(&mut self, route: Route, rejection: Rejection) {
        match rejection {
            Rejection::Message(reason) => {
                self.stats.bump(Counter::ConnectsRefused);
                if self.stats.allows_log(LogEvent::Refusal, self.now).is_some() {
                    log::info!("{} rejected: {}", route.remote, text::escaped(reason.as_bytes()));
                }
                self.send_rejection(route, &format!("{reason}\n"));
            }
            Rejection::ResendAccept | Rejection::Unanswered => {}
        }
    }

    /// Validates a challenge, and the time since it was issued, which is the ping.
    fn validate_challenge(
        &self,
        route: Route,
        challenge: Challenge,
        limits: &AdmissionLimits,
    ) -> Result<(), Rejection> {
        let is_timed = limits.ping_ms != (0, 0);
        let age = self.guards.check_challenge(self.now, route.remote, challenge, is_timed);
        let age = age.ok_or(Rejection::message("No or bad challenge for your address."))?;
        let Some((least_ms, most_ms)) = age.bounds_ms.filter(|_| !limits.is_exempt) else {
            return Ok(());
        };
        let (low, high) = limits.ping_ms;
        if most_ms < low {
            return Err(Rejection::message("Server is for high pings only"));
        }
        if high != 0 && least_ms > high {
            return Err(Rejection::message("Server is for low pings only"));
        }
        Ok(())
    }

    /// Validates a `connect` with an accepted protocol, up to the choice of a slot.
    fn validate_connect(
        &self,
        route: Route,
        challenge: Challenge,
        earlier: Option<R::Key>,
        limits: &AdmissionLimits,
    ) -> Result<(), Rejection> {
        if let Some(client) = earlier.and_then(|key| self.slots.get(key)) {
            if client.channel.challenge() == challenge
                && !client.has_sent_message()
                && !client.is_zombie()
            {
                // The first answer was lost.
                return Err(Rejection::ResendAccept);
            }
            check_reconnect(self.now.since(client.connected_at), limits.reconnect_interval)?;
        }
        self.validate_challenge(route, challenge, limits)?;
        let occupied = self
            .slots
            .present()
            .any(|(key, client)| Some(key) != earlier && client.remote.address() == route.remote);
        if occupied {
            return Err(Rejection::message("Reconnecting, please wait 1 second."));
        }
        limits.closed.as_deref().map_or(Ok(()), |reason| Err(Rejection::message(reason)))
    }

    /// Checks the number of clients of an address and of its network, and the connect backoff of
    /// the address. Zombies count while they hold a slot.
    fn check_address_limits(
        &mut self,
        route: Route,
        earlier: Option<R::Key>,
        limits: &AdmissionLimits,
    ) -> Result<(), Rejection> {
        if limits.is_exempt {
            return Ok(());
        }
        let full = |most: usize, alike: fn(SocketAddr, SocketAddr) -> bool| {
            let others = self.slots.iter().filter(|(key, client)| {
                Some(*key) != earlier && alike(client.remote.address(), route.remote)
            });
            most != 0 && others.count() >= most
        };
        if full(limits.per_host, same_host)
            || full(limits.per_subnet, same_network)
            || !self.guards.allows_admission(self.now, route.remote, limits.per_site)
        {
            return Err(Rejection::message("Too many connections."));
        }
        Ok(())
    }
}

/// Handles a request for a challenge: rejects a client of another game.
pub(super) fn handle_get_challenge<S: Service>(
    service: &mut S,
    route: Route,
    request: GetChallenge<'_>,
    is_probe: bool,
) {
    let ours = service.gamename();
    // Clients of protocol 68 send no game name.
    if !request.gamename.is_empty() && request.gamename != *ours {
        let text = format!("Game mismatch: This is a {ours} server\n");
        service.connections().send_rejection(route, &text);
        return;
    }
    service.answer_challenge(route, request, is_probe);
}

/// Handles a `connect`: accepts or rejects it.
pub(super) fn handle_connect<S: Service>(service: &mut S, route: Route, request: Connect<'_>) {
    let admitted = match request.text() {
        Ok(text) => admit(service, route, request.form(), &text),
        Err(error) => {
            service.connections().log_connectionless_error(route, &error);
            Err(error.into())
        }
    };
    if let Err(rejection) = admitted {
        service.connections().reject(route, rejection);
    }
}

/// Protocol of a `connect`, and whether its number alone tells it. The packet has the form of the protocol, else it is
/// from another program.
fn claimed_protocol<S: Service>(
    service: &S,
    claim: &Claim,
    form: ConnectForm,
    newest: i32,
) -> Result<(&'static Protocol, bool), Rejection> {
    let number = claim.protocol.unwrap_or(0);
    let other_version = || {
        let text = format!("Server uses protocol version {newest} (yours is {number}).");
        if number >= Protocol::Q3_68.number {
            return text;
        }
        let others = Protocol::distinct().map(|row| row.number);
        let others = others.filter(|other| *other != newest && service.protocol_of(*other).is_ok());
        let mut others: Vec<_> = others.map(|other| other.to_string()).collect();
        // Number 71 has two rows.
        others.dedup();
        if others.is_empty() { text } else { format!("{text} Also: {}.", others.join(", ")) }
    };
    match service.protocol_of(number) {
        Ok((protocol, _)) if protocol.handshake.connect != form => {
            let expected = match protocol.handshake.connect {
                ConnectForm::Plain => "in plain text",
                ConnectForm::Compressed => "compressed",
            };
            let text = format!("A connect of protocol {number} is {expected}.");
            Err(Rejection::Message(text))
        }
        Ok(known) => Ok(known),
        Err(reason) => Err(Rejection::Message(reason.unwrap_or_else(other_version))),
    }
}

/// Frees the slot of a client that gives way to a connecting one.
///
/// The client had `entry_time` and never entered, and is of the network with most of these.
fn displace<S: Service>(
    service: &mut S,
    from: Route,
    entry_time: Option<Millis>,
) -> Option<KeyOf<S>> {
    let connections = service.connections();
    let (now, entry_time) = (connections.now, entry_time?);
    let waiting: Vec<_> = connections
        .slots
        .present()
        .filter(|(_, client)| !client.is_active() && now.since(client.connected_at) >= entry_time)
        .map(|(key, client)| (key, client.remote.address().ip()))
        .collect();
    let (key, _) = waiting[crowded(Some(from.remote.ip()), waiting.iter().map(|(_, ip)| *ip))?];
    service.drop_client(key, "gave way to another network");
    let connections = service.connections();
    connections.slots.free(key);
    connections.stats.bump(Counter::ClientsDisplaced);
    Some(key)
}

fn admit<S: Service>(
    service: &mut S,
    route: Route,
    form: ConnectForm,
    text: &ConnectText,
) -> Result<(), Rejection> {
    let claim = text.claim();
    let qport = claim.qport.unwrap_or_default();
    let challenge = claim.challenge.unwrap_or_default();
    let limits = service.admission_limits(route);
    let (protocol, is_known) = claimed_protocol(service, &claim, form, limits.protocol)?;
    let connections = service.connections();
    let now = connections.now;
    let earlier = earlier_slot(connections.slots, route, qport, now);
    match connections.validate_connect(route, challenge, earlier, &limits) {
        Err(Rejection::ResendAccept) => {
            // The client is not silent: the answer to its connect was lost.
            if let Some(client) = earlier.and_then(|key| connections.slots.get_mut(key)) {
                client.received_at = now;
            }
            service.connections().accept(route, challenge);
            return Ok(());
        }
        validated => validated?,
    }
    let mut info = text.userinfo().map_err(|error| {
        service.connections().log_connectionless_error(route, &error);
        Rejection::from(error)
    })?;
    let mut allowed = service.slots_for(route, &info).map_err(Rejection::Message)?;
    let free = allowed.find(|&key| service.is_free(key));
    drop(allowed);
    let from = ConnectSender { route, qport, info: &info };
    let (slots, interval) = (service.slots(), limits.reconnect_interval);
    let earlier = replaced_slot(slots, from, earlier, free.is_none(), now, interval)?;
    service.connections().check_address_limits(route, earlier, &limits)?;
    let ip = route.remote.ip().to_canonical().to_string();
    // The address is added last, so an overflow is caused by the userinfo of the client.
    info.set("ip", &ip).map_err(|_| Rejection::message(USERINFO_TOO_LONG))?;

    let key = match earlier {
        Some(key) => {
            // The old client is dropped before its slot is reused.
            service.drop_client(key, "reconnected");
            service.connections().slots.free(key);
            key
        }
        None => free
            .or_else(|| zombie_slot(service.slots(), service.slots_for(route, &info).ok()?))
            .or_else(|| displace(service, route, limits.entry_time))
            .ok_or(Rejection::message("Server is full"))?,
    };
    for engine_only in ["challenge", "qport", "protocol"] {
        info.remove(engine_only);
    }
    let mut connections = service.connections();
    connections.open_slot(key, route, qport, challenge, (protocol, is_known));
    service.store_userinfo(key, info);
    if let Err(reason) = service.connect(key) {
        service.connections().slots.free(key);
        return Err(Rejection::Message(reason));
    }
    service.process_pending_drops();
    report_accepted(service, key, route, challenge);
    Ok(())
}

/// Tells a client, the counters and the log that it is accepted.
fn report_accepted<S: Service>(
    service: &mut S,
    key: <S::Role as Role>::Key,
    route: Route,
    challenge: Challenge,
) {
    let mut connections = service.connections();
    connections.accept(route, challenge);
    connections.stats.bump(Counter::ConnectsAccepted);
    if let Some(client) = connections.slots.get(key) {
        let (noun, name) = (S::Role::NOUN, text::escaped(client.name.as_bytes()));
        log::info!("{noun} {key} \"{name}\" connected from {}", route.remote);
    }
}
