//! Field tables of delta-coded structs: one row per field of entity state, playerstate and usercmd.
//!
//! A row gives a field's standard name, its struct member and its width, in wire order. It drives
//! writing, reading, dumps and tests. A protocol with other fields gets tables of its own, which its
//! row in [`protocol`](super::protocol) names; those of protocols 43 to 48 are in
//! [`legacy_fields`](super::legacy_fields).
//!
//! Invariants, checked at compile time: at most 64 fields, each word of a struct at most once.
//! Source: Quake III protocol 68, delta codecs. Engine names: `netField_t`, `entityStateFields`,
//! `playerStateFields`.

use super::{
    bits::HUFFMAN,
    fields::{
        DeltaForm, Field,
        FieldKind::{Axis, Float, Int, Signed},
        FieldTable, member_size,
    },
    usercmd::{FIELD_COUNT, UsercmdCodec, UsercmdFields},
};
use crate::model::{EntityState, PlayerState, UserCmd};

/// Field table of entity states.
pub type EntityTable = FieldTable<{ EntityState::WORDS }>;
/// Field table of playerstates, without their four arrays.
pub type PlayerTable = FieldTable<{ PlayerState::WORDS }>;

macro_rules! fields {
    ($struct:ty { $($name:literal => $($member:ident).+ $([$index:literal])? : $kind:expr,)+ }) => {
        &[$(Field::new(
            $name,
            $kind,
            std::mem::offset_of!($struct, $($member).+),
            member_size(|of: &$struct| &of.$($member).+ $([$index])?),
            0 $(+ $index)?,
        )),+]
    };
}
pub(super) use fields;

/// Entity fields of protocols 66 to 71, besides the entity number.
pub static ENTITY_68: EntityTable = FieldTable::new(
    DeltaForm::CountedWithZeroFlags,
    fields!(EntityState {
        "pos.trTime" => pos.time: Int(32),
        "pos.trBase[0]" => pos.base[0]: Float,
        "pos.trBase[1]" => pos.base[1]: Float,
        "pos.trDelta[0]" => pos.delta[0]: Float,
        "pos.trDelta[1]" => pos.delta[1]: Float,
        "pos.trBase[2]" => pos.base[2]: Float,
        "apos.trBase[1]" => apos.base[1]: Float,
        "pos.trDelta[2]" => pos.delta[2]: Float,
        "apos.trBase[0]" => apos.base[0]: Float,
        "event" => event: Int(10),
        "angles2[1]" => angles2[1]: Float,
        "eType" => e_type: Int(8),
        "torsoAnim" => torso_anim: Int(8),
        "eventParm" => event_parm: Int(8),
        "legsAnim" => legs_anim: Int(8),
        "groundEntityNum" => ground_entity_num: Int(10),
        "pos.trType" => pos.kind: Int(8),
        "eFlags" => e_flags: Int(19),
        "otherEntityNum" => other_entity_num: Int(10),
        "weapon" => weapon: Int(8),
        "clientNum" => client_num: Int(8),
        "angles[1]" => angles[1]: Float,
        "pos.trDuration" => pos.duration: Int(32),
        "apos.trType" => apos.kind: Int(8),
        "origin[0]" => origin[0]: Float,
        "origin[1]" => origin[1]: Float,
        "origin[2]" => origin[2]: Float,
        "solid" => solid: Int(24),
        "powerups" => powerups: Int(16),
        "modelindex" => modelindex: Int(8),
        "otherEntityNum2" => other_entity_num2: Int(10),
        "loopSound" => loop_sound: Int(8),
        "generic1" => generic1: Int(8),
        "origin2[2]" => origin2[2]: Float,
        "origin2[0]" => origin2[0]: Float,
        "origin2[1]" => origin2[1]: Float,
        "modelindex2" => modelindex2: Int(8),
        "angles[0]" => angles[0]: Float,
        "time" => time: Int(32),
        "apos.trTime" => apos.time: Int(32),
        "apos.trDuration" => apos.duration: Int(32),
        "apos.trBase[2]" => apos.base[2]: Float,
        "apos.trDelta[0]" => apos.delta[0]: Float,
        "apos.trDelta[1]" => apos.delta[1]: Float,
        "apos.trDelta[2]" => apos.delta[2]: Float,
        "time2" => time2: Int(32),
        "angles[2]" => angles[2]: Float,
        "angles2[0]" => angles2[0]: Float,
        "angles2[2]" => angles2[2]: Float,
        "constantLight" => constant_light: Int(32),
        "frame" => frame: Int(16),
    }),
);

