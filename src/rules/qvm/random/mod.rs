//! Random verified programs, and the outcome of a run, for differential tests between engines.
//!
//! A program comes from choices: bytes of a fuzzer, then a seeded generator. It has functions with locals,
//! loops, conditional expressions, recursion, computed jumps and calls, services, and wild addresses.
//!
//! Invariants: every program passes the verifier; the same choices give the same program. Source: Quake III
//! QVM format.

mod expressions;
mod statements;

#[cfg(test)]
mod tests;

use std::sync::Arc;

use super::{
    fault::{Fault, FaultKind},
    image::Image,
    machine::{ENTRY_ARGUMENTS, Engine, Machine, ServiceCall},
    opcode::Opcode,
    program::Program,
};

/// Instructions from which no further statements are added.
const ENOUGH: usize = 600;

/// Bytes of a frame below its locals: two words of the call and four arguments.
const LOCALS: i32 = 24;

/// Source of decisions: given bytes, then a generator.
#[derive(Clone, Debug)]
pub struct Choices<'a> {
    bytes: &'a [u8],
    state: u64,
}

impl<'a> Choices<'a> {
    /// Takes decisions from bytes. The generator behind them starts from their number.
    #[must_use]
    pub const fn from_bytes(bytes: &'a [u8]) -> Self {
        Self { bytes, state: bytes.len() as u64 }
    }

    /// Takes all decisions from a generator.
    #[must_use]
    pub const fn from_seed(seed: u64) -> Self {
        Self { bytes: &[], state: seed }
    }

    /// Returns 32 bits of the generator (SplitMix64), or a byte of the input.
    fn next(&mut self) -> u32 {
        if let Some((&byte, rest)) = self.bytes.split_first() {
            self.bytes = rest;
            return u32::from(byte);
        }
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.state;
        mixed = (mixed ^ mixed >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed >> 32) as u32
    }

    /// Returns a number below a limit.
    fn below(&mut self, limit: usize) -> usize {
        self.next() as usize % limit
    }

    fn pick<T: Copy>(&mut self, items: &[T]) -> T {
        items[self.below(items.len())]
    }

    fn word(&mut self) -> i32 {
        let bytes = [0; 4].map(|_: u8| self.next() as u8);
        i32::from_le_bytes(bytes)
    }
}

/// Place that a branch leads to, known later.
type Label = usize;

/// State of the generator.
struct Generator<'c, 'b> {
    choices: &'c mut Choices<'b>,
    code: Vec<(Opcode, i32)>,
    /// Instruction of each label.
    labels: Vec<u32>,
    /// Instructions whose operand is a label.
    fixups: Vec<(usize, Label)>,
    /// Words of the data segment that are labels.
    words: Vec<(usize, Label)>,
    data: Vec<i32>,
    /// Labels of all functions.
    functions: Vec<Label>,
    /// Number of functions that are placed, with the current one.
    placed: usize,
    /// Frame size of the function.
    frame: i32,
}

/// Returns a random program that passes the verifier.
#[must_use]
pub fn random_image(choices: &mut Choices<'_>) -> Image {
    let mut generator = Generator {
        choices,
        code: Vec::new(),
        labels: Vec::new(),
        fixups: Vec::new(),
        words: Vec::new(),
        data: vec![0; 4],
        functions: Vec::new(),
        placed: 0,
        frame: 0,
    };
    let count = 1 + generator.choices.below(6);
    generator.functions = (0..count).map(|_| generator.label()).collect();
    for index in 0..count {
        let place = generator.data.len();
        generator.words.push((place, generator.functions[index]));
        generator.data.push(0);
    }
    for index in 0..count {
        generator.function(index);
    }
    generator.finish()
}

impl Generator<'_, '_> {
    fn emit(&mut self, opcode: Opcode, operand: i32) {
        self.code.push((opcode, operand));
    }

    fn plain(&mut self, opcode: Opcode) {
        self.emit(opcode, 0);
    }

    fn label(&mut self) -> Label {
        self.labels.push(0);
        self.labels.len() - 1
    }

    fn place(&mut self, label: Label) {
        self.labels[label] = self.code.len() as u32;
    }

    fn emit_label(&mut self, opcode: Opcode, label: Label) {
        self.fixups.push((self.code.len(), label));
        self.emit(opcode, 0);
    }

