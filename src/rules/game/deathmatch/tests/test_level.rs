//! Test level: a hall with box-shaped movers, and players at chosen positions.

use super::super::{Deathmatch, entities::Entity};
use crate::game::deathmatch::activation::use_entity;
use crate::model::{
    Buttons, ClientNum, ConfigIndex, EntityNum, LevelTime, PlayerState, UserCmd, Vec3,
};
use crate::testing::{Block, TestMap};
use crate::world::{Bsp, TracePrecision, World};
use crate::{
    bg::configstring,
    game::{Game, Host, LevelStart, Ruleset, conformance::TestHost},
};

/// Two corners of a box.
pub(super) type Corners = [[f32; 3]; 2];

/// Half the side of the hall, whose floor is at height 0.
const HALF: f32 = 1024.0;
/// Height of the hall.
const HEIGHT: f32 = 512.0;
/// Thickness of the walls.
const WALL: f32 = 64.0;
/// Origin height of a standing player.
pub(super) const STANDING: f32 = 24.125;
/// Duration of a usercmd, in ms.
pub(super) const FRAME_MS: i32 = 50;

/// Level with players.
pub(super) struct TestLevel {
    pub(super) game: Deathmatch,
    pub(super) host: TestHost,
    pub(super) now: LevelTime,
}

impl TestLevel {
    /// Creates a hall with brush models (`*1` and up) and map entities, the first of which is entity 64.
    ///
    /// It has run for 300 ms, as a level has before the first player enters.
    pub(super) fn new(models: &[Corners], entities: &str) -> Self {
        Self::of(Ruleset::BASEQ3, models, entities)
    }

    pub(super) fn of(ruleset: &'static Ruleset, models: &[Corners], entities: &str) -> Self {
        let mut level = Self::fresh(ruleset, models, entities);
        for _ in 0..3 {
            level.frame(100);
        }
        level
    }

    /// Creates the hall at the time of its load.
    pub(super) fn fresh(ruleset: &'static Ruleset, models: &[Corners], entities: &str) -> Self {
        let map = Bsp::load(&hall(models, entities)).expect("a sound map");
        let world = World::new(map, TracePrecision::Single).expect("a world");
        let mut host = TestHost::of_ruleset(ruleset);
        host.world = Some(world);
        let mut level = Self { game: Deathmatch::new(ruleset), host, now: LevelTime(1000) };
        let start = LevelStart { time: level.now, seed: 3, restart: false };
        level.game.init(&mut level.host, start).expect("no fault");
        level
    }

    pub(super) fn frame(&mut self, ms: i32) {
        self.now = self.now + ms;
        self.game.run_frame(&mut self.host, self.now).expect("no fault");
    }

    /// Runs frames of 50 ms for a time.
    pub(super) fn run(&mut self, ms: i32) {
        for _ in 0..ms / FRAME_MS {
            self.frame(FRAME_MS);
        }
    }

    /// Joins a player at an origin.
    pub(super) fn join(&mut self, number: usize, at: [f32; 3]) -> ClientNum {
        let client = ClientNum::new(number).expect("a client number");
        self.host.userinfos[number] = "\\name\\somebody\\model\\sarge".to_owned();
        self.game.client_connect(&mut self.host, client, true, false).expect("room");
        self.game.client_begin(&mut self.host, client).expect("no fault");
        self.put(client, at);
        client
    }

    /// Joins a spectator at an origin.
    pub(super) fn watch(&mut self, number: usize, at: [f32; 3]) -> ClientNum {
        let client = self.join(number, at);
        let words = crate::model::CommandArgs::parse("team spectator");
        self.game.client_command(&mut self.host, client, &words).expect("no fault");
        self.put(client, at);
        client
    }

    pub(super) fn put(&mut self, client: ClientNum, at: [f32; 3]) {
        let plays = self.game.clients.role(client).plays();
        let player = self.game.clients.players[client.index()].as_mut().expect("a player");
        player.state.origin = Vec3(at);
        player.state.velocity = Vec3::ZERO;
        player.entity.pos.base = Vec3(at);
        player.shared.current_origin = Vec3(at);
        if plays {
            self.host.link_entity(&mut player.entity, &mut player.shared);
        }
    }

