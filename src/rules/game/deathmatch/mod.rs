//! Game rules on a map: movement, combat, items, movers and matches.
//!
//! Game types: free for all, tournament, team deathmatch and capture the flag. Rules of single game types
//! are in `modes`. Layers, lowest first:
//! - data: `hit`, `flag`, `mode`, `combat_settings`, `entity_kinds`
//! - the entity table and the context of a call
//! - subsystems: state with the methods that change nothing else, such as `items` and `projectiles`
//! - `systems`: all of them, and those that damage changes
//! - consequences: `damage`, `weapons`, `activation`, `pickups`, `touch`, `think` and others
//!
//! Without a map, players float in open space and no shot hits.
//!
//! Invariants:
//! - Entities 0 to 63 are the players, all others are in the entity table.
//! - A slot without a player has no entity.
//! - The same seed and the same calls give the same states.
//!
//! Source: the base game's rules, release 1.32 and its ioquake3 build; OpenArena 0.8.8.

mod activation;
mod asset_index;
mod body_queue;
mod combat;
mod combat_settings;
mod context;
mod damage;
mod entities;
mod entity_kinds;
mod extrapolation;
mod flag;
mod frame;
mod free_numbers;
mod hit;
mod holdables;
mod items;
mod lag_compensation;
mod level_init;
mod loadout;
mod match_frame;
mod matches;
mod mode;
mod modes;
mod move_caches;
mod mover_frames;
mod movers;
mod pickups;
mod player_world;
mod projectiles;
mod reach;
mod rules;
mod spawn_functions;
mod spawn_points;
mod systems;
mod targets;
mod teams;
mod teleport;
mod think;
mod touch;
mod triggers;
mod weapons;
mod world_effects;

use self::context::{Context, Frame, view_of};
use self::{
    damage::death::die_on_disconnect, entities::Entities, level_init::start_level, modes::ModeRow,
    rules::begin, rules::client_context, systems::Systems, think::think,
};
use crate::bg::{Event, GameType, Persistent};
use crate::game::clients::{self, CONSOLE_COMMANDS, Clients, JoinState, Player};
use crate::game::{
    ConnectError, ConsoleCommand, EntityView, Game, GameEvent, GameFault, Host, LevelStart,
    MatchPhase, Ruleset, movement::PmoveVariant, rng::LevelRng,
};
use crate::model::{
    ClientNum, CommandArgs, EntityNum, EntitySet, LevelTime, PlayerState, UserCmd,
    limits::MAX_CLIENTS, prefetch,
};
use crate::world::MapEntities;
pub(crate) use spawn_functions::has_spawn_point;

/// Game with entities, combat and matches.
#[derive(Debug)]
pub struct Deathmatch {
    clients: Clients,
    entities: Entities,
    frame: Frame,
    rng: LevelRng,
    systems: Systems,
    /// Value of every random number; `None` for varying ones.
    fixed_random: Option<u16>,
    /// Player state of a free slot.
    free_slot: PlayerState,
}

impl Deathmatch {
    /// Creates a game for clients with the data of a ruleset.
    #[must_use]
    pub fn new(ruleset: &'static Ruleset) -> Self {
        Self::moving_as(PmoveVariant::of_ruleset(ruleset))
    }

    /// Creates a game for clients with a pmove variant and the data of its ruleset.
    #[must_use]
    pub fn moving_as(variant: &'static PmoveVariant) -> Self {
        Self {
            clients: Clients::new(variant.ruleset),
            entities: Entities::default(),
            frame: Frame::new(variant, &ModeRow::of(GameType::FreeForAll).mode),
            rng: LevelRng::default(),
            systems: Systems::default(),
            fixed_random: None,
            free_slot: PlayerState::default(),
        }
    }

    /// Makes every random number the same, for comparisons with other rules.
    #[must_use]
    pub const fn with_fixed_random(mut self, value: Option<u16>) -> Self {
        self.fixed_random = value;
        self
    }

