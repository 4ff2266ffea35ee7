//! Handlers of steps, and the choice of a handler by operation and operand kinds.
//!
//! Invariants: a handler that stops sets the exit and its own step number. Source: Quake III QVM format.

use super::{
    Exit, FusedStep, Handler, Return, STOP, State,
    operands::{
        self as ops, Binary, Byte, Cell, Compare, Constant, Frame, Global, Half, Local, Source,
        SourceKind, Unary, Width, Word,
    },
};
use crate::qvm::{
    fault::FaultKind,
    machine::{COPY_UNIT, MAX_CALLS},
    memory,
    opcode::Opcode,
    program::MAX_DEPTH,
};

impl State<'_> {
    #[cold]
    fn fault(&mut self, at: u32, kind: FaultKind) -> u32 {
        self.stop(at, Exit::Fault(kind))
    }

    fn stop(&mut self, at: u32, exit: Exit) -> u32 {
        self.stopped = at;
        self.exit = exit;
        STOP
    }

    /// Charges the budget; `false` if it is exhausted.
    fn charge(&mut self, cost: u32) -> bool {
        let rest = self.remaining.checked_sub(u64::from(cost));
        self.remaining = rest.unwrap_or(self.remaining);
        rest.is_some()
    }
}

/// `cell c = a op b`
fn binary<O: Binary, A: Source, B: Source>(s: &mut State<'_>, step: &FusedStep, at: u32) -> u32 {
    match O::compute(A::get(s, step.a), B::get(s, step.b)) {
        Some(value) => {
            s.set(step.c, value);
            at + 1
        }
        None => s.fault(at, FaultKind::DivisionByZero),
    }
}

/// `cell c = op a`
fn unary<O: Unary, A: Source>(s: &mut State<'_>, step: &FusedStep, at: u32) -> u32 {
    let value = O::compute(A::get(s, step.a));
    s.set(step.c, value);
    at + 1
}

/// `if a op b, go to step c`
fn compare<O: Compare, A: Source, B: Source>(s: &mut State<'_>, step: &FusedStep, at: u32) -> u32 {
    if O::holds(A::get(s, step.a), B::get(s, step.b)) { step.c } else { at + 1 }
}

/// `cell c = memory[a + b]`
fn load<W: Width, A: Source>(s: &mut State<'_>, step: &FusedStep, at: u32) -> u32 {
    let address = (A::get(s, step.a) as u32).wrapping_add(step.b) & s.mask;
    let value = W::load(s.memory, address);
    s.set(step.c, value);
    at + 1
}

/// `memory[a + c] = b`
fn store<W: Width, A: Source, B: Source>(s: &mut State<'_>, step: &FusedStep, at: u32) -> u32 {
    let address = (A::get(s, step.a) as u32).wrapping_add(step.c) & s.mask;
    let value = B::get(s, step.b);
    W::store(s.memory, address, value);
    at + 1
}

/// Copies `c` bytes from the address in cell b to that in cell a.
pub(super) fn block_copy(s: &mut State<'_>, step: &FusedStep, at: u32) -> u32 {
    let (target, source) = (Cell::get(s, step.a) as u32, Cell::get(s, step.b) as u32);
    if !s.charge(step.c / COPY_UNIT) {
        return s.fault(at, FaultKind::Budget);
    }
    match memory::block_copy(s.memory, s.mask, target, source, step.c) {
        Ok(()) => at + 1,
        Err(kind) => s.fault(at, kind),
    }
}

/// Starts a function with frame size `a` and cost `b`.
pub(super) fn enter(s: &mut State<'_>, step: &FusedStep, at: u32) -> u32 {
    match s.frame.checked_sub(step.a) {
        Some(frame) if frame >= s.stack_limit => s.frame = frame,
        _ => return s.fault(at, FaultKind::StackOverflow),
    }
    if !s.charge(step.b) {
        return s.fault(at, FaultKind::Budget);
    }
    at + 1
}

