//! A room to fight in, for tests: a box of walls with more boxes in it, and players where they are put.
//!
//! The floor is at height 0, walls stand 2048 units from the middle on each side, the ceiling is 1024 units up.

use super::Deathmatch;
use crate::game::{
    Game, Host, LevelStart, Profile,
    conformance::TestHost,
    movement::angles,
    numbers::{event, weapon_state},
};
use crate::model::{
    Buttons, ClientNum, ConfigIndex, EntityNum, EntityShared, EntityState, LevelTime, PlayerState,
    UserCmd, Vec3,
};
use crate::world::{Bsp, Family, World};

/// Length of a frame, and of a command.
pub(super) const FRAME_MS: i32 = 50;
/// Height of the origin of who stands on the floor, as spots put players down.
pub(super) const STANDING: f32 = 24.125;

/// What a box is made of.
#[derive(Clone, Copy, Debug)]
pub(super) enum Stuff {
    Wall = 0,
    Sky = 1,
    Metal = 2,
}

/// Name, surface flags, contents, in the order of [`Stuff`].
const SHADERS: [(&str, i32, i32); 3] = [("wall", 0, 1), ("sky", 0x14, 1), ("metal", 0x1000, 1)];

/// A box: lower corner, upper corner, what it is made of.
pub(super) type Block = ([f32; 3], [f32; 3], Stuff);

const ROOM: [Block; 6] = [
    ([-2112.0, -2112.0, -64.0], [2112.0, 2112.0, 0.0], Stuff::Wall),
    ([-2112.0, -2112.0, 1024.0], [2112.0, 2112.0, 1088.0], Stuff::Wall),
    ([-2112.0, -2112.0, 0.0], [-2048.0, 2112.0, 1024.0], Stuff::Wall),
    ([2048.0, -2112.0, 0.0], [2112.0, 2112.0, 1024.0], Stuff::Wall),
    ([-2048.0, -2112.0, 0.0], [2048.0, -2048.0, 1024.0], Stuff::Wall),
    ([-2048.0, 2048.0, 0.0], [2048.0, 2112.0, 1024.0], Stuff::Wall),
];

