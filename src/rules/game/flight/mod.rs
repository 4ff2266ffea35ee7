//! Free flight: players fly without collision, on maps without geometry.
//!
//! Unmodified clients can enter, see other players, chat, spectate and read the scoreboard. The game has no
//! attacks, items or damage; every game type is played as free for all.
//!
//! Invariants: a slot without a player has no entity and an empty player entry; sessions survive level
//! changes as long as this value lives; the same seed and the same calls give the same states; usercmds
//! and frames allocate only to send text.
//! Source: the base game's lifecycle, release 1.32, and OpenArena 0.8.8.

mod free_move;
mod spawn_table;

use self::{free_move::FlightContext, spawn_table::SpawnTableEntry};
use super::{
    ConnectError, ConsoleCommand, EntityView, Game, GameEvent, GameFault, Host, LevelStart,
    MatchPhase, Ruleset,
    clients::{
        self, CONSOLE_COMMANDS, ClientContext, ClientRules, Clients, Placement, Player, Role,
    },
    rng::LevelRng,
    settings::key,
};
use crate::bg::{Persistent, configstring};
use crate::cvar::engine;
use crate::model::{
    ClientNum, CommandArgs, EntityNum, LevelTime, PlayerState, UserCmd, Vec3, limits::MAX_CLIENTS,
};
use crate::world::MapEntities;

/// Minimum distance of a spawn point from other players, in units.
const MIN_SPAWN_DISTANCE: f32 = 64.0;
/// Offset from the spawn point when all are occupied, in units.
const SPAWN_OFFSET: f32 = 80.0;

/// Game without geometry, combat and items.
#[derive(Debug)]
pub struct Flight {
    clients: Clients,
    map: SpawnTableEntry,
    rng: LevelRng,
    /// Player state of free slots.
    free_slot: PlayerState,
}

impl Flight {
    /// Creates a game with a ruleset.
    #[must_use]
    pub fn new(ruleset: &'static Ruleset) -> Self {
        Self {
            clients: Clients::new(ruleset),
            map: SpawnTableEntry::of_map(""),
            rng: LevelRng::default(),
            free_slot: PlayerState::default(),
        }
    }

    /// Runs a function on the clients, with the rules of free flight.
    fn clients<R>(
        &mut self,
        host: &mut dyn Host,
        run: impl FnOnce(&mut ClientContext<'_>) -> R,
    ) -> R {
        let Self { clients, map, rng, .. } = self;
        let mut rules = FlightRules { map, rng };
        run(&mut ClientContext { host, clients, rules: &mut rules })
    }

    /// Runs the last usercmd of a client.
    fn think(&mut self, host: &mut dyn Host, client: ClientNum) {
        let role = self.clients.role(client);
        let Some((player, cx)) = in_context(&mut self.clients, client) else { return };
        let command = player.command;
        if role.plays() {
            if player.is_inactive(host, client, &command, cx.settings, cx.now) {
                host.drop_client(client, "Dropped due to inactivity");
                return;
            }
            player.set_movement(role, cx.settings);
            if player.fly(&command, &cx) {
                player.publish(host, role, cx.settings);
                player.link(host, role);
            }
            player.buttons = command.buttons;
        } else {
            if player.followed.is_none() && role != Role::Scoreboard {
                player.set_movement(role, cx.settings);
                player.fly(&command, &cx);
            }
            let pressed = command.buttons.0 & !player.buttons.0;
            player.buttons = command.buttons;
            self.clients(host, |clients| clients.spectator_buttons(client, pressed));
        }
    }

    /// Updates the connection flag and the entity of a client at the end of a frame.
    fn end_frame(&mut self, host: &mut dyn Host, client: ClientNum) {
        let role = self.clients.role(client);
        self.clients.update_connection_flag(client);
        let Some((player, cx)) = in_context(&mut self.clients, client) else { return };
        player.publish(host, role, cx.settings);
    }
}

/// Returns a player and the context of its usercmds.
fn in_context(
    clients: &mut Clients,
    client: ClientNum,
) -> Option<(&mut Player, FlightContext<'_>)> {
    let Clients { ruleset, settings, now, players, .. } = clients;
    let cx = FlightContext { ruleset, settings, now: *now };
    players[client.index()].as_mut().map(|player| (player, cx))
}

/// Client operations of free flight.
struct FlightRules<'a> {
    map: &'a SpawnTableEntry,
    rng: &'a mut LevelRng,
}

