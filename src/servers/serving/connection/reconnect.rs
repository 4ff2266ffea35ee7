//! Reconnects: the slot of an earlier connection that a `connect` takes over.
//!
//! Invariant: a client that sends is never replaced; a guid tells players of one host apart.
//! Source: Quake III protocol 68, connect; ioquake3's texts.

use super::{
    Role, Slots,
    state::{Connection, ConnectionState},
};
use crate::{
    limits::same_host,
    model::{Millis, Qport},
    netchan::AddressMatch,
    node::Route,
    serving::rejection::Rejection,
    wire::{info::InfoString, userinfo::Userinfo},
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

/// Sender of a `connect`.
#[derive(Clone, Copy, Debug)]
pub(super) struct ConnectSender<'a> {
    pub(super) route: Route,
    pub(super) qport: Qport,
    pub(super) info: &'a InfoString,
}

/// Slot of an earlier connection that a connect takes over. A slot with the same address and
/// port is preferred to one with another port, or two slots would have one address.
pub(super) fn earlier_slot<R: Role>(
    slots: &Slots<R>,
    route: Route,
    qport: Qport,
    now: Millis,
) -> Option<R::Key> {
    let silent_for =
        |client: &Connection<R>, least| client.is_zombie() || client.silence(now) >= least;
    let nearness = |client: &Connection<R>| match client.remote.match_source(route.remote, qport) {
        AddressMatch::Exact => Some(0),
        // The challenge proves the address, which no other client can have: the game was restarted.
        AddressMatch::Mismatch if client.remote.address() == route.remote => {
            silent_for(client, REPLACED_AFTER).then_some(1)
        }
        AddressMatch::PortChanged => silent_for(client, ABANDONED_AFTER).then_some(2),
        AddressMatch::Mismatch => None,
    };
    let near = slots.iter().filter_map(|(key, client)| Some((nearness(client)?, key)));
    near.min().map(|(_, key)| key)
}

/// Checks the time since the connect of a client that another connection replaces.
pub(super) fn check_reconnect(passed: Millis, limit: Millis) -> Result<(), Rejection> {
    if passed >= limit {
        return Ok(());
    }
    let seconds = limit.since(passed).0.div_ceil(1000);
    let plural = if seconds == 1 { "" } else { "s" };
    Err(Rejection::Message(format!("Reconnecting, please wait {seconds} second{plural}.")))
}

/// Slot of the connection that a connect replaces. It is the `earlier` one, unless that is another player's, or one
/// that the player left behind.
pub(super) fn replaced_slot<R: Role>(
    slots: &Slots<R>,
    from: ConnectSender<'_>,
    earlier: Option<R::Key>,
    is_full: bool,
    now: Millis,
    reconnect_interval: Millis,
) -> Result<Option<R::Key>, Rejection> {
    let ConnectSender { route, info, .. } = from;
    let is_own = |key: &R::Key| {
        slots.get(*key).is_some_and(|client| {
            client.remote.address() == route.remote || !is_other_player(client, info)
        })
    };
    if let Some(key) = earlier.filter(is_own) {
        return Ok(Some(key));
    }
    let left = left_slot(slots, route, info, now);
    if let Some(client) = left.and_then(|key| slots.get(key)) {
        check_reconnect(now.since(client.connected_at), reconnect_interval)?;
    }
    Ok(left.or_else(|| abandoned_slot(slots, from, now).filter(|_| is_full)))
}

/// Slot that a player left behind when its game crashed. It is that of a silent client of the same host with the
/// same guid, of several the longest silent one. Players that share a host have different guids, and no server tells a guid
/// to other players.
fn left_slot<R: Role>(
    slots: &Slots<R>,
    route: Route,
    info: &InfoString,
    now: Millis,
) -> Option<R::Key> {
    let guid = Userinfo(info).guid();
    if !identifies_player(guid) {
        return None;
    }
    let is_left = |client: &Connection<R>| {
        let least = if client.is_active() { LEFT_AFTER } else { LEFT_LOADING_AFTER };
        client.silence(now) >= least
            && same_host(client.remote.address(), route.remote)
            && Userinfo(&client.userinfo).guid().eq_ignore_ascii_case(guid)
    };
    let left = slots.present().filter(|(_, client)| is_left(client));
    left.min_by_key(|(_, client)| client.received_at).map(|(key, _)| key)
}

/// Slot of an abandoned connection of the same host, for a full server. Its client has the same qport, or it is in
/// the level with the same name, and neither has a guid.
fn abandoned_slot<R: Role>(
    slots: &Slots<R>,
    from: ConnectSender<'_>,
    now: Millis,
) -> Option<R::Key> {
    let ConnectSender { route, qport, info } = from;
    let is_left_behind = |client: &Connection<R>| {
        let same_qport = client.remote.match_source(route.remote, qport) != AddressMatch::Mismatch
            && !is_other_player(client, info);
        client.silence(now) >= ABANDONED_WHEN_FULL
            && (same_qport || client.is_active() && is_namesake(client, route, info))
    };
    slots.present().find(|(_, client)| is_left_behind(client)).map(|(key, _)| key)
}

/// Slot of the oldest zombie, which yields to a connect on a full server.
pub(super) fn zombie_slot<R: Role>(
    slots: &Slots<R>,
    usable: impl Iterator<Item = R::Key>,
) -> Option<R::Key> {
    let zombies = usable.filter_map(|key| match &slots.get(key)?.state {
        ConnectionState::Zombie(zombie) => Some((zombie.since, key)),
        _ => None,
    });
    zombies.min().map(|(_, key)| key)
}

/// Whether the guids tell that a connect is not from the player of a client.
fn is_other_player<R: Role>(client: &Connection<R>, info: &InfoString) -> bool {
    let (ours, theirs) = (Userinfo(&client.userinfo).guid(), Userinfo(info).guid());
    identifies_player(ours) && !ours.eq_ignore_ascii_case(theirs)
}

/// Whether a connect has the host and the name of a client, and neither has a guid. Clients of protocol 68 have none.
fn is_namesake<R: Role>(client: &Connection<R>, route: Route, info: &InfoString) -> bool {
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

/// Whether a client in the level is the player of an older connection.
pub(super) fn is_successor<R: Role>(client: &Connection<R>, abandoned: &Connection<R>) -> bool {
    if !client.is_active()
        || client.connected_at < abandoned.received_at
        || client.connected_at <= abandoned.connected_at
        || !same_host(client.remote.address(), abandoned.remote.address())
    {
        return false;
    }
    let (newer, older) = (Userinfo(&client.userinfo), Userinfo(&abandoned.userinfo));
    // A client that loads a level is silent too, and names are not unique.
    client.remote.qport() == abandoned.remote.qport()
        || abandoned.is_active() && newer.name() == older.name() && newer.guid() == older.guid()
}
