//! Deathmatch on real maps, with a fake host around a real world.

use std::collections::BTreeMap;

use fragd::{
    cvar::{Choice as _, GameFolder, Values},
    game::{ConsoleTiming, Deathmatch, Game, Host, LevelStart, Ruleset},
    model::{
        Buttons, ClientNum, CommandArgs, ConfigIndex, EntityNum, EntityShared, EntityState,
        LevelTime, PlayerState, UserCmd, Vec3,
    },
    settings::SETTINGS,
    world::{Bsp, MapEntities, TracePrecision, TraceQuery, World, entity_string::MapEntity},
};

use crate::installed_maps;

pub(crate) const FRAME_MS: i32 = 50;

/// A server with one map.
pub(crate) struct PaperHost {
    pub(crate) world: World,
    settings: Values,
    variables: BTreeMap<String, String>,
    pub(crate) configstrings: Vec<String>,
    commands: Vec<UserCmd>,
    pub(crate) printed: Vec<String>,
}

impl Host for PaperHost {
    fn print(&mut self, text: &str) {
        self.printed.push(text.to_owned());
    }
    fn settings(&self) -> &Values {
        &self.settings
    }
    fn setting(&self, name: &str) -> &str {
        let variable = || self.variables.get(name).map(String::as_str);
        self.settings.get(name).or_else(variable).unwrap_or("")
    }
    fn set_setting(&mut self, name: &str, value: &str) {
        if self.settings.set(name, value) == Ok(false) {
            self.variables.insert(name.to_owned(), value.to_owned());
        }
    }
    fn send_command(&mut self, _to: Option<ClientNum>, _text: &str) {}
    fn set_configstring(&mut self, index: ConfigIndex, text: &str) {
        text.clone_into(&mut self.configstrings[index.index()]);
    }
    fn configstring(&self, index: ConfigIndex) -> &str {
        &self.configstrings[index.index()]
    }
    fn userinfo(&self, _client: ClientNum) -> &str {
        "\\name\\walker\\model\\sarge"
    }
    fn usercmd(&self, client: ClientNum) -> UserCmd {
        self.commands[client.index()]
    }
    fn set_userinfo(&mut self, _client: ClientNum, _text: &str) {}
    fn drop_client(&mut self, client: ClientNum, reason: &str) {
        panic!("{client} dropped: {reason}");
    }
    fn drop_client_now(
        &mut self,
        client: ClientNum,
        reason: &str,
        _disconnect: &mut dyn FnMut(&mut dyn Host),
    ) {
        panic!("{client} dropped: {reason}");
    }
    fn run_console(&mut self, _when: ConsoleTiming, _line: &str) {}
    fn is_local(&self, _client: ClientNum) -> bool {
        false
    }
    fn world(&self) -> Option<&World> {
        Some(&self.world)
    }
    fn world_mut(&mut self) -> Option<&mut World> {
        Some(&mut self.world)
    }
    fn link_entity(&mut self, state: &mut EntityState, shared: &mut EntityShared) {
        let number = EntityNum::new(state.number as usize).expect("a number");
        self.world.link(number, state, shared);
    }
    fn unlink_entity(&mut self, number: EntityNum, shared: &mut EntityShared) {
        self.world.unlink(number, shared);
    }
}

/// A level with players in it.
pub(crate) struct Level {
    pub(crate) game: Deathmatch,
    pub(crate) host: PaperHost,
    pub(crate) now: LevelTime,
}

impl Level {
    pub(crate) fn start(map: &str, ruleset: &'static Ruleset) -> Option<Self> {
        Self::on(installed_maps::load(map)?, map, ruleset)
    }

    /// A map with other entities than its own.
    pub(crate) fn with_entities(
        map: &str,
        ruleset: &'static Ruleset,
        entities: &str,
    ) -> Option<Self> {
        let mut bsp = installed_maps::load(map)?;
        let text = format!("{{ classname worldspawn }}\n{entities}");
        bsp.entity_text = text.into_bytes().into();
        Self::on(bsp, map, ruleset)
    }

    pub(crate) fn on(bsp: Bsp, map: &str, ruleset: &'static Ruleset) -> Option<Self> {
        let world = World::new(bsp, TracePrecision::Single).expect("a sound map");
        let host = PaperHost {
            world,
            settings: {
                let game = GameFolder::named(ruleset.folder).expect("a game");
                let mut settings = Values::new(SETTINGS, game);
                settings.set("mapname", map).expect("a map name");
                settings
            },
            variables: BTreeMap::new(),
            configstrings: vec![String::new(); 1024],
            commands: vec![UserCmd::default(); 64],
            printed: Vec::new(),
        };
        let mut level = Self { game: Deathmatch::new(ruleset), host, now: LevelTime(1000) };
        let start = LevelStart { time: level.now, seed: 3, restart: false };
        level.game.init(&mut level.host, start).expect("no fault");
        for _ in 0..3 {
            level.frame(100);
        }
        Some(level)
    }

