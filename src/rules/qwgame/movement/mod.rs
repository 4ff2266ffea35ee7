//! Player move of QuakeWorld: a pure function of state, command and solid entities.
//!
//! Invariants:
//! - arithmetic is single precision, one operation after the other; products with decimal constants are computed
//!   in double precision and rounded once;
//! - a move does not allocate; it traces at most 30 lines;
//! - a state that is not finite stays within the move: nothing fails on it.
//!
//! Source: QuakeWorld protocol 28. Engine names: `PM_PlayerMove`, `playermove_t`, `movevars_t`.

mod ground;
mod scene;
mod slide;
mod speed_check;
mod touched;
mod velocity;
mod walk;

#[cfg(test)]
mod tests;

use crate::bsp29::{Contents, HULL_BOXES};
use crate::model::Vec3;
use crate::model::trig::{Axes, DegreeFactor};

use self::scene::Nearby;

pub use self::scene::{MAX_SOLID_ENTITIES, Scene, SolidEntity, SolidShape};
pub use self::speed_check::{MAX_SAVED_MS, SpeedCheck};
pub use self::touched::Touched;

/// Lower corner of a player's box.
pub const PLAYER_MINS: Vec3 = HULL_BOXES[1].0;
/// Upper corner of a player's box.
pub const PLAYER_MAXS: Vec3 = HULL_BOXES[1].1;

/// Button of an attack.
pub const BUTTON_ATTACK: u8 = 1;
/// Button of a jump.
pub const BUTTON_JUMP: u8 = 2;

/// Longest command that runs at once, in ms; a longer one runs in halves.
pub const MAX_COMMAND_MSEC: u8 = 50;

/// Most speed that a move gains by a jump, in units per second.
const MAX_JUMP_SPEED: f32 = 310.0;

/// Horizontal distance from its way at which a move looks for entities. It covers an edge in front of the feet.
const SIDE_REACH: f32 = 24.0;

/// The same vertically. It covers a nudge, a step and the ground below an edge.
const HEIGHT_REACH: f32 = 104.0;

/// Lowest vertical part of the normal of a floor.
const MIN_FLOOR_NORMAL: f64 = 0.7;

/// Input of one move.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MoveCommand {
    /// Pitch, yaw and roll, in 65,536ths of a turn.
    pub angles: [i16; 3],
    /// Speeds forward, right and up, in units per second.
    pub moves: [i16; 3],
    /// Pressed buttons.
    pub buttons: u8,
    /// Length of the move, in ms.
    pub msec: u8,
}

impl MoveCommand {
    /// Returns the angles in degrees.
    #[must_use]
    pub fn degrees(&self) -> Vec3 {
        // The factor is a power of two by 45, thus exact.
        Vec3(self.angles.map(|angle| f32::from(angle) * (360.0 / 65536.0)))
    }

    /// Calls `run` for each part of at most [`MAX_COMMAND_MSEC`], with whether it is the first. Only the first has
    /// the impulse of the command. An odd length loses a millisecond per halving.
    pub fn for_each_part(&self, run: &mut impl FnMut(Self, bool)) {
        self.part(true, run);
    }

    fn part(&self, is_first: bool, run: &mut impl FnMut(Self, bool)) {
        if self.msec <= MAX_COMMAND_MSEC {
            return run(*self, is_first);
        }
        let half = Self { msec: self.msec / 2, ..*self };
        half.part(is_first, run);
        half.part(false, run);
    }

    fn presses_jump(&self) -> bool {
        self.buttons & BUTTON_JUMP != 0
    }
}

/// Kind of a move.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MoveKind {
    /// A player who walks and swims.
    #[default]
    Normal,
    /// A spectator of servers without a kind for spectators.
    OldSpectator,
    /// A spectator who flies through walls.
    Spectator,
    /// A dead player, who falls.
    Dead,
    /// A player who flies.
    Fly,
    /// A player who does not move.
    None,
    /// A player who does not move and whose view is locked.
    Locked,
}

/// Constants of the physics, as the server tells them to clients.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MoveVars {
    /// Gravity, in units per second squared.
    pub gravity: f32,
    /// Speed below which friction does not fall further.
    pub stop_speed: f32,
    /// Maximum speed of a player.
    pub max_speed: f32,
    /// Maximum speed of a spectator.
    pub spectator_max_speed: f32,
    /// Acceleration on the ground, and in the air.
    pub accelerate: f32,
    /// Acceleration in the air of servers; moves do not use it.
    pub air_accelerate: f32,
    /// Acceleration in liquids.
    pub water_accelerate: f32,
    /// Friction on the ground.
    pub friction: f32,
    /// Friction in liquids.
    pub water_friction: f32,
    /// Factor of gravity of this player.
    pub entity_gravity: f32,
    /// Variants that serverinfo keys name.
    pub variants: MoveVariants,
}

/// Variants of the move.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct MoveVariants {
    /// `pm_bunnyspeedcap`: speed that jumps reach, as a factor of the maximum speed; 0 without a limit.
    pub bunny_speed_cap: f32,
    /// `pm_ktjump`: part of the jump speed that does not depend on the fall before.
    pub kt_jump: f32,
    /// `pm_slidefix`: gravity acts on the ground.
    pub slide_fix: bool,
    /// `pm_airstep`: steps are climbed in the air.
    pub air_step: bool,
    /// `pm_pground`: the ground is part of the state.
    pub predict_ground: bool,
}

