//! Change of levels: map load and restart, baselines, the clients that stay.
//!
//! Invariants: server ids grow and are never 0; level time never decreases, also across levels, so
//! no client sees time run backwards. Before its 31 bits are used up it is reset, with no client
//! connected.
//! Source: Quake III protocol 68, map change. Engine names: `SV_SpawnServer`, `SV_MapRestart_f`,
//! `sv.serverId`.

use rand_pcg::rand_core::Rng as _;

use super::{
    client::ClientState,
    core::Core,
    current_level::NEXT,
    game_code::{GameRequest, Geometry, next_request},
    gate,
    info_strings::publish_settings,
    map_loader::MapError,
    protocols, pure,
    state::Server,
    usercmds::enter_world,
};
use crate::{
    game::{ConnectError, Game, LevelStart},
    model::{Baselines, EntityNum, LevelTime, ServerId, UserCmd},
    serving::{configstrings::Configstrings, connection::Service as _},
    settings::{Choice as _, CollisionPrecision, GameFaultPolicy, key},
    wire::{bits::BitWriter, gamestate},
    world::World,
};

/// Level time between two settle frames, in ms.
const SETTLE_MS: i32 = 100;
/// Game frames before clients enter: items drop to the floor, doors find their teams.
const SETTLE_FRAMES: usize = 3;

/// Level time from which it is reset while no client is connected.
const CLOCK_RESTART_WHEN_EMPTY: LevelTime = LevelTime(0x4000_0000);
/// Level time at which it is reset and all clients are dropped, since clients read times as signed
/// numbers.
const CLOCK_RESTART_ALWAYS: LevelTime = LevelTime(0x7000_0000);

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
    /// Restarts the level at level time `time`. No client may be connected.
    pub fn start_clock_at(&mut self, time: LevelTime) {
        self.core.level.time = time;
        reload(self);
    }
}

/// Loads the first map. If it cannot be loaded, a strict start fails, with the origin of its name; another runs it in open
/// space.
pub(super) fn load_first(server: &mut Server, map: &str, origin: &str) {
    match prepare(server, map) {
        Ok(prepared) => start(server, map, prepared),
        Err(error) => {
            server.startup.fail(format!("{origin}{error}"));
            if server.startup.is_strict {
                return;
            }
            log::warn!("{origin}{error}; running {map} in free flight");
            start(server, map, Prepared::default());
        }
    }
}

/// Loads another map. Clients stay connected and are sent its gamestate after their next message.
///
/// # Errors
/// The map cannot be loaded. The running level is not changed.
pub(super) fn load(server: &mut Server, map: &str) -> Result<(), MapError> {
    rescan_game_data(server);
    let prepared = prepare(server, map)?;
    server.faults.begin_map();
    let _ = server.core.settings.write(key::NEXTMAP, NEXT);
    start(server, map, prepared);
    Ok(())
}

/// Finds archives that were added, removed or replaced since the last level.
fn rescan_game_data(server: &mut Server) {
    if server.maps.assets().rescan() {
        server.core.map_names = server.maps.names();
    }
}

/// Loads and validates what the next level needs. The running level is not changed.
fn prepare(server: &Server, map: &str) -> Result<Prepared, MapError> {
    let settings = &server.core.settings;
    if server.maps.is_empty() {
        return Ok(Prepared::default());
    }
    // A latched value applies to the map that is loaded now.
    let precision = settings.latched("cm_precision").and_then(CollisionPrecision::named);
    let precision = precision.unwrap_or(settings.choice(key::CM_PRECISION));
    let request = next_request(settings, server.maps.assets(), Geometry::Map);
    let new_game = (server.request != request).then(|| (server.games)(request));
    let game = new_game.as_deref().unwrap_or(&*server.game);
    let (world, pack) = server.maps.load(map, precision, game)?;
    Ok(Prepared { world: Some(world), pack, request: Some(request), new_game })
}

