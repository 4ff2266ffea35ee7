//! Playerstate: state of the viewed player, for display and prediction.
//!
//! The layout (468 bytes) equals that of the game interface; the bits on the wire are in `wire`.

use bytemuck::{Pod, Zeroable};

use super::Vec3;

/// Playerstate. The last five members are never sent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Pod, Zeroable)]
#[repr(C)]
#[expect(missing_docs, reason = "the field's standard names; meanings are the game's")]
pub struct PlayerState {
    pub command_time: i32,
    pub pm_type: i32,
    pub bob_cycle: i32,
    pub pm_flags: i32,
    pub pm_time: i32,
    pub origin: Vec3,
    pub velocity: Vec3,
    pub weapon_time: i32,
    pub gravity: i32,
    pub speed: i32,
    pub delta_angles: [i32; 3],
    pub ground_entity_num: i32,
    pub legs_timer: i32,
    pub legs_anim: i32,
    pub torso_timer: i32,
    pub torso_anim: i32,
    pub movement_dir: i32,
    pub grapple_point: Vec3,
    pub e_flags: i32,
    pub event_sequence: i32,
    pub events: [i32; 2],
    pub event_parms: [i32; 2],
    pub external_event: i32,
    pub external_event_parm: i32,
    pub external_event_time: i32,
    pub client_num: i32,
    pub weapon: i32,
    pub weaponstate: i32,
    pub viewangles: Vec3,
    pub viewheight: i32,
    pub damage_event: i32,
    pub damage_yaw: i32,
    pub damage_pitch: i32,
    pub damage_count: i32,
    pub stats: [i32; 16],
    pub persistant: [i32; 16],
    pub powerups: [i32; 16],
    pub ammo: [i32; 16],
    pub generic1: i32,
    pub loop_sound: i32,
    pub jumppad_ent: i32,
    pub ping: i32,
    pub pmove_framecount: i32,
    pub jumppad_frame: i32,
    pub entity_event_sequence: i32,
}

const _: () = assert!(size_of::<PlayerState>() == 468);

impl PlayerState {
    /// Number of words of the struct.
    pub const WORDS: usize = size_of::<Self>() / 4;

    /// Returns the state with 0 for each vector component that is not finite; `None` if all are.
    #[must_use]
    pub fn sanitized(&self) -> Option<Self> {
        let vectors = [self.origin, self.velocity, self.grapple_point, self.viewangles];
        (!vectors.iter().all(|vector| vector.is_finite())).then(|| Self {
            origin: self.origin.finite_or_zero(),
            velocity: self.velocity.finite_or_zero(),
            grapple_point: self.grapple_point.finite_or_zero(),
            viewangles: self.viewangles.finite_or_zero(),
            ..*self
        })
    }

    /// Words of the struct, in memory order.
    #[must_use]
    pub fn words(&self) -> &[u32; Self::WORDS] {
        bytemuck::must_cast_ref(self)
    }

    /// Words of the struct, mutable.
    pub fn words_mut(&mut self) -> &mut [u32; Self::WORDS] {
        bytemuck::must_cast_mut(self)
    }
}