    fn function(&mut self, index: usize) {
        let label = self.functions[index];
        self.place(label);
        self.placed = index + 1;
        let sizes = [0, 4, 8, 16, 32, 64];
        self.frame = LOCALS + self.choices.pick(&sizes);
        if self.choices.below(200) == 0 {
            self.frame = 4 * self.choices.below(16_384) as i32;
        }
        self.emit(Opcode::Enter, self.frame);
        for _ in 0..=self.choices.below(5) {
            self.statement(3);
        }
        self.expression(3);
        self.emit(Opcode::Leave, self.frame);
    }

    fn finish(mut self) -> Image {
        for (at, label) in self.fixups {
            self.code[at].1 = self.labels[label] as i32;
        }
        for (at, label) in &self.words {
            self.data[*at] = self.labels[*label] as i32;
        }
        let mut image = Image {
            instruction_count: self.code.len() as u32,
            zero_length: self.choices.pick(&[65_536, 65_536, 100_000, 200_000, 1000]),
            ..Image::default()
        };
        for (opcode, operand) in self.code {
            image.code.push(opcode as u8);
            let length = opcode.operation().operand.length();
            image.code.extend(&operand.to_le_bytes()[..length]);
        }
        image.data = self.data.iter().flat_map(|word| word.to_le_bytes()).collect();
        image.literals = (0..self.choices.below(64)).map(|_| self.choices.next() as u8).collect();
        if self.choices.below(3) == 0 {
            let words = self.words.iter().map(|(_, label)| self.labels[*label]);
            image.jump_table = Some(words.collect());
        }
        image
    }
}

/// Effects of a run that all engines share.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// Results of the entries, in order.
    pub results: Vec<Result<i32, Fault>>,
    /// Rest of the budget behind each entry.
    pub budgets: Vec<u64>,
    /// First calls of services, up to a limit.
    pub calls: Vec<ServiceCall>,
    /// Memory block at the end.
    pub block: Vec<u8>,
}

/// Most service calls of an outcome.
const MAX_CALLS_KEPT: usize = 1000;

/// Enters a program a few times and returns the outcome. `None` if the engine is not available.
pub fn outcome(program: &Arc<Program>, engine: Engine, budget: u64) -> Option<Outcome> {
    let mut machine = Machine::new(program.clone(), engine).ok()?;
    machine.set_budget(budget);
    let mut calls = Vec::new();
    let (mut results, mut budgets) = (Vec::new(), Vec::new());
    for entry in 0..4 {
        let mut arguments = [entry; ENTRY_ARGUMENTS];
        arguments[2] = i32::MIN;
        arguments[3] = 2.5f32.to_bits() as i32;
        let mut services = Recorder { calls: &mut calls };
        results.push(machine.enter(&mut services, &arguments));
        budgets.push(machine.remaining_budget());
        if entry == 2 {
            machine.reset();
        }
    }
    let block = machine.memory().block().to_vec();
    Some(Outcome { results, budgets, calls, block })
}

/// Services that depend on nothing but their arguments and memory.
struct Recorder<'a> {
    calls: &'a mut Vec<ServiceCall>,
}

impl super::machine::Services for Recorder<'_> {
    fn call(&mut self, machine: &mut Machine, call: ServiceCall) -> Result<i32, FaultKind> {
        if self.calls.len() < MAX_CALLS_KEPT {
            self.calls.push(call);
        }
        let [first, second, ..] = call.arguments;
        match call.number {
            // A sum in which the place of an argument counts.
            0 => Ok(call
                .arguments
                .iter()
                .fold(0, |sum: i32, word| sum.wrapping_mul(31).wrapping_add(*word))),
            1 => machine.memory_mut().set_i32(first, second).map(|()| 1),
            2 => {
                let mut arguments = [0; ENTRY_ARGUMENTS];
                arguments.copy_from_slice(&call.arguments[..ENTRY_ARGUMENTS]);
                Ok(machine.enter(self, &arguments)?)
            }
            3 if first & 63 == 1 => Err(FaultKind::Module("asked for".to_owned())),
            3 => Ok(machine.entry_depth() as i32),
            number => Err(FaultKind::UnknownService(number)),
        }
    }
}
