//! Scripted moves on the test course over the network: the same places at the same times.
//!
//! Server and client exchange datagrams without delay, one usercmd every 40 ms and a snapshot after each. A leg
//! begins at rest at a known place of `docs/maps.md`, so that its places depend on movement rules, triggers and movers
//! alone. A difference is a change of the game that clients would see as a misprediction, or a change of the map.

use std::{fmt::Write as _, fs, io::Read as _, net::SocketAddr};

use fragd::{
    client::{Client, ClientOptions, ConnectionState, Protocol},
    game::{Deathmatch, Game, Ruleset},
    model::{Millis, Qport, UserCmd, assets::MemoryAssets},
    node::{LocalPort, Node as _, Route},
    server::Server,
    settings::Settings,
    wire::info::InfoString,
};

/// Time between two usercmds.
const STEP_MS: u64 = 40;
/// Time of a server frame: more than one per usercmd, so that each usercmd shows in a snapshot.
const FRAME_MS: u64 = 20;
/// Time in which a player who was set down comes to rest.
const REST_MS: u64 = 1600;

/// Period of the movers that turn and swing. Each leg begins at a multiple of it.
const MOVERS_MS: i32 = 8000;

/// Keys of a script.
#[derive(Clone, Copy)]
enum Keys {
    Still,
    Forward,
    Back,
    Left,
    Right,
    Crouch,
    Jump,
}

use Keys::{Back, Crouch, Forward, Jump, Left, Right, Still};

/// Leg of the course: a place to start from, and keys with their duration in milliseconds.
struct Leg {
    name: &'static str,
    start: [i32; 3],
    yaw: i32,
    keys: &'static [(Keys, u64)],
}

const fn leg(name: &'static str, start: [i32; 3], yaw: i32, keys: &'static [(Keys, u64)]) -> Leg {
    Leg { name, start, yaw, keys }
}

const LEGS: &[Leg] = &[
    leg("hall, running", [-1300, 0, 40], 0, &[(Forward, 4000)]),
    leg("hall, jumping", [-1300, 0, 40], 0, &[(Jump, 4000)]),
    leg("stairs of 16", [-1376, 200, 40], 90, &[(Forward, 2800)]),
    leg("steps of 18", [-1496, 200, 40], 90, &[(Forward, 2000)]),
    leg("step of 19", [-1256, 200, 40], 90, &[(Forward, 1200)]),
    leg("slope of normal z 0.702", [-1072, 200, 40], 90, &[(Forward, 2000)]),
    leg("slope of normal z 0.696", [-912, 200, 40], 90, &[(Forward, 2000)]),
    leg("gap of 32", [-720, 200, 40], 90, &[(Forward, 2000)]),
    leg("gap of 28", [-498, 200, 40], 90, &[(Forward, 1200)]),
    leg("tunnel of 48, standing", [-608, 200, 40], 90, &[(Forward, 1200)]),
    leg("tunnel of 48, crouching", [-608, 200, 40], 90, &[(Crouch, 6400)]),
    leg("water and slope out", [-224, 200, 40], 90, &[(Forward, 4000)]),
    leg("slime", [80, 200, 40], 90, &[(Forward, 600), (Still, 2400), (Forward, 1200)]),
    leg("lava", [240, 200, 40], 90, &[(Forward, 600), (Still, 600), (Forward, 1200)]),
    leg("leap and drop", [544, 160, 40], 90, &[(Forward, 800), (Still, 3200)]),
    leg("lift", [928, 200, 40], 90, &[(Forward, 800), (Still, 2400), (Forward, 800)]),
    leg("turning platform", [1392, 200, 40], 90, &[(Forward, 1120), (Still, 4000)]),
    leg("door", [-1376, -100, 40], 270, &[(Forward, 2800)]),
    leg(
        "button and its door",
        [-888, -60, 40],
        270,
        &[(Forward, 800), (Right, 440), (Forward, 2000)],
    ),
    leg("teleporter", [-608, -300, 40], 270, &[(Forward, 1600)]),
    leg("around the corners", [160, -400, 40], 270, &[(Forward, 2000), (Left, 1600), (Back, 2000)]),
    leg("jump pad to the ledge", [928, 0, 40], 270, &[(Forward, 1200), (Still, 2400)]),
    leg("curved column", [1212, -200, 40], 270, &[(Forward, 2400)]),
    leg("hurting zone", [1392, -300, 40], 270, &[(Forward, 960), (Still, 1200)]),
];