    /// Returns the context of a call by the host, and the subsystems.
    fn call<'a>(&'a mut self, host: &'a mut dyn Host) -> (Context<'a>, &'a mut Systems) {
        let Self { clients, entities, frame, rng, systems, .. } = self;
        (Context { host, clients, entities, frame, rng }, systems)
    }
}

impl Game for Deathmatch {
    fn expect_usercmds(&self, client: ClientNum) {
        if let Some(player) = &self.clients.players[client.index()] {
            player.expect_usercmds();
        }
        prefetch(&self.systems.fight.combat.players[client.index()]);
        self.systems.moves.expect_move(client);
    }

    fn init(&mut self, host: &mut dyn Host, start: LevelStart) -> Result<(), GameFault> {
        self.rng = LevelRng::new(start.seed).with_fixed(self.fixed_random);
        self.frame.ms = 0;
        self.clients.start(host, &start);
        let (mut cx, sys) = self.call(host);
        sys.fight.combat.reset();
        sys.fight.projectiles.reset();
        sys.moves.reset();
        cx.refresh_settings();
        sys.fight.combat.sprees.start(&mut cx);
        start_level(&mut cx, sys, &start);
        Ok(())
    }

    fn shutdown(&mut self, host: &mut dyn Host, _restart: bool) -> Result<(), GameFault> {
        for player in self.clients.players.iter_mut().flatten() {
            player.unlink(host);
        }
        for number in self.entities.numbers() {
            self.entities.unlink(host, number);
        }
        self.entities.clear();
        self.systems.body_queue.clear();
        self.clients.emit(host, &GameEvent::Phase(MatchPhase::LevelEnd));
        Ok(())
    }

    fn client_connect(
        &mut self,
        host: &mut dyn Host,
        client: ClientNum,
        first_time: bool,
        is_bot: bool,
    ) -> Result<(), ConnectError> {
        self.clients.connect(host, client, first_time, is_bot).map_err(ConnectError::Refused)?;
        clients::tell_lag_compensation(&self.clients, host, client, is_bot);
        self.systems.fight.match_state.clear_ready(client);
        self.systems.fight.combat.reset_client(client);
        self.systems.fight.projectiles.reset_client(client);
        self.entities.player_event_at[client.index()] = LevelTime::default();
        Ok(())
    }

    fn client_begin(&mut self, host: &mut dyn Host, client: ClientNum) -> Result<(), GameFault> {
        let (mut cx, sys) = self.call(host);
        if cx.clients.player(client).is_some() {
            // The reset of the player state would lose a carried flag.
            sys.fight.items.drop_flags(&mut cx, client);
            begin(&mut cx, sys, client);
        }
        Ok(())
    }

    fn client_userinfo_changed(
        &mut self,
        host: &mut dyn Host,
        client: ClientNum,
    ) -> Result<(), GameFault> {
        self.clients.read_userinfo(host, client, true);
        Ok(())
    }

    fn client_disconnect(
        &mut self,
        host: &mut dyn Host,
        client: ClientNum,
    ) -> Result<(), GameFault> {
        let (mut cx, sys) = self.call(host);
        let cx = &mut cx;
        sys.fight.projectiles.drop_hook(cx, client);
        sys.fight.projectiles.remove_player_mine(cx, client);
        if cx.clients.plays(client) {
            if cx.clients.ruleset.scoring.disconnect_counts_as_death {
                die_on_disconnect(cx, &mut sys.fight, client);
            } else if let Some(player) = cx.clients.player(client) {
                let origin = player.state.origin;
                cx.show_teleport(client, origin, Event::PlayerTeleportOut);
                if !cx.is_dead(client) {
                    sys.fight.items.drop_at_death(cx, client);
                }
            }
        }
        sys.fight.items.clear_carried(client);
        // The death may give the other player of a tournament the lead.
        (sys.fight.hooks.disconnect)(&mut sys.fight.match_state, cx, client);
        client_context(cx, sys, |clients| clients.disconnect(client));
        Ok(())
    }

