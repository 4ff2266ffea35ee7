//! Game module role (`fragd qvm`): verify, assemble, list, run and compare.

mod compare;
mod run;

use std::{collections::BTreeSet, fs, io::Read as _, path::Path, sync::Arc, time::Instant};

use fragd::{
    cli::{AsmOptions, CheckOptions, DisasmOptions, ExitStatus, ModuleFile, QvmOptions, QvmTask},
    model::text::counted,
    qvm::{
        Image, Label, MAX_FILE, Opcode, Program, Symbols, assemble, disassemble, parse_symbol_map,
    },
};
use serde_json::json;

use super::output;

/// Runs a task.
pub(crate) fn run(options: &QvmOptions) -> ExitStatus {
    let result = match &options.task {
        QvmTask::Check(options) => return check(options),
        QvmTask::Run(options) => return run::run(options),
        QvmTask::Compare(options) => return compare::run(options),
        QvmTask::Asm(options) => asm(options),
        QvmTask::Disasm(options) => disasm(options),
    };
    match result {
        Ok(text) => output::show(&text, ExitStatus::Done),
        Err(what) => {
            eprintln!("fragd: {what}");
            ExitStatus::Failed
        }
    }
}

/// A module that was read, not verified.
struct Module {
    image: Image,
    labels: Vec<Label>,
    symbols: Symbols,
}

/// Reads a file of bounded length.
fn read(path: &Path) -> Result<Vec<u8>, String> {
    let failed = |error| format!("{}: not readable: {error}", path.display());
    let mut bytes = Vec::new();
    let file = fs::File::open(path).map_err(failed)?;
    file.take(MAX_FILE as u64 + 1).read_to_end(&mut bytes).map_err(failed)?;
    Ok(bytes)
}

fn read_text(path: &Path) -> Result<String, String> {
    String::from_utf8(read(path)?).map_err(|_| format!("{}: not UTF-8 text", path.display()))
}

impl Module {
    fn read(module: &ModuleFile) -> Result<Self, String> {
        let file = module.file.display();
        let is_text = module.file.extension().is_some_and(|extension| extension == "asm");
        let (image, own) = if is_text {
            let text = read_text(&module.file)?;
            let assembly = assemble(&text).map_err(|error| format!("{file}: {error}"))?;
            let map = assembly.symbol_map();
            // Numbers of errors then refer to the image that `asm` writes.
            let mut bytes = Vec::new();
            assembly.image.write(&mut bytes);
            (Image::parse(&bytes).map_err(|error| format!("{file}: {error}"))?, map)
        } else {
            let bytes = read(&module.file)?;
            (Image::parse(&bytes).map_err(|error| format!("{file}: {error}"))?, String::new())
        };
        let map = match &module.map {
            Some(path) => String::from_utf8_lossy(&read(path)?).into_owned(),
            None => own,
        };
        Ok(Self { image, labels: parse_symbol_map(&map), symbols: Symbols::parse(&map) })
    }

    fn verify(self, module: &ModuleFile) -> Result<Arc<Program>, String> {
        Program::verify_with(self.image, self.symbols)
            .map_err(|error| format!("{}: {error}", module.file.display()))
    }
}

fn check(options: &CheckOptions) -> ExitStatus {
    let start = Instant::now();
    let checked = Module::read(&options.module).and_then(|module| module.verify(&options.module));
    let ms = start.elapsed().as_secs_f64() * 1000.0;
    let text = match &checked {
        Ok(program) if options.json => format!("{:#}\n", facts(program, ms)),
        Ok(program) => summary(program, ms),
        Err(what) if options.json => format!("{:#}\n", json!({ "valid": false, "error": what })),
        Err(what) => {
            eprintln!("fragd: {what}");
            String::new()
        }
    };
    output::show(&text, if checked.is_ok() { ExitStatus::Done } else { ExitStatus::Failed })
}

