//! Game modules of `tests/modules`: every operation, trap and fault, in each engine.
//!
//! A line `;; WORDS -> RESULT` of a module is an entry, `;; budget N` the budget of later ones, `;; rejected
//! TEXT` the start of the verifier's message, and `;; module NAME` starts the next module of a file.

use std::{fs, path::Path};

use fragd::{
    qvm::{
        Engine, Fault, FaultKind, Image, Machine, Opcode, Program, ServiceCall, Symbols, assemble,
        disassemble, parse_symbol_map,
    },
    testing::real_modules::real_module_folder,
};

const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/modules");

/// Engines of this build.
fn engines(image: &Image) -> Vec<Engine> {
    let program = Program::verify(image.clone()).expect("valid");
    let engines = [Engine::Interpreter, Engine::Compiled];
    engines.into_iter().filter(|engine| Machine::new(program.clone(), *engine).is_ok()).collect()
}

/// Services of the modules: 0 adds, 1 reports an error, 2 enters again, 3 returns the length of a text.
fn serve(machine: &mut Machine, call: ServiceCall) -> Result<i32, FaultKind> {
    let [a, b, c, ..] = call.arguments;
    match call.number {
        0 => Ok(a + 10 * b + 100 * c),
        1 => {
            let text = machine.memory().text(a, 100)?;
            Err(FaultKind::Module(String::from_utf8_lossy(text).into_owned()))
        }
        2 => {
            let mut words = [0; 13];
            words.copy_from_slice(&call.arguments[..13]);
            Ok(machine.enter(&mut serve, &words)?)
        }
        3 => Ok(machine.memory().text(a, 100)?.len() as i32),
        number => Err(FaultKind::UnknownService(number)),
    }
}

/// Value of a word: mnemonic, float with `f`, hexadecimal or decimal number.
fn word(text: &str) -> i32 {
    if let Some(opcode) = Opcode::from_mnemonic(text) {
        return opcode as i32;
    }
    if let Some(digits) = text.strip_prefix("0x") {
        return u32::from_str_radix(digits, 16).expect("hexadecimal") as i32;
    }
    match text.strip_suffix('f') {
        Some(float) => float.parse::<f32>().expect("float").to_bits() as i32,
        None => text.parse().expect("number"),
    }
}

fn image_of(text: &str) -> (Image, Symbols) {
    let assembly = assemble(text).unwrap_or_else(|error| panic!("{error}"));
    let map = assembly.symbol_map();
    let listing = disassemble(&assembly.image, &parse_symbol_map(&map), true).expect("decodes");
    assert_eq!(assemble(&listing).expect("assembles").image, assembly.image, "{listing}");
    let mut file = Vec::new();
    assembly.image.write(&mut file);
    (Image::parse(&file).expect("valid"), Symbols::parse(&map))
}

/// Runs the entries of a module and adds the failures. Returns the number of entries.
fn run(name: &str, text: &str, failures: &mut Vec<String>) -> usize {
    let (image, symbols) = image_of(text);
    let directives: Vec<_> = text.lines().filter_map(|line| line.strip_prefix(";; ")).collect();
    let rejection = directives.iter().find_map(|line| line.strip_prefix("rejected "));
    if let Some(expected) = rejection {
        match Program::verify_with(image, symbols) {
            Err(error) if error.to_string().starts_with(expected) => {}
            Err(error) => failures.push(format!("{name}: {error}")),
            Ok(_) => failures.push(format!("{name}: accepted")),
        }
        return 1;
    }
    let mut entries = 0;
    for engine in engines(&image) {
        let program = Program::verify_with(image.clone(), symbols.clone());
        let program = program.unwrap_or_else(|error| panic!("{name}: {error}"));
        let mut machine = Machine::new(program, engine).expect("available");
        for line in &directives {
            if let Some(budget) = line.strip_prefix("budget ") {
                machine.set_budget(budget.parse().expect("number"));
            }
            let Some((words, expected)) = line.split_once(" -> ") else { continue };
            let mut arguments = [0; 13];
            for (argument, text) in arguments.iter_mut().zip(words.split(' ')) {
                *argument = word(text);
            }
            let result = machine.enter(&mut serve, &arguments);
            if !is_expected(expected, &result) {
                failures.push(format!("{name}, {engine:?}: {line}: {result:x?}"));
            }
            entries += 1;
        }
    }
    assert!(entries > 0, "{name}: no entries");
    entries
}

fn is_expected(expected: &str, result: &Result<i32, Fault>) -> bool {
    match (expected.strip_prefix("fault "), result) {
        (Some(expected), Err(fault)) => fault.to_string().starts_with(expected),
        (None, Ok(result)) => *result == word(expected),
        _ => false,
    }
}

/// Modules of a file, with their names.
fn modules(path: &Path) -> Vec<(String, String)> {
    let text = fs::read_to_string(path).expect("readable");
    let file = path.file_name().unwrap().to_string_lossy().into_owned();
    if !text.contains("\n;; module ") {
        return vec![(file, text)];
    }
    let split = text.split("\n;; module ").skip(1);
    let named = split.map(|part| part.split_once('\n').unwrap());
    named.map(|(name, text)| (format!("{file} {name}"), text.to_owned())).collect()
}