    /// Runs a frame with an empty usercmd of a player.
    pub(super) fn stand(&mut self, client: ClientNum) {
        self.now = self.now + FRAME_MS;
        let command =
            UserCmd { server_time: self.now.0, buttons: Buttons::default(), ..UserCmd::default() };
        self.host.usercmds[client.index()] = command;
        self.game.client_think(&mut self.host, client, &command).expect("no fault");
        self.game.run_frame(&mut self.host, self.now).expect("no fault");
    }

    pub(super) fn stand_for(&mut self, client: ClientNum, ms: i32) {
        for _ in 0..ms / FRAME_MS {
            self.stand(client);
        }
    }

    pub(super) fn state(&self, client: ClientNum) -> &PlayerState {
        &self.game.clients.player(client).expect("a player").state
    }

    pub(super) fn entity(&self, number: usize) -> &Entity {
        self.game.entities.get(entity(number)).expect("an entity")
    }

    pub(super) fn exists(&self, number: usize) -> bool {
        self.game.entities.get(entity(number)).is_some()
    }

    pub(super) fn use_entity(&mut self, number: usize, activator: Option<ClientNum>) {
        self.game.with(&mut self.host, |cx, sys| use_entity(cx, sys, entity(number), activator));
    }

    /// Returns the temporary entities: event, parameter, origin.
    pub(super) fn temp_entities(&self) -> Vec<(i32, i32, Vec3)> {
        let numbers = self.game.entities.numbers();
        let states = numbers.filter_map(|number| Some(self.game.entities.get(number)?.state));
        let events = states.filter(|state| state.e_type > 13);
        events.map(|state| (state.e_type - 13, state.event_parm, state.pos.base)).collect()
    }

    /// Returns the index of a sound.
    pub(super) fn sound(&self, name: &str) -> i32 {
        let at = |place: i32| usize::from(configstring::SOUNDS) + place as usize;
        (1..256)
            .find(|&place| {
                ConfigIndex::new(at(place))
                    .is_some_and(|index| self.host.configstring(index) == name)
            })
            .unwrap_or_else(|| panic!("{name} is not registered"))
    }

    pub(super) fn text(&self, index: usize) -> &str {
        self.host.configstring(ConfigIndex::new(index).expect("an index"))
    }

    /// Whether the areas of the two halves are connected.
    pub(super) fn is_open(&self) -> bool {
        let areas = self.host.world().expect("a world").areas();
        areas.connected(areas.number(0), areas.number(1))
    }
}

pub(super) fn entity(number: usize) -> EntityNum {
    EntityNum::new(number).expect("an entity number")
}

/// Builds the map file of a hall with an area on each side of x = 0.
fn hall(models: &[Corners], entities: &str) -> Vec<u8> {
    let block = |[mins, maxs]: Corners| Block { mins, maxs, contents: 1, surface_flags: 0 };
    let (near, far) = (HALF, HALF + WALL);
    let walls = [
        [[-far, -far, -WALL], [far, far, 0.0]],
        [[-far, -far, HEIGHT], [far, far, HEIGHT + WALL]],
        [[-far, -far, 0.0], [-near, far, HEIGHT]],
        [[near, -far, 0.0], [far, far, HEIGHT]],
        [[-near, -far, 0.0], [near, -near, HEIGHT]],
        [[-near, near, 0.0], [near, far, HEIGHT]],
    ];
    let models: Vec<Block> = models.iter().copied().map(block).collect();
    let text = format!("{{ classname worldspawn message Hall }}\n{entities}\0");
    let mut map = TestMap::from_boxes(&text, &walls.map(block), &models);
    // The second of twelve words of the second leaf: its area.
    map.lumps[4][13 * 4] = 1;
    map.file()
}
