//! Comparison of machine code with the interpreter: operations, faults, random programs, real modules.

mod beside;
mod random;

use std::sync::Arc;

use crate::{
    qvm::{
        ENTRY_ARGUMENTS, Engine, FaultKind, Image, Machine, Opcode, OperandKind, Program,
        ServiceCall, fault::Fault,
    },
    testing::real_modules::real_module_folder,
};

/// Words of the initialized data of test programs.
const DATA_WORDS: usize = 64;
/// Zeroed bytes of test programs, with the program stack.
const ZEROED: u32 = 70_000;

/// Makes an image of instructions, with a jump table.
pub(super) fn image(code: &[(Opcode, i32)], data: &[i32], jumps: &[u32]) -> Image {
    let mut bytes = Vec::new();
    for (opcode, operand) in code {
        bytes.push(*opcode as u8);
        match opcode.operation().operand {
            OperandKind::None => {}
            OperandKind::Byte => bytes.push(*operand as u8),
            OperandKind::Word => bytes.extend(operand.to_le_bytes()),
        }
    }
    Image {
        instruction_count: code.len() as u32,
        code: bytes,
        data: data.iter().flat_map(|word| word.to_le_bytes()).collect(),
        zero_length: ZEROED,
        jump_table: Some(jumps.to_vec()),
        ..Image::default()
    }
}

/// Observable effects of an entry.
#[derive(Debug, PartialEq)]
struct Observed {
    result: Result<i32, Fault>,
    calls: Vec<ServiceCall>,
    remaining: u64,
    memory: Vec<u8>,
}

/// Service number that enters the module again.
const ENTER: u32 = 40;
/// Service number that fails.
const FAIL: u32 = 41;
/// Service number that writes into memory.
const WRITE: u32 = 42;

fn serve(
    calls: &mut Vec<ServiceCall>,
    machine: &mut Machine,
    call: ServiceCall,
) -> Result<i32, FaultKind> {
    calls.push(call);
    match call.number {
        ENTER => {
            let arguments = [call.arguments[0]; ENTRY_ARGUMENTS];
            let mut services = |machine: &mut Machine, call| serve(calls, machine, call);
            Ok(machine.enter(&mut services, &arguments)?)
        }
        FAIL => Err(FaultKind::Module("failed".to_owned())),
        WRITE => {
            machine.memory_mut().store4(call.arguments[0] as u32, call.arguments[1]);
            machine.charge(3)?;
            Ok(machine.memory().load4(call.arguments[1] as u32))
        }
        number => Ok(call.arguments[0].wrapping_mul(31).wrapping_add(number as i32)),
    }
}

/// Enters a program several times with each engine and compares.
fn compare(program: &Arc<Program>, entries: &[[i32; ENTRY_ARGUMENTS]], budget: u64) -> Vec<Fault> {
    let observe = |engine| {
        let mut machine = Machine::new(program.clone(), engine).expect("compiles");
        machine.set_budget(budget);
        let mut observed = Vec::new();
        for arguments in entries {
            let mut calls = Vec::new();
            let mut services = |machine: &mut Machine, call| serve(&mut calls, machine, call);
            let result = machine.enter(&mut services, arguments);
            observed.push(Observed {
                result,
                calls,
                remaining: machine.remaining_budget(),
                memory: machine.memory().block().to_vec(),
            });
        }
        observed
    };
    let (expected, compiled) = (observe(Engine::Interpreter), observe(Engine::Compiled));
    for (index, (expected, compiled)) in expected.iter().zip(&compiled).enumerate() {
        assert_eq!(compiled.result, expected.result, "entry {index}");
        assert_eq!(compiled.calls, expected.calls, "entry {index}");
        assert_eq!(compiled.remaining, expected.remaining, "entry {index}");
        assert!(compiled.memory == expected.memory, "memory differs after entry {index}");
    }
    compiled.into_iter().filter_map(|observed| observed.result.err()).collect()
}

/// Runs a function body that leaves one cell, after `enter 64`.
fn run_body(body: &[(Opcode, i32)], arguments: &[i32]) -> Vec<Fault> {
    let mut words = [0; ENTRY_ARGUMENTS];
    words[..arguments.len()].copy_from_slice(arguments);
    run_entries(body, &[words])
}

fn run_entries(body: &[(Opcode, i32)], entries: &[[i32; ENTRY_ARGUMENTS]]) -> Vec<Fault> {
    let mut code = vec![(Opcode::Enter, 64)];
    code.extend(body);
    code.push((Opcode::Leave, 64));
    let program = Program::verify(image(&code, &[0; DATA_WORDS], &[])).expect("verified");
    compare(&program, entries, 100_000)
}

