//! Sandbox drills: a hostile game module ends its level, and players stay connected. Each runs in both engines.

use fragd::{
    client::Protocol,
    model::{ConfigIndex, Millis},
    node::{Hosted as _, Input, LoopCounters},
    observe::Counter,
    qvm::Assembly,
    sim::Actor,
    testing::module_drills::{self, assembly, call, label},
    testing::real_modules::real_module_folder,
};

use crate::{
    qagame::{ENGINES, server},
    sim_fixture::{SERVER, SimFixture},
};

/// Services of the interface.
fn services() -> impl Iterator<Item = u32> {
    (0..=46).chain(99..=114).chain(199..=212).chain(300..=320).chain(400..=424).chain(500..=582)
}

/// A server with the drill module and two players.
struct Drill {
    sim: SimFixture,
    assembly: Assembly,
    faults: u64,
}

impl Drill {
    fn new(engine: &str) -> Self {
        let assembly = assembly();
        let server = server(engine, module_drills::assets(&assembly));
        let mut sim = SimFixture::around(7, Actor::Server(Box::new(server)));
        for name in ["one", "two"] {
            sim.join(Protocol::OA_71, name);
        }
        sim.run_for(Millis(3000));
        assert_eq!(sim.server().active_clients(), 2);
        Self { sim, assembly, faults: 0 }
    }

    /// Runs a console line. Returns whether the module faulted; its level is then loaded again.
    fn faults(&mut self, line: &str) -> bool {
        self.sim.console(line);
        while self.sim.server_output().is_some() {}
        let faults = self.sim.server().counters().get(Counter::GameFaults);
        let has_faulted = faults > self.faults;
        if has_faulted {
            self.sim.console(&format!("map {}", module_drills::MAP));
        }
        // The level that starts runs without a fault, and so does the next one.
        self.faults = faults;
        has_faulted
    }

    /// Starts a level without a fault; both players enter it.
    fn check_players(&mut self, drill: &str) {
        self.sim.console(&format!("map {}", module_drills::MAP));
        self.sim.run_for(Millis(2000));
        let counters = self.sim.server().counters();
        assert_eq!(counters.get(Counter::ClientsDropped), 0, "{drill}");
        assert_eq!(self.sim.server().active_clients(), 2, "{drill}");
        assert_eq!(counters.get(Counter::GameFaults), self.faults, "{drill}");
    }

    fn configstring(&self, index: usize) -> &str {
        self.sim.server().configstring(ConfigIndex::new(index).expect("an index"))
    }

    fn address(&self, name: &str) -> i32 {
        label(&self.assembly, name)
    }

    fn size(&self) -> i32 {
        self.assembly.image.block_size() as i32
    }
}

#[test]
fn slow_module_faults_and_slow_native_rules_do_not() {
    for (engine, faults) in [("1", 1), ("2", 1), ("0", 0)] {
        let server = server(engine, module_drills::assets(&assembly()));
        let mut sim = SimFixture::around(7, Actor::Server(Box::new(server)));
        sim.join(Protocol::OA_71, "one");
        sim.run_for(Millis(3000));
        // The counters of a loop whose wake-ups take long. Each run is reported once.
        for slow_runs in [0, 1, 1] {
            let now = sim.network.now();
            let counters = LoopCounters { slow_runs, ..LoopCounters::default() };
            sim.actors[SERVER].handle_input(now, Input::LoopCounters(&counters));
            sim.run_for(Millis(3000));
        }
        let counters = sim.server().counters();
        assert_eq!(counters.get(Counter::GameFaults), faults, "engine {engine}");
        assert_eq!(sim.server().active_clients(), 1, "engine {engine}");
    }
}

