//! Plain interpreter: one instruction at a time, as the format describes it. Oracle of the tests.
//!
//! Invariants: results, faults and charges are those of [`super::Machine`].
//! Source: Quake III QVM format.

use super::{
    fault::{Fault, FaultKind},
    machine::{COPY_UNIT, MAX_CALLS, Machine, Services},
    opcode::Opcode,
    program::Program,
};

/// Canonical bits of a float result.
fn float(value: f32) -> i32 {
    if value.is_nan() { 0x7fc0_0000 } else { value.to_bits() as i32 }
}

fn to_integer(value: f32) -> i32 {
    if (-2_147_483_648.0..2_147_483_648.0).contains(&value) { value as i32 } else { i32::MIN }
}

/// Runs the entry whose frame starts at the program stack pointer.
pub(super) fn run(machine: &mut Machine, services: &mut dyn Services) -> Result<i32, Fault> {
    let program = machine.program().clone();
    let frame = machine.stack_pointer;
    let (calls, cells) = (Vec::new(), Vec::new());
    let mut run = Run { machine, program: &program, calls, cells, at: 0, function: 0, frame };
    loop {
        match run.step(services) {
            Ok(None) => {}
            Ok(Some(result)) => return Ok(result),
            Err(kind) => {
                let mut fault = Fault::new(kind, &program, run.at);
                for (caller, _) in run.calls.iter().rev() {
                    fault.add_caller(&program, *caller);
                }
                return Err(fault);
            }
        }
    }
}

/// State of an entry.
struct Run<'m> {
    machine: &'m mut Machine,
    program: &'m Program,
    /// Open calls: instruction and function of each caller.
    calls: Vec<(u32, usize)>,
    /// Operand stack.
    cells: Vec<i32>,
    /// Instruction, its function and the frame of that.
    at: u32,
    function: usize,
    frame: u32,
}

impl Run<'_> {
    /// Runs an instruction. Returns the result of the entry at its end.
    fn step(&mut self, services: &mut dyn Services) -> Result<Option<i32>, FaultKind> {
        let instruction = self.program.instructions()[self.at as usize];
        let (opcode, operand) = (instruction.opcode, instruction.operand);
        let row = opcode.operation();
        let mut pop = || self.cells.pop().unwrap_or(0);
        let top = if row.pops > 0 { pop() } else { 0 };
        let next = if row.pops > 1 { pop() } else { 0 };
        match opcode {
            Opcode::Enter => self.enter(operand as u32)?,
            Opcode::Leave => return Ok(self.leave(operand as u32, top)),
            Opcode::Call if top < 0 => {
                self.cells.push(self.machine.serve(services, !top as u32, self.frame)?);
            }
            Opcode::Call => return self.call(top).map(|()| None),
            Opcode::Jump => {
                let is_constant = self.program.constant_target(self.at).is_some();
                if !is_constant && !self.program.allows_jump(self.function, top) {
                    return Err(FaultKind::JumpTarget(top));
                }
                return self.go_to(top as u32).map(|()| None);
            }
            opcode if opcode.is_branch() => {
                if compare(opcode, next, top) {
                    return self.go_to(operand as u32).map(|()| None);
                }
            }
            Opcode::Arg => {
                self.machine.memory.store4(self.frame.wrapping_add(operand as u32), top);
            }
            Opcode::Store1 => self.machine.memory.store1(next as u32, top as u8),
            Opcode::Store2 => self.machine.memory.store2(next as u32, top as u16),
            Opcode::Store4 => self.machine.memory.store4(next as u32, top),
            Opcode::BlockCopy => {
                self.machine.charge(u64::from(operand as u32 / COPY_UNIT))?;
                self.machine.memory.block_copy(next as u32, top as u32, operand as u32)?;
            }
            opcode => self.operate(opcode, operand, next, top)?,
        }
        self.at += 1;
        Ok(None)
    }

    fn enter(&mut self, frame_size: u32) -> Result<(), FaultKind> {
        let limit = self.machine.memory.stack_limit();
        let below = self.frame.checked_sub(frame_size).filter(|below| *below >= limit);
        self.frame = below.ok_or(FaultKind::StackOverflow)?;
        let entered = self.program.functions()[self.function];
        self.machine.charge(u64::from(entered.end - entered.start))
    }

    /// Returns to the caller, or the result if there is none.
    fn leave(&mut self, frame_size: u32, top: i32) -> Option<i32> {
        self.frame += frame_size;
        let Some((caller, function)) = self.calls.pop() else { return Some(top) };
        self.machine.open_calls -= 1;
        self.cells.push(top);
        (self.at, self.function) = (caller + 1, function);
        None
    }

    fn call(&mut self, target: i32) -> Result<(), FaultKind> {
        let callee = self.program.function_at(target).ok_or(FaultKind::CallTarget(target))?;
        if self.machine.open_calls >= MAX_CALLS {
            return Err(FaultKind::CallDepth(MAX_CALLS));
        }
        self.machine.open_calls += 1;
        self.calls.push((self.at, self.function));
        (self.at, self.function) = (target as u32, callee);
        Ok(())
    }

    fn go_to(&mut self, target: u32) -> Result<(), FaultKind> {
        if target <= self.at {
            self.machine.charge(u64::from(self.at - target) + 1)?;
        }
        self.at = target;
        Ok(())
    }

    /// Runs an instruction that pushes a constant, an address, a loaded value or a result.
    fn operate(
        &mut self,
        opcode: Opcode,
        operand: i32,
        next: i32,
        top: i32,
    ) -> Result<(), FaultKind> {
        let memory = &self.machine.memory;
        let cell = match opcode {
            Opcode::Push => 0,
            Opcode::Const => operand,
            Opcode::Local => self.frame.wrapping_add(operand as u32) as i32,
            Opcode::Load1 => i32::from(memory.load1(top as u32)),
            Opcode::Load2 => i32::from(memory.load2(top as u32)),
            Opcode::Load4 => memory.load4(top as u32),
            opcode if opcode.operation().pushes == 1 => compute(opcode, next, top)?,
            _ => return Ok(()),
        };
        self.cells.push(cell);
        Ok(())
    }
}

