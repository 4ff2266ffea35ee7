//! Registry tests: limits, lists, expiry, agreement with a simple model.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;

use super::*;

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
    assert_eq!(registry.check_room(address(9, 9).ip(), 0, 0), Err(NotListed::Full));
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
