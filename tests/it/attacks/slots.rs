//! Slots held by clients that do not play, and slots taken from clients that do.

use std::net::{Ipv6Addr, SocketAddr};

use fragd::{observe::Counter, wire::client_message};

use super::{Scene, rogue::Rogue};

/// An address of the attacker.
fn far(port: u16) -> SocketAddr {
    ([198, 51, 100, 1], port).into()
}

/// An address that is no attacker's.
const HONEST: SocketAddr =
    SocketAddr::new(std::net::IpAddr::V4(std::net::Ipv4Addr::new(203, 0, 113, 9)), 27_960);

/// Connects by a name as often as a client does, until it is let in, and returns the tries.
fn tries_to_rejoin(scene: &mut Scene, from: SocketAddr, qport: u16, name: &str) -> u32 {
    for tries in 1..=5 {
        if let Ok(mut client) = Rogue::knock_as(scene, from, qport, name) {
            let head = client.head();
            client.send(scene, &head, client_message::end);
            return tries;
        }
        scene.run_for(3000);
    }
    panic!("{from} stays outside");
}

/// Disconnects with the right server id as soon as a gamestate is on its way.
fn leave_at_once(scene: &mut Scene, rogue: &mut Rogue, level: fragd::model::ServerId) {
    rogue.idle(scene);
    rogue.server_id = level;
    rogue.say(scene, "disconnect");
}

#[test]
fn c33_zombies_of_one_address_count_for_its_limit() {
    let mut scene = Scene::new(&[("sv_maxclients", "8"), ("sv_maxclientsPerIP", "3")]);
    let level = Rogue::join(&mut scene, HONEST, 1).server_id;
    for port in 0..8 {
        if let Ok(mut rogue) = Rogue::knock(&mut scene, far(1000 + port), 100 + port) {
            leave_at_once(&mut scene, &mut rogue, level);
        }
    }
    let other = ([203, 0, 113, 10], 5).into();
    assert_eq!(Rogue::knock(&mut scene, other, 7).map(|_| ()), Ok(()), "there is room");
    scene.check();
}

#[test]
fn c33_connect_disconnect_cycles_do_not_block_joins() {
    let mut scene = Scene::new(&[("sv_maxclients", "8"), ("sv_maxclientsPerIP", "0")]);
    let level = Rogue::join(&mut scene, HONEST, 1).server_id;
    let accepted = scene.count(Counter::ConnectsAccepted);
    for round in 0..1000u16 {
        if let Ok(mut rogue) = Rogue::knock(&mut scene, far(1000 + round), 100 + round) {
            leave_at_once(&mut scene, &mut rogue, level);
        }
        scene.run_for(10);
        if round % 100 == 99 {
            let other = ([203, 0, 113, 10 + (round / 100) as u8], 5).into();
            let mut newcomer = Rogue::knock(&mut scene, other, 7).expect("let in at once");
            leave_at_once(&mut scene, &mut newcomer, level);
        }
    }
    // Three for each slot at once, and one a second.
    let accepted = scene.count(Counter::ConnectsAccepted) - accepted - 10;
    assert!((20..=8 * 3 + 12).contains(&accepted), "{accepted} in ten seconds");
    scene.check();
}

#[test]
fn c34_clients_of_one_ipv6_network_leave_slots_to_others() {
    let mut scene = Scene::new(&[("sv_maxclients", "16")]);
    let mut let_in = 0;
    for subnet in 0..64u16 {
        let ip = Ipv6Addr::new(0x2001, 0xdb8, 0, subnet, 0, 0, 0, 1);
        for port in 0..3 {
            let from = SocketAddr::new(ip.into(), 1000 + port);
            let_in += u32::from(Rogue::knock(&mut scene, from, subnet * 8 + port).is_ok());
        }
        scene.run_for(50);
    }
    assert_eq!(let_in, 8);
    let other = SocketAddr::new(Ipv6Addr::new(0x2001, 0xdb8, 1, 0, 0, 0, 0, 1).into(), 9);
    assert!(Rogue::knock(&mut scene, other, 7).is_ok());
    assert!(Rogue::knock(&mut scene, far(5), 8).is_ok());
    scene.check();
}

