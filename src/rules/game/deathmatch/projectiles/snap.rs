//! Snapping: end points of shots as integers in front of the surface.
//!
//! Source: the base game's `SnapVectorTowards`, in its two forms.

use crate::game::ruleset::EndRounding;
use crate::model::Vec3;

/// Rounds each coordinate toward the origin of the shot.
pub(crate) fn snap_toward(end: Vec3, from: Vec3, how: EndRounding) -> Vec3 {
    Vec3([0, 1, 2].map(|axis| {
        let (at, origin) = (end[axis], from[axis]);
        match (how, origin <= at) {
            (EndRounding::FloorOrCeiling, true) => at.floor(),
            (EndRounding::FloorOrCeiling, false) => at.ceil(),
            (EndRounding::CutAndStep, true) => at.trunc(),
            (EndRounding::CutAndStep, false) => at.trunc() + 1.0,
        }
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn end_point_snaps_toward_muzzle_per_ruleset() {
        let (end, from) = (Vec3::new(10.5, -10.5, 3.0), Vec3::new(0.0, -20.0, 8.0));
        let floors = snap_toward(end, from, EndRounding::FloorOrCeiling);
        assert_eq!(floors, Vec3::new(10.0, -11.0, 3.0));
        let steps = snap_toward(end, from, EndRounding::CutAndStep);
        assert_eq!(steps, Vec3::new(10.0, -10.0, 4.0));
    }
}
