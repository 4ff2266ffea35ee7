//! Journals of servers that host a game module: bit-exact replay in both engines, other modules refused.

use std::{cell::RefCell, rc::Rc};

use fragd::{
    client::Protocol,
    journal::{
        Answers, AssetMismatch, Journaled, RecordedAssets, Recorder, Replay, ReplayedAssets, Start,
        StepResult, Steps,
    },
    model::{
        Millis,
        assets::{Assets, MemoryAssets},
    },
    node::{Hosted as _, Input, LoopCounters},
    sim::Actor,
    testing::{module_drills, real_modules::real_module_folder},
};

use crate::{
    qagame::{ENGINES, OF_MOD, server, small_game, small_game_of_mod},
    sim_fixture::{SERVER, SimFixture},
};

/// Records three players while `play` runs.
fn record(engine: &str, files: MemoryAssets, play: impl FnOnce(&mut SimFixture)) -> Vec<u8> {
    let bytes = Rc::new(RefCell::new(Vec::new()));
    let sink = Rc::clone(&bytes);
    let sink = Box::new(move |piece: &[u8]| sink.borrow_mut().extend_from_slice(piece));
    let start = Start { program: "test".to_owned(), entropy: [9; 32], ..Start::default() };
    let recorder = Recorder::shared(&start, sink);
    let assets = RecordedAssets::new(Box::new(files), Rc::clone(&recorder));
    let node = Journaled::new(server(engine, assets), recorder);
    let mut sim = SimFixture::around(5, Actor::Recorded(Box::new(node)));
    for (number, protocol) in (0_u64..).zip(Protocol::CURRENT) {
        let node = sim.join(protocol, &format!("p{number}"));
        sim.player(node).use_random_input(number);
    }
    sim.run_for(Millis(3000));
    play(&mut sim);
    let Actor::Recorded(server) = sim.actors.swap_remove(SERVER) else { unreachable!() };
    server.finish();
    bytes.take()
}

/// Records a session with a fault, a script, a restart and a map change.
fn session(engine: &str, files: MemoryAssets) -> Vec<u8> {
    record(engine, files, |sim| {
        for command in ["divide", "clock", "leave"] {
            let now = sim.network.now();
            assert!(sim.player(1).send_command(now, command));
            sim.run_for(Millis(2000));
        }
        let now = sim.network.now();
        let slow = LoopCounters { slow_runs: 1, ..LoopCounters::default() };
        sim.actors[SERVER].handle_input(now, Input::LoopCounters(&slow));
        sim.run_for(Millis(3000));
        for line in ["exec drill", "map_restart 0", "map yard"] {
            sim.console(line);
            sim.run_for(Millis(3000));
        }
    })
}

/// Replays a journal. Returns the result and the number of compared datagrams.
fn replay(journal: &[u8], engine: &str, files: MemoryAssets) -> (StepResult, u64) {
    let mut steps = Steps::new();
    steps.feed(journal);
    assert!(steps.start().expect("a journal").is_some());
    let answers = Answers::default();
    let first = steps.next_step().expect("a start");
    answers.expect(first.answers.clone());
    // Scripts come from the journal, since operators change them.
    let find =
        move |name: &str, _, _| files.read(name, u64::MAX).ok().filter(|_| !name.ends_with(".cfg"));
    let find = Box::new(find);
    let assets = ReplayedAssets::new(answers.clone(), find, Box::new(|_, _| None));
    let mut replay = Replay::new(server(engine, assets));
    let mut next = Some(fragd::journal::ReplayStep { answers: Vec::new(), ..first });
    while let Some(step) = next {
        let result = replay.step(step, &answers);
        if result != StepResult::Same {
            return (result, replay.datagrams_out());
        }
        next = steps.next_step().or_else(|| steps.last_step());
    }
    (replay.finish(Millis(0)), replay.datagrams_out())
}

#[test]
fn module_replays_bit_for_bit_in_both_engines() {
    for recorded in ENGINES {
        let journal = session(recorded, small_game());
        for replayed in ENGINES {
            let (result, compared) = replay(&journal, replayed, small_game());
            assert_eq!(result, StepResult::Same, "recorded by {recorded}, replayed by {replayed}");
            assert!(compared > 500, "{compared} datagrams");
        }
    }
}

