//! Level: map, server id, level time, configstrings and baselines; map load and restart.
//!
//! Invariants: server ids grow and are never 0; level time never decreases, also across levels, so
//! no client sees time run backwards. Before its 31 bits are used up it is reset, with no client
//! connected.
//! Source: Quake III protocol 68, map change. Engine names: `SV_SpawnServer`, `SV_MapRestart_f`,
//! `sv.serverId`.

use rand_pcg::rand_core::Rng as _;

use super::{
    GameRequest, Geometry, Server, bots, client::ClientState, game_code::next_request,
    game_faults::connect_to_game, map_loader::MapError, pure,
};
use crate::{
    game::{Game, Host as _, LevelStart},
    model::{Baselines, EntityNum, LevelTime, ServerId, UserCmd},
    serving::{configstrings::Configstrings, connection::ServedLevel},
    settings::{Choice as _, CollisionPrecision, key},
    wire::{bits::BitWriter, gamestate},
    world::World,
};

/// Level time between two settle frames, in ms.
const SETTLE_MS: i32 = 100;
/// Game frames before clients enter: items drop to the floor, doors find their teams.
const SETTLE_FRAMES: usize = 3;

/// Default of `nextmap`.
pub(super) const NEXT: &str = "map_restart 0";
/// Level time from which it is reset while no client is connected.
const CLOCK_RESTART_WHEN_EMPTY: LevelTime = LevelTime(0x4000_0000);
/// Level time at which it is reset and all clients are dropped, since clients read times as signed
/// numbers.
const CLOCK_RESTART_ALWAYS: LevelTime = LevelTime(0x7000_0000);

/// The level in force.
#[derive(Debug)]
pub(super) struct Level {
    pub(super) map: String,
    /// Geometry of the map; `None` in open space.
    pub(super) world: Option<World>,
    /// Archive of the map, by its number in the game data.
    pub(super) pack: Option<usize>,
    /// New with every load and restart.
    pub(super) server_id: ServerId,
    /// Server id of the load, which `checksum_feed` belongs to.
    pub(super) feed_id: ServerId,
    /// Part of the key of usercmds.
    pub(super) checksum_feed: i32,
    pub(super) time: LevelTime,
    pub(super) configstrings: Configstrings,
    pub(super) baselines: Baselines,
    /// Toggles with every load and restart, and with it a flag of every snapshot.
    pub(super) odd: bool,
    /// Time of the scheduled restart.
    pub(super) restart_at: Option<LevelTime>,
    /// Whether the level is being set up, so that changes of configstrings are not sent.
    pub(super) starting: bool,
}

impl Level {
    /// The state before the first level.
    pub(super) fn none() -> Self {
        Self {
            map: String::new(),
            world: None,
            pack: None,
            server_id: ServerId(0),
            feed_id: ServerId(0),
            checksum_feed: 0,
            time: LevelTime(0),
            configstrings: Configstrings::new(1),
            baselines: Baselines::default(),
            odd: false,
            restart_at: None,
            starting: true,
        }
    }

    /// The level as clients are sent it.
    #[inline]
    pub(super) fn served(&self) -> ServedLevel<'_> {
        ServedLevel {
            configstrings: &self.configstrings,
            baselines: &self.baselines,
            server_id: self.server_id,
            checksum_feed: self.checksum_feed,
            time: self.time,
            client_number: None,
        }
    }

    /// Next server id: the level time, unless that has not advanced.
    pub(super) fn next_id(&self) -> ServerId {
        ServerId(self.time.0.max(self.server_id.0.saturating_add(1)).max(1))
    }
}

/// A level that was loaded and validated but does not run yet.
#[derive(Default)]
struct Prepared {
    /// Geometry of the map; `None` in open space.
    world: Option<World>,
    /// Archive of the map.
    pack: Option<usize>,
    /// Request of this level, once it is known.
    request: Option<GameRequest>,
    /// The game for this level, if the running game is for another request.
    new_game: Option<Box<dyn Game>>,
}

impl Server {
    /// Loads the first map, or runs it in open space if it cannot be loaded.
    pub(super) fn load_first_level(&mut self, map: &str) {
        match self.prepare_level(map) {
            Ok(prepared) => self.start_map(map, prepared),
            Err(error) => {
                if !self.startup.is_strict {
                    log::warn!("{error}; running {map} in free flight");
                }
                self.startup.fail(error.to_string());
                self.start_map(map, Prepared::default());
            }
        }
    }

    /// Loads another map. Clients stay connected and are sent its gamestate after their next message.
    ///
    /// # Errors
    /// The map cannot be loaded. The running level is not changed.
    pub(super) fn load_level(&mut self, map: &str) -> Result<(), MapError> {
        self.rescan_game_data();
        let prepared = self.prepare_level(map)?;
        self.faults.begin_map();
        let _ = self.core.settings.write(key::NEXTMAP, NEXT);
        self.start_map(map, prepared);
        Ok(())
    }

    /// Finds archives that were added, removed or replaced since the last level.
    pub(super) fn rescan_game_data(&mut self) {
        if self.maps.assets().rescan() {
            self.core.map_names = self.maps.names();
        }
    }

