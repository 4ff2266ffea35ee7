//! Random verified programs: both engines have the same results, faults, budgets, calls and memory.
#![no_main]

use fragd::qvm::{
    Engine, Program,
    random::{Choices, outcome, random_image},
};
use libfuzzer_sys::fuzz_target;

/// Instructions of an entry.
const BUDGET: u64 = 20_000;

fuzz_target!(|data: &[u8]| {
    let image = random_image(&mut Choices::from_bytes(data));
    let program = Program::verify(image).expect("a random program is valid");
    let interpreted = outcome(&program, Engine::Interpreter, BUDGET);
    if let Some(compiled) = outcome(&program, Engine::Compiled, BUDGET) {
        assert_eq!(interpreted, Some(compiled));
    }
});
