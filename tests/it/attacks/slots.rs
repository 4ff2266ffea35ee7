//! Slot exhaustion by clients that do not play, and slot theft from clients that do.

use std::net::{Ipv6Addr, SocketAddr};

use fragd::{observe::Counter, wire::client_message};

use super::{AttackFixture, raw_client::RawClient};

/// An address of the attacker.
fn far(port: u16) -> SocketAddr {
    ([198, 51, 100, 1], port).into()
}

/// An address other than the attacker's.
const HONEST: SocketAddr =
    SocketAddr::new(std::net::IpAddr::V4(std::net::Ipv4Addr::new(203, 0, 113, 9)), 27_960);

/// Connects under a name at a client's interval until accepted, and returns the number of tries.
fn tries_to_rejoin(fixture: &mut AttackFixture, from: SocketAddr, qport: u16, name: &str) -> u32 {
    for tries in 1..=5 {
        if let Ok(mut client) = RawClient::knock_as(fixture, from, qport, name) {
            let head = client.head();
            client.send(fixture, &head, client_message::end);
            return tries;
        }
        fixture.run_for(3000);
    }
    panic!("{from} stays outside");
}

/// Disconnects with the right server id as soon as a gamestate is on its way.
fn leave_at_once(
    fixture: &mut AttackFixture,
    attacker: &mut RawClient,
    level: fragd::model::ServerId,
) {
    attacker.idle(fixture);
    attacker.server_id = level;
    attacker.say(fixture, "disconnect");
}

#[test]
fn c33_zombies_of_one_address_count_for_its_limit() {
    for mut fixture in AttackFixture::each(&[("sv_maxclients", "8"), ("sv_maxclientsPerIP", "3")]) {
        let level = RawClient::join(&mut fixture, HONEST, 1).server_id;
        for port in 0..8 {
            if let Ok(mut attacker) = RawClient::knock(&mut fixture, far(1000 + port), 100 + port) {
                leave_at_once(&mut fixture, &mut attacker, level);
            }
        }
        let other = ([203, 0, 113, 10], 5).into();
        assert_eq!(RawClient::knock(&mut fixture, other, 7).map(|_| ()), Ok(()), "there is room");
        fixture.check();
    }
}

#[test]
fn c33_connect_disconnect_cycles_do_not_block_joins() {
    for mut fixture in AttackFixture::each(&[("sv_maxclients", "8"), ("sv_maxclientsPerIP", "0")]) {
        let level = RawClient::join(&mut fixture, HONEST, 1).server_id;
        let accepted = fixture.count(Counter::ConnectsAccepted);
        for round in 0..1000u16 {
            if let Ok(mut attacker) = RawClient::knock(&mut fixture, far(1000 + round), 100 + round)
            {
                leave_at_once(&mut fixture, &mut attacker, level);
            }
            fixture.run_for(10);
            if round % 100 == 99 {
                let other = ([203, 0, 113, 10 + (round / 100) as u8], 5).into();
                let mut newcomer =
                    RawClient::knock(&mut fixture, other, 7).expect("let in at once");
                leave_at_once(&mut fixture, &mut newcomer, level);
            }
        }
        // Three for each slot at once, and one a second.
        let accepted = fixture.count(Counter::ConnectsAccepted) - accepted - 10;
        assert!((20..=8 * 3 + 12).contains(&accepted), "{accepted} in ten seconds");
        fixture.check();
    }
}

#[test]
fn c34_clients_of_one_ipv6_network_leave_slots_to_others() {
    for mut fixture in AttackFixture::each(&[("sv_maxclients", "16"), ("sv_maxclientsPerIP", "2")])
    {
        let mut let_in = 0;
        for subnet in 0..64u16 {
            let ip = Ipv6Addr::new(0x2001, 0xdb8, 0, subnet, 0, 0, 0, 1);
            for port in 0..3 {
                let from = SocketAddr::new(ip.into(), 1000 + port);
                let_in +=
                    u32::from(RawClient::knock(&mut fixture, from, subnet * 8 + port).is_ok());
            }
            fixture.run_for(50);
        }
        assert_eq!(let_in, 8);
        let other = SocketAddr::new(Ipv6Addr::new(0x2001, 0xdb8, 1, 0, 0, 0, 0, 1).into(), 9);
        assert!(RawClient::knock(&mut fixture, other, 7).is_ok());
        assert!(RawClient::knock(&mut fixture, far(5), 8).is_ok());
        fixture.check();
    }
}

