//! Budgets and places of unproven addresses, in floods of forged sources and of whole IPv6 networks.

use std::net::{Ipv6Addr, SocketAddr};

use fragd::observe::Counter;

use super::{AttackFixture, anyone, raw_client::RawClient};

/// An address in 2001:db8::/32.
fn ipv6(network: u16, subnet: u16, port: u16) -> SocketAddr {
    SocketAddr::new(Ipv6Addr::new(0x2001, 0xdb8, network, subnet, 0, 0, 0, 1).into(), port)
}

#[test]
fn c38_browser_retry_is_answered_during_query_flood() {
    for mut fixture in AttackFixture::each(&[]) {
        let (mut forged, mut bytes, mut answered) = (0, 0, Vec::new());
        for step in 0..1500u32 {
            // 300 queries a second, each from another source.
            for number in 0..3 {
                let answers = fixture.ask(anyone(step * 3 + number), "getstatus");
                bytes += answers.iter().map(String::len).sum::<usize>();
                forged += answers.len();
            }
            if step >= 300 && step % 150 == 0 {
                answered.push(!fixture.ask(([203, 0, 113, 77], 5).into(), "getstatus").is_empty());
            }
            fixture.run_for(10);
        }
        assert!(answered[1..].iter().all(|one| *one), "{answered:?} beside {forged} forged ones");
        assert!(bytes <= (15 + 3) * 50_000, "{bytes} bytes");
        assert!(fixture.count(Counter::QueriesLimited) > 1000);
        fixture.check();
    }
}

#[test]
fn c43_one_ipv6_line_leaves_places_to_other_viewers() {
    let relay = AttackFixture::each(&[("sv_maxclients", "24"), ("sv_maxclientsPerIP", "8")]);
    for mut fixture in relay.filter(|fixture| fixture.relay().is_some()) {
        let mut let_in = 0;
        for second in 0..60u16 {
            let from = ipv6(0, second % 16, 1000 + second);
            if let Ok(mut silent) = RawClient::knock(&mut fixture, from, second) {
                silent.idle(&mut fixture);
                let_in += 1;
            }
            fixture.run_for(1000);
        }
        assert_eq!((let_in, fixture.clients()), (12, 15), "half of the places for one network");
        // Silent viewers of many networks give way to a viewer of another one.
        for number in 0..40u16 {
            let from = ipv6(1 + number / 8, number, 2000 + number);
            if let Ok(mut silent) = RawClient::knock(&mut fixture, from, 500 + number) {
                silent.idle(&mut fixture);
            }
            fixture.run_for(200);
        }
        assert_eq!(fixture.clients(), 24, "full");
        fixture.run_for(3000);
        let displaced = fixture.count(Counter::ClientsDisplaced);
        for number in 0..3u16 {
            let from = ([203, 0, 113, 9], 7000 + number).into();
            RawClient::knock(&mut fixture, from, 900 + number).expect("a place");
        }
        assert!(fixture.count(Counter::ClientsDisplaced) >= displaced + 3);
        fixture.check();
    }
}

/// A school has one IPv6 /48, and a network for each room.
#[test]
fn school_of_one_ipv6_network_plays_and_browses() {
    let server = AttackFixture::new(&[("sv_maxclients", "40"), ("sv_maxclientsPerSubnet6", "32")]);
    let relay = AttackFixture::each(&[]).filter(|fixture| fixture.relay().is_some());
    for mut fixture in relay.chain([server]) {
        let before = fixture.clients();
        for pupil in 0..32u16 {
            let from = ipv6(9, pupil, 27_960);
            assert_eq!(fixture.ask(from, "getstatus").len(), 1, "pupil {pupil} browses");
            let mut tries = 0;
            let mut player = loop {
                match RawClient::knock(&mut fixture, from, 100 + pupil) {
                    Ok(player) => break player,
                    Err(reason) => assert!(tries < 20, "pupil {pupil}: {reason}"),
                }
                tries += 1;
                fixture.run_for(3000);
            };
            player.enter(&mut fixture);
        }
        assert_eq!(fixture.clients(), before + 32);
        fixture.check();
    }
}
