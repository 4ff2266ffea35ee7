//! Admission: challenge, tests of a connect in their order, slot of a new client.
//!
//! Source: QuakeWorld protocol 28, handshake.

use std::borrow::Cow;

use super::{
    MAX_CLIENTS, QwCounter, QwServer,
    client::{Client, MAX_USERINFO_LEN, Stage},
    drop::DropReason,
    names::{plain, printable},
    settings::key,
};
use crate::{
    limits::{Reach, same_host},
    model::Millis,
    node::Route,
    observe::LogEvent,
    quakeworld::{
        Channel, End, Extensions,
        bytes::Text,
        channel::{MAX_MESSAGE_LEN, pacing::DEFAULT_RATE, peer::Peer},
        connectionless::{Connect, Refusal, Reply},
        extensions::{MVD1_FLOAT_COORDS, PROTOCOL},
        info::{self, Info, MAX_INFO_LEN},
    },
};

/// Extensions that the server offers. With coordinates in eighths of a unit, a player who touches another one would seem
/// to be inside of it, and the client would predict another move.
const OFFERED: Extensions = Extensions { mvd1: MVD1_FLOAT_COORDS, ..Extensions::NONE };
/// Time within which a client that connects again is taken for the same request.
const RECONNECT_LIMIT: Millis = Millis(2000);
/// Bytes of a print before its text.
const REPLY_HEAD: usize = 5;
/// Largest number of copies that a client may ask for.
const MAX_DUPLICATES: i64 = 3;

/// Answers a request for a challenge.
pub(super) fn send_challenge(server: &mut QwServer, now: Millis, route: Route) {
    let ip = route.remote.ip();
    if !server.guards.requests.allows_challenge(now, route.remote) {
        return server.counters.bump(QwCounter::Limited);
    }
    let number = server.guards.challenges.of(now, ip);
    server.outbox.push_with(route, |out| {
        Reply::Challenge { number, extensions: OFFERED }.write(out);
    });
}

/// Tells a banned address, within limits.
pub(super) fn refuse_banned(server: &mut QwServer, now: Millis, route: Route, request_len: usize) {
    server.counters.bump(QwCounter::Banned);
    refuse(server, now, route, Refusal::Banned.text(), request_len);
}

/// Answers with a refusal that is not longer than its request, within limits.
pub(super) fn refuse(
    server: &mut QwServer,
    now: Millis,
    route: Route,
    text: &[u8],
    request_len: usize,
) {
    let is_longer = text.len() + REPLY_HEAD > request_len;
    if is_longer || !server.guards.requests.allows_rejection(now, route.remote) {
        return server.counters.bump(QwCounter::Limited);
    }
    server.outbox.push_with(route, |out| Reply::Print { text }.write(out));
}

/// Handles a request for a slot.
pub(super) fn connect(
    server: &mut QwServer,
    now: Millis,
    route: Route,
    connect: &Connect<'_>,
    request_len: usize,
) {
    match admit(server, now, route, connect) {
        Ok(Some(slot)) => accept(server, now, slot, route, connect),
        Ok(None) => server.counters.bump(QwCounter::Limited),
        Err(why) => {
            server.counters.bump(QwCounter::Refused);
            if let Some(suppressed) = server.log.allows(LogEvent::Refusal, now) {
                let text = plain(why.trim_ascii());
                log::info!("{} connect refused: {text}{suppressed}", route.remote);
            }
            let room = request_len.saturating_sub(REPLY_HEAD);
            let cut = match &why {
                Cow::Owned(text) => &text[..text.len().min(room)],
                Cow::Borrowed(text) => text,
            };
            refuse(server, now, route, cut, request_len);
        }
    }
}

/// Tests a connect. Returns a free slot; `None` for a request that is not answered.
fn admit(
    server: &mut QwServer,
    now: Millis,
    route: Route,
    connect: &Connect<'_>,
) -> Result<Option<usize>, Cow<'static, [u8]>> {
    let refused = |why: Refusal| Err(Cow::Borrowed(why.text()));
    let remote = route.remote;
    if connect.protocol != PROTOCOL {
        return refused(Refusal::Protocol);
    }
    if !server.guards.challenges.is_challenge(now, remote.ip(), connect.challenge) {
        return refused(Refusal::BadChallenge);
    }
    let name = info::value(connect.userinfo.bytes(), "name").unwrap_or_default();
    if let Some(text) = super::bans::refusal(server, remote.ip(), name) {
        server.counters.bump(QwCounter::Banned);
        return Err(Cow::Owned(line(&text)));
    }
    if let Some(text) = server.drain.refusal() {
        return Err(Cow::Owned(line(&text)));
    }
    let userinfo = connect.userinfo.bytes();
    if !info::is_valid(userinfo, MAX_INFO_LEN) {
        return refused(Refusal::Userinfo);
    }
    let is_spectator = wants_to_watch(userinfo).is_some();
    if let Some(word) = wants_to_watch(userinfo) {
        let password = server.settings.password(key::SPECTATOR_PASSWORD);
        if password.is_some_and(|password| !is_password(word, password)) {
            return refused(Refusal::SpectatorPassword);
        }
    } else if let Some(password) = server.settings.password(key::PASSWORD) {
        let word = info::value(userinfo, "password").unwrap_or_default();
        if !is_password(word, password) {
            return refused(Refusal::Password);
        }
    }
    if let Some(slot) = same_client(server, route, connect) {
        let client = server.clients[slot].as_deref();
        let age = client.map_or(Millis(0), |client| now.since(client.connected_at));
        // A repeated request is answered again as long as the client has not spoken.
        if age < RECONNECT_LIMIT && client.is_some_and(|client| client.has_spoken) {
            return Ok(None);
        }
        if let Some(suppressed) = server.log.allows(LogEvent::Connection, now) {
            log::info!("{remote} reconnects{suppressed}");
        }
        super::drop::drop_client(server, now, slot, DropReason::Reconnect);
        server.clients[slot] = None;
    }
    let most = server.settings.values().int(key::SV_MAXCLIENTS_PER_IP).unsigned_abs();
    let is_limited = most != 0 && Reach::of(remote.ip()) == Reach::Public;
    if is_limited && !server.guards.requests.allows_admission(now, remote, most) {
        return Ok(None);
    }
    free_slot(server, route, is_spectator)
        .map_or_else(|| refused(Refusal::Full), |slot| Ok(Some(slot)))
}

