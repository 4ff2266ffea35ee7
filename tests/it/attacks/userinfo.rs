//! Userinfos of maximum length and cost.

use std::net::SocketAddr;

use fragd::{
    client::Protocol,
    model::{Millis, assets::Assets as _},
    node::{Hosted as _, OutputKind, take_text},
    server::Server,
    settings::Settings,
    sim::Actor,
};

use super::{
    AttackFixture, SEED,
    raw_client::{RawClient, challenge, connect},
};
use crate::{
    installed_maps,
    sim_fixture::{SERVER, SimFixture},
};

/// Letters whose codes have ten bits.
const COSTLY: &str = "XWVUTSRQ";

/// A client's address far away.
fn far() -> SocketAddr {
    ([203, 0, 113, 7], 1000).into()
}

/// Text that the operator is shown for a line.
fn shown(fixture: &mut AttackFixture, line: &str) -> String {
    let server = &mut fixture.sim.actors[SERVER];
    while server.poll_output(OutputKind::Console).is_some() {}
    fixture.sim.console(line);
    take_text(&mut fixture.sim.actors[SERVER], OutputKind::Console)
}

/// A userinfo of the given length, with the address included.
fn long_userinfo(attacker: &RawClient, bytes: usize) -> String {
    let head = "\\name\\rogue7\\rate\\90000\\snaps\\20\\teamtask\\1\\x\\";
    let address = format!("\\ip\\{}", attacker.address.ip());
    format!("{head}{}", "A".repeat(bytes - head.len() - address.len()))
}

#[test]
fn m25_client_cannot_change_its_ip_key() {
    let mut fixture = AttackFixture::new(&[]);
    let mut attacker = RawClient::join(&mut fixture, far(), 7);
    for bytes in [1010, 1013, 1022, 1023] {
        let info = long_userinfo(&attacker, bytes);
        attacker.say(&mut fixture, &format!("userinfo \"{info}\""));
        for task in ["-99", "-2147483648", "2147483647", "3"] {
            attacker.say(&mut fixture, &format!("teamtask {task}"));
            attacker.live(&mut fixture, 1000);
            let dump = shown(&mut fixture, "dumpuser 3");
            let line = dump.lines().find(|line| line.starts_with("ip ")).unwrap_or_default();
            assert!(line.ends_with(" 203.0.113.7"), "{bytes} bytes, teamtask {task}: {dump}");
        }
    }
    fixture.check();
}

#[test]
fn m25_votes_count_by_server_side_address() {
    let mut fixture = AttackFixture::new(&[("g_maxVotes", "1")]);
    let mut attacker = RawClient::join(&mut fixture, far(), 7);
    let info = long_userinfo(&attacker, 1022);
    attacker.say(&mut fixture, &format!("userinfo \"{info}\""));
    let mut counted = 0;
    for task in ["1", "-99", "-999", "-2147483648"] {
        attacker.say(&mut fixture, &format!("teamtask {task}"));
        attacker.say(&mut fixture, "callvote fraglimit 20");
        attacker.live(&mut fixture, 31_500);
        counted += attacker.heard.iter().filter(|text| text.contains("called a vote")).count();
        let refusals = "You have called the maximum number of votes.";
        let refused = attacker.heard.iter().any(|text| text.contains(refusals));
        assert_eq!(refused, task != "1", "{task}: {:?}", attacker.heard);
        attacker.heard.clear();
    }
    assert_eq!(counted, 1);
    fixture.check();
}

/// A server with 64 slots on a map that is installed.
fn server_on(map: &str, set: &[(&str, &str)]) -> Option<Server> {
    installed_maps::read(&format!("maps/{map}.bsp"))?;
    let mut settings = Settings::default();
    let own = [("sv_maxclients", "64"), ("sv_maxclientsPerIP", "0"), ("map", map)];
    for (name, value) in own.iter().chain(set) {
        settings.set(name, value).unwrap();
    }
    Some(Server::builder(settings, [3; 32]).assets(installed_maps::data()).build())
}

/// Sixty silent LAN clients with the costliest userinfo.
fn crowd(fixture: &mut AttackFixture) -> usize {
    let text = COSTLY.repeat(4);
    let keys = ["model", "headmodel", "team_model", "team_headmodel", "g_redteam", "g_blueteam"];
    let mut pairs: Vec<_> = keys.iter().map(|key| (*key, text.as_str())).collect();
    pairs.extend([("color1", "XXX"), ("color2", "XXX"), ("handicap", "99")]);
    let mut let_in = 0;
    for number in 0..60_u16 {
        let from = SocketAddr::from(([10, 0, 0, number as u8 + 1], 1000));
        let name = format!("{}{number:02}X", COSTLY.repeat(4));
        let pairs = [pairs.as_slice(), &[("name", name.as_str())]].concat();
        let challenge = challenge(fixture, from);
        let replies = connect(fixture, from, number + 100, challenge, &pairs);
        let_in += usize::from(replies.iter().any(|reply| reply.starts_with("connectResponse")));
    }
    let_in
}

fn gamestate_fits(map: &str, next: &str, set: &[(&str, &str)]) {
    let Some(server) = server_on(map, set) else { return };
    let mut fixture =
        AttackFixture::around(SimFixture::around(SEED, Actor::Server(Box::new(server))));
    assert_eq!(crowd(&mut fixture), 60, "{map}");
    // One more takes the last slot.
    let mut attacker =
        RawClient::knock(&mut fixture, ([10, 0, 0, 250], 1000).into(), 7).expect("let in");
    attacker.enter(&mut fixture);
    assert_eq!(attacker.gamestates, 1, "{map}: a newcomer is sent the level");

    // The crowd comes back for the next level.
    fixture.run_for(6000);
    crowd(&mut fixture);
    fixture.sim.console(&format!("map {next}"));
    for _ in 0..100 {
        attacker.idle(&mut fixture);
        fixture.run_for(50);
        attacker.read(&mut fixture);
    }
    // It names the level before, and so is sent the next one again and again.
    assert!(attacker.gamestates >= 2, "{map} to {next}: {}", attacker.gamestates);
    fixture.sim.run_for(Millis::seconds(3));
    for honest in 0..Protocol::CURRENT.len() {
        let node = fixture.honest[honest].node;
        let player = fixture.sim.player(node);
        assert!(player.is_active(), "{map} to {next}: {:?}", player.disconnect_reason());
    }
    fixture.sim.check_no_faults();
}

#[test]
#[ignore = "plays every map that is installed, which takes a minute"]
fn m17_gamestate_fits_on_every_map() {
    for path in installed_maps::data().list("maps", "bsp") {
        let name = path.as_str().trim_start_matches("maps/").trim_end_matches(".bsp");
        for game_type in ["0", "4"] {
            gamestate_fits(name, name, &[("g_gametype", game_type)]);
        }
    }
}

#[test]
fn m17_gamestate_fits_with_costliest_names_in_every_slot() {
    gamestate_fits("oa_dm1", "oa_dm2", &[]);
    gamestate_fits("oa_dm4", "am_lavactfxl", &[("g_gametype", "4")]);
}
