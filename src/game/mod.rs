//! Game interface: [`Game`] is called by the server, [`Host`] is called by the game.
//!
//! Both follow the entries and services of the engine's game interface, so that bytecode and native
//! modules can implement them too. The server reads entities and player states by view, wherever the game keeps them.
//!
//! Invariants: a game knows nothing of packets; a [`Host`] call never calls back into the game (a drop
//! asked for is carried out after the entry returns). Source: the game interface, version 8.

mod chance;
mod clients;
#[cfg(test)]
mod conformance;
mod deathmatch;
mod direction_bytes;
mod flight;
mod modes;
pub mod movement;
pub mod ruleset;
pub mod settings;
pub mod userinfo;

use std::net::IpAddr;

use crate::{
    cvar::Values,
    model::{
        ClientNum, ConfigIndex, EntityNum, EntityShared, EntityState, LevelTime, PlayerState,
        UserCmd, Words,
    },
    world::{MapEntities, World},
};

pub use deathmatch::Deathmatch;
pub use flight::Flight;
pub use ruleset::{BaseGame, Ruleset};

/// What a level begins with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LevelStart {
    /// Level time of the load.
    pub time: LevelTime,
    /// Seed of all chance in the level.
    pub seed: u32,
    /// Restarted in place: configstrings and clients stay.
    pub restart: bool,
}

/// One entity as the engine sees it.
#[derive(Clone, Copy, Debug)]
pub struct EntityView<'a> {
    /// What clients are told.
    pub state: &'a EntityState,
    /// What only the server knows.
    pub shared: &'a EntityShared,
}

/// The rules of a game.
pub trait Game {
    /// A level begins. Configstrings are empty unless it is a restart.
    fn init(&mut self, host: &mut dyn Host, start: LevelStart);

    /// The level ends.
    fn shutdown(&mut self, host: &mut dyn Host, restart: bool);

    /// A client wants in, or stays over a level change (`first_time` false).
    ///
    /// # Errors
    /// The refusal that the client is shown.
    fn client_connect(
        &mut self,
        host: &mut dyn Host,
        client: ClientNum,
        first_time: bool,
        is_bot: bool,
    ) -> Result<(), String>;

    /// A client has loaded the level and enters it.
    fn client_begin(&mut self, host: &mut dyn Host, client: ClientNum);

    /// A client's userinfo is new; read it through the host.
    fn client_userinfo_changed(&mut self, host: &mut dyn Host, client: ClientNum);

    /// A client is gone. Its slot is still readable through the host.
    fn client_disconnect(&mut self, host: &mut dyn Host, client: ClientNum);

    /// A client typed a command that the engine does not take itself.
    fn client_command(&mut self, host: &mut dyn Host, client: ClientNum, words: &Words);

    /// One accepted usercmd of a client in the game.
    fn client_think(&mut self, host: &mut dyn Host, client: ClientNum, command: &UserCmd);

    /// One server frame.
    fn run_frame(&mut self, host: &mut dyn Host, time: LevelTime);

    /// A console line that the engine does not know. True when it was the game's.
    fn console_command(&mut self, host: &mut dyn Host, words: &Words) -> bool;

    /// One more than the highest entity number that may be in use.
    fn entity_count(&self) -> usize;

    /// An entity in use, or `None`.
    fn entity(&self, number: EntityNum) -> Option<EntityView<'_>>;

    /// The state that a client views from: its own, or that of the player it follows.
    fn player(&self, client: ClientNum) -> &PlayerState;

    /// The player's ping, written by the server before each frame.
    fn set_ping(&mut self, client: ClientNum, ping_ms: i32);

    /// Score of the player that the client views, for status replies. Called for every slot in use.
    fn score(&self, client: ClientNum) -> i32;

    /// Whether a client can spawn on a map with these entities. Called before the map replaces the
    /// running one; a map without a spawn point is rejected.
    fn has_spawn_point(&self, entities: &MapEntities) -> bool;

    /// The operator scheduled a restart for `at`. Shows the countdown to clients and returns true, or
    /// returns false if the level restarts at once because the game counts down itself (warm-up).
    fn show_restart_countdown(&mut self, host: &mut dyn Host, at: LevelTime) -> bool;
}

/// What the engine does for the rules.
pub trait Host {
    /// Writes a line to the server's console.
    fn print(&mut self, text: &str);

    /// A line of the game's log, without its end: to the console, and behind `clock_ms` of the level's
    /// clock to the log file.
    fn log_line(&mut self, clock_ms: i32, text: &str) {
        let _ = clock_ms;
        self.print(text);
    }

    /// Writes a line to whoever typed the console line that runs.
    fn reply(&mut self, text: &str) {
        self.print(text);
    }

    /// Names of the maps that can be played, in alphabetical order.
    fn map_names(&self) -> &[String] {
        &[]
    }

    /// What browsers and clients are told of the server, as an info string.
    fn serverinfo(&self) -> String {
        String::new()
    }

    /// Current values of all settings, read by the typed keys of [`settings`].
    fn settings(&self) -> &Values;

    /// Text of a setting or variable by its name; empty for an unknown name.
    fn setting(&self, name: &str) -> &str;

    /// A number that is another one after each change of a setting. None when nobody counts: then
    /// settings are read anew each time.
    fn settings_version(&self) -> Option<u64> {
        None
    }

    /// Changes a setting. Refusals are printed to the console.
    fn set_setting(&mut self, name: &str, value: &str);

    /// Queues a reliable command for one client, or for everybody. Text longer than 1022 bytes is
    /// discarded.
    fn send_command(&mut self, to: Option<ClientNum>, text: &str);

    /// Replaces a configstring; the same text again does nothing.
    fn set_configstring(&mut self, index: ConfigIndex, text: &str);

    /// Whether a player entry of that text leaves as much room in the gamestate to every other player's.
    fn has_room(&self, index: ConfigIndex, text: &str) -> bool {
        let _ = (index, text);
        true
    }

    /// A configstring, empty when unset.
    fn configstring(&self, index: ConfigIndex) -> &str;

    /// A client's userinfo as an info string; empty for a free slot.
    fn userinfo(&self, client: ClientNum) -> &str;

    /// The last usercmd received from a client, also one that only brought it into the game; all zero
    /// before the first.
    fn usercmd(&self, client: ClientNum) -> UserCmd;

    /// Network address of a client; `None` for a free slot or a player without a connection.
    fn address(&self, client: ClientNum) -> Option<IpAddr> {
        userinfo::PlayerUserinfo::parse(self.userinfo(client))?.value("ip").parse().ok()
    }

    /// Replaces a client's userinfo and the name cached from it. The address in it stays; text that is
    /// too long changes nothing.
    fn set_userinfo(&mut self, client: ClientNum, text: &str);

    /// Drops a client once the current entry has returned.
    fn drop_client(&mut self, client: ClientNum, reason: &str);

    /// Queues a console line, run after the current frame.
    fn queue_console(&mut self, line: &str);

    /// Whether the client's address is this machine's own (passwords are not asked of it).
    fn is_local(&self, client: ClientNum) -> bool;

    /// The map's geometry and what is linked into it; `None` when the server has no such map.
    fn world(&self) -> Option<&World>;

    /// The same, to open and close the portals between areas.
    fn world_mut(&mut self) -> Option<&mut World>;

    /// Makes an entity part of the world: computes its bounds and its `solid` for prediction.
    fn link_entity(&mut self, state: &mut EntityState, shared: &mut EntityShared);

    /// Takes an entity out of the world.
    fn unlink_entity(&mut self, number: EntityNum, shared: &mut EntityShared);
}