    fn client_command(
        &mut self,
        host: &mut dyn Host,
        client: ClientNum,
        words: &CommandArgs,
    ) -> Result<(), GameFault> {
        if self.clients.active(client).is_some() {
            let (mut cx, sys) = self.call(host);
            client_context(&mut cx, sys, |clients| clients.run_client_command(client, words));
        }
        Ok(())
    }

    fn client_think(
        &mut self,
        host: &mut dyn Host,
        client: ClientNum,
        command: &UserCmd,
    ) -> Result<(), GameFault> {
        if self.clients.receive_usercmd(client, command) {
            let (mut cx, sys) = self.call(host);
            think(&mut cx, sys, client);
        }
        Ok(())
    }

    fn run_frame(&mut self, host: &mut dyn Host, time: LevelTime) -> Result<(), GameFault> {
        let (mut cx, sys) = self.call(host);
        frame::run_frame(&mut cx, sys, time);
        Ok(())
    }

    fn console_command(
        &mut self,
        host: &mut dyn Host,
        words: &CommandArgs,
    ) -> Result<bool, GameFault> {
        let (mut cx, sys) = self.call(host);
        Ok(client_context(&mut cx, sys, |clients| clients.run_console(words)))
    }

    fn console_commands(&self) -> &'static [ConsoleCommand] {
        CONSOLE_COMMANDS
    }

    fn status_note(&self) -> Option<&str> {
        self.clients.status_note.as_deref()
    }

    fn entity_count(&self) -> usize {
        let players = self.clients.players.iter().rposition(Option::is_some);
        players.map_or(0, |last| last + 1).max(self.entities.end())
    }

    fn entity(&self, number: EntityNum) -> Option<EntityView<'_>> {
        let (state, shared) = view_of(&self.clients, &self.entities, number)?;
        Some(EntityView { state, shared })
    }

    fn take_changed_entities(&mut self) -> EntitySet {
        let mut changed = self.entities.take_changed();
        changed.add_all(&EntitySet::below(MAX_CLIENTS));
        changed
    }

    fn player(&self, client: ClientNum) -> &PlayerState {
        self.clients.player(client).map_or(&self.free_slot, Player::view_state)
    }

    fn score(&self, client: ClientNum) -> i32 {
        self.player(client).persistant[Persistent::Score]
    }

    fn has_spawn_point(&self, entities: &MapEntities) -> bool {
        spawn_functions::has_spawn_point(entities)
    }

    fn show_restart_countdown(&mut self, host: &mut dyn Host, at: LevelTime) -> bool {
        clients::show_restart_countdown(host, at)
    }

    fn set_ping(&mut self, client: ClientNum, ping_ms: i32) {
        if let Some(player) = self.clients.players[client.index()].as_mut() {
            player.ping_ms = ping_ms;
            if player.join_state == JoinState::Active {
                player.state.ping = ping_ms;
            }
        }
    }
}

#[cfg(test)]
impl Deathmatch {
    /// Runs a game function between two calls by the host.
    fn with<R>(
        &mut self,
        host: &mut dyn Host,
        run: impl FnOnce(&mut Context<'_>, &mut Systems) -> R,
    ) -> R {
        let (mut cx, sys) = self.call(host);
        run(&mut cx, sys)
    }

    /// Plays another game type from now on.
    fn set_game_type(&mut self, game_type: GameType) {
        let row = ModeRow::of(game_type);
        self.clients.game_type = game_type;
        (self.frame.mode, self.systems.fight.hooks) = (&row.mode, &row.hooks);
    }

    /// Returns the clients, for tests of their rules.
    pub(in crate::game) const fn clients(&mut self) -> &mut Clients {
        &mut self.clients
    }

    /// Teleports a client.
    pub(in crate::game) fn teleport(
        &mut self,
        host: &mut dyn Host,
        client: ClientNum,
        [origin, angles]: [crate::model::Vec3; 2],
    ) {
        self.with(host, |cx, sys| teleport::teleport(cx, &mut sys.fight, client, origin, angles));
    }
}

#[cfg(test)]
mod tests;
