//! Players of a level: spawn, moves with their touches, damage, death.

use super::super::game::{Cause, GameEvent, Look, PlayerView};
use super::super::movement::{
    BUTTON_ATTACK, BUTTON_JUMP, MoveCommand, MoveKind, MoveOutcome, MoveState, PLAYER_MAXS,
    PLAYER_MINS, Scene, player_move,
};
use super::liquid_damage::{
    AIR_SECONDS, DROWN_DAMAGE, DROWN_DAMAGE_AGAIN, FALL_DAMAGE, HARMFUL_FALL, MAX_DROWN_DAMAGE,
    liquid_damage,
};
use super::trigger::Effect;
use super::{Level, MAX_PLAYERS};
use crate::model::Vec3;
use crate::model::trig::{Axes, DegreeFactor};

/// Health at a spawn.
pub const START_HEALTH: i32 = 100;
/// Height of the eyes above the origin, in units.
const VIEW_HEIGHT: f32 = 22.0;
/// The same of a dead player.
const DEAD_VIEW_HEIGHT: f32 = -8.0;
/// Distance from other players at which a spawn point is free, in units.
const SPAWN_DISTANCE: f32 = 84.0;
/// Shortest time from a death to the respawn, in seconds: that of a short death animation.
const RESPAWN_PAUSE: f64 = 0.6;
/// Speed behind a teleporter, in units per second.
const TELEPORT_SPEED: f32 = 300.0;
/// Frags that a request to die costs.
const SUICIDE_FRAGS: i32 = -2;
/// Interval of damage by triggers and without air, in seconds.
const HURT_INTERVAL: f64 = 1.0;

/// A client in the world.
#[derive(Clone, Debug, PartialEq)]
pub struct Player {
    /// State that moves change.
    pub state: MoveState,
    /// Angles of the last command, in 65,536ths of a turn.
    pub angles: [i16; 3],
    /// Health; at most 0 when dead.
    pub health: i32,
    /// Score.
    pub frags: i32,
    /// Mover that carries the player.
    pub(super) ground: Option<usize>,
    /// Level time at which the air ends.
    air_end: f64,
    drown_damage: i32,
    next_drown: f64,
    next_liquid: f64,
    next_trigger: f64,
    /// Whether all buttons were up since the death.
    can_respawn: bool,
    /// Level time of the earliest respawn.
    next_respawn: f64,
}

impl Player {
    fn new(kind: MoveKind, frags: i32, seconds: f64) -> Self {
        Self {
            state: MoveState { kind, ..MoveState::default() },
            angles: [0; 3],
            health: START_HEALTH,
            frags,
            ground: None,
            air_end: seconds + AIR_SECONDS,
            drown_damage: DROWN_DAMAGE,
            next_drown: 0.0,
            next_liquid: 0.0,
            next_trigger: 0.0,
            can_respawn: false,
            next_respawn: 0.0,
        }
    }

    /// Whether movers and other players collide with the player.
    pub(super) fn is_solid(&self) -> bool {
        matches!(self.state.kind, MoveKind::Normal | MoveKind::Fly)
    }

    pub(super) fn view(&self, slot: usize, look: Look) -> PlayerView {
        let is_dead = self.state.kind == MoveKind::Dead;
        PlayerView {
            state: self.state,
            angles: self.angles,
            health: self.health,
            frags: self.frags,
            is_solid: self.is_solid(),
            view_height: if is_dead { DEAD_VIEW_HEIGHT } else { VIEW_HEIGHT },
            look: Look { colormap: slot as u8 + 1, ..look },
        }
    }

    /// Whether the boxes of players at two positions intersect.
    fn overlaps(&self, origin: Vec3) -> bool {
        let (low, high) = self.corners();
        let (other_low, other_high) = (origin + PLAYER_MINS, origin + PLAYER_MAXS);
        (0..3).all(|i| low[i] < other_high[i] && other_low[i] < high[i])
    }

    fn corners(&self) -> (Vec3, Vec3) {
        (self.state.origin + PLAYER_MINS, self.state.origin + PLAYER_MAXS)
    }
}

