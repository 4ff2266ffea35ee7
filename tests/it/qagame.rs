//! A game module as the rules of a server, in each engine: entries, services, faults.

use fragd::{
    client::Protocol,
    model::{
        ClientNum, ConfigIndex, Millis,
        assets::{Assets, MemoryAssets},
    },
    observe::Counter,
    server::Server,
    settings::Settings,
    sim::Actor,
    testing::{
        module_drills::assemble_game,
        real_modules::real_module_folder,
        sample_maps::{TestMap, YARD},
    },
};

use crate::sim_fixture::SimFixture;

/// A small game: it writes to configstrings what it reads, moves players by their input and faults on request.
const GAME: &str = include_str!("qagame.asm");

/// Game data: a module with its symbols, and a map.
pub(crate) fn assets(module: Vec<u8>, symbols: Vec<u8>) -> MemoryAssets {
    let mut assets = MemoryAssets::default();
    assets.insert("vm/qagame.qvm", module).expect("a path");
    assets.insert("vm/qagame.map", symbols).expect("a path");
    assets.insert("drill.cfg", b"say hi; set fraglimit 7".to_vec()).expect("a path");
    assets.insert("maps/yard.bsp", TestMap::test_yard(YARD).file()).expect("a path");
    assets
}

pub(crate) fn server(engine: &str, assets: impl Assets + 'static) -> Server {
    server_set(engine, assets, &[])
}

/// Engine of a server that sets no `vm_game` and loads a mod.
pub(crate) const OF_MOD: &str = "mod";

/// A server with further settings.
pub(crate) fn server_set(
    engine: &str,
    assets: impl Assets + 'static,
    set: &[(&str, &str)],
) -> Server {
    let rules = if engine == OF_MOD { ("fs_game", "mymod") } else { ("vm_game", engine) };
    let usual = [rules, ("map", "yard"), ("sv_maxclientsPerIP", "0"), ("sv_pure", "0")];
    let mut settings = Settings::default();
    for (name, value) in usual.iter().chain(set) {
        settings.set(name, value).expect("a setting");
    }
    settings.start().expect("a valid combination");
    Server::builder(settings, [9; 32]).assets(assets).build()
}

/// `count` players in the game of a server.
fn playing(server: Server, count: usize) -> SimFixture {
    let mut sim = SimFixture::around(7, Actor::Server(Box::new(server)));
    for number in 0..count {
        sim.join(Protocol::OA_71, &format!("p{number}"));
    }
    sim.run_for(Millis(3000));
    sim
}

/// Game data with the small game.
pub(crate) fn small_game() -> MemoryAssets {
    let mut image = Vec::new();
    let assembly = assemble_game(GAME);
    assembly.image.write(&mut image);
    assets(image, assembly.symbol_map().into_bytes())
}

/// Game data with the small game in the folder of the mod.
pub(crate) fn small_game_of_mod() -> MemoryAssets {
    let mut data = small_game();
    let module = data.read("vm/qagame.qvm", u64::MAX).expect("the module");
    data.insert_into_mod("vm/qagame.qvm", module).expect("a path");
    data
}

/// The small game in an engine, with players.
fn hosted(engine: &str, count: usize) -> SimFixture {
    playing(server(engine, small_game()), count)
}

fn configstring(sim: &SimFixture, index: usize) -> &str {
    sim.server().configstring(ConfigIndex::new(index).expect("an index"))
}

pub(crate) const ENGINES: [&str; 2] = ["1", "2"];

#[test]
fn module_reads_map_settings_and_entities() {
    for engine in ENGINES {
        let sim = hosted(engine, 0);
        assert_eq!(configstring(&sim, 20), "{", "the first token of the entity string");
        assert_eq!(configstring(&sim, 21), "7.5", "its own setting");
        assert_eq!(sim.server().settings().get("g_small"), Some("7.5"));
        assert_eq!(configstring(&sim, 22), "y", "integer of the setting, result of a trace");
        assert_eq!(sim.server().counters().get(Counter::GameFaults), 0);
    }
}