/// Returns value `a` from a function with frame size `b`.
fn leave<A: Source>(s: &mut State<'_>, step: &FusedStep, at: u32) -> u32 {
    let value = A::get(s, step.a);
    s.frame = s.frame.wrapping_add(step.b);
    if s.stacks.returns.len() == s.base {
        return s.stop(at, Exit::Result(value));
    }
    let Some(call) = s.stacks.returns.pop() else {
        return s.stop(at, Exit::Result(value));
    };
    s.open_calls -= 1;
    if call.depth != 0 {
        let first = s.stacks.saved.len().saturating_sub(call.depth as usize);
        for (cell, saved) in s.cells.iter_mut().zip(s.stacks.saved.drain(first..)) {
            *cell = saved;
        }
    }
    s.set(call.depth, value);
    call.step + 1
}

fn open_call(s: &mut State<'_>, at: u32, target: u32, depth: u32) -> u32 {
    if s.open_calls >= MAX_CALLS {
        return s.fault(at, FaultKind::CallDepth(MAX_CALLS));
    }
    s.open_calls += 1;
    if depth != 0 {
        let cells = depth as usize % MAX_DEPTH;
        s.stacks.saved.extend_from_slice(&s.cells[..cells]);
    }
    s.stacks.returns.push(Return { step: at, depth });
    target
}

/// Calls the function whose first step is `a`; `c` cells stay.
pub(super) fn call(s: &mut State<'_>, step: &FusedStep, at: u32) -> u32 {
    open_call(s, at, step.a, step.c)
}

/// Calls the service with number `a`; its result becomes cell `c`.
pub(super) fn service(s: &mut State<'_>, step: &FusedStep, at: u32) -> u32 {
    s.stop(at, Exit::Service(step.a, step.c))
}

/// Calls the function or service that cell `a` names; `c` cells stay.
pub(super) fn call_cell(s: &mut State<'_>, step: &FusedStep, at: u32) -> u32 {
    let target = Cell::get(s, step.a);
    if target < 0 {
        return s.stop(at, Exit::Service(!target as u32, step.c));
    }
    match s.code.functions.binary_search_by_key(&(target as u32), |(start, _)| *start) {
        Ok(index) => {
            let (_, first) = s.code.functions[index];
            open_call(s, at, first, step.c)
        }
        Err(_) => s.fault(at, FaultKind::CallTarget(target)),
    }
}

/// Goes to step `a`.
pub(super) fn jump(_: &mut State<'_>, step: &FusedStep, _: u32) -> u32 {
    step.a
}

/// Charges `b`, then goes to step `a`.
pub(super) fn jump_back(s: &mut State<'_>, step: &FusedStep, at: u32) -> u32 {
    if !s.charge(step.b) {
        return s.fault(at, FaultKind::Budget);
    }
    step.a
}

/// Goes to the instruction in cell a. The function starts at instruction `c` and has `d` of them; its steps
/// start at index `b` of the jump list.
pub(super) fn jump_cell(s: &mut State<'_>, step: &FusedStep, at: u32) -> u32 {
    let target = Cell::get(s, step.a);
    let offset = (target as u32).wrapping_sub(step.c);
    let listed = (offset < step.d).then(|| s.code.jumps.get((step.b + offset) as usize).copied());
    let Some(next) = listed.flatten().filter(|next| *next != STOP) else {
        return s.fault(at, FaultKind::JumpTarget(target));
    };
    let here = s.code.origins.get(at as usize).copied().unwrap_or_default();
    if target as u32 <= here && !s.charge(here - target as u32 + 1) {
        return s.fault(at, FaultKind::Budget);
    }
    next
}

/// Handler for each kind of one operand.
macro_rules! by_kind {
    ($handler:ident, $kind:expr $(, $type:ty)*) => {
        match $kind {
            SourceKind::Cell => $handler::<$($type,)* Cell>,
            SourceKind::Constant => $handler::<$($type,)* Constant>,
            SourceKind::Frame => $handler::<$($type,)* Frame>,
            SourceKind::Local => $handler::<$($type,)* Local>,
            SourceKind::Global => $handler::<$($type,)* Global>,
        }
    };
}

