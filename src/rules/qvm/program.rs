//! Verified programs: decoded instructions, functions, and the depth of the operand stack at each.
//!
//! A function reaches from its *enter* to the next one. Depth is 0 after *enter*. An instruction behind a
//! *jump* or *leave* has the depth that an earlier branch to it gives, otherwise 0. A `const` directly
//! before a *jump* or *call* that no branch targets makes a constant target, checked here. Other jumps are
//! computed: they may reach targets of depth 0 in the same function that the jump table lists. An image
//! without a jump table lists them as words of its initialized data.
//!
//! Invariants: verification takes linear time; every instruction has one depth, at most [`MAX_DEPTH`]; no
//! path underflows, falls into the next function or branches out of its function; *leave* has the frame
//! size of *enter* and exactly one cell. Source: Quake III QVM format.

use std::sync::Arc;

use super::{
    fault::CodePosition,
    image::{Image, MAX_BLOCK},
    opcode::Opcode,
    symbols::Symbols,
    verifier::{self, VerifyError},
};

/// Most cells on the operand stack of one function. Compilers of the format use 8.
pub const MAX_DEPTH: usize = 64;
/// Largest frame of a function, in bytes: the largest memory block. *enter* checks the room of the program stack.
pub const MAX_FRAME: i32 = MAX_BLOCK as i32;

/// A decoded instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Instruction {
    /// Operation.
    pub opcode: Opcode,
    /// Operand, 0 if the operation has none.
    pub operand: i32,
}

/// A function of a verified program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Function {
    /// Instruction number of its *enter*.
    pub start: u32,
    /// Number behind its last instruction.
    pub end: u32,
    /// Frame size, in bytes: not negative, a multiple of 4.
    pub frame: u32,
    /// Most cells on its operand stack.
    pub max_depth: u8,
    /// Whether it has a computed jump.
    pub has_computed_jump: bool,
}

/// A branch or a constant jump leads to the instruction.
pub(super) const BRANCH_TARGET: u8 = 1;
/// A computed jump of the function may lead to the instruction.
pub(super) const JUMP_TARGET: u8 = 2;
/// The *jump* or *call* takes the operand of the `const` before it.
pub(super) const CONSTANT_TARGET: u8 = 4;

/// A verified program.
#[derive(Debug)]
pub struct Program {
    pub(super) image: Image,
    pub(super) symbols: Symbols,
    pub(super) instructions: Vec<Instruction>,
    /// File offset of each instruction, in bytes.
    pub(super) offsets: Vec<u32>,
    /// Cells on the operand stack before each instruction.
    pub(super) depths: Vec<u8>,
    pub(super) flags: Vec<u8>,
    /// Sorted by start.
    pub(super) functions: Vec<Function>,
}

impl Program {
    /// Verifies an image without symbols.
    pub fn verify(image: Image) -> Result<Arc<Self>, VerifyError> {
        Self::verify_with(image, Symbols::default())
    }

    /// Verifies an image. Symbols name the functions in errors and faults.
    pub fn verify_with(image: Image, symbols: Symbols) -> Result<Arc<Self>, VerifyError> {
        verifier::verify(image, symbols).map(Arc::new)
    }

    /// Returns the program without its instructions: what memory and faults of a machine need.
    pub(super) fn without_code(&self) -> Self {
        Self {
            image: Image {
                code: Vec::new(),
                data: self.image.data.clone(),
                literals: self.image.literals.clone(),
                jump_table: None,
                ..self.image
            },
            symbols: self.symbols.clone(),
            functions: self.functions.clone(),
            instructions: Vec::new(),
            offsets: Vec::new(),
            depths: Vec::new(),
            flags: Vec::new(),
        }
    }

    /// Image of the program.
    pub fn image(&self) -> &Image {
        &self.image
    }

    /// Symbols of the program; empty without a symbol file.
    pub fn symbols(&self) -> &Symbols {
        &self.symbols
    }

    /// Every instruction, at the index of its number.
    pub fn instructions(&self) -> &[Instruction] {
        &self.instructions
    }

    /// Every function, sorted by start. The first one is the entry function.
    pub fn functions(&self) -> &[Function] {
        &self.functions
    }

    /// Offset of an instruction in the file, in bytes.
    pub fn file_offset(&self, instruction: u32) -> Option<u32> {
        self.offsets.get(instruction as usize).copied()
    }

    /// Cells on the operand stack before an instruction.
    pub fn depth(&self, instruction: u32) -> usize {
        self.depths.get(instruction as usize).copied().map_or(0, usize::from)
    }

    /// Returns whether a basic block starts at the instruction because a branch or jump leads to it.
    pub fn is_target(&self, instruction: u32) -> bool {
        self.has_flag(instruction, BRANCH_TARGET | JUMP_TARGET)
    }

    /// Returns whether a computed jump of the same function may lead to the instruction.
    pub fn is_jump_target(&self, instruction: u32) -> bool {
        self.has_flag(instruction, JUMP_TARGET)
    }

    fn has_flag(&self, instruction: u32, flag: u8) -> bool {
        self.flags.get(instruction as usize).is_some_and(|flags| flags & flag != 0)
    }

    /// Returns the constant target of a *jump* or *call*: the operand of the `const` before it.
    pub fn constant_target(&self, instruction: u32) -> Option<i32> {
        let before = instruction.checked_sub(1)?;
        let is_constant = self.has_flag(instruction, CONSTANT_TARGET);
        is_constant.then(|| self.instructions[before as usize].operand)
    }

    /// Returns the index in [`Program::functions`] of the function of an instruction.
    pub fn function_index(&self, instruction: u32) -> usize {
        self.functions.partition_point(|function| function.start <= instruction).saturating_sub(1)
    }

    /// Returns the index of the function that starts at an instruction.
    pub fn function_at(&self, start: i32) -> Option<usize> {
        let start = u32::try_from(start).ok()?;
        self.functions.binary_search_by_key(&start, |function| function.start).ok()
    }

    /// Returns whether a computed jump in the function with an index may go to a target.
    pub fn allows_jump(&self, function: usize, target: i32) -> bool {
        let Some(function) = self.functions.get(function) else { return false };
        u32::try_from(target).is_ok_and(|target| {
            (function.start..function.end).contains(&target) && self.is_jump_target(target)
        })
    }

    /// Names the position of an instruction.
    pub fn position(&self, instruction: u32) -> CodePosition {
        let function = self.functions[self.function_index(instruction)].start;
        let name = self.symbols.function(function).map(str::to_owned);
        CodePosition { instruction, function, name }
    }
}
