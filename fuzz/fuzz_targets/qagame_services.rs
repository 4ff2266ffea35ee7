//! Services of a game module with hostile arguments, in both engines: no panic, equal results.
#![no_main]

use fragd::{
    model::{ConfigIndex, Millis},
    node::{Hosted as _, Input, Node as _, OutputKind},
    observe::Counter,
    server::Server,
    settings::Settings,
    testing::module_drills::{self, WORDS, assembly, call, label},
};
use libfuzzer_sys::fuzz_target;

/// Most calls of an input.
const MAX_CALLS: usize = 12;

/// Bytes as numbers: a byte below the table's length selects a special value, any other one takes 4 bytes.
struct Numbers<'a>(&'a [u8]);

impl Numbers<'_> {
    fn next(&mut self, special: &[i32]) -> i32 {
        let Some((first, rest)) = self.0.split_first() else { return 0 };
        self.0 = rest;
        if let Some(value) = special.get(usize::from(*first)) {
            return *value;
        }
        let Some((word, rest)) = self.0.split_first_chunk::<4>() else { return i32::from(*first) };
        self.0 = rest;
        i32::from_le_bytes(*word)
    }
}

/// Lines for the console: calls of services, frames between them.
fn lines(data: &[u8]) -> Vec<String> {
    let assembly = assembly();
    let size = assembly.image.block_size() as i32;
    let mut special =
        vec![0, 1, 2, 3, -1, -4, 64, 1023, 1024, i32::MAX, i32::MIN, size - 1, size - 4];
    let names =
        ["text", "long", "info", "script", "entities", "clients", "command_record", "greeting"];
    special.extend(names.map(|name| label(&assembly, name)));
    let mut numbers = Numbers(data);
    let mut lines = Vec::new();
    while !numbers.0.is_empty() && lines.len() < MAX_CALLS {
        let [kind, service] = [0; 2].map(|_| numbers.next(&[]).unsigned_abs());
        let service = if kind & 1 == 0 { service % 50 } else { service % 620 };
        let words: Vec<_> = (0..1 + kind % WORDS as u32).map(|_| numbers.next(&special)).collect();
        match kind % 61 {
            59 => lines.push("xbot".to_owned()),
            60 => lines.push("set bot_enable 1".to_owned()),
            count => lines.push(call(1 + count / 20, service, &words)),
        }
    }
    lines
}

/// Runs lines on a new server. Returns the configstrings and the number of faults.
fn run(engine: &str, lines: &[String]) -> (Vec<String>, u64) {
    let mut settings = Settings::default();
    for (name, value) in [("vm_game", engine), ("map", module_drills::MAP), ("sv_pure", "0")] {
        settings.set(name, value).expect("a right value");
    }
    settings.start().expect("a valid combination");
    let mut server =
        Server::builder(settings, [7; 32]).assets(module_drills::assets(&assembly())).build();
    let mut now = Millis(0);
    for line in lines {
        server.handle_input(now, Input::ConsoleLine(line));
        now += Millis(200);
        server.frame(now);
        while server.poll_output(OutputKind::Console).is_some() {}
        while server.poll_output(OutputKind::GameLog).is_some() {}
        // Each fault may take the budget of an entry, which is seconds.
        if server.counters().get(Counter::GameFaults) > 0 {
            break;
        }
    }
    let strings = ConfigIndex::all().map(|index| server.configstring(index).to_owned()).collect();
    (strings, server.counters().get(Counter::GameFaults))
}

fuzz_target!(|data: &[u8]| {
    let lines = lines(data);
    let interpreted = run("1", &lines);
    // Code is compiled for each server, which takes longer than the rest.
    if data.first().is_some_and(|byte| byte % 4 == 0) {
        assert_eq!(interpreted, run("2", &lines), "{lines:?}");
    }
});