    /// Loads and validates what the next level needs. The running level is not changed.
    fn prepare_level(&self, map: &str) -> Result<Prepared, MapError> {
        let settings = &self.core.settings;
        if self.maps.is_empty() {
            return Ok(Prepared::default());
        }
        // A latched value applies to the map that is loaded now.
        let precision = settings.latched("cm_precision").and_then(CollisionPrecision::named);
        let precision = precision.unwrap_or(settings.choice(key::CM_PRECISION));
        let request = next_request(self, Geometry::Map);
        let new_game = (self.request != request).then(|| (self.games)(request));
        let game = new_game.as_deref().unwrap_or(&*self.game);
        let (world, pack) = self.maps.load(map, precision, game)?;
        Ok(Prepared { world: Some(world), pack, request: Some(request), new_game })
    }

    fn start_map(&mut self, map: &str, prepared: Prepared) {
        let Prepared { world, pack, request, new_game } = prepared;
        if self.core.level.map.is_empty() {
            // A value that the operator set before the first map is kept.
            if self.core.settings.text(key::NEXTMAP).is_empty() {
                let _ = self.core.settings.write(key::NEXTMAP, NEXT);
            }
        } else {
            self.enter_game(|game, host| game.shutdown(host, false));
        }
        let geometry = if world.is_some() { Geometry::Map } else { Geometry::None };
        // A game that faulted is replaced, since it can no longer be called.
        let request = request.unwrap_or_else(|| next_request(self, geometry));
        if self.faults.begin_level() || request != self.request {
            self.request = request;
            self.game = new_game.unwrap_or_else(|| create_game(self, request));
            self.core.bots.clear();
        }
        let core = &mut self.core;
        core.recordings.end_level();
        core.settings.begin_level();
        core.settings.begin_rules(self.game.code());
        let checksum = world.as_ref().map_or(0, |world| world.bsp().checksum);
        // Writes to settings of the server cannot fail.
        let _ = core.settings.write(key::SV_MAP_CHECKSUM, checksum);
        if let Some(world) = &world {
            for warning in &world.bsp().warnings {
                log::warn!("map {map}: {warning}");
            }
            log::info!("map {map}: geometry uses {} KiB", world.memory_len() / 1024);
        }
        core.level.world = world;
        core.level.pack = pack;
        core.frames.reset_visibility(core.level.world.as_mut());
        let slots = core.slots();
        let level = &mut core.level;
        level.starting = true;
        level.restart_at = None;
        level.odd = !level.odd;
        level.map = map.to_owned();
        level.configstrings = Configstrings::new(slots);
        level.checksum_feed = self.random.next_u32() as i32;
        level.server_id = level.next_id();
        level.feed_id = level.server_id;
        let id = level.server_id;
        pure::publish(self);
        self.publish_server_id(id);
        // The name was validated, so the write cannot fail.
        let _ = self.core.settings.write(key::MAPNAME, map);
        self.start_level(false);
        self.set_baselines();

        self.reconnect_clients();
        bots::reconnect(self);
        self.run_settle_frames(1);
        self.core.level.starting = false;
        self.publish_settings();
        self.process_pending_drops();
        self.core.announcer.request_round();
        self.maps.assets().map_started();
        log::info!("map {map}: server id {id}");
    }

    /// Connects the clients of the previous level to the new one.
    fn reconnect_clients(&mut self) {
        let slots = self.core.slots();
        for number in self.core.clients.keys() {
            let Some(client) = self.core.clients.get_mut(number).filter(|c| !c.is_zombie()) else {
                continue;
            };
            client.await_gamestate(self.core.now);
            client.queue.clear_pending();
            // Queued messages belong to the old level.
            client.channel.clear_unsent();
            if number.index() >= slots {
                self.drop_client(number, "the server has fewer slots now");
                continue;
            }
            if let Err(reason) = connect_to_game(self, number, false) {
                self.drop_client(number, &reason);
            }
        }
    }

    /// Restarts the level in place. Clients in the game stay in it.
    pub(super) fn restart_level(&mut self) {
        self.enter_game(|game, host| game.shutdown(host, true));
        if self.faults.has_ended_level() {
            self.reload_level();
            return;
        }
        if let Some(world) = &mut self.core.level.world {
            world.clear();
        }
        self.core.frames.reset_visibility(self.core.level.world.as_mut());
        let level = &mut self.core.level;
        level.restart_at = None;
        level.odd = !level.odd;
        level.server_id = level.next_id();
        let id = level.server_id;
        self.publish_server_id(id);
        self.start_level(true);
        for recording in self.core.recordings.matches_mut() {
            recording.broadcast(&"map_restart\n".into());
        }
        for number in self.core.clients.keys() {
            let Some(client) = self.core.clients.get_mut(number) else { continue };
            match client.state {
                ClientState::Zombie(_) => continue,
                // It loads a level that has ended, and is sent the gamestate again.
                ClientState::Connected(_) | ClientState::Primed(_) => {
                    client.await_gamestate(self.core.now);
                }
                ClientState::Active(_) => {
                    // An overflow requests a drop of the client.
                    self.core.send_reliable(number, &"map_restart\n".into());
                }
            }
            if let Err(reason) = connect_to_game(self, number, false) {
                self.drop_client(number, &reason);
                continue;
            }
            let active = self.core.clients.get(number).filter(|client| client.is_active());
            if let Some(last_move) = active.map(|client| client.last_usercmd) {
                self.enter_world(number, UserCmd { buttons: Default::default(), ..last_move });
            }
        }
        bots::reconnect(self);
        self.run_settle_frames(1);
        self.publish_settings();
        self.process_pending_drops();
        log::info!("map {} restarted: server id {id}", self.core.level.map);
    }