#[test]
fn c36_active_client_is_not_replaced_from_its_address() {
    // Only a server limits pings.
    let timed = AttackFixture::new(&[("sv_maxPing", "500")]);
    for mut fixture in AttackFixture::each(&[]).chain([timed]) {
        for victim in 0..3 {
            // As if the challenge had been guessed.
            let from = fixture.address_of(victim);
            let refused = RawClient::knock(&mut fixture, from, 9999).map(|_| ()).unwrap_err();
            assert_eq!(refused, "print\nReconnecting, please wait 1 second.\n");
        }
        fixture.run_for(1000);
        fixture.check();
    }
}

#[test]
fn c37_restarted_client_rejoins_full_server_within_five_seconds() {
    for mut fixture in AttackFixture::each(&[("sv_maxclients", "5")]) {
        let _other = RawClient::join(&mut fixture, HONEST, 1);
        let mut killed = RawClient::join(&mut fixture, far(1000), 77);
        killed.live(&mut fixture, 1000);
        // Another port and another qport, but the same name, which the attacker takes from its qport.
        fixture.run_for(500);
        let before = fixture.now();
        let tries = tries_to_rejoin(&mut fixture, far(2000), 78, "attacker77");
        let took = fixture.now().since(before).0 + 500;
        assert!(took <= 5000 && tries <= 2, "{took} ms, {tries} tries");
        let status = fixture.ask(([192, 0, 2, 252], 5).into(), "getstatus").concat();
        assert_eq!(status.matches("\"attacker77\"").count(), 1, "{status}");
        fixture.check();
    }
}

#[test]
fn c37_crashed_client_is_dropped_five_seconds_after_rejoin() {
    // The qport stays, or else the name.
    for qport in [77, 78] {
        for mut fixture in AttackFixture::each(&[]) {
            let mut killed = RawClient::join(&mut fixture, far(1000), 77);
            killed.live(&mut fixture, 500);
            let mut again =
                RawClient::knock_as(&mut fixture, far(2000), qport, "attacker77").expect("let in");
            again.enter(&mut fixture);
            let named = |fixture: &mut AttackFixture| {
                let status = fixture.ask(([192, 0, 2, 252], 5).into(), "getstatus").concat();
                status.matches("\"attacker77\"").count()
            };
            assert_eq!(named(&mut fixture), 2, "the old one is not silent for long yet");
            again.live(&mut fixture, 5500);
            assert_eq!(named(&mut fixture), 1);
            // A relay announces no viewer.
            let is_announced = again.heard.iter().any(|line| line.contains("reconnected"));
            assert_eq!(is_announced, fixture.relay().is_none());
            fixture.check();
        }
    }
}

#[test]
fn c37_active_or_loading_client_of_same_name_stays() {
    for mut fixture in AttackFixture::each(&[]) {
        let mut first = RawClient::knock_as(&mut fixture, far(1000), 77, "player").expect("let in");
        first.enter(&mut fixture);
        // Loads for longer than a ghost is kept.
        let mut loading =
            RawClient::knock_as(&mut fixture, far(1001), 78, "player").expect("let in");
        loading.idle(&mut fixture);
        let mut last = RawClient::knock_as(&mut fixture, far(1002), 79, "player").expect("let in");
        last.enter(&mut fixture);
        for _ in 0..140 {
            fixture.run_for(50);
            for client in [&mut first, &mut last] {
                client.read(&mut fixture);
                client.step(&mut fixture);
            }
        }
        let status = fixture.ask(([192, 0, 2, 252], 5).into(), "getstatus").concat();
        assert_eq!(status.matches("\"player\"").count(), 3, "{status}");
        fixture.check();
    }
}

const GUID: &str = "0123456789ABCDEF0123456789ABCDEF";
const OTHER_GUID: &str = "0123456789ABCDEF0123456789ABCDE0";

