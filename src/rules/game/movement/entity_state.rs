//! Entity state of a player, made from its player state.
//!
//! Source: the base game's conversion; checked against 120 states converted by it.

use super::{GIB_HEALTH, HEALTH, events, set};
use crate::bg::{EntityType, PmType, entity_flag};
use crate::model::{EntityState, PlayerState, Trajectory, TrajectoryKind, Vec3};

/// Options of the conversion to an entity state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EntityStateOptions {
    /// Whether origins and angles are truncated to whole numbers, as by servers; clients predict without.
    pub truncated: bool,
    /// Time of linear extrapolation after the last usercmd, in ms. With `None` clients interpolate.
    pub linear_stop_ms: Option<i32>,
}

/// Updates the entity state from the player state. Fields without a source keep their values. At most
/// one pending event moves into the entity.
pub fn player_entity(state: &mut PlayerState, entity: &mut EntityState, how: EntityStateOptions) {
    let whole = |v: Vec3| if how.truncated { v.truncated() } else { v };
    let hidden = state.pm_type == PmType::Intermission
        || state.pm_type == PmType::Spectator
        || state.stats[HEALTH] <= GIB_HEALTH;
    entity.e_type = if hidden { EntityType::Invisible } else { EntityType::Player } as i32;
    entity.number = state.client_num;
    entity.client_num = state.client_num;

    let kept = entity.pos;
    entity.pos = Trajectory {
        time: kept.time,
        duration: kept.duration,
        ..Trajectory::interpolate(whole(state.origin), state.velocity)
    };
    if let Some(duration) = how.linear_stop_ms {
        entity.pos.kind = TrajectoryKind::LinearStop as i32;
        entity.pos.time = state.command_time;
        entity.pos.duration = duration;
    }
    entity.apos.kind = TrajectoryKind::Interpolate as i32;
    entity.apos.base = whole(state.viewangles);
    entity.angles2[1] = state.movement_dir as f32;

    entity.legs_anim = state.legs_anim;
    entity.torso_anim = state.torso_anim;
    entity.weapon = state.weapon;
    entity.ground_entity_num = state.ground_entity_num;
    entity.loop_sound = state.loop_sound;
    entity.generic1 = state.generic1;
    entity.e_flags = state.e_flags;
    set(&mut entity.e_flags, entity_flag::DEAD, state.stats[HEALTH] <= 0);
    // Most players have none.
    let any = state.powerups.iter().fold(0, |any, until| any | until);
    let held = |bits, (powerup, &until): (usize, &i32)| bits | i32::from(until != 0) << powerup;
    entity.powerups = if any == 0 { 0 } else { state.powerups.iter().enumerate().fold(0, held) };
    events::show_on_entity(state, entity);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Row of the vector file, by column name.
    struct Row<'a> {
        names: Vec<&'a str>,
        values: Vec<&'a str>,
    }

    impl Row<'_> {
        fn text(&self, name: &str) -> &str {
            let at = self.names.iter().position(|&n| n == name).expect("a column");
            self.values[at]
        }
        fn int(&self, name: &str) -> i32 {
            self.text(name).parse().expect("a number")
        }
        fn float(&self, name: &str) -> f32 {
            f32::from_bits(u32::from_str_radix(self.text(name), 16).expect("a word"))
        }
        fn vec3(&self, name: &str) -> Vec3 {
            Vec3([0, 1, 2].map(|axis| self.float(&format!("{name}{axis}"))))
        }
        fn state(&self) -> PlayerState {
            let mut state = PlayerState {
                pm_type: self.int("pm_type"),
                origin: self.vec3("origin"),
                velocity: self.vec3("velocity"),
                viewangles: self.vec3("viewangles"),
                movement_dir: self.int("movementDir"),
                legs_anim: self.int("legsAnim"),
                torso_anim: self.int("torsoAnim"),
                client_num: self.int("clientNum"),
                e_flags: self.int("eFlags"),
                external_event: self.int("externalEvent"),
                external_event_parm: self.int("externalEventParm"),
                entity_event_sequence: self.int("entityEventSequence"),
                event_sequence: self.int("eventSequence"),
                events: [self.int("events0"), self.int("events1")],
                event_parms: [self.int("eventParms0"), self.int("eventParms1")],
                weapon: self.int("weapon"),
                ground_entity_num: self.int("groundEntityNum"),
                loop_sound: self.int("loopSound"),
                generic1: self.int("generic1"),
                ..PlayerState::default()
            };
            state.stats[HEALTH] = self.int("health");
            for powerup in 0..16 {
                state.powerups[powerup] = self.int(&format!("powerup{powerup}"));
            }
            state
        }
    }

    #[test]
    fn player_entity_vector() {
        let text = include_str!("../../../../tests/vectors/flight/player_entity.csv");
        let mut lines = text.lines();
        let names: Vec<_> = lines.next().expect("a header").split(',').collect();
        for line in lines {
            let row = Row { names: names.clone(), values: line.split(',').collect() };
            let mut state = row.state();
            let mut entity = EntityState::default();
            let how = EntityStateOptions { truncated: row.int("snap") == 1, linear_stop_ms: None };
            player_entity(&mut state, &mut entity, how);
            let first = names.iter().position(|n| *n == "out_number").expect("a column");
            // Columns hold integers as decimal numbers and floats as hexadecimal words.
            for (at, word) in entity.words().iter().enumerate() {
                let theirs = row.values[first + at];
                let float = u32::from_str_radix(theirs, 16).ok().filter(|_| theirs.len() == 8);
                let int = theirs.parse::<i32>().ok().map(|number| number as u32);
                assert!(
                    float == Some(*word) || int == Some(*word),
                    "{} is {word:#x}, not {theirs}: {line}",
                    names[first + at]
                );
            }
            assert_eq!(state.entity_event_sequence, row.int("out_ps_entityEventSequence"));
        }
    }

    #[test]
    fn smoothed_entity_extrapolates_from_last_usercmd() {
        let mut state = PlayerState { command_time: 1234, ..PlayerState::default() };
        let mut entity = EntityState::default();
        let how = EntityStateOptions { truncated: true, linear_stop_ms: Some(50) };
        player_entity(&mut state, &mut entity, how);
        assert_eq!((entity.pos.kind, entity.pos.time, entity.pos.duration), (3, 1234, 50));
    }
}