    pub(crate) fn frame(&mut self, ms: i32) {
        self.now = self.now + ms;
        self.game.run_frame(&mut self.host, self.now).expect("no fault");
    }

    pub(crate) fn join(&mut self, number: usize) -> ClientNum {
        let client = ClientNum::new(number).expect("a client number");
        self.game.client_connect(&mut self.host, client, true, false).expect("room");
        self.game.client_begin(&mut self.host, client).expect("no fault");
        client
    }

    /// A frame in which a client holds buttons and moves.
    pub(crate) fn hold(&mut self, client: ClientNum, buttons: Buttons, forward: i8) {
        self.now = self.now + FRAME_MS;
        let command = UserCmd {
            server_time: self.now.0,
            buttons,
            forwardmove: forward,
            ..UserCmd::default()
        };
        self.host.commands[client.index()] = command;
        self.game.client_think(&mut self.host, client, &command).expect("no fault");
        self.game.run_frame(&mut self.host, self.now).expect("no fault");
    }

    pub(crate) fn idle(&mut self, client: ClientNum, ms: i32) {
        for _ in 0..ms / FRAME_MS {
            self.hold(client, Buttons::default(), 0);
        }
    }

    pub(crate) fn state(&self, client: ClientNum) -> &PlayerState {
        self.game.player(client)
    }

    pub(crate) fn entities(&self) -> impl Iterator<Item = (&EntityState, &EntityShared)> {
        (0..self.game.entity_count())
            .filter_map(EntityNum::new)
            .filter_map(|number| self.game.entity(number))
            .map(|entity| (entity.state, entity.shared))
    }

    pub(crate) fn of_type(&self, kind: i32) -> usize {
        self.entities().filter(|(state, _)| state.e_type == kind).count()
    }
}

#[test]
fn player_spawns_on_the_ground() {
    for ruleset in Ruleset::ALL {
        let Some(mut level) = Level::start("oa_dm1", ruleset) else { return };
        let client = level.join(0);
        level.idle(client, 1000);
        let state = level.state(client);
        assert_eq!(state.ground_entity_num, EntityNum::WORLD.index() as i32, "{}", ruleset.folder);
        assert_eq!((state.viewheight, state.pm_type), (26, 0));
        assert_eq!(state.stats[0], 124, "one point is lost each second");
        let bsp = level.host.world.bsp();
        let entities = MapEntities::parse(&bsp.entity_text).expect("entities");
        let near = entities
            .of_class("info_player_deathmatch")
            .any(|spot| (spot.origin() - state.origin).length() < 64.0);
        assert!(near, "{:?}", state.origin);
        let before = state.origin;
        for _ in 0..10 {
            level.hold(client, Buttons::default(), 127);
        }
        assert!((level.state(client).origin - before).length() > 20.0, "it walks");
    }
}

#[test]
fn dead_player_respawns_after_1700_ms() {
    let Some(mut level) = Level::start("oa_dm1", Ruleset::BASEQ3) else { return };
    let client = level.join(0);
    level.idle(client, 500);
    level
        .game
        .client_command(&mut level.host, client, &CommandArgs::parse("kill"))
        .expect("no fault");
    assert!(level.state(client).stats[0] <= 0);
    let mut waited = 0;
    while level.state(client).stats[0] <= 0 {
        let buttons = if waited / FRAME_MS % 2 == 0 { Buttons::ATTACK } else { Buttons::default() };
        level.hold(client, buttons, 0);
        waited += FRAME_MS;
        assert!(waited < 3000);
    }
    assert!((1700..=1900).contains(&waited), "{waited} ms");
    assert_eq!(level.state(client).persistant[8], 1, "one death");
    assert_eq!(level.state(client).persistant[0], -1);
}

#[test]
fn entities_of_every_map_spawn() {
    for map in ["oa_dm1", "oa_dm2", "oa_dm3", "oa_dm4", "oa_dm5", "oa_dm6", "oa_dm7", "aggressor"] {
        let Some(mut level) = Level::start(map, Ruleset::BASEOA) else { return };
        let client = level.join(0);
        level.idle(client, 3000);
        let unknown: Vec<_> = level.host.printed.iter().filter(|l| l.contains("unknown")).collect();
        println!(
            "{map}: {} movers, {} pads, {} teleporters; {unknown:?}",
            level.of_type(4),
            level.of_type(8),
            level.of_type(9)
        );
        for (state, _) in level.entities() {
            assert!(state.origin2.0.iter().all(|f| f.is_finite()));
        }
        let areas = level.host.world.areas().clone();
        level.game.shutdown(&mut level.host, false).expect("no fault");
        drop(areas);
    }
}