#[test]
fn players_live_in_the_memory_of_the_module() {
    for engine in ENGINES {
        let mut sim = hosted(engine, 2);
        assert_eq!(sim.server().active_clients(), 2, "engine {engine}");
        sim.check_no_faults();
        let time = |sim: &SimFixture| {
            let player = sim.server().player(ClientNum::new(1).expect("a slot"));
            player.map(|player| (player.client_num, player.command_time)).expect("a player")
        };
        let before = time(&sim);
        sim.run_for(Millis(1000));
        let after = time(&sim);
        assert_eq!((before.0, after.0), (1, 1));
        assert!(after.1 - before.1 > 800, "thinks with each usercmd: {before:?} {after:?}");
    }
}

#[test]
fn module_refuses_and_drops_clients() {
    for engine in ENGINES {
        let mut sim = hosted(engine, 3);
        assert_eq!(sim.server().active_clients(), 3);
        // The fourth slot is refused by the module.
        sim.join(Protocol::OA_71, "late");
        sim.run_for(Millis(2000));
        assert_eq!(sim.server().active_clients(), 3);
        let now = sim.network.now();
        assert!(sim.player(1).send_command(now, "leave"));
        sim.run_for(Millis(1000));
        assert_eq!(sim.server().active_clients(), 2);
        assert_eq!(configstring(&sim, 23), "0", "the nested disconnect names the client");
        assert_eq!(sim.server().counters().get(Counter::GameFaults), 0);
    }
}

#[test]
fn faults_of_the_module_end_the_level_only() {
    for engine in ENGINES {
        let mut sim = hosted(engine, 2);
        for (number, command) in ["divide", "loop", "recurse", "wild"].iter().enumerate() {
            let now = sim.network.now();
            assert!(sim.player(1).send_command(now, command));
            // Three restarts a minute are allowed.
            sim.run_for(Millis::seconds(61));
            let faults = sim.server().counters().get(Counter::GameFaults);
            assert_eq!(faults, number as u64 + 1, "engine {engine}: {command}");
            assert_eq!(sim.server().active_clients(), 2, "engine {engine}: {command}");
        }
        assert_eq!(sim.server().counters().get(Counter::ClientsDropped), 0);
    }
}

#[test]
fn unusable_module_is_named_and_replaced_by_native_rules() {
    let server = server("2", assets(b"\x7fELF, native code".to_vec(), Vec::new()));
    assert_eq!(server.counters().get(Counter::GameFaults), 0);
    assert_eq!(configstring_of(&server, 20), "baseoa-1");
}

fn configstring_of(server: &Server, index: usize) -> &str {
    server.configstring(ConfigIndex::new(index).expect("an index"))
}

/// Real modules are not part of the package: `FRAGD_MODULES` names the folder that holds them.
#[test]
#[ignore = "needs FRAGD_MODULES, a folder with game modules"]
fn real_modules_host_players() {
    let folder = real_module_folder();
    for name in ["baseq3", "missionpack", "baseoa"] {
        let folder = folder.join(name);
        let read = |file: &str| std::fs::read(folder.join(file));
        for engine in ENGINES {
            let module = read("qagame.qvm").expect("a module");
            let symbols = read("qagame.map").unwrap_or_default();
            let mut sim = playing(server(engine, assets(module, symbols)), 3);
            let restarts = sim.server().configstring(ConfigIndex::SYSTEMINFO).to_owned();
            for command in ["map_restart 0", "map yard"] {
                sim.console(command);
                sim.run_for(Millis(6000));
                assert_eq!(sim.server().active_clients(), 3, "{name} {engine}: {command}");
            }
            assert_ne!(sim.server().configstring(ConfigIndex::SYSTEMINFO), restarts);
            assert_eq!(sim.server().counters().get(Counter::GameFaults), 0, "{name} {engine}");
            sim.check_no_faults();
        }
    }
}

