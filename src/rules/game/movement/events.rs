//! Player events: predictable ring of two, external event, and their transfer to the entity.
//!
//! Clients raise predictable events themselves and skip those that they have played, so the sequence
//! number must advance exactly as theirs. All other events of a player are external. Source: the base
//! game's events.

use super::entity_state::{EntityStateOptions, player_entity};
use crate::bg::{EntityType, Event, entity_flag};
use crate::model::{EntityState, PlayerState};

/// Bits above the event number that count occurrences.
const COUNT_MASK: i32 = 0x300;
/// Increment of the occurrence count.
const COUNT_STEP: i32 = 0x100;
/// Time that an event stays on an entity, in ms.
pub const EVENT_MS: i32 = 300;

/// Queues a predictable event. The ring holds two; a third overwrites the first.
pub fn queue(state: &mut PlayerState, event: Event, parm: i32) {
    let slot = slot(state.event_sequence);
    state.events[slot] = event as i32;
    state.event_parms[slot] = parm;
    state.event_sequence = state.event_sequence.wrapping_add(1);
}

/// Sets the external event of a player at level time `now`.
pub fn show_external(state: &mut PlayerState, event: Event, parm: i32, now: i32) {
    let count = ((state.external_event & COUNT_MASK) + COUNT_STEP) & COUNT_MASK;
    state.external_event = event as i32 | count;
    state.external_event_parm = parm;
    state.external_event_time = now;
}

/// Moves the next predictable event into the entity, or the external event if one is set.
pub(super) fn show_on_entity(state: &mut PlayerState, entity: &mut EntityState) {
    if state.external_event != 0 {
        entity.event = state.external_event;
        entity.event_parm = state.external_event_parm;
    } else if state.entity_event_sequence < state.event_sequence {
        // The ring holds two: older ones are lost.
        let oldest = state.event_sequence.saturating_sub(2);
        let sequence = state.entity_event_sequence.max(oldest);
        entity.event = state.events[slot(sequence)] | (sequence & 3) << 8;
        entity.event_parm = state.event_parms[slot(sequence)];
        state.entity_event_sequence = sequence + 1;
    }
}

/// Returns a temp entity for the next pending predictable event, or `None` if all have been sent.
///
/// The caller sends it for [`EVENT_MS`] to all clients except the player. `number` is the entity number.
pub fn pending_event(state: &mut PlayerState, number: i32) -> Option<EntityState> {
    if state.entity_event_sequence >= state.event_sequence {
        return None;
    }
    // The type names the event in the slot of the oldest pending one, also if a third has overwritten it.
    let oldest = state.entity_event_sequence;
    let event = state.events[slot(oldest)] | (oldest & 3) << 8;
    let external = std::mem::take(&mut state.external_event);
    let mut entity = EntityState::default();
    let how = EntityStateOptions { truncated: true, linear_stop_ms: None };
    player_entity(state, &mut entity, how);
    state.external_event = external;
    // The occurrence count is part of the type. The wire format sends 8 bits and drops it, in every
    // game.
    entity.e_type = EntityType::Events as i32 + event;
    entity.number = number;
    entity.e_flags |= entity_flag::PLAYER_EVENT;
    entity.other_entity_num = state.client_num;
    Some(entity)
}

const fn slot(sequence: i32) -> usize {
    (sequence & 1) as usize
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bg::Event;
    use crate::model::Vec3;

    #[test]
    fn event_ring_keeps_last_two_events() {
        let mut state = PlayerState::default();
        for (at, event) in [Event::Jump, Event::Footstep, Event::Swim].into_iter().enumerate() {
            queue(&mut state, event, at as i32);
        }
        assert_eq!(state.events, [Event::Swim, Event::Footstep]);
        assert_eq!((state.event_parms, state.event_sequence), ([2, 1], 3));
        let mut state = PlayerState { event_sequence: i32::MAX, ..PlayerState::default() };
        queue(&mut state, Event::Jump, 0);
        queue(&mut state, Event::Jump, 0);
        assert_eq!(state.event_sequence, i32::MIN + 1);
    }

    #[test]
    fn repeated_external_event_changes_its_count() {
        let mut state = PlayerState::default();
        let shown: Vec<_> = (0..5)
            .map(|now| {
                show_external(&mut state, Event::Pain, 80, now);
                state.external_event
            })
            .collect();
        assert_eq!(shown, [56 | 0x100, 56 | 0x200, 56 | 0x300, 56, 56 | 0x100]);
        assert_eq!((state.external_event_parm, state.external_event_time), (80, 4));
    }

    #[test]
    fn pending_event_becomes_temp_entity() {
        let mut state = PlayerState {
            client_num: 5,
            origin: Vec3::new(1.5, -1.5, 0.0),
            external_event: 56,
            ..PlayerState::default()
        };
        assert_eq!(pending_event(&mut state, 100), None);
        queue(&mut state, Event::Jump, 0);
        queue(&mut state, Event::Footstep, 0);
        state.external_event = 0;
        let mut entity = EntityState::default();
        show_on_entity(&mut state, &mut entity);
        assert_eq!(entity.event, Event::Jump);
        state.external_event = 56;
        let other = pending_event(&mut state, 100).expect("one is left");
        assert_eq!((other.number, other.e_type), (100, 13 + (Event::Footstep as i32 | 0x100)));
        assert_eq!((other.pos.base, other.other_entity_num), (Vec3::new(1.0, -1.0, 0.0), 5));
        assert_ne!(other.e_flags & entity_flag::PLAYER_EVENT, 0);
        assert_eq!(state.external_event, 56);
        assert_eq!(pending_event(&mut state, 100), None);
    }

    #[test]
    fn third_pending_event_replaces_the_type_of_the_first() {
        let mut state = PlayerState::default();
        for event in [Event::Footstep, Event::Step4, Event::ChangeWeapon] {
            queue(&mut state, event, 0);
        }
        let shown = pending_event(&mut state, 100).expect("a pending event");
        assert_eq!(shown.e_type, EntityType::Events as i32 + Event::ChangeWeapon as i32);
        assert_eq!(shown.event, Event::Step4 as i32 | 0x100);
    }
}
