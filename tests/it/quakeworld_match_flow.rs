//! Pause, intermission and frag log of a QuakeWorld server.

use fragd::{
    model::Vec3,
    quakeworld::{Usercmd, client::ClientState, usercmd::button},
};

use crate::quakeworld_fixture::{QwFixture, STEP};

fn place(fixture: &QwFixture, number: usize) -> Vec3 {
    Vec3(fixture.peers[number].client.own_state().unwrap().1.origin)
}

fn press(fixture: &mut QwFixture, number: usize, forward: i16, buttons: u8) {
    fixture.peers[number].command = Usercmd { msec: STEP as u8, forward, buttons, ..Usercmd::ZERO };
}

#[test]
fn pause_stops_players_movers_and_clock() {
    let mut fixture = QwFixture::new(&[("timelimit", "0.2")]);
    fixture.join(&["one", "two"]);
    press(&mut fixture, 1, 400, 0);
    fixture.run(500);
    fixture.peers[0].client.command(b"pause").unwrap();
    fixture.run(500);
    assert!(fixture.has_print(1, "one paused the game"));
    assert!(fixture.peers.iter().all(|peer| peer.client.level().is_paused));
    let before = (place(&fixture, 0), place(&fixture, 1));
    let frames = fixture.peers[1].client.statistics().frames;
    // Longer than the time limit.
    fixture.run(15_000);
    assert_eq!((place(&fixture, 0), place(&fixture, 1)), before);
    assert!(fixture.peers[1].client.statistics().frames - frames > 700, "packets are answered");
    assert!(!fixture.has_print(0, "Timelimit hit"));
    let third = fixture.add(&[("name", "three"), ("*z_ext", "383")]);
    fixture.run(2000);
    assert!(fixture.peers[third].client.level().is_paused, "a new client is told");
    fixture.peers[1].client.command(b"pause").unwrap();
    fixture.run(500);
    assert!(fixture.has_print(0, "two unpaused the game"));
    assert!(fixture.peers.iter().all(|peer| !peer.client.level().is_paused));
    press(&mut fixture, 1, -400, 0);
    fixture.run(500);
    assert_ne!(place(&fixture, 1), before.1);
    fixture.run(12_000);
    assert!(fixture.has_print(0, "Timelimit hit"));
}

#[test]
fn pause_is_refused_unless_pausable() {
    let mut fixture = QwFixture::new(&[("pausable", "0")]);
    fixture.join(&["one"]);
    fixture.add(&[("name", "watcher"), ("spectator", "1")]);
    fixture.run(2000);
    fixture.peers[0].client.command(b"pause").unwrap();
    fixture.peers[1].client.command(b"pause").unwrap();
    fixture.run(500);
    assert!(fixture.has_print(0, "Pause is not allowed"));
    assert!(fixture.has_print(1, "Spectators cannot pause"));
    assert!(!fixture.peers[0].client.level().is_paused);
    fixture.console("pause");
    fixture.run(200);
    assert!(fixture.peers[0].client.level().is_paused);
    // The game continues without players.
    fixture.peers[0].client.command(b"drop").unwrap();
    fixture.run(500);
    assert!(!fixture.peers[1].client.level().is_paused);
}

#[test]
fn intermission_shows_scores_until_a_button() {
    let mut fixture = QwFixture::new(&[("timelimit", "0.1")]);
    fixture.join(&["one", "two"]);
    press(&mut fixture, 0, 400, 0);
    fixture.run_until(8000, |fixture| fixture.peers[0].client.level().is_intermission);
    let before = place(&fixture, 0);
    press(&mut fixture, 0, 400, button::JUMP);
    fixture.run(4000);
    assert_eq!(place(&fixture, 0), before, "nobody moves");
    let third = fixture.add(&[("name", "three"), ("*z_ext", "383")]);
    fixture.run_until(6000, |fixture| fixture.peers[0].client.level().server_count == 2);
    fixture.run(2000);
    for peer in [0, 1, third] {
        assert_eq!(fixture.state(peer), ClientState::Active);
        assert!(!fixture.peers[peer].client.level().is_intermission);
    }
}

#[test]
fn intermission_ends_without_buttons() {
    let mut fixture = QwFixture::new(&[("timelimit", "0.1")]);
    fixture.join(&["one"]);
    fixture.run_until(8000, |fixture| fixture.peers[0].client.level().is_intermission);
    fixture.run(14_000);
    assert_eq!(fixture.peers[0].client.level().server_count, 1);
    fixture.run(3000);
    assert_eq!(fixture.peers[0].client.level().server_count, 2);
}

#[test]
fn time_without_players_does_not_count() {
    let mut fixture = QwFixture::new(&[("timelimit", "0.2")]);
    fixture.run(30_000);
    fixture.join(&["one"]);
    fixture.run(8000);
    assert!(!fixture.has_print(0, "Timelimit hit"));
    fixture.run_until(6000, |fixture| fixture.has_print(0, "Timelimit hit"));
}

#[test]
fn frag_log_is_sent_once_per_piece() {
    let mut fixture = QwFixture::new(&[]);
    let collector = ([198, 51, 100, 9], 4000).into();
    let ask = |fixture: &mut QwFixture, text: &[u8]| {
        fixture.strays.clear();
        fixture.inject(collector, &[b"\xff\xff\xff\xff", text].concat());
        fixture.strays.pop().map_or_else(Vec::new, |(_, bytes)| bytes)
    };
    fixture.join(&["one"]);
    assert_eq!(ask(&mut fixture, b"log\n"), b"m");
    assert!(fixture.console("fraglogfile").contains("frag log on"));
    fixture.peers[0].client.command(b"kill").unwrap();
    fixture.run(500);
    assert_eq!(ask(&mut fixture, b"log\n"), b"m", "the piece is not complete");
    // An hour; the client times out without losing its frag.
    fixture.peers.clear();
    fixture.run(3_600_000);
    assert_eq!(ask(&mut fixture, b"log 0\n"), b"stdlog 1\n\\one\\one\\\n");
    assert_eq!(ask(&mut fixture, b"log 1\n"), b"m");
    // Pieces have the limits of a status.
    let answers = (0..100).filter(|_| ask(&mut fixture, b"log 0\n").len() > 1).count();
    assert!(answers <= 12, "{answers} answers");
}
