//! Tests of the generator: programs are valid, varied, and the same in each engine.

use std::collections::HashSet;

use super::*;

#[test]
fn random_programs_pass_the_verifier_and_vary() {
    let (mut kinds, mut opcodes, mut returned) = (HashSet::new(), HashSet::new(), 0);
    for seed in 0..1500 {
        let image = random_image(&mut Choices::from_seed(seed));
        let mut file = Vec::new();
        image.write(&mut file);
        let image = Image::parse(&file).expect("valid");
        let program = Program::verify(image).unwrap_or_else(|error| panic!("{seed}: {error}"));
        opcodes.extend(program.instructions().iter().map(|instruction| instruction.opcode));
        let outcome = outcome(&program, Engine::Interpreter, 20_000).expect("available");
        for result in &outcome.results {
            match result {
                Ok(_) => returned += 1,
                Err(fault) => {
                    kinds.insert(std::mem::discriminant(&fault.kind));
                }
            }
        }
    }
    assert_eq!(opcodes.len(), 59, "every operation but undefined");
    assert!(returned > 1500, "{returned} of 6000 entries return");
    assert!(kinds.len() >= 10, "{} kinds of faults", kinds.len());
}

#[test]
fn same_choices_give_the_same_program() {
    let image = || random_image(&mut Choices::from_bytes(b"any bytes of a fuzzer"));
    assert_eq!(image(), image());
}