impl FlightRules<'_> {
    /// Selects a spawn point: a random free one, or a position beside an occupied one.
    fn spot(&mut self, clients: &Clients, client: ClientNum) -> Placement {
        if !clients.role(client).plays() {
            return self.map.view;
        }
        let start = self.rng.bits() as usize;
        let count = self.map.spawns.len();
        let spots = (0..count).map(|step| self.map.spawns[(start + step) % count]);
        let mut spots = spots.filter(|spot| Self::is_free(clients, client, spot.origin));
        spots.next().unwrap_or_else(|| {
            let mut spot = self.map.spawns[start % count];
            let yaw = 360.0 / MAX_CLIENTS as f32 * client.index() as f32;
            let outward = super::movement::angles::axes(Vec3::new(0.0, yaw, 0.0)).forward;
            spot.origin = spot.origin.add_scaled(outward, SPAWN_OFFSET);
            spot
        })
    }

    fn is_free(clients: &Clients, client: ClientNum, origin: Vec3) -> bool {
        ClientNum::all().filter(|&other| other != client && clients.plays(other)).all(|other| {
            let away = clients.player(other).map(|player| (player.state.origin - origin).length());
            away.is_none_or(|distance| distance > MIN_SPAWN_DISTANCE)
        })
    }

    /// Spawns a client.
    fn appear(&mut self, clients: &mut Clients, host: &mut dyn Host, client: ClientNum) {
        let spot = self.spot(clients, client);
        let role = clients.role(client);
        let Some((player, cx)) = in_context(clients, client) else { return };
        player.spawn(host, client, spot, role, &cx);
        for command in cx.ruleset.spawning.commands {
            host.send_command(Some(client), command);
        }
    }
}

impl ClientRules for FlightRules<'_> {
    fn begin(&mut self, clients: &mut Clients, host: &mut dyn Host, client: ClientNum) {
        clients.enter(client);
        self.appear(clients, host, client);
        clients.entered(host, client);
    }

    /// Respawns the client. Free flight has no scores.
    fn kill(&mut self, clients: &mut Clients, host: &mut dyn Host, client: ClientNum) {
        self.appear(clients, host, client);
    }

    fn teleport(
        &mut self,
        clients: &mut Clients,
        _host: &mut dyn Host,
        client: ClientNum,
        origin: Vec3,
        angles: Vec3,
    ) {
        if let Some(player) = clients.players[client.index()].as_mut() {
            super::movement::impulses::teleport(&mut player.state, origin, angles, &player.command);
        }
    }
}

impl Game for Flight {
    fn init(&mut self, host: &mut dyn Host, start: LevelStart) -> Result<(), GameFault> {
        self.rng = LevelRng::new(start.seed);
        self.clients.start(host, &start);
        let ruleset = self.clients.ruleset;
        self.map = SpawnTableEntry::of_map(host.settings().text(engine::key::MAPNAME));
        if host.settings().int(key::G_GAMETYPE) != 0 {
            host.print("free flight has no teams: g_gametype set to 0");
            host.set_setting("g_gametype", "0");
        }

        let custom_music = super::userinfo::clean_text(host.settings().text(key::G_MUSIC), 127);
        let replaced = ruleset.level.has_music_setting
            && !custom_music.is_empty()
            && !custom_music.eq_ignore_ascii_case("none");
        let music = if replaced { custom_music.as_str() } else { self.map.music };
        let motd = super::userinfo::clean_text(host.settings().text(key::G_MOTD), 255);
        let strings = [
            (configstring::FRY_SOUND, configstring::FRY_SOUND_FILE),
            (configstring::GAME_VERSION, ruleset.version),
            (configstring::LEVEL_START_TIME, &start.time.to_string()),
            (configstring::MUSIC, music),
            (configstring::MESSAGE, self.map.title),
            (configstring::MOTD, &motd),
            (configstring::WARMUP, ""),
            (configstring::ITEMS, &ruleset.item_bits()),
        ];
        for (index, text) in strings {
            host.set_configstring(index, text);
        }
        if ruleset.matches.clears_intermission {
            host.set_configstring(configstring::INTERMISSION, "");
        }
        if !start.restart {
            self.clients.publish_scores(host);
        }
        self.clients.emit(host, &GameEvent::Phase(MatchPhase::LevelStart));
        Ok(())
    }