/// Entries with every pair of [`WORDS`] as their first arguments; the first ones differ in argument 0.
fn pairs() -> Vec<[i32; ENTRY_ARGUMENTS]> {
    let mut entries = Vec::new();
    for b in WORDS {
        for a in WORDS {
            let mut words = words(a);
            words[1] = b;
            entries.push(words);
        }
    }
    entries
}

/// Offset of an argument of the entry in a frame of 64 bytes.
const fn argument(index: i32) -> i32 {
    64 + 8 + 4 * index
}

const WORDS: [i32; 22] = [
    0,
    1,
    -1,
    2,
    -2,
    7,
    31,
    32,
    33,
    255,
    256,
    0x7f,
    0x80,
    0x8000,
    i32::MAX,
    i32::MIN,
    0x3f80_0000,            // 1.0
    0xbfc0_0000_u32 as i32, // -1.5
    0x4f00_0000,            // 2^31
    0x7f80_0000,            // infinity
    0xffc1_2345_u32 as i32, // NaN
    0x7fa0_0001,            // signaling NaN
];

#[test]
fn operation_has_the_result_of_the_interpreter() {
    use Opcode::{Add, Const, Cvfi, Eq, Gef, Load4, Local, Muli, Sex8};
    for number in Sex8 as u8..=Cvfi as u8 {
        let opcode = Opcode::from_number(number).expect("an operation");
        let tail: &[(Opcode, i32)] = match opcode.operation().pops {
            2 => &[],
            _ => &[(Add, 0)],
        };
        let load = [(Local, argument(0)), (Load4, 0), (Local, argument(1)), (Load4, 0)];
        let entries = pairs();
        run_entries(&[&load[..], &[(opcode, 0)], tail].concat(), &entries);
        for b in WORDS {
            let constant = [(Local, argument(0)), (Load4, 0), (Const, b)];
            run_entries(&[&constant[..], &[(opcode, 0)], tail].concat(), &entries[..WORDS.len()]);
        }
    }
    for number in Eq as u8..=Gef as u8 {
        let opcode = Opcode::from_number(number).expect("an operation");
        let mut code = vec![(Opcode::Enter, 64), (Const, 0), (Opcode::Pop, 0)];
        let (loads, step) =
            ([(Local, argument(0)), (Load4, 0), (Local, argument(1)), (Load4, 0)], 2);
        code.push((Const, 5));
        code.extend(loads);
        let target = code.len() as i32 + 1 + step;
        code.extend([(opcode, target), (Const, 3), (Muli, 0), (Opcode::Leave, 64)]);
        let program = Program::verify(image(&code, &[0; DATA_WORDS], &[])).expect("verified");
        compare(&program, &pairs(), 1000);
    }
}

#[test]
fn c_library_has_the_result_of_the_interpreter() {
    use Opcode::{Arg, Call, Const, Load4, Local};
    for number in 100..=112 {
        let load = |index, at| [(Local, argument(index)), (Load4, 0), (Arg, at)];
        let call = [(Const, 48), (Arg, 16), (Const, !number), (Call, 0)];
        run_entries(&[&load(0, 8)[..], &load(1, 12), &call].concat(), &pairs());
        // The same through a computed target.
        let call = [(Const, 48), (Arg, 16), (Local, argument(2)), (Load4, 0), (Call, 0)];
        let entries = pairs().into_iter().map(|mut words| {
            words[2] = !number;
            words
        });
        let entries: Vec<_> = entries.collect();
        run_entries(&[&load(0, 8)[..], &load(1, 12), &call].concat(), &entries);
    }
}

#[test]
fn wild_address_wraps_as_in_the_interpreter() {
    use Opcode::{
        Add, Band, BlockCopy, Const, Load1, Load2, Load4, Local, Sex16, Store1, Store2, Store4,
    };
    let top = 0x1_ffff;
    for address in [0, 1, 3, top - 3, top - 1, top, top + 1, -1, -4, i32::MIN, 0x7fff_ffff] {
        for (store, load) in [(Store1, Load1), (Store2, Load2), (Store4, Load4)] {
            let variable = [(Local, argument(0)), (Load4, 0)];
            let fixed = [(Const, address), (Const, 0), (Add, 0)];
            for place in [&variable[..], &fixed[..1], &[(Local, address)][..]] {
                let value = [(Const, 0x1234_89ab), (store, 0)];
                let read = [(load, 0), (Sex16, 0)];
                run_body(&[place, &value[..], place, &read[..]].concat(), &[address]);
            }
        }
        for length in [0, 1, 12, 63, 64, 65, top, 1 << 20] {
            let code = [
                [(Local, argument(0)), (Load4, 0)],
                [(Local, argument(1)), (Load4, 0)],
                [(BlockCopy, length), (Const, 0)],
            ];
            run_body(&code.concat(), &[address, 16]);
            run_body(&code.concat(), &[20, address]);
            run_body(&code.concat(), &[20, 16]);
            run_body(&code.concat(), &[16, 20]);
        }
    }
    run_body(&[(Const, 3), (Const, 5), (Band, 0)], &[]);
}

