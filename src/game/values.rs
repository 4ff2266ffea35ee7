//! Settings as numbers: how every game reads what an operator wrote.
//!
//! Invariant: any text gives a number, and one within the limits that were asked for.

use super::Host;
use crate::model::text::leading_int;

/// A setting as a whole number; `default` when it is not set.
pub(super) fn whole(host: &dyn Host, name: &str, default: i32) -> i32 {
    match host.setting(name) {
        "" => default,
        text => leading_int(text),
    }
}

/// Whether a setting is on; `default` when it is not set.
pub(super) fn switch(host: &dyn Host, name: &str, default: bool) -> bool {
    whole(host, name, i32::from(default)) != 0
}

/// A setting as a number from 0 to `most`; `default` when it is none.
pub(super) fn decimal(host: &dyn Host, name: &str, default: f32, most: f32) -> f32 {
    let number = host.setting(name).trim().parse().ok();
    number.filter(|value: &f32| value.is_finite()).unwrap_or(default).clamp(0.0, most)
}

/// Which settings were read last, so that they are read again only when one of them changed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Seen(Option<u64>);

impl Seen {
    /// Whether settings may have changed since this was asked last.
    pub(super) fn is_old(&mut self, host: &dyn Host) -> bool {
        let version = host.settings_version();
        let old = version.is_none() || version != self.0;
        self.0 = version;
        old
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::game::conformance::TestHost;

    #[test]
    fn any_text_is_a_number_within_its_limits() {
        let mut host = TestHost::default();
        for (text, whole_number, number) in
            [("", 7, 3.0), ("12.5x", 12, 3.0), ("nan", 0, 3.0), ("-4", -4, 0.0), (" 1e9", 1, 100.0)]
        {
            host.set_setting("g_speed", text);
            assert_eq!(whole(&host, "g_speed", 7), whole_number, "{text:?}");
            assert_eq!(decimal(&host, "g_speed", 3.0, 100.0), number, "{text:?}");
        }
        assert!(switch(&host, "g_none", true) && !switch(&host, "g_none", false));
    }
}