fn ints(words: &[i32]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

fn floats(words: &[f32]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

/// Spots along one wall, apart from each other.
fn entities() -> Vec<u8> {
    let spot = |n: i32| {
        let x = n * 200 - 1500;
        format!("{{ classname info_player_deathmatch origin \"{x} -1900 16\" }}\n")
    };
    let spots: String = (0..16).map(spot).collect();
    format!("{{ classname worldspawn }}\n{spots}\0").into_bytes()
}

/// A map of the room and some boxes.
fn map(blocks: &[Block]) -> Bsp {
    let blocks = [&ROOM[..], blocks].concat();
    let count = blocks.len() as i32;
    let shaders: Vec<u8> = SHADERS
        .iter()
        .flat_map(|&(name, flags, contents)| {
            let mut bytes = name.as_bytes().to_vec();
            bytes.resize(64, 0);
            [bytes, ints(&[flags, contents])].concat()
        })
        .collect();
    let mut planes = floats(&[1.0, 0.0, 0.0, -8192.0]);
    let (mut sides, mut brushes) = (Vec::new(), Vec::new());
    for (number, (mins, maxs, stuff)) in (0..).zip(&blocks) {
        for axis in 0..3 {
            for (sign, dist) in [(-1.0, -mins[axis]), (1.0, maxs[axis])] {
                let mut plane = [0.0, 0.0, 0.0, dist];
                plane[axis] = sign;
                planes.extend(floats(&plane));
                sides.extend(ints(&[planes.len() as i32 / 16 - 1, *stuff as i32]));
            }
        }
        brushes.extend(ints(&[number * 6, 6, *stuff as i32]));
    }
    let leaf = |cluster: i32, first: i32, count: i32| {
        ints(&[cluster, 0, 0, 0, 0, 0, 0, 0, 0, 0, first, count])
    };
    let everything: Vec<i32> = (0..count).collect();
    let lumps: [Vec<u8>; 17] = [
        entities(),
        shaders,
        planes,
        ints(&[0, -1, -2, 0, 0, 0, 0, 0, 0]),
        [leaf(0, 0, count), leaf(-1, count, 0)].concat(),
        Vec::new(),
        ints(&everything),
        [floats(&[-2112.0, -2112.0, -64.0, 2112.0, 2112.0, 1088.0]), ints(&[0, 0, 0, count])]
            .concat(),
        brushes,
        sides,
        Vec::new(),
        Vec::new(),
        Vec::new(),
        Vec::new(),
        Vec::new(),
        Vec::new(),
        Vec::new(),
    ];
    let mut file = [b"IBSP".to_vec(), ints(&[46])].concat();
    let mut offset = 144;
    for lump in &lumps {
        file.extend(ints(&[offset, lump.len() as i32]));
        offset += lump.len() as i32;
    }
    file.extend(lumps.concat());
    Bsp::load(&file).unwrap_or_else(|error| panic!("{error}"))
}

/// A server made of paper that has a world.
pub(super) struct Ground {
    pub(super) paper: TestHost,
    world: World,
}

impl Host for Ground {
    fn print(&mut self, text: &str) {
        self.paper.print(text);
    }
    fn setting(&self, name: &str) -> &str {
        self.paper.setting(name)
    }
    fn set_setting(&mut self, name: &str, value: &str) {
        self.paper.set_setting(name, value);
    }
    fn send_command(&mut self, to: Option<ClientNum>, text: &str) {
        self.paper.send_command(to, text);
    }
    fn set_configstring(&mut self, index: ConfigIndex, text: &str) {
        self.paper.set_configstring(index, text);
    }
    fn configstring(&self, index: ConfigIndex) -> &str {
        self.paper.configstring(index)
    }
    fn userinfo(&self, client: ClientNum) -> &str {
        self.paper.userinfo(client)
    }
    fn usercmd(&self, client: ClientNum) -> UserCmd {
        self.paper.usercmd(client)
    }
    fn set_userinfo(&mut self, client: ClientNum, text: &str) {
        self.paper.set_userinfo(client, text);
    }
    fn drop_client(&mut self, client: ClientNum, reason: &str) {
        self.paper.drop_client(client, reason);
    }
    fn queue_console(&mut self, line: &str) {
        self.paper.queue_console(line);
    }
    fn is_local(&self, client: ClientNum) -> bool {
        self.paper.is_local(client)
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
pub(super) struct Arena {
    pub(super) game: Deathmatch,
    pub(super) host: Ground,
    pub(super) now: LevelTime,
}

impl Arena {
    /// A game in the room with these boxes and settings.
    pub(super) fn with(
        profile: &'static Profile,
        blocks: &[Block],
        settings: &[(&str, &str)],
    ) -> Self {
        let world = World::new(map(blocks), Family::Single).expect("a sound map");
        let mut host = Ground { paper: TestHost::default(), world };
        // Nobody is spared unless a test is about that.
        host.set_setting("g_spawnprotect", "0");
        host.set_setting("sv_maxclients", "8");
        for (name, value) in settings {
            host.set_setting(name, value);
        }
        let now = LevelTime(1000);
        let mut arena = Self { game: Deathmatch::new(profile), host, now };
        let start = LevelStart { time: arena.now, seed: 3, restart: false };
        arena.game.init(&mut arena.host, start);
        for _ in 0..3 {
            arena.frame();
        }
        arena
    }

    pub(super) fn new(profile: &'static Profile) -> Self {
        Self::with(profile, &[], &[])
    }

    /// A player on the floor, looking along `yaw`, with full health and no armour.
    pub(super) fn join(&mut self, number: usize, x: f32, y: f32, yaw: f32) -> ClientNum {
        let client = ClientNum::new(number).expect("a client number");
        self.host.paper.userinfos[number] = format!("\\name\\player{number}\\model\\sarge");
        self.game.client_connect(&mut self.host, client, true, false).expect("room");
        self.game.client_begin(&mut self.host, client);
        self.put(client, Vec3::new(x, y, STANDING), Vec3::new(0.0, yaw, 0.0));
        let state = &mut self.player(client).state;
        state.stats[0] = 100;
        state.pm_flags = 0;
        state.pm_time = 0;
        client
    }

    pub(super) fn player(&mut self, client: ClientNum) -> &mut crate::game::people::Player {
        self.game.people.players[client.index()].as_mut().expect("a player")
    }

    pub(super) fn state(&self, client: ClientNum) -> &PlayerState {
        Game::player(&self.game, client)
    }

    pub(super) fn health(&self, client: ClientNum) -> i32 {
        self.state(client).stats[0]
    }

    /// Puts a player somewhere, at rest.
    pub(super) fn put(&mut self, client: ClientNum, origin: Vec3, view: Vec3) {
        let player = self.player(client);
        player.state.origin = origin;
        player.state.velocity = Vec3::ZERO;
        player.state.viewheight = 26;
        let last = player.command;
        angles::look(&mut player.state, view, &last);
        player.entity.pos.base = origin.truncated();
        player.shared.current_origin = origin.truncated();
        self.game.bodies[client.index()].seen_at = None;
        self.game.relink_entity(&mut self.host, client.into());
    }

    /// Arms a player with one more weapon, ready in its hands.
    pub(super) fn arm(&mut self, client: ClientNum, number: i32, rounds: i32) {
        let weapons = self.game.people.profile.stats.weapons;
        let player = self.player(client);
        player.state.stats[weapons] |= 1 << number;
        player.state.ammo[number as usize] = rounds;
        player.state.weapon = number;
        player.state.weaponstate = weapon_state::READY;
        player.state.weapon_time = 0;
        player.entity.weapon = number;
        player.command.weapon = number as u8;
    }

    /// One command of a player, and no frame.
    pub(super) fn think(&mut self, client: ClientNum, buttons: Buttons) {
        let player = self.player(client);
        let command = UserCmd {
            server_time: player.state.command_time + FRAME_MS,
            buttons,
            ..player.command
        };
        self.host.paper.usercmds[client.index()] = command;
        self.game.client_think(&mut self.host, client, &command);
    }

    /// Fires once, now, and no frame.
    pub(super) fn fire(&mut self, client: ClientNum) {
        let now = self.now.0;
        let state = &mut self.player(client).state;
        state.command_time = now - FRAME_MS;
        self.think(client, Buttons::ATTACK);
        self.player(client).command.buttons = Buttons::default();
    }

    pub(super) fn frame(&mut self) {
        self.now = self.now + FRAME_MS;
        self.game.run_frame(&mut self.host, self.now);
    }

    pub(super) fn run_for(&mut self, ms: i32) {
        for _ in 0..ms / FRAME_MS {
            self.frame();
        }
    }

    pub(super) fn entities(&self) -> impl Iterator<Item = &EntityState> {
        (0..self.game.entity_count())
            .filter_map(EntityNum::new)
            .filter_map(|number| self.game.entity(number))
            .map(|entity| entity.state)
    }

    /// Freestanding events of a number that show now.
    pub(super) fn events(&self, event: i32) -> Vec<EntityState> {
        self.entities().filter(|state| state.e_type & 0xff == 13 + event).copied().collect()
    }

    /// The only freestanding event of a number.
    pub(super) fn event(&self, event: i32) -> EntityState {
        let events = self.events(event);
        assert_eq!(events.len(), 1, "event {event}: {events:?}");
        events[0]
    }

    /// What flies.
    pub(super) fn missiles(&self) -> Vec<EntityState> {
        self.entities().filter(|state| state.e_type == 3).copied().collect()
    }

    /// Means of the obituaries that show now, in order.
    pub(super) fn obituaries(&self) -> Vec<i32> {
        self.events(event::OBITUARY).iter().map(|state| state.event_parm).collect()
    }
}
