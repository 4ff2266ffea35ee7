//! Differential test of the engines: random verified programs have one outcome.

use fragd::qvm::{
    Engine, Image, Program,
    random::{Choices, Outcome, outcome, random_image},
};

/// Instructions of an entry. Most programs end within it.
const BUDGET: u64 = 20_000;

/// Programs of an ordinary run. `FRAGD_QVM_PROGRAMS` sets another number.
const PROGRAMS: u64 = 1_500;

#[test]
fn engines_agree_on_random_programs() {
    let programs = std::env::var("FRAGD_QVM_PROGRAMS").ok();
    let programs = programs.map_or(PROGRAMS, |text| text.parse().expect("a number"));
    let mut compared = 0;
    for seed in 0..programs {
        let image = random_image(&mut Choices::from_seed(seed));
        let program = Program::verify(image).unwrap_or_else(|error| panic!("{seed}: {error}"));
        let interpreted = outcome(&program, Engine::Interpreter, BUDGET).expect("available");
        let Some(compiled) = outcome(&program, Engine::Compiled, BUDGET) else { continue };
        assert_same(&format!("program {seed}"), &interpreted, &compiled);
        compared += 1;
    }
    println!("{compared} of {programs} programs compared");
}

/// Compares part by part: a whole outcome holds a memory block.
fn assert_same(name: &str, interpreted: &Outcome, compiled: &Outcome) {
    assert_eq!(interpreted.results, compiled.results, "{name}: results");
    assert_eq!(interpreted.budgets, compiled.budgets, "{name}: budgets");
    assert_eq!(interpreted.calls, compiled.calls, "{name}: service calls");
    let pairs = interpreted.block.iter().zip(&compiled.block);
    let differs = pairs.enumerate().find(|(_, (a, b))| a != b);
    assert_eq!(differs, None, "{name}: first byte of memory that differs");
}

#[test]
fn mutated_images_are_rejected_or_run() {
    for seed in 0..3_000 {
        let mut choices = Choices::from_seed(seed);
        let mut file = Vec::new();
        random_image(&mut choices).write(&mut file);
        // A few bytes of the file, mostly of its code, get other values.
        for change in 0..1 + seed % 4 {
            let mixed = (seed << 8 | change).wrapping_mul(0x9e37_79b9_7f4a_7c15);
            let length = file.len().min(if seed % 8 == 0 { 36 } else { 4096 });
            file[(mixed >> 40) as usize % length] = mixed as u8;
        }
        let Ok(image) = Image::parse(&file) else { continue };
        if image.block_size() > 1 << 20 {
            continue;
        }
        let Ok(program) = Program::verify(image) else { continue };
        let interpreted = outcome(&program, Engine::Interpreter, BUDGET).expect("available");
        if let Some(compiled) = outcome(&program, Engine::Compiled, BUDGET) {
            assert_same(&format!("mutated program {seed}"), &interpreted, &compiled);
        }
    }
}
