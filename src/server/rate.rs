//! Rate and snaps of a client as the server grants them, and the send times that follow from them.
//!
//! RateLimits set by the operator apply when a datagram is sent, not when the client asks: a change of
//! `sv_maxRate` or `sv_minRate` acts at once on clients that are connected. Fragments of a gamestate keep a
//! distance in time even where no rate applies, because a client drops a fragment that overtook another.
//! Source: Quake III protocol 68, rate, snaps and pacing; the rules are ioquake3's.

use std::net::SocketAddr;

use super::{
    client::{Client, MessageKind, SendRate},
    rate_limiter::is_lan,
};
use crate::{
    model::Millis,
    netchan::cost_ms,
    settings::{Settings, key},
    wire::{info::Info, userinfo::Userinfo},
};

/// Rate of a client that names none, in bytes per second.
const DEFAULT_RATE: i32 = 3000;
/// Rates a client may ask for.
const ASKED_RATES: std::ops::RangeInclusive<i32> = 1000..=90_000;
/// Rate of a client of the local network that is not limited.
const LAN_RATE: u32 = 99_999;
/// No limit set by the operator is lower.
const LEAST_LIMIT: i32 = 1000;
/// Least time between two fragments of a gamestate: more than the jitter of a usual wireless network, so that
/// they arrive in order.
const FRAGMENT_SPACING: Millis = Millis(20);
/// The same for a gamestate that repeats a lost one.
const RETRY_SPACING: Millis = Millis(40);
/// Times that each fragment of a gamestate is sent that repeats a lost one.
const RETRY_COPIES: u8 = 2;

/// Whether a client's rate does not matter: it is of the local network, and that is set free.
pub(super) fn is_unlimited(settings: &Settings, address: SocketAddr) -> bool {
    settings.int(key::DEDICATED) != 2
        && settings.flag(key::SV_LAN_FORCE_RATE)
        && is_lan(settings, address)
}

/// Returns what a client's userinfo asks for.
pub(super) fn send_rate(settings: &Settings, userinfo: &Info) -> SendRate {
    let userinfo = Userinfo(userinfo);
    let asked = userinfo.rate().unwrap_or(DEFAULT_RATE);
    let asked_bytes_per_sec = asked.clamp(*ASKED_RATES.start(), *ASKED_RATES.end());
    let fps = settings.int(key::SV_FPS);
    let snapshot_interval = match userinfo.snaps() {
        Some(snaps) => Millis(1000 / u64::from(snaps.clamp(1, fps.max(1)).unsigned_abs())),
        None => Millis(50),
    };
    SendRate { asked_bytes_per_sec, snapshot_interval }
}

/// Returns the rate that a client is granted now, in bytes per second: the one it asked for within
/// `sv_minRate` and `sv_maxRate`.
pub(super) fn granted(settings: &Settings, rate: SendRate, address: SocketAddr) -> u32 {
    if is_unlimited(settings, address) {
        return LAN_RATE;
    }
    let limit = |value: i32| (value != 0).then(|| value.max(LEAST_LIMIT));
    let mut granted = rate.asked_bytes_per_sec;
    if let Some(most) = limit(settings.int(key::SV_MAX_RATE)) {
        granted = granted.min(most);
    }
    // The minimum is applied last and wins over the maximum.
    if let Some(least) = limit(settings.int(key::SV_MIN_RATE)) {
        granted = granted.max(least);
    }
    granted.unsigned_abs()
}

/// Returns how long the client's rate has to recover from the last datagram.
pub(super) fn rate_delay(settings: &Settings, client: &Client, now: Millis) -> Millis {
    let address = client.remote.address();
    if is_unlimited(settings, address) {
        return Millis(0);
    }
    let granted = granted(settings, client.send_rate, address);
    let scaled = f64::from(granted) * f64::from(settings.float(key::TIMESCALE));
    let is_ipv6 = address.ip().to_canonical().is_ipv6();
    let cost = cost_ms(client.channel.last_datagram_len(), is_ipv6, scaled as u32);
    (client.sent_at + Millis(cost)).since(now)
}