/// Two functions: the first calls the second through its first argument.
fn caller(callee: &[(Opcode, i32)]) -> Arc<Program> {
    use Opcode::{Call, Enter, Leave, Load4, Local};
    let head = [(Enter, 64), (Local, argument(0)), (Load4, 0), (Call, 0), (Leave, 64)];
    let code = [&head[..], callee].concat();
    Program::verify(image(&code, &[0; DATA_WORDS], &[])).expect("verified")
}

fn words(first: i32) -> [i32; ENTRY_ARGUMENTS] {
    let mut words = [0; ENTRY_ARGUMENTS];
    words[0] = first;
    words
}

#[test]
fn computed_call_reaches_functions_only() {
    use Opcode::{Const, Enter, Leave};
    let program = caller(&[(Enter, 8), (Const, 77), (Leave, 8)]);
    let entries = [5, 6, 0, 1, 7, 8, 9, 1_000_000, i32::MAX, i32::MIN, -1, -100].map(words);
    let faults = compare(&program, &entries, 100_000);
    let invalid = faults.iter().filter(|f| matches!(f.kind, FaultKind::CallTarget(_))).count();
    assert_eq!(invalid, 7);
}

#[test]
fn endless_recursion_and_endless_loop_are_faults() {
    use Opcode::{Call, Const, Enter, Jump, Leave, Push};
    let large = 4096;
    let code = [(Enter, large), (Const, 5), (Call, 0), (Leave, large)];
    let faults = compare(&caller(&code), &[words(5)], 1_000_000);
    assert_eq!(faults[0].kind, FaultKind::StackOverflow);
    let code = [(Enter, 0), (Const, 5), (Call, 0), (Leave, 0)];
    let faults = compare(&caller(&code), &[words(5)], 1_000_000);
    assert!(matches!(faults[0].kind, FaultKind::CallDepth(_)) && faults[0].omitted > 0);
    for budget in [0, 1, 4, 5, 100, 5000] {
        let code = [(Enter, 8), (Const, 6), (Jump, 0), (Push, 0), (Leave, 8)];
        let faults = compare(&caller(&code), &[words(5)], budget);
        assert_eq!(faults[0].kind, FaultKind::Budget);
    }
}

#[test]
fn computed_jump_reaches_listed_targets_only() {
    use Opcode::{Const, Enter, Jump, Leave, Load4, Local};
    let code = [
        (Enter, 64),
        (Local, argument(0)),
        (Load4, 0),
        (Jump, 0),
        (Const, 1),
        (Leave, 64),
        (Const, 2),
        (Leave, 64),
        (Enter, 8),
        (Const, 3),
        (Leave, 8),
    ];
    let entries = [1, 4, 6, 5, 7, 0, 9, 8, 11, -1, i32::MIN].map(words);
    for jumps in [&[4, 6][..], &[6], &[1, 4], &[]] {
        let program = Program::verify(image(&code, &[0; DATA_WORDS], jumps)).expect("verified");
        let faults = compare(&program, &entries, 100_000);
        assert!(faults.len() >= entries.len() - 2);
    }
}

#[test]
fn services_enter_again_fail_and_write() {
    use Opcode::{Call, Const, Enter, Leave};
    let program = caller(&[(Enter, 8), (Const, 1), (Leave, 8)]);
    let entries = [ENTER, FAIL, WRITE, 3, 1 << 30].map(|number| words(!number as i32));
    let faults = compare(&program, &entries, 100_000);
    assert!(faults.iter().any(|fault| matches!(fault.kind, FaultKind::Nested(_))));
    assert!(faults.iter().any(|fault| matches!(fault.kind, FaultKind::Module(_))));
    let code = [(Enter, 64), (Const, !(FAIL as i32)), (Call, 0), (Leave, 64)];
    let program = Program::verify(image(&code, &[0; DATA_WORDS], &[])).expect("verified");
    assert_eq!(compare(&program, &[words(0)], 1000).len(), 1);
}

#[test]
fn panic_of_a_service_passes_through_machine_code() {
    let program = caller(&[(Opcode::Enter, 8), (Opcode::Const, 1), (Opcode::Leave, 8)]);
    let mut machine = Machine::new(program, Engine::Compiled).expect("compiles");
    let mut services = |_: &mut Machine, _| -> Result<i32, FaultKind> {
        std::panic::resume_unwind(Box::new("host"))
    };
    let run = std::panic::AssertUnwindSafe(|| machine.enter(&mut services, &words(-1)));
    let payload = std::panic::catch_unwind(run).expect_err("panics");
    assert_eq!(payload.downcast_ref::<&str>(), Some(&"host"));
}

