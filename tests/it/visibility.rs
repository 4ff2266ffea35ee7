//! Visibility: players receive the entities that they can see, and no others.
//!
//! The game is a stub: a test puts players and entities at chosen positions. The map has three rooms in
//! a row and is built here; where OpenArena's data is installed, `oa_dm1` is used too.

use std::{cell::RefCell, rc::Rc};

use fragd::{
    client::Protocol,
    game::{ConnectError, EntityView, Game, GameFault, Host, LevelStart},
    model::{
        ClientNum, CommandArgs, EntityNum, EntityShared, EntityState, LevelTime, Millis,
        PlayerState, SvFlags, UserCmd, Vec3, assets::MemoryAssets,
    },
    node::{Hosted as _, Input, OutputKind, take_text},
    server::{Geometry, Server},
    settings::Settings,
    world::MapEntities,
};
use rand_pcg::{Pcg32, rand_core::Rng as _};

use crate::{
    installed_maps,
    sample_maps::{Numbers as _, TestMap},
    sim_fixture::SimFixture,
};

/// Eyes are this far above a player's origin.
const VIEWHEIGHT: i32 = 26;
const MAX_THINGS: usize = 64;

/// Positions of entities, shared by the test and its game.
#[derive(Default)]
struct Stage {
    players: [Vec3; 4],
    things: Vec<(EntityState, EntityShared)>,
    is_door_open: bool,
}

type Shared = Rc<RefCell<Stage>>;

/// Rules that place all entities as the stage says.
#[derive(Default)]
struct Puppets {
    stage: Shared,
    players: Vec<PlayerState>,
    entities: Vec<Option<(EntityState, EntityShared)>>,
    connected: [bool; 4],
    is_door_open: bool,
}

impl Puppets {
    fn put(&mut self, host: &mut dyn Host, number: usize, thing: (EntityState, EntityShared)) {
        let place = self.entities[number].insert(thing);
        place.0.number = number as i32;
        host.link_entity(&mut place.0, &mut place.1);
    }
}

impl Game for Puppets {
    fn init(&mut self, _host: &mut dyn Host, _start: LevelStart) -> Result<(), GameFault> {
        self.players.resize(64, PlayerState::default());
        self.entities.clear();
        self.entities.resize(64 + MAX_THINGS, None);
        self.is_door_open = false;
        Ok(())
    }

    fn shutdown(&mut self, _host: &mut dyn Host, _restart: bool) -> Result<(), GameFault> {
        Ok(())
    }

    fn client_connect(
        &mut self,
        _host: &mut dyn Host,
        client: ClientNum,
        _first_time: bool,
        _is_bot: bool,
    ) -> Result<(), ConnectError> {
        self.connected[client.index()] = true;
        Ok(())
    }

    fn client_begin(&mut self, _host: &mut dyn Host, _client: ClientNum) -> Result<(), GameFault> {
        Ok(())
    }

    fn client_userinfo_changed(
        &mut self,
        _host: &mut dyn Host,
        _client: ClientNum,
    ) -> Result<(), GameFault> {
        Ok(())
    }

    fn client_disconnect(
        &mut self,
        _host: &mut dyn Host,
        client: ClientNum,
    ) -> Result<(), GameFault> {
        self.connected[client.index()] = false;
        Ok(())
    }

    fn client_command(
        &mut self,
        _host: &mut dyn Host,
        _client: ClientNum,
        _words: &CommandArgs,
    ) -> Result<(), GameFault> {
        Ok(())
    }

    fn client_think(
        &mut self,
        _host: &mut dyn Host,
        _client: ClientNum,
        _command: &UserCmd,
    ) -> Result<(), GameFault> {
        Ok(())
    }