/// Joins with a guid; none if it is empty.
fn knock_with_guid(
    fixture: &mut AttackFixture,
    from: SocketAddr,
    qport: u16,
    guid: &str,
) -> Result<RawClient, String> {
    let pairs = [("name", "Kim"), ("cl_guid", guid)];
    let pairs = if guid.is_empty() { &pairs[..1] } else { &pairs[..] };
    RawClient::knock_with(fixture, from, qport, pairs)
}

/// Number of players of that name in the status.
fn kims(fixture: &mut AttackFixture) -> usize {
    let status = fixture.ask(([192, 0, 2, 252], 5).into(), "getstatus").concat();
    status.matches("\"Kim\"").count()
}

#[test]
fn crashed_player_takes_its_place_by_guid() {
    // The address is at its limit; there is room; the server is full.
    let limits = [("sv_maxclientsPerIP", "1"), ("sv_maxclientsPerIP", "3"), ("sv_maxclients", "4")];
    for limit in limits {
        for mut fixture in AttackFixture::each(&[limit]) {
            let mut killed = knock_with_guid(&mut fixture, far(1000), 77, GUID).expect("let in");
            killed.enter(&mut fixture);
            killed.live(&mut fixture, 3000);
            fixture.run_for(2900);
            let early = knock_with_guid(&mut fixture, far(2000), 78, GUID).map(|_| ());
            let is_limited = limit.1 != "3";
            assert_eq!(early.is_err(), is_limited, "{limit:?}: silent for less than three seconds");
            if !is_limited {
                continue;
            }
            fixture.run_for(200);
            let again = knock_with_guid(&mut fixture, far(2001), 79, &GUID.to_lowercase());
            assert!(again.is_ok(), "{limit:?}: {:?}", again.err());
            assert_eq!(kims(&mut fixture), 1, "{limit:?}");
            fixture.check();
        }
    }
}

#[test]
fn crashed_player_with_room_left_has_one_place() {
    for mut fixture in AttackFixture::each(&[]) {
        let mut killed = knock_with_guid(&mut fixture, far(1000), 77, GUID).expect("let in");
        killed.enter(&mut fixture);
        fixture.run_for(3100);
        let mut again = knock_with_guid(&mut fixture, far(2000), 78, GUID).expect("let in");
        assert_eq!(kims(&mut fixture), 1);
        // The place is new: a third connection waits for the limit of reconnects, and for three seconds of silence.
        again.enter(&mut fixture);
        fixture.run_for(1500);
        let third = knock_with_guid(&mut fixture, far(3000), 79, GUID);
        assert!(third.is_ok());
        assert_eq!(kims(&mut fixture), 2, "the second is not silent for three seconds");
        fixture.check();
    }
}

#[test]
fn silent_player_keeps_its_place_against_others() {
    let zeros = "0".repeat(32);
    let other_host: SocketAddr = ([198, 51, 100, 2], 1000).into();
    // Guid of the player, source and guid of the connect, and whether the player loads the level.
    let attempts = [
        (GUID, far(2000), OTHER_GUID, false),
        (GUID, far(2000), "", false),
        (GUID, far(2000), "0", false),
        (GUID, other_host, GUID, false),
        (GUID, far(2000), GUID, true),
        ("", far(2000), GUID, false),
        ("unknown", far(2000), "unknown", false),
        (&zeros, far(2000), &zeros, false),
    ];
    for full in [false, true] {
        for (own, from, guid, is_loading) in attempts {
            let slots = if full { "4" } else { "8" };
            for mut fixture in AttackFixture::each(&[("sv_maxclients", slots)]) {
                let mut silent = knock_with_guid(&mut fixture, far(1000), 77, own).expect("let in");
                if is_loading {
                    silent.idle(&mut fixture);
                } else {
                    silent.enter(&mut fixture);
                }
                fixture.run_for(10_000);
                let admitted = knock_with_guid(&mut fixture, from, 78, guid);
                let case = format!("{own:?} against {guid:?} from {from}, full: {full}");
                assert_eq!(admitted.is_err(), full, "{case}");
                assert_eq!(kims(&mut fixture), 1 + usize::from(!full), "{case}");
                fixture.check();
            }
        }
    }
}

