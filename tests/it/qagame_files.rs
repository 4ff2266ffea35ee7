//! Files of a hostile game module: names, quota, number, slow disk. Players stay connected.

use fragd::{
    client::Protocol,
    model::{ConfigIndex, Millis},
    node::{Hosted as _, Output, OutputKind},
    observe::Counter,
    qvm::Assembly,
    sim::Actor,
    testing::module_drills::{self, assembly, call, label},
};

use crate::{
    qagame::{ENGINES, server_set},
    sim_fixture::{SERVER, SimFixture},
};

/// Places in the memory of the module: a file name, a handle, a buffer.
const NAME: i32 = 1000;
const HANDLE: i32 = 2000;
const BUFFER: i32 = 4000;

/// A server with the drill module and two players.
pub(crate) struct FileDrill {
    pub(crate) sim: SimFixture,
    assembly: Assembly,
    engine: &'static str,
}

impl FileDrill {
    fn new(engine: &'static str, set: &[(&str, &str)]) -> Self {
        Self::with_files(engine, set, &[])
    }

    pub(crate) fn with_files(
        engine: &'static str,
        set: &[(&str, &str)],
        files: &[(&str, &str)],
    ) -> Self {
        let assembly = assembly();
        let mut assets = module_drills::assets(&assembly);
        for (name, text) in files {
            assets.insert(name, text.as_bytes().to_vec()).expect("a path");
        }
        let server = server_set(engine, assets, set);
        let mut sim = SimFixture::around(7, Actor::Server(Box::new(server)));
        for name in ["one", "two"] {
            sim.join(Protocol::OA_71, name);
        }
        sim.run_for(Millis(3000));
        Self { sim, assembly, engine }
    }

    pub(crate) fn place(&self, offset: i32) -> i32 {
        label(&self.assembly, "long") + offset
    }

    /// Calls a service `count` times. Returns its last result.
    pub(crate) fn call(&mut self, count: u32, service: u32, words: &[i32]) -> i32 {
        self.run(&call(count, service, words))
    }

    fn run(&mut self, line: &str) -> i32 {
        self.sim.console(line);
        let shown = self.sim.server().configstring(ConfigIndex::new(40).expect("an index"));
        u32::from_str_radix(shown, 16).unwrap_or_else(|_| panic!("{line}: {shown:?}")) as i32
    }

    /// Writes a text into the memory of the module, at an offset. It is a word of the command, which a service copies.
    pub(crate) fn write(&mut self, offset: i32, text: &str) -> i32 {
        let line = call(1, 9, &[18, self.place(offset), 300]);
        self.run(&format!("{line} \"{text}\""));
        self.place(offset)
    }

    /// Opens a file.
    pub(crate) fn open(&mut self, name: &str, mode: i32) -> i32 {
        self.write(NAME, name);
        self.call(1, 10, &[self.place(NAME), self.place(HANDLE), mode])
    }

    /// Names and lengths of the writes that a driver would do.
    fn writes(&mut self) -> Vec<(String, usize)> {
        let Actor::Server(server) = &mut self.sim.actors[SERVER] else { unreachable!() };
        let mut writes = Vec::new();
        while let Some(Output::FileWrite(write)) = server.poll_output(OutputKind::FileWrite) {
            writes.push((write.path.to_string(), write.bytes.len()));
        }
        writes
    }

    /// Snapshots of both players since the start.
    fn snapshots(&mut self) -> Vec<u64> {
        self.sim.players().map(|player| player.client().statistics().snapshots).collect()
    }

    /// Both players are in the game and receive snapshots, and the module did not fault.
    fn check_players(&mut self, drill: &str) {
        let before = self.snapshots();
        self.sim.run_for(Millis(2000));
        let after = self.snapshots();
        let counters = self.sim.server().counters();
        let engine = self.engine;
        assert_eq!(counters.get(Counter::GameFaults), 0, "{engine}: {drill}");
        assert_eq!(counters.get(Counter::ClientsDropped), 0, "{engine}: {drill}");
        assert_eq!(self.sim.server().active_clients(), 2, "{engine}: {drill}");
        for (before, after) in before.iter().zip(after) {
            assert!(after - before >= 38, "{engine}: {drill}: {} snapshots", after - before);
        }
        self.sim.check_no_faults();
    }
}

