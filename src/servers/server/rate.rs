//! Send rate: rate and snaps that a client is granted, and the send times that follow.
//!
//! Limits of the operator apply when a datagram is sent, not when the client requests a rate. A
//! change of `sv_maxRate` or `sv_minRate` applies at once to connected clients.
//! Source: Quake III protocol 68, rate, snaps and pacing; the rules are ioquake3's. Engine names:
//! `SV_RateMsec`.

use std::net::SocketAddr;

use super::{client::Client, lan::is_lan};
use crate::{
    model::Millis,
    netchan::transmission_ms,
    serving::pacing::SendRate,
    settings::{Settings, key},
    wire::info::InfoString,
};

/// Rate shown for a LAN client without limit, in bytes per second.
const LAN_RATE: u32 = 99_999;
/// Lowest effective value of `sv_maxRate` and `sv_minRate`.
const LEAST_LIMIT: i32 = 1000;
/// Whether no rate applies to an address: a LAN address with `sv_lanForceRate`.
pub(super) fn is_unlimited(settings: &Settings, address: SocketAddr) -> bool {
    settings.int(key::DEDICATED) != 2
        && settings.flag(key::SV_LAN_FORCE_RATE)
        && is_lan(settings, address)
}

/// Returns the rate and snapshot interval that a userinfo requests.
pub(super) fn send_rate(settings: &Settings, userinfo: &InfoString) -> SendRate {
    SendRate::requested(userinfo, settings.int(key::SV_FPS))
}

/// Returns the granted rate in bytes per second: the requested one within `sv_minRate` and
/// `sv_maxRate`.
pub(super) fn granted(settings: &Settings, rate: SendRate, address: SocketAddr) -> u32 {
    if is_unlimited(settings, address) { LAN_RATE } else { limited(settings, rate) }
}

/// Returns the rate in bytes per second that is granted to a client without [`is_unlimited`].
fn limited(settings: &Settings, rate: SendRate) -> u32 {
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
    let scaled =
        f64::from(limited(settings, client.send_rate)) * f64::from(settings.float(key::TIMESCALE));
    let is_ipv6 = address.ip().to_canonical().is_ipv6();
    let cost = transmission_ms(client.channel.last_datagram_len(), is_ipv6, scaled as u32);
    let delay = (client.sent_at + Millis(cost)).since(now);
    // Last, because most delays have passed, and the list of networks is long.
    if delay > Millis(0) && is_unlimited(settings, address) { Millis(0) } else { delay }
}

/// Returns the time until the next datagram, if the last one was a fragment of a gamestate. A
/// client in the game has the gamestate, so the rest of its fragments is not spaced.
pub(super) fn fragment_wait(client: &Client, now: Millis) -> Millis {
    if client.is_active() {
        return Millis(0);
    }
    (client.sent_at + client.spacing).since(now)
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
