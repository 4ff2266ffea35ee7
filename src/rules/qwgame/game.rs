//! Boundary between a QuakeWorld server and the rules of a level.
//!
//! The server owns connections, names and time. The rules own players in the world, other entities and their
//! effects. Rules answer with views and events; they do not know packets.

use super::movement::{MoveCommand, MoveState};
use crate::model::Vec3;

/// Rules of a level.
pub trait QuakeWorldGame {
    /// Puts a client into the world, as a player or as a spectator.
    fn begin(&mut self, slot: usize, is_spectator: bool);

    /// Takes a client out of the world.
    fn leave(&mut self, slot: usize);

    /// Runs a command of a client. The server has limited its length and repeated lost ones.
    fn run_command(&mut self, slot: usize, command: &MoveCommand, impulse: u8);

    /// Moves a spectator to an origin of his client's choice.
    fn place(&mut self, slot: usize, origin: Vec3);

    /// Kills a player on his own request.
    fn kill(&mut self, slot: usize);

    /// Advances everything but the players.
    fn advance(&mut self, seconds: f32);

    /// Names of the models that views number, from number 1: the map, its other models, then files.
    fn models(&self) -> &[Box<str>];

    /// Returns a client in the world.
    fn player(&self, slot: usize) -> Option<PlayerView>;

    /// Number that changes whenever [`Self::player`] of a slot may give something else.
    fn revision(&self, slot: usize) -> u64;

    /// Appends the visible entities beside the players, ascending by number.
    fn entities(&self, views: &mut Vec<EntityView>);

    /// Origin and angles, in degrees, of the view between two matches.
    fn camera(&self) -> (Vec3, Vec3);

    /// Returns the next event, oldest first.
    fn poll_event(&mut self) -> Option<GameEvent>;
}

/// A client in the world.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PlayerView {
    /// State that moves change.
    pub state: MoveState,
    /// Angles of the last command, in 65,536ths of a turn.
    pub angles: [i16; 3],
    /// Health; at most 0 when dead.
    pub health: i32,
    /// Score.
    pub frags: i32,
    /// Whether other players collide with it.
    pub is_solid: bool,
    /// Height of the eyes above the origin, in units.
    pub view_height: f32,
    /// Appearance to others.
    pub look: Look,
}

/// Appearance of an entity.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Look {
    /// Number of the model; 0 without one.
    pub model: u16,
    /// Frame of the model.
    pub frame: u8,
    /// Skin of the model.
    pub skin: u8,
    /// Slot, from 1, of the player whose colors it has; 0 for its own colors.
    pub colormap: u8,
    /// Bits of lights and trails.
    pub effects: u8,
}

/// An entity beside the players.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct EntityView {
    /// Number, above those of the players.
    pub number: u16,
    /// Position of the model's origin.
    pub origin: Vec3,
    /// Pitch, yaw and roll in degrees.
    pub angles: Vec3,
    /// Appearance.
    pub look: Look,
    /// Model of the map, if it is one: solid for players, also in their predictions.
    pub map_model: Option<usize>,
}

/// An event of a level.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum GameEvent {
    /// A player appears at a spawn point or behind a teleporter.
    Appeared {
        /// Slot of the player.
        slot: usize,
        /// Position.
        origin: Vec3,
        /// View angles in degrees that the client takes over.
        angles: Vec3,
    },
    /// A player vanishes in a teleporter.
    Vanished {
        /// Position.
        origin: Vec3,
    },
    /// A player takes damage.
    Hurt {
        /// Slot of the player.
        slot: usize,
        /// Health lost.
        damage: i32,
        /// Cause.
        cause: Cause,
    },
    /// A player dies.
    Died {
        /// Slot of the player.
        slot: usize,
        /// Cause.
        cause: Cause,
    },
    /// A player's score changed.
    Frags {
        /// Slot of the player.
        slot: usize,
        /// New score.
        frags: i32,
    },
}

/// Cause of damage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// Request of the player.
    Suicide,
    /// Lava.
    Lava,
    /// Slime.
    Slime,
    /// No air under water.
    Drowning,
    /// A fall.
    Fall,
    /// A mover in the way.
    Crushed,
    /// A trigger that hurts.
    Trigger,
    /// Another player, by slot, who appeared in the same place.
    Telefrag(usize),
}
