//! Matches over the network: exit rules, next map, and game log.

use fragd::{
    bg::configstring,
    client::Protocol,
    game::{Deathmatch, Game, Ruleset},
    model::{Buttons, ConfigIndex, Millis, assets::MemoryAssets},
    node::{Node as _, OutputKind, take_text},
    server::Server,
    settings::Settings,
    sim::Actor,
};

use crate::{
    sample_maps::{Block, TestMap},
    sim_fixture::{SERVER, SimFixture},
};

/// A player's kind of movement while the scoreboard is shown.
const INTERMISSION: i32 = 5;

/// A wide floor with places to begin far from each other.
fn field() -> Vec<u8> {
    let floor = Block {
        mins: [-4000.0, -4000.0, -16.0],
        maxs: [4000.0, 4000.0, 0.0],
        contents: 1,
        surface_flags: 0,
    };
    let spots: String = (-1..=1)
        .flat_map(|x| (-1..=1).map(move |y| (x * 2000, y * 2000)))
        .map(|(x, y)| format!("{{ classname info_player_deathmatch origin \"{x} {y} 25\" }}\n"))
        .collect();
    TestMap::from_boxes(&format!("{{ classname worldspawn }}\n{spots}"), &[floor], &[]).file()
}

/// A server of OpenArena's rules, by which with two players one's suicide is the other's point.
fn sim(seed: u64, set: &[(&str, &str)]) -> SimFixture {
    let mut settings = Settings::default();
    for (name, value) in [("sv_maxclients", "8"), ("sv_maxclientsPerIP", "0")].iter().chain(set) {
        settings.set(name, value).unwrap();
    }
    settings.start().unwrap();
    let mut assets = MemoryAssets::default();
    for map in ["oa_dm1", "oa_dm3", "oa_dm4"] {
        assets.insert(&format!("maps/{map}.bsp"), field()).unwrap();
    }
    let rules = Box::new(|_| -> Box<dyn Game> { Box::new(Deathmatch::new(Ruleset::BASEOA)) });
    let server = Server::new(settings, Box::new(assets), rules, [seed as u8; 32]);
    SimFixture::around(seed, Actor::Server(Box::new(server)))
}

/// The map that a player believes to be on.
fn map_of(sim: &mut SimFixture, node: usize) -> String {
    let info = sim.player(node).client().configstring(ConfigIndex::SERVERINFO);
    info.split('\\').skip_while(|key| *key != "mapname").nth(1).unwrap_or("").to_owned()
}

fn string(sim: &mut SimFixture, node: usize, index: ConfigIndex) -> String {
    sim.player(node).client().configstring(index).to_owned()
}

fn movement_of(sim: &mut SimFixture, node: usize) -> i32 {
    sim.player(node).client().player().expect("a snapshot").pm_type
}

fn send_command(sim: &mut SimFixture, node: usize, text: &str) {
    let now = sim.network.now();
    assert!(sim.player(node).send_command(now, text));
}

fn heard(sim: &mut SimFixture, node: usize, text: &str) -> bool {
    sim.player(node).heard.iter().any(|line| line.contains(text))
}

fn output(sim: &mut SimFixture) -> String {
    take_text(&mut sim.actors[SERVER], OutputKind::Console)
}

/// One life ends, and with it the match.
fn end_match(sim: &mut SimFixture, loser: usize, winner: &str) {
    send_command(sim, loser, "kill");
    sim.run_for(Millis(500));
    assert!(heard(sim, loser, &format!("print \"{winner}^7 hit the fraglimit.")));
    assert_eq!(string(sim, loser, configstring::INTERMISSION), "1");
    sim.run_for(Millis(1500));
    assert_eq!(movement_of(sim, loser), INTERMISSION);
    for player in sim.players() {
        player.heard.clear();
        player.buttons = Buttons::ATTACK;
    }
    sim.run_for(Millis::seconds(8));
    sim.players().for_each(|player| player.buttons = Buttons::default());
}