fn start(server: &mut Server, map: &str, prepared: Prepared) {
    let Prepared { world, pack, request, new_game } = prepared;
    if server.core.level.map.is_empty() {
        // A value that the operator set before the first map is kept.
        if server.core.settings.text(key::NEXTMAP).is_empty() {
            let _ = server.core.settings.write(key::NEXTMAP, NEXT);
        }
    } else {
        server.enter_game(|game, host| game.shutdown(host, false));
    }
    let geometry = if world.is_some() { Geometry::Map } else { Geometry::None };
    // A game that faulted is replaced, since it can no longer be called.
    let request = request
        .unwrap_or_else(|| next_request(&server.core.settings, server.maps.assets(), geometry));
    if server.faults.begin_level() || request != server.request {
        server.request = request;
        server.game = new_game.unwrap_or_else(|| create_game(server, request));
        server.core.bots.clear();
    }
    let core = &mut server.core;
    core.recordings.end_level();
    core.settings.begin_level();
    core.settings.begin_rules(server.game.code(), server.request.code);
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
    level.checksum_feed = server.random.next_u32() as i32;
    level.server_id = level.next_id();
    level.feed_id = level.server_id;
    let id = level.server_id;
    let Core { settings, downloads, level, pure, .. } = &mut server.core;
    *pure = pure::publish(server.maps.assets(), settings, downloads, level);
    publish_server_id(server, id);
    // The name was validated, so the write cannot fail.
    let _ = server.core.settings.write(key::MAPNAME, map);
    start_level(server, false);
    set_baselines(server);

    reconnect_clients(server);
    reconnect_bots(server);
    run_settle_frames(server, 1);
    server.core.level.starting = false;
    publish_settings(&mut server.core);
    server.process_pending_drops();
    server.core.announcer.request_round();
    server.maps.assets().map_started();
    log::info!("map {map}: server id {id}");
    protocols::check_port_43(&server.core);
}

/// Connects the clients of the previous level to the new one.
fn reconnect_clients(server: &mut Server) {
    let slots = server.core.slots();
    for number in server.core.clients.keys() {
        let Some(client) = server.core.clients.get_mut(number).filter(|c| !c.is_zombie()) else {
            continue;
        };
        client.await_gamestate(server.core.now);
        client.queue.clear_pending();
        // Queued messages belong to the old level.
        client.channel.clear_unsent();
        if number.index() >= slots {
            server.drop_client(number, "the server has fewer slots now");
            continue;
        }
        if let Some(reason) = protocols::refusal_of(&server.core, number) {
            server.drop_client(number, &reason);
            continue;
        }
        if let Err(reason) = gate::connect_to_game(server, number, false) {
            server.drop_client(number, &reason);
        }
    }
}

/// Restarts the level in place. Clients in the game stay in it.
pub(super) fn restart_level(server: &mut Server) {
    server.enter_game(|game, host| game.shutdown(host, true));
    if server.faults.has_ended_level() {
        reload(server);
        return;
    }
    if let Some(world) = &mut server.core.level.world {
        world.clear();
    }
    server.core.frames.reset_visibility(server.core.level.world.as_mut());
    let level = &mut server.core.level;
    level.restart_at = None;
    level.odd = !level.odd;
    level.server_id = level.next_id();
    let id = level.server_id;
    publish_server_id(server, id);
    start_level(server, true);
    server.core.recordings.published(&"map_restart\n".into());
    for number in server.core.clients.keys() {
        let Some(client) = server.core.clients.get_mut(number) else { continue };
        match client.state {
            ClientState::Zombie(_) => continue,
            // It loads a level that has ended, and is sent the gamestate again.
            ClientState::Connected(_) | ClientState::Primed(_) => {
                client.await_gamestate(server.core.now);
            }
            ClientState::Active(_) => {
                // An overflow requests a drop of the client.
                server.core.audience().send(number, &"map_restart\n".into());
            }
        }
        if let Err(reason) = gate::connect_to_game(server, number, false) {
            server.drop_client(number, &reason);
            continue;
        }
        let active = server.core.clients.get(number).filter(|client| client.is_active());
        if let Some(last_move) = active.map(|client| client.last_usercmd) {
            enter_world(server, number, UserCmd { buttons: Default::default(), ..last_move });
        }
    }
    reconnect_bots(server);
    run_settle_frames(server, 1);
    publish_settings(&mut server.core);
    server.process_pending_drops();
    log::info!("map {} restarted: server id {id}", server.core.level.map);
}

