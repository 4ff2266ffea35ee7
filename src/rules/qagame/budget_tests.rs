//! Tests of the work that services charge to the budget of an entry, in each engine.

use std::rc::Rc;

use super::*;
use crate::{
    game::{FileLimits, GameFiles, conformance::TestHost},
    model::assets::{GamePath, MemoryAssets},
    qagame::files::OpenFile,
    qvm::{Engine, Program, assemble},
    testing::{Block, TestMap},
};

/// Calls the service of word 4 with the words from 8 on, as often as word 60 says. Word 64 counts the calls.
const CALLER: &str = "
vmMain:
    enter 64
@again:
    const 64
    const 64
    load4
    const 1
    add
    store4
    const 8
    load4
    arg 8
    const 12
    load4
    arg 12
    const 16
    load4
    arg 16
    const 20
    load4
    arg 20
    const 24
    load4
    arg 24
    const 28
    load4
    arg 28
    const 32
    load4
    arg 32
    const 4
    load4
    call
    pop
    const 64
    load4
    const 60
    load4
    lti @again
    const 0
    leave 64
.data
    .word 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0
.bss
    .space 40000
";
/// Instructions of a call without its service, with the way back.
const LOOP_COST: u64 = 80;
/// Budget of an entry, less than a real one so that the tests are fast.
const BUDGET: u64 = 20_000_000;
/// Addresses in the memory of the caller: a name, a long text, a buffer.
const NAME: i32 = 256;
const LONG: i32 = 1024;
const BUFFER: i32 = 20_000;
const LONG_LEN: u64 = 8000;

/// Service, its words, and the least that it charges.
const CALLS: [(i32, [i32; 7], u64); 16] = [
    (0, [LONG, 0, 0, 0, 0, 0, 0], 17 * LONG_LEN),
    (3, [0, NAME, NAME, 0, 0, 0, 0], 1000),
    (5, [NAME, LONG, 0, 0, 0, 0, 0], 1000 + LONG_LEN),
    (6, [NAME, 0, 0, 0, 0, 0, 0], 300),
    (7, [NAME, BUFFER, 64, 0, 0, 0, 0], 300),
    (10, [NAME, 0, 0, 0, 0, 0, 0], 200_000),
    (10, [NAME, 0, 1, 0, 0, 0, 0], 300),
    (12, [LONG, 16_000, 1, 0, 0, 0, 0], 1300),
    (18, [40, LONG, 0, 0, 0, 0, 0], 1000 + LONG_LEN),
    (21, [0, LONG, 0, 0, 0, 0, 0], 1000 + LONG_LEN),
    (22, [BUFFER, 1024, 0, 0, 0, 0, 0], 50_000),
    (24, [BUFFER, BUFFER + 64, 0, 0, BUFFER + 80, -1, 1], 1000),
    (36, [0, BUFFER, 0, 0, 0, 0, 0], 300),
    (38, [NAME, NAME, BUFFER, 1024, 0, 0, 0], 200_000),
    (578, [NAME, 0, 0, 0, 0, 0, 0], 200_000),
    (202, [NAME, NAME, 0, 0, 0, 0, 0], 300),
];

/// Returns what one call of a service charges, besides the calling.
fn charge_of(engine: Engine, service: i32, words: [i32; 7], host: &mut TestHost) -> u64 {
    let assembly = assemble(CALLER).expect("a program");
    let program = Program::verify_with(assembly.image, Default::default());
    let executable = Executable::new(&program.expect("verified"), engine);
    let mut game = GameModule::new(executable.expect("an engine"));
    game.machine.set_budget(BUDGET);
    let memory = game.machine.memory_mut();
    let mut put = |address: i32, bytes: &[u8]| {
        memory.bytes_mut(address, bytes.len()).expect("inside").copy_from_slice(bytes);
    };
    put(4, bytemuck::bytes_of(&(-1 - service)));
    put(8, bytemuck::cast_slice(&words));
    put(60, bytemuck::bytes_of(&1_i32));
    put(BUFFER + 64, bytemuck::cast_slice(&[-900.0_f32, -900.0, -900.0]));
    put(BUFFER + 80, bytemuck::cast_slice(&[900.0_f32, 890.0, 880.0]));
    game.run_frame(host, LevelTime(0)).expect("no fault");
    BUDGET - game.machine.remaining_budget()
}