#[test]
fn rotation_keeps_players_across_maps() {
    let set = [
        ("fraglimit", "1"),
        ("d1", "map oa_dm3 ; set nextmap vstr d2"),
        ("d2", "map oa_dm4 ; set nextmap vstr d1"),
    ];
    let mut sim = sim(21, &set);
    let alpha = sim.join(Protocol::Q3_68, "alpha");
    let beta = sim.join(Protocol::Q3_68, "beta");
    sim.run_for(Millis::seconds(8));
    let mut log = String::new();
    for map in ["oa_dm3", "oa_dm4", "oa_dm3"] {
        end_match(&mut sim, beta, "alpha");
        sim.run_for(Millis::seconds(4));
        for node in [alpha, beta] {
            assert!(sim.player(node).is_active());
            assert_eq!(map_of(&mut sim, node), map);
            assert_eq!(string(&mut sim, node, configstring::SCORES1), "0");
            assert_eq!(string(&mut sim, node, configstring::INTERMISSION), "");
            assert!(movement_of(&mut sim, node) != INTERMISSION);
        }
        log.push_str(&take_text(&mut sim.actors[SERVER], OutputKind::GameLog));
    }
    sim.check_no_faults();
    check_log(&log);
    for (line, count) in [
        ("InitGame: ", 4),
        ("ShutdownGame:", 3),
        ("Exit: Fraglimit hit.", 3),
        ("score: 1  ping: ", 3),
        ("score: 0  ping: ", 3),
        ("Kill: 1 1 20: beta killed beta by MOD_SUICIDE", 3),
        ("ClientConnect: 0", 4),
        ("ClientBegin: 1", 4),
    ] {
        let found = log.lines().filter(|logged| logged[7..].starts_with(line)).count();
        assert_eq!(found, count, "{line}\n{log}");
    }
}

#[test]
fn drain_ends_after_the_match() {
    let mut sim = sim(25, &[("fraglimit", "1")]);
    let alpha = sim.join(Protocol::Q3_68, "alpha");
    let beta = sim.join(Protocol::Q3_68, "beta");
    sim.run_for(Millis::seconds(8));
    sim.console("drain 3600 upgrade");
    sim.run_for(Millis::seconds(2));
    let begin = "print \"Server stops when this match ends, in 60 min at the latest: upgrade";
    assert!(heard(&mut sim, alpha, begin));
    assert!(heard(&mut sim, alpha, "cp \"Server stops when this match ends"));
    send_command(&mut sim, beta, "kill");
    sim.run_for(Millis::seconds(9));
    assert!(heard(&mut sim, beta, "Server stops in 10 s: upgrade"));
    assert!(sim.player(beta).is_active(), "the scores are shown");
    sim.run_for(Millis::seconds(3));
    assert!(sim.actors[SERVER].is_finished());
    let reason = format!("{:?}", sim.player(beta).disconnect_reason());
    assert!(reason.contains("Server stopped: upgrade"), "{reason}");
}

#[test]
fn map_restart_countdown_is_sent_to_all() {
    let mut sim = sim(22, &[]);
    let node = sim.join(Protocol::Q3_68, "alpha");
    sim.run_for(Millis::seconds(5));
    sim.console("map_restart 3");
    sim.run_for(Millis::seconds(1));
    let at: i32 = string(&mut sim, node, configstring::WARMUP).parse().expect("a time");
    let started = string(&mut sim, node, configstring::LEVEL_START_TIME);
    sim.run_for(Millis(2500));
    assert_eq!(string(&mut sim, node, configstring::WARMUP), "");
    let again: i32 =
        string(&mut sim, node, configstring::LEVEL_START_TIME).parse().expect("a time");
    assert_ne!(started, again.to_string());
    assert!((at..at + 50).contains(&again), "asked for {at}, came at {again}");
    sim.console("map_restart");
    sim.run_for(Millis(4500));
    assert_eq!(string(&mut sim, node, configstring::LEVEL_START_TIME), again.to_string());
    sim.run_for(Millis(1000));
    assert_ne!(string(&mut sim, node, configstring::LEVEL_START_TIME), again.to_string());
    sim.check_no_faults();
}

#[test]
fn game_type_change_resets_team_choice() {
    let mut sim = sim(23, &[]);
    for name in ["alpha", "beta", "gamma"] {
        sim.join(Protocol::Q3_68, name);
    }
    sim.run_for(Millis::seconds(8));
    sim.console("g_gametype 1");
    sim.console("map_restart 0");
    assert!(output(&mut sim).contains("variable change -- restarting."));
    sim.run_for(Millis::seconds(5));
    let teams = [544, 545, 546].map(|index| {
        let entry = string(&mut sim, 1, ConfigIndex::at(index));
        entry.split('\\').skip_while(|key| *key != "t").nth(1).unwrap_or("").to_owned()
    });
    assert_eq!(teams, ["0", "0", "3"]);
    sim.check_no_faults();
}