/// Line of a refusal for the console of a client.
fn line(text: &str) -> Vec<u8> {
    let printable = printable(text.as_bytes());
    std::iter::once(b'\n').chain(printable).chain(*b"\n").collect()
}

/// Client of the same host with the same qport or port.
fn same_client(server: &QwServer, route: Route, connect: &Connect<'_>) -> Option<usize> {
    let is_same = |client: &Client| {
        let peer = &client.peer;
        let (address, remote) = (peer.address(), route.remote);
        address.ip() == remote.ip()
            && (peer.qport() == connect.qport || address.port() == remote.port())
    };
    server.clients.iter().position(|one| one.as_deref().is_some_and(is_same))
}

/// Free slot for a player or a spectator, within all limits.
fn free_slot(server: &QwServer, route: Route, is_spectator: bool) -> Option<usize> {
    let values = server.settings.values();
    let (players, spectators) = server.population();
    let (count, key) =
        if is_spectator { (spectators, key::MAXSPECTATORS) } else { (players, key::MAXCLIENTS) };
    let limit = values.int(key::SV_MAXCLIENTS_PER_IP).unsigned_abs() as usize;
    let of_host = server.clients.iter().flatten();
    let of_host =
        of_host.filter(|one| one.is_connected() && same_host(one.address(), route.remote));
    let is_near = Reach::of(route.remote.ip()) != Reach::Public;
    if limit != 0 && !is_near && of_host.count() >= limit {
        return None;
    }
    if count >= values.int(key).unsigned_abs() as usize {
        return None;
    }
    let free = server.clients.iter().position(Option::is_none);
    // A zombie gives way when all slots are taken.
    let is_zombie = |one: &Option<Box<Client>>| one.as_deref().is_some_and(|c| !c.is_connected());
    free.or_else(|| server.clients.iter().position(is_zombie)).filter(|slot| *slot < MAX_CLIENTS)
}

/// Puts a client into a slot and grants it.
fn accept(server: &mut QwServer, now: Millis, slot: usize, route: Route, connect: &Connect<'_>) {
    let userinfo = connect.userinfo.bytes();
    let channel = Channel::new(End::Server(connect.qport)).starting_at_one();
    let mut client = Client::new(route, Peer::new(route.remote, connect.qport), channel, now);
    client.info = Info::from_received(userinfo, MAX_USERINFO_LEN);
    client.extensions = connect.extensions.common(OFFERED);
    client.is_spectator = wants_to_watch(userinfo).is_some();
    client.z_extensions = info::number(userinfo, "*z_ext").unwrap_or(0) as u32;
    let duplicates = info::number(userinfo, "dupe").unwrap_or(0).clamp(0, MAX_DUPLICATES);
    client.copies = duplicates as u8;
    client.channel.set_duplicates(client.copies);
    if let Some(mtu) = info::number(userinfo, "mtu").filter(|mtu| *mtu > 0) {
        client
            .channel
            .set_max_message(mtu.saturating_sub(8).clamp(0, MAX_MESSAGE_LEN as i64) as usize);
    }
    for key in ["password", "spectator", "*z_ext", "*spectator", "ip", "*ip"] {
        client.info.remove(key.as_bytes());
    }
    if client.is_spectator {
        // The key is short and the info string was cut before.
        let _ = client.info.set_any(b"*spectator", b"1");
    }
    server.last_user_id = server.last_user_id % 0x7fff_0000 + 1;
    client.user_id = server.last_user_id;
    client.stage = Stage::Connected;
    let name = server.free_name(slot, client.info.get("name").unwrap_or_default());
    let _ = client.info.set(b"name", &name);
    set_rate(&mut client, server.settings.values().int(key::SV_MAXRATE));
    server.counters.bump(QwCounter::Connects);
    let kind = if client.is_spectator { "spectator" } else { "player" };
    if let Some(suppressed) = server.log.allows(LogEvent::Connection, now) {
        let name = plain(&name);
        log::info!("client {slot} \"{name}\" connected as {kind}: {}{suppressed}", route.remote);
    }
    server.clients[slot] = Some(Box::new(client));
    server.outbox.push_with(route, |out| Reply::Accepted.write(out));
}

/// Sets the rate of a client to what its userinfo asks for, within limits.
pub(super) fn set_rate(client: &mut Client, max: i32) {
    let wanted = info::number(client.info.as_bytes(), "rate").filter(|rate| *rate > 0);
    let rate = wanted.unwrap_or(i64::from(DEFAULT_RATE)).clamp(500, i64::from(max).max(500));
    client.channel.pacer().set_rate(rate as u32);
}

/// Word of the key `spectator`, unless it is empty or 0.
fn wants_to_watch(userinfo: &[u8]) -> Option<&[u8]> {
    info::value(userinfo, "spectator").filter(|word| !matches!(*word, b"" | b"0"))
}

/// Whether a word is a password.
pub(super) fn is_password(word: &[u8], password: &str) -> bool {
    crate::quakeworld::rcon::is_plain_password(Text::new(word), password.as_bytes())
}
