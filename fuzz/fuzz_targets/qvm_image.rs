//! QVM images and assembler texts: loader, verifier, disassembler, and a run with hostile arguments.
#![no_main]

use fragd::qvm::{
    Engine, FaultKind, Image, Machine, Program, ServiceCall, Symbols, assemble, disassemble,
    parse_symbol_map,
};
use libfuzzer_sys::fuzz_target;

/// Largest memory block that is run, in bytes.
const MAX_RUN_BLOCK: u32 = 1 << 20;

/// Instructions of an entry.
const BUDGET: u64 = 50_000;

fuzz_target!(|data: &[u8]| {
    let [choice, data @ ..] = data else { return };
    let (image, map) = if choice & 1 == 0 {
        let Ok(image) = Image::parse(data) else { return };
        (image, String::new())
    } else {
        let Ok(assembly) = assemble(&String::from_utf8_lossy(data)) else { return };
        let map = assembly.symbol_map();
        (assembly.image, map)
    };
    if let Ok(text) = disassemble(&image, &parse_symbol_map(&map), choice & 2 != 0) {
        let again = assemble(&text).expect("a listing assembles").image;
        assert_eq!((&again.data, &again.literals), (&image.data, &image.literals));
        assert_eq!((again.zero_length, &again.jump_table), (image.zero_length, &image.jump_table));
        assert_eq!(again.code[..], image.code[..again.code.len()]);
    }
    if image.block_size() > MAX_RUN_BLOCK {
        return;
    }
    let Ok(program) = Program::verify_with(image, Symbols::parse(&map)) else { return };
    let engine = if choice & 4 == 0 { Engine::Interpreter } else { Engine::Compiled };
    let Ok(mut machine) = Machine::new(program, engine) else { return };
    machine.set_budget(BUDGET);
    let mut services = serve;
    for entry in 0..3 {
        let words = [entry, 1, -1, 0x1000, i32::MIN, 0x7fc0_0000, 0, 0, 0, 0, 0, 0, i32::MAX];
        if let Err(fault) = machine.enter(&mut services, &words) {
            let _ = (fault.to_string(), fault.trace().count());
        }
    }
});

/// Enters again. The machine serves the C library itself, with any arguments.
fn serve(machine: &mut Machine, call: ServiceCall) -> Result<i32, FaultKind> {
    let mut words = [0; 13];
    words.copy_from_slice(&call.arguments[..13]);
    Ok(machine.enter(&mut serve, &words)?)
}
