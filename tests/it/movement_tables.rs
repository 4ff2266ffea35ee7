//! Small parts of movement that need no map, against the games' results, bit for bit.

use fragd::{
    game::movement::{
        Arithmetic, EntityStateOptions, Length, angles, impulses, player_entity, trajectory,
        velocity::normalized,
    },
    model::{
        EntityState, LevelTime, PlayerState, Trajectory, Vec3,
        trig::{Axes, DegreeFactor},
    },
};

use crate::vectors::{Line, Table};

fn check(line: &Line<'_>, what: &str, ours: f32) {
    let theirs = line.float(what);
    assert_eq!(ours.to_bits(), theirs.to_bits(), "{line}: {what} is {ours}, not {theirs}");
}

fn check_vec3(line: &Line<'_>, what: [&str; 3], ours: Vec3) {
    for (axis, what) in what.into_iter().enumerate() {
        check(line, what, ours[axis]);
    }
}

#[test]
fn axes_match_reference() {
    for line in Table::read("anglevectors.csv.gz").rows() {
        let angles = line.vec3(["pitch", "yaw", "roll"]);
        let game = Axes::of_angles(angles, DegreeFactor::Single);
        check_vec3(&line, ["fx", "fy", "fz"], game.forward);
        check_vec3(&line, ["rx", "ry", "rz"], game.right);
        check_vec3(&line, ["ux", "uy", "uz"], game.up);
        let engine = Axes::of_angles(angles, DegreeFactor::Double);
        check_vec3(&line, ["e_fx", "e_fy", "e_fz"], engine.forward);
        check_vec3(&line, ["e_rx", "e_ry", "e_rz"], engine.right);
        check_vec3(&line, ["e_ux", "e_uy", "e_uz"], engine.up);
    }
}

#[test]
fn vectors_normalize_in_both_precisions() {
    for line in Table::read("normalize.csv.gz").rows() {
        let v = line.vec3(["x", "y", "z"]);
        for (length, column) in [(Length::Root, "length_classic"), (Length::Product, "length_ioq3")]
        {
            let (direction, length) = normalized(v, length, Arithmetic::Bytecode);
            check_vec3(&line, ["nx", "ny", "nz"], direction);
            check(&line, column, length);
        }
    }
}

#[test]
fn angles_wrap() {
    for line in Table::read("angles.csv.gz").rows() {
        let angle = line.float("angle");
        check(&line, "normalize360", angles::normalized_360(angle));
        check(&line, "normalize180", angles::normalized_180(angle));
        check(&line, "anglemod", angles::normalized_360(angle));
        let short = angles::to_short(angle);
        assert_eq!(short, line.number::<i32>("angle2short"), "{line}");
        check(&line, "short2angle_of_it", angles::from_short(short as i16));
    }
}

#[test]
fn directions_become_angles() {
    for line in Table::read("vectoangles.csv.gz").rows() {
        let angles = angles::of_direction(line.vec3(["x", "y", "z"]));
        check_vec3(&line, ["pitch", "yaw", "roll"], angles);
    }
}

#[test]
fn velocities_and_entities_snap_to_integers() {
    for line in Table::read("snap.csv.gz").rows() {
        let value = Vec3::new(line.float("value"), 0.0, 0.0);
        check(&line, "round_half_even_via_i32", value.rounded()[0]);
        check(&line, "truncate_via_i32", value.truncated()[0]);
    }
}

#[test]
fn trajectories_match_reference() {
    for line in Table::read("trajectory.csv.gz").rows() {
        let way = Trajectory {
            kind: line.number("trType"),
            time: line.number("trTime"),
            duration: line.number("trDuration"),
            base: line.vec3(["bx", "by", "bz"]),
            delta: line.vec3(["dx", "dy", "dz"]),
        };
        let at = LevelTime(line.number("atTime"));
        check_vec3(&line, ["px", "py", "pz"], trajectory::position(&way, at));
        check_vec3(&line, ["vx", "vy", "vz"], trajectory::velocity(&way, at));
    }
}

