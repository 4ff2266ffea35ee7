//! Faults: reasons why an entry into a module ends early, with position and call stack.
//!
//! Invariants: a fault never panics and ends the entry only; the recorded call stack is bounded by
//! [`MAX_TRACE`]. Source: Quake III QVM format.

use std::fmt;

use thiserror::Error;

use super::program::Program;

/// Most callers in the recorded call stack of a fault.
pub const MAX_TRACE: usize = 32;

/// Reason of a fault.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum FaultKind {
    /// Integer division or remainder by zero.
    #[error("division by zero")]
    DivisionByZero,
    /// The target of a call is not the first instruction of a function.
    #[error("invalid call target {0}")]
    CallTarget(i32),
    /// The target of a computed jump is not a jump target of the same function.
    #[error("invalid jump target {0}")]
    JumpTarget(i32),
    /// A range of a block copy passes the end of the block.
    #[error("block copy out of range: {length} bytes from {source_address:#x} to {target:#x}")]
    BlockCopy {
        /// Address of the first byte read.
        source_address: u32,
        /// Address of the first byte written.
        target: u32,
        /// Length, in bytes.
        length: u32,
    },
    /// The program stack is full.
    #[error("program stack overflow")]
    StackOverflow,
    /// Too many function calls are open.
    #[error("call depth exceeds {0}")]
    CallDepth(u32),
    /// Too many entries are open.
    #[error("nested entries exceed {0}")]
    EntryDepth(u32),
    /// The instruction budget of the entry is exhausted.
    #[error("instruction budget exhausted")]
    Budget,
    /// A service was given a range that passes the end of the block.
    #[error("memory range out of bounds: {length} bytes at {address:#x}")]
    Window {
        /// Address of the first byte, after the mask.
        address: u32,
        /// Length, in bytes.
        length: u64,
    },
    /// The host does not provide the service.
    #[error("unknown service {0}")]
    UnknownService(u32),
    /// A service rejected its arguments.
    #[error("service {number}: {reason}")]
    Service {
        /// Number of the service.
        number: u32,
        /// Reason, one line.
        reason: String,
    },
    /// The module reported an error of its own.
    #[error("module error: {0}")]
    Module(String),
    /// An entry made by a service ended with a fault.
    #[error("nested entry: {0}")]
    Nested(Box<Fault>),
}

impl From<Fault> for FaultKind {
    fn from(fault: Fault) -> Self {
        Self::Nested(Box::new(fault))
    }
}

/// A position in the code: instruction number and its function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CodePosition {
    /// Instruction number.
    pub instruction: u32,
    /// Number of the first instruction of the function.
    pub function: u32,
    /// Name of the function, if a symbol file names it.
    pub name: Option<String>,
}

impl fmt::Display for CodePosition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.name {
            Some(name) => f.write_str(name)?,
            None => write!(f, "function {}", self.function)?,
        }
        write!(f, "+{} (instruction {})", self.instruction - self.function, self.instruction)
    }
}

/// A fault with its position. `Display` gives one line; [`Fault::trace`] gives the call stack.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{kind} in {place}")]
pub struct Fault {
    /// Reason.
    pub kind: FaultKind,
    /// Instruction that caused the fault.
    pub place: CodePosition,
    /// Call instructions of the open calls, innermost first; at most [`MAX_TRACE`].
    pub callers: Vec<CodePosition>,
    /// Number of open calls that `callers` omits.
    pub omitted: u32,
}

impl Fault {
    /// Names a fault without open calls.
    pub(super) fn new(kind: FaultKind, program: &Program, instruction: u32) -> Self {
        let place = program.position(instruction);
        Self { kind, place, callers: Vec::new(), omitted: 0 }
    }

    /// Adds the call instruction of the next outer open call.
    pub(super) fn add_caller(&mut self, program: &Program, instruction: u32) {
        if self.callers.len() < MAX_TRACE {
            self.callers.push(program.position(instruction));
        } else {
            self.omitted += 1;
        }
    }

    /// Returns the call stack as one line for each caller, innermost first.
    pub fn trace(&self) -> impl Iterator<Item = String> + '_ {
        let omitted = (self.omitted > 0).then(|| format!("... {} more", self.omitted));
        self.callers.iter().map(|position| format!("called by {position}")).chain(omitted)
    }
}