/// Server, client and the clock of both.
struct Course {
    server: Server,
    client: Client,
    now: Millis,
    command_time: i32,
    packet: Vec<u8>,
}

const SERVER: ([u8; 4], u16) = ([10, 0, 0, 1], 27_960);
const CLIENT: ([u8; 4], u16) = ([10, 0, 0, 2], 40_000);

impl Course {
    fn new(map: &str) -> Self {
        let mut settings = Settings::default();
        for (name, value) in [("sv_fps", "50"), ("sv_floodProtect", "0"), ("timelimit", "0")] {
            settings.set(name, value).expect("a setting");
        }
        settings.start().expect("sound settings");
        let mut assets = MemoryAssets::default();
        assets.insert(&format!("maps/{map}.bsp"), compiled(map)).expect("a name");
        let rules = Box::new(|_| -> Box<dyn Game> { Box::new(Deathmatch::new(Ruleset::BASEOA)) });
        let mut server = Server::new(settings, Box::new(assets), rules, [7; 32]);
        let now = Millis(1000);
        fragd::node::Hosted::handle_console_line(&mut server, now, &format!("devmap {map}"));
        let mut info = InfoString::normal();
        for (key, value) in
            [("name", "walker"), ("rate", "90000"), ("snaps", "50"), ("model", "sarge")]
        {
            info.set(key, value).expect("a plain pair");
        }
        let options =
            ClientOptions::new(SocketAddr::from(SERVER), Protocol::OA_71, info, Qport(7), 7);
        let client = Client::new(options, now).expect("a short userinfo");
        let mut course = Self { server, client, now, command_time: 0, packet: Vec::new() };
        for _ in 0..400 {
            course.step(Still, 0);
            if course.client.state() == ConnectionState::Active {
                break;
            }
        }
        assert_eq!(course.client.state(), ConnectionState::Active);
        course
    }

    /// One usercmd, and every datagram that follows from it.
    fn step(&mut self, keys: Keys, yaw: i32) {
        if matches!(self.client.state(), ConnectionState::Primed | ConnectionState::Active) {
            let level_time = self.client.snapshot().map_or(0, |s| s.head.server_time.0);
            if self.command_time == 0 {
                self.command_time = level_time / STEP_MS as i32 * STEP_MS as i32;
            }
            self.command_time += STEP_MS as i32;
            let delta = self.client.player().map_or([0; 3], |player| player.delta_angles);
            let angle = |degrees: i32, axis: usize| (degrees * 65_536 / 360 - delta[axis]) & 0xffff;
            let (forwardmove, rightmove, upmove) = match keys {
                Still => (0, 0, 0),
                Forward => (127, 0, 0),
                Back => (-127, 0, 0),
                Left => (0, -127, 0),
                Right => (0, 127, 0),
                Crouch => (127, 0, -127),
                // Held, the button jumps once; each second step it is released.
                Jump => (127, 0, if (self.now.0 / STEP_MS).is_multiple_of(2) { 127 } else { 0 }),
            };
            self.client.push_usercmd(UserCmd {
                server_time: self.command_time,
                angles: [angle(0, 0), angle(yaw, 1), 0],
                weapon: 2,
                forwardmove,
                rightmove,
                upmove,
                ..UserCmd::default()
            });
        }
        for _ in 0..STEP_MS / FRAME_MS {
            self.now = Millis(self.now.0 + FRAME_MS);
            self.client.frame(self.now);
            self.deliver();
            if self.server.next_frame() <= self.now {
                self.server.frame(self.now);
            }
            self.deliver();
        }
        while self.client.poll_event().is_some() {}
    }

    fn deliver(&mut self) {
        let local = LocalPort(0);
        while self.client.poll_transmit(&mut self.packet).is_some() {
            let route = Route { local, remote: SocketAddr::from(CLIENT) };
            self.server.handle_datagram(self.now, route, &self.packet);
        }
        while self.server.poll_transmit(&mut self.packet).is_some() {
            self.client.handle_datagram(self.now, SocketAddr::from(SERVER), &self.packet);
        }
    }

