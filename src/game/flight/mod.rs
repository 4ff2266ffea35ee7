//! Free flight: players fly without collision, on maps without geometry.
//!
//! Everything around the flying is what a deathmatch game has, so that an unmodified client enters,
//! sees the others, chats, watches and reads the scoreboard. Nobody shoots and nothing is hurt; every
//! game type is played as free for all.
//!
//! Invariants: a slot without a player has no entity and an empty player entry; sessions survive level
//! changes as long as this value lives; the same seed and the same calls give the same states; thinking
//! and frames allocate only when there is something to say.
//! Source: the base game's lifecycle, release 1.32, and OpenArena 0.8.8.

mod levels;
mod pilot;

use self::{levels::Level, pilot::Around};
use super::{
    EntityView, Game, Host, LevelStart, Ruleset,
    clients::{self, ClientContext, ClientRules, Clients, Placement, Player, Role},
    settings::key,
};
use crate::bg::{Persistent, configstring};
use crate::cvar::engine;
use crate::model::{
    ClientNum, EntityNum, LevelTime, PlayerState, UserCmd, Vec3, Words, limits::MAX_CLIENTS,
};
use crate::world::MapEntities;

/// Two players closer than this are in each other's way.
const ELBOW_ROOM: f32 = 64.0;
/// How far aside somebody begins when every spot is taken.
const ASIDE: f32 = 80.0;

/// Free flight.
#[derive(Debug)]
pub struct Flight {
    clients: Clients,
    level: Level,
    /// The level's chance.
    seed: u32,
    /// What a free slot sees.
    nobody: PlayerState,
}

impl Flight {
    /// A game for clients that have this ruleset's data.
    #[must_use]
    pub fn new(ruleset: &'static Ruleset) -> Self {
        Self {
            clients: Clients::new(ruleset),
            level: Level::named(""),
            seed: 0,
            nobody: PlayerState::default(),
        }
    }

    /// Runs what concerns clients alone, with the rules of free flight behind it.
    fn clients<R>(
        &mut self,
        host: &mut dyn Host,
        run: impl FnOnce(&mut ClientContext<'_>) -> R,
    ) -> R {
        let Self { clients, level, seed, .. } = self;
        let mut rules = FlightRules { level, seed };
        run(&mut ClientContext { host, clients, rules: &mut rules })
    }

    /// Runs a client's last command.
    fn think(&mut self, host: &mut dyn Host, client: ClientNum) {
        let role = self.clients.role(client);
        let Some((player, around)) = in_context(&mut self.clients, client) else { return };
        let command = player.command;
        if role.plays() {
            if player.is_inactive(host, client, &command, around.settings, around.now) {
                host.drop_client(client, "Dropped due to inactivity");
                return;
            }
            player.set_movement(role, around.settings);
            if player.fly(&command, &around) {
                player.publish(host, role, around.settings);
                player.link(host, role);
            }
            player.buttons = command.buttons;
        } else {
            if player.followed.is_none() && role != Role::Scoreboard {
                player.set_movement(role, around.settings);
                player.fly(&command, &around);
            }
            let pressed = command.buttons.0 & !player.buttons.0;
            player.buttons = command.buttons;
            self.clients(host, |clients| clients.spectator_buttons(client, pressed));
        }
    }

    /// What is due to a client at the end of each frame.
    fn end_frame(&mut self, host: &mut dyn Host, client: ClientNum) {
        let role = self.clients.role(client);
        self.clients.update_connection_flag(client);
        let Some((player, around)) = in_context(&mut self.clients, client) else { return };
        player.publish(host, role, around.settings);
    }
}

/// The player, and what its steps depend on.
fn in_context(clients: &mut Clients, client: ClientNum) -> Option<(&mut Player, Around<'_>)> {
    let Clients { ruleset, settings, now, players, .. } = clients;
    let around = Around { ruleset, settings, now: *now };
    players[client.index()].as_mut().map(|player| (player, around))
}

/// The rules of free flight for client commands: a client that dies is placed again.
struct FlightRules<'a> {
    level: &'a Level,
    seed: &'a mut u32,
}