#[test]
fn module_of_mod_replays_bit_for_bit() {
    let journal = session(OF_MOD, small_game_of_mod());
    // The journal tells where the module was.
    let (result, compared) = replay(&journal, OF_MOD, small_game());
    assert_eq!(result, StepResult::Same);
    assert!(compared > 500, "{compared} datagrams");
}

#[test]
fn replay_refuses_another_module_and_names_both_checksums() {
    let journal = session("1", small_game());
    let mut other = small_game();
    let module = other.read("vm/qagame.qvm", u64::MAX).expect("the module");
    let known = (module.len() as u64, fragd::journal::checksum(&module));
    let changed = b"another module".to_vec();
    let found = Some((changed.len() as u64, fragd::journal::checksum(&changed)));
    other.insert("vm/qagame.qvm", changed).expect("a path");
    let (result, _) = replay(&journal, "1", other);
    let (len, sum) = known;
    let expected = AssetMismatch::NotHere { name: "vm/qagame.qvm".to_owned(), len, sum, found };
    assert_eq!(result, StepResult::AssetMismatch(expected.clone()));
    let text = expected.to_string();
    for part in ["vm/qagame.qvm", &format!("{sum:08x}"), "; found 14 bytes, checksum "] {
        assert!(text.contains(part), "{text}");
    }
}

/// Real modules are not part of the package: `FRAGD_MODULES` names the folder that holds them.
#[test]
#[ignore = "needs FRAGD_MODULES, a folder with game modules"]
fn real_modules_replay_bit_for_bit() {
    let folder = real_module_folder();
    for name in ["baseq3", "missionpack", "baseoa"] {
        let path = folder.join(name).join("qagame.qvm");
        let module = std::fs::read(path).expect("a module");
        let files = || crate::qagame::assets(module.clone(), Vec::new());
        let journal = session("2", files());
        for engine in ENGINES {
            let (result, compared) = replay(&journal, engine, files());
            assert_eq!(result, StepResult::Same, "{name}, replayed by {engine}");
            assert!(compared > 500, "{name}: {compared} datagrams");
        }
    }
}

/// Records a module that reads a file of an earlier run and a script, writes and reads again.
fn session_with_files() -> Vec<u8> {
    let assembly = module_drills::assembly();
    let mut files = module_drills::assets(&assembly);
    files.insert_own("text", b"7 earlier".to_vec()).expect("a path");
    files.insert("drill.cfg", b"say from a script".to_vec()).expect("a path");
    let place = |offset: i32| module_drills::label(&assembly, "long") + offset;
    let (name, handle, buffer) = (place(1000), place(2000), place(4000));
    let call = module_drills::call;
    let mut lines = vec![format!("{} text", call(1, 9, &[18, name, 64]))];
    // Reads the own file into a configstring, then appends to it.
    let read = [
        call(1, 10, &[name, handle, 0]),
        call(1, 100, &[buffer, 0, 64]),
        call(1, 11, &[buffer, 63, 1]),
        call(1, 18, &[45, buffer]),
        call(1, 13, &[1]),
    ];
    lines.extend(read.clone());
    lines.extend([
        call(1, 10, &[name, handle, 2]),
        call(3, 12, &[place(0), 5, 1]),
        call(1, 13, &[1]),
    ]);
    lines.extend(read);
    // A line and a variable of the module, with its right.
    for text in ["set sv_dlURL of.module", "set evil vstr nextmap; set nextmap quit"] {
        lines.push(format!("{} \"{text}\"", call(1, 9, &[18, name, 64])));
        lines.push(call(1, 14, &[2, name]));
    }
    lines.push("vstr evil".to_owned());
    lines.extend(["exec drill".to_owned(), "exec none".to_owned(), "map yard".to_owned()]);
    record("1", files, |sim| {
        for line in lines {
            sim.console(&line);
            sim.run_for(Millis(300));
        }
        sim.run_for(Millis(3000));
    })
}

#[test]
fn own_files_and_scripts_replay_from_the_journal() {
    let journal = session_with_files();
    for engine in ENGINES {
        // Later runs have other own files and no script.
        let mut files = module_drills::assets(&module_drills::assembly());
        files.insert_own("text", b"changed since".to_vec()).expect("a path");
        let (result, compared) = replay(&journal, engine, files);
        assert_eq!(result, StepResult::Same, "{engine}");
        assert!(compared > 300, "{compared} datagrams");
    }
    let has = |text: &[u8]| journal.windows(text.len()).any(|part| part == text);
    assert!(has(b"7 earlier") && has(b"say from a script"));
}