    fn run_frame(&mut self, host: &mut dyn Host, time: LevelTime) -> Result<(), GameFault> {
        let stage = Rc::clone(&self.stage);
        let stage = stage.borrow();
        for (number, &origin) in stage.players.iter().enumerate() {
            self.players[number] = PlayerState {
                client_num: number as i32,
                command_time: time.0,
                origin,
                viewheight: VIEWHEIGHT,
                ..PlayerState::default()
            };
            if self.connected[number] {
                self.put(host, number, thing(origin, SvFlags::default(), 0));
            }
        }
        for number in 0..MAX_THINGS {
            match stage.things.get(number) {
                Some(&thing) => self.put(host, 64 + number, thing),
                None => {
                    if let Some((_, mut shared)) = self.entities[64 + number].take() {
                        host.unlink_entity(EntityNum::new(64 + number).unwrap(), &mut shared);
                    }
                }
            }
        }
        if stage.is_door_open != self.is_door_open
            && let Some(world) = host.world_mut()
        {
            self.is_door_open = stage.is_door_open;
            let areas = world.areas_mut();
            let sides = [0, 1].map(|area| areas.number(area));
            areas.set_portal(sides[0], sides[1], stage.is_door_open).unwrap();
        }
        Ok(())
    }

    fn console_command(
        &mut self,
        _host: &mut dyn Host,
        _words: &CommandArgs,
    ) -> Result<bool, GameFault> {
        Ok(false)
    }

    fn entity_count(&self) -> usize {
        self.entities.len()
    }

    fn entity(&self, number: EntityNum) -> Option<EntityView<'_>> {
        let (state, shared) = self.entities.get(number.index())?.as_ref()?;
        Some(EntityView { state, shared })
    }

    fn player(&self, client: ClientNum) -> &PlayerState {
        &self.players[client.index()]
    }

    fn set_ping(&mut self, _client: ClientNum, _ping_ms: i32) {}

    fn score(&self, client: ClientNum) -> i32 {
        self.players[client.index()].persistant[0]
    }

    fn has_spawn_point(&self, entities: &MapEntities) -> bool {
        ["info_player_deathmatch", "info_player_start"]
            .iter()
            .any(|class| entities.of_class(class).next().is_some())
    }

    fn show_restart_countdown(&mut self, host: &mut dyn Host, at: LevelTime) -> bool {
        let _ = (host, at);
        false
    }
}

fn thing(origin: Vec3, sv_flags: SvFlags, single_client: i32) -> (EntityState, EntityShared) {
    let state = EntityState { origin, ..EntityState::default() };
    let half = Vec3::new(8.0, 8.0, 8.0);
    let shared = EntityShared {
        sv_flags,
        single_client,
        current_origin: origin,
        mins: Vec3::ZERO - half,
        maxs: half,
        ..EntityShared::default()
    };
    (state, shared)
}

/// Three rooms in a row: west of x = 0, from there to x = 512, and east of that. From the middle one the
/// eastern can be seen, but for a door between them; from the western none.
fn rooms() -> Vec<u8> {
    let leaf = |cluster, area| [cluster, area, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0][..].bytes();
    let mut lumps: [Vec<u8>; 17] = Default::default();
    lumps[0] =
        b"{ \"classname\" \"worldspawn\" }\n{ \"classname\" \"info_player_start\" }".to_vec();
    lumps[1] = vec![0; 72];
    lumps[2] =
        [1.0, 0.0, 0.0, 0.0, -1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 512.0, -1.0, 0.0, 0.0, -512.0_f32]
            [..]
            .bytes();
    lumps[3] =
        [[0, 1, -1, 0, 0, 0, 0, 0, 0][..].bytes(), [2, -2, -3, 0, 0, 0, 0, 0, 0][..].bytes()]
            .concat();
    lumps[4] = [leaf(1, 0), leaf(2, 1), leaf(0, 0)].concat();
    let bounds = [-1024.0, -1024.0, -1024.0, 1536.0, 1024.0, 1024.0_f32][..].bytes();
    lumps[7] = [bounds, [0, 0, 0, 0][..].bytes()].concat();
    lumps[16] = [[3, 1][..].bytes(), vec![0b101, 0b010, 0b101]].concat();
    TestMap::new(lumps).file()
}

fn server(assets: MemoryAssets, map: &str, stage: &Shared) -> Server {
    let mut settings = Settings::default();
    settings.set("map", map).unwrap();
    settings.set("sv_maxclients", "4").unwrap();
    settings.set("sv_maxclientsPerIP", "0").unwrap();
    let stage = Rc::clone(stage);
    let rules = Box::new(move |_| -> Box<dyn Game> {
        Box::new(Puppets { stage: Rc::clone(&stage), ..Puppets::default() })
    });
    Server::new(settings, Box::new(assets), rules, [7; 32])
}