    /// Runs a leg. Returns a line each 400 ms: time, place and health.
    fn run(&mut self, leg: &Leg) -> String {
        let [x, y, z] = leg.start;
        self.send("give health");
        // The command throws the player ahead, 136 units along a floor: away from what the leg begins with.
        self.send(&format!("setviewpos {x} {y} {z} {}", (leg.yaw + 180) % 360));
        for _ in 0..REST_MS / STEP_MS {
            self.step(Still, leg.yaw);
        }
        while self.client.player().expect("a snapshot").command_time % MOVERS_MS != 0 {
            self.step(Still, leg.yaw);
        }
        let begun = self.client.player().expect("a snapshot").command_time;
        let mut text = format!("{}\n", leg.name);
        let mut last = -1;
        let mut record = |course: &Self| {
            let player = course.client.player().expect("a snapshot");
            let time = player.command_time - begun;
            if time > last && time % 400 == 0 {
                last = time;
                // Without a negative zero.
                let [x, y, z] = player.origin.0.map(|v| (v * 10.0).round() / 10.0 + 0.0);
                let health = player.stats[0];
                writeln!(text, "{time:5} {x:8.1} {y:7.1} {z:7.1} {health:4}").expect("text");
            }
        };
        record(self);
        for &(keys, ms) in leg.keys {
            for _ in 0..ms / STEP_MS {
                self.step(keys, leg.yaw);
                record(self);
            }
        }
        text
    }

    fn send(&mut self, command: &str) {
        self.client.send_command(self.now, command).expect("room for a command");
    }
}

/// A compiled map of the project, from its archive.
fn compiled(map: &str) -> Vec<u8> {
    let path = format!("{}/maps/{map}.pk3", env!("CARGO_MANIFEST_DIR"));
    let mut archive = zip::ZipArchive::new(fs::File::open(&path).expect(&path)).expect("a pk3");
    let mut bytes = Vec::new();
    let mut file = archive.by_name(&format!("maps/{map}.bsp")).expect("the map");
    file.read_to_end(&mut bytes).expect("bytes");
    bytes
}

#[test]
fn course_gives_same_places_at_same_times() {
    let mut course = Course::new("course");
    let text: String = LEGS.iter().map(|leg| course.run(leg)).collect();
    let expected = include_str!("../vectors/course.txt");
    let differs = text.lines().zip(expected.lines()).position(|(got, want)| got != want);
    assert!(text == expected, "differs from line {differs:?} on:\n{text}");
}

/// Ground entity of a player in the air.
const GROUND_NONE: i32 = 1023;

/// A jump pad: map, center, and the box of the places where a flight without keys lands.
type Pad = (&'static str, [i32; 3], [[f32; 3]; 2]);

/// Jump pads of the arenas.
const PADS: &[Pad] = &[
    // Past the ledge, into the teleporter and out in the workshop.
    ("fragd1", [832, -832, 24], [[-1040.0, -840.0, 24.0], [-880.0, -824.0, 25.0]]),
    ("fragd1", [1040, -320, 24], [[640.0, -384.0, 216.0], [784.0, 384.0, 217.0]]),
    ("fragd1", [-1024, 768, 216], [[-1088.0, 496.0, 408.0], [-928.0, 640.0, 409.0]]),
    ("fragdctf1", [-1472, 384, 24], [[-1040.0, 0.0, 216.0], [-896.0, 400.0, 217.0]]),
    ("fragdctf1", [1472, 384, 24], [[896.0, 0.0, 216.0], [1040.0, 400.0, 217.0]]),
];

#[test]
fn jump_pads_lead_to_their_ledges() {
    let mut course: Option<(&str, Course)> = None;
    for &(map, [x, y, z], [low, high]) in PADS {
        if course.as_ref().is_none_or(|(loaded, _)| *loaded != map) {
            course = Some((map, Course::new(map)));
        }
        let (_, course) = course.as_mut().expect("a course");
        course.send(&format!("setviewpos {x} {y} {z} 180"));
        let (mut highest, mut origin) = (f32::MIN, [0.0; 3]);
        for _ in 0..3200 / STEP_MS {
            course.step(Still, 0);
            let player = course.client.player().expect("a snapshot");
            origin = player.origin.0;
            highest = highest.max(origin[2]);
            if highest > z as f32 + 100.0 && player.ground_entity_num != GROUND_NONE {
                break;
            }
        }
        let is_there = (0..3).all(|axis| (low[axis]..=high[axis]).contains(&origin[axis]));
        assert!(is_there, "{map}: pad at {x} {y} {z} leads to {origin:?}, highest {highest}");
    }
}
