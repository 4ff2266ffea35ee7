//! Addresses to listen on: one of each family, from a repeated option.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Addresses of both families, at least one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BindAddresses {
    /// IPv4 address, if any.
    pub ip4: Option<Ipv4Addr>,
    /// IPv6 address, if any.
    pub ip6: Option<Ipv6Addr>,
}

impl BindAddresses {
    /// All addresses of this machine.
    pub const ALL: Self =
        Self { ip4: Some(Ipv4Addr::UNSPECIFIED), ip6: Some(Ipv6Addr::UNSPECIFIED) };

    /// Returns the addresses of a repeated option; `None` without any. Of a family that is named twice, the first
    /// counts; the check of the command line refuses it.
    #[must_use]
    pub fn of(named: &[IpAddr]) -> Option<Self> {
        let ip4 =
            named.iter().find_map(|ip| if let IpAddr::V4(ip) = ip { Some(*ip) } else { None });
        let ip6 =
            named.iter().find_map(|ip| if let IpAddr::V6(ip) = ip { Some(*ip) } else { None });
        (!named.is_empty()).then_some(Self { ip4, ip6 })
    }

    /// Checks the values of the option `name`.
    ///
    /// # Errors
    /// Two addresses of one family.
    pub(super) fn check(name: &str, named: &[IpAddr]) -> Result<(), String> {
        for (at, ip) in named.iter().enumerate() {
            let is_same = |other: &&IpAddr| other.is_ipv4() == ip.is_ipv4();
            if let Some(other) = named[..at].iter().find(is_same) {
                let family = if ip.is_ipv4() { "IPv4" } else { "IPv6" };
                return Err(format!(
                    "{name} names two {family} addresses: {other} and {ip} (expected one IPv4 and one IPv6 address \
                     at most)"
                ));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_address_of_each_family_is_accepted() {
        let [four, six, other]: [IpAddr; 3] =
            ["127.0.0.1", "::1", "192.0.2.1"].map(|text| text.parse().expect("an address"));
        let both = BindAddresses { ip4: Some(Ipv4Addr::LOCALHOST), ip6: Some(Ipv6Addr::LOCALHOST) };
        assert_eq!(BindAddresses::of(&[six, four]), Some(both));
        assert_eq!(BindAddresses::of(&[six]), Some(BindAddresses { ip4: None, ..both }));
        assert_eq!(BindAddresses::of(&[]), None);
        assert_eq!(BindAddresses::check("--bind", &[six, four]), Ok(()));
        let error = BindAddresses::check("--bind", &[four, six, other]).expect_err("two of IPv4");
        assert!(
            error.starts_with("--bind names two IPv4 addresses: 127.0.0.1 and 192.0.2.1"),
            "{error}"
        );
    }
}