impl FlightRules<'_> {
    /// The next number of the level's chance, in 16 bits.
    fn chance(&mut self) -> usize {
        *self.seed = self.seed.wrapping_mul(69_069).wrapping_add(1);
        (*self.seed >> 16) as usize
    }

    /// Where a client begins: a free spot by chance, or beside a taken one.
    fn spot(&mut self, clients: &Clients, client: ClientNum) -> Placement {
        if !clients.role(client).plays() {
            return self.level.view;
        }
        let start = self.chance();
        let count = self.level.spawns.len();
        let spots = (0..count).map(|step| self.level.spawns[(start + step) % count]);
        let mut spots = spots.filter(|spot| Self::is_free(clients, client, spot.origin));
        spots.next().unwrap_or_else(|| {
            let mut spot = self.level.spawns[start % count];
            let yaw = 360.0 / MAX_CLIENTS as f32 * client.index() as f32;
            let outward = super::movement::angles::axes(Vec3::new(0.0, yaw, 0.0)).forward;
            spot.origin = spot.origin.add_scaled(outward, ASIDE);
            spot
        })
    }

    fn is_free(clients: &Clients, client: ClientNum, origin: Vec3) -> bool {
        ClientNum::all().filter(|&other| other != client && clients.plays(other)).all(|other| {
            let away = clients.player(other).map(|player| (player.state.origin - origin).length());
            away.is_none_or(|distance| distance > ELBOW_ROOM)
        })
    }

    /// Puts a client at a spot, with everything a newcomer has.
    fn appear(&mut self, clients: &mut Clients, host: &mut dyn Host, client: ClientNum) {
        let spot = self.spot(clients, client);
        let role = clients.role(client);
        let Some((player, around)) = in_context(clients, client) else { return };
        player.spawn(host, client, spot, role, &around);
        for command in around.ruleset.spawn_commands {
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

    /// Places the client again. It loses nothing by that: there are no scores in free flight.
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
            super::movement::push::teleport(&mut player.state, origin, angles, &player.command);
        }
    }
}

impl Game for Flight {
    fn init(&mut self, host: &mut dyn Host, start: LevelStart) {
        self.seed = start.seed;
        self.clients.start(host, &start);
        let ruleset = self.clients.ruleset;
        self.level = Level::named(host.settings().text(engine::key::MAPNAME));
        if host.settings().int(key::G_GAMETYPE) != 0 {
            host.print("free flight knows no teams: g_gametype is 0 now");
            host.set_setting("g_gametype", "0");
        }

        let custom_music = super::userinfo::clean_text(host.settings().text(key::G_MUSIC), 127);
        let replaced = ruleset.music_setting
            && !custom_music.is_empty()
            && !custom_music.eq_ignore_ascii_case("none");
        let music = if replaced { custom_music.as_str() } else { self.level.music };
        let motd = super::userinfo::clean_text(host.settings().text(key::G_MOTD), 255);
        let strings = [
            (configstring::FRY_SOUND, configstring::FRY_SOUND_FILE),
            (configstring::GAME_VERSION, ruleset.version),
            (configstring::LEVEL_START_TIME, &start.time.to_string()),
            (configstring::MUSIC, music),
            (configstring::MESSAGE, self.level.title),
            (configstring::MOTD, &motd),
            (configstring::WARMUP, ""),
            (configstring::ITEMS, &ruleset.item_bits()),
        ];
        for (index, text) in strings {
            host.set_configstring(index, text);
        }
        if ruleset.clears_intermission {
            host.set_configstring(configstring::INTERMISSION, "");
        }
        if !start.restart {
            self.clients.publish_scores(host);
        }
        self.clients.log_start(host);
    }

    fn shutdown(&mut self, host: &mut dyn Host, _restart: bool) {
        for player in self.clients.players.iter_mut().flatten() {
            player.unlink(host);
        }
        self.clients.log_end(host);
    }

    fn client_connect(
        &mut self,
        host: &mut dyn Host,
        client: ClientNum,
        first_time: bool,
        is_bot: bool,
    ) -> Result<(), String> {
        self.clients.connect(host, client, first_time, is_bot)
    }

    fn client_begin(&mut self, host: &mut dyn Host, client: ClientNum) {
        if self.clients.player(client).is_some() {
            self.clients(host, |clients| {
                clients.rules.begin(clients.clients, clients.host, client);
            });
        }
    }

    fn client_userinfo_changed(&mut self, host: &mut dyn Host, client: ClientNum) {
        self.clients.read_userinfo(host, client, true);
    }

    fn client_disconnect(&mut self, host: &mut dyn Host, client: ClientNum) {
        self.clients(host, |clients| clients.disconnect(client));
    }

    fn client_command(&mut self, host: &mut dyn Host, client: ClientNum, words: &Words) {
        if self.clients.active(client).is_some() {
            self.clients(host, |clients| clients.run_client_command(client, words));
        }
    }

    fn client_think(&mut self, host: &mut dyn Host, client: ClientNum, command: &UserCmd) {
        if self.clients.receive_usercmd(client, command) {
            self.think(host, client);
        }
    }

    fn run_frame(&mut self, host: &mut dyn Host, time: LevelTime) {
        self.clients.now = time;
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
    }

    fn console_command(&mut self, host: &mut dyn Host, words: &Words) -> bool {
        self.clients(host, |clients| clients.run_console(words))
    }

    fn entity_count(&self) -> usize {
        self.clients.players.iter().rposition(Option::is_some).map_or(0, |last| last + 1)
    }

    fn entity(&self, number: EntityNum) -> Option<EntityView<'_>> {
        let player = self.clients.players.get(number.index())?.as_ref()?;
        Some(EntityView { state: &player.entity, shared: &player.shared })
    }

    fn player(&self, client: ClientNum) -> &PlayerState {
        self.clients.players[client.index()].as_ref().map_or(&self.nobody, Player::view_state)
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