/// Two players on a map, who are in the game.
fn two_on(name: &str, map: Vec<u8>) -> (SimFixture, Shared, [usize; 2]) {
    let mut assets = MemoryAssets::default();
    assets.insert(&format!("maps/{name}.bsp"), map).unwrap();
    let stage = Shared::default();
    let server = server(assets, name, &stage);
    assert_eq!(server.geometry(), Geometry::Map);
    let mut sim = SimFixture::around(1, fragd::sim::Actor::Server(Box::new(server)));
    let first = sim.join(Protocol::OA_71, "first");
    let second = sim.join(Protocol::IOQ3_71, "second");
    sim.run_for(Millis(2000));
    assert!(sim.players().all(|player| player.is_active()));
    (sim, stage, [first, second])
}

/// Numbers of the entities in a player's newest snapshot, and its area mask.
fn told(sim: &mut SimFixture, node: usize) -> (Vec<i32>, Vec<u8>) {
    let client = sim.player(node).client();
    let areas = client.snapshot().unwrap().head.areas.bytes().to_vec();
    (client.entities().map(|state| state.number).collect(), areas)
}

/// Time for a change on the stage to arrive.
const A_MOMENT: Millis = Millis(200);

#[test]
fn walls_and_doors_hide_players_from_each_other() {
    let (mut sim, stage, [first, second]) = two_on("rooms", rooms());
    let at = |x| Vec3::new(x, 0.0, 0.0);
    let mut check = |x: [f32; 2], is_door_open, is_seen: bool, hidden: [u8; 2]| {
        {
            let mut stage = stage.borrow_mut();
            stage.players[..2].copy_from_slice(&x.map(at));
            stage.is_door_open = is_door_open;
        }
        sim.run_for(A_MOMENT);
        let numbers = |number| if is_seen { vec![number] } else { vec![] };
        assert_eq!(told(&mut sim, first), (numbers(1), vec![hidden[0]]), "{x:?}");
        assert_eq!(told(&mut sim, second), (numbers(0), vec![hidden[1]]), "{x:?}");
    };
    let (west, east) = (!0b01, !0b10);
    check([100.0, 300.0], false, true, [west, west]);
    check([100.0, -300.0], false, false, [west, west]);
    check([100.0, -10.0], false, false, [west, west]);
    check([100.0, 300.0], false, true, [west, west]);
    check([100.0, 600.0], false, false, [west, east]);
    check([100.0, 600.0], true, true, [!0b11, !0b11]);
    check([100.0, 600.0], false, false, [west, east]);
    check([700.0, 600.0], false, true, [east, east]);
    sim.check_no_faults();
}

#[test]
fn box_in_two_clusters_is_visible_from_both() {
    let (mut sim, stage, [first, second]) = two_on("rooms", rooms());
    {
        let mut stage = stage.borrow_mut();
        stage.players[0] = Vec3::new(-100.0, 0.0, 0.0);
        stage.players[1] = Vec3::new(100.0, 0.0, 0.0);
        stage.things.push(thing(Vec3::new(2.0, 0.0, 0.0), SvFlags::default(), 0));
        // Farther than all rooms, yet in one of them.
        stage.things.push(thing(Vec3::new(-1e9, 0.0, 0.0), SvFlags::default(), 0));
    }
    sim.run_for(A_MOMENT);
    assert_eq!(told(&mut sim, first).0, [64, 65]);
    assert_eq!(told(&mut sim, second).0, [64]);
}

#[test]
fn portal_adds_entities_visible_from_its_camera() {
    let (mut sim, stage, [first, _]) = two_on("rooms", rooms());
    let place = |generic1| {
        let mut stage = stage.borrow_mut();
        stage.players[0] = Vec3::new(100.0, 0.0, -26.0);
        stage.players[1] = Vec3::new(-900.0, 0.0, 0.0);
        let mut portal = thing(Vec3::new(200.0, 0.0, 0.0), SvFlags::PORTAL, 0);
        portal.0.origin2 = Vec3::new(-500.0, 0.0, 0.0);
        portal.0.generic1 = generic1;
        // The second shows the first, and so itself.
        let mut back = thing(Vec3::new(-300.0, 0.0, 0.0), SvFlags::PORTAL, 0);
        back.0.origin2 = Vec3::new(600.0, 0.0, 0.0);
        let beyond = thing(Vec3::new(700.0, 0.0, 0.0), SvFlags::default(), 0);
        stage.things = vec![portal, back, beyond];
    };
    for (range, numbers, hidden) in
        [(0, vec![1, 64, 65, 66], !0b11), (101, vec![1, 64, 65, 66], !0b11), (99, vec![64], !0b01)]
    {
        place(range);
        sim.run_for(A_MOMENT);
        assert_eq!(told(&mut sim, first), (numbers, vec![hidden]), "range {range}");
    }
}