#[test]
fn c36_active_client_is_not_replaced_from_its_address() {
    for ping in ["0", "500"] {
        let mut scene = Scene::new(&[("sv_maxPing", ping)]);
        for victim in 0..3 {
            // As if the challenge had been guessed.
            let from = scene.address_of(victim);
            let refused = Rogue::knock(&mut scene, from, 9999).map(|_| ()).unwrap_err();
            assert_eq!(refused, "print\nReconnecting, please wait 1 second.\n");
        }
        scene.run_for(1000);
        scene.check();
    }
}

#[test]
fn c37_restarted_client_rejoins_full_server_within_five_seconds() {
    let mut scene = Scene::new(&[("sv_maxclients", "5")]);
    let _other = Rogue::join(&mut scene, HONEST, 1);
    let mut killed = Rogue::join(&mut scene, far(1000), 77);
    killed.live(&mut scene, 1000);
    // Another port and another qport, but the same name, which the rogue takes from its qport.
    scene.run_for(500);
    let before = scene.now();
    let tries = tries_to_rejoin(&mut scene, far(2000), 78, "rogue77");
    let took = scene.now().since(before).0 + 500;
    assert!(took <= 5000 && tries <= 2, "{took} ms, {tries} tries");
    let status = scene.ask(([192, 0, 2, 252], 5).into(), "getstatus").concat();
    assert_eq!(status.matches("\"rogue77\"").count(), 1, "{status}");
    scene.check();
}

#[test]
fn c37_crashed_client_is_dropped_five_seconds_after_rejoin() {
    // The qport stays, or else the name.
    for qport in [77, 78] {
        let mut scene = Scene::new(&[]);
        let mut killed = Rogue::join(&mut scene, far(1000), 77);
        killed.live(&mut scene, 500);
        let mut again = Rogue::knock_as(&mut scene, far(2000), qport, "rogue77").expect("let in");
        again.enter(&mut scene);
        let named = |scene: &mut Scene| {
            let status = scene.ask(([192, 0, 2, 252], 5).into(), "getstatus").concat();
            status.matches("\"rogue77\"").count()
        };
        assert_eq!(named(&mut scene), 2, "the old one is not silent for long yet");
        again.live(&mut scene, 5500);
        assert_eq!(named(&mut scene), 1);
        assert!(again.heard.iter().any(|line| line.contains("reconnected")));
        scene.check();
    }
}

#[test]
fn c37_active_or_loading_client_of_same_name_stays() {
    let mut scene = Scene::new(&[]);
    let mut first = Rogue::knock_as(&mut scene, far(1000), 77, "player").expect("let in");
    first.enter(&mut scene);
    // Loads for longer than a ghost is kept.
    let mut loading = Rogue::knock_as(&mut scene, far(1001), 78, "player").expect("let in");
    loading.idle(&mut scene);
    let mut last = Rogue::knock_as(&mut scene, far(1002), 79, "player").expect("let in");
    last.enter(&mut scene);
    for _ in 0..140 {
        scene.run_for(50);
        for client in [&mut first, &mut last] {
            client.read(&mut scene);
            client.step(&mut scene);
        }
    }
    let status = scene.ask(([192, 0, 2, 252], 5).into(), "getstatus").concat();
    assert_eq!(status.matches("\"player\"").count(), 3, "{status}");
    scene.check();
}

#[test]
fn m28_download_rejections_are_limited_and_keep_rate() {
    let mut scene = Scene::new(&[]);
    let mut slow = Rogue::knock(&mut scene, far(1000), 77).expect("let in");
    slow.enter_loading(&mut scene, 3000);
    let bytes = slow.bytes_in;
    for _ in 0..100 {
        slow.say_all(&mut scene, &["download a"; 60]);
        scene.run_for(20);
        slow.read(&mut scene);
    }
    // Four at once and one a second; and an idle snapshot a second.
    assert!((1..=7).contains(&slow.refusals), "{} in two seconds", slow.refusals);
    assert!(slow.bytes_in - bytes < 2 * 3000, "{} bytes", slow.bytes_in - bytes);
    let mut playing = Rogue::join(&mut scene, far(1001), 78);
    playing.say_all(&mut scene, &["download a"; 60]);
    playing.live(&mut scene, 1000);
    assert_eq!(playing.refusals, 0, "a client in the game has its files");
    assert!(playing.is_in(&mut scene));
    scene.check();
}
