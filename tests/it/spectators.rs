//! Following spectators: playerstate and visible entities of the followed player.

use fragd::{
    client::Protocol,
    game::{Deathmatch, Game, Ruleset},
    model::{ClientNum, Millis, assets::MemoryAssets},
    server::{Geometry, Server},
    settings::{Settings, key},
};

use crate::{
    sample_maps::{Block, Numbers as _, TestMap},
    sim_fixture::SimFixture,
};

/// Set in the player state of one who follows.
const FOLLOW: i32 = 4096;

/// Two floors far apart that do not see each other, with places to begin on each.
fn two_floors() -> Vec<u8> {
    let floor = |x: f32| Block {
        mins: [x - 3000.0, -3000.0, -16.0],
        maxs: [x + 3000.0, 3000.0, 0.0],
        contents: 1,
        surface_flags: 0,
    };
    let entities = "{ classname worldspawn }\n\
        { classname info_player_deathmatch origin \"4000 0 25\" }\n\
        { classname info_player_deathmatch origin \"4000 900 25\" }\n\
        { classname info_player_deathmatch origin \"-4000 0 25\" }\n\
        { classname info_player_deathmatch origin \"-4000 900 25\" }";
    let mut map = TestMap::from_boxes(entities, &[floor(4000.0), floor(-4000.0)], &[]);
    // Each of the two clusters sees itself alone.
    map.lumps[16] = [[2, 1][..].bytes(), vec![0b01, 0b10]].concat();
    map.file()
}

fn server() -> Server {
    let mut settings = Settings::default();
    for (name, value) in [("map", "floors"), ("sv_maxclients", "8"), ("sv_maxclientsPerIP", "0")] {
        settings.set(name, value).unwrap();
    }
    let mut assets = MemoryAssets::default();
    assets.insert("maps/floors.bsp", two_floors()).unwrap();
    let rules = Box::new(|_| -> Box<dyn Game> { Box::new(Deathmatch::new(Ruleset::BASEOA)) });
    Server::new(settings, Box::new(assets), rules, [3; 32])
}

/// View of a node: viewed player, whether it follows, and visible players.
fn view(sim: &mut SimFixture, node: usize) -> (i32, bool, Vec<i32>) {
    let slots = sim.server().settings().int(key::SV_MAXCLIENTS);
    let client = sim.player(node).client();
    let player = client.player().expect("a snapshot");
    let others = client.entities().filter(|entity| entity.number < slots && entity.e_type == 1);
    (player.client_num, player.origin[0] > 0.0, others.map(|entity| entity.number).collect())
}

#[test]
fn follower_receives_view_of_followed_player() {
    let server = server();
    assert_eq!(server.geometry(), Geometry::Map);
    let mut sim = SimFixture::around(9, fragd::sim::Actor::Server(Box::new(server)));
    let nodes: Vec<_> =
        ["a", "b", "c", "d"].iter().map(|name| sim.join(Protocol::IOQ3_71, name)).collect();
    sim.run_for(Millis(2500));
    let watcher = *nodes.last().unwrap();
    let say = |sim: &mut SimFixture, text: &str| {
        let now = sim.network.now();
        assert!(sim.player(watcher).send_command(now, text));
        sim.run_for(Millis(500));
    };
    say(&mut sim, "team spectator");
    let mut sides = Vec::new();
    for &node in &nodes[..3] {
        let (own, side, seen) = view(&mut sim, node);
        sides.push((own, side, seen));
    }
    // Three players on two floors: at least one sees at most one other.
    let east = sides.iter().filter(|(_, side, _)| *side).count();
    assert!((1..=2).contains(&east), "the seed puts players on both floors: {sides:?}");
    for (number, side, _) in &sides {
        say(&mut sim, &format!("follow {number}"));
        let (viewed, from, seen) = view(&mut sim, watcher);
        assert_eq!((viewed, from), (*number, *side), "the state of the one followed");
        // Neither the one followed nor who is out of its sight.
        let mut expected: Vec<_> =
            sides.iter().filter(|s| s.0 != *number && s.1 == *side).map(|s| s.0).collect();
        expected.sort_unstable();
        assert_eq!(seen, expected, "following {number}");
        let followed = ClientNum::new(*number as usize).unwrap();
        let own = sim.server().player(followed).expect("in the game");
        let (stats, client_num) = (own.stats, own.client_num);
        let shown = *sim.player(watcher).client().player().expect("a snapshot");
        assert_eq!((shown.stats, shown.client_num), (stats, client_num));
        assert_ne!(shown.pm_flags & FOLLOW, 0);
    }
    sim.check_no_faults();
}
