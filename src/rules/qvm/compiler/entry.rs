//! Entry into machine code, and the functions of the host that machine code calls.
//!
//! Machine code gets one pointer, to a [`Context`]. It reads and writes the fields at the top of it by
//! offset; the fields below belong to the callbacks.
#![allow(unsafe_code)]

use std::{
    any::Any,
    panic::{AssertUnwindSafe, catch_unwind, resume_unwind},
};

use super::{
    super::{
        fault::{Fault, FaultKind},
        library,
        machine::{MAX_CALLS, Machine, Services},
    },
    Code,
};

/// Reasons for which machine code stops, in [`Context::reason`].
pub(super) mod reason {
    /// Integer division by zero.
    pub(in super::super) const DIVISION: i64 = 1;
    /// Program stack overflow.
    pub(in super::super) const STACK: i64 = 2;
    /// Budget exhausted.
    pub(in super::super) const BUDGET: i64 = 3;
    /// Invalid target of a call.
    pub(in super::super) const CALL_TARGET: i64 = 4;
    /// Invalid target of a computed jump.
    pub(in super::super) const JUMP_TARGET: i64 = 5;
    /// Too many open calls.
    pub(in super::super) const CALL_DEPTH: i64 = 6;
    /// A callback stored the reason.
    pub(in super::super) const HOST: i64 = 7;
}

/// State that machine code and callbacks share during an entry.
#[repr(C)]
pub(super) struct Context<'a> {
    /// First byte of the block. It does not move during an entry.
    pub(super) memory: *mut u8,
    /// First byte of the code.
    pub(super) code: *const u8,
    /// Offsets of functions by instruction number.
    pub(super) entries: *const u32,
    /// Lowest address of the program stack.
    pub(super) stack_limit: u32,
    /// Size of the block, in bytes.
    block_size: u32,
    /// Rest of the budget, in instructions.
    pub(super) remaining: u64,
    pub(super) serve: unsafe extern "C" fn(*mut Self, u32, u32, u32) -> u64,
    pub(super) arithmetic: extern "C" fn(u32, i32, i32) -> i32,
    pub(super) block_copy: unsafe extern "C" fn(*mut Self, u32, u32, u32) -> u32,
    pub(super) add_caller: unsafe extern "C" fn(*mut Self, u32, u32),
    /// Reason of the fault.
    pub(super) reason: i32,
    /// Instruction of the fault.
    pub(super) instruction: u32,
    /// Operand of the reason: an invalid target.
    pub(super) value: i32,
    /// Result of the entry function.
    pub(super) result: i32,
    machine: *mut Machine,
    services: *mut (dyn Services + 'a),
    fault: Option<FaultKind>,
    callers: Vec<u32>,
    panic: Option<Box<dyn Any + Send>>,
}

