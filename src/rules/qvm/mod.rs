//! Game modules as QVM bytecode: loader, verifier, memory, engines, symbols.
//!
//! ```text
//! .qvm file -> Image -> Program (verified) -> Machine -> enter(13 words) -> result or Fault
//!                                               |
//!                                               +-- Services: calls of the module to the host
//! ```
//!
//! What the format leaves undefined has one result in every engine:
//!
//! * Integer division by zero is a fault. The least integer / -1 is itself, with remainder 0.
//! * Shifts use the low 5 bits of the count.
//! * Float to integer out of range, and NaN, give 0x80000000.
//! * Float arithmetic rounds each operation to single precision. A NaN result is 0x7fc00000.
//! * *push* adds a cell with content 0. Return places are not stored in memory.
//!
//! Invariants: images, programs and arguments are hostile; memory, work and call depth are bounded; nothing
//! panics. The module imports no other module. Source: Quake III QVM format.

mod assembler;
#[cfg(feature = "compiler")]
mod compiler;
mod disassembler;
mod fault;
mod fixed_random;
mod image;
mod interpreter;
mod library;
mod machine;
mod memory;
mod opcode;
#[cfg(test)]
mod plain;
mod program;
#[cfg(any(test, feature = "testing"))]
pub mod random;
mod symbols;
#[cfg(test)]
mod tests;
mod verifier;

pub use assembler::{
    AssembleError, Assembly, DEFAULT_STACK_LEN, Label, MAX_SECTION_LEN, MAX_TEXT_LEN, Section,
    assemble, parse_symbol_map,
};
#[cfg(feature = "compiler")]
pub use compiler::{CompileError, MAX_NATIVE_FRAME};
pub use disassembler::{DisassembleError, disassemble};
pub use fault::{CodePosition, Fault, FaultKind, MAX_TRACE};
pub use image::{Image, ImageError, MAX_BLOCK, MAX_FILE, MAX_INSTRUCTIONS};
pub use machine::{
    DEFAULT_BUDGET, ENTRY_ARGUMENTS, Engine, EngineError, Executable, MAX_CALLS, MAX_ENTRIES,
    Machine, SERVICE_ARGUMENTS, ServiceCall, Services,
};
pub use memory::{Memory, SLACK, STACK_SIZE};
pub use opcode::{OPERATIONS, Opcode, OperandKind, Operation};
pub use program::{Function, Instruction, MAX_DEPTH, MAX_FRAME, Program};
pub use symbols::Symbols;
pub use verifier::{VerifyError, VerifyReason};