fn compare(opcode: Opcode, a: i32, b: i32) -> bool {
    let (ua, ub) = (a as u32, b as u32);
    let (fa, fb) = (f32::from_bits(ua), f32::from_bits(ub));
    match opcode {
        Opcode::Eq => a == b,
        Opcode::Ne => a != b,
        Opcode::Lti => a < b,
        Opcode::Lei => a <= b,
        Opcode::Gti => a > b,
        Opcode::Gei => a >= b,
        Opcode::Ltu => ua < ub,
        Opcode::Leu => ua <= ub,
        Opcode::Gtu => ua > ub,
        Opcode::Geu => ua >= ub,
        Opcode::Eqf => fa == fb,
        Opcode::Nef => fa != fb,
        Opcode::Ltf => fa < fb,
        Opcode::Lef => fa <= fb,
        Opcode::Gtf => fa > fb,
        _ => fa >= fb,
    }
}

/// Result of an operation with one result that reads no memory; `b` is top.
fn compute(opcode: Opcode, a: i32, b: i32) -> Result<i32, FaultKind> {
    let (ua, ub) = (a as u32, b as u32);
    let (fa, fb) = (f32::from_bits(ua), f32::from_bits(ub));
    let zero = FaultKind::DivisionByZero;
    Ok(match opcode {
        Opcode::Sex8 => i32::from(b as i8),
        Opcode::Sex16 => i32::from(b as i16),
        Opcode::Negi => b.wrapping_neg(),
        Opcode::Add => a.wrapping_add(b),
        Opcode::Sub => a.wrapping_sub(b),
        Opcode::Divi | Opcode::Modi if b == 0 => return Err(zero),
        Opcode::Divi => a.wrapping_div(b),
        Opcode::Modi => a.wrapping_rem(b),
        Opcode::Divu => ua.checked_div(ub).ok_or(zero)? as i32,
        Opcode::Modu => ua.checked_rem(ub).ok_or(zero)? as i32,
        Opcode::Muli | Opcode::Mulu => a.wrapping_mul(b),
        Opcode::Band => a & b,
        Opcode::Bor => a | b,
        Opcode::Bxor => a ^ b,
        Opcode::Bcom => !b,
        Opcode::Lsh => a.wrapping_shl(ub),
        Opcode::Rshi => a.wrapping_shr(ub),
        Opcode::Rshu => ua.wrapping_shr(ub) as i32,
        Opcode::Negf => (ub ^ 0x8000_0000) as i32,
        Opcode::Addf => float(fa + fb),
        Opcode::Subf => float(fa - fb),
        Opcode::Divf => float(fa / fb),
        Opcode::Mulf => float(fa * fb),
        Opcode::Cvif => float(b as f32),
        _ => to_integer(fb),
    })
}
