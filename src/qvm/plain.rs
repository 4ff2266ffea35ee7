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
    let mut at = 0;
    let mut calls = Vec::new();
    execute(machine, &program, services, &mut calls, &mut at).map_err(|kind| {
        let mut fault = Fault::new(kind, &program, at);
        for (caller, _) in calls.iter().rev() {
            fault.add_caller(&program, *caller);
        }
        fault
    })
}

fn execute(
    machine: &mut Machine,
    program: &Program,
    services: &mut dyn Services,
    calls: &mut Vec<(u32, usize)>,
    at: &mut u32,
) -> Result<i32, FaultKind> {
    let mut frame = machine.stack_pointer;
    let mut function = 0;
    let mut cells: Vec<i32> = Vec::new();
    loop {
        let instruction = program.instructions()[*at as usize];
        let row = instruction.opcode.operation();
        let operand = instruction.operand;
        let mut pop = || cells.pop().unwrap_or(0);
        let top = if row.pops > 0 { pop() } else { 0 };
        let next = if row.pops > 1 { pop() } else { 0 };
        let mut target = None;
        match instruction.opcode {
            Opcode::Enter => {
                let below = frame.checked_sub(operand as u32);
                let limit = machine.memory.stack_limit();
                frame = below.filter(|p| *p >= limit).ok_or(FaultKind::StackOverflow)?;
                let entered = program.functions()[function];
                machine.charge(u64::from(entered.end - entered.start))?;
            }
            Opcode::Leave => {
                frame += operand as u32;
                let Some((caller, caller_function)) = calls.pop() else { return Ok(top) };
                machine.open_calls -= 1;
                cells.push(top);
                (*at, function) = (caller + 1, caller_function);
                continue;
            }
            Opcode::Call if top < 0 => {
                cells.push(machine.serve(services, !top as u32, frame)?);
            }
            Opcode::Call => {
                let callee = program.function_at(top).ok_or(FaultKind::CallTarget(top))?;
                if machine.open_calls >= MAX_CALLS {
                    return Err(FaultKind::CallDepth(MAX_CALLS));
                }
                machine.open_calls += 1;
                calls.push((*at, function));
                (*at, function) = (top as u32, callee);
                continue;
            }
            Opcode::Jump => {
                if program.constant_target(*at).is_none() && !program.allows_jump(function, top) {
                    return Err(FaultKind::JumpTarget(top));
                }
                target = Some(top as u32);
            }
            Opcode::BlockCopy => {
                machine.charge(u64::from(operand as u32 / COPY_UNIT))?;
                machine.memory.block_copy(next as u32, top as u32, operand as u32)?;
            }
            Opcode::Push => cells.push(0),
            Opcode::Const => cells.push(operand),
            Opcode::Local => cells.push(frame.wrapping_add(operand as u32) as i32),
            Opcode::Arg => machine.memory.store4(frame.wrapping_add(operand as u32), top),
            Opcode::Store1 => machine.memory.store1(next as u32, top as u8),
            Opcode::Store2 => machine.memory.store2(next as u32, top as u16),
            Opcode::Store4 => machine.memory.store4(next as u32, top),
            Opcode::Load1 => cells.push(i32::from(machine.memory.load1(top as u32))),
            Opcode::Load2 => cells.push(i32::from(machine.memory.load2(top as u32))),
            Opcode::Load4 => cells.push(machine.memory.load4(top as u32)),
            opcode if opcode.is_branch() => {
                target = compare(opcode, next, top).then_some(operand as u32);
            }
            opcode if row.pushes == 1 => cells.push(compute(opcode, next, top)?),
            _ => {}
        }
        match target {
            Some(target) => {
                if target <= *at {
                    machine.charge(u64::from(*at - target) + 1)?;
                }
                *at = target;
            }
            None => *at += 1,
        }
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