    /// Restarts the level at level time `time`. No client may be connected.
    pub fn start_clock_at(&mut self, time: LevelTime) {
        self.core.level.time = time;
        self.reload_level();
    }

    /// Starts the level again with the map in memory. Clients stay connected and are sent its gamestate.
    pub(super) fn reload_level(&mut self) {
        let mut world = self.core.level.world.take();
        if let Some(world) = &mut world {
            world.clear();
        }
        let map = self.core.level.map.clone();
        let pack = self.core.level.pack;
        self.start_map(&map, Prepared { world, pack, ..Prepared::default() });
    }

    /// Starts the level in the game and runs its settle frames.
    fn start_level(&mut self, restart: bool) {
        let start =
            LevelStart { time: self.core.level.time, seed: self.random.next_u32(), restart };
        if let Some(time) = self.core.calendar_time() {
            let _ = self.core.settings.write(key::G_TIMESTAMP, time);
        }
        self.enter_game(|game, host| game.init(host, start));
        let time = self.core.level.time;
        self.enter_game(|game, host| game.run_frame(host, time));
        self.run_settle_frames(SETTLE_FRAMES - 1);
    }

    fn run_settle_frames(&mut self, frames: usize) {
        for _ in 0..frames {
            self.core.level.time = self.core.level.time + SETTLE_MS;
            let time = self.core.level.time;
            self.enter_game(|game, host| game.run_frame(host, time));
        }
    }

    fn set_baselines(&mut self) {
        let game = &self.game;
        let states = EntityNum::all()
            .take(game.entity_count())
            .filter_map(|number| game.entity(number))
            .filter(|entity| entity.shared.is_linked() && entity.state.number != 0)
            .map(|entity| entity.state.sanitized().unwrap_or(*entity.state));
        let mut baselines = Baselines::new(states.collect());
        let level = &mut self.core.level;
        let mut writer = BitWriter::new();
        let bits = baselines.all().iter().map(|state| gamestate::baseline_bits(&mut writer, state));
        let count = level.configstrings.add_baselines(bits);
        let left_out = baselines.all().len() - count;
        if left_out > 0 {
            // Their entities are encoded against the null state.
            log::warn!("map {}: {left_out} baselines do not fit the gamestate", level.map);
            baselines = Baselines::new(baselines.all()[..count].to_vec());
        }
        level.baselines = baselines;
        self.core.sender.clear_deltas();
    }

    fn publish_server_id(&mut self, id: ServerId) {
        let _ = self.core.settings.write(key::SV_SERVERID, id);
    }
}

/// Resets level time before its 31 bits are used up. Clients may not see time decrease, so they are
/// dropped, as other servers do.
pub(super) fn restart_before_clock_wrap(server: &mut Server) {
    let time = server.core.level.time;
    let is_empty = server.core.clients.iter().next().is_none();
    if time < CLOCK_RESTART_WHEN_EMPTY || time < CLOCK_RESTART_ALWAYS && !is_empty {
        return;
    }
    log::info!("level clock reset at {time} ms");
    for number in server.core.clients.keys() {
        server.drop_client(number, "Restarting server due to time wrapping");
    }
    server.start_clock_at(LevelTime(0));
}

/// Creates a game: of the fallback rules after repeated faults, else of the chosen ones.
fn create_game(server: &Server, request: GameRequest) -> Box<dyn Game> {
    let fallback = server.fallback.as_ref().filter(|_| server.faults.uses_fallback());
    fallback.unwrap_or(&server.games)(request)
}

/// Whether a map name is valid: letters, digits and a few signs, without leaving the map folder.
pub(super) fn is_map_name(name: &str) -> bool {
    let legal = |byte: u8| byte.is_ascii_alphanumeric() || b"_-./".contains(&byte);
    (1..=63).contains(&name.len())
        && name.bytes().all(legal)
        && !name.contains("..")
        && !name.starts_with('/')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn server_ids_grow() {
        let mut level = Level::none();
        level.server_id = level.next_id();
        assert_eq!(level.server_id, ServerId(1));
        level.time = LevelTime(500);
        level.server_id = level.next_id();
        assert_eq!(level.next_id(), ServerId(501));
    }

    #[test]
    fn map_names_stay_in_the_map_folder() {
        assert!(["oa_dm1", "q3dm17", "mod/x-1.2"].into_iter().all(is_map_name));
        for name in ["", "../x", "a b", "a;b", "/etc", "x\"", &"x".repeat(64)] {
            assert!(!is_map_name(name), "{name:?}");
        }
    }
}