#[test]
fn services_survive_hostile_words() {
    for engine in ENGINES {
        let mut drill = Drill::new(engine);
        let top = drill.size() - 4;
        let (text, long) = (drill.address("text"), drill.address("long"));
        let words = [0, -1, -4, top, top + 3, i32::MAX, i32::MIN, text, long];
        let pairs = [0, top, long, i32::MAX, -1];
        let mut calls = 0;
        for service in services() {
            let same = words.iter().map(|word| [*word; module_drills::WORDS]);
            let mixed =
                pairs.iter().flat_map(|first| pairs.iter().map(move |other| (first, other)));
            let mixed = mixed.map(|(first, other)| {
                let mut words = [*other; module_drills::WORDS];
                words[0] = *first;
                words
            });
            for mut words in same.chain(mixed).collect::<Vec<_>>() {
                // A drop of a player is what the module asks for.
                if service == 16 && (0..64).contains(&words[0]) {
                    words[0] = 9;
                }
                drill.faults(&call(1, service, &words));
                calls += 1;
            }
            drill.check_players(&format!("engine {engine}, service {service}"));
        }
        assert!(drill.faults > 1000 && calls > 6000, "{} faults of {calls}", drill.faults);
    }
}

#[test]
fn memory_accesses_wrap_at_every_boundary() {
    for engine in ENGINES {
        let mut drill = Drill::new(engine);
        let size = drill.size();
        for base in [0, size, size.wrapping_mul(2), i32::MAX, i32::MIN, -size] {
            for offset in -4..=4 {
                let address = base.wrapping_add(offset);
                assert!(!drill.faults(&format!("xload {address}")), "{engine}: {address}");
            }
        }
        let block = 4096;
        for (from, to, is_fault) in [
            (0, size - block, true),
            (size - block - 1, 8192, false),
            (size - block, 0, true),
            (-1, 0, true),
            (0, i32::MIN, true),
            (i32::MAX, 0, true),
        ] {
            let line = format!("xcopy {from} {to}");
            assert_eq!(drill.faults(&line), is_fault, "{engine}: {line}");
        }
        drill.check_players(engine);
    }
}

#[test]
fn computed_targets_reach_functions_only() {
    for engine in ENGINES {
        let mut drill = Drill::new(engine);
        let starts = ["vmMain", "nothing", "occupy", "number", "show", "deeper"];
        let starts = starts.map(|name| drill.address(name));
        let mut refused = 0;
        for target in (0..560).chain([i32::MAX, 1 << 20]) {
            let faulted = drill.faults(&format!("xfunc {target}"));
            refused += u32::from(faulted);
            assert!(faulted || starts.contains(&target), "{engine}: call of {target}");
        }
        assert!(refused > 540, "{refused}");
        for target in (-3..560).chain([i32::MIN, i32::MAX]) {
            let labels = ["init", "shutdown", "connect", "command", "think", "console", "bots"];
            let is_listed = labels.iter().any(|name| drill.address(name) == target);
            assert!(drill.faults(&format!("xjump {target}")) || is_listed, "{engine}: {target}");
        }
        drill.check_players(engine);
    }
}

#[test]
fn loops_and_recursion_end_the_level() {
    for engine in ENGINES {
        let mut drill = Drill::new(engine);
        assert!(drill.faults("xspin") && drill.faults("xrecurse"));
        drill.check_players(engine);
    }
}

#[test]
fn floods_are_bounded() {
    for engine in ENGINES {
        let mut drill = Drill::new(engine);
        let (text, long) = (drill.address("text"), drill.address("long"));
        // Print, console command, server command, configstring, userinfo, setting, library setting.
        for (service, words) in [
            (0, [long, 0]),
            (14, [2, long]),
            (14, [1, text]),
            (17, [-1, text]),
            (17, [0, text]),
            (18, [500, long]),
            (18, [500, text]),
            (21, [0, text]),
            (5, [text, long]),
            (202, [text, long]),
        ] {
            let line = call(10_000_000, service, &words);
            assert!(drill.faults(&line), "{engine}: {line}");
            drill.check_players(&format!("{engine}: flood of service {service}"));
        }
    }
}

