//! Script of usercmds over `fragqw1`, steered on the rules, with lost packets.
//!
//! Steps are usercmds and gates. At a gate each player stands until a mover of its own server arrives, because movers
//! follow the clock of their server.

use std::{f32::consts::TAU, sync::Arc};

use fragd::{
    bsp29::{Bsp29, compiler::fragqw1},
    impairment::{Impairment, SeededRng},
    model::Vec3,
    quakeworld::{
        ClientMessage, ClientMessages, Extensions, Usercmd, bytes::Angle, bytes::Writer,
        channel::MAX_MESSAGE_LEN, moves::write_move, usercmd::button,
    },
    qwgame::{
        QuakeWorldGame as _,
        level::Level,
        movement::{MoveCommand, MoveState, MoveVars},
    },
};

/// Time of a usercmd, in ms.
pub(crate) const MSEC: u8 = 20;
/// Height of a mover's upper stop above its lower one, in units.
pub(crate) const RISE: f32 = 112.0;
/// Usercmds before a waypoint is given up.
const PATIENCE: usize = 300;
/// Distance at which a waypoint is reached, on foot and with jumps, in units.
const REACH: f32 = 16.0;
const HOP_REACH: f32 = 40.0;
/// Idle usercmds behind a gate.
const SETTLE: usize = 3;

/// Mover that a gate waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Gate {
    /// Model of the map.
    pub(crate) model: usize,
    /// Whether it waits for the upper stop.
    pub(crate) is_high: bool,
}

/// One step of the script.
#[derive(Clone, Debug)]
pub(crate) enum ScriptStep {
    /// A usercmd, whether its packet and the answer are lost, and the player behind it.
    Move {
        /// Usercmd.
        command: Usercmd,
        /// Whether the packet is lost.
        is_lost: bool,
        /// Whether the answer is lost.
        is_answer_lost: bool,
        /// State of the player of the rules.
        expected: MoveState,
    },
    /// Idle usercmds until a mover arrives.
    Gate(Gate),
}

/// Kind of a way.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Way {
    Walk,
    /// Slowly, to meet the edge of a trigger.
    Creep,
    Hop,
    Swim,
    Gate(usize, bool),
}
use Way::{Creep, Gate as At, Hop, Swim, Walk};

/// Ways through the west room, from anywhere in it: stairs, ramp, ledges, pool, beach, jumps.
const WEST: &[(f32, f32, Way)] = &[
    (-200.0, 320.0, Walk),
    (-480.0, 320.0, Walk),
    (-480.0, 192.0, Walk),
    (-170.0, 192.0, Walk),
    (-200.0, 20.0, Hop),
    (-380.0, -60.0, Walk),
    (-380.0, -160.0, Swim),
    (-330.0, -270.0, Swim),
    (-226.0, -272.0, Swim),
    (-210.0, -360.0, Walk),
    (-50.0, -360.0, Walk),
    (-60.0, -200.0, Hop),
    (-60.0, 70.0, Hop),
    (-40.0, -128.0, Walk),
];

/// Ways through door and east room, by jump pad and lift to the teleporter, which leads to the west room.
const EAST: &[(f32, f32, Way)] = &[
    (128.0, -128.0, Walk),
    (128.0, -112.0, Walk),
    (2.0, 0.0, At(2, true)),
    (128.0, 128.0, Walk),
    (300.0, 128.0, Walk),
    (460.0, -30.0, Hop),
    (560.0, -32.0, Hop),
    (676.0, -240.0, Walk),
    (676.0, -292.0, Creep),
    (620.0, -320.0, Walk),
    (600.0, -200.0, Walk),
    (700.0, 60.0, Hop),
    (704.0, 190.0, Walk),
    (1.0, 0.0, At(1, false)),
    (704.0, 320.0, Walk),
    (1.0, 0.0, At(1, true)),
    (560.0, 320.0, Walk),
    (340.0, 320.0, Hop),
    (280.0, 320.0, Creep),
    (-480.0, 150.0, Walk),
];