/// Returns how long the next datagram has to wait because the last one was a fragment of a gamestate. A
/// client that is in the game has the gamestate, whatever of it is still to be sent.
pub(super) fn fragment_wait(client: &Client, now: Millis) -> Millis {
    if client.is_active() {
        return Millis(0);
    }
    (client.sent_at + client.spacing).since(now)
}

/// Returns the least time between two datagrams of a message.
pub(super) fn fragment_spacing(kind: MessageKind) -> Millis {
    match kind {
        MessageKind::Gamestate { is_retry: false } => FRAGMENT_SPACING,
        MessageKind::Gamestate { is_retry: true } => RETRY_SPACING,
        MessageKind::Snapshot | MessageKind::Download | MessageKind::Commands => Millis(0),
    }
}

/// Returns how often each fragment of a gamestate is sent. A retry doubles them: what was lost once is
/// likely lost again, and a gamestate is whole or nothing.
pub(super) fn fragment_copies(is_retry: bool) -> u8 {
    if is_retry { RETRY_COPIES } else { 1 }
}

/// Bytes of reliable commands that may be under way to a client: a quarter of what its rate allows between
/// two snapshots, so that news of many things at once holds up no snapshot.
pub(super) fn reliable_budget(settings: &Settings, client: &Client) -> usize {
    let (rate, address) = (client.send_rate, client.remote.address());
    if is_unlimited(settings, address) {
        return usize::MAX;
    }
    let between = u64::from(granted(settings, rate, address)) * rate.snapshot_interval.0 / 1000;
    usize::try_from(between / 4).unwrap_or(usize::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    const LAN: &str = "192.168.0.5:27960";
    const WAN: &str = "192.0.2.5:27960";

    fn settings(set: &[(&str, &str)]) -> Settings {
        let mut settings = Settings::default();
        for (name, value) in set {
            settings.set(name, value).unwrap();
        }
        settings
    }

    fn rate_of(address: &str, set: &[(&str, &str)], userinfo: &str) -> u32 {
        let settings = settings(set);
        let rate = send_rate(&settings, &Info::parse(userinfo));
        granted(&settings, rate, address.parse().unwrap())
    }

    #[test]
    fn a_rate_is_what_was_asked_for_within_the_limits() {
        let check = |set: &[(&str, &str)], userinfo: &str, rate: u32| {
            assert_eq!(rate_of(WAN, set, userinfo), rate, "{set:?} {userinfo}");
        };
        check(&[], "", 3000);
        check(&[], "\\rate\\25000", 25_000);
        check(&[], "\\rate\\0", 1000);
        check(&[], "\\rate\\-5", 1000);
        check(&[], "\\rate\\999999999999", 90_000);
        check(&[], "\\rate\\nan", 1000);
        check(&[("sv_maxRate", "8000")], "\\rate\\25000", 8000);
        check(&[("sv_minRate", "30000")], "\\rate\\25000", 30_000);
        check(&[("sv_maxRate", "8000"), ("sv_minRate", "9000")], "\\rate\\25000", 9000);
    }

    #[test]
    fn the_local_network_is_free_unless_it_is_not() {
        assert_eq!(rate_of(LAN, &[], "\\rate\\5000"), 99_999);
        assert_eq!(rate_of(LAN, &[("sv_lanForceRate", "0")], "\\rate\\5000"), 5000);
    }

    #[test]
    fn snaps_are_bounded_by_the_frames() {
        let interval =
            |userinfo: &str| send_rate(&settings(&[]), &Info::parse(userinfo)).snapshot_interval;
        assert_eq!(interval(""), Millis(50));
        assert_eq!(interval("\\snaps\\40"), Millis(50));
        assert_eq!(interval("\\snaps\\10"), Millis(100));
        assert_eq!(interval("\\snaps\\30"), Millis(50));
        assert_eq!(interval("\\snaps\\0"), Millis(1000));
        assert_eq!(interval("\\snaps\\-3"), Millis(1000));
    }
}