/// Handler for each kind of two operands. A first constant is put into a cell.
macro_rules! by_kinds {
    ($handler:ident, $a:expr, $b:expr, $type:ty) => {
        match $a {
            SourceKind::Cell | SourceKind::Constant => by_kind!($handler, $b, $type, Cell),
            SourceKind::Frame => by_kind!($handler, $b, $type, Frame),
            SourceKind::Local => by_kind!($handler, $b, $type, Local),
            SourceKind::Global => by_kind!($handler, $b, $type, Global),
        }
    };
}

macro_rules! operations {
    ($opcode:expr, $choose:ident $arguments:tt, $($name:ident => $operation:ident,)*) => {
        match $opcode {
            $(Opcode::$name => operations!(@ $choose $arguments $operation),)*
            _ => return None,
        }
    };
    (@ $choose:ident ($($argument:expr),*) $operation:ident) => {
        $choose::<ops::$operation>($($argument),*)
    };
}

fn choose_binary<O: Binary>(a: SourceKind, b: SourceKind) -> Handler {
    by_kinds!(binary, a, b, O)
}

fn choose_compare<O: Compare>(a: SourceKind, b: SourceKind) -> Handler {
    by_kinds!(compare, a, b, O)
}

fn choose_unary<O: Unary>(a: SourceKind) -> Handler {
    by_kind!(unary, a, O)
}

fn choose_store<W: Width>(a: SourceKind, b: SourceKind) -> Handler {
    match a {
        SourceKind::Constant => by_kind!(store, b, W, Constant),
        _ => by_kinds!(store, a, b, W),
    }
}

fn choose_load<W: Width>(a: SourceKind) -> Handler {
    by_kind!(load, a, W)
}

/// Handler of an operation with two values and one result.
pub(super) fn binary_step(opcode: Opcode, a: SourceKind, b: SourceKind) -> Option<Handler> {
    Some(operations!(opcode, choose_binary(a, b),
        Add => Add, Sub => Sub, Muli => Mul, Mulu => Mul, Divi => Divi, Divu => Divu, Modi => Modi,
        Modu => Modu, Band => Band, Bor => Bor, Bxor => Bxor, Lsh => Lsh, Rshi => Rshi,
        Rshu => Rshu, Addf => Addf, Subf => Subf, Mulf => Mulf, Divf => Divf,
    ))
}

/// Handler of a compare-and-branch.
pub(super) fn compare_step(opcode: Opcode, a: SourceKind, b: SourceKind) -> Option<Handler> {
    Some(operations!(opcode, choose_compare(a, b),
        Eq => Eq, Ne => Ne, Lti => Lti, Lei => Lei, Gti => Gti, Gei => Gei, Ltu => Ltu, Leu => Leu,
        Gtu => Gtu, Geu => Geu, Eqf => Eqf, Nef => Nef, Ltf => Ltf, Lef => Lef, Gtf => Gtf,
        Gef => Gef,
    ))
}

/// Handler of an operation with one value and one result.
pub(super) fn unary_step(opcode: Opcode, a: SourceKind) -> Option<Handler> {
    Some(operations!(opcode, choose_unary(a),
        Sex8 => Sex8, Sex16 => Sex16, Negi => Negi, Bcom => Bcom, Negf => Negf, Cvif => Cvif,
        Cvfi => Cvfi,
    ))
}

/// Handler that copies a value into a cell.
pub(super) fn copy_step(a: SourceKind) -> Handler {
    choose_unary::<ops::Copy>(a)
}

/// Handler of a load.
pub(super) fn load_step(opcode: Opcode, a: SourceKind) -> Handler {
    match opcode {
        Opcode::Load1 => choose_load::<Byte>(a),
        Opcode::Load2 => choose_load::<Half>(a),
        _ => choose_load::<Word>(a),
    }
}

/// Handler of a store.
pub(super) fn store_step(opcode: Opcode, a: SourceKind, b: SourceKind) -> Handler {
    match opcode {
        Opcode::Store1 => choose_store::<Byte>(a, b),
        Opcode::Store2 => choose_store::<Half>(a, b),
        _ => choose_store::<Word>(a, b),
    }
}

/// Handler of *leave*.
pub(super) fn leave_step(a: SourceKind) -> Handler {
    by_kind!(leave, a)
}