/// Player of the rules, who receives what the network delivers.
pub(crate) struct Reference {
    level: Level,
    history: [Usercmd; 3],
    remembered: Usercmd,
    lost: u32,
    /// Usercmds that ran late, that never ran, and repetitions in their place.
    pub(crate) late: usize,
    pub(crate) missing: usize,
    pub(crate) repeated: usize,
}

impl Reference {
    fn new(map: &Arc<Bsp29>, vars: MoveVars) -> Self {
        let mut level = Level::new("maps/fragqw1.bsp", Arc::clone(map), vars).expect("own map");
        level.begin(0, false);
        Self {
            level,
            history: [Usercmd::ZERO; 3],
            remembered: Usercmd::ZERO,
            lost: 0,
            late: 0,
            missing: 0,
            repeated: 0,
        }
    }

    fn state(&self) -> MoveState {
        self.level.player(0).map(|view| view.state).unwrap_or_default()
    }

    /// Sends a usercmd, as the message of a client, which the level runs as a server does.
    fn send(&mut self, command: Usercmd, is_lost: bool) {
        self.history.rotate_left(1);
        self.history[2] = command;
        if is_lost {
            self.lost += 1;
            return;
        }
        let lost = std::mem::take(&mut self.lost);
        self.late += lost.min(2) as usize;
        self.missing += lost.saturating_sub(2) as usize;
        self.repeated += lost.saturating_sub(2) as usize;
        let mut bytes = Vec::new();
        write_move(
            &mut Writer::new(&mut bytes, MAX_MESSAGE_LEN, Extensions::NONE),
            1,
            0,
            &self.history,
        );
        let messages = ClientMessages::checked(&bytes, Extensions::NONE).expect("own message");
        for message in messages.flatten() {
            let ClientMessage::Move(message) = message else { continue };
            let Self { level, remembered, .. } = self;
            message.run_after_loss(lost, remembered, |command| {
                let angles = command.angles.map(|angle| angle.0.cast_signed());
                let moves = [command.forward, command.side, command.up];
                let (buttons, msec) = (command.buttons, command.msec);
                level.run_command(0, &MoveCommand { angles, moves, buttons, msec }, 0);
            });
            self.remembered = *message.newest();
        }
        while self.level.poll_event().is_some() {}
    }

    /// Stands until a mover arrives.
    fn wait(&mut self, gate: Gate) {
        let target = if gate.is_high { RISE } else { 0.0 };
        let height = |level: &Level| {
            let mover = level.movers().iter().find(|mover| mover.model == gate.model);
            mover.map_or(0.0, |mover| mover.offset[2])
        };
        let idle = idle(self.history[2]);
        let mut was_away = false;
        for _ in 0..2000 {
            self.level.advance(0.02);
            self.send(idle, false);
            let is_there = height(&self.level) == target;
            if is_there && was_away {
                return;
            }
            was_away |= !is_there;
        }
    }
}

/// A usercmd without a move, in the same direction.
#[must_use]
pub(crate) fn idle(command: Usercmd) -> Usercmd {
    Usercmd { msec: MSEC, angles: command.angles, ..Usercmd::ZERO }
}

/// A script with what is known of it.
pub(crate) struct Script {
    /// Steps.
    pub(crate) steps: Vec<ScriptStep>,
    /// Number of waypoints, and those of them that the player of the rules did not reach, with its place.
    pub(crate) waypoints: usize,
    /// See `waypoints`.
    pub(crate) missed: Vec<((f32, f32), Vec3)>,
    /// Distance, in units.
    pub(crate) distance: f32,
    /// Player of the rules at the end.
    pub(crate) reference: Reference,
}

