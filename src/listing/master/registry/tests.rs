//! Registry tests: limits, lists, expiry, agreement with a simple model.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;

use super::*;
use crate::node::LocalPort;

fn registry(servers: usize, per_host: usize) -> Registry {
    Registry::new(Limits { servers, per_host }, HashKey::new([5; 16]), Millis(0))
}

fn address(host: u8, port: u16) -> SocketAddr {
    ([10, 0, 0, host], port).into()
}

fn announcement(source: SocketAddr, name: &str, protocol: i32) -> Announcement<'_> {
    Announcement {
        source,
        public: source,
        local: LocalPort(0),
        local_ip: None,
        tag: Tag(0),
        is_anonymous: true,
        list: ListKey { family: Family::Quake3, name: name.as_bytes(), protocol },
    }
}

fn announce(
    registry: &mut Registry,
    announced: Announcement<'_>,
    until: u64,
) -> Result<Slot, NotListed> {
    registry.announce(announced, Description::default(), Millis(until), Millis::NEVER)
}

fn expire(registry: &mut Registry, now: u64) -> Vec<SocketAddr> {
    std::iter::from_fn(|| registry.poll_due(Millis(now), Millis(1)))
        .filter_map(|due| match due {
            Due::Expired(source) => Some(source),
            Due::Probe(..) | Due::Nothing => None,
        })
        .collect()
}

#[test]
fn server_moves_between_lists_and_expires() {
    let mut registry = registry(10, 0);
    let key = |protocol| ListKey { family: Family::Quake3, name: b"a", protocol };
    for port in 1..=3 {
        announce(&mut registry, announcement(address(1, port), "a", 68), 5000).unwrap();
    }
    announce(&mut registry, announcement(address(1, 1), "a", 71), 9000).unwrap();
    assert_eq!(registry.len(), 3);
    assert_eq!(registry.list(key(68)).map(|list| list.members.len()), Some(2));
    assert_eq!(registry.list(key(71)).map(|list| list.members.len()), Some(1));
    assert!(registry.list(ListKey { family: Family::Quake4, ..key(68) }).is_none());
    assert!(expire(&mut registry, 4999).is_empty());
    assert_eq!(expire(&mut registry, 6000).len(), 2);
    assert!(registry.list(key(68)).is_none(), "an empty list is removed");
    assert_eq!(expire(&mut registry, 20_000), [address(1, 1)]);
    assert_eq!((registry.len(), registry.lists.iter().flatten().count()), (0, 0));
}

#[test]
fn limits_refuse_new_servers_only() {
    let mut registry = registry(3, 2);
    for port in 1..=2 {
        announce(&mut registry, announcement(address(1, port), "a", 68), 5000).unwrap();
    }
    let third = announce(&mut registry, announcement(address(1, 3), "a", 68), 5000);
    assert_eq!(third, Err(NotListed::HostFull));
    announce(&mut registry, announcement(address(2, 1), "a", 68), 5000).unwrap();
    let fourth = announce(&mut registry, announcement(address(3, 1), "a", 68), 5000);
    assert_eq!(fourth, Err(NotListed::Full));
    announce(&mut registry, announcement(address(1, 2), "a", 68), 9000).unwrap();
    assert_eq!(registry.check_room(address(9, 9).ip(), Family::Quake3, 0, 0), Err(NotListed::Full));
}

#[test]
fn public_address_is_listed_once() {
    let mut registry = registry(10, 0);
    let public = address(200, 7);
    let mapped = Announcement { public, ..announcement(address(1, 7), "a", 68) };
    announce(&mut registry, mapped, 5000).unwrap();
    announce(&mut registry, mapped, 6000).unwrap();
    let direct = announcement(public, "a", 68);
    assert_eq!(announce(&mut registry, direct, 5000), Err(NotListed::AddressTaken));
    expire(&mut registry, 10_000);
    announce(&mut registry, direct, 15_000).unwrap();
    assert_eq!(announce(&mut registry, mapped, 15_000), Err(NotListed::AddressTaken));
}

#[test]
fn probes_repeat_until_expiry() {
    let mut registry = registry(10, 0);
    let announced = announcement(address(1, 1), "et", 84);
    registry.announce(announced, Description::default(), Millis(10_000), Millis(2000)).unwrap();
    let mut probes = Vec::new();
    for now in (0..20_000).step_by(500) {
        while let Some(due) = registry.poll_due(Millis(now), Millis(3000)) {
            match due {
                Due::Probe(..) => probes.push(now),
                Due::Expired(_) => assert!((10_000..=11_000).contains(&now)),
                Due::Nothing => {}
            }
        }
    }
    assert_eq!(probes, [2000, 5000, 8000]);
    assert_eq!(registry.len(), 0);
}

