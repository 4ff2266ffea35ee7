//! Silent clients, vanishing clients, echoing peers and NAT rebinding.

use std::{
    net::UdpSocket,
    sync::atomic::{AtomicBool, AtomicUsize, Ordering},
    thread,
    time::Duration,
};

use fragd::observe::Counter;

use super::{
    fixture::{LoopbackFixture, PLAYERS, answer, mail, oob, socket_at},
    floods::{challenge, connect},
};

const SLOTS: usize = 64;

/// Connects from a socket, which says nothing more, and returns what it is told.
fn knock(fixture: &LoopbackFixture, socket: &UdpSocket, qport: usize) -> String {
    let (challenge, qport) = (challenge(fixture, socket), qport.to_string());
    let pairs =
        [("protocol", "68"), ("qport", &qport), ("challenge", &challenge), ("name", "ghost")];
    socket.send_to(&connect(&pairs), fixture.server).unwrap();
    answer(socket).expect("an answer")
}

/// First message of a protocol-68 client, before its gamestate.
fn first_word(qport: u16) -> Vec<u8> {
    [&1u32.to_le_bytes()[..], &qport.to_le_bytes(), &[0; 12]].concat()
}

#[test]
fn c9_silent_clients_hold_slots_for_seconds() {
    let fixture = LoopbackFixture::new(&[]);
    let ghosts: Vec<_> = (0..=SLOTS - PLAYERS).map(|i| socket_at(5, 1 + i as u8)).collect();
    let (last, ghosts) = ghosts.split_last().unwrap();
    for (number, ghost) in ghosts.iter().enumerate() {
        let reply = knock(&fixture, ghost, 100 + number);
        assert!(reply.starts_with("connectResponse"), "ghost {number}: {reply}");
    }
    assert!(knock(&fixture, last, 99).contains("Server is full"));
    let gone = fixture.count(Counter::ClientsDropped);
    fixture.wait("the ghosts are gone", |fixture| {
        fixture.count(Counter::ClientsDropped) - gone >= ghosts.len() as u64
    });
    fixture.wait("there is room again", |fixture| {
        thread::sleep(Duration::from_millis(200));
        knock(fixture, last, 99).starts_with("connectResponse")
    });
    assert_eq!(fixture.active(), PLAYERS);
    fixture.check();
}

#[test]
fn n12_closing_client_ports_affect_no_other_client() {
    // Linux tells an unconnected socket of no unreachable port, so here no error reaches the server.
    let fixture = LoopbackFixture::new(&[("sv_timeout", "5")]);
    // Those who are sent a level, and go before it comes.
    for number in 0..20u16 {
        let ghost = socket_at(6, 1 + number as u8);
        let reply = knock(&fixture, &ghost, usize::from(number));
        assert!(reply.starts_with("connectResponse"), "{reply}");
        let _ = ghost.send_to(&first_word(number), fixture.server);
    }
    // And those who ask and do not wait.
    fixture.storm(1000, 1000, |n| {
        let asker = socket_at(7, 1 + (n % 250) as u8);
        let _ = asker.send_to(&oob("getinfo"), fixture.server);
    });
    assert!(fixture.count(Counter::QueriesAnswered) > 50);
    fixture.check();
}

#[test]
fn c25_echoing_peer_starts_no_loop() {
    let fixture = LoopbackFixture::new(&[]);
    let over = AtomicBool::new(false);
    let heard = AtomicUsize::new(0);
    thread::scope(|scope| {
        // A port that echoes, one that answers anything with letters, one that asks back.
        for service in 0..3 {
            let (fixture, over, heard) = (&fixture, &over, &heard);
            scope.spawn(move || {
                let socket = socket_at(8, 1 + service);
                socket.set_read_timeout(Some(Duration::from_millis(50))).unwrap();
                for text in ["getinfo x", "getstatus", "getchallenge", "connect \"\\x\\y\""] {
                    socket.send_to(&oob(text), fixture.server).unwrap();
                }
                let mut buffer = [0; 2048];
                while !over.load(Ordering::Relaxed) {
                    let Ok((len, from)) = socket.recv_from(&mut buffer) else { continue };
                    heard.fetch_add(1, Ordering::Relaxed);
                    let back = match service {
                        0 => buffer[..len].to_vec(),
                        1 => {
                            b"!\"#$%&'()*+,-./0123456789:;<=>?@ABCDEFGHIJKLMNOPQRSTUVWXYZ".to_vec()
                        }
                        _ => [&buffer[..len], b"getinfo x"].concat(),
                    };
                    let _ = socket.send_to(&back, from);
                }
            });
        }
        fixture.wait("the first answers come", |_| heard.load(Ordering::Relaxed) >= 3 * 3);
        // Many times as long as an exchange takes.
        thread::sleep(Duration::from_millis(700));
        over.store(true, Ordering::Relaxed);
    });
    let heard = heard.into_inner();
    assert!(heard <= 3 * 4, "{heard} answers to twelve requests: no loop");
    fixture.check();
}

#[test]
fn c11_players_survive_swapped_nat_ports() {
    let mut fixture = LoopbackFixture::new(&[]);
    // A new port for the first, whose old one goes to the second.
    for (player, port) in [(0, PLAYERS), (1, 0)] {
        fixture.move_port(player, port);
        // What was under way to the port that was left.
        fixture.may_miss[player] = 8;
        let before = fixture.snapshots(player);
        fixture.wait("it plays on", |fixture| fixture.snapshots(player) >= before + 20);
    }
    assert_eq!(fixture.active(), PLAYERS);
    assert_eq!(fixture.count(Counter::ConnectsAccepted), PLAYERS as u64);
    fixture.check();
}

#[test]
fn c26_disconnect_from_other_port_is_ignored() {
    let mut fixture = LoopbackFixture::new(&[]);
    let strangers = [UdpSocket::bind("127.0.0.1:0").unwrap(), socket_at(8, 20)];
    let words = ["disconnect", "disconnect\n", "ipAuthorize 1 deny", "print\n", "echo x"];
    fixture.storm(1000, 2000, |n| {
        let _ = strangers[n % 2].send_to(&oob(words[n % words.len()]), fixture.server);
    });
    fixture.wait("they are counted", |fixture| {
        fixture.count(Counter::ConnectionlessIgnored) + fixture.count(Counter::QueriesShed) >= 500
    });
    assert!(strangers.iter().all(|socket| mail(socket).is_empty()));
    fixture.console("say all are here");
    assert_eq!(fixture.active(), PLAYERS);
    fixture.check();
}
