//! Level of QuakeWorld: a map with movers, triggers, spawn points and players.
//!
//! Invariants:
//! - at most [`MAX_PLAYERS`] players and [`MAX_MOVERS`] movers;
//! - a living player is not inside the world or a mover, unless no free place was near;
//! - a mover that a player blocks stays where it is;
//! - at most [`MAX_EVENTS`] events wait; later ones are dropped.
//!
//! Source: QuakeWorld protocol 28; key names of entities as in the base game. Engine names: `SV_Physics_Pusher`,
//! `SV_PushMove`, `SV_TouchLinks`.

mod animation;
mod liquid_damage;
mod mover;
mod players;
mod push;
mod spawn;
mod trigger;

#[cfg(test)]
mod tests;

use std::{collections::VecDeque, sync::Arc};

use super::game::{EntityView, GameEvent, Look, PlayerView, QuakeWorldGame};
use super::movement::{MoveCommand, MoveKind, MoveVars, Scene, SolidEntity};
use crate::bsp29::Bsp29;
use crate::model::Vec3;

pub use self::liquid_damage::{LIQUID_DAMAGES, LiquidDamage, liquid_damage};
pub use self::mover::{Mover, Stop};
pub use self::players::{Player, START_HEALTH};
pub use self::spawn::LevelError;
pub use self::trigger::{Effect, Trigger};

use self::spawn::Spot;

/// Maximum number of players.
pub const MAX_PLAYERS: usize = 32;
/// Maximum number of movers; they are solid in every move, with the players.
pub const MAX_MOVERS: usize = 31;
/// Model of players.
const PLAYER_MODEL: &str = "progs/player.mdl";
/// Maximum number of events that wait.
pub const MAX_EVENTS: usize = 1024;

/// A running level.
#[derive(Debug)]
pub struct Level {
    map: Arc<Bsp29>,
    vars: MoveVars,
    models: Vec<Box<str>>,
    seconds: f64,
    movers: Vec<Mover>,
    triggers: Vec<Trigger>,
    spots: Vec<Spot>,
    next_spot: usize,
    /// View between two matches.
    camera: Spot,
    players: [Option<Player>; MAX_PLAYERS],
    /// Number of changes of each player, without those of frames of the physics.
    changes: [u64; MAX_PLAYERS],
    /// Number of frames of the physics.
    frames: u64,
    events: VecDeque<GameEvent>,
    /// Solid entities around the player of the last command: movers, then players.
    solids: Vec<SolidEntity>,
}

impl Level {
    /// Starts the level of a map. `file` is its name, e.g. `maps/fragqw1.bsp`.
    ///
    /// # Errors
    ///
    /// Reports an invalid entity string, and more movers than supported.
    pub fn new(file: &str, map: Arc<Bsp29>, vars: MoveVars) -> Result<Self, LevelError> {
        let spawned = spawn::spawn(&map)?;
        let parts = (1..map.models().len()).map(|model| format!("*{model}"));
        let names = [file.to_owned()].into_iter().chain(parts).chain([PLAYER_MODEL.to_owned()]);
        let models = names.map(String::into_boxed_str).collect();
        Ok(Self {
            map,
            vars,
            models,
            seconds: 0.0,
            movers: spawned.movers,
            triggers: spawned.triggers,
            spots: spawned.spots,
            next_spot: 0,
            camera: spawned.camera,
            players: [const { None }; MAX_PLAYERS],
            changes: [0; MAX_PLAYERS],
            frames: 0,
            events: VecDeque::new(),
            solids: Vec::with_capacity(MAX_MOVERS + MAX_PLAYERS),
        })
    }

    /// Movers of the level.
    #[must_use]
    pub fn movers(&self) -> &[Mover] {
        &self.movers
    }

    /// Stores the solid entities around a player: movers, then other players.
    fn find_solids(&mut self, slot: usize) {
        self.solids.clear();
        self.solids
            .extend(self.movers.iter().map(|mover| SolidEntity::model(mover.model, mover.offset)));
        let others = self.players.iter().enumerate().filter(|&(other, _)| other != slot);
        let solid = others.filter_map(|(_, player)| player.as_ref()).filter(|p| p.is_solid());
        self.solids.extend(solid.map(|player| SolidEntity::player(player.state.origin)));
    }

    /// Whether a player in a slot fits at a place.
    fn has_room(&mut self, slot: usize, origin: Vec3) -> bool {
        self.find_solids(slot);
        Scene { map: &self.map, entities: &self.solids }.has_room(origin)
    }

    /// Counts a change of a player.
    const fn count_change(&mut self, slot: usize) {
        if slot < MAX_PLAYERS {
            self.changes[slot] += 1;
        }
    }

    fn report(&mut self, event: GameEvent) {
        if self.events.len() < MAX_EVENTS {
            self.events.push_back(event);
        }
    }
}

impl QuakeWorldGame for Level {
    fn begin(&mut self, slot: usize, is_spectator: bool) {
        self.begin_player(slot, is_spectator);
    }

    fn leave(&mut self, slot: usize) {
        self.count_change(slot);
        if let Some(player) = self.players.get_mut(slot) {
            *player = None;
        }
    }

    fn run_command(&mut self, slot: usize, command: &MoveCommand, _impulse: u8) {
        self.move_player(slot, command);
    }

    fn place(&mut self, slot: usize, origin: Vec3) {
        self.count_change(slot);
        let player = self.players.get_mut(slot).and_then(Option::as_mut);
        let spectator = player.filter(|player| player.state.kind == MoveKind::Spectator);
        if let Some(spectator) = spectator.filter(|_| origin.is_finite()) {
            spectator.state.origin = origin;
        }
    }

    fn kill(&mut self, slot: usize) {
        self.kill_player(slot);
    }

    fn advance(&mut self, seconds: f32) {
        // Movers take players along, and models are animated.
        self.frames += 1;
        self.seconds += f64::from(seconds);
        self.advance_movers(seconds);
    }

    fn player(&self, slot: usize) -> Option<PlayerView> {
        // The last model is that of players.
        let look = Look { model: self.models.len() as u16, ..Look::default() };
        let player = self.players.get(slot)?.as_ref()?;
        let frame = animation::player_frame(&player.state, self.seconds);
        Some(player.view(slot, Look { frame, ..look }))
    }

    fn revision(&self, slot: usize) -> u64 {
        // Both only grow, so that the sum changes with each.
        self.frames + self.changes.get(slot).copied().unwrap_or(0)
    }

    fn models(&self) -> &[Box<str>] {
        &self.models
    }

    fn entities(&self, views: &mut Vec<EntityView>) {
        let movers = (1 + MAX_PLAYERS as u16..).zip(&self.movers);
        views.extend(movers.map(|(number, mover)| EntityView {
            number,
            origin: mover.offset,
            angles: Vec3::ZERO,
            // The map itself is number 1.
            look: Look { model: mover.model as u16 + 1, ..Look::default() },
            map_model: Some(mover.model),
        }));
    }

    fn camera(&self) -> (Vec3, Vec3) {
        (self.camera.origin, self.camera.angles)
    }

    fn poll_event(&mut self) -> Option<GameEvent> {
        self.events.pop_front()
    }
}