/// A host whose map has `count` boxes in the way of a long trace, in two leafs.
fn crowded_host(count: usize) -> TestHost {
    let world: Vec<_> = (0..count)
        .map(|n| {
            let [x, y, z] = [n % 20, n / 20 % 20, n / 400].map(|at| at as f32 * 64.0 - 640.0);
            let (mins, maxs) = ([x, y, z], [x + 8.0, y + 8.0, z + 8.0]);
            Block { mins, maxs, contents: 1, surface_flags: 0 }
        })
        .collect();
    TestHost::on(&TestMap::from_boxes("", &world, &[]))
}

#[test]
fn queries_are_charged_by_their_work() {
    // Traces of box and capsule that nothing stops, and the contents of a point.
    let traced = [BUFFER, BUFFER + 64, 0, 0, BUFFER + 80, -1, 0];
    for (service, words) in [(24, traced), (43, traced), (25, [BUFFER + 64, -1, 0, 0, 0, 0, 0])] {
        let charges = |engine| {
            [0, 1, 40, 4000].map(|count| {
                let mut host = match count {
                    0 => TestHost::default(),
                    count => crowded_host(count),
                };
                charge_of(engine, service, words, &mut host)
            })
        };
        let [none, few, some, many] = charges(Engine::Interpreter);
        assert_eq!(charges(Engine::Compiled), [none, few, some, many], "service {service}");
        assert_eq!((few, some), (none, none), "service {service}: the former cost is the least");
        let former = none - 1000;
        // Four instructions for the bounds of each brush, in the leafs that are met.
        assert!(many - former >= 4 * 2000, "service {service}: {many}");
        assert!(many - former <= 100 * 4000, "service {service}: {many}");
    }
}

#[test]
fn services_in_a_loop_exhaust_the_budget() {
    for engine in [Engine::Interpreter, Engine::Compiled] {
        for (service, words, cost) in CALLS {
            let assembly = assemble(CALLER).expect("a program");
            let program = Program::verify_with(assembly.image, Default::default());
            let executable = Executable::new(&program.expect("verified"), engine);
            let mut game = GameModule::new(executable.expect("an engine"));
            game.machine.set_budget(BUDGET);
            // Without charges of the service the loop would end.
            let count = BUDGET / LOOP_COST / 2;
            let mut host = TestHost::default();
            let limits = FileLimits { bytes: 100_000, files: 3 };
            host.files = Some(GameFiles::new(Rc::new(MemoryAssets::default()), limits));
            let path = GamePath::new(b"own").expect("a path");
            let open = OpenFile::Write { path, at: 0, appends: true, sync: false };
            assert_eq!(game.state.files.add(open), Some(1), "the handle of service 12");
            let memory = game.machine.memory_mut();
            let mut put = |address: i32, bytes: &[u8]| {
                memory.bytes_mut(address, bytes.len()).expect("inside").copy_from_slice(bytes);
            };
            put(4, bytemuck::bytes_of(&(-1 - service)));
            put(8, bytemuck::cast_slice(&words));
            put(60, bytemuck::bytes_of(&(count as i32)));
            put(NAME, b"g_name\0");
            put(LONG, &[b'x'; LONG_LEN as usize]);
            let fault = game.run_frame(&mut host, LevelTime(0));
            let calls = game.machine.memory().i32_at(64).expect("inside") as u64;
            let fault =
                fault.err().unwrap_or_else(|| panic!("{engine:?}: service {service} is free"));
            assert!(
                fault.summary.starts_with("instruction budget exhausted"),
                "{engine:?}: service {service}: {}",
                fault.summary
            );
            assert!(calls > 1 && (calls - 1) * cost <= BUDGET, "service {service}: {calls} calls");
        }
    }
}
