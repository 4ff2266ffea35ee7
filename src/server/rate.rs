//! How fast a client is served: its rate and snaps as the server grants them, and what they let through.
//!
//! Source: Quake III protocol 68, rate, snaps and pacing; the rules are ioquake3's.

use std::net::SocketAddr;

use super::{
    client::{Client, Pace},
    limiter::is_lan,
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

/// Whether a client's rate does not matter: it is of the local network, and that is set free.
pub(super) fn is_unlimited(settings: &Settings, address: SocketAddr) -> bool {
    settings.int(key::DEDICATED) != 2
        && settings.flag(key::SV_LAN_FORCE_RATE)
        && is_lan(settings, address)
}

/// What a client's userinfo asks for, within the operator's limits.
pub(super) fn pace(settings: &Settings, userinfo: &Info, address: SocketAddr) -> Pace {
    let userinfo = Userinfo(userinfo);
    let rate_bytes_per_sec = if is_unlimited(settings, address) {
        LAN_RATE
    } else {
        let asked = userinfo.rate().unwrap_or(DEFAULT_RATE);
        let mut rate = asked.clamp(*ASKED_RATES.start(), *ASKED_RATES.end());
        let limit = |value: i32| (value != 0).then(|| value.max(LEAST_LIMIT));
        if let Some(most) = limit(settings.int(key::SV_MAX_RATE)) {
            rate = rate.min(most);
        }
        // The floor is laid last, so it wins over the ceiling.
        if let Some(least) = limit(settings.int(key::SV_MIN_RATE)) {
            rate = rate.max(least);
        }
        rate.unsigned_abs()
    };
    let fps = settings.int(key::SV_FPS);
    let snapshot_interval = match userinfo.snaps() {
        Some(snaps) => Millis(1000 / u64::from(snaps.clamp(1, fps.max(1)).unsigned_abs())),
        None => Millis(50),
    };
    Pace { rate_bytes_per_sec, snapshot_interval }
}

/// How long the client's rate has to recover from the last datagram.
pub(super) fn wait(settings: &Settings, client: &Client, now: Millis) -> Millis {
    let address = client.remote.address();
    if is_unlimited(settings, address) {
        return Millis(0);
    }
    let scaled =
        f64::from(client.pace.rate_bytes_per_sec) * f64::from(settings.float(key::TIMESCALE));
    let is_ipv6 = address.ip().to_canonical().is_ipv6();
    let cost = cost_ms(client.channel.last_datagram_len(), is_ipv6, scaled as u32);
    (client.sent_at + Millis(cost)).since(now)
}

/// Bytes of reliable commands that may be under way to a client: a quarter of what its rate allows between
/// two snapshots, so that news of many things at once holds up no snapshot.
pub(super) fn command_bytes(pace: Pace) -> usize {
    if pace.rate_bytes_per_sec == LAN_RATE {
        return usize::MAX;
    }
    let between = u64::from(pace.rate_bytes_per_sec) * pace.snapshot_interval.0 / 1000;
    usize::try_from(between / 4).unwrap_or(usize::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    const LAN: &str = "192.168.0.5:27960";
    const WAN: &str = "192.0.2.5:27960";

    fn pace_of(address: &str, set: &[(&str, &str)], userinfo: &str) -> Pace {
        let mut settings = Settings::default();
        for (name, value) in set {
            settings.set(name, value).unwrap();
        }
        pace(&settings, &Info::parse(userinfo), address.parse().unwrap())
    }

    #[test]
    fn a_rate_is_what_was_asked_for_within_the_limits() {
        let check = |set: &[(&str, &str)], userinfo: &str, rate: u32| {
            let pace = pace_of(WAN, set, userinfo);
            assert_eq!(pace.rate_bytes_per_sec, rate, "{set:?} {userinfo}");
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
        assert_eq!(pace_of(LAN, &[], "\\rate\\5000").rate_bytes_per_sec, 99_999);
        let forced = [("sv_lanForceRate", "0")];
        assert_eq!(pace_of(LAN, &forced, "\\rate\\5000").rate_bytes_per_sec, 5000);
    }

    #[test]
    fn snaps_are_bounded_by_the_frames() {
        let interval = |userinfo: &str| pace_of(WAN, &[], userinfo).snapshot_interval;
        assert_eq!(interval(""), Millis(50));
        assert_eq!(interval("\\snaps\\40"), Millis(50));
        assert_eq!(interval("\\snaps\\10"), Millis(100));
        assert_eq!(interval("\\snaps\\30"), Millis(50));
        assert_eq!(interval("\\snaps\\0"), Millis(1000));
        assert_eq!(interval("\\snaps\\-3"), Millis(1000));
    }
}