#[test]
fn modules_give_their_results_in_each_engine() {
    let (mut entries, mut files, mut failures) = (0, 0, Vec::new());
    for file in fs::read_dir(FOLDER).unwrap() {
        for (name, text) in modules(&file.unwrap().path()) {
            entries += run(&name, &text, &mut failures);
        }
        files += 1;
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
    assert!(files >= 7 && entries >= 180, "{files} files, {entries} entries");
}

#[test]
fn module_works_after_each_fault() {
    let text = fs::read_to_string(Path::new(FOLDER).join("services.asm")).unwrap();
    let (image, _) = image_of(&text);
    for engine in engines(&image) {
        let mut machine = Machine::new(Program::verify(image.clone()).unwrap(), engine).unwrap();
        let mut enter = |words: &[i32]| {
            let mut arguments = [0; 13];
            arguments[..words.len()].copy_from_slice(words);
            machine.enter(&mut serve, &arguments)
        };
        for _ in 0..2000 {
            enter(&[1]).expect_err("error");
            enter(&[2, 8]).expect_err("nested too deep");
        }
        assert_eq!(enter(&[2, 7]), Ok(107), "{engine:?}");
    }
}

/// Real modules are read from the folder that the environment variable `FRAGD_MODULES` names.
#[test]
#[ignore = "needs FRAGD_MODULES, a folder with game modules"]
fn real_modules_are_accepted_and_survive_disassembly() {
    let folder = real_module_folder();
    for game in ["baseq3", "missionpack", "baseoa"] {
        let folder = folder.join(game);
        let mut image = Image::parse(&fs::read(folder.join("qagame.qvm")).expect("module"));
        let image = image.as_mut().expect("valid");
        let program = Program::verify(image.clone());
        let program = program.unwrap_or_else(|error| panic!("{game}: {error}"));
        assert!(program.functions().len() > 500, "{game}");
        let map = fs::read_to_string(folder.join("qagame.map")).unwrap_or_default();
        let text = disassemble(image, &parse_symbol_map(&map), true).expect("decodes");
        let again = assemble(&text).unwrap_or_else(|error| panic!("{game}: {error}")).image;
        // The usual tools pad the code.
        image.code.truncate(again.code.len());
        image.code_offset = 0;
        assert!(again == *image, "{game}");
    }
}

/// Services that game modules need until they parse the entities of the map, of which there are none.
fn serve_start(machine: &mut Machine, call: ServiceCall) -> Result<i32, FaultKind> {
    let [a, b, c, ..] = call.arguments;
    let memory = machine.memory_mut();
    match call.number {
        1 => {
            let text = String::from_utf8_lossy(memory.text(a, 1000)?).into_owned();
            return Err(FaultKind::Module(text));
        }
        // Get a configstring: all are empty.
        19 => memory.write_text(b, c, b"")?,
        // Fill, copy, and copy text.
        100 => memory.bytes_mut(a, c as usize)?.fill(b as u8),
        101 => {
            let bytes = memory.bytes(b, c as usize)?.to_vec();
            memory.bytes_mut(a, c as usize)?.copy_from_slice(&bytes);
        }
        102 => {
            let text = memory.text(b, c as usize)?.to_vec();
            memory.write_text(a, c, &text)?;
        }
        _ => return Ok(0),
    }
    Ok(a)
}

/// Real modules of `FRAGD_MODULES` initialize until they ask for the entities of a map.
#[test]
#[ignore = "needs FRAGD_MODULES, a folder with game modules"]
fn real_modules_initialize_until_map_entities() {
    let folder = real_module_folder();
    for game in ["baseq3", "missionpack", "baseoa"] {
        let folder = folder.join(game);
        let image = Image::parse(&fs::read(folder.join("qagame.qvm")).expect("module"));
        let image = image.expect("valid");
        let map = fs::read_to_string(folder.join("qagame.map")).unwrap_or_default();
        let program = Program::verify_with(image.clone(), Symbols::parse(&map)).expect("verified");
        let faults: Vec<_> = engines(&image)
            .into_iter()
            .map(|engine| {
                let mut machine = Machine::new(program.clone(), engine).expect("prepared");
                let mut arguments = [0; 13];
                arguments[2] = 1234;
                let fault = machine.enter(&mut serve_start, &arguments).expect_err("no entities");
                (fault, machine.remaining_budget())
            })
            .collect();
        assert!(faults.iter().all(|outcome| *outcome == faults[0]), "{game}: {faults:?}");
        let (fault, remaining) = &faults[0];
        assert_eq!(fault.kind, FaultKind::Module("SpawnEntities: no entities".into()), "{game}");
        assert!(fragd::qvm::DEFAULT_BUDGET - remaining < 10_000_000, "{game}");
        if !map.is_empty() {
            assert!(fault.to_string().contains(" in G_Error+"), "{game}: {fault}");
            let trace: Vec<_> = fault.trace().collect();
            assert!(trace[2].starts_with("called by vmMain+"), "{game}: {trace:?}");
        }
    }
}
