//! States and snapshots of `snapshots.jsonl`, shared with the benchmarks.
//!
//! A state is an object from field name to value, an absent field being zero. Integers are decimal,
//! floats are the hexadecimal digits of their bits.

use crate::{
    model::{EntityState, PlayerState},
    wire::field_tables,
};
use serde_json::Value;

/// The 32 bits of a field.
fn word(value: &Value) -> u32 {
    match value {
        Value::String(hex) => u32::from_str_radix(hex, 16).unwrap(),
        number => number.as_i64().unwrap() as u32,
    }
}

/// An entity's state.
pub fn entity_of(value: &Value) -> EntityState {
    let mut state = EntityState::default();
    for (name, value) in value.as_object().unwrap() {
        *entity_field(&mut state, name) = word(value);
    }
    state
}

/// A player's state; none is the zero state.
pub fn player_of(value: &Value) -> PlayerState {
    let mut state = PlayerState::default();
    for (name, value) in value.as_object().into_iter().flatten() {
        *player_field(&mut state, name) = word(value);
    }
    state
}

/// The word of an entity's field.
pub fn entity_field<'a>(state: &'a mut EntityState, name: &str) -> &'a mut u32 {
    let at = match name {
        "number" => 0,
        _ => field_tables::ENTITY_68
            .word_of(name)
            .unwrap_or_else(|| panic!("no entity field {name}")),
    };
    &mut state.words_mut()[at]
}

/// The word of a playerstate's field, of those that never travel, too.
pub fn player_field<'a>(state: &'a mut PlayerState, name: &str) -> &'a mut u32 {
    if let Some(at) = field_tables::PLAYER_68.word_of(name) {
        return &mut state.words_mut()[at];
    }
    let (name, index) = match name.trim_end_matches(']').split_once('[') {
        Some((array, index)) => (array, index.parse().unwrap()),
        None => (name, 0),
    };
    let member = match name {
        "stats" => &mut state.stats[index],
        "persistant" => &mut state.persistant[index],
        "ammo" => &mut state.ammo[index],
        "powerups" => &mut state.powerups[index],
        "ping" => &mut state.ping,
        "pmove_framecount" => &mut state.pmove_framecount,
        "jumppad_frame" => &mut state.jumppad_frame,
        "entityEventSequence" => &mut state.entity_event_sequence,
        "externalEventTime" => &mut state.external_event_time,
        _ => panic!("no playerstate field {name}"),
    };
    bytemuck::must_cast_mut(member)
}

/// Delta base of a snapshot, its content, and the baselines of new entities.
pub struct RecordedScene {
    pub old: (PlayerState, Vec<EntityState>),
    pub new: (PlayerState, Vec<EntityState>),
    pub baselines: Vec<EntityState>,
    nothing: EntityState,
}

impl RecordedScene {
    /// The scene of a line of kind `snapshot`.
    pub fn of(case: &Value) -> Self {
        let old = match &case["old"] {
            Value::Null => Default::default(),
            old => (player_of(&old["ps"]), entities_of(&old["entities"], &[])),
        };
        let new = &case["new"];
        let new = (player_of(&new["ps"]), entities_of(&new["entities"], &old.1));
        let baselines = case["baselines"].as_array().unwrap().iter().map(entity_of).collect();
        Self { old, new, baselines, nothing: EntityState::default() }
    }

    /// The baseline of that number, or the zero state.
    pub fn baseline(&self, number: i32) -> &EntityState {
        self.baselines.iter().find(|baseline| baseline.number == number).unwrap_or(&self.nothing)
    }
}

/// A list of entities; a plain integer is the base entity of that number.
fn entities_of(list: &Value, old: &[EntityState]) -> Vec<EntityState> {
    let one = |value: &Value| match value.as_i64() {
        Some(number) => *old.iter().find(|e| i64::from(e.number) == number).unwrap(),
        None => entity_of(value),
    };
    list.as_array().unwrap().iter().map(one).collect()
}
