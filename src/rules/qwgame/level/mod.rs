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

mod harm;
mod mover;
mod players;
mod push;
mod spawn;
mod trigger;

#[cfg(test)]
mod tests;

use std::{collections::VecDeque, sync::Arc};

use super::game::{EntityView, GameEvent, PlayerView, QuakeWorldGame};
use super::movement::{MoveCommand, MoveKind, MoveVars, Scene, Thing};
use crate::bsp29::Bsp29;
use crate::model::Vec3;

pub use self::harm::{Harm, LIQUID_HARMS, liquid_harm};
pub use self::mover::{Mover, Stop};
pub use self::players::{Player, START_HEALTH};
pub use self::spawn::LevelError;
pub use self::trigger::{Effect, Trigger};

use self::spawn::Spot;

/// Maximum number of players.
pub const MAX_PLAYERS: usize = 32;
/// Maximum number of movers; they are solid in every move, beside the players.
pub const MAX_MOVERS: usize = 31;
/// Maximum number of events that wait.
pub const MAX_EVENTS: usize = 1024;

/// A running level.
#[derive(Debug)]
pub struct Level {
    map: Arc<Bsp29>,
    vars: MoveVars,
    seconds: f64,
    movers: Vec<Mover>,
    triggers: Vec<Trigger>,
    spots: Vec<Spot>,
    next_spot: usize,
    players: [Option<Player>; MAX_PLAYERS],
    events: VecDeque<GameEvent>,
    /// Things around the player of the last command: movers, then players.
    things: Vec<Thing>,
}

impl Level {
    /// Starts the level of a map.
    ///
    /// # Errors
    ///
    /// Reports an invalid entity string, and more movers than supported.
    pub fn new(map: Arc<Bsp29>, vars: MoveVars) -> Result<Self, LevelError> {
        let spawned = spawn::spawn(&map)?;
        Ok(Self {
            map,
            vars,
            seconds: 0.0,
            movers: spawned.movers,
            triggers: spawned.triggers,
            spots: spawned.spots,
            next_spot: 0,
            players: [const { None }; MAX_PLAYERS],
            events: VecDeque::new(),
            things: Vec::with_capacity(MAX_MOVERS + MAX_PLAYERS),
        })
    }

    /// Movers of the level.
    #[must_use]
    pub fn movers(&self) -> &[Mover] {
        &self.movers
    }

    /// Stores the solid things around a player: movers, then other players.
    fn find_things(&mut self, slot: usize) {
        self.things.clear();
        self.things.extend(self.movers.iter().map(|mover| Thing::model(mover.model, mover.offset)));
        let others = self.players.iter().enumerate().filter(|&(other, _)| other != slot);
        let solid = others.filter_map(|(_, player)| player.as_ref()).filter(|p| p.is_solid());
        self.things.extend(solid.map(|player| Thing::player(player.state.origin)));
    }

    /// Whether a player in a slot fits at a place.
    fn has_room(&mut self, slot: usize, origin: crate::model::Vec3) -> bool {
        self.find_things(slot);
        Scene { map: &self.map, things: &self.things }.has_room(origin)
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
        if let Some(player) = self.players.get_mut(slot) {
            *player = None;
        }
    }

    fn run_command(&mut self, slot: usize, command: &MoveCommand, _impulse: u8) {
        self.move_player(slot, command);
    }

    fn place(&mut self, slot: usize, origin: Vec3) {
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
        self.seconds += f64::from(seconds);
        self.advance_movers(seconds);
    }

    fn player(&self, slot: usize) -> Option<PlayerView> {
        self.players.get(slot)?.as_ref().map(Player::view)
    }

    fn entities(&self, views: &mut Vec<EntityView>) {
        let entity = |mover: &Mover| EntityView { model: mover.model, origin: mover.offset };
        views.extend(self.movers.iter().map(entity));
    }

    fn poll_event(&mut self) -> Option<GameEvent> {
        self.events.pop_front()
    }
}
