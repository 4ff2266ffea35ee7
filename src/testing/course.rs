//! Scripted moves on the test course: legs, and a client that runs them.
//!
//! A leg begins at rest at a known place of `docs/maps.md`, at a whole period of the movers. Its places therefore
//! depend on movement rules, triggers and movers alone, in virtual time and over sockets.

use std::{fmt, fs, io::Read as _, net::SocketAddr};

use crate::{
    client::{Client, ClientOptions, ConnectionState, Protocol},
    game::{Deathmatch, Game, Ruleset},
    model::{Millis, Qport, UserCmd, assets::MemoryAssets},
    node::{Hosted as _, Input, LocalPort, Node as _, Route},
    server::Server,
    settings::Settings,
    wire::info::InfoString,
};

/// Time between two usercmds.
pub const STEP_MS: u64 = 40;
/// Time of a server frame: more than one per usercmd, so that each usercmd shows in a snapshot.
pub const FRAME_MS: u64 = 20;
/// Time in which a player who was set down comes to rest.
const REST_MS: u64 = 1600;
/// Period of the movers that turn and swing. Each leg begins at a multiple of it.
const MOVERS_MS: i32 = 8000;

/// Keys of a script.
#[derive(Clone, Copy)]
pub enum Keys {
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
pub struct Leg {
    pub name: &'static str,
    start: [i32; 3],
    yaw: i32,
    keys: &'static [(Keys, u64)],
}

const fn leg(name: &'static str, start: [i32; 3], yaw: i32, keys: &'static [(Keys, u64)]) -> Leg {
    Leg { name, start, yaw, keys }
}

/// Legs of the test course.
pub const LEGS: &[Leg] = &[
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

/// Place and health of a player at a time since the leg began.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sample {
    pub time_ms: i32,
    /// Coordinates, to a tenth of a unit.
    pub place: [f32; 3],
    pub health: i32,
}

impl fmt::Display for Sample {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { time_ms, place: [x, y, z], health } = self;
        write!(f, "{time_ms:5} {x:8.1} {y:7.1} {z:7.1} {health:4}")
    }
}

/// Connection between a walker and its server, with a clock.
pub trait Line {
    /// Lets the time of one step pass, with all datagrams.
    fn pass(&mut self, walker: &mut Walker);

    /// Time now.
    fn now(&self) -> Millis;
}

/// A client on a course.
pub struct Walker {
    pub client: Client,
    command_time: i32,
}

impl Walker {
    /// A client that connects to a server.
    #[must_use]
    pub fn new(server: SocketAddr, qport: u16, now: Millis) -> Self {
        Self::of_protocol(server, Protocol::OA_71, qport, now)
    }

    /// A client of a protocol that connects to a server.
    #[must_use]
    pub fn of_protocol(
        server: SocketAddr,
        protocol: &'static Protocol,
        qport: u16,
        now: Millis,
    ) -> Self {
        let mut info = InfoString::normal();
        for (key, value) in [
            ("name", "walker"),
            ("rate", "90000"),
            ("snaps", "50"),
            ("model", "sarge"),
            ("cl_guid", "0123456789ABCDEF0123456789ABCDEF"),
        ] {
            info.set(key, value).unwrap();
        }
        let options = ClientOptions::new(server, protocol, info, Qport(qport), u64::from(qport));
        Self { client: Client::new(options, now).unwrap(), command_time: 0 }
    }

    /// Joins the game.
    pub fn join(&mut self, line: &mut impl Line) {
        for _ in 0..400 {
            self.step(line, Still, 0);
            if self.client.state() == ConnectionState::Active {
                return;
            }
        }
        panic!("in state {:?} after {} ms", self.client.state(), 400 * STEP_MS);
    }

    /// Time by which usercmds are ahead of the newest snapshot, in ms.
    #[must_use]
    pub fn lead_ms(&self) -> i32 {
        self.client.snapshot().map_or(0, |snapshot| self.command_time - snapshot.head.server_time.0)
    }

    /// One usercmd, and every datagram that follows from it.
    pub fn step(&mut self, line: &mut impl Line, keys: Keys, yaw: i32) {
        if matches!(self.client.state(), ConnectionState::Primed | ConnectionState::Active) {
            self.push(keys, yaw);
        }
        line.pass(self);
        while self.client.poll_event().is_some() {}
    }

