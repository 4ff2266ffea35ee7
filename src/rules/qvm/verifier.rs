//! Verifier: checks a whole program before its first instruction runs.
//!
//! Invariants: linear time and memory in the number of instructions; an error names instruction, file
//! offset, function and reason. The rules are those of [`Program`]. Source: Quake III QVM format.

use thiserror::Error;

use super::{
    fault::CodePosition,
    image::Image,
    opcode::{Opcode, OperandKind},
    program::{
        BRANCH_TARGET, CONSTANT_TARGET, Function, Instruction, JUMP_TARGET, MAX_DEPTH, MAX_FRAME,
        Program,
    },
    symbols::Symbols,
};

/// Reason to reject a program.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum VerifyReason {
    /// The code ends before the last instruction.
    #[error("code truncated")]
    Truncated,
    /// The operation does not exist.
    #[error("unknown operation {0}")]
    Opcode(u8),
    /// The program does not start with *enter*.
    #[error("first instruction is not enter")]
    NoEntry,
    /// The frame size is negative, too large or not a multiple of 4.
    #[error("invalid frame size {0} (expected a multiple of 4, max {MAX_FRAME})")]
    Frame(i32),
    /// *leave* and *enter* of a function differ.
    #[error("leave {leave} differs from enter {enter}")]
    FrameMismatch {
        /// Operand of *leave*.
        leave: i32,
        /// Operand of *enter*.
        enter: i32,
    },
    /// Execution would continue in the next function.
    #[error("function ends without leave or jump")]
    FallThrough,
    /// A branch or constant jump leads out of its function.
    #[error("target {0} is outside the function")]
    Target(i32),
    /// A constant call target is not the start of a function.
    #[error("call target {0} is not a function")]
    CallTarget(i32),
    /// The operation needs more cells than the operand stack has.
    #[error("operand stack underflow: {0} cells")]
    Underflow(usize),
    /// The operand stack exceeds [`MAX_DEPTH`].
    #[error("operand stack overflow (max {MAX_DEPTH} cells)")]
    Overflow,
    /// Two paths reach an instruction with different depths.
    #[error("operand stack differs between paths: {first} and {second} cells")]
    DepthMismatch {
        /// Depth of the first path.
        first: usize,
        /// Depth of the other path.
        second: usize,
    },
    /// *leave* with other than one cell.
    #[error("leave with {0} cells on the operand stack (expected 1)")]
    LeaveDepth(usize),
    /// A computed jump with cells left on the operand stack.
    #[error("computed jump with {0} cells on the operand stack (expected 0)")]
    JumpDepth(usize),
    /// A negative block copy.
    #[error("invalid length of block copy: {0}")]
    BlockCopy(i32),
}

/// A rejected program, with the position.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{reason} at {place}, file offset {file_offset}")]
pub struct VerifyError {
    /// Reason.
    pub reason: VerifyReason,
    /// Instruction and function.
    pub place: CodePosition,
    /// Offset of the instruction in the file, in bytes.
    pub file_offset: u32,
}

/// Depth of an instruction that no path has reached yet.
const UNKNOWN: u8 = u8::MAX;

type Checked<T> = Result<T, (u32, VerifyReason)>;

pub(super) fn verify(image: Image, symbols: Symbols) -> Result<Program, VerifyError> {
    let mut program = Program {
        image,
        symbols,
        instructions: Vec::new(),
        offsets: Vec::new(),
        depths: Vec::new(),
        flags: Vec::new(),
        functions: Vec::new(),
    };
    match check(&mut program) {
        Ok(()) => Ok(program),
        Err((instruction, reason)) => Err(VerifyError {
            reason,
            place: if program.functions.is_empty() {
                CodePosition { instruction, function: 0, name: None }
            } else {
                program.position(instruction)
            },
            file_offset: program.file_offset(instruction).unwrap_or_default(),
        }),
    }
}

