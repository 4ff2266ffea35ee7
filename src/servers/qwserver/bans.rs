//! Bans: addresses and networks that are refused, or that alone are admitted.
//!
//! Source: QuakeWorld protocol 28, commands `addip`, `removeip`, `listip`, `filterban`.

use std::{
    fmt,
    net::{IpAddr, Ipv4Addr},
};

/// Maximum number of masks.
const MAX_BANS: usize = 1024;

/// Addresses with the same leading bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Mask {
    address: IpAddr,
    bits: u8,
}

impl Mask {
    /// Reads an address, a network such as `10.0.0.0/8`, or the first numbers of an address such as `192.168`.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let (address, bits) = match text.split_once('/') {
            Some((address, bits)) => (address, Some(bits.parse::<u8>().ok()?)),
            None => (text, None),
        };
        if let Ok(address) = address.parse::<IpAddr>() {
            let address = address.to_canonical();
            let width = if address.is_ipv4() { 32 } else { 128 };
            // Zeros at the end of an IPv4 address match everything, as in other servers.
            let zeros = match address {
                IpAddr::V4(ip) => ip.to_bits().trailing_zeros() / 8 * 8,
                IpAddr::V6(_) => 0,
            };
            let bits = bits.unwrap_or(width - zeros as u8);
            return (bits <= width).then_some(Self { address, bits });
        }
        let mut octets = [0; 4];
        let mut count = 0;
        for part in address.trim_end_matches('.').split('.').take_while(|part| *part != "*") {
            *octets.get_mut(count)? = part.parse().ok()?;
            count += 1;
        }
        let whole = bits.is_none() && (1..4).contains(&count);
        whole.then(|| Self { address: Ipv4Addr::from(octets).into(), bits: count as u8 * 8 })
    }

    fn matches(&self, address: IpAddr) -> bool {
        match (self.address, address) {
            (IpAddr::V4(mask), IpAddr::V4(ip)) => {
                let shift = 32 - u32::from(self.bits);
                (mask.to_bits() ^ ip.to_bits()).checked_shr(shift).unwrap_or(0) == 0
            }
            (IpAddr::V6(mask), IpAddr::V6(ip)) => {
                let shift = 128 - u32::from(self.bits);
                (mask.to_bits() ^ ip.to_bits()).checked_shr(shift).unwrap_or(0) == 0
            }
            _ => false,
        }
    }
}

impl fmt::Display for Mask {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.address, self.bits)
    }
}

/// List of masks.
#[derive(Clone, Debug, Default)]
pub(super) struct Bans(Vec<Mask>);

impl Bans {
    /// Adds a mask. Returns whether there was room.
    pub(super) fn add(&mut self, mask: Mask) -> bool {
        if self.0.contains(&mask) {
            return true;
        }
        let has_room = self.0.len() < MAX_BANS;
        if has_room {
            self.0.push(mask);
        }
        has_room
    }

    /// Removes a mask. Returns whether it was there.
    pub(super) fn remove(&mut self, mask: Mask) -> bool {
        let len = self.0.len();
        self.0.retain(|one| *one != mask);
        self.0.len() != len
    }

    /// Masks, oldest first.
    pub(super) fn all(&self) -> &[Mask] {
        &self.0
    }

    /// Whether an address is refused. With `is_filter` the masks are refused, else only they are admitted.
    pub(super) fn is_banned(&self, address: IpAddr, is_filter: bool) -> bool {
        if self.0.is_empty() && is_filter {
            return false;
        }
        self.0.iter().any(|mask| mask.matches(address)) == is_filter
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
            assert!(bans.remove(Mask::parse(mask).unwrap()));
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
