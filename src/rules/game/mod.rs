//! Game interface: [`Game`] is called by the server, [`Host`] is called by the game.
//!
//! Both follow the entries and services of the engine's game interface, so that bytecode and native
//! modules can implement them too. The server reads entities and player states by reference from the
//! game's storage.
//!
//! Invariants: a game does not handle packets; a [`Host`] call never calls back into the game, except
//! through the closure of [`Host::drop_client_now`]. Source: the game interface, version 8.

mod bot_link;
mod clients;
#[cfg(test)]
pub(crate) mod conformance;
mod deathmatch;
mod direction_bytes;
mod fault;
pub mod files;
mod flight;
mod game_event;
pub mod movement;
mod rng;
pub mod ruleset;
pub mod settings;
pub mod userinfo;

use std::net::IpAddr;

use crate::{
    cvar::{Flags, GameCode, Values},
    model::{
        ClientNum, ClientSet, CommandArgs, ConfigIndex, EntityNum, EntitySet, EntityShared,
        EntityState, LevelTime, Millis, PlayerState, UnixMillis, UserCmd,
    },
    world::{MapEntities, World},
};

pub use bot_link::BotLink;
pub(crate) use clients::show_restart_countdown;
pub(crate) use clients::unreadable_masks;
pub use deathmatch::Deathmatch;
pub(crate) use deathmatch::has_spawn_point;
pub use fault::{ConnectError, GameFault};
pub use files::{FileLimits, GameFiles, ScriptMask};
pub use flight::Flight;
pub use game_event::{Audience, FlagAction, GameEvent, MatchPhase, TeamScoreCause};
pub use ruleset::{BaseGame, Ruleset};

/// Names of the console commands of the program's rules.
pub fn console_command_names() -> impl Iterator<Item = &'static str> {
    clients::CONSOLE_COMMANDS.iter().map(|command| command.name)
}

/// A console command of a game, as listings show it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ConsoleCommand {
    /// Name, in lower case.
    pub name: &'static str,
    /// Arguments.
    pub usage: &'static str,
    /// One imperative sentence.
    pub help: &'static str,
}

/// Parameters of a level start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LevelStart {
    /// Level time at the start.
    pub time: LevelTime,
    /// Random seed of the level.
    pub seed: u32,
    /// Whether the level restarts in place: configstrings and clients stay.
    pub restart: bool,
}

/// View of an entity for the engine.
#[derive(Clone, Copy, Debug)]
pub struct EntityView<'a> {
    /// Fields sent in snapshots.
    pub state: &'a EntityState,
    /// Fields used by the server only.
    pub shared: &'a EntityShared,
}

/// A game, called by the server.
///
/// After a fault the server calls no entry of this game again. The views of entities and players stay
/// readable until the game is replaced.
pub trait Game {
    /// Starts a level. Configstrings are empty unless the level restarts.
    ///
    /// # Errors
    /// The game faulted.
    fn init(&mut self, host: &mut dyn Host, start: LevelStart) -> Result<(), GameFault>;

    /// Code that runs: the rules of the program, or a module.
    fn code(&self) -> GameCode {
        GameCode::Native
    }

    /// Ends the level.
    ///
    /// # Errors
    /// The game faulted.
    fn shutdown(&mut self, host: &mut dyn Host, restart: bool) -> Result<(), GameFault>;

    /// Connects a client. `first_time` is false for a client that stays over a level change.
    ///
    /// # Errors
    /// The game refused the client, or faulted.
    fn client_connect(
        &mut self,
        host: &mut dyn Host,
        client: ClientNum,
        first_time: bool,
        is_bot: bool,
    ) -> Result<(), ConnectError>;

    /// Enters a client that has loaded the level.
    ///
    /// # Errors
    /// The game faulted.
    fn client_begin(&mut self, host: &mut dyn Host, client: ClientNum) -> Result<(), GameFault>;

    /// Handles a changed userinfo, which is read from the host.
    ///
    /// # Errors
    /// The game faulted.
    fn client_userinfo_changed(
        &mut self,
        host: &mut dyn Host,
        client: ClientNum,
    ) -> Result<(), GameFault>;

    /// Removes a disconnected client. The host still has its slot.
    ///
    /// # Errors
    /// The game faulted.
    fn client_disconnect(
        &mut self,
        host: &mut dyn Host,
        client: ClientNum,
    ) -> Result<(), GameFault>;

    /// Hint: usercmds of a client may follow, so the memory that they need is requested.
    fn expect_usercmds(&self, client: ClientNum) {
        let _ = client;
    }

