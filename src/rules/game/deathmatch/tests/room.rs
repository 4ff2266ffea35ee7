//! Test fixture: a closed room with boxes, and players at chosen positions.
//!
//! The floor is at height 0, the ceiling at 1024, and each wall 2048 units from the center.

use crate::game::deathmatch::Deathmatch;
use crate::model::{
    Buttons, ClientNum, EntityNum, EntityState, LevelTime, PlayerState, UserCmd, Vec3,
};
use crate::testing::sample_maps::{self, TestMap};
use crate::world::{Bsp, TracePrecision, World};
use crate::{
    bg::{EntityType, Event, WeaponState, contents},
    game::{Game, Host, LevelStart, Ruleset, conformance::TestHost, movement::angles},
};

/// Duration of a frame, and of a usercmd, in ms.
pub(crate) const FRAME_MS: i32 = 50;
/// Origin height of a player on the floor, as spawn points place it.
pub(crate) const STANDING: f32 = 24.125;

/// Surface of a box.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Stuff {
    Wall = 0,
    Sky = 1,
    Metal = 2,
    /// Not solid; bodies and items vanish in it.
    Nodrop = 3,
}

/// Contents and surface flags in the order of [`Stuff`].
const SURFACES: [(i32, i32); 4] = [
    (contents::SOLID, 0),
    (contents::SOLID, 0x14),
    (contents::SOLID, 0x1000),
    (contents::NODROP, 0),
];

/// Box: lower corner, upper corner, surface.
pub(crate) type Block = ([f32; 3], [f32; 3], Stuff);

const ROOM: [Block; 6] = [
    ([-2112.0, -2112.0, -64.0], [2112.0, 2112.0, 0.0], Stuff::Wall),
    ([-2112.0, -2112.0, 1024.0], [2112.0, 2112.0, 1088.0], Stuff::Wall),
    ([-2112.0, -2112.0, 0.0], [-2048.0, 2112.0, 1024.0], Stuff::Wall),
    ([2048.0, -2112.0, 0.0], [2112.0, 2112.0, 1024.0], Stuff::Wall),
    ([-2048.0, -2112.0, 0.0], [2048.0, -2048.0, 1024.0], Stuff::Wall),
    ([-2048.0, 2048.0, 0.0], [2048.0, 2112.0, 1024.0], Stuff::Wall),
];

/// Returns the entity string, with spawn points along one wall.
fn entities(more: &str) -> String {
    let spawn_point = |n: i32| {
        let x = n * 200 - 1500;
        format!("{{ classname info_player_deathmatch origin \"{x} -1900 16\" }}\n")
    };
    let spawn_points: String = (0..16).map(spawn_point).collect();
    format!("{{ classname worldspawn }}\n{spawn_points}{more}\0")
}

/// Builds the map of the room with more boxes.
fn map(blocks: &[Block], more: &str) -> Bsp {
    let block = |&(mins, maxs, stuff): &Block| sample_maps::Block {
        mins,
        maxs,
        contents: SURFACES[stuff as usize].0,
        surface_flags: SURFACES[stuff as usize].1,
    };
    let blocks: Vec<_> = ROOM.iter().chain(blocks).map(block).collect();
    let file = TestMap::from_boxes(&entities(more), &blocks, &[]).file();
    Bsp::load(&file).unwrap_or_else(|error| panic!("{error}"))
}

/// Level with players.
pub(crate) struct TestRoom {
    pub(crate) game: Deathmatch,
    pub(crate) host: TestHost,
    pub(crate) now: LevelTime,
}

impl TestRoom {
    /// Starts a game in the room with these boxes and settings.
    pub(crate) fn with(
        ruleset: &'static Ruleset,
        blocks: &[Block],
        settings: &[(&str, &str)],
    ) -> Self {
        Self::of(ruleset, blocks, settings, "")
    }

    /// Starts a game with more map entities.
    pub(crate) fn of(
        ruleset: &'static Ruleset,
        blocks: &[Block],
        settings: &[(&str, &str)],
        entities: &str,
    ) -> Self {
        let world = World::new(map(blocks, entities), TracePrecision::Single).expect("a sound map");
        let mut host = TestHost::of_ruleset(ruleset);
        host.world = Some(world);
        // Spawn protection is off unless a test sets it.
        host.set_setting("g_spawnprotect", "0");
        host.set_setting("sv_maxclients", "8");
        for (name, value) in settings {
            host.set_setting(name, value);
        }
        let now = LevelTime(1000);
        let mut room = Self { game: Deathmatch::new(ruleset), host, now };
        let start = LevelStart { time: room.now, seed: 3, restart: false };
        room.game.init(&mut room.host, start).expect("no fault");
        for _ in 0..3 {
            room.frame();
        }
        room
    }

    pub(crate) fn new(ruleset: &'static Ruleset) -> Self {
        Self::with(ruleset, &[], &[])
    }

