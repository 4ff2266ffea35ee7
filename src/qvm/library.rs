//! Services 100 to 111: functions of the C library that modules do not contain.
//!
//! Invariants: every range is checked against the block, and its length is charged to the budget. Results
//! are rounded to single precision. Source: Quake III QVM format.

use super::{
    fault::FaultKind,
    machine::{Machine, ServiceCall},
};

/// Number of the first service of the library.
pub const FIRST_LIBRARY_SERVICE: u32 = 100;

/// Bytes of memory work that cost as much as one instruction.
const BYTES_PER_INSTRUCTION: u64 = 16;

/// Serves a call of the library, or returns `None` if the number is not of the library.
pub fn library_call(machine: &mut Machine, call: &ServiceCall) -> Option<Result<i32, FaultKind>> {
    let [first, second, third, ..] = call.arguments;
    let float = |value: f64| Ok((value as f32).to_bits() as i32);
    let (x, y) = (f64::from(call.float(0)), f64::from(call.float(1)));
    Some(match call.number {
        100 => fill(machine, call, first, second as u8, third),
        101 => copy(machine, call, first, second, third),
        102 => copy_text(machine, call, first, second, third),
        103 => float(x.sin()),
        104 => float(x.cos()),
        105 => float(x.atan2(y)),
        106 => float(x.sqrt()),
        107 => multiply(machine, first, second, third),
        108 => axes(machine, &call.arguments),
        109 => perpendicular(machine, first, second),
        110 => float(x.floor()),
        111 => float(x.ceil()),
        _ => return None,
    })
}

/// Checks and charges a length.
fn length(machine: &mut Machine, call: &ServiceCall, length: i32) -> Result<usize, FaultKind> {
    let number = call.number;
    let length = usize::try_from(length)
        .map_err(|_| FaultKind::Service { number, reason: format!("negative length {length}") })?;
    machine.charge(length as u64 / BYTES_PER_INSTRUCTION)?;
    Ok(length)
}

fn fill(
    machine: &mut Machine,
    call: &ServiceCall,
    target: i32,
    byte: u8,
    len: i32,
) -> Result<i32, FaultKind> {
    let len = length(machine, call, len)?;
    machine.memory_mut().bytes_mut(target, len)?.fill(byte);
    Ok(0)
}

fn copy(
    machine: &mut Machine,
    call: &ServiceCall,
    target: i32,
    source: i32,
    len: i32,
) -> Result<i32, FaultKind> {
    let len = length(machine, call, len)?;
    let memory = machine.memory_mut();
    memory.bytes(source, len)?;
    memory.bytes(target, len)?;
    let mask = memory.mask() as usize;
    let source = source as usize & mask;
    memory.block_mut().copy_within(source..source + len, target as usize & mask);
    Ok(0)
}

/// Copies a text and fills the rest with zeros. A text without room has no zero at its end.
fn copy_text(
    machine: &mut Machine,
    call: &ServiceCall,
    target: i32,
    source: i32,
    len: i32,
) -> Result<i32, FaultKind> {
    let len = length(machine, call, len)?;
    let text = machine.memory().text(source, len)?.len();
    copy(machine, call, target, source, text as i32)?;
    machine.memory_mut().bytes_mut(target, len)?[text..].fill(0);
    Ok(target)
}

fn multiply(machine: &mut Machine, a: i32, b: i32, out: i32) -> Result<i32, FaultKind> {
    let memory = machine.memory_mut();
    let rows = |address: i32| {
        let row = |n: i32| memory.vec3_at(address.wrapping_add(12 * n));
        Ok::<_, FaultKind>([row(0)?, row(1)?, row(2)?])
    };
    let (a, b) = (rows(a)?, rows(b)?);
    for (n, row) in (0..).zip(a) {
        let product = [0, 1, 2].map(|m| row[0] * b[0][m] + row[1] * b[1][m] + row[2] * b[2][m]);
        memory.set_vec3(out.wrapping_add(12 * n), product)?;
    }
    Ok(0)
}

/// Writes the axes of angles (pitch, yaw, roll in degrees) to the addresses that are not 0.
fn axes(machine: &mut Machine, arguments: &[i32]) -> Result<i32, FaultKind> {
    let angles = machine.memory().vec3_at(arguments[0])?;
    let [(sp, cp), (sy, cy), (sr, cr)] = angles.map(|angle| angle.to_radians().sin_cos());
    let axes = [
        [cp * cy, cp * sy, -sp],
        [cr * sy - sr * sp * cy, -sr * sp * sy - cr * cy, -sr * cp],
        [cr * sp * cy + sr * sy, cr * sp * sy - sr * cy, cr * cp],
    ];
    for (&address, axis) in arguments[1..4].iter().zip(axes) {
        if address != 0 {
            machine.memory_mut().set_vec3(address, axis)?;
        }
    }
    Ok(0)
}

/// Projects the axis that is farthest from a unit vector into its plane, and normalizes it.
fn perpendicular(machine: &mut Machine, out: i32, source: i32) -> Result<i32, FaultKind> {
    let vector = machine.memory().vec3_at(source)?;
    let least = (0..3).min_by(|&a, &b| vector[a].abs().total_cmp(&vector[b].abs())).unwrap_or(0);
    let mut result = vector.map(|value| -value * vector[least]);
    result[least] += 1.0;
    let length = result.iter().map(|value| value * value).sum::<f32>().sqrt();
    machine.memory_mut().set_vec3(out, result.map(|value| value / length))?;
    Ok(0)
}