/// Starts the level again with the map in memory. Clients stay connected and are sent its gamestate.
pub(super) fn reload(server: &mut Server) {
    let mut world = server.core.level.world.take();
    if let Some(world) = &mut world {
        world.clear();
    }
    let map = server.core.level.map.clone();
    let pack = server.core.level.pack;
    start(server, &map, Prepared { world, pack, ..Prepared::default() });
}

/// Starts the level in the game and runs its settle frames.
fn start_level(server: &mut Server, restart: bool) {
    let start =
        LevelStart { time: server.core.level.time, seed: server.random.next_u32(), restart };
    if let Some(time) = server.core.epoch.map(|epoch| epoch + server.core.now) {
        let _ = server.core.settings.write(key::G_TIMESTAMP, time);
    }
    server.enter_game(|game, host| game.init(host, start));
    let time = server.core.level.time;
    server.enter_game(|game, host| game.run_frame(host, time));
    run_settle_frames(server, SETTLE_FRAMES - 1);
}

fn run_settle_frames(server: &mut Server, frames: usize) {
    for _ in 0..frames {
        server.core.level.time = server.core.level.time + SETTLE_MS;
        let time = server.core.level.time;
        server.enter_game(|game, host| game.run_frame(host, time));
    }
}

fn set_baselines(server: &mut Server) {
    let game = &server.game;
    let states = EntityNum::all()
        .take(game.entity_count())
        .filter_map(|number| game.entity(number))
        .filter(|entity| entity.shared.is_linked() && entity.state.number != 0)
        .map(|entity| entity.state.sanitized().unwrap_or(*entity.state));
    let mut baselines = Baselines::new(states.collect());
    let level = &mut server.core.level;
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
    server.core.sender.clear_deltas();
}

fn publish_server_id(server: &mut Server, id: ServerId) {
    let _ = server.core.settings.write(key::SV_SERVERID, id);
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

/// Connects bots that stay over a level change, and enters them.
fn reconnect_bots(server: &mut Server) {
    for number in server.core.bots.numbers() {
        if number.index() >= server.core.slots() {
            server.drop_client(number, "the server has fewer slots now");
            continue;
        }
        let answer =
            server.enter_game(|game, host| match game.client_connect(host, number, false, true) {
                Ok(()) => Ok(None),
                Err(ConnectError::Refused(reason)) => Ok(Some(reason)),
                Err(ConnectError::Fault(fault)) => Err(fault),
            });
        match answer {
            Some(Some(reason)) => server.drop_client(number, &reason),
            // The game may have freed the slot.
            Some(None) if server.core.bots.get(number).is_some() => {
                server.enter_game(|game, host| game.client_begin(host, number));
            }
            Some(None) | None => {}
        }
    }
}

/// Restarts a level that a fault has ended, changes the rules or stops the server, as `sv_gameFault` selects.
pub(super) fn continue_after_fault(server: &mut Server) {
    if !server.faults.has_ended_level {
        return;
    }
    let now = server.core.now;
    match server.core.settings.choice(key::SV_GAME_FAULT) {
        GameFaultPolicy::Stop => server.stop("Server stopped: game fault"),
        _ if server.faults.admits_restart(now) => reload(server),
        GameFaultPolicy::Native if server.fallback.is_some() && !server.faults.uses_fallback => {
            let map = &server.core.level.map;
            log::warn!("map {map}: rules of the program replace the game until the next map");
            server.faults.uses_fallback = true;
            reload(server);
        }
        GameFaultPolicy::Native | GameFaultPolicy::Restart => {}
    }
}
