//! Send rate: rate and snaps that a client is granted, and the send times that follow.
//!
//! Limits of the operator apply when a datagram is sent, not when the client requests a rate. A
//! change of `sv_maxRate` or `sv_minRate` applies at once to connected clients. Fragments of a
//! gamestate are spaced even without a rate, because a client drops a fragment that overtook
//! another one.
//! Source: Quake III protocol 68, rate, snaps and pacing; the rules are ioquake3's. Engine names:
//! `SV_RateMsec`.

use std::net::SocketAddr;

use super::{
    client::{Client, MessageKind, SendRate},
    lan::is_lan,
};
use crate::{
    model::Millis,
    netchan::transmission_ms,
    settings::{Settings, key},
    wire::{info::InfoString, userinfo::Userinfo},
};

/// Rate of a client that names none, in bytes per second.
const DEFAULT_RATE: i32 = 3000;
/// Rates that a client may request, in bytes per second.
const REQUESTED_RATES: std::ops::RangeInclusive<i32> = 1000..=90_000;
/// Rate shown for a LAN client without limit, in bytes per second.
const LAN_RATE: u32 = 99_999;
/// Lowest effective value of `sv_maxRate` and `sv_minRate`.
const LEAST_LIMIT: i32 = 1000;
/// Minimum interval between two fragments of a gamestate. It exceeds the jitter of usual wireless
/// networks, so that fragments arrive in order.
const FRAGMENT_SPACING: Millis = Millis(20);
/// Least time between two fragments of a gamestate that repeats a lost one.
const RETRY_SPACING: Millis = Millis(40);
/// Copies of each fragment of a gamestate that repeats a lost one.
const RETRY_COPIES: u8 = 2;

/// Whether no rate applies to an address: a LAN address with `sv_lanForceRate`.
pub(super) fn is_unlimited(settings: &Settings, address: SocketAddr) -> bool {
    settings.int(key::DEDICATED) != 2
        && settings.flag(key::SV_LAN_FORCE_RATE)
        && is_lan(settings, address)
}

/// Returns the rate and snapshot interval that a userinfo requests.
pub(super) fn send_rate(settings: &Settings, userinfo: &InfoString) -> SendRate {
    let userinfo = Userinfo(userinfo);
    let requested = userinfo.rate().unwrap_or(DEFAULT_RATE);
    let requested_bytes_per_sec = requested.clamp(*REQUESTED_RATES.start(), *REQUESTED_RATES.end());
    let fps = settings.int(key::SV_FPS);
    let snapshot_interval = match userinfo.snaps() {
        Some(snaps) => Millis(1000 / u64::from(snaps.clamp(1, fps.max(1)).unsigned_abs())),
        None => Millis(50),
    };
    SendRate { requested_bytes_per_sec, snapshot_interval }
}

/// Returns the granted rate in bytes per second: the requested one within `sv_minRate` and
/// `sv_maxRate`.
pub(super) fn granted(settings: &Settings, rate: SendRate, address: SocketAddr) -> u32 {
    if is_unlimited(settings, address) {
        return LAN_RATE;
    }
    let limit = |value: i32| (value != 0).then(|| value.max(LEAST_LIMIT));
    let mut granted = rate.requested_bytes_per_sec;
    if let Some(most) = limit(settings.int(key::SV_MAX_RATE)) {
        granted = granted.min(most);
    }
    // The minimum is applied last and wins over the maximum.
    if let Some(least) = limit(settings.int(key::SV_MIN_RATE)) {
        granted = granted.max(least);
    }
    granted.unsigned_abs()
}

/// Returns the rate delay: the time until the next datagram may be sent.
pub(super) fn rate_delay(settings: &Settings, client: &Client, now: Millis) -> Millis {
    let address = client.remote.address();
    if is_unlimited(settings, address) {
        return Millis(0);
    }
    let granted = granted(settings, client.send_rate, address);
    let scaled = f64::from(granted) * f64::from(settings.float(key::TIMESCALE));
    let is_ipv6 = address.ip().to_canonical().is_ipv6();
    let cost = transmission_ms(client.channel.last_datagram_len(), is_ipv6, scaled as u32);
    (client.sent_at + Millis(cost)).since(now)
}

/// Returns the time until the next datagram, if the last one was a fragment of a gamestate. A
/// client in the game has the gamestate, so the rest of its fragments is not spaced.
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

/// Returns the copies of each fragment of a gamestate. A retry sends two: loss is likely to happen
/// again, and one lost fragment loses the gamestate.
pub(super) fn fragment_copies(is_retry: bool) -> u8 {
    if is_retry { RETRY_COPIES } else { 1 }
}

/// Maximum bytes of unacknowledged commands of a client. A quarter of its rate between two
/// snapshots, so that a burst of commands delays no snapshot.
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
        let rate = send_rate(&settings, &InfoString::parse(userinfo));
        granted(&settings, rate, address.parse().unwrap())
    }

    #[test]
    fn rate_is_clamped_to_limits() {
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
    fn lan_rate_is_unlimited_with_force_rate() {
        assert_eq!(rate_of(LAN, &[], "\\rate\\5000"), 99_999);
        assert_eq!(rate_of(LAN, &[("sv_lanForceRate", "0")], "\\rate\\5000"), 5000);
    }

    #[test]
    fn snaps_are_bounded_by_server_frames() {
        let interval = |userinfo: &str| {
            send_rate(&settings(&[]), &InfoString::parse(userinfo)).snapshot_interval
        };
        assert_eq!(interval(""), Millis(50));
        assert_eq!(interval("\\snaps\\40"), Millis(50));
        assert_eq!(interval("\\snaps\\10"), Millis(100));
        assert_eq!(interval("\\snaps\\30"), Millis(50));
        assert_eq!(interval("\\snaps\\0"), Millis(1000));
        assert_eq!(interval("\\snaps\\-3"), Millis(1000));
    }
}