fn check(program: &mut Program) -> Checked<()> {
    let decoded = decode(program);
    // Functions before a decoding error name its position.
    if decoded.is_ok() || !program.instructions.is_empty() {
        find_functions(program)?;
    }
    decoded?;
    program.depths = vec![UNKNOWN; program.instructions.len()];
    program.flags = vec![0; program.instructions.len()];
    mark_targets(program)?;
    for index in 0..program.functions.len() {
        check_function(program, index)?;
    }
    mark_jump_targets(program);
    Ok(())
}

/// Decodes the code segment. An error leaves the offset of the instruction that does not decode.
fn decode(program: &mut Program) -> Checked<()> {
    let image = &program.image;
    let mut at = 0;
    for number in 0..image.instruction_count {
        program.offsets.push(image.code_offset.saturating_add(at as u32));
        let byte = *image.code.get(at).ok_or((number, VerifyReason::Truncated))?;
        let opcode = Opcode::from_number(byte).filter(|opcode| *opcode != Opcode::Undefined);
        let opcode = opcode.ok_or((number, VerifyReason::Opcode(byte)))?;
        let kind = opcode.operation().operand;
        let end = at + 1 + kind.length();
        let operand = match (kind, image.code.get(at + 1..end)) {
            (OperandKind::None, Some(_)) => 0,
            (OperandKind::Byte, Some(&[byte])) => i32::from(byte),
            (OperandKind::Word, Some(&[a, b, c, d])) => i32::from_le_bytes([a, b, c, d]),
            _ => return Err((number, VerifyReason::Truncated)),
        };
        program.instructions.push(Instruction { opcode, operand });
        at = end;
    }
    Ok(())
}

fn find_functions(program: &mut Program) -> Checked<()> {
    let instructions = &program.instructions;
    if instructions.first().is_none_or(|first| first.opcode != Opcode::Enter) {
        return Err((0, VerifyReason::NoEntry));
    }
    for (number, instruction) in instructions.iter().enumerate() {
        if instruction.opcode != Opcode::Enter {
            continue;
        }
        let frame = instruction.operand;
        if !(0..=MAX_FRAME).contains(&frame) || frame % 4 != 0 {
            return Err((number as u32, VerifyReason::Frame(frame)));
        }
        if let Some(last) = program.functions.last_mut() {
            last.end = number as u32;
        }
        program.functions.push(Function {
            start: number as u32,
            end: instructions.len() as u32,
            frame: frame as u32,
            max_depth: 0,
            has_computed_jump: false,
        });
    }
    Ok(())
}

/// Returns the operand of the `const` directly before an instruction.
fn constant_before(instructions: &[Instruction], number: u32) -> Option<i32> {
    let before = instructions.get(number.checked_sub(1)? as usize)?;
    (before.opcode == Opcode::Const).then_some(before.operand)
}

/// Marks targets of branches and constant jumps, then every jump and call with a constant target.
fn mark_targets(program: &mut Program) -> Checked<()> {
    for index in 0..program.functions.len() {
        let Function { start, end, .. } = program.functions[index];
        for number in start..end {
            let instruction = program.instructions[number as usize];
            let constant = constant_before(&program.instructions, number);
            let target = match instruction.opcode {
                opcode if opcode.is_branch() => instruction.operand,
                Opcode::Jump => match constant {
                    Some(target) => target,
                    None => continue,
                },
                _ => continue,
            };
            // `enter` itself is not a target: its frame would be subtracted again.
            if target <= start as i32 || target >= end as i32 {
                return Err((number, VerifyReason::Target(target)));
            }
            program.flags[target as usize] |= BRANCH_TARGET;
        }
    }
    for number in 1..program.instructions.len() {
        let is_transfer =
            matches!(program.instructions[number].opcode, Opcode::Jump | Opcode::Call);
        let is_target = program.flags[number] & BRANCH_TARGET != 0;
        let has_constant = program.instructions[number - 1].opcode == Opcode::Const;
        if is_transfer && has_constant && !is_target {
            program.flags[number] |= CONSTANT_TARGET;
        }
    }
    Ok(())
}

