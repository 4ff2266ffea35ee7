//! Send rate: rate and snaps that the settings grant to a client.
//!
//! A change of `sv_maxRate` or `sv_minRate` applies at once to connected clients.
//! Source: Quake III protocol 68, rate and snaps; the rules are ioquake3's.

use std::net::SocketAddr;

use super::lan::is_lan;
use crate::{
    serving::{connection::SendRates, pacing::SendRate},
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

impl SendRates for Settings {
    fn limited(&self, requested: SendRate) -> u32 {
        limited(self, requested)
    }

    fn is_unlimited(&self, address: SocketAddr) -> bool {
        is_unlimited(self, address)
    }

    fn timescale(&self) -> f32 {
        self.float(key::TIMESCALE)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Millis;

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