impl Default for MoveVars {
    fn default() -> Self {
        Self {
            gravity: 800.0,
            stop_speed: 100.0,
            max_speed: 320.0,
            spectator_max_speed: 500.0,
            accelerate: 10.0,
            air_accelerate: 10.0,
            water_accelerate: 10.0,
            friction: 4.0,
            water_friction: 4.0,
            entity_gravity: 1.0,
            variants: MoveVariants::default(),
        }
    }
}

/// State of a player that moves change.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct MoveState {
    /// Position.
    pub origin: Vec3,
    /// Velocity, in units per second.
    pub velocity: Vec3,
    /// Kind of the move.
    pub kind: MoveKind,
    /// Whether the player stands.
    pub on_ground: bool,
    /// Whether the jump button was down at the last move.
    pub jump_held: bool,
    /// Time since a jump, in ms; 0 after 50 ms. Servers reset it before each command.
    pub jump_msec: i32,
    /// Rest of a jump out of the water, in seconds.
    pub water_jump_time: f32,
}

/// Results of a move beside the state.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MoveOutcome {
    /// Depth in a liquid: 0 dry, 1 feet, 2 waist, 3 eyes.
    pub water_level: u8,
    /// Liquid at the feet, or [`Contents::EMPTY`]. `None` for a spectator.
    pub water_type: Option<Contents>,
    /// SolidEntity under the feet; 0 is the world.
    pub ground: Option<usize>,
    /// Entities that the player touched.
    pub touched: Touched,
}

/// Moves a player by a command.
#[must_use]
pub fn player_move(
    scene: &Scene<'_>,
    vars: &MoveVars,
    state: &mut MoveState,
    command: &MoveCommand,
) -> MoveOutcome {
    let seconds = (f64::from(command.msec) * 0.001) as f32;
    let nearby = Nearby::find(scene, state.origin, reach(vars, state, seconds));
    move_among(nearby, vars, state, command, seconds)
}

/// Moves a player by a command of a length in seconds, among the entities in reach.
fn move_among(
    scene: Nearby<'_>,
    vars: &MoveVars,
    state: &mut MoveState,
    command: &MoveCommand,
    seconds: f32,
) -> MoveOutcome {
    let axes = Axes::of_angles(command.degrees(), DegreeFactor::Double);
    let mut pmove = Pmove {
        scene,
        vars,
        state,
        command,
        seconds,
        forward: axes.forward,
        right: axes.right,
        ground_normal: Vec3::ZERO,
        outcome: MoveOutcome {
            water_level: 0,
            water_type: None,
            ground: None,
            touched: Touched::default(),
        },
    };
    pmove.run();
    pmove.outcome
}

/// Returns how far from its start a move looks for entities, at most, on each axis.
fn reach(vars: &MoveVars, state: &MoveState, seconds: f32) -> Vec3 {
    let fall = vars.entity_gravity * vars.gravity * seconds;
    let speed = state.velocity.length() + vars.max_speed.abs() + fall.abs() + MAX_JUMP_SPEED;
    let way = speed * seconds;
    Vec3::new(way + SIDE_REACH, way + SIDE_REACH, way + HEIGHT_REACH)
}

/// A move in progress.
struct Pmove<'a> {
    scene: Nearby<'a>,
    vars: &'a MoveVars,
    state: &'a mut MoveState,
    command: &'a MoveCommand,
    seconds: f32,
    forward: Vec3,
    right: Vec3,
    ground_normal: Vec3,
    outcome: MoveOutcome,
}

impl Pmove<'_> {
    fn run(&mut self) {
        match self.state.kind {
            MoveKind::None | MoveKind::Locked => return self.categorize(),
            MoveKind::Spectator | MoveKind::OldSpectator => {
                self.fly_freely();
                self.state.on_ground = false;
                return;
            }
            MoveKind::Normal | MoveKind::Dead | MoveKind::Fly => {}
        }
        self.nudge();
        self.categorize();
        if self.outcome.water_level == 2 && !self.flies() {
            self.test_water_jump();
        }
        if self.state.velocity[2] < 0.0 || self.is_dead() {
            self.state.water_jump_time = 0.0;
        }
        if self.state.water_jump_time != 0.0 {
            self.state.water_jump_time = (self.state.water_jump_time - self.seconds).max(0.0);
        }
        if self.state.jump_msec != 0 {
            self.state.jump_msec += i32::from(self.command.msec);
            if self.state.jump_msec > 50 {
                self.state.jump_msec = 0;
            }
        }
        self.jump();
        self.apply_friction();
        if self.outcome.water_level >= 2 {
            self.swim();
        } else if self.flies() {
            self.fly();
        } else {
            self.walk();
        }
        self.categorize();
        let falls = self.state.on_ground && self.state.velocity[2] < -300.0;
        if falls && !self.vars.variants.predict_ground {
            self.clip_to_ground();
        }
    }

    fn flies(&self) -> bool {
        self.state.kind == MoveKind::Fly
    }

    fn is_dead(&self) -> bool {
        self.state.kind == MoveKind::Dead
    }
}