fn check_function(program: &mut Program, index: usize) -> Checked<()> {
    let Function { start, end, frame, .. } = program.functions[index];
    let mut next = Some(0);
    let mut max_depth = 0;
    for number in start..end {
        let at = |reason| (number, reason);
        let known = program.depths[number as usize];
        let depth = match (next, known) {
            (Some(depth), UNKNOWN) => depth,
            (Some(depth), known) if depth == known => depth,
            (Some(second), known) => {
                let (first, second) = (usize::from(known), usize::from(second));
                return Err(at(VerifyReason::DepthMismatch { first, second }));
            }
            (None, UNKNOWN) => 0,
            (None, known) => known,
        };
        program.depths[number as usize] = depth;
        let instruction = program.instructions[number as usize];
        let row = instruction.opcode.operation();
        let Some(rest) = depth.checked_sub(row.pops) else {
            return Err(at(VerifyReason::Underflow(usize::from(depth))));
        };
        let after = rest + row.pushes;
        if usize::from(after) > MAX_DEPTH {
            return Err(at(VerifyReason::Overflow));
        }
        max_depth = max_depth.max(after);
        check_transfer(program, index, number, after).map_err(at)?;
        match instruction.opcode {
            Opcode::Leave if rest != 0 => {
                return Err(at(VerifyReason::LeaveDepth(usize::from(depth))));
            }
            Opcode::Leave if instruction.operand != frame as i32 => {
                let (leave, enter) = (instruction.operand, frame as i32);
                return Err(at(VerifyReason::FrameMismatch { leave, enter }));
            }
            Opcode::BlockCopy if instruction.operand < 0 => {
                return Err(at(VerifyReason::BlockCopy(instruction.operand)));
            }
            _ => {}
        }
        next = (!instruction.opcode.ends_path()).then_some(after);
    }
    if next.is_some() {
        return Err((end - 1, VerifyReason::FallThrough));
    }
    program.functions[index].max_depth = max_depth;
    Ok(())
}

/// Checks the target of a branch, jump or call, and gives the target its depth.
fn check_transfer(
    program: &mut Program,
    index: usize,
    number: u32,
    after: u8,
) -> Result<(), VerifyReason> {
    let instruction = program.instructions[number as usize];
    let target = match instruction.opcode {
        opcode if opcode.is_branch() => instruction.operand,
        Opcode::Jump => match program.constant_target(number) {
            Some(target) => target,
            None if after == 0 => {
                program.functions[index].has_computed_jump = true;
                return Ok(());
            }
            None => return Err(VerifyReason::JumpDepth(usize::from(after))),
        },
        Opcode::Call => {
            return match program.constant_target(number) {
                Some(target) if target >= 0 && program.function_at(target).is_none() => {
                    Err(VerifyReason::CallTarget(target))
                }
                _ => Ok(()),
            };
        }
        _ => return Ok(()),
    };
    // Targets were checked to lie inside the function when they were marked.
    let known = &mut program.depths[target as usize];
    if *known == UNKNOWN {
        *known = after;
    }
    if *known != after {
        let (first, second) = (usize::from(*known), usize::from(after));
        return Err(VerifyReason::DepthMismatch { first, second });
    }
    Ok(())
}

/// Marks targets of computed jumps: those of the jump table, or of initialized words without a table.
fn mark_jump_targets(program: &mut Program) {
    let table = program.image.jump_table.as_deref().filter(|table| !table.is_empty());
    let words = program.image.data.chunks_exact(4).map(|word| {
        let word = word.first_chunk().copied().unwrap_or_default();
        u32::from_le_bytes(word)
    });
    let targets: Vec<u32> = match table {
        Some(table) => table.to_vec(),
        None => words.collect(),
    };
    for target in targets {
        let Some(0) = program.depths.get(target as usize) else { continue };
        let function = program.functions[program.function_index(target)];
        if function.has_computed_jump && target != function.start {
            program.flags[target as usize] |= JUMP_TARGET;
        }
    }
}