impl Level {
    pub(super) fn begin_player(&mut self, slot: usize, is_spectator: bool) {
        if slot >= MAX_PLAYERS {
            return;
        }
        let kind = if is_spectator { MoveKind::Spectator } else { MoveKind::Normal };
        self.respawn(slot, kind, 0);
    }

    fn respawn(&mut self, slot: usize, kind: MoveKind, frags: i32) {
        self.count_change(slot);
        self.players[slot] = None;
        let (origin, angles) = self.pick_spot();
        let mut player = Player::new(kind, frags, self.seconds);
        player.state.origin = origin;
        self.players[slot] = Some(player);
        if kind != MoveKind::Spectator {
            self.telefrag(slot);
            self.report(GameEvent::Appeared { slot, origin, angles });
        }
    }

    /// Returns the next spawn point without a player near it, or without one in its place, or the next one. Without
    /// spawn points it is the origin.
    fn pick_spot(&mut self) -> (Vec3, Vec3) {
        let count = self.spots.len();
        let turn = (0..count).map(|step| (self.next_spot + step) % count.max(1));
        let spot_without = |is_near: fn(&Player, Vec3) -> bool| {
            let is_free = |origin: Vec3| {
                let living = self.players.iter().flatten().filter(|player| player.is_solid());
                !living.into_iter().any(|player| is_near(player, origin))
            };
            turn.clone().find(|&spot| is_free(self.spots[spot].origin))
        };
        let free =
            spot_without(|player, origin| (player.state.origin - origin).length() < SPAWN_DISTANCE);
        let free = free.or_else(|| spot_without(Player::overlaps));
        let Some(spot) = free.or_else(|| turn.clone().next()) else {
            return (Vec3::ZERO, Vec3::ZERO);
        };
        self.next_spot = (spot + 1) % count;
        (self.spots[spot].origin, self.spots[spot].angles)
    }

    /// Kills the players in the place of a player who appears.
    fn telefrag(&mut self, slot: usize) {
        let Some(origin) = self.players[slot].as_ref().map(|player| player.state.origin) else {
            return;
        };
        for other in (0..MAX_PLAYERS).filter(|&other| other != slot) {
            let Some(player) = self.players[other].as_ref().filter(|p| p.is_solid()) else {
                continue;
            };
            if player.overlaps(origin) {
                self.die(other, Cause::Telefrag(slot));
            }
        }
    }

    pub(super) fn move_player(&mut self, slot: usize, command: &MoveCommand) {
        self.find_solids_of(slot);
        self.count_change(slot);
        let Some(Some(player)) = self.players.get_mut(slot) else { return };
        player.angles = command.angles;
        if player.state.kind == MoveKind::Dead && wants_respawn(player, command, self.seconds) {
            let frags = player.frags;
            return self.respawn(slot, MoveKind::Normal, frags);
        }
        player.state.jump_msec = 0;
        let fall = player.state.velocity[2];
        let was_in_air = !player.state.on_ground;
        let scene = Scene { map: &self.map, entities: &self.solids };
        let outcome = player_move(&scene, &self.vars, &mut player.state, command);
        let movers = self.movers.len();
        player.ground =
            outcome.ground.and_then(|entity| entity.checked_sub(1)).filter(|&m| m < movers);
        if !player.is_solid() {
            return;
        }
        let has_landed = was_in_air && player.state.on_ground;
        if has_landed && fall < HARMFUL_FALL && outcome.water_level < 2 {
            self.hurt(slot, FALL_DAMAGE, Cause::Fall);
        }
        self.touch_triggers(slot);
        self.suffer_liquids(slot, &outcome);
    }

    fn find_solids_of(&mut self, slot: usize) {
        if slot < MAX_PLAYERS {
            self.find_solids(slot);
        }
    }

    fn touch_triggers(&mut self, slot: usize) {
        for number in 0..self.triggers.len() {
            let Some(player) = self.players[slot].as_mut().filter(|p| p.is_solid()) else { return };
            let (low, high) = player.corners();
            let trigger = self.triggers[number];
            if !trigger.touches(low, high) {
                continue;
            }
            match trigger.effect {
                Effect::Push { velocity } => player.state.velocity = velocity,
                Effect::Teleport { origin, angles } => self.teleport(slot, origin, angles),
                Effect::Hurt { damage } => {
                    if self.seconds >= player.next_trigger {
                        player.next_trigger = self.seconds + HURT_INTERVAL;
                        self.hurt(slot, damage, Cause::Trigger);
                    }
                }
            }
        }
    }

