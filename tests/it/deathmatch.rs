//! Deathmatch on real maps: a host made of paper with a real world in it.

use std::collections::BTreeMap;

use fragd::{
    game::{Deathmatch, Game, Host, LevelStart, Profile},
    model::{
        Buttons, ClientNum, ConfigIndex, EntityNum, EntityShared, EntityState, LevelTime,
        PlayerState, UserCmd, Vec3, Words,
    },
    world::{Entities, Family, World},
};

use crate::maps;

const FRAME_MS: i32 = 50;

/// A server with one map.
struct PaperHost {
    world: World,
    settings: BTreeMap<String, String>,
    configstrings: Vec<String>,
    commands: Vec<UserCmd>,
    printed: Vec<String>,
}

impl Host for PaperHost {
    fn print(&mut self, text: &str) {
        self.printed.push(text.to_owned());
    }
    fn setting(&self, name: &str) -> &str {
        self.settings.get(name).map_or("", String::as_str)
    }
    fn set_setting(&mut self, name: &str, value: &str) {
        self.settings.insert(name.to_owned(), value.to_owned());
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
    fn queue_console(&mut self, _line: &str) {}
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
struct Level {
    game: Deathmatch,
    host: PaperHost,
    now: LevelTime,
}

impl Level {
    fn start(map: &str, profile: &'static Profile) -> Option<Self> {
        let world = World::new(maps::load(map)?, Family::Single).expect("a sound map");
        let host = PaperHost {
            world,
            settings: BTreeMap::from([("mapname".to_owned(), map.to_owned())]),
            configstrings: vec![String::new(); 1024],
            commands: vec![UserCmd::default(); 64],
            printed: Vec::new(),
        };
        let mut level = Self { game: Deathmatch::new(profile), host, now: LevelTime(1000) };
        let start = LevelStart { time: level.now, seed: 3, restart: false };
        level.game.init(&mut level.host, start);
        for _ in 0..3 {
            level.frame(100);
        }
        Some(level)
    }

    fn frame(&mut self, ms: i32) {
        self.now = self.now + ms;
        self.game.run_frame(&mut self.host, self.now);
    }

    fn join(&mut self, number: usize) -> ClientNum {
        let client = ClientNum::new(number).expect("a client number");
        self.game.client_connect(&mut self.host, client, true, false).expect("room");
        self.game.client_begin(&mut self.host, client);
        client
    }

    /// A frame in which a client holds buttons and moves.
    fn hold(&mut self, client: ClientNum, buttons: Buttons, forward: i8) {
        self.now = self.now + FRAME_MS;
        let command = UserCmd {
            server_time: self.now.0,
            buttons,
            forwardmove: forward,
            ..UserCmd::default()
        };
        self.host.commands[client.index()] = command;
        self.game.client_think(&mut self.host, client, &command);
        self.game.run_frame(&mut self.host, self.now);
    }

    fn idle(&mut self, client: ClientNum, ms: i32) {
        for _ in 0..ms / FRAME_MS {
            self.hold(client, Buttons::default(), 0);
        }
    }

    fn state(&self, client: ClientNum) -> &PlayerState {
        self.game.player(client)
    }

    fn entities(&self) -> impl Iterator<Item = (&EntityState, &EntityShared)> {
        (0..self.game.entity_count())
            .filter_map(EntityNum::new)
            .filter_map(|number| self.game.entity(number))
            .map(|entity| (entity.state, entity.shared))
    }

    fn of_type(&self, kind: i32) -> usize {
        self.entities().filter(|(state, _)| state.e_type == kind).count()
    }
}

#[test]
fn somebody_begins_at_a_spot_and_stands_on_the_ground() {
    for profile in Profile::ALL {
        let Some(mut level) = Level::start("oa_dm1", profile) else { return };
        let client = level.join(0);
        level.idle(client, 1000);
        let state = level.state(client);
        assert_eq!(state.ground_entity_num, EntityNum::WORLD.index() as i32, "{}", profile.folder);
        assert_eq!((state.viewheight, state.pm_type), (26, 0));
        assert_eq!(state.stats[0], 124, "one point is lost each second");
        let bsp = level.host.world.bsp();
        let entities = Entities::parse(&bsp.entity_text).expect("entities");
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
fn the_dead_come_back_after_1700_milliseconds() {
    let Some(mut level) = Level::start("oa_dm1", Profile::BASEQ3) else { return };
    let client = level.join(0);
    level.idle(client, 500);
    level.game.client_command(&mut level.host, client, &Words::parse("kill"));
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
fn everything_on_every_map_starts() {
    for map in ["oa_dm1", "oa_dm2", "oa_dm3", "oa_dm4", "oa_dm5", "oa_dm6", "oa_dm7", "aggressor"] {
        let Some(mut level) = Level::start(map, Profile::BASEOA) else { return };
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
        level.game.shutdown(&mut level.host, false);
        drop(areas);
    }
}

/// Puts nobody anywhere: walks a client's state to a place by flying there is not possible, so triggers
/// are tried with the spots nearest to them.
#[test]
fn pads_throw_so_that_their_target_is_the_top() {
    for map in ["oa_dm4", "oa_dm6", "aggressor", "oa_dm7"] {
        let Some(level) = Level::start(map, Profile::BASEOA) else { return };
        let bsp = level.host.world.bsp();
        let entities = Entities::parse(&bsp.entity_text).expect("entities");
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
