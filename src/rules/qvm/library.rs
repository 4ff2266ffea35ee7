//! Services 100 to 111: functions of the C library that modules do not contain.
//!
//! The machine serves them itself, so every host has them and no call leaves the engine. Invariants: every
//! range is checked against the block, and its length is charged to the budget. Results are computed in
//! double precision by portable functions and rounded to single precision, so they are equal on every
//! computer. Source: Quake III QVM format.

use super::{fault::FaultKind, machine::Machine, opcode::NAN};

/// Number of the first service of the library.
const FIRST: u32 = 100;

/// Number of the square root.
pub(super) const SQUARE_ROOT: u32 = 106;

/// Bytes of memory work that cost as much as one instruction.
const BYTES_PER_INSTRUCTION: u64 = 16;

/// Serves a call of the library for a function whose frame starts at `frame`. Returns `None` if the number
/// is not of the library.
pub(super) fn serve(
    machine: &mut Machine,
    number: u32,
    frame: u32,
) -> Option<Result<i32, FaultKind>> {
    if !(FIRST..FIRST + 12).contains(&number) {
        return None;
    }
    let words: [i32; 4] = machine.memory.words(frame.wrapping_add(8));
    let [first, second, third, _] = words;
    if is_arithmetic(number) {
        return Some(Ok(arithmetic(number, first, second)));
    }
    Some(match number {
        100 => fill(machine, first, second as u8, third),
        101 => copy(machine, first, second, third),
        102 => copy_text(machine, first, second, third),
        107 => multiply(machine, first, second, third),
        108 => axes(machine, &words),
        _ => perpendicular(machine, first, second),
    })
}

/// Whether a service only computes a float from one or two floats.
pub(super) const fn is_arithmetic(number: u32) -> bool {
    matches!(number, 103..=106 | 110 | 111)
}

/// Serves such a service: takes and returns bits of floats.
pub(super) fn arithmetic(number: u32, x: i32, y: i32) -> i32 {
    let [x, y] = [x, y].map(|word| f64::from(f32::from_bits(word as u32)));
    let value = match number {
        103 => libm::sin(x),
        104 => libm::cos(x),
        105 => libm::atan2(x, y),
        SQUARE_ROOT => x.sqrt(),
        110 => x.floor(),
        _ => x.ceil(),
    };
    // Processors differ in the NaN that they produce.
    let bits = if value.is_nan() { NAN } else { (value as f32).to_bits() };
    bits as i32
}

/// Checks and charges a length.
fn length(machine: &mut Machine, number: u32, length: i32) -> Result<usize, FaultKind> {
    let length = usize::try_from(length)
        .map_err(|_| FaultKind::Service { number, reason: format!("negative length {length}") })?;
    machine.charge(length as u64 / BYTES_PER_INSTRUCTION)?;
    Ok(length)
}

fn fill(machine: &mut Machine, target: i32, byte: u8, len: i32) -> Result<i32, FaultKind> {
    let len = length(machine, 100, len)?;
    machine.memory_mut().bytes_mut(target, len)?.fill(byte);
    Ok(0)
}

fn copy(machine: &mut Machine, target: i32, source: i32, len: i32) -> Result<i32, FaultKind> {
    let len = length(machine, 101, len)?;
    let memory = machine.memory_mut();
    memory.bytes(source, len)?;
    memory.bytes(target, len)?;
    let mask = memory.mask() as usize;
    let source = source as usize & mask;
    memory.block_mut().copy_within(source..source + len, target as usize & mask);
    Ok(0)
}

/// Copies a text and fills the rest with zeros. A text without room has no zero at its end.
fn copy_text(machine: &mut Machine, target: i32, source: i32, len: i32) -> Result<i32, FaultKind> {
    let len = length(machine, 102, len)?;
    let text = machine.memory().text(source, len)?.len();
    copy(machine, target, source, text as i32)?;
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
    let [(sp, cp), (sy, cy), (sr, cr)] = angles.map(|angle| {
        let radians = f64::from(angle.to_radians());
        (libm::sin(radians) as f32, libm::cos(radians) as f32)
    });
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