impl Script {
    /// Writes the script of a seed with at least `moves` usercmds.
    #[must_use]
    pub(crate) fn new(seed: u64, moves: usize, loss: &Impairment, vars: MoveVars) -> Self {
        let map = Arc::new(Bsp29::load(&fragqw1()).expect("own map"));
        let mut writer = Self {
            steps: Vec::new(),
            waypoints: 0,
            missed: Vec::new(),
            distance: 0.0,
            reference: Reference::new(&map, vars),
        };
        let mut rng = SeededRng::new(seed);
        let mut network = SeededRng::new(seed ^ 0x1055);
        for _ in 0..100 {
            writer.reference.send(idle(Usercmd::ZERO), false);
        }
        let tour = WEST.iter().chain(EAST);
        let ways = tour.clone().chain(tour).chain(WEST.iter().cycle());
        for way in ways {
            if writer.steps.len() >= moves {
                break;
            }
            writer.go(*way, &mut rng, &mut network, loss);
        }
        // The last usercmds arrive.
        let end = idle(writer.reference.history[2]);
        (0..10).for_each(|_| writer.push(end, &mut network, &Impairment::default()));
        writer
    }

    fn push(&mut self, command: Usercmd, network: &mut SeededRng, loss: &Impairment) {
        let is_lost = loss.decide(network).delays[0].is_none();
        let is_answer_lost = loss.decide(network).delays[0].is_none();
        let before = self.reference.state().origin;
        self.reference.send(command, is_lost);
        let expected = self.reference.state();
        self.distance += (expected.origin - before).length().min(40.0);
        self.steps.push(ScriptStep::Move { command, is_lost, is_answer_lost, expected });
    }

    fn go(
        &mut self,
        (x, y, way): (f32, f32, Way),
        rng: &mut SeededRng,
        network: &mut SeededRng,
        loss: &Impairment,
    ) {
        if let Way::Gate(model, is_high) = way {
            let gate = Gate { model, is_high };
            // A gate begins with what arrived.
            let stop = idle(self.reference.history[2]);
            (0..25).for_each(|_| self.push(stop, network, &Impairment::default()));
            self.reference.wait(gate);
            self.steps.push(ScriptStep::Gate(gate));
            return (0..SETTLE).for_each(|_| self.push(stop, network, &Impairment::default()));
        }
        self.waypoints += 1;
        let to = Vec3::new(x, y, 0.0);
        let (mut side, mut pitch) = (0, 0_u16);
        for turn in 0..PATIENCE {
            let state = self.reference.state();
            let flat = Vec3::new(state.origin[0], state.origin[1], 0.0);
            let left = to - flat;
            // A creeping player ends in the air of a jump pad, or behind a teleporter.
            let is_there = match way {
                Way::Hop => left.length() < HOP_REACH,
                Way::Creep => state.velocity[2] > 300.0 || left.length() > 200.0,
                _ => left.length() < REACH,
            };
            if is_there {
                return;
            }
            if turn % 12 == 0 {
                side = [0, 0, 120, -120][rng.below(4) as usize];
                pitch = [0, 2000, 5000, 62_000][rng.below(4) as usize];
            }
            let yaw = left[1].atan2(left[0]) / TAU * 65_536.0;
            let near = left.length() < 64.0;
            let jumps = match way {
                Way::Hop => rng.chance(400),
                Way::Swim => rng.chance(100),
                _ => false,
            };
            let command = Usercmd {
                msec: MSEC,
                angles: [Angle(pitch), Angle(yaw as i32 as u16), Angle(0)],
                forward: match way {
                    Way::Creep => 35,
                    _ if near => 200,
                    _ => 400,
                },
                side: if near || way == Way::Creep { 0 } else { side },
                up: if way == Way::Swim { [100, 200, 300][rng.below(3) as usize] } else { 0 },
                buttons: if jumps { button::JUMP } else { 0 },
                impulse: 0,
            };
            self.push(command, network, loss);
        }
        self.missed.push(((x, y), self.reference.state().origin));
    }
}