#[test]
fn jump_pad_arc_peaks_at_its_target() {
    for map in ["oa_dm4", "oa_dm6", "aggressor", "oa_dm7"] {
        let Some(level) = Level::start(map, Ruleset::BASEOA) else { return };
        let bsp = level.host.world.bsp();
        let entities = MapEntities::parse(&bsp.entity_text).expect("entities");
        let targets: Vec<Vec3> = entities.all().iter().map(|entity| entity.origin()).collect();
        for (state, shared) in level.entities().filter(|(state, _)| state.e_type == 8) {
            let velocity = state.origin2;
            let time = velocity[2] / 800.0;
            let center = (shared.absmin + shared.absmax) * 0.5;
            let top = Vec3::new(
                center[0] + velocity[0] * time,
                center[1] + velocity[1] * time,
                center[2] + velocity[2] * time * 0.5,
            );
            let nearest = targets.iter().map(|t| (*t - top).length()).fold(f32::MAX, f32::min);
            assert!(nearest < 1.0, "{map}: {nearest} units off");
        }
    }
}

/// An entity as text, of its own: nothing else sets it off.
pub(crate) fn alone(entity: &MapEntity) -> String {
    let pairs: String = entity
        .pairs()
        .filter(|(key, _)| !["targetname", "health", "team"].contains(key))
        .map(|(key, value)| format!("\"{key}\" \"{value}\"\n"))
        .collect();
    format!("{{\n{pairs}}}\n")
}

/// A spot at which a player appears with its origin at a place.
pub(crate) fn spot_at(origin: Vec3) -> String {
    let [x, y, z] = origin.0;
    format!("{{ classname info_player_deathmatch origin \"{x} {y} {}\" }}\n", z - 9.0)
}

/// The middle of an entity's brushes, at a height where a player's feet are within them.
fn inside(bsp: &Bsp, entity: &MapEntity) -> Vec3 {
    let model = bsp.inline_model(entity.field("model").expect("brushes")).expect("a model");
    let model = &bsp.models[model];
    let mut middle = (model.mins + model.maxs) * 0.5 + entity.origin();
    middle[2] = (model.mins[2] + 25.0).min(model.maxs[2] + 20.0) + entity.origin()[2];
    middle
}

/// An entity as text.
fn text(entity: &MapEntity) -> String {
    let pairs: String =
        entity.pairs().map(|(key, value)| format!("\"{key}\" \"{value}\"\n")).collect();
    format!("{{\n{pairs}}}\n")
}

#[test]
fn teleporter_moves_player_to_its_target() {
    let Some(bsp) = installed_maps::load("oa_dm1") else { return };
    let entities = MapEntities::parse(&bsp.entity_text).expect("entities");
    let teleporter = entities.of_class("trigger_teleport").next().expect("a teleporter");
    let target = teleporter.field("target").expect("a target");
    let place = entities.targets(target).next().expect("the target");
    let all = [spot_at(inside(&bsp, teleporter)), text(teleporter), text(place)].concat();
    let mut level =
        Level::with_entities("oa_dm1", Ruleset::BASEQ3, &all).expect("the map was there");
    let client = level.join(0);
    level.hold(client, Buttons::default(), 0);
    let away = (level.state(client).origin - place.origin()).length();
    assert!(away < 60.0, "{away} units from the target");
    let events: Vec<i32> = level.entities().map(|(state, _)| state.e_type).collect();
    assert!(events.contains(&(13 + 42)) && events.contains(&(13 + 43)), "{events:?}");
    assert!(level.state(client).velocity.length() > 200.0, "it is thrown out");
    level.idle(client, 500);
    assert_eq!(level.of_type(13 + 43), 0, "events are gone after 300 ms");
}

#[test]
fn jump_pad_launches_player() {
    let Some(bsp) = installed_maps::load("oa_dm7") else { return };
    let entities = MapEntities::parse(&bsp.entity_text).expect("entities");
    let pad = entities.of_class("trigger_push").next().expect("a pad");
    let place = entities.targets(pad.field("target").expect("a target")).next().expect("it");
    let all = [spot_at(inside(&bsp, pad)), text(pad), text(place)].concat();
    let mut level =
        Level::with_entities("oa_dm7", Ruleset::BASEOA, &all).expect("the map was there");
    let client = level.join(0);
    let mut top = f32::MIN;
    for _ in 0..40 {
        level.hold(client, Buttons::default(), 0);
        top = top.max(level.state(client).origin[2]);
    }
    assert!((top - place.origin()[2]).abs() < 48.0, "{top} and not {:?}", place.origin());
}