proptest! {
    #[test]
    fn registry_agrees_with_a_simple_model(
        steps in prop::collection::vec((0u8..4, 0u16..6, 0u8..3, 66i32..69, 1u64..9000), 1..200)
    ) {
        let mut registry = registry(15, 5);
        let mut model: BTreeMap<SocketAddr, (String, i32, u64)> = BTreeMap::new();
        let mut now = 0;
        for (host, port, name, protocol, life) in steps {
            now += life / 4;
            for source in expire(&mut registry, now) {
                let gone = model.remove(&source);
                prop_assert!(gone.is_some_and(|(.., until)| until <= now));
            }
            // The wheel is late by less than a tick.
            prop_assert!(model.values().all(|(.., until)| until + 1000 > now));
            let (source, name) = (address(host, port + 1), format!("game{name}"));
            // A life is prolonged, never cut.
            let until = model.get(&source).map_or(0, |known| known.2).max(now + life);
            let result = announce(&mut registry, announcement(source, &name, protocol), until);
            let of_host = model.keys().filter(|known| known.ip() == source.ip()).count();
            let fits = model.contains_key(&source) || model.len() < 15 && of_host < 5;
            prop_assert_eq!(result.is_ok(), fits);
            if fits {
                model.insert(source, (name, protocol, until));
            }
            prop_assert_eq!(registry.len(), model.len());
            prop_assert_eq!(registry.len_of(Family::Quake3), model.len());
            let listed: BTreeSet<_> = registry.iter().map(|(server, list)| {
                (server.source, list.name.to_string(), list.protocol)
            }).collect();
            let expected: BTreeSet<_> = model.iter().map(|(source, (name, protocol, _))| {
                (*source, name.clone(), *protocol)
            }).collect();
            prop_assert_eq!(listed, expected);
            for list in registry.lists.iter().flatten() {
                prop_assert_eq!(list.anonymous as usize, list.members.len());
                for (place, slot) in list.members.iter().enumerate() {
                    prop_assert_eq!(registry.get(*slot).map(|server| server.place as usize), Some(place));
                }
            }
        }
    }
}

/// The announcement of a server with an IPv6 address in 2001:db8::/32.
fn ipv6(network: u16, subnet: u16, port: u16) -> Announcement<'static> {
    let ip = std::net::Ipv6Addr::new(0x2001, 0xdb8, network, subnet, 0, 0, 0, 1);
    announcement((ip, port).into(), "a", 68)
}

#[test]
fn c40_one_ipv6_line_gets_a_multiple_of_a_host() {
    let mut registry = registry(4096, 32);
    let mut listed = [0; 2];
    for subnet in 0..512 {
        for port in 1..=33 {
            let of_line = ipv6(0, subnet % 256, port + subnet / 256 * 100);
            listed[0] += usize::from(announce(&mut registry, of_line, 5000).is_ok());
            let of_network = ipv6(1, subnet * 128, port);
            listed[1] += usize::from(announce(&mut registry, of_network, 5000).is_ok());
        }
    }
    assert_eq!(listed, [64, 128], "of a /56 and of a /48");
    assert_eq!(announce(&mut registry, ipv6(0, 9, 7000), 5000), Err(NotListed::NetworkFull));
    announce(&mut registry, ipv6(2, 0, 1), 5000).expect("another network");
    announce(&mut registry, announcement(address(1, 1), "a", 68), 5000).expect("IPv4");
}

#[test]
fn c40_ipv6_leaves_a_quarter_of_places_to_ipv4() {
    let mut registry = registry(64, 0);
    let of_ipv6 =
        (0..100).filter(|&network| announce(&mut registry, ipv6(network, 0, 1), 5000).is_ok());
    assert_eq!(of_ipv6.count(), 48);
    let of_ipv4 = (0..16).filter(|&host| {
        announce(&mut registry, announcement(address(host, 1), "a", 68), 5000).is_ok()
    });
    assert_eq!((of_ipv4.count(), registry.len()), (16, 64));
}

#[test]
fn c40_largest_network_gives_way_on_a_full_list() {
    let mut registry = registry(64, 0);
    for number in 0..62 {
        announce(&mut registry, announcement(address(1, number + 1), "a", 68), 800_000).unwrap();
    }
    let far = |n: u8| announcement(([10, n, 1, 1], 1).into(), "a", 68);
    let news = (1..=60).filter(|&n| announce(&mut registry, far(n), 5000).is_ok()).count();
    assert_eq!((news, registry.len(), registry.displaced()), (60, 64, 58));
    assert!(registry.find(address(1, 1)).is_some(), "the oldest of the network stays");
    assert!(registry.find(address(1, 62)).is_none(), "the newest goes first");
    let last: Vec<_> = (70..80).map(|n| announce(&mut registry, far(n), 5000).is_ok()).collect();
    assert_eq!(last.iter().filter(|one| **one).count(), 3, "down to one server: {last:?}");
    // Timers of displaced servers end no other server.
    assert_eq!(expire(&mut registry, 6000).len(), 63);
    assert_eq!(expire(&mut registry, 801_000).len(), 1);
    assert_eq!((registry.len(), registry.free.len()), (0, 64));
}

#[test]
fn c40_unproven_servers_displace_and_change_no_other() {
    let mut registry = registry(8, 4);
    let quakeworld = |source| {
        let list = ListKey { family: Family::QuakeWorld, name: b"qw", protocol: 0 };
        Announcement { list, ..announcement(source, "", 0) }
    };
    for port in 1..=4 {
        announce(&mut registry, quakeworld(address(1, port)), 5000).unwrap();
    }
    // Forged servers of a host take none of its places, and prove nothing.
    assert!(!registry.has_host(address(1, 1).ip()));
    for port in 11..=14 {
        announce(&mut registry, announcement(address(1, port), "a", 68), 5000).unwrap();
    }
    let forged = announce(&mut registry, quakeworld(address(1, 11)), 5000);
    assert_eq!(forged, Err(NotListed::AddressTaken), "of a proven server");
    let far = SocketAddr::from(([10, 9, 9, 9], 1));
    assert_eq!(announce(&mut registry, quakeworld(far), 5000), Err(NotListed::Full));
    announce(&mut registry, announcement(far, "a", 68), 5000).expect("a place of the largest");
    let proves = announce(&mut registry, announcement(address(1, 1), "a", 68), 5000);
    proves.expect("one of the host gave way");
    assert_eq!(registry.len(), 8);
}
