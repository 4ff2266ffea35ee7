//! Places of unproven addresses: the choice of the holder that gives way to a new one.
//!
//! The holder is one of the network with the most places, then of the site and of the host with the most. A holder that
//! has a right to its place gives way only if the side of the new holder stays smaller, so two networks do not displace each other
//! in turns.

use std::{cmp::Reverse, collections::HashMap, net::IpAddr};

use super::AddressKey;

/// Keys of an address, the widest first.
fn keys(ip: IpAddr) -> [AddressKey; 3] {
    [AddressKey::network(ip), AddressKey::site(ip), AddressKey::host(ip)]
}

/// Returns the index of the holder that gives way to a new one, if any. Without a new one, one gives way in any
/// case.
///
/// Of equal holders the first in the list gives way. Takes time and memory for a list, so it is not for each datagram.
#[must_use]
pub fn crowded(
    newcomer: Option<IpAddr>,
    holders: impl Iterator<Item = IpAddr> + Clone,
) -> Option<usize> {
    // Only counts are read, so the order of the maps has no effect.
    let mut tables = [(); 3].map(|()| HashMap::<AddressKey, usize>::new());
    for ip in holders.clone() {
        for (table, key) in tables.iter_mut().zip(keys(ip)) {
            *table.entry(key).or_default() += 1;
        }
    }
    let count = |width: usize, key: AddressKey| tables[width].get(&key).copied().unwrap_or(0);
    let is_smaller = |theirs: &[AddressKey; 3]| {
        let Some(own) = newcomer.map(keys) else { return true };
        // The widest key that the two do not share decides.
        let width = (0..own.len()).find(|&width| theirs[width] != own[width]);
        width.is_some_and(|width| count(width, own[width]) + 1 < count(width, theirs[width]))
    };
    let places = holders.map(keys).enumerate().filter(|(_, theirs)| is_smaller(theirs));
    let size = |theirs: &[AddressKey; 3]| [0, 1, 2].map(|width| count(width, theirs[width]));
    places.min_by_key(|(at, theirs)| (Reverse(size(theirs)), *at)).map(|(at, _)| at)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn choice(newcomer: &str, holders: &[&str]) -> Option<usize> {
        let ip = |text: &str| text.parse::<IpAddr>().unwrap();
        crowded(Some(ip(newcomer)), holders.iter().map(|text| ip(text)))
    }

    #[test]
    fn oldest_holder_of_largest_network_gives_way() {
        let holders = ["192.0.2.1", "2001:db8:0:1::1", "2001:db8:0:2::1", "2001:db8:0:3::1"];
        assert_eq!(choice("198.51.100.1", &holders), Some(1));
        assert_eq!(choice("192.0.2.9", &holders), Some(1), "1 + 1 < 3");
        assert_eq!(choice("192.0.2.9", &holders[..3]), None, "both would have two");
        assert_eq!(choice("2001:db8:0:4::1", &holders), None, "its own network");
        assert_eq!(choice("198.51.100.1", &holders[..2]), None, "one each");
        assert_eq!(choice("198.51.100.1", &[]), None);
    }

    #[test]
    fn host_of_same_network_gives_way_by_its_share() {
        let school = ["2001:db8:0:1::1", "2001:db8:0:1::2", "2001:db8:0:1::3", "2001:db8:0:2::1"];
        assert_eq!(choice("2001:db8:0:3::2", &school), Some(0), "another host of the site");
        assert_eq!(choice("2001:db8:0:2::2", &school), Some(0), "two of five, and three");
        assert_eq!(choice("2001:db8:0:2::2", &school[1..]), None, "two each");
        assert_eq!(choice("2001:db8:0:1::9", &school), None, "the same host");
    }

    #[test]
    fn two_networks_end_with_equal_shares() {
        let mut holders: Vec<IpAddr> = (0..16).map(|n| IpAddr::from([192, 0, 2, n])).collect();
        for n in 0..100 {
            let newcomer = IpAddr::from([198, 51, 100, n]);
            if let Some(at) = crowded(Some(newcomer), holders.iter().copied()) {
                holders.remove(at);
                holders.push(newcomer);
            }
        }
        let news = holders.iter().filter(|ip| ip.to_string().starts_with("198")).count();
        assert_eq!(news, 8, "half of the places");
    }
}
