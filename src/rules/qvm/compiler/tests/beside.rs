//! Compiling beside the interpreter: the change of engine, refused programs.

use std::{sync::mpsc, time::Duration};

use super::*;
use crate::qvm::{CompileError, EngineError, Executable};

/// A program that counts its entries at address 8, loops as often as its argument says, and returns the count.
fn counter() -> Arc<Program> {
    use Opcode::{Add, Const, Enter, Eq, Jump, Leave, Load4, Local, Store4, Sub};
    let code = [
        (Enter, 64),
        (Const, 8),
        (Const, 8),
        (Load4, 0),
        (Const, 1),
        (Add, 0),
        (Store4, 0),
        (Local, 72),
        (Load4, 0),
        (Const, 0),
        (Eq, 19),
        (Local, 72),
        (Local, 72),
        (Load4, 0),
        (Const, 1),
        (Sub, 0),
        (Store4, 0),
        (Const, 7),
        (Jump, 0),
        (Const, 8),
        (Load4, 0),
        (Leave, 64),
    ];
    Program::verify(image(&code, &[0; DATA_WORDS], &[7])).expect("verified")
}

/// Enters a machine, and returns the result and the rest of the budget.
fn enter(machine: &mut Machine, argument: i32) -> (Result<i32, Fault>, u64) {
    let mut services = |_: &mut Machine, _| -> Result<i32, FaultKind> { Ok(0) };
    let result = machine.enter(&mut services, &words(argument));
    (result, machine.remaining_budget())
}

#[test]
fn machine_changes_engine_between_entries() {
    let program = counter();
    let (done, report) = mpsc::channel();
    let send = move |end| done.send(end).expect("a receiver");
    let executable = Executable::compiled_beside(&program, send).expect("a thread");
    let mut machine = Machine::of(executable.clone());
    let mut interpreted = Machine::new(Arc::clone(&program), Engine::Interpreter).expect("ready");
    for argument in [0, 5, 1000] {
        assert_eq!(enter(&mut machine, argument), enter(&mut interpreted, argument));
    }
    let end = report.recv_timeout(Duration::from_secs(60)).expect("a report");
    let description = end.expect("compiled");
    assert!(description.starts_with("compiled to "), "{description}");
    for argument in [0, 7, 2000, i32::MAX] {
        assert_eq!(enter(&mut machine, argument), enter(&mut interpreted, argument));
    }
    assert_eq!(machine.executable().description(), description);
    let later = Machine::of(executable);
    assert_eq!(later.executable().engine(), Engine::Compiled);
    assert_eq!(enter(&mut machine, 0).0, Ok(8), "memory stays");
}

#[test]
fn too_much_work_is_refused_without_thread() {
    let program = Program::verify(calls(1000)).expect("verified");
    let error = Executable::compiled_beside(&program, |_| panic!("a thread ran"));
    let error = error.expect_err("too much work");
    assert!(matches!(error, EngineError::Compile(CompileError::Work { .. })), "{error}");
}