    /// Runs a client command that the engine does not handle.
    ///
    /// # Errors
    /// The game faulted.
    fn client_command(
        &mut self,
        host: &mut dyn Host,
        client: ClientNum,
        words: &CommandArgs,
    ) -> Result<(), GameFault>;

    /// Runs an accepted usercmd of a client in the level.
    ///
    /// # Errors
    /// The game faulted.
    fn client_think(
        &mut self,
        host: &mut dyn Host,
        client: ClientNum,
        command: &UserCmd,
    ) -> Result<(), GameFault>;

    /// Runs the thinking of bots, once before the frames that are due. Games without bots of their own
    /// have nothing to do.
    ///
    /// # Errors
    /// The game faulted.
    fn run_bot_frame(&mut self, host: &mut dyn Host, time: LevelTime) -> Result<(), GameFault> {
        let _ = (host, time);
        Ok(())
    }

    /// Runs a server frame.
    ///
    /// # Errors
    /// The game faulted.
    fn run_frame(&mut self, host: &mut dyn Host, time: LevelTime) -> Result<(), GameFault>;

    /// Runs a console command that the engine does not know. Returns whether the game knows it.
    ///
    /// # Errors
    /// The game faulted.
    fn console_command(
        &mut self,
        host: &mut dyn Host,
        words: &CommandArgs,
    ) -> Result<bool, GameFault>;

    /// Returns the console commands that the game knows, for listings. A module does not tell its own.
    fn console_commands(&self) -> &'static [ConsoleCommand] {
        &[]
    }

    /// Returns a line for the `status` command about something that the operator should change.
    fn status_note(&self) -> Option<&str> {
        None
    }

    /// Returns a line about the load that the last entry was, for the log of a slow game.
    fn load_note(&self) -> Option<String> {
        None
    }

    /// Returns one more than the highest entity number in use.
    fn entity_count(&self) -> usize;

    /// Returns an entity in use, or `None`.
    fn entity(&self, number: EntityNum) -> Option<EntityView<'_>>;

    /// Returns the numbers whose entity may have changed since the last call, or in this level.
    ///
    /// An entity changes when it is new or gone, or has another state.
    fn take_changed_entities(&mut self) -> EntitySet {
        EntitySet::ALL
    }

    /// Returns the player state that a client is sent: its own, or that of the followed player.
    fn player(&self, client: ClientNum) -> &PlayerState;

    /// Sets a player's ping; the server calls it before each frame.
    fn set_ping(&mut self, client: ClientNum, ping_ms: i32);

    /// Returns the score of the player that the client views, for status replies. Called for every slot
    /// in use.
    fn score(&self, client: ClientNum) -> i32;

    /// Whether a client can spawn on a map with these entities. Called before a map change: a map without
    /// a spawn point is rejected.
    fn has_spawn_point(&self, entities: &MapEntities) -> bool;

    /// Shows clients the countdown to a restart at `at`. Returns false if the level is to restart at once,
    /// because the game has its own countdown (warm-up).
    fn show_restart_countdown(&mut self, host: &mut dyn Host, at: LevelTime) -> bool;
}

/// Time at which a console line of the game runs. Engine names: `EXEC_NOW`, `EXEC_INSERT`,
/// `EXEC_APPEND`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConsoleTiming {
    /// At once for commands that set settings. From the first other command on, the line is inserted,
    /// since commands may end the level whose game runs.
    Now,
    /// After the current frame, before all queued lines.
    Insert,
    /// After the current frame, behind all queued lines.
    Append,
}

/// Engine services, called by the game.
pub trait Host {
    /// Writes a line to the server's console.
    fn print(&mut self, text: &str);

    /// Writes a line about something that the operator should change.
    fn warn(&mut self, text: &str) {
        self.print(text);
    }

    /// Writes a line without line end to the console and the game log, where `clock_ms` precedes it.
    fn log_line(&mut self, clock_ms: i32, text: &str) {
        let _ = clock_ms;
        self.print(text);
    }

    /// Handles an event of the match. The game log has its lines already. Games in modules emit none.
    fn handle_event(&mut self, event: &GameEvent<'_>) {
        let _ = event;
    }

    /// Appends text of the game to the game log, which the game has formatted itself.
    fn log_text(&mut self, text: &str) {
        let _ = text;
    }

    /// Returns the files that the game may read and write; `None` without files.
    fn files(&mut self) -> Option<&mut GameFiles> {
        None
    }

    /// Returns the server's clock, which grows by real time and starts at an arbitrary value.
    fn clock(&self) -> Millis {
        Millis(0)
    }

    /// Returns the calendar time in UTC, if the server knows it.
    fn calendar_time(&self) -> Option<UnixMillis> {
        None
    }

