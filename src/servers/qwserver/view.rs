//! Visibility: leafs of a box, leafs in sight of an eye, sounds in reach.
//!
//! Source: QuakeWorld protocol 28, PVS widened by 8 units.

use crate::{
    bsp29::{Bsp29, LeafNum, LeafSet},
    model::Vec3,
};

/// Leafs beyond which a box counts as visible from everywhere.
const MAX_LEAFS: usize = 16;
/// Width by which the eye is moved on every axis.
const FAT: f32 = 8.0;
/// Distance within which sounds are always heard.
const NEAR_SOUND: f32 = 1024.0;

/// Leafs that a box touches.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct LeafList {
    leafs: [Option<LeafNum>; MAX_LEAFS],
    len: usize,
    is_everywhere: bool,
    corners: Option<(Vec3, Vec3)>,
}

impl LeafList {
    /// Finds the leafs of a box, unless they are those of the last call.
    pub(super) fn find(&mut self, map: &Bsp29, low: Vec3, high: Vec3) {
        if self.corners == Some((low, high)) {
            return;
        }
        (self.len, self.corners) = (0, Some((low, high)));
        let Self { leafs, len, .. } = self;
        self.is_everywhere = !map.leafs_in_box(low, high, |leaf| {
            let Some(place) = leafs.get_mut(*len) else { return false };
            *place = Some(leaf);
            *len += 1;
            true
        });
    }

    /// Whether leafs were found since the last box was forgotten.
    pub(super) const fn is_known(&self) -> bool {
        self.corners.is_some()
    }

    /// Forgets the last box, e.g. of another map.
    pub(super) fn forget(&mut self) {
        *self = Self::default();
    }

    /// Whether one of the leafs is in a set.
    pub(super) fn is_in(&self, set: &LeafSet) -> bool {
        self.is_everywhere
            || self.leafs[..self.len].iter().flatten().any(|leaf| set.contains(*leaf))
    }
}

/// Finds what an eye sees.
pub(super) fn find_visible(map: &Bsp29, eye: Vec3, set: &mut LeafSet) {
    map.fat_pvs(eye, FAT, set);
}

/// Whether an ear hears a sound.
pub(super) fn hears(map: &Bsp29, ear: Vec3, origin: Vec3) -> bool {
    let heard = map.visibility().phs(map.leaf_at(origin));
    (origin - ear).length() <= NEAR_SOUND || heard.contains(map.leaf_at(ear))
}

/// Whether an eye sees a point.
pub(super) fn sees(map: &Bsp29, eye: Vec3, origin: Vec3) -> bool {
    map.visibility().pvs(map.leaf_at(origin)).contains(map.leaf_at(eye))
}