/// Numbers of the services with a constant call.
fn services(program: &Program) -> BTreeSet<u32> {
    let calls = program.instructions().iter().zip(0..);
    let calls = calls.filter(|(instruction, _)| instruction.opcode == Opcode::Call);
    let targets = calls.filter_map(|(_, number)| program.constant_target(number));
    targets.filter(|target| *target < 0).map(|target| !target as u32).collect()
}

fn facts(program: &Program, ms: f64) -> serde_json::Value {
    let image = program.image();
    let functions = program.functions();
    json!({
        "valid": true,
        "version": if image.jump_table.is_some() { 2 } else { 1 },
        "instructions": program.instructions().len(),
        "functions": functions.len(),
        "functions_with_computed_jumps":
            functions.iter().filter(|function| function.has_computed_jump).count(),
        "max_operand_stack": functions.iter().map(|function| function.max_depth).max(),
        "max_frame_bytes": functions.iter().map(|function| function.frame).max(),
        "code_bytes": image.code.len(),
        "data_bytes": image.data.len(),
        "literal_bytes": image.literals.len(),
        "zero_bytes": image.zero_length,
        "memory_bytes": image.block_size(),
        "jump_table": image.jump_table.as_ref().map(Vec::len),
        "services": services(program),
        "verify_ms": (ms * 100.0).round() / 100.0,
    })
}

fn summary(program: &Program, ms: f64) -> String {
    let image = program.image();
    let functions = program.functions();
    let depth = functions.iter().map(|function| function.max_depth).max().unwrap_or(0);
    let mut text = format!(
        "valid, version {}, verified in {ms:.1} ms\n\
         code      {} in {}, {}, operand stack of {}\n\
         memory    {}: {} data, {} literals, {} zero\n",
        if image.jump_table.is_some() { 2 } else { 1 },
        counted(program.instructions().len(), "instruction"),
        counted(functions.len(), "function"),
        counted(image.code.len(), "byte"),
        counted(depth, "cell"),
        counted(image.block_size(), "byte"),
        image.data.len(),
        image.literals.len(),
        image.zero_length,
    );
    let services: Vec<_> = services(program)
        .into_iter()
        .map(|number| match program.symbols().service(number) {
            Some(name) => format!("{number} {name}"),
            None => number.to_string(),
        })
        .collect();
    text += &format!("services  {}\n", services.join(", "));
    text
}

/// Writes the image and its symbol map. Nothing is printed.
fn asm(options: &AsmOptions) -> Result<String, String> {
    let source = options.source.display();
    let text = read_text(&options.source)?;
    let assembly = assemble(&text).map_err(|error| format!("{source}: {error}"))?;
    let map = assembly.symbol_map();
    let mut bytes = Vec::new();
    assembly.image.write(&mut bytes);
    if !options.unverified {
        let image = Image::parse(&bytes).map_err(|error| format!("{source}: {error}"))?;
        Program::verify_with(image, Symbols::parse(&map))
            .map_err(|error| format!("{source}: {error}; write the image with --unverified"))?;
    }
    let output = options.output.clone().unwrap_or(options.source.with_extension("qvm"));
    let symbols = output.with_extension("map");
    output::keep_source(&options.source, &output)?;
    output::keep_source(&options.source, &symbols)?;
    if symbols == output {
        return Err(format!("{}: extension of the symbol map (expected .qvm)", output.display()));
    }
    output::write_file(&output, &bytes)?;
    output::write_file(&symbols, map.as_bytes()).map(|()| String::new())
}

/// Writes the listing to the file that the options name, or returns it.
fn disasm(options: &DisasmOptions) -> Result<String, String> {
    if let Some(path) = &options.output {
        let sources = [Some(&options.module.file), options.module.map.as_ref()];
        sources.into_iter().flatten().try_for_each(|source| output::keep_source(source, path))?;
    }
    let module = Module::read(&options.module)?;
    let text = disassemble(&module.image, &module.labels, options.numbers)
        .map_err(|error| format!("{}: {error}", options.module.file.display()))?;
    match &options.output {
        Some(path) => output::write_file(path, text.as_bytes()).map(|()| String::new()),
        None => Ok(text),
    }
}