#[test]
fn module_reads_scripts_of_the_game_data() {
    for engine in ENGINES {
        let mut drill = Drill::new(engine);
        let (name, record) = (drill.address("script"), drill.address("long"));
        let missing = drill.address("info");
        let mut result = |service, words: &[i32]| {
            assert!(!drill.faults(&call(1, service, words)));
            [40, 45].map(|index| drill.configstring(index).to_owned())
        };
        assert_eq!(result(578, &[missing])[0], "00000000", "a file that is missing");
        assert_eq!(result(578, &[name])[0], "00000001", "the handle");
        // Texts of the tokens; adjacent strings are one.
        for text in ["skill", "4", "{", "name", "onetwo", "}"] {
            assert_eq!(result(580, &[1, record])[0], "00000001", "{text}");
            assert_eq!(result(18, &[45, record + 16])[1], text);
        }
        assert_eq!(result(580, &[1, record])[0], "00000000", "the end");
        assert_eq!(result(579, &[1])[0], "00000001");
        assert_eq!(result(579, &[1])[0], "00000000", "closed already");
    }
}

#[test]
fn module_runs_bots_in_slots_of_their_own() {
    for engine in ENGINES {
        let mut drill = Drill::new(engine);
        assert!(!drill.faults("xbot"));
        assert_eq!(drill.configstring(40), "00000002", "the first free slot");
        assert_eq!(drill.configstring(42), "hello", "a command of the bot");
        assert_eq!(drill.configstring(43), "", "bots think if bot_enable is set");
        drill.sim.console("set bot_enable 1");
        drill.sim.run_for(Millis(500));
        assert_eq!(drill.configstring(43), "moved", "its think entry");
        assert_eq!(drill.configstring(44), "ffffffff", "no entity is linked");
        drill.sim.console("say to all");
        drill.sim.run_for(Millis(500));
        assert!(drill.configstring(41).contains("to all"), "{:?}", drill.configstring(41));
        drill.sim.console("status");
        let shown: String = std::iter::from_fn(|| drill.sim.server_output()).collect();
        let row = shown.lines().find(|line| line.contains("drone")).expect("a row of the bot");
        assert!(row.starts_with(" 2     0    0 drone") && row.contains("^7bot "), "{row:?}");
        // All other slots, then none.
        for slot in 3..9 {
            assert!(!drill.faults("xbot"));
            let shown = if slot < 8 { format!("{slot:08x}") } else { "ffffffff".to_owned() };
            assert_eq!(drill.configstring(40), shown);
        }
        drill.sim.join(Protocol::OA_71, "late");
        drill.sim.run_for(Millis(2000));
        assert_eq!(drill.sim.server().active_clients(), 2, "the server is full");
        drill.sim.console("map_restart 0");
        drill.sim.run_for(Millis(1000));
        drill.sim.console("kick allbots");
        drill.sim.console("status");
        let shown: String = std::iter::from_fn(|| drill.sim.server_output()).collect();
        assert!(!shown.contains("drone"), "{shown}");
        drill.sim.run_for(Millis(3000));
        assert_eq!(drill.sim.server().active_clients(), 3, "the late player has a slot");
        assert_eq!(drill.sim.server().counters().get(Counter::GameFaults), 0);
    }
}

/// Real modules are not part of the package: `FRAGD_MODULES` names the folder that holds them.
#[test]
#[ignore = "needs FRAGD_MODULES, a folder with game modules"]
fn real_modules_run_without_the_bot_library() {
    let folder = real_module_folder();
    for name in ["baseq3", "missionpack", "baseoa"] {
        let path = folder.join(name).join("qagame.qvm");
        let module = std::fs::read(path).expect("a module");
        for engine in ENGINES {
            let server = server(engine, crate::qagame::assets(module.clone(), Vec::new()));
            let mut sim = SimFixture::around(7, Actor::Server(Box::new(server)));
            sim.join(Protocol::OA_71, "one");
            sim.console("set bot_enable 1");
            sim.console("map yard");
            sim.run_for(Millis(3000));
            let level = sim.server().server_id();
            for line in ["addbot sarge", "set bot_minplayers 4", "botreport"] {
                sim.console(line);
                sim.run_for(Millis(3000));
            }
            let faults = sim.server().counters().get(Counter::GameFaults);
            assert_eq!((faults, sim.server().active_clients()), (0, 1), "{name} {engine}");
            assert_eq!(sim.server().server_id(), level, "{name} {engine}: no restart");
            sim.check_no_faults();
        }
    }
}