#[test]
fn module_of_mod_runs_unless_vm_game_is_set() {
    // Mod, whether it has the module, `vm_game` as set; `vm_game` as read.
    let rows = [
        ("mymod", true, None, "2"),
        ("mymod", true, Some("0"), "0"),
        ("mymod", true, Some("1"), "1"),
        ("mymod", false, None, "0"),
        ("mymod", false, Some("2"), "2"),
        ("", false, None, "0"),
        ("", true, None, "0"),
        ("BaseOA", true, None, "0"),
        ("", false, Some("2"), "2"),
    ];
    for (fs_game, in_mod, vm_game, expected) in rows {
        let mut settings = Settings::default();
        let pairs =
            [Some(("map", "yard")), Some(("fs_game", fs_game)), vm_game.map(|v| ("vm_game", v))];
        for (name, value) in pairs.into_iter().flatten() {
            settings.set(name, value).expect("a setting");
        }
        settings.start().expect("a valid combination");
        let data = if in_mod { small_game_of_mod() } else { small_game() };
        let server = Server::builder(settings, [9; 32]).assets(data).build();
        let row = format!("{fs_game} {in_mod} {vm_game:?}");
        assert_eq!(server.settings().get("vm_game"), Some(expected), "{row}");
        let rules = if expected == "0" { "baseoa-1" } else { "{" };
        assert_eq!(configstring_of(&server, 20), rules, "{row}");
    }
}

#[test]
fn vm_game_shows_rules_that_run_unless_set() {
    let mut broken = small_game();
    broken.insert_into_mod("vm/qagame.qvm", b"not a module".to_vec()).expect("a path");
    let broken = server(OF_MOD, broken);
    assert_eq!(broken.settings().get("vm_game"), Some("0"), "native rules run");
    assert_eq!(configstring_of(&broken, 20), "baseoa-1");
    let mut sim = playing(server(OF_MOD, small_game_of_mod()), 1);
    for (line, shown, rules) in [
        ("set vm_game 0", "0", "baseoa-1"),
        ("reset vm_game", "2", "{"),
        ("set vm_game 1", "1", "{"),
        ("reset vm_game", "2", "{"),
    ] {
        sim.console(line);
        sim.console("map yard");
        sim.run_for(Millis(4000));
        assert_eq!(sim.server().settings().get("vm_game"), Some(shown), "{line}");
        assert_eq!(configstring(&sim, 20), rules, "{line}");
    }
    sim.check_no_faults();
}

#[test]
fn vm_game_replaces_module_of_mod_with_next_map() {
    let mut sim = playing(server(OF_MOD, small_game_of_mod()), 2);
    assert_eq!(configstring(&sim, 20), "{");
    // A value that is the one in force keeps the rules; a change needs a map.
    for (code, rules) in [("2", "{"), ("0", "baseoa-1"), ("2", "{")] {
        sim.console(&format!("set vm_game {code}"));
        sim.console("map yard");
        sim.run_for(Millis(4000));
        assert_eq!(configstring(&sim, 20), rules, "{code}");
        assert_eq!(sim.server().active_clients(), 2, "{code}");
    }
    sim.check_no_faults();
}

#[test]
fn script_before_first_level_overrides_module_of_mod() {
    let mut data = small_game_of_mod();
    data.insert_into_mod("autoexec.cfg", b"set vm_game 0".to_vec()).expect("a path");
    let server = server(OF_MOD, data);
    assert_eq!(server.settings().get("vm_game"), Some("0"));
    assert_eq!(configstring_of(&server, 20), "baseoa-1");
}

#[test]
fn vm_game_takes_effect_with_next_map() {
    let mut sim = hosted("0", 2);
    assert_eq!(configstring(&sim, 20), "baseoa-1");
    for (code, map_text) in [("1", "{"), ("2", "{"), ("0", "baseoa-1")] {
        let before = configstring(&sim, 20).to_owned();
        sim.console(&format!("set vm_game {code}"));
        sim.console("map_restart 0");
        sim.run_for(Millis(2000));
        assert_eq!(configstring(&sim, 20), before, "{code}: a restart keeps the rules");
        sim.console("map yard");
        sim.run_for(Millis(4000));
        assert_eq!(configstring(&sim, 20), map_text, "{code}");
        assert_eq!(sim.server().active_clients(), 2, "{code}");
    }
    sim.check_no_faults();
}