#[test]
fn arbitrary_scenes_follow_visibility_rules() {
    let (mut sim, stage, nodes) = two_on("rooms", rooms());
    let mut random = Pcg32::new(5, 0);
    let mut below = |end: u32| random.next_u32() % end;
    for round in 0..200 {
        {
            let mut stage = stage.borrow_mut();
            // Not on whole numbers, where a plane would be.
            let somewhere = |far: u32| Vec3::new(far as f32 - 899.5, 0.0, 0.0);
            stage.players[0] = somewhere(below(2300));
            stage.players[1] = somewhere(below(2300));
            stage.is_door_open = below(2) == 1;
            let count = below(MAX_THINGS as u32);
            stage.things.clear();
            for _ in 0..count {
                let flags = match below(8) {
                    0 => SvFlags::BROADCAST,
                    1 => SvFlags::SINGLE_CLIENT,
                    2 => SvFlags::NOT_SINGLE_CLIENT,
                    3 => SvFlags::NO_CLIENT,
                    4 => SvFlags(SvFlags::BROADCAST.0 | SvFlags::NOT_SINGLE_CLIENT.0),
                    _ => SvFlags::default(),
                };
                stage.things.push(thing(somewhere(below(2300)), flags, below(2) as i32));
            }
        }
        sim.run_for(A_MOMENT);
        for (viewer, &node) in nodes.iter().enumerate() {
            let expected = expected(&stage.borrow(), viewer);
            assert_eq!(told(&mut sim, node).0, expected, "round {round}, player {viewer}");
        }
    }
    assert!(sim.compared > 1000);
    sim.check_no_faults();
}

/// Reference visibility, written plainly.
fn expected(stage: &Stage, viewer: usize) -> Vec<i32> {
    // Rooms that a thing reaches into: it is 8 units to each side, and one more when linked.
    let room = |x: f32| {
        if x < 0.0 {
            0
        } else if x < 512.0 {
            1
        } else {
            2
        }
    };
    let eye = room(stage.players[viewer].0[0]);
    let sees = |other: usize| match (eye, other) {
        (0, 0) => true,
        (0, _) | (_, 0) => false,
        (eye, other) => eye == other || stage.is_door_open,
    };
    let other = 1 - viewer;
    let player = thing(stage.players[other], SvFlags::default(), 0);
    let things = stage.things.iter().enumerate().map(|(index, thing)| (64 + index, thing));
    std::iter::once((other, &player))
        .chain(things)
        .filter(|(_, (state, shared))| {
            let flags = shared.sv_flags;
            let is_his = shared.single_client == viewer as i32;
            let for_him = !(flags.contains(SvFlags::NO_CLIENT)
                || flags.contains(SvFlags::SINGLE_CLIENT) && !is_his
                || flags.contains(SvFlags::NOT_SINGLE_CLIENT) && is_his);
            let reach = [-9.0, 9.0].map(|side| room(state.origin.0[0] + side));
            let touched = (reach[0]..=reach[1]).any(sees);
            for_him && (flags.contains(SvFlags::BROADCAST) || touched)
        })
        .map(|(number, _)| number as i32)
        .collect()
}

