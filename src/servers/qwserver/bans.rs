//! Bans: addresses and networks that are refused, or that alone are admitted.
//!
//! Source: QuakeWorld protocol 28, commands `addip`, `removeip`, `listip`, `filterban`.

use std::{fmt, net::IpAddr};

use crate::bans::{BanList, Client, Draft, EntryKind, Subject, parse_mask};

/// Addresses with the same leading bits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Mask(Subject);

impl Mask {
    /// Reads an address, a network such as `10.0.0.0/8`, or the first numbers of an address such as `192.168`.
    pub(super) fn parse(text: &str) -> Option<Self> {
        // Zeros at the end of an IPv4 address match everything, as in other servers.
        let whole = match text.parse::<IpAddr>().map(|address| address.to_canonical()) {
            Ok(IpAddr::V4(ip)) => format!("{ip}/{}", 32 - ip.to_bits().trailing_zeros() / 8 * 8),
            Ok(IpAddr::V6(_)) | Err(_) => text.trim_end_matches('.').to_owned(),
        };
        let network = parse_mask(&whole).filter(|_| !text.starts_with('*'))?;
        Some(Self(Subject::Network(network)))
    }
}

impl fmt::Display for Mask {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// List of masks.
#[derive(Clone, Debug, Default)]
pub(super) struct Bans(BanList);

impl Bans {
    /// Adds a mask. Returns whether there was room.
    pub(super) fn add(&mut self, mask: Mask) -> bool {
        let (reason, author) = (String::new(), String::new());
        let (kind, subject) = (EntryKind::Ban, mask.0);
        self.0.add(Draft { kind, subject, reason, author, made: 0, expires: None }).is_ok()
    }

    /// Removes a mask. Returns whether it was there.
    pub(super) fn remove(&mut self, mask: &Mask) -> bool {
        let id = self.0.id_of(EntryKind::Ban, &mask.0);
        id.and_then(|id| self.0.remove(id)).is_some()
    }

    /// Masks, oldest first.
    pub(super) fn all(&self) -> impl Iterator<Item = &Subject> {
        self.0.of_kind(EntryKind::Ban).map(|(_, content)| &content.subject)
    }

    /// Whether an address is refused. With `is_filter` the masks are refused, else only they are admitted.
    pub(super) fn is_banned(&self, address: IpAddr, is_filter: bool) -> bool {
        // No mask ends, so that the time does not matter.
        self.0.ban_of(Client::at(address), 0).is_some() == is_filter
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn masks_match_addresses_and_networks() {
        for (mask, address, is_banned) in [
            ("192.0.2.7", "192.0.2.7", true),
            ("192.0.2.7", "192.0.2.8", false),
            ("192.0.2", "192.0.2.9", true),
            ("192.0.*", "192.0.9.9", true),
            ("192.0.2.0", "192.0.2.200", true),
            ("10.0.0.0/8", "10.9.9.9", true),
            ("0.0.0.0/0", "10.9.9.9", true),
            ("2001:db8::/32", "2001:db8::1", true),
            ("2001:db8::/32", "2001:db9::1", false),
            ("2001:db8::1", "10.0.0.1", false),
        ] {
            let mut bans = Bans::default();
            assert!(bans.add(Mask::parse(mask).expect(mask)), "{mask}");
            let address: IpAddr = address.parse().unwrap();
            assert_eq!(bans.is_banned(address, true), is_banned, "{mask} {address}");
            assert_eq!(bans.is_banned(address, false), !is_banned, "{mask} {address}");
            assert!(bans.remove(&Mask::parse(mask).unwrap()));
            assert!(!bans.is_banned(address, true));
        }
    }

    #[test]
    fn invalid_masks_are_rejected() {
        for text in ["", "*", "a", "1.2.3.4.5", "256.1", "1.2.3.4/33", "::/129", "1..2"] {
            assert_eq!(Mask::parse(text), None, "{text}");
        }
    }
}
