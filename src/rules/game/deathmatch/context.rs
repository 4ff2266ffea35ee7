//! Context of one call into the game: host, clients, entities, frame settings, random numbers.
//!
//! Every function of the game takes a [`Context`] and exactly the subsystems whose state it changes.
//! Players and other entities share one numbering.
//!
//! Invariants: entities 0 to 63 are the players, all others are in the entity table. A slot without a
//! player has no entity.

use super::{combat_settings::CombatSettings, entities::Entities, mode::Mode};
use crate::bg::{Event, Powerup, TeamSound};
use crate::game::movement::{self, HEALTH, PmoveSettings, PmoveVariant, events};
use crate::game::{GameEvent, Host, Ruleset, clients::Clients, rng::LevelRng};
use crate::model::{
    ClientNum, EntityNum, EntityShared, EntityState, LevelTime, SvFlags, Trace, Vec3,
    contents::mask,
};
use crate::world::{TraceQuery, links::EntityViews};

/// First level time, in ms, near which a float does not hold each millisecond.
const WHOLE_MS_IN_FLOATS: i32 = 1 << 24;

/// Settings of the current frame, and its duration.
#[derive(Debug)]
pub(super) struct Frame {
    /// Mode of the level's game type.
    pub(super) mode: &'static Mode,
    /// Combat settings.
    pub(super) combat: CombatSettings,
    /// Movement settings.
    pub(super) movement: movement::PmoveRules,
    /// Time since the previous frame, in milliseconds.
    pub(super) ms: i32,
}

impl Frame {
    pub(super) fn new(variant: &'static PmoveVariant, mode: &'static Mode) -> Self {
        let settings = PmoveSettings {
            fixed: false,
            fixed_step_ms: 8,
            float: true,
            dmflags: 0,
            arithmetic: movement::Arithmetic::Bytecode,
        };
        Self {
            mode,
            combat: CombatSettings::default(),
            movement: movement::PmoveRules::new(variant, settings),
            ms: 0,
        }
    }

    fn read(
        &mut self,
        host: &dyn Host,
        ruleset: &Ruleset,
        settings: &crate::game::clients::GameSettings,
    ) {
        self.combat = CombatSettings::read(host, ruleset);
        let settings = PmoveSettings {
            fixed: settings.fixed_step_ms.is_some(),
            fixed_step_ms: settings.step_ms,
            float: settings.float,
            dmflags: settings.dmflags,
            arithmetic: settings.arithmetic,
        };
        self.movement = movement::PmoveRules::new(self.movement.variant, settings);
    }
}

/// Shared state of all game functions, without the subsystems.
pub(super) struct Context<'a> {
    pub(super) host: &'a mut dyn Host,
    pub(super) clients: &'a mut Clients,
    pub(super) entities: &'a mut Entities,
    pub(super) frame: &'a mut Frame,
    pub(super) rng: &'a mut LevelRng,
}