#[test]
fn players_receive_only_visible_players_on_real_map() {
    let Some(bytes) = installed_maps::read("maps/oa_dm1.bsp") else { return };
    let Some(bsp) = installed_maps::load("oa_dm1") else { return };
    let entities = MapEntities::parse(&bsp.entity_text).unwrap();
    let spots: Vec<_> =
        entities.of_class("info_player_deathmatch").map(|spot| spot.origin()).collect();
    let (mut sim, stage, [first, second]) = two_on("oa_dm1", bytes);
    let (mut seen, mut hidden) = (0, 0);
    for (index, &from) in spots.iter().enumerate() {
        for &to in &spots[index + 1..] {
            let up = Vec3::new(0.0, 0.0, VIEWHEIGHT as f32);
            // What the boxes touch besides is decided by the leafs around; the eyes' own are certain.
            let is_certain = bsp.sees(from + up, to, None);
            stage.borrow_mut().players[..2].copy_from_slice(&[from, to]);
            sim.run_for(Millis(150));
            let (ours, mask) = told(&mut sim, first);
            assert_eq!(mask.len(), bsp.area_count.div_ceil(8));
            assert!(!is_certain || ours == [1], "{from:?} to {to:?}: {ours:?}");
            if ours.is_empty() {
                hidden += 1;
            } else {
                seen += 1;
            }
            let _ = told(&mut sim, second);
        }
    }
    println!("oa_dm1: {seen} pairs of places in sight, {hidden} out of sight");
    assert!(seen > 0 && hidden > 0);
    sim.check_no_faults();
}

#[test]
fn invalid_map_keeps_the_running_level() {
    let mut assets = MemoryAssets::default();
    let whole = rooms();
    assets.insert("maps/rooms.bsp", whole.clone()).unwrap();
    assets.insert("maps/cut.bsp", whole[..whole.len() - 1].to_vec()).unwrap();
    let mut unborn = whole.clone();
    let at = unborn.windows(17).position(|text| text == b"info_player_start").unwrap();
    unborn[at] = b'I' + 1;
    assets.insert("maps/unborn.bsp", unborn).unwrap();
    let mut unbalanced = whole;
    unbalanced[at + 19] = b' ';
    assets.insert("maps/unbalanced.bsp", unbalanced).unwrap();
    let stage = Shared::default();
    let mut server = server(assets, "rooms", &stage);
    let id = server.settings().get("sv_serverid").unwrap().to_owned();
    for (map, sentence) in [
        ("nowhere", "Can't find map maps/nowhere.bsp"),
        ("../rooms", "Can't find map maps/../rooms.bsp"),
        ("cut", "maps/cut.bsp in memory: "),
        ("unborn", "maps/unborn.bsp in memory: no spawn point"),
        ("unbalanced", "maps/unbalanced.bsp in memory: entity string, line 2: "),
    ] {
        server.handle_input(Millis(1), Input::ConsoleLine(&format!("map {map}")));
        let said = take_text(&mut server, OutputKind::Console);
        assert!(said.starts_with(sentence), "{map}: {said}");
        assert_eq!(server.settings().get("mapname"), Some("rooms"));
        assert_eq!(server.settings().get("sv_serverid"), Some(&*id));
    }
    assert_ne!(server.settings().get("sv_mapChecksum"), Some("0"));
    server.handle_input(Millis(2), Input::ConsoleLine("map rooms"));
    assert_ne!(server.settings().get("sv_serverid"), Some(&*id));
}

#[test]
fn cheats_need_devmap() {
    let mut assets = MemoryAssets::default();
    assets.insert("maps/rooms.bsp", rooms()).unwrap();
    let mut server = server(assets, "rooms", &Shared::default());
    assert_eq!(server.settings().get("sv_cheats"), Some("0"));
    for (line, cheats) in [
        ("devmap nowhere", "0"),
        ("devmap rooms", "1"),
        ("map_restart", "1"),
        ("map nowhere", "1"),
        ("set sv_cheats 0", "1"),
        ("map rooms", "0"),
    ] {
        server.handle_input(Millis(1), Input::ConsoleLine(line));
        assert_eq!(server.settings().get("sv_cheats"), Some(cheats), "{line}");
    }
}

#[test]
fn invalid_first_map_falls_back_to_free_flight() {
    let mut assets = MemoryAssets::default();
    assets.insert("maps/rooms.bsp", rooms()).unwrap();
    let mut server = server(assets, "nowhere", &Shared::default());
    assert_eq!(server.geometry(), Geometry::None);
    assert_eq!(server.settings().get("mapname"), Some("nowhere"));
    server.handle_input(Millis(1), Input::ConsoleLine("map rooms"));
    assert_eq!(server.geometry(), Geometry::Map);
}