    /// Joins a player on the floor that faces `yaw`, with full health and no armor.
    pub(crate) fn join(&mut self, number: usize, x: f32, y: f32, yaw: f32) -> ClientNum {
        let client = ClientNum::new(number).expect("a client number");
        self.host.userinfos[number] = format!("\\name\\player{number}\\model\\sarge");
        self.game.client_connect(&mut self.host, client, true, false).expect("room");
        self.game.client_begin(&mut self.host, client).expect("no fault");
        self.put(client, Vec3::new(x, y, STANDING), Vec3::new(0.0, yaw, 0.0));
        let state = &mut self.player(client).state;
        state.stats[0] = 100;
        state.pm_flags = 0;
        state.pm_time = 0;
        client
    }

    pub(crate) fn player(&mut self, client: ClientNum) -> &mut crate::game::clients::Player {
        self.game.clients.players[client.index()].as_mut().expect("a player")
    }

    pub(crate) fn state(&self, client: ClientNum) -> &PlayerState {
        Game::player(&self.game, client)
    }

    pub(crate) fn health(&self, client: ClientNum) -> i32 {
        self.state(client).stats[0]
    }

    /// Places a player at an origin, without velocity and without earlier places.
    pub(crate) fn put(&mut self, client: ClientNum, origin: Vec3, view: Vec3) {
        self.move_to(client, origin, view);
        self.game.with(&mut self.host, |cx, sys| sys.fight.lag.reset(cx, client));
    }

    /// Places a player as a movement does.
    pub(crate) fn move_to(&mut self, client: ClientNum, origin: Vec3, view: Vec3) {
        let player = self.player(client);
        player.state.origin = origin;
        player.state.velocity = Vec3::ZERO;
        player.state.viewheight = 26;
        let last = player.command;
        angles::look(&mut player.state, view, &last);
        player.entity.pos.base = origin.truncated();
        player.shared.current_origin = origin.truncated();
        self.game.with(&mut self.host, |cx, _| cx.relink_entity(client.into()));
    }

    /// Gives a player a weapon and selects it.
    pub(crate) fn arm(&mut self, client: ClientNum, number: impl Into<i32>, rounds: i32) {
        let number = number.into();
        let weapons = self.game.clients.ruleset.stats.weapons;
        let player = self.player(client);
        player.state.stats[weapons] |= 1 << number;
        player.state.ammo[number as usize] = rounds;
        player.state.weapon = number;
        player.state.weaponstate = WeaponState::Ready as i32;
        player.state.weapon_time = 0;
        player.entity.weapon = number;
        player.command.weapon = number as u8;
    }

    /// Runs one usercmd of a player, without a frame.
    pub(crate) fn think(&mut self, client: ClientNum, buttons: Buttons) {
        let player = self.player(client);
        let command = UserCmd {
            server_time: player.state.command_time + FRAME_MS,
            buttons,
            ..player.command
        };
        self.host.usercmds[client.index()] = command;
        self.game.client_think(&mut self.host, client, &command).expect("no fault");
    }

    /// Fires once, without a frame.
    pub(crate) fn fire(&mut self, client: ClientNum) {
        let now = self.now.0;
        let state = &mut self.player(client).state;
        state.command_time = now - FRAME_MS;
        self.think(client, Buttons::ATTACK);
        self.player(client).command.buttons = Buttons::default();
    }

    pub(crate) fn frame(&mut self) {
        self.now = self.now + FRAME_MS;
        self.game.run_frame(&mut self.host, self.now).expect("no fault");
    }

    pub(crate) fn run_for(&mut self, ms: i32) {
        for _ in 0..ms / FRAME_MS {
            self.frame();
        }
    }

    pub(crate) fn entities(&self) -> impl Iterator<Item = &EntityState> {
        (0..self.game.entity_count())
            .filter_map(EntityNum::new)
            .filter_map(|number| self.game.entity(number))
            .map(|entity| entity.state)
    }

    /// Returns the current temporary entities with an event.
    pub(crate) fn events(&self, event: Event) -> Vec<EntityState> {
        self.entities()
            .filter(|state| state.e_type & 0xff == EntityType::with_event(event))
            .copied()
            .collect()
    }

    /// Returns the only temporary entity with an event.
    pub(crate) fn event(&self, event: Event) -> EntityState {
        let events = self.events(event);
        assert_eq!(events.len(), 1, "{event:?}: {events:?}");
        events[0]
    }

    /// Returns all projectiles.
    pub(crate) fn missiles(&self) -> Vec<EntityState> {
        self.entities().filter(|state| state.e_type == 3).copied().collect()
    }

    /// Returns the means of death of the current obituaries, in order.
    pub(crate) fn obituaries(&self) -> Vec<i32> {
        self.events(Event::Obituary).iter().map(|state| state.event_parm).collect()
    }
}