#[test]
fn replaced_memory_is_a_fault() {
    let program = caller(&[(Opcode::Enter, 8), (Opcode::Const, 1), (Opcode::Leave, 8)]);
    let mut machine = Machine::new(program.clone(), Engine::Compiled).expect("compiles");
    let mut services = |machine: &mut Machine, _| {
        *machine = Machine::new(program.clone(), Engine::Interpreter).expect("an interpreter");
        Ok(0)
    };
    let fault = machine.enter(&mut services, &words(-1)).expect_err("a fault");
    assert!(matches!(fault.kind, FaultKind::Service { .. }), "{fault}");
}

#[test]
fn random_programs_give_the_same_results() {
    let count = std::env::var("FRAGD_RANDOM_PROGRAMS").ok().and_then(|text| text.parse().ok());
    let mut faults = 0;
    let count = count.unwrap_or(100);
    for seed in 0..count {
        let mut source = random::Source::new(seed);
        let image = random::program(&mut source);
        let program = Program::verify(image).unwrap_or_else(|e| panic!("seed {seed}: {e}"));
        let entries: Vec<_> =
            (0..3).map(|_| [(); ENTRY_ARGUMENTS].map(|()| source.word())).collect();
        let budget = [50, 1000, 20_000][(seed % 3) as usize];
        let outcome = std::panic::catch_unwind(|| compare(&program, &entries, budget).len());
        faults += outcome.unwrap_or_else(|_| panic!("seed {seed}"));
    }
    // Some entries end early, most do not.
    assert!(faults > 0 && faults < 3 * count as usize);
}

/// Real modules are not part of the package: FRAGD_MODULES names the folder that holds them.
#[test]
#[ignore = "needs FRAGD_MODULES, a folder with game modules"]
fn real_modules_compile_and_start() {
    let folder = real_module_folder();
    for name in ["baseq3", "missionpack", "baseoa"] {
        let path = folder.join(name).join("qagame.qvm");
        let bytes = std::fs::read(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        let program = Program::verify(Image::parse(&bytes).expect("parsed")).expect("verified");
        // Entries of init, a frame, a client and a console command, with services that answer 0 or 1.
        let entry = |number, first| {
            let mut words = words(number);
            words[1..4].copy_from_slice(&[first, 1234, 0]);
            words
        };
        let entries = [entry(0, 1000), entry(8, 1050), entry(2, 0), entry(9, 0), entry(8, 1100)];
        compare(&program, &entries, 50_000_000);
    }
}

/// A function of computed jumps: each reads its target from the data, and is the target of another one.
fn jumps(count: usize) -> Image {
    let mut code = vec![(Opcode::Enter, 16)];
    let mut targets = Vec::new();
    for _ in 0..count {
        targets.push(code.len() as i32);
        code.extend([(Opcode::Local, 28), (Opcode::Load4, 0), (Opcode::Jump, 0)]);
    }
    targets.push(code.len() as i32);
    code.extend([(Opcode::Const, 7), (Opcode::Leave, 16)]);
    let table: Vec<u32> = targets.iter().map(|target| *target as u32).collect();
    image(&code, &[0; DATA_WORDS], &table)
}

/// A function of computed calls.
fn calls(count: usize) -> Image {
    let mut code = vec![(Opcode::Enter, 16)];
    for _ in 0..count {
        code.extend([(Opcode::Local, 28), (Opcode::Load4, 0), (Opcode::Call, 0), (Opcode::Pop, 0)]);
    }
    code.extend([(Opcode::Const, 7), (Opcode::Leave, 16)]);
    image(&code, &[0; DATA_WORDS], &[])
}

fn length(image: Image) -> usize {
    let program = Program::verify(image).expect("verified");
    crate::qvm::compiler::Code::new(&program).expect("compiled").pages.length()
}

#[test]
fn code_of_computed_jumps_and_calls_is_linear() {
    let shapes: [fn(usize) -> Image; 2] = [jumps, calls];
    for (shape, make) in ["jumps", "calls"].into_iter().zip(shapes) {
        let [few, many] = [100, 400].map(|count| length(make(count)));
        assert!(many < 5 * few, "{shape}: {few} and {many} bytes");
    }
}

#[test]
fn program_of_too_much_work_is_not_compiled() {
    for image in [jumps(8000), calls(1000)] {
        let program = Program::verify(image).expect("verified");
        let error = crate::qvm::compiler::Code::new(&program).expect_err("too large");
        assert!(matches!(error, crate::qvm::CompileError::Work { .. }), "{error}");
        assert!(Machine::new(program, Engine::Interpreter).is_ok());
    }
}
