//! Making an entity part of the world: where it reaches, and what clients need to collide with it.
//!
//! Source: the game interface, link entity.

use crate::model::{EntityShared, EntityState, Vec3};

/// Contents that clients predict collisions with.
const SOLID_OR_BODY: i32 = 1 | 0x0200_0000;
/// `solid` of a brush model.
const BRUSH_MODEL: i32 = 0x00ff_ffff;

/// Computes an entity's bounds and its `solid`, and counts the link.
pub(super) fn link(state: &mut EntityState, shared: &mut EntityShared) {
    state.solid = solid(shared);
    let margin = Vec3::new(1.0, 1.0, 1.0);
    shared.absmin = shared.current_origin + shared.mins - margin;
    shared.absmax = shared.current_origin + shared.maxs + margin;
    shared.linkcount = shared.linkcount.wrapping_add(1);
    shared.linked = 1;
}

/// The box, packed into 24 bits: half width, depth below and height above the origin.
fn solid(shared: &EntityShared) -> i32 {
    if shared.bmodel != 0 {
        return BRUSH_MODEL;
    }
    if shared.contents & SOLID_OR_BODY == 0 {
        return 0;
    }
    // The casts saturate, so no box is too strange.
    let byte = |value: f32| (value as i32).clamp(1, 255);
    let x = byte(shared.maxs[0]);
    let down = byte(-shared.mins[2]);
    let up = byte(shared.maxs[2] + 32.0);
    up << 16 | down << 8 | x
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_standing_player_is_packed_as_clients_expect() {
        let mut state = EntityState::default();
        let mut shared = EntityShared {
            mins: Vec3::new(-15.0, -15.0, -24.0),
            maxs: Vec3::new(15.0, 15.0, 32.0),
            contents: 0x0200_0000,
            current_origin: Vec3::new(10.0, 0.0, 0.0),
            ..EntityShared::default()
        };
        link(&mut state, &mut shared);
        assert_eq!(state.solid, 0x0040_180f);
        assert_eq!((shared.absmin[0], shared.absmax[0]), (-6.0, 26.0));
        assert!(shared.is_linked());
        shared.contents = 0;
        link(&mut state, &mut shared);
        assert_eq!(state.solid, 0);
    }
}