#[test]
fn jump_pad_velocities_match_reference() {
    for line in Table::read("jumppad.csv.gz").rows() {
        let mut state = PlayerState {
            pm_type: line.number("pm_type"),
            jumppad_ent: line.number("jumppad_ent"),
            pmove_framecount: line.number("pmove_framecount"),
            event_sequence: line.number("eventSequence"),
            velocity: line.vec3(["vx", "vy", "vz"]),
            ..PlayerState::default()
        };
        state.powerups[6] = line.number("pw_flight");
        let pad = line.vec3(["pad_origin2_x", "pad_origin2_y", "pad_origin2_z"]);
        impulses::touch_jump_pad(&mut state, line.number("pad_number"), pad);
        check_vec3(&line, ["out_vx", "out_vy", "out_vz"], state.velocity);
        for (column, ours) in [
            ("out_jumppad_ent", state.jumppad_ent),
            ("out_jumppad_frame", state.jumppad_frame),
            ("out_eventSequence", state.event_sequence),
            ("out_event0", state.events[0]),
            ("out_event1", state.events[1]),
            ("out_parm0", state.event_parms[0]),
            ("out_parm1", state.event_parms[1]),
        ] {
            assert_eq!(ours, line.number::<i32>(column), "{line}: {column}");
        }
    }
}

/// The columns of an entity, in the order of its structure; those of singles are marked.
const ENTITY: [(&str, bool); EntityState::WORDS] = [
    ("number", false),
    ("eType", false),
    ("eFlags", false),
    ("pos_trType", false),
    ("pos_trTime", false),
    ("pos_trDuration", false),
    ("pos_b0", true),
    ("pos_b1", true),
    ("pos_b2", true),
    ("pos_d0", true),
    ("pos_d1", true),
    ("pos_d2", true),
    ("apos_trType", false),
    ("apos_trTime", false),
    ("apos_trDuration", false),
    ("apos_b0", true),
    ("apos_b1", true),
    ("apos_b2", true),
    ("apos_d0", true),
    ("apos_d1", true),
    ("apos_d2", true),
    ("time", false),
    ("time2", false),
    ("origin0", true),
    ("origin1", true),
    ("origin2", true),
    ("origin2_0", true),
    ("origin2_1", true),
    ("origin2_2", true),
    ("angles0", true),
    ("angles1", true),
    ("angles2", true),
    ("angles2_0", true),
    ("angles2_1", true),
    ("angles2_2", true),
    ("otherEntityNum", false),
    ("otherEntityNum2", false),
    ("groundEntityNum", false),
    ("constantLight", false),
    ("loopSound", false),
    ("modelindex", false),
    ("modelindex2", false),
    ("clientNum", false),
    ("frame", false),
    ("solid", false),
    ("event", false),
    ("eventParm", false),
    ("powerups", false),
    ("weapon", false),
    ("legsAnim", false),
    ("torsoAnim", false),
    ("generic1", false),
];

#[test]
fn player_states_convert_to_entity_states() {
    for line in Table::read("ps2es.csv.gz").rows() {
        let int = |column: &str| line.number::<i32>(column);
        let vec3 = |name: &str| Vec3([0, 1, 2].map(|axis| line.float(&format!("{name}{axis}"))));
        let mut state = PlayerState {
            pm_type: int("pm_type"),
            origin: vec3("origin"),
            velocity: vec3("velocity"),
            viewangles: vec3("viewangles"),
            movement_dir: int("movementDir"),
            legs_anim: int("legsAnim"),
            torso_anim: int("torsoAnim"),
            client_num: int("clientNum"),
            e_flags: int("eFlags"),
            external_event: int("externalEvent"),
            external_event_parm: int("externalEventParm"),
            entity_event_sequence: int("entityEventSequence"),
            event_sequence: int("eventSequence"),
            events: [int("events0"), int("events1")],
            event_parms: [int("eventParms0"), int("eventParms1")],
            weapon: int("weapon"),
            ground_entity_num: int("groundEntityNum"),
            loop_sound: int("loopSound"),
            generic1: int("generic1"),
            ..PlayerState::default()
        };
        state.stats[0] = int("health");
        state.powerups = std::array::from_fn(|at| int(&format!("powerup{at}")));
        let mut entity = EntityState::default();
        let how = EntityStateOptions { truncated: int("snap") == 1, linear_stop_ms: None };
        player_entity(&mut state, &mut entity, how);
        for ((column, is_float), &word) in ENTITY.iter().zip(entity.words()) {
            let column = format!("out_{column}");
            if *is_float {
                check(&line, &column, f32::from_bits(word));
            } else {
                assert_eq!(word as i32, int(&column), "{line}: {column}");
            }
        }
        assert_eq!(state.entity_event_sequence, int("out_ps_entityEventSequence"), "{line}");
    }
}