    fn push(&mut self, keys: Keys, yaw: i32) {
        let step = STEP_MS as i32;
        if self.command_time == 0 {
            let level_time = self.client.snapshot().map_or(0, |s| s.head.server_time.0);
            self.command_time = level_time / step * step;
        }
        self.command_time += step;
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
            Jump => (127, 0, if self.command_time / step % 2 == 0 { 127 } else { 0 }),
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

    /// Sends a client command.
    pub fn send(&mut self, line: &impl Line, command: &str) {
        self.client.send_command(line.now(), command).unwrap();
    }

    /// Runs a leg. Returns a sample for each usercmd that a snapshot shows.
    pub fn run(&mut self, line: &mut impl Line, leg: &Leg) -> Vec<Sample> {
        let [x, y, z] = leg.start;
        self.send(line, "give health");
        // The command throws the player ahead, 136 units along a floor: away from what the leg begins with.
        self.send(line, &format!("setviewpos {x} {y} {z} {}", (leg.yaw + 180) % 360));
        for _ in 0..REST_MS / STEP_MS {
            self.step(line, Still, leg.yaw);
        }
        while self.command_time % MOVERS_MS != 0 {
            self.step(line, Still, leg.yaw);
        }
        let begun = self.command_time;
        let mut samples: Vec<Sample> = Vec::new();
        let mut record = |walker: &Self| {
            let player = walker.client.player().unwrap();
            let time_ms = player.command_time - begun;
            let is_new = samples.last().is_none_or(|last| time_ms > last.time_ms);
            if is_new && time_ms >= 0 {
                // Without a negative zero.
                let place = player.origin.0.map(|along| (along * 10.0).round() / 10.0 + 0.0);
                samples.push(Sample { time_ms, place, health: player.stats[0] });
            }
        };
        record(self);
        for &(keys, ms) in leg.keys {
            for _ in 0..ms / STEP_MS {
                self.step(line, keys, leg.yaw);
                record(self);
            }
        }
        samples
    }
}

/// Line to a server in virtual time: datagrams have no delay, and a snapshot follows each usercmd.
pub struct VirtualLine {
    server: Server,
    now: Millis,
    packet: Vec<u8>,
}

const SERVER: ([u8; 4], u16) = ([10, 0, 0, 1], 27_960);
const CLIENT: ([u8; 4], u16) = ([10, 0, 0, 2], 40_000);

/// A walker on a map, and its line.
#[must_use]
pub fn join_virtual(map: &str) -> (Walker, VirtualLine) {
    join_virtual_as(map, Ruleset::BASEOA, Protocol::OA_71)
}

/// A walker of a protocol on a map with rules, and its line.
#[must_use]
pub fn join_virtual_as(
    map: &str,
    ruleset: &'static Ruleset,
    protocol: &'static Protocol,
) -> (Walker, VirtualLine) {
    let now = Millis(1000);
    let mut line = VirtualLine { server: server_with(map, ruleset, now), now, packet: Vec::new() };
    let mut walker = Walker::of_protocol(SocketAddr::from(SERVER), protocol, 7, now);
    walker.join(&mut line);
    (walker, line)
}

impl Line for VirtualLine {
    fn pass(&mut self, walker: &mut Walker) {
        for _ in 0..STEP_MS / FRAME_MS {
            self.now = Millis(self.now.0 + FRAME_MS);
            walker.client.frame(self.now);
            self.deliver(walker);
            if self.server.next_frame() <= self.now {
                self.server.frame(self.now);
            }
            self.deliver(walker);
        }
    }

    fn now(&self) -> Millis {
        self.now
    }
}

impl VirtualLine {
    fn deliver(&mut self, walker: &mut Walker) {
        let local = LocalPort(0);
        while walker.client.poll_transmit(&mut self.packet).is_some() {
            let route = Route::new(local, SocketAddr::from(CLIENT));
            self.server.handle_datagram(self.now, route, &self.packet);
        }
        while self.server.poll_transmit(&mut self.packet).is_some() {
            walker.client.handle_datagram(self.now, SocketAddr::from(SERVER), &self.packet);
        }
    }
}

/// Returns a server of a map of the project, with cheats.
#[must_use]
pub fn server(map: &str, now: Millis) -> Server {
    server_with(map, Ruleset::BASEOA, now)
}

/// A server of a map with rules.
fn server_with(map: &str, ruleset: &'static Ruleset, now: Millis) -> Server {
    let mut settings = Settings::default();
    for (name, value) in [("sv_fps", "50"), ("sv_floodProtect", "0"), ("timelimit", "0")] {
        settings.set(name, value).unwrap();
    }
    settings.start().unwrap();
    let mut assets = MemoryAssets::default();
    assets.insert(&format!("maps/{map}.bsp"), compiled(map)).unwrap();
    let rules = Box::new(move |_| -> Box<dyn Game> { Box::new(Deathmatch::new(ruleset)) });
    let mut server = Server::new(settings, Box::new(assets), rules, [7; 32]);
    server.handle_input(now, Input::ConsoleLine(&format!("devmap {map}")));
    server
}

/// A compiled map of the project, from its archive.
#[must_use]
pub fn compiled(map: &str) -> Vec<u8> {
    let path = format!("{}/maps/{map}.pk3", env!("CARGO_MANIFEST_DIR"));
    let mut archive = zip::ZipArchive::new(fs::File::open(&path).expect(&path)).unwrap();
    let mut bytes = Vec::new();
    let mut file = archive.by_name(&format!("maps/{map}.bsp")).unwrap();
    file.read_to_end(&mut bytes).unwrap();
    bytes
}
