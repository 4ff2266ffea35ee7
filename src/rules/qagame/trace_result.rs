//! Trace results in the memory of a module.
//!
//! Source: the game interface, version 8. Engine names: `trace_t`, `cplane_t`.

use crate::{
    model::{Trace, Vec3},
    qvm::{FaultKind, Memory},
};

/// Size of a result, in bytes.
const RESULT_LEN: usize = 56;
/// Plane type of a normal that is not along an axis.
const NON_AXIAL: u8 = 3;

/// Writes a result.
///
/// # Errors
/// The address does not leave room for it.
pub(super) fn write(memory: &mut Memory, address: i32, trace: &Trace) -> Result<(), FaultKind> {
    let bytes = memory.bytes_mut(address, RESULT_LEN)?;
    let float = |value: f32| value.to_bits() as i32;
    let Vec3([x, y, z]) = trace.endpos;
    let normal = trace.plane.normal.0;
    let plane = i32::from_le_bytes([plane_type(normal), sign_bits(normal), 0, 0]);
    let words = [
        i32::from(trace.allsolid),
        i32::from(trace.startsolid),
        float(trace.fraction),
        float(x),
        float(y),
        float(z),
        float(normal[0]),
        float(normal[1]),
        float(normal[2]),
        float(trace.plane.dist),
        plane,
        trace.surface_flags,
        trace.contents,
        trace.entity.index() as i32,
    ];
    for (target, word) in bytes.chunks_exact_mut(4).zip(words) {
        target.copy_from_slice(&word.to_le_bytes());
    }
    Ok(())
}

/// Axis of a normal along an axis in positive direction, otherwise [`NON_AXIAL`]; 0 without a plane.
fn plane_type(normal: [f32; 3]) -> u8 {
    if normal == [0.0; 3] {
        return 0;
    }
    normal.iter().position(|component| *component == 1.0).map_or(NON_AXIAL, |axis| axis as u8)
}

/// One bit for each negative component.
fn sign_bits(normal: [f32; 3]) -> u8 {
    (0..3).filter(|axis| normal[*axis] < 0.0).fold(0, |bits, axis| bits | 1 << axis)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn planes_have_type_and_sign_bits() {
        assert_eq!((plane_type([0.0, 0.0, 1.0]), sign_bits([0.0, 0.0, 1.0])), (2, 0));
        assert_eq!((plane_type([0.0, -1.0, 0.0]), sign_bits([0.0, -1.0, 0.0])), (NON_AXIAL, 2));
        assert_eq!((plane_type([-0.6, 0.0, -0.8]), sign_bits([-0.6, 0.0, -0.8])), (NON_AXIAL, 5));
        assert_eq!(plane_type([0.0; 3]), 0);
    }
}