    /// Writes a line to the source of the running console command: the console or an rcon client.
    fn reply(&mut self, text: &str) {
        self.print(text);
    }

    /// Returns the names of the available maps, in alphabetical order.
    fn map_names(&self) -> &[String] {
        &[]
    }

    /// Returns the serverinfo string.
    fn serverinfo(&self) -> String {
        String::new()
    }

    /// Returns the current values of all settings, read by the typed keys of [`settings`].
    fn settings(&self) -> &Values;

    /// Returns the text of a setting or variable; empty for an unknown name.
    fn setting(&self, name: &str) -> &str;

    /// Returns a number that changes with each change of a setting. With `None` games read the settings
    /// every time.
    fn settings_version(&self) -> Option<u64> {
        None
    }

    /// Sets a setting. Refusals are printed to the console.
    fn set_setting(&mut self, name: &str, value: &str);

    /// Registers a setting of the game with its default and flags. A known setting keeps its value.
    /// Refusals are printed to the console.
    fn register_setting(&mut self, name: &str, default: &str, flags: Flags) {
        let _ = flags;
        if self.setting(name).is_empty() {
            self.set_setting(name, default);
        }
    }

    /// Returns the number of changes of a setting or variable; 0 for an unknown name.
    fn setting_changes(&self, name: &str) -> u32 {
        let _ = name;
        0
    }

    /// Queues a reliable command for one client, or for all with `None`. Text longer than 1022 bytes is
    /// discarded.
    fn send_command(&mut self, to: Option<ClientNum>, text: &str);

    /// Sets a configstring. Does nothing if the text is the same.
    fn set_configstring(&mut self, index: ConfigIndex, text: &str);

    /// Whether the gamestate has room for player entries of this length in every slot.
    fn has_room(&self, index: ConfigIndex, text: &str) -> bool {
        let _ = (index, text);
        true
    }

    /// Returns a configstring; empty if unset.
    fn configstring(&self, index: ConfigIndex) -> &str;

    /// Returns a client's userinfo string; empty for a free slot.
    fn userinfo(&self, client: ClientNum) -> &str;

    /// Returns the last usercmd received from a client, including the one with which it entered; all zero
    /// before the first.
    fn usercmd(&self, client: ClientNum) -> UserCmd;

    /// Returns the network address of a client; `None` for a free slot or a player without a connection.
    fn address(&self, client: ClientNum) -> Option<IpAddr> {
        userinfo::PlayerUserinfo::parse(self.userinfo(client))?.value("ip").parse().ok()
    }

    /// Sets a client's userinfo and the name cached from it. The key `ip` stays. Does nothing if the text
    /// is too long.
    fn set_userinfo(&mut self, client: ClientNum, text: &str);

    /// Drops a client after the current entry has returned.
    fn drop_client(&mut self, client: ClientNum, reason: &str);

    /// Drops a client during the current entry. `disconnect` runs the game's own disconnect entry,
    /// nested in the running one; the server then calls none. It is not called for a free slot.
    fn drop_client_now(
        &mut self,
        client: ClientNum,
        reason: &str,
        disconnect: &mut dyn FnMut(&mut dyn Host),
    );

    /// Takes a free client slot for a bot: a client without a connection, which the game connects and moves
    /// itself. Returns `None` if all slots are in use.
    fn allocate_bot(&mut self) -> Option<ClientNum> {
        None
    }

    /// Frees the slot of a bot, without an entry of the game.
    fn free_bot(&mut self, client: ClientNum) {
        let _ = client;
    }

    /// Returns the link of a bot; `None` for a slot without one.
    fn bot(&mut self, client: ClientNum) -> Option<&mut BotLink> {
        let _ = client;
        None
    }

    /// Runs a console line of the game, at the time that `when` selects.
    fn run_console(&mut self, when: ConsoleTiming, line: &str);

    /// Whether the client's address is local to this host. Local clients need no password.
    fn is_local(&self, client: ClientNum) -> bool;

    /// Returns the map's geometry and the linked entities; `None` without a map file.
    fn world(&self) -> Option<&World>;

    /// Returns the world for opening and closing area portals.
    fn world_mut(&mut self) -> Option<&mut World>;

    /// Links an entity into the world and computes its bounds and its `solid` for prediction.
    fn link_entity(&mut self, state: &mut EntityState, shared: &mut EntityShared);

    /// Links the entities of clients again, in ascending order. Each of them must be linked at its current place or
    /// not at all: only the order of links changes.
    fn relink_settled(&mut self, clients: ClientSet) {
        let _ = clients;
    }

    /// Unlinks an entity from the world.
    fn unlink_entity(&mut self, number: EntityNum, shared: &mut EntityShared);
}