    fn teleport(&mut self, slot: usize, origin: Vec3, angles: Vec3) {
        let Some(player) = &mut self.players[slot] else { return };
        let from = player.state.origin;
        let forward = Axes::of_angles(angles, DegreeFactor::Double).forward;
        player.state.origin = origin;
        player.state.velocity = forward * TELEPORT_SPEED;
        player.state.on_ground = false;
        player.ground = None;
        self.report(GameEvent::Vanished { origin: from });
        self.telefrag(slot);
        self.report(GameEvent::Appeared { slot, origin, angles });
    }

    fn suffer_liquids(&mut self, slot: usize, outcome: &MoveOutcome) {
        let now = self.seconds;
        let Some(player) = self.players[slot].as_mut().filter(|p| p.is_solid()) else { return };
        let level = outcome.water_level;
        if let Some(harm) = liquid_damage(outcome.water_type).filter(|_| now >= player.next_liquid)
        {
            player.next_liquid = now + harm.interval;
            self.hurt(slot, harm.damage * i32::from(level), harm.cause);
        }
        let Some(player) = self.players[slot].as_mut().filter(|p| p.is_solid()) else { return };
        if level < 3 {
            player.air_end = now + AIR_SECONDS;
            player.drown_damage = DROWN_DAMAGE;
        } else if now > player.air_end && now >= player.next_drown {
            player.next_drown = now + HURT_INTERVAL;
            let damage = player.drown_damage;
            let next = damage + DROWN_DAMAGE;
            player.drown_damage = if next > MAX_DROWN_DAMAGE { DROWN_DAMAGE_AGAIN } else { next };
            self.hurt(slot, damage, Cause::Drowning);
        }
    }

    /// Takes health of a living player.
    pub(super) fn hurt(&mut self, slot: usize, damage: i32, cause: Cause) {
        self.count_change(slot);
        let Some(player) = self.players[slot].as_mut().filter(|p| p.is_solid()) else { return };
        player.health = player.health.saturating_sub(damage);
        let is_dead = player.health <= 0;
        self.report(GameEvent::Hurt { slot, damage, cause });
        if is_dead {
            self.die(slot, cause);
        }
    }

    pub(super) fn kill_player(&mut self, slot: usize) {
        let is_living =
            self.players.get(slot).and_then(Option::as_ref).is_some_and(Player::is_solid);
        if is_living {
            self.die(slot, Cause::Suicide);
        }
    }

    fn die(&mut self, slot: usize, cause: Cause) {
        self.count_change(slot);
        let Some(player) = &mut self.players[slot] else { return };
        player.health = player.health.min(0);
        player.state.kind = MoveKind::Dead;
        player.ground = None;
        player.can_respawn = false;
        player.next_respawn = self.seconds + RESPAWN_PAUSE;
        self.report(GameEvent::Died { slot, cause });
        match cause {
            Cause::Telefrag(killer) => self.score(killer, 1),
            Cause::Suicide => self.score(slot, SUICIDE_FRAGS),
            Cause::Lava
            | Cause::Slime
            | Cause::Drowning
            | Cause::Fall
            | Cause::Crushed
            | Cause::Trigger => self.score(slot, -1),
        }
    }

    fn score(&mut self, slot: usize, frags: i32) {
        self.count_change(slot);
        if let Some(Some(player)) = self.players.get_mut(slot) {
            player.frags = player.frags.saturating_add(frags);
            let frags = player.frags;
            self.report(GameEvent::Frags { slot, frags });
        }
    }
}

/// Whether a dead player presses a button again after all were up, and after the pause.
fn wants_respawn(player: &mut Player, command: &MoveCommand, seconds: f64) -> bool {
    let is_pressed = command.buttons & (BUTTON_ATTACK | BUTTON_JUMP) != 0;
    player.can_respawn |= !is_pressed;
    is_pressed && player.can_respawn && seconds >= player.next_respawn
}
