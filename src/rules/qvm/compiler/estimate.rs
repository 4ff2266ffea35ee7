//! Estimate of the work of compiling a program, which bounds its time.
//!
//! Passes of the code generator take longer than in proportion to the blocks of a function. So the estimate counts the
//! blocks of each function, and large functions count more.
//! Invariant: the estimate itself is linear in the program.

use super::CompileError;
use crate::qvm::{
    opcode::Opcode,
    program::{Function, Program},
};

/// Most units of work for a program. Known modules need 200,000 at most, which take half a second.
pub(super) const MAX_WORK: u64 = 600_000;
/// Units of a function that double the price of a unit.
const LARGE_FUNCTION: u64 = 4096;
/// Instructions that take as long as a block.
const INSTRUCTIONS_PER_BLOCK: u64 = 4;
/// Units of a function without instructions.
const FUNCTION: u64 = 16;

/// Refuses a program whose estimate exceeds the limit.
pub(super) fn check(program: &Program) -> Result<(), CompileError> {
    let (work, max) = (work(program), MAX_WORK);
    if work > max { Err(CompileError::Work { work, max }) } else { Ok(()) }
}

/// Units of work for a program.
pub(super) fn work(program: &Program) -> u64 {
    let functions = program.functions().iter();
    let units = functions.map(|function| units(program, function));
    units.fold(0, |sum, units| {
        sum.saturating_add(units.saturating_add(units.saturating_mul(units) / LARGE_FUNCTION))
    })
}

/// Blocks of a function, about.
fn units(program: &Program, function: &Function) -> u64 {
    let range = function.start..function.end;
    let of_instructions: u64 = range.clone().map(|at| blocks(program, at)).sum();
    let of_targets = if function.has_computed_jump {
        range.clone().map(|at| if program.is_jump_target(at) { 6 } else { 1 }).sum()
    } else {
        0
    };
    let length = range.len() as u64;
    FUNCTION + length / INSTRUCTIONS_PER_BLOCK + of_instructions + of_targets
}

/// Blocks of an instruction.
fn blocks(program: &Program, at: u32) -> u64 {
    let opcode = program.instructions()[at as usize].opcode;
    let own = match opcode {
        Opcode::Call if program.constant_target(at).is_some() => 3,
        // Its time grows with the square of their number; known modules have five in a function.
        Opcode::Call => 60,
        Opcode::BlockCopy => 6,
        Opcode::Divi | Opcode::Divu | Opcode::Modi | Opcode::Modu => 4,
        opcode if opcode.is_branch() => 4,
        _ => 0,
    };
    own + u64::from(program.is_target(at))
}