impl Context<'_> {
    /// Emits an event of the match.
    pub(super) fn emit(&mut self, event: GameEvent<'_>) {
        self.clients.emit(self.host, &event);
    }

    /// Returns the time of this frame and of the level's start.
    pub(super) fn clock(&self) -> (LevelTime, LevelTime) {
        (self.clients.now, self.clients.started)
    }

    /// Returns the time after a fraction of this frame. Modules add in floats, which round up at the end of a
    /// millisecond. In levels of more than 4.6 hours, floats hold no whole milliseconds, so the sum is of integers.
    pub(super) fn time_within_frame(&self, fraction: f32) -> LevelTime {
        let (before, part) = (self.clients.now - self.frame.ms, self.frame.ms as f32 * fraction);
        if before.0 < WHOLE_MS_IN_FLOATS {
            LevelTime((before.0 as f32 + part) as i32)
        } else {
            before + part as i32
        }
    }

    /// Returns the mode of the level's game type.
    pub(super) const fn mode(&self) -> &'static Mode {
        self.frame.mode
    }

    /// Reads the settings if any has changed.
    pub(super) fn refresh_settings(&mut self) {
        if !self.clients.settings_version.changed(self.host) {
            return;
        }
        self.clients.settings.refresh(self.host, self.clients.ruleset);
        self.frame.read(self.host, self.clients.ruleset, &self.clients.settings);
    }

    /// Returns the content bits at a point of the map; 0 without a map.
    pub(super) fn contents_at(&self, point: Vec3) -> i32 {
        self.host
            .world()
            .map_or(0, |world| world.scene(self, EntityNum::NONE).point_contents(point))
    }

    /// Iterates the players, except `client`, whose bounds touch a box. The dead count until they respawn.
    pub(super) fn others_in(
        &self,
        client: impl Into<Option<ClientNum>>,
        mins: Vec3,
        maxs: Vec3,
    ) -> impl Iterator<Item = ClientNum> {
        let client = client.into();
        ClientNum::all().filter(move |&other| {
            Some(other) != client
                && self.clients.plays(other)
                && self.clients.player(other).is_some_and(|player| {
                    let shared = &player.shared;
                    shared.is_linked()
                        && (0..3).all(|axis| {
                            shared.absmin[axis] <= maxs[axis] && shared.absmax[axis] >= mins[axis]
                        })
                })
        })
    }

    /// Adds a temporary entity with an event at an origin. `fill` sets its other fields.
    pub(super) fn temp_entity(
        &mut self,
        origin: Vec3,
        event: Event,
        fill: impl FnOnce(&mut EntityState, &mut EntityShared),
    ) {
        let (now, started) = self.clock();
        self.entities.temp_entity(self.host, now, started, origin, event, fill);
    }

    /// Adds the effect of a player that teleports in or out at an origin.
    pub(super) fn show_teleport(&mut self, client: ClientNum, origin: Vec3, event: Event) {
        self.temp_entity(origin, event, |state, _| state.client_num = client.index() as i32);
    }

    /// Clears expired events, and frees their temporary entities.
    pub(super) fn clear_expired_events(&mut self) {
        let now = self.clients.now;
        for (player, at) in self.clients.players.iter_mut().zip(&self.entities.player_event_at) {
            let Some(player) = player else { continue };
            if now.distance(*at) > events::EVENT_MS {
                player.entity.event = 0;
                player.state.external_event = 0;
            }
        }
        self.entities.clear_expired_events(self.host, now);
    }

    /// Returns the shared state of an entity.
    pub(super) fn shared(&self, number: EntityNum) -> Option<&EntityShared> {
        self.view(number).map(|(_, shared)| shared)
    }

    /// Returns the origin of an entity.
    pub(super) fn origin_of(&self, number: EntityNum) -> Option<Vec3> {
        self.shared(number).map(|shared| shared.current_origin)
    }

    /// Unlinks an entity from the world.
    pub(super) fn unlink_entity(&mut self, number: EntityNum) {
        match self.clients.players.get_mut(number.index()) {
            Some(Some(player)) => player.unlink(self.host),
            Some(None) => {}
            None => self.entities.unlink(self.host, number),
        }
    }

    /// Links an entity at its current origin.
    pub(super) fn relink_entity(&mut self, number: EntityNum) {
        match self.clients.players.get_mut(number.index()) {
            Some(Some(player)) => self.host.link_entity(&mut player.entity, &mut player.shared),
            Some(None) => {}
            None => self.entities.link(self.host, number),
        }
    }

    /// Whether a player is dead.
    pub(super) fn is_dead(&self, client: ClientNum) -> bool {
        self.clients.player(client).is_some_and(|player| player.state.stats[HEALTH] <= 0)
    }

    /// Whether a player is inside an invulnerability sphere.
    pub(super) fn is_invulnerable(&self, client: ClientNum) -> bool {
        self.clients.player(client).is_some_and(|player| {
            player.state.powerups[Powerup::Invulnerability] > self.clients.now.0
        })
    }

    /// Whether a player is in god mode.
    pub(super) fn is_god(&self, client: ClientNum) -> bool {
        self.clients.player(client).is_some_and(|player| player.cheats.god)
    }

    /// Whether a player has an active powerup.
    pub(super) fn has_powerup(&self, client: ClientNum, powerup: Powerup) -> bool {
        self.clients.player(client).is_some_and(|player| player.state.powerups[powerup] != 0)
    }

    /// Adds an external event to a player.
    pub(super) fn add_player_event(&mut self, client: ClientNum, event: Event, parm: i32) {
        let now = self.clients.now;
        if let Some(player) = self.clients.players[client.index()].as_mut() {
            events::show_external(&mut player.state, event, parm, now.0);
            self.entities.player_event_at[client.index()] = now;
        }
    }

    /// Traces a point against the map and all entities except `pass` and those that it owns.
    pub(super) fn shot_trace(&self, from: Vec3, to: Vec3, pass: EntityNum) -> Trace {
        self.host.world().map_or(Trace::free(to), |world| {
            world.scene(self, pass).trace(&TraceQuery::line(from, to, mask::SHOT))
        })
    }

    /// Sends a team sound to all clients.
    pub(super) fn send_team_sound(&mut self, sound: TeamSound) {
        self.temp_entity(Vec3::ZERO, Event::GlobalTeamSound, |state, shared| {
            state.event_parm = sound as i32;
            shared.sv_flags = SvFlags::BROADCAST;
        });
    }
}

/// Returns the state of a player or another entity by its number.
pub(super) fn view_of<'a>(
    clients: &'a Clients,
    entities: &'a Entities,
    number: EntityNum,
) -> Option<(&'a EntityState, &'a EntityShared)> {
    match clients.players.get(number.index()) {
        Some(player) => player.as_ref().map(|player| (&player.entity, &player.shared)),
        None => entities.get(number).map(|entity| (&entity.state, &entity.shared)),
    }
}

impl EntityViews for Context<'_> {
    fn view(&self, number: EntityNum) -> Option<(&EntityState, &EntityShared)> {
        view_of(self.clients, self.entities, number)
    }
}
