//! Interpreter: the reference engine, without `unsafe`.
//!
//! A program is translated once into *steps*. A step is a function pointer with four operands and means
//! one to six instructions. Depths are static in a verified program, so cells of the operand stack are
//! registers with fixed numbers, and loads, constants and addresses are fused into the step that uses them.
//!
//! Invariants: results, faults and charges are those of [`super::Machine`]; entries, calls and services do
//! not allocate. Source: Quake III QVM format.

mod operands;
mod steps;
mod translate;

use std::fmt;

use super::{
    fault::{Fault, FaultKind},
    machine::{MAX_CALLS, Machine, Services},
    program::MAX_DEPTH,
};

/// Step number that leaves the loop; [`State::exit`] says why.
const STOP: u32 = u32::MAX;

/// Runs a step and returns the number of the next one.
type Handler = fn(&mut State<'_>, &FusedStep, u32) -> u32;

/// One to six instructions. The handler defines the meaning of the operands.
#[derive(Clone, Copy)]
struct FusedStep {
    handler: Handler,
    a: u32,
    b: u32,
    c: u32,
    d: u32,
}

/// Code of a program, as steps.
pub(super) struct Code {
    steps: Vec<FusedStep>,
    /// Instruction number of each step, for faults.
    origins: Vec<u32>,
    /// First instruction and first step of each function, sorted.
    functions: Vec<(u32, u32)>,
    /// Steps of targets of computed jumps; [`STOP`] where no jump may go.
    jumps: Vec<u32>,
}

impl fmt::Debug for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Code").field("steps", &self.steps.len()).finish_non_exhaustive()
    }
}

/// An open call.
#[derive(Clone, Copy, Debug)]
struct Return {
    /// Step of the call.
    step: u32,
    /// Cells of the caller that were saved; the result becomes the next one.
    depth: u32,
}

/// Stacks of a machine, shared by its open entries.
#[derive(Debug)]
pub(super) struct Stacks {
    returns: Vec<Return>,
    /// Cells of callers.
    saved: Vec<i32>,
}

impl Default for Stacks {
    fn default() -> Self {
        // Callers rarely keep cells over a call, so `saved` seldom grows.
        Self { returns: Vec::with_capacity(MAX_CALLS as usize), saved: Vec::with_capacity(256) }
    }
}

/// Why the loop of steps ended.
enum Exit {
    /// Service call with its number; the result becomes the cell with the second number.
    Service(u32, u32),
    Fault(FaultKind),
    Result(i32),
}

/// State of a running entry.
struct State<'m> {
    cells: [i32; MAX_DEPTH],
    /// Program stack pointer.
    frame: u32,
    mask: u32,
    stack_limit: u32,
    remaining: u64,
    open_calls: u32,
    /// Block of the module with its slack.
    memory: &'m mut [u8],
    stacks: &'m mut Stacks,
    /// Open calls of outer entries.
    base: usize,
    code: &'m Code,
    exit: Exit,
    /// Step that ended the loop.
    stopped: u32,
}

/// Runs the entry whose frame starts at the program stack pointer.
pub(super) fn run(
    machine: &mut Machine,
    code: &Code,
    services: &mut dyn Services,
) -> Result<i32, Fault> {
    let (base, saved) = (machine.stacks.returns.len(), machine.stacks.saved.len());
    let (mut frame, mut at) = (machine.stack_pointer, 0);
    let mut cells = [0; MAX_DEPTH];
    let result = loop {
        let mut state = State {
            cells,
            frame,
            mask: machine.memory.mask(),
            stack_limit: machine.memory.stack_limit(),
            remaining: machine.remaining,
            open_calls: machine.open_calls,
            memory: machine.memory.block_mut(),
            stacks: &mut machine.stacks,
            base,
            code,
            exit: Exit::Result(0),
            stopped: 0,
        };
        while let Some(step) = code.steps.get(at as usize) {
            at = (step.handler)(&mut state, step, at);
        }
        (cells, frame, at) = (state.cells, state.frame, state.stopped);
        let (exit, remaining, open_calls) = (state.exit, state.remaining, state.open_calls);
        machine.remaining = remaining;
        machine.open_calls = open_calls;
        match exit {
            Exit::Service(number, depth) => match machine.serve(services, number, frame) {
                Ok(value) => cells[depth as usize % MAX_DEPTH] = value,
                Err(kind) => break Err(kind),
            },
            Exit::Fault(kind) => break Err(kind),
            Exit::Result(value) => break Ok(value),
        }
        at += 1;
    };
    let result = result.map_err(|kind| {
        let origin = |step: u32| code.origins.get(step as usize).copied().unwrap_or_default();
        let mut fault = Fault::new(kind, machine.program(), origin(at));
        for call in machine.stacks.returns[base..].iter().rev() {
            fault.add_caller(machine.program(), origin(call.step));
        }
        fault
    });
    machine.stacks.returns.truncate(base);
    machine.stacks.saved.truncate(saved);
    result
}