#[test]
fn fall_damages_player() {
    let mut falls = 0;
    for map in ["oa_dm1", "oa_dm4", "oa_dm7", "aggressor"] {
        let Some(bsp) = installed_maps::load(map) else { return };
        let entities = MapEntities::parse(&bsp.entity_text).expect("entities");
        let world = World::new(bsp, TracePrecision::Single).expect("a sound map");
        for spot in entities.of_class("info_player_deathmatch") {
            for (height, points) in [(300.0, 5), (450.0, 10)] {
                let high = spot.origin() + Vec3::new(0.0, 0.0, height);
                let from = spot.origin() + Vec3::new(0.0, 0.0, 9.0);
                let (mins, maxs) = (Vec3::new(-15.0, -15.0, -24.0), Vec3::new(15.0, 15.0, 32.0));
                let fall = TraceQuery::line(from, high, 1).with_box(mins, maxs);
                if world.map().trace(&fall).fraction < 1.0 {
                    continue;
                }
                let mut level = Level::with_entities(map, Ruleset::BASEQ3, &spot_at(high))
                    .expect("the map was there");
                let client = level.join(0);
                let mut least = i32::MAX;
                for _ in 0..30 {
                    level.hold(client, Buttons::default(), 0);
                    least = least.min(level.state(client).stats[0]);
                }
                assert!(
                    [125 - points, 124 - points].contains(&least),
                    "{least} after {height} units"
                );
                falls += 1;
            }
        }
    }
    println!("{falls} falls");
    assert!(falls > 0);
}

/// Somewhere deep in something, where a player has room.
fn deep_in(world: &World, kind: i32) -> Option<Vec3> {
    let bounds = world.bsp().world();
    let (mins, maxs) = (Vec3::new(-15.0, -15.0, -24.0), Vec3::new(15.0, 15.0, 32.0));
    let steps = |axis: usize| ((bounds.maxs[axis] - bounds.mins[axis]) / 24.0) as usize;
    for x in 0..steps(0) {
        for y in 0..steps(1) {
            for z in 0..steps(2) {
                let at = Vec3::new(x as f32, y as f32, z as f32) * 24.0 + bounds.mins;
                let wet = |up: f32| {
                    let point = at + Vec3::new(0.0, 0.0, up);
                    world.map().point_contents(point) & kind != 0
                };
                let swimmer = TraceQuery::line(at, at, 0x1_0001).with_box(mins, maxs);
                let room = || !world.map().trace(&swimmer).startsolid;
                let within = || world.bsp().viewpoint(at).cluster.is_some();
                if wet(-23.0) && wet(30.0) && wet(90.0) && within() && room() {
                    return Some(at);
                }
            }
        }
    }
    None
}

/// The first map with a place deep in something.
fn flooded(kind: i32) -> Option<(&'static str, Vec3)> {
    [
        "oa_dm1",
        "oa_dm2",
        "oa_dm3",
        "oa_dm5",
        "oa_dm6",
        "oa_dm7",
        "oa_rpg3dm2",
        "am_lavaarena",
        "wrackdm17",
    ]
    .into_iter()
    .find_map(|map| {
        let world =
            World::new(installed_maps::load(map)?, TracePrecision::Single).expect("a sound map");
        Some((map, deep_in(&world, kind)?))
    })
}

#[test]
fn player_drowns_after_twelve_seconds() {
    let Some((map, place)) = flooded(32) else { return println!("skipped: no deep water") };
    println!("{map} {place:?}");
    let mut level =
        Level::with_entities(map, Ruleset::BASEQ3, &spot_at(place)).expect("the map was there");
    let client = level.join(0);
    level.idle(client, 11_900);
    let mut before = level.state(client).stats[0];
    assert!(before >= 100, "{before}");
    let mut gulps = Vec::new();
    for _ in 0..80 {
        level.hold(client, Buttons::default(), 0);
        let health = level.state(client).stats[0];
        if before - health > 1 {
            gulps.push(before - health);
        }
        before = health;
    }
    assert!(gulps.starts_with(&[4, 6, 8]), "{gulps:?}");
}