/// Playerstate fields of protocols 66 to 71, besides the four arrays.
pub static PLAYER_68: PlayerTable = FieldTable::new(
    DeltaForm::Counted,
    fields!(PlayerState {
        "commandTime" => command_time: Int(32),
        "origin[0]" => origin[0]: Float,
        "origin[1]" => origin[1]: Float,
        "bobCycle" => bob_cycle: Int(8),
        "velocity[0]" => velocity[0]: Float,
        "velocity[1]" => velocity[1]: Float,
        "viewangles[1]" => viewangles[1]: Float,
        "viewangles[0]" => viewangles[0]: Float,
        "weaponTime" => weapon_time: Signed(16),
        "origin[2]" => origin[2]: Float,
        "velocity[2]" => velocity[2]: Float,
        "legsTimer" => legs_timer: Int(8),
        "pm_time" => pm_time: Signed(16),
        "eventSequence" => event_sequence: Int(16),
        "torsoAnim" => torso_anim: Int(8),
        "movementDir" => movement_dir: Int(4),
        "events[0]" => events[0]: Int(8),
        "legsAnim" => legs_anim: Int(8),
        "events[1]" => events[1]: Int(8),
        "pm_flags" => pm_flags: Int(16),
        "groundEntityNum" => ground_entity_num: Int(10),
        "weaponstate" => weaponstate: Int(4),
        "eFlags" => e_flags: Int(16),
        "externalEvent" => external_event: Int(10),
        "gravity" => gravity: Int(16),
        "speed" => speed: Int(16),
        "delta_angles[1]" => delta_angles[1]: Int(16),
        "externalEventParm" => external_event_parm: Int(8),
        "viewheight" => viewheight: Signed(8),
        "damageEvent" => damage_event: Int(8),
        "damageYaw" => damage_yaw: Int(8),
        "damagePitch" => damage_pitch: Int(8),
        "damageCount" => damage_count: Int(8),
        "generic1" => generic1: Int(8),
        "pm_type" => pm_type: Int(8),
        "delta_angles[0]" => delta_angles[0]: Int(16),
        "delta_angles[2]" => delta_angles[2]: Int(16),
        "torsoTimer" => torso_timer: Int(12),
        "eventParms[0]" => event_parms[0]: Int(8),
        "eventParms[1]" => event_parms[1]: Int(8),
        "clientNum" => client_num: Int(8),
        "weapon" => weapon: Int(5),
        "viewangles[2]" => viewangles[2]: Float,
        "grapplePoint[0]" => grapple_point[0]: Float,
        "grapplePoint[1]" => grapple_point[1]: Float,
        "grapplePoint[2]" => grapple_point[2]: Float,
        "jumppad_ent" => jumppad_ent: Int(10),
        "loopSound" => loop_sound: Int(16),
    }),
);

/// Codec of usercmds of protocols 66 to 71.
pub static USERCMD_68: UsercmdCodec = UsercmdCodec::new::<Usercmd68, HUFFMAN, true>();

/// Usercmd fields of protocols 66 to 71, besides the time.
struct Usercmd68;

impl UsercmdFields for Usercmd68 {
    const FIELDS: &'static [Field; FIELD_COUNT] = fields!(UserCmd {
        "angles[0]" => angles[0]: Int(16),
        "angles[1]" => angles[1]: Int(16),
        "angles[2]" => angles[2]: Int(16),
        "forwardmove" => forwardmove: Axis,
        "rightmove" => rightmove: Axis,
        "upmove" => upmove: Axis,
        "buttons" => buttons: Int(16),
        "weapon" => weapon: Int(8),
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn field_table_names_are_unique() {
        for fields in [ENTITY_68.fields, PLAYER_68.fields, USERCMD_68.fields] {
            let names: std::collections::HashSet<_> =
                fields.iter().map(|field| field.name).collect();
            assert_eq!(names.len(), fields.len());
        }
    }
}
