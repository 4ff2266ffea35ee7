//! LAN addresses: networks whose clients are exempt from limits of the internet.
//!
//! The setting `sv_lanNetworks` lists them. Engine names: `Sys_IsLANAddress`.

use std::net::SocketAddr;

use crate::settings::{Settings, key};

/// Whether an address is a LAN address by `sv_lanNetworks`.
pub(super) fn is_lan(settings: &Settings, from: SocketAddr) -> bool {
    settings.networks(key::SV_LAN_NETWORKS).contains(from.ip())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address(ip: &str) -> SocketAddr {
        SocketAddr::new(ip.parse().unwrap(), 27960)
    }

    #[test]
    fn lan_addresses_are_recognized() {
        let mut settings = Settings::default();
        for lan in [
            "127.0.0.1",
            "10.1.2.3",
            "172.16.0.1",
            "192.168.9.9",
            "169.254.7.7",
            "::ffff:10.1.2.3",
            "::1",
            "fe80::1",
            "fd00::1",
        ] {
            assert!(is_lan(&settings, address(lan)), "{lan}");
        }
        for wan in ["8.8.8.8", "172.32.0.1", "2001:db8::1", "169.253.0.1", "127.64.3.7"] {
            assert!(!is_lan(&settings, address(wan)), "{wan}");
        }
        settings.set("sv_lanNetworks", "127.0.0.0/8 ::1").expect("a list of networks");
        assert!(!is_lan(&settings, address("172.17.0.1")), "a container's gateway");
        assert!(is_lan(&settings, address("127.0.0.1")));
    }
}
