//! Tests of faults and panics at the boundary of a module.

use std::panic::{AssertUnwindSafe, catch_unwind};

use super::*;
use crate::{
    game::conformance::TestHost,
    qvm::{Engine, Program, assemble},
};

/// Faults in a nested disconnect entry, and prints a control character that [`TestHost`] answers with a panic.
const GAME: &str = "
.service print 0
.service drop 16
vmMain:
    enter 16
    local 24
    load4
    const 5
    eq @disconnect
    local 24
    load4
    const 6
    eq @command
    local 24
    load4
    const 8
    ne @other
    const text
    arg 8
    const print
    call
    leave 16
@command:
    const 3
    arg 8
    const text
    arg 12
    const drop
    call
    leave 16
@disconnect:
    const 1
    const 0
    divi
    leave 16
@other:
    const 0
    leave 16
.data
    .word 0
.lit
text:
    .string \"\\x01\\n\"
";

fn module(engine: Engine) -> GameModule {
    let assembly = assemble(GAME).expect("a program");
    let symbols = crate::qvm::Symbols::parse("0 0 vmMain\n");
    let program = Program::verify_with(assembly.image, symbols).expect("a verified program");
    let mut game = GameModule::new(Executable::new(&program, engine).expect("an engine"));
    let start = LevelStart { time: LevelTime(0), seed: 1, restart: false };
    game.init(&mut TestHost::default(), start).expect("no fault");
    game
}

const ENGINES: [Engine; 2] = [Engine::Interpreter, Engine::Compiled];

#[test]
fn fault_names_innermost_place_entry_and_calls() {
    for engine in ENGINES {
        let client = ClientNum::new(2).expect("a slot");
        let words = CommandArgs::parse("any");
        let mut game = module(engine);
        let fault = game.client_command(&mut TestHost::default(), client, &words);
        let fault = fault.expect_err("a fault");
        assert_eq!(fault.summary, "division by zero in vmMain+27 (instruction 27)");
        let details = ["entry ClientCommand 2", "nested entry made by vmMain+23 (instruction 23)"];
        assert_eq!(fault.details, details, "{engine:?}");
    }
}

#[test]
fn module_is_unusable_after_panic_of_service() {
    for engine in ENGINES {
        let mut game = module(engine);
        let mut host = TestHost::default();
        let frame = |game: &mut GameModule, host: &mut TestHost| game.run_frame(host, LevelTime(9));
        let run = catch_unwind(AssertUnwindSafe(|| frame(&mut game, &mut host)));
        assert!(run.is_err(), "{engine:?}: the service panics");
        let fault = frame(&mut game, &mut host).expect_err("a fault");
        assert_eq!(fault.summary, "game module not usable: an entry did not end");
    }
}
