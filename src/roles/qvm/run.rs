//! One entry into a module with a few services (`fragd qvm run`).

use std::{collections::BTreeMap, io::Write as _, time::Instant};

use fragd::{
    cli::{EngineChoice, ExitStatus, RunOptions},
    qvm::{Engine, Fault, FaultKind, Machine, ServiceCall, Services},
};
use serde_json::json;

use super::{
    Module,
    output::{Output, printable},
};

/// Maximum length of a printed text, in bytes.
const MAX_TEXT: usize = 8192;

/// Maximum length of all printed texts that are kept for JSON, in bytes.
const MAX_OUTPUT: usize = 1 << 20;

/// Services of `run`: print and error.
struct Console {
    /// Whether unknown services return 0.
    stub: bool,
    /// Whether texts are kept instead of printed, and calls are counted.
    keeps: bool,
    kept: String,
    output: Output,
    calls: BTreeMap<u32, u64>,
}

impl Services for Console {
    fn call(&mut self, machine: &mut Machine, call: ServiceCall) -> Result<i32, FaultKind> {
        if self.keeps {
            *self.calls.entry(call.number).or_default() += 1;
        }
        let [address, ..] = call.arguments;
        match call.number {
            0 => {
                let text = String::from_utf8_lossy(machine.memory().text(address, MAX_TEXT)?);
                if !self.keeps {
                    let _ = self.output.write_all(printable(&text).as_bytes());
                    let _ = self.output.flush();
                } else if self.kept.len() < MAX_OUTPUT {
                    self.kept += &text;
                }
                Ok(0)
            }
            1 => {
                let text = machine.memory().text(address, MAX_TEXT)?;
                Err(FaultKind::Module(String::from_utf8_lossy(text).trim_end().to_owned()))
            }
            _ if self.stub => Ok(0),
            number => Err(FaultKind::UnknownService(number)),
        }
    }
}

/// Enters a module once.
pub(super) fn run(options: &RunOptions) -> ExitStatus {
    let engine = match options.engine {
        EngineChoice::Interpreter => Engine::Interpreter,
        EngineChoice::Compiled => Engine::Compiled,
    };
    let machine = Module::read(&options.module)
        .and_then(|module| module.verify(&options.module))
        .and_then(|program| Machine::new(program, engine).map_err(|error| error.to_string()));
    let mut machine = match machine {
        Ok(machine) => machine,
        Err(what) => {
            eprintln!("fragd: {what}");
            return ExitStatus::Failed;
        }
    };
    machine.set_budget(options.budget);
    let mut words = [0; 13];
    for (word, given) in words.iter_mut().zip(&options.words) {
        *word = *given;
    }
    let mut console = Console {
        stub: options.stub,
        keeps: options.json,
        kept: String::new(),
        output: Output::new(),
        calls: BTreeMap::new(),
    };
    let start = Instant::now();
    let result = machine.enter(&mut console, &words);
    let ms = start.elapsed().as_secs_f64() * 1000.0;
    let charged = options.budget - machine.remaining_budget();
    if options.json {
        let calls: serde_json::Map<_, _> = console
            .calls
            .iter()
            .map(|(number, count)| (number.to_string(), json!(count)))
            .collect();
        let facts = json!({
            "result": result.as_ref().ok(),
            "fault": result.as_ref().err().map(fault),
            "output": console.kept,
            "instructions_charged": charged,
            "services": calls,
            "ms": (ms * 1000.0).round() / 1000.0,
        });
        console.output.line(format_args!("{facts:#}"));
    } else {
        match &result {
            Ok(value) => {
                console.output.line(format_args!(
                    "result {value}, {charged} instructions charged, {ms:.3} ms"
                ));
            }
            Err(fault) => {
                eprintln!("fragd: {}: {}", options.module.file.display(), printable(fault));
                fault.trace().for_each(|line| eprintln!("  {}", printable(line)));
            }
        }
    }
    console.output.end(if result.is_ok() { ExitStatus::Done } else { ExitStatus::Failed })
}

fn fault(fault: &Fault) -> serde_json::Value {
    json!({
        "message": fault.kind.to_string(),
        "instruction": fault.place.instruction,
        "function": fault.place.name.clone().unwrap_or(fault.place.function.to_string()),
        "callers": fault.trace().collect::<Vec<_>>(),
    })
}