#[test]
fn circular_vstr_chains_end() {
    let mut sim = sim(24, &[]);
    sim.console("set a vstr a");
    sim.console("vstr a");
    assert!(output(&mut sim).contains("vstr: recursion limit reached"));
    let names = ["b0", "b1", "b2", "b3", "b4", "b5", "b6", "b7", "b8", "b9", "b10", "b11", "b12"];
    for pair in names.windows(2) {
        sim.console(&format!("set {} \"vstr {};vstr {}\"", pair[0], pair[1], pair[1]));
    }
    sim.console("set b12 \"echo end\"");
    output(&mut sim);
    sim.console("vstr b0");
    let said = output(&mut sim);
    assert!(said.lines().count() < 512, "{} lines", said.lines().count());
    assert_eq!(said.matches("command limit reached").count(), 1);
    // What comes next runs as ever.
    sim.console("vstr b12");
    assert_eq!(output(&mut sim), "end\n");
}

/// Every game log line has a form that statistics tools read. Its clock restarts with each level
/// and is monotonic within it.
fn check_log(log: &str) {
    let mut last = 0;
    for line in log.lines() {
        let (clock, text) = line.split_at(line.find(' ').map_or(7, |_| 7));
        let (minutes, seconds) = clock.trim_start().split_once(':').expect("a clock");
        assert!(clock.ends_with(' ') && seconds.trim_end().len() == 2, "{line:?}");
        let number =
            |text: &str| text.trim_end().parse::<u32>().unwrap_or_else(|_| panic!("{line:?}"));
        let at = number(minutes) * 60 + number(seconds);
        if text.starts_with("InitGame: ") {
            last = 0;
        }
        let ends = text.starts_with("---");
        assert!(at >= last || ends, "the clock goes back: {line:?}");
        last = if ends { 0 } else { at };
        assert!(is_of_known_form(text), "{line:?}");
    }
}

fn is_of_known_form(text: &str) -> bool {
    let number = |word: &str| word.parse::<i32>().is_ok();
    if text == "-".repeat(60) {
        return true;
    }
    let (word, rest) = text.split_once(':').unwrap_or((text, ""));
    let rest = rest.strip_prefix(' ').unwrap_or(rest);
    match word {
        "InitGame" => rest.starts_with('\\') && rest.contains("\\mapname\\"),
        "ShutdownGame" | "Warmup" => rest.is_empty(),
        "ClientConnect" | "ClientBegin" | "ClientDisconnect" => number(rest),
        "ClientUserinfoChanged" => rest
            .split_once(' ')
            .is_some_and(|(slot, entry)| number(slot) && entry.starts_with("n\\")),
        "Exit" => ["Timelimit hit.", "Fraglimit hit.", "Capturelimit hit."].contains(&rest),
        "Kill" => {
            let (numbers, told) = rest.split_once(": ").unwrap_or(("", ""));
            let numbers: Vec<_> = numbers.split(' ').collect();
            numbers.len() == 3
                && numbers.into_iter().all(number)
                && told.contains(" killed ")
                && told.rsplit(' ').next().is_some_and(|means| means.starts_with("MOD_"))
        }
        "red" => rest.split_once("  blue:").is_some_and(|(red, blue)| number(red) && number(blue)),
        "score" => {
            let (score, rest) = rest.split_once("  ping: ").unwrap_or(("", ""));
            let (ping, rest) = rest.split_once("  client: ").unwrap_or(("", ""));
            let (slot, name) = rest.split_once(' ').unwrap_or(("", ""));
            [score, ping, slot].into_iter().all(number) && !name.is_empty()
        }
        "Item" => rest.split_once(' ').is_some_and(|(slot, _)| number(slot)),
        "PlayerScore" | "TeamScore" | "Award" | "CTF" | "Challenge" => {
            let (numbers, told) = rest.split_once(": ").unwrap_or(("", ""));
            numbers.split(' ').all(number) && !told.is_empty()
        }
        "say" | "sayteam" | "tell" | "vtell" => rest.contains(": "),
        _ => false,
    }
}