#[test]
fn lava_kills_player() {
    let Some((map, place)) = flooded(8) else { return println!("skipped: no deep lava") };
    println!("{map} {place:?}");
    let mut level =
        Level::with_entities(map, Ruleset::BASEQ3, &spot_at(place)).expect("the map was there");
    let client = level.join(0);
    level.hold(client, Buttons::default(), 0);
    assert_eq!(level.state(client).stats[0], 125 - 90);
    assert_eq!(level.state(client).loop_sound, 1);
    level.idle(client, 800);
    assert!(level.state(client).stats[0] <= 0);
    let obituary = level.entities().find(|(state, _)| state.e_type == 13 + 60);
    assert_eq!(obituary.map(|(state, _)| state.event_parm), Some(16));
}

#[test]
fn door_opens_for_player_and_closes() {
    for map in ["oa_dm1", "oa_dm2", "oa_dm3", "oa_dm5"] {
        let Some(bsp) = installed_maps::load(map) else { return };
        let entities = MapEntities::parse(&bsp.entity_text).expect("entities");
        let own = |door: &&MapEntity| door.int("spawnflags").unwrap_or(0) & 1 == 0;
        let Some(door) = entities.of_class("func_door").find(own) else { continue };
        let model = bsp.inline_model(door.field("model").expect("brushes")).expect("a model");
        let model = &bsp.models[model];
        let size = model.maxs - model.mins;
        let thin = (0..3).fold(0, |thin, axis| if size[axis] < size[thin] { axis } else { thin });
        let mut at = (model.mins + model.maxs) * 0.5;
        at[thin] = model.maxs[thin] + 40.0;
        if thin != 2 {
            at[2] = model.mins[2] + 26.0;
        }
        if bsp.viewpoint(at).cluster.is_none() {
            println!("skipped: no room in front of a door of {map}");
            continue;
        }
        let all = [spot_at(at), alone(door)].concat();
        let mut level =
            Level::with_entities(map, Ruleset::BASEQ3, &all).expect("the map was there");
        let shut = level.host.world.areas().clone();
        let client = level.join(0);
        let kind = |level: &Level| {
            level.entities().find(|(s, _)| s.e_type == 4).map(|(s, _)| s.pos.kind).expect("a door")
        };
        level.hold(client, Buttons::default(), 0);
        println!("{map}: {:?}", door.field("model"));
        assert_eq!(kind(&level), 3, "{map}: it opens");
        let mut seen = Vec::new();
        for _ in 0..60 {
            level.hold(client, Buttons::default(), 0);
            seen.push(kind(&level));
        }
        assert!(seen.contains(&0), "{map}: it arrives");
        level.game.client_disconnect(&mut level.host, client).expect("no fault");
        for _ in 0..200 {
            level.frame(FRAME_MS);
        }
        assert_eq!(kind(&level), 0, "{map}: it is shut again");
        assert_eq!(*level.host.world.areas(), shut, "{map}: and hides what it hid");
    }
}

/// A lift of a real map.
pub(crate) struct Lift {
    pub(crate) map: &'static str,
    /// Entity text of it alone.
    pub(crate) text: String,
    /// Height of travel, and a position on top of it at the bottom.
    pub(crate) way: f32,
    pub(crate) at: Vec3,
}

/// Lifts of some maps; `None` when the maps are not installed.
pub(crate) fn lifts() -> Option<Vec<Lift>> {
    let mut lifts = Vec::new();
    for map in ["oa_dm2", "oa_dm3", "oa_dm7"] {
        let bsp = installed_maps::load(map)?;
        let entities = MapEntities::parse(&bsp.entity_text).expect("entities");
        for plat in entities.of_class("func_plat") {
            let model = bsp.inline_model(plat.field("model").expect("brushes")).expect("a model");
            let model = &bsp.models[model];
            let tall = model.maxs[2] - model.mins[2];
            let way = plat.float("height").unwrap_or(tall - plat.float("lip").unwrap_or(8.0));
            let mut at = (model.mins + model.maxs) * 0.5;
            at[2] = model.maxs[2] - way + 26.0;
            lifts.push(Lift { map, text: alone(plat), way, at });
        }
    }
    assert!(!lifts.is_empty());
    Some(lifts)
}

#[test]
fn plat_carries_player_up() {
    for Lift { map, text, way, at } in lifts().unwrap_or_default() {
        let all = [spot_at(at), text].concat();
        let mut level =
            Level::with_entities(map, Ruleset::BASEQ3, &all).expect("the map was there");
        let client = level.join(0);
        let mut top = f32::MIN;
        for _ in 0..100 {
            level.hold(client, Buttons::default(), 0);
            top = top.max(level.state(client).origin[2]);
        }
        println!("{map}: {way} up, from {} to {top}", at[2]);
        assert!(top > at[2] + way - 8.0, "{map}: from {} to {top} of {way}", at[2]);
    }
}