    fn shutdown(&mut self, host: &mut dyn Host, _restart: bool) -> Result<(), GameFault> {
        for player in self.clients.players.iter_mut().flatten() {
            player.unlink(host);
        }
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
        self.clients.connect(host, client, first_time, is_bot).map_err(ConnectError::Refused)
    }

    fn client_begin(&mut self, host: &mut dyn Host, client: ClientNum) -> Result<(), GameFault> {
        if self.clients.player(client).is_some() {
            self.clients(host, |clients| {
                clients.rules.begin(clients.clients, clients.host, client);
            });
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
        self.clients(host, |clients| clients.disconnect(client));
        Ok(())
    }

    fn client_command(
        &mut self,
        host: &mut dyn Host,
        client: ClientNum,
        words: &CommandArgs,
    ) -> Result<(), GameFault> {
        if self.clients.active(client).is_some() {
            self.clients(host, |clients| clients.run_client_command(client, words));
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
            self.think(host, client);
        }
        Ok(())
    }

    fn run_frame(&mut self, host: &mut dyn Host, time: LevelTime) -> Result<(), GameFault> {
        self.clients.begin_frame(time);
        if self.clients.settings_version.changed(host) {
            self.clients.settings.refresh(host, self.clients.ruleset);
        }
        for client in ClientNum::all() {
            let Some(player) = self.clients.active(client) else { continue };
            if self.clients.settings.synchronous || player.is_bot {
                self.think(host, client);
            }
        }
        for client in ClientNum::all() {
            if self.clients.active(client).is_some() {
                self.end_frame(host, client);
            }
        }
        self.clients(host, |clients| clients.run_client_frame());
        Ok(())
    }

    fn console_command(
        &mut self,
        host: &mut dyn Host,
        words: &CommandArgs,
    ) -> Result<bool, GameFault> {
        Ok(self.clients(host, |clients| clients.run_console(words)))
    }

    fn console_commands(&self) -> &'static [ConsoleCommand] {
        CONSOLE_COMMANDS
    }

    fn entity_count(&self) -> usize {
        self.clients.players.iter().rposition(Option::is_some).map_or(0, |last| last + 1)
    }

    fn entity(&self, number: EntityNum) -> Option<EntityView<'_>> {
        let player = self.clients.players.get(number.index())?.as_ref()?;
        Some(EntityView { state: &player.entity, shared: &player.shared })
    }

    fn player(&self, client: ClientNum) -> &PlayerState {
        self.clients.players[client.index()].as_ref().map_or(&self.free_slot, Player::view_state)
    }

    fn set_ping(&mut self, client: ClientNum, ping_ms: i32) {
        if let Some(player) = self.clients.players[client.index()].as_mut() {
            player.ping_ms = ping_ms;
            player.state.ping = ping_ms;
        }
    }

    fn score(&self, client: ClientNum) -> i32 {
        self.player(client).persistant[Persistent::Score]
    }

    fn has_spawn_point(&self, entities: &MapEntities) -> bool {
        // Players start at the positions of this game's own table.
        let _ = entities;
        true
    }

    fn show_restart_countdown(&mut self, host: &mut dyn Host, at: LevelTime) -> bool {
        clients::show_restart_countdown(host, at)
    }
}

#[cfg(test)]
mod tests;