/// Runs the entry whose frame starts at the program stack pointer.
pub(in super::super) fn run(
    machine: &mut Machine,
    code: &Code,
    services: &mut dyn Services,
) -> Result<i32, Fault> {
    let program = machine.program().clone();
    let (frame, size) = (machine.stack_pointer, machine.memory.size());
    // Code relies on both: it contains the mask, and it reaches arguments of an entry without it.
    let fits = frame.checked_add(FRAME_ABOVE).is_some_and(|end| end <= size);
    if size != code.block_size || !fits {
        return Err(Fault::new(FaultKind::StackOverflow, &program, 0));
    }
    let open_calls = machine.open_calls;
    let mut context = Context {
        memory: machine.memory.block_mut().as_mut_ptr(),
        code: code.pages.start(),
        entries: code.entries.as_ptr(),
        stack_limit: machine.memory.stack_limit(),
        block_size: size,
        remaining: machine.remaining,
        serve,
        arithmetic,
        block_copy,
        add_caller,
        reason: 0,
        instruction: 0,
        value: 0,
        result: 0,
        machine,
        services,
        fault: None,
        callers: Vec::new(),
        panic: None,
    };
    // SAFETY: offset 0 of the pages holds the trampoline, compiled with this signature and the calling
    // convention of the operating system. The pages live as long as `code`. The context outlives the call,
    // and all its pointers are valid during it: `machine` and `services` are borrowed exclusively by this
    // function and used only by the callbacks; the block belongs to the machine and does not move.
    let status = unsafe {
        let enter: unsafe extern "C" fn(*mut Context<'_>, u32, u32) -> u32 =
            std::mem::transmute(code.pages.start());
        enter(&raw mut context, frame, open_calls)
    };
    let Context { remaining, reason, instruction, value, result, fault, callers, panic, .. } =
        context;
    machine.remaining = remaining;
    if let Some(payload) = panic {
        resume_unwind(payload);
    }
    if status == 0 {
        return Ok(result);
    }
    let kind = match i64::from(reason) {
        reason::DIVISION => FaultKind::DivisionByZero,
        reason::STACK => FaultKind::StackOverflow,
        reason::BUDGET => FaultKind::Budget,
        reason::CALL_TARGET => FaultKind::CallTarget(value),
        reason::JUMP_TARGET => FaultKind::JumpTarget(value),
        reason::CALL_DEPTH => FaultKind::CallDepth(MAX_CALLS),
        _ => fault.unwrap_or(FaultKind::Budget),
    };
    let mut fault = Fault::new(kind, &program, instruction);
    callers.iter().for_each(|caller| fault.add_caller(&program, *caller));
    Err(fault)
}

/// Bytes of an entry's frame above the program stack pointer: return place, scratch word, 13 arguments.
pub(super) const FRAME_ABOVE: u32 = 60;

/// Status of a function that was called with too many open calls. The fault is the caller's.
pub(super) const TOO_DEEP: u32 = 2;

/// Status of a callback that stored a fault or a panic: bit 32 of the answer.
const FAILED: u64 = 1 << 32;

/// Calls a service for the function whose frame starts at `frame`.
///
/// # Safety
/// Called by machine code with the context of its entry.
unsafe extern "C" fn serve(
    context: *mut Context<'_>,
    frame: u32,
    number: u32,
    open_calls: u32,
) -> u64 {
    // SAFETY: `run` made the context and waits for the code that calls this function. No other reference
    // to it exists: machine code holds pointers only, and reads them again after the call.
    let context = unsafe { &mut *context };
    // SAFETY: as above. `run` does not touch its machine and services while the code runs, so these are
    // the only references. A service that enters again makes a context of its own.
    let (machine, services) = unsafe { (&mut *context.machine, &mut *context.services) };
    machine.remaining = context.remaining;
    machine.open_calls = open_calls;
    let served = catch_unwind(AssertUnwindSafe(|| machine.serve(services, number, frame)));
    context.remaining = machine.remaining;
    let same_block = machine.memory.block_mut().as_mut_ptr() == context.memory
        && machine.memory.size() == context.block_size;
    match served {
        Ok(Ok(result)) if same_block => return u64::from(result as u32),
        // A host that replaces the memory of a running machine would leave the code with a stale address.
        Ok(Ok(_)) => {
            let reason = "the memory of the running module was replaced".to_owned();
            context.fault = Some(FaultKind::Service { number, reason });
        }
        Ok(Err(fault)) => context.fault = Some(fault),
        Err(payload) => context.panic = Some(payload),
    }
    FAILED
}

/// Computes a function of floats of the C library.
extern "C" fn arithmetic(number: u32, x: i32, y: i32) -> i32 {
    library::arithmetic(number, x, y)
}

/// Copies bytes inside the block. Returns 0, or 1 with a fault stored.
///
/// # Safety
/// Called by machine code with the context of its entry.
unsafe extern "C" fn block_copy(
    context: *mut Context<'_>,
    target: u32,
    source: u32,
    length: u32,
) -> u32 {
    // SAFETY: as in `serve`.
    let context = unsafe { &mut *context };
    // SAFETY: as in `serve`.
    let machine = unsafe { &mut *context.machine };
    match machine.memory.block_copy(target, source, length) {
        Ok(()) => 0,
        Err(fault) => {
            context.fault = Some(fault);
            1
        }
    }
}

/// Records a call instruction on the way out of a fault, innermost first.
///
/// # Safety
/// Called by machine code with the context of its entry.
unsafe extern "C" fn add_caller(context: *mut Context<'_>, instruction: u32, status: u32) {
    // SAFETY: as in `serve`.
    let context = unsafe { &mut *context };
    if status == TOO_DEEP {
        context.reason = reason::CALL_DEPTH as i32;
        context.instruction = instruction;
    } else {
        // At most `MAX_CALLS` calls are open.
        context.callers.push(instruction);
    }
}