#[test]
fn names_that_leave_the_folder_reach_no_disk() {
    for engine in ENGINES {
        let mut drill = FileDrill::new(engine, &[]);
        for name in [
            "../escape",
            "a/../../escape",
            "..\\escape",
            "/etc/passwd",
            "c:escape",
            "vm/qagame.qvm",
            "x.pk3",
            ".profile",
            "nul",
        ] {
            for mode in 1..4 {
                assert_eq!(drill.open(name, mode), -1, "{engine}: {name}, mode {mode}");
            }
        }
        for name in ["../escape", "..\\escape", "/etc/passwd", "c:escape"] {
            assert_eq!(drill.open(name, 0), -1, "{engine}: {name}, read");
        }
        assert_eq!(drill.writes(), [], "{engine}");
        drill.check_players("names");
        assert_eq!(drill.open("stats/own.txt", 1), 0);
        assert_eq!(drill.writes(), [("stats/own.txt".to_owned(), 0)]);
    }
}

#[test]
fn quota_ends_writes_and_not_the_game() {
    for engine in ENGINES {
        let mut drill = FileDrill::new(engine, &[("sv_moduleSize", "1")]);
        assert_eq!(drill.open("a", 2), 0);
        assert_eq!(drill.call(60, 12, &[drill.place(0), 16_000, 1]), 16_000);
        assert_eq!(drill.call(2000, 12, &[drill.place(0), 16_000, 1]), 0, "{engine}: the quota");
        assert_eq!(drill.open("b", 2), 0);
        assert_eq!(drill.call(1, 12, &[drill.place(0), 16_000, 2]), 0, "{engine}: another file");
        let writes = drill.writes();
        let total: usize = writes.iter().map(|(_, len)| len).sum();
        assert!(total <= 1 << 20 && total > (1 << 20) - 16_000, "{engine}: {writes:?}");
        drill.check_players("quota");
        // An emptied file frees its bytes.
        assert_eq!(drill.open("a", 1), 0);
        assert_eq!(drill.call(1, 12, &[drill.place(0), 16_000, 3]), 16_000);
    }
}

#[test]
fn number_of_files_is_limited() {
    for engine in ENGINES {
        let mut drill = FileDrill::new(engine, &[("sv_moduleFiles", "5")]);
        let opened = (0..200).filter(|number| {
            let result = drill.open(&format!("f{number}"), 1);
            drill.call(1, 13, &[1]);
            result == 0
        });
        assert_eq!(opened.count(), 5, "{engine}");
        assert_eq!(drill.writes().len(), 5);
        drill.check_players("files");
    }
}

#[test]
fn slow_disk_delays_no_snapshot() {
    for engine in ENGINES {
        let mut drill = FileDrill::new(engine, &[]);
        assert_eq!((drill.open("log", 2), drill.open("state", 2)), (0, 0));
        // The driver takes no write, as if its disk hung.
        for round in 0..20 {
            for handle in 1..3 {
                assert_eq!(drill.call(10, 12, &[drill.place(0), 1000, handle]), 1000);
            }
            drill.check_players(&format!("round {round}"));
        }
        let writes = drill.writes();
        let expected = ["log", "state"].map(|name| (name.to_owned(), 200_000));
        assert_eq!(writes, expected, "{engine}: coalesced");
        assert_eq!(drill.open("log", 0), 200_000);
        assert_eq!(drill.call(1, 11, &[drill.place(BUFFER), 100, 3]), 100);
    }
}

#[test]
fn registered_flags_are_listed() {
    for engine in ENGINES {
        let mut drill = FileDrill::new(engine, &[]);
        // The name and the value are one text.
        let line = call(1, 9, &[18, drill.place(NAME), 300]);
        drill.run(&format!("{line} g_drill"));
        let (archived, latched) = (1 | 4, 32);
        for flags in [archived, latched] {
            drill.call(1, 3, &[0, drill.place(NAME), drill.place(NAME), flags]);
        }
        while drill.sim.server_output().is_some() {}
        drill.sim.console("cvarlist g_drill");
        let shown: String = std::iter::from_fn(|| drill.sim.server_output()).collect();
        assert!(shown.starts_with("S    AL ? g_drill \"g_drill\"\n"), "{engine}: {shown}");
        drill.sim.console("g_drill later");
        let shown: String = std::iter::from_fn(|| drill.sim.server_output()).collect();
        assert_eq!(shown, "g_drill will be changed upon restarting.\n", "{engine}");
    }
}
