//! What clients say of themselves, at its longest and costliest.

use std::net::SocketAddr;

use fragd::{
    client::ClientWire,
    game::{Deathmatch, Flight, Game, Profile, movement::Variant},
    model::{Millis, assets::Assets as _},
    node::Hosted as _,
    server::{Geometry, Server},
    settings::Settings,
    sim::Actor,
};

use super::{
    SEED, Scene,
    rogue::{Rogue, challenge, connect},
};
use crate::{
    arena::{Arena, SERVER},
    maps,
};

/// Letters whose codes have ten bits.
const COSTLY: &str = "XWVUTSRQ";

/// A client's address far away.
fn far() -> SocketAddr {
    ([203, 0, 113, 7], 1000).into()
}

/// Text that the operator is shown for a line.
fn shown(scene: &mut Scene, line: &str) -> String {
    let server = &mut scene.arena.actors[SERVER];
    while server.poll_console().is_some() {}
    scene.arena.console(line);
    std::iter::from_fn(|| scene.arena.actors[SERVER].poll_console()).collect()
}

/// A userinfo that with the address has exactly so many bytes.
fn long_userinfo(rogue: &Rogue, bytes: usize) -> String {
    let head = "\\name\\rogue7\\rate\\90000\\snaps\\20\\teamtask\\1\\x\\";
    let address = format!("\\ip\\{}", rogue.address.ip());
    format!("{head}{}", "A".repeat(bytes - head.len() - address.len()))
}

#[test]
fn m25_client_cannot_change_its_ip_key() {
    let mut scene = Scene::new(&[]);
    let mut rogue = Rogue::join(&mut scene, far(), 7);
    for bytes in [1010, 1013, 1022, 1023] {
        let info = long_userinfo(&rogue, bytes);
        rogue.say(&mut scene, &format!("userinfo \"{info}\""));
        for task in ["-99", "-2147483648", "2147483647", "3"] {
            rogue.say(&mut scene, &format!("teamtask {task}"));
            rogue.live(&mut scene, 1000);
            let dump = shown(&mut scene, "dumpuser 3");
            let line = dump.lines().find(|line| line.starts_with("ip ")).unwrap_or_default();
            assert!(line.ends_with(" 203.0.113.7"), "{bytes} bytes, teamtask {task}: {dump}");
        }
    }
    scene.check();
}

#[test]
fn m25_votes_count_by_server_side_address() {
    let mut scene = Scene::new(&[("g_maxVotes", "1")]);
    let mut rogue = Rogue::join(&mut scene, far(), 7);
    let info = long_userinfo(&rogue, 1022);
    rogue.say(&mut scene, &format!("userinfo \"{info}\""));
    let mut called = 0;
    for task in ["1", "-99", "-999", "-2147483648"] {
        rogue.say(&mut scene, &format!("teamtask {task}"));
        rogue.say(&mut scene, "callvote fraglimit 20");
        rogue.live(&mut scene, 31_500);
        called += rogue.heard.iter().filter(|text| text.contains("called a vote")).count();
        let refusals = "You have called the maximum number of votes.";
        let refused = rogue.heard.iter().any(|text| text.contains(refusals));
        assert_eq!(refused, task != "1", "{task}: {:?}", rogue.heard);
        rogue.heard.clear();
    }
    assert_eq!(called, 1);
    scene.check();
}

/// A server with 64 slots on a map that is installed.
fn server_on(map: &str, set: &[(&str, &str)]) -> Option<Server> {
    maps::read(&format!("maps/{map}.bsp"))?;
    let mut settings = Settings::default();
    let own = [("sv_maxclients", "64"), ("sv_maxclientsPerIP", "0"), ("map", map)];
    for (name, value) in own.iter().chain(set) {
        settings.set(name, value).unwrap();
    }
    let variant = Variant::of_profile(Profile::BASEOA);
    let rules = Box::new(move |geometry| -> Box<dyn Game> {
        match geometry {
            Geometry::Map => Box::new(Deathmatch::moving_as(variant)),
            Geometry::None => Box::new(Flight::new(variant.profile)),
        }
    });
    Some(Server::new(settings, Box::new(maps::data()), rules, [3; 32]))
}

/// Sixty newcomers of the local network with the costliest userinfo, who say nothing.
fn crowd(scene: &mut Scene) -> usize {
    let text = COSTLY.repeat(4);
    let keys = ["model", "headmodel", "team_model", "team_headmodel", "g_redteam", "g_blueteam"];
    let mut pairs: Vec<_> = keys.iter().map(|key| (*key, text.as_str())).collect();
    pairs.extend([("color1", "XXX"), ("color2", "XXX"), ("handicap", "99")]);
    let mut let_in = 0;
    for number in 0..60_u16 {
        let from = SocketAddr::from(([10, 0, 0, number as u8 + 1], 1000));
        let name = format!("{}{number:02}X", COSTLY.repeat(4));
        let pairs = [pairs.as_slice(), &[("name", name.as_str())]].concat();
        let challenge = challenge(scene, from);
        let replies = connect(scene, from, number + 100, challenge, &pairs);
        let_in += usize::from(replies.iter().any(|reply| reply.starts_with("connectResponse")));
    }
    let_in
}

fn gamestate_fits(map: &str, next: &str, set: &[(&str, &str)]) {
    let Some(server) = server_on(map, set) else { return };
    let mut scene = Scene::around(Arena::around(SEED, Actor::Server(Box::new(server))));
    assert_eq!(crowd(&mut scene), 60, "{map}");
    // One more takes the last slot.
    let mut rogue = Rogue::knock(&mut scene, ([10, 0, 0, 250], 1000).into(), 7).expect("let in");
    rogue.enter(&mut scene);
    assert_eq!(rogue.gamestates, 1, "{map}: a newcomer is sent the level");

    // The crowd comes back for the next level.
    scene.run_for(6000);
    crowd(&mut scene);
    scene.arena.console(&format!("map {next}"));
    for _ in 0..100 {
        rogue.idle(&mut scene);
        scene.run_for(50);
        rogue.read(&mut scene);
    }
    // It names the level before, and so is sent the next one again and again.
    assert!(rogue.gamestates >= 2, "{map} to {next}: {}", rogue.gamestates);
    scene.arena.run_for(Millis::seconds(3));
    for honest in 0..ClientWire::ALL.len() {
        let node = scene.honest[honest].node;
        let player = scene.arena.player(node);
        assert!(player.is_active(), "{map} to {next}: {:?}", player.ending());
    }
    scene.arena.check_no_faults();
}

#[test]
#[ignore = "plays every map that is installed, which takes a minute"]
fn m17_gamestate_fits_on_every_map() {
    for path in maps::data().list("maps", "bsp") {
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
