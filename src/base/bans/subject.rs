//! Subject of an entry: the network, the GUID or the names that it is about.

use std::{
    fmt,
    net::{IpAddr, Ipv4Addr},
};

use ipnet::{IpNet, Ipv4Net};
use thiserror::Error;

use super::name_pattern::NamePattern;

/// Lengths of a GUID in characters. Those of ioquake3 and OpenArena have 32.
const GUID_LEN: std::ops::RangeInclusive<usize> = 8..=64;
/// Characters of a GUID that is told from a name.
const USUAL_GUID_LEN: usize = 32;

/// Clients that an entry is about.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Subject {
    /// Clients of a network, with the host bits 0.
    Network(IpNet),
    /// Clients with this `cl_guid`, in lower case.
    Guid(String),
    /// Clients with such a name.
    Name(NamePattern),
}

/// Text that names no subject.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
pub enum SubjectError {
    /// Not a network.
    #[error("expected an address or network, e.g. 192.0.2.7, 192.0.2.0/24 or 2001:db8::/32")]
    Network,
    /// Not a GUID.
    #[error("expected a GUID of 8 to 64 letters and digits")]
    Guid,
    /// Not a pattern.
    #[error(
        "expected a name of at most 64 characters, with * for any text, that does not match every name"
    )]
    Name,
}

impl Subject {
    /// Parses a network.
    ///
    /// # Errors
    /// The text is not a network.
    pub fn network(text: &str) -> Result<Self, SubjectError> {
        parse_network(text).map(Self::Network).ok_or(SubjectError::Network)
    }

    /// The network of one address.
    #[must_use]
    pub fn address(address: IpAddr) -> Self {
        Self::Network(IpNet::from(address.to_canonical()))
    }

    /// Parses a GUID.
    ///
    /// # Errors
    /// The text is not a GUID.
    pub fn guid(text: &str) -> Result<Self, SubjectError> {
        let is_guid =
            GUID_LEN.contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_alphanumeric());
        if is_guid { Ok(Self::Guid(text.to_ascii_lowercase())) } else { Err(SubjectError::Guid) }
    }

    /// Parses a pattern of names.
    ///
    /// # Errors
    /// The text is not a pattern.
    pub fn name(text: &str) -> Result<Self, SubjectError> {
        NamePattern::parse(text).map(Self::Name).ok_or(SubjectError::Name)
    }

    /// Parses an address, a network or a GUID of 32 hexadecimal digits. `None` for other text, which may be a name.
    #[must_use]
    pub fn recognized(text: &str) -> Option<Self> {
        let is_guid =
            text.len() == USUAL_GUID_LEN && text.bytes().all(|byte| byte.is_ascii_hexdigit());
        if is_guid { Self::guid(text).ok() } else { Self::network(text).ok() }
    }

    /// Whether every client of `other` is one of this subject. Patterns are only compared as texts.
    #[must_use]
    pub fn covers(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Network(ours), Self::Network(theirs)) => ours.contains(theirs),
            _ => self == other,
        }
    }
}

impl fmt::Display for Subject {
    /// The network as in lists of ioquake3, else kind and text.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Network(network) => write!(f, "{network}"),
            Self::Guid(guid) => write!(f, "guid {guid}"),
            Self::Name(pattern) => write!(f, "name {pattern}"),
        }
    }
}

/// Parses an address, or a network with a prefix length. Host bits are cleared, and IPv4 inside IPv6 becomes IPv4.
#[must_use]
pub fn parse_network(text: &str) -> Option<IpNet> {
    let network = match text.parse::<IpAddr>() {
        Ok(address) => IpNet::from(address),
        Err(_) => text.parse::<IpNet>().ok()?,
    };
    Some(canonical(network).trunc())
}

/// Parses an address mask: a network, or leading numbers of an IPv4 address such as `10.1` or `10.1.*.*`. `None` for
/// other masks, such as `10.*.2.*`.
#[must_use]
pub fn parse_mask(mask: &str) -> Option<IpNet> {
    if let Some(network) = parse_network(mask) {
        return Some(network);
    }
    let mut octets = [0; 4];
    let mut count = 0;
    let mut parts = mask.split('.').peekable();
    while let Some(part) = parts.next_if(|part| *part != "*") {
        *octets.get_mut(count)? = part.parse().ok()?;
        count += 1;
    }
    let stars = parts.clone().count();
    let is_prefix = count + stars <= 4 && parts.all(|part| part == "*");
    let prefix = u8::try_from(8 * count).ok().filter(|_| is_prefix)?;
    Ipv4Net::new(octets.into(), prefix).ok().map(IpNet::V4)
}

/// Returns a network inside `::ffff:0:0/96` as IPv4.
fn canonical(network: IpNet) -> IpNet {
    let IpNet::V6(inside) = network else { return network };
    let v4: Option<Ipv4Addr> = inside.addr().to_ipv4_mapped();
    let prefix = inside.prefix_len().checked_sub(96);
    v4.zip(prefix).and_then(|(ip, len)| Ipv4Net::new(ip, len).ok()).map_or(network, IpNet::V4)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn networks_are_canonical() {
        for (text, shown) in [
            ("10.1.2.3", "10.1.2.3/32"),
            ("10.1.2.3/8", "10.0.0.0/8"),
            ("0.0.0.0/0", "0.0.0.0/0"),
            ("2001:DB8::1", "2001:db8::1/128"),
            ("2001:db8::1/32", "2001:db8::/32"),
            ("::ffff:10.1.2.3", "10.1.2.3/32"),
            ("::ffff:10.1.2.3/104", "10.0.0.0/8"),
        ] {
            let subject = Subject::network(text).expect(text);
            assert_eq!(subject.to_string(), shown);
            assert_eq!(Subject::network(shown), Ok(subject), "{shown}");
        }
        for text in ["", "10.1", "10.0.0.0/33", "::/129", "x", "10.0.0.0/", "1.2.3.4/-1", "[::1]"] {
            assert_eq!(Subject::network(text), Err(SubjectError::Network), "{text}");
        }
    }

    #[test]
    fn masks_of_leading_numbers_are_networks() {
        for (mask, network) in [
            ("10.1.2.3", Some("10.1.2.3/32")),
            ("10.1", Some("10.1.0.0/16")),
            ("10.1.*.*", Some("10.1.0.0/16")),
            ("10.1.*", Some("10.1.0.0/16")),
            ("*", Some("0.0.0.0/0")),
            ("2001:db8::/32", Some("2001:db8::/32")),
            ("10.0.0.0/8", Some("10.0.0.0/8")),
            ("10.*.2.*", None),
            ("10.1.2.3.4", None),
            ("10.*.*.*.*", None),
            ("1..2", None),
            ("256", None),
            ("", None),
            ("x", None),
        ] {
            let found = parse_mask(mask).map(|network| network.to_string());
            assert_eq!(found.as_deref(), network, "{mask}");
        }
    }

    #[test]
    fn guids_are_told_from_names() {
        let guid = "0123456789ABCDEF0123456789abcdef";
        assert_eq!(Subject::recognized(guid), Some(Subject::Guid(guid.to_ascii_lowercase())));
        assert_eq!(Subject::recognized("Sarge"), None);
        assert!(matches!(Subject::recognized("::1"), Some(Subject::Network(_))));
        for text in ["", "short", "with space in it", &"0".repeat(65)] {
            assert_eq!(Subject::guid(text), Err(SubjectError::Guid), "{text}");
        }
    }
}