#[test]
fn player_that_sends_keeps_its_place_against_its_guid() {
    for mut fixture in AttackFixture::each(&[("sv_maxclientsPerIP", "1")]) {
        let mut player = knock_with_guid(&mut fixture, far(1000), 77, GUID).expect("let in");
        player.enter(&mut fixture);
        for port in 0..20 {
            player.live(&mut fixture, 1000);
            let refused = knock_with_guid(&mut fixture, far(2000 + port), 100 + port, GUID);
            assert!(refused.is_err());
            assert_eq!(kims(&mut fixture), 1);
        }
        // The same qport, as a guess: another guid.
        fixture.run_for(10_000);
        assert!(knock_with_guid(&mut fixture, far(3000), 77, OTHER_GUID).is_err());
        fixture.check();
    }
}

#[test]
fn c12_connect_after_a_connect_waits() {
    for mut fixture in AttackFixture::each(&[]) {
        let mut first = RawClient::knock(&mut fixture, far(1000), 77).expect("let in");
        first.idle(&mut fixture);
        let again = RawClient::knock(&mut fixture, far(1000), 77).map(|_| ()).unwrap_err();
        assert!(again.starts_with("print\nReconnecting, please wait "), "{again}");
        fixture.run_for(3000);
        assert!(RawClient::knock(&mut fixture, far(1000), 77).is_ok());
        assert_eq!(fixture.count(Counter::ConnectsAccepted), 5, "three players, and it twice");
        fixture.check();
    }
}

#[test]
fn m43_client_that_never_enters_loses_its_slot() {
    for mut fixture in AttackFixture::each(&[]) {
        let mut loading = RawClient::knock(&mut fixture, far(1000), 77).expect("let in");
        let mut seconds = 0;
        while loading.is_in(&mut fixture) {
            assert!(seconds < 300, "it holds its slot");
            seconds += 1;
            loading.idle(&mut fixture);
            fixture.run_for(900);
            loading.read(&mut fixture);
        }
        assert!(seconds >= 100, "{seconds} s are enough to load a level");
        fixture.check();
    }
}

#[test]
fn m44_late_message_of_an_earlier_connection_is_ignored() {
    for mut fixture in AttackFixture::each(&[]) {
        let mut earlier = RawClient::join(&mut fixture, far(1000), 77);
        let late: Vec<_> = (0..8)
            .map(|_| {
                let head = earlier.head();
                earlier.datagram(&head, client_message::end)
            })
            .collect();
        earlier.say(&mut fixture, "disconnect");
        fixture.run_for(3500);
        let mut again = RawClient::join(&mut fixture, far(1000), 77);
        assert_ne!(again.challenge, earlier.challenge);
        let malformed = fixture.count(Counter::MalformedPacket);
        for datagram in &late {
            assert!(fixture.send(far(1000), datagram).is_empty());
        }
        assert_eq!(fixture.count(Counter::MalformedPacket), malformed + 8);
        again.live(&mut fixture, 500);
        assert!(again.is_in(&mut fixture));
        fixture.check();
    }
}

#[test]
fn m28_download_rejections_are_limited_and_keep_rate() {
    let mut fixture = AttackFixture::new(&[]);
    let mut slow = RawClient::knock(&mut fixture, far(1000), 77).expect("let in");
    slow.enter_loading(&mut fixture, 3000);
    let bytes = slow.bytes_in;
    for _ in 0..100 {
        slow.say_all(&mut fixture, &["download a"; 60]);
        fixture.run_for(20);
        slow.read(&mut fixture);
    }
    // Four at once and one a second; and an idle snapshot a second.
    assert!((1..=7).contains(&slow.refusals), "{} in two seconds", slow.refusals);
    assert!(slow.bytes_in - bytes < 2 * 3000, "{} bytes", slow.bytes_in - bytes);
    let mut playing = RawClient::join(&mut fixture, far(1001), 78);
    playing.say_all(&mut fixture, &["download a"; 60]);
    playing.live(&mut fixture, 1000);
    assert_eq!(playing.refusals, 0, "a client in the game has its files");
    assert!(playing.is_in(&mut fixture));
    fixture.check();
}
