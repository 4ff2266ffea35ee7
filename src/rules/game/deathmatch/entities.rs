//! Entity table: one slot for each entity that is not a player.
//!
//! Invariants:
//! - Numbers run from 64 to 1021.
//! - A freed number stays unused for a second, so that clients do not mistake the new entity for the old
//!   one. Exceptions: entities freed in the first two seconds of a level, and a full table.
//! - A slot is empty exactly if its number is free.
//! - An entity changes only through [`Entities::get_mut`] and the methods that mark it. Frames skip unmarked ones.
//!
//! Source: the base game's entity slots. Engine names: `G_Spawn`, `G_FreeEntity`.

use super::{entity_kinds::EntityKind, free_numbers::FreeNumbers};
use crate::bg::{EntityType, Event};
use crate::game::{Host, movement::events};
use crate::model::{
    EntityNum, EntitySet, EntityShared, EntityState, LevelTime, SvFlags, Trajectory, Vec3,
    limits::MAX_CLIENTS,
};
use std::collections::VecDeque;

/// Maximum number of entities beside the players.
const MAX_ENTITIES: usize = EntityNum::WORLD.index() - MAX_CLIENTS;

/// Entity of the level; players are not in this table.
#[derive(Clone, Debug)]
pub(super) struct Entity {
    pub(super) state: EntityState,
    pub(super) shared: EntityShared,
    pub(super) kind: EntityKind,
    /// Name of the entities that it fires; empty for none.
    pub(super) target: Box<str>,
    /// Name that others target it by; empty for none.
    pub(super) targetname: Box<str>,
    pub(super) spawnflags: i32,
    /// Time of its next think.
    pub(super) think_at: Option<LevelTime>,
    /// Time of its last event.
    pub(super) event_at: LevelTime,
}

impl Entity {
    /// Creates a stationary entity.
    pub(super) fn new(kind: EntityKind, origin: Vec3) -> Self {
        let mut entity = Self {
            state: EntityState::default(),
            shared: EntityShared {
                owner_num: EntityNum::NONE.index() as i32,
                ..EntityShared::default()
            },
            kind,
            target: "".into(),
            targetname: "".into(),
            spawnflags: 0,
            think_at: None,
            event_at: LevelTime::default(),
        };
        entity.set_origin(origin);
        entity
    }

    /// Sets its origin and makes it stationary.
    pub(super) fn set_origin(&mut self, origin: Vec3) {
        self.state.pos = Trajectory::stationary(origin, LevelTime(0));
        self.shared.current_origin = origin;
    }

    /// Adds an event, numbered so that clients see a repeat of the same event.
    pub(super) fn add_event(&mut self, event: Event, parm: i32, now: LevelTime) {
        let count = ((self.state.event & 0x300) + 0x100) & 0x300;
        self.state.event = event as i32 | count;
        self.state.event_parm = parm;
        self.event_at = now;
    }
}

/// Entity table.
#[derive(Clone, Debug)]
pub(super) struct Entities {
    /// Time of each player's last event, by client number.
    pub(super) player_event_at: [LevelTime; MAX_CLIENTS],
    /// Slots by number, from 64 on.
    slots: Vec<Option<Entity>>,
    /// Number of slots up to the last one in use.
    used: usize,
    free: FreeNumbers,
    marks: Marks,
    /// Temporary entities, by the time of their event.
    temporary: VecDeque<(LevelTime, EntityNum)>,
}

/// Entities to look at, since they were accessed for a change. Few of a level are, so frames skip the others.
#[derive(Clone, Debug)]
struct Marks {
    /// Numbers whose entity may have changed since these were taken; at first all.
    changed: EntitySet,
    /// Entities whose last event may not have expired.
    with_events: EntitySet,
    /// Entities that act in a frame. The others have nothing to do until they are changed.
    awake: EntitySet,
}

impl Marks {
    /// Marks an entity that is new or may change.
    fn wake(&mut self, number: EntityNum) {
        for set in [&mut self.changed, &mut self.with_events, &mut self.awake] {
            set.insert(number);
        }
    }

    /// Marks an entity that is gone.
    fn remove(&mut self, number: EntityNum) {
        self.changed.insert(number);
        self.with_events.remove(number);
        self.awake.remove(number);
    }
}

impl Default for Entities {
    fn default() -> Self {
        Self {
            player_event_at: [LevelTime::default(); MAX_CLIENTS],
            slots: Vec::new(),
            used: 0,
            free: FreeNumbers::default(),
            marks: Marks {
                changed: EntitySet::ALL,
                with_events: EntitySet::default(),
                awake: EntitySet::default(),
            },
            temporary: VecDeque::new(),
        }
    }
}

impl Entities {
    pub(super) fn clear(&mut self) {
        *self = Self::default();
    }

    /// Returns one more than the highest number in use; 0 for an empty table.
    pub(super) fn end(&self) -> usize {
        if self.used == 0 { 0 } else { MAX_CLIENTS + self.used }
    }

    /// Iterates all numbers that may be in use, ascending.
    pub(super) fn numbers(&self) -> impl Iterator<Item = EntityNum> + use<> {
        (MAX_CLIENTS..MAX_CLIENTS + self.slots.len()).filter_map(EntityNum::new)
    }

    pub(super) fn get(&self, number: EntityNum) -> Option<&Entity> {
        self.slots.get(number.index().checked_sub(MAX_CLIENTS)?)?.as_ref()
    }

    /// Returns an entity for a change, which wakes it.
    pub(super) fn get_mut(&mut self, number: EntityNum) -> Option<&mut Entity> {
        let entity = self.slots.get_mut(number.index().checked_sub(MAX_CLIENTS)?)?.as_mut()?;
        self.marks.wake(number);
        Some(entity)
    }

    /// Returns the numbers whose entity may have changed since the last call.
    pub(super) fn take_changed(&mut self) -> EntitySet {
        std::mem::take(&mut self.marks.changed)
    }

    /// Returns the lowest number of an entity that acts in a frame and is not below a limit.
    pub(super) fn next_awake(&self, limit: usize) -> Option<EntityNum> {
        self.marks.awake.first_from(limit)
    }

    /// Iterates the entities that act in a frame, ascending.
    pub(super) fn awake(&self) -> impl Iterator<Item = EntityNum> {
        self.marks.awake.iter()
    }

    /// Lets an entity sleep until its next change.
    pub(super) fn sleep(&mut self, number: EntityNum) {
        self.marks.awake.remove(number);
    }

    /// Clears the events that have expired, and removes the temporary entities that had them.
    pub(super) fn clear_expired_events(&mut self, host: &mut dyn Host, now: LevelTime) {
        let is_over = |at: LevelTime| now.distance(at) > events::EVENT_MS;
        while let Some(&(_, number)) = self.temporary.front().filter(|&&(at, _)| is_over(at)) {
            self.temporary.pop_front();
            // The number may be that of another entity meanwhile.
            let entity = self.get(number).filter(|entity| is_over(entity.event_at));
            if entity.is_some_and(|entity| matches!(entity.kind, EntityKind::TempEntity)) {
                self.remove(host, number, now);
            }
        }
        for number in self.marks.with_events.clone().iter() {
            let slot = number.index().checked_sub(MAX_CLIENTS);
            let entity = slot.and_then(|slot| self.slots.get_mut(slot)).and_then(Option::as_mut);
            let Some(entity) = entity else { continue };
            if !is_over(entity.event_at) {
                continue;
            }
            self.marks.with_events.remove(number);
            if matches!(entity.kind, EntityKind::TempEntity) {
                self.remove(host, number, now);
            } else if std::mem::take(&mut entity.state.event) != 0 {
                self.marks.changed.insert(number);
            }
        }
    }

    /// Iterates the entities with a target name, case ignored.
    pub(super) fn named<'a>(&'a self, name: &'a str) -> impl Iterator<Item = EntityNum> + 'a {
        self.numbers().filter(move |&number| {
            !name.is_empty()
                && self
                    .get(number)
                    .is_some_and(|entity| entity.targetname.eq_ignore_ascii_case(name))
        })
    }

    /// Adds an entity in a free slot. Returns `None` when the table is full.
    pub(super) fn add(
        &mut self,
        mut entity: Entity,
        now: LevelTime,
        started: LevelTime,
    ) -> Option<EntityNum> {
        let number = match self.free.take_rested(now, started) {
            Some(number) => number,
            None if self.slots.len() < MAX_ENTITIES => {
                let number = EntityNum::new(MAX_CLIENTS + self.slots.len())?;
                self.slots.push(None);
                self.free.reserve(self.slots.len());
                number
            }
            None => self.free.take_resting()?,
        };
        entity.state.number = number.index() as i32;
        let slot = number.index() - MAX_CLIENTS;
        self.slots[slot] = Some(entity);
        self.used = self.used.max(slot + 1);
        self.marks.wake(number);
        Some(number)
    }

    /// Unlinks an entity and frees its slot.
    pub(super) fn remove(&mut self, host: &mut dyn Host, number: EntityNum, now: LevelTime) {
        let Some(slot) = number.index().checked_sub(MAX_CLIENTS) else { return };
        let Some(slot) = self.slots.get_mut(slot) else { return };
        let Some(entity) = slot else { return };
        if entity.shared.is_linked() {
            host.unlink_entity(number, &mut entity.shared);
        }
        *slot = None;
        while self.used.checked_sub(1).is_some_and(|last| self.slots[last].is_none()) {
            self.used -= 1;
        }
        self.marks.remove(number);
        self.free.add(number, now);
    }

    /// Links an entity at its current origin.
    pub(super) fn link(&mut self, host: &mut dyn Host, number: EntityNum) {
        if let Some(entity) = self.get_mut(number) {
            host.link_entity(&mut entity.state, &mut entity.shared);
        }
    }

    /// Unlinks a linked entity.
    pub(super) fn unlink(&mut self, host: &mut dyn Host, number: EntityNum) {
        if let Some(entity) = self.get_mut(number).filter(|entity| entity.shared.is_linked()) {
            host.unlink_entity(number, &mut entity.shared);
        }
    }

    /// Adds a temporary entity with an event. `fill` sets its other fields.
    pub(super) fn temp_entity(
        &mut self,
        host: &mut dyn Host,
        now: LevelTime,
        started: LevelTime,
        origin: Vec3,
        event: Event,
        fill: impl FnOnce(&mut EntityState, &mut EntityShared),
    ) {
        let mut entity = Entity::new(EntityKind::TempEntity, origin.truncated());
        entity.state.e_type = EntityType::with_event(event);
        entity.event_at = now;
        fill(&mut entity.state, &mut entity.shared);
        if let Some(number) = self.add(entity, now, started) {
            self.link(host, number);
            self.marks.with_events.remove(number);
            self.temporary.push_back((now, number));
        }
    }
}

/// Restricts an entity to the snapshots of one client.
pub(super) fn send_only_to(shared: &mut EntityShared, client: usize) {
    shared.sv_flags = SvFlags::SINGLE_CLIENT;
    shared.single_client = client as i32;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::game::conformance::TestHost;

    #[test]
    fn freed_number_rests_before_reuse() {
        let (mut entities, mut host) = (Entities::default(), TestHost::default());
        let started = LevelTime(0);
        let target = || Entity::new(EntityKind::TargetPosition, Vec3::ZERO);
        let add = |entities: &mut Entities, at| {
            entities.add(target(), LevelTime(at), started).map(EntityNum::index)
        };
        assert_eq!((add(&mut entities, 0), add(&mut entities, 0)), (Some(64), Some(65)));
        let first = EntityNum::new(64).unwrap();
        entities.remove(&mut host, first, LevelTime(100));
        assert_eq!(add(&mut entities, 150), Some(64), "the level has just begun");
        entities.remove(&mut host, first, LevelTime(5000));
        assert_eq!(add(&mut entities, 5999), Some(66));
        assert_eq!(add(&mut entities, 6000), Some(64));
    }

    #[test]
    fn end_is_behind_the_last_entity() {
        let (mut entities, mut host) = (Entities::default(), TestHost::default());
        let now = LevelTime(0);
        assert_eq!(entities.end(), 0);
        let mut numbers: Vec<_> = (0..4)
            .filter_map(|_| {
                entities.add(Entity::new(EntityKind::TargetPosition, Vec3::ZERO), now, now)
            })
            .collect();
        for (removed, end) in [(1, 68), (2, 67), (1, 65), (0, 0)] {
            entities.remove(&mut host, numbers.remove(removed), now);
            assert_eq!(entities.end(), end);
        }
        entities.add(Entity::new(EntityKind::TargetPosition, Vec3::ZERO), now, now);
        assert_eq!(entities.end(), 65);
    }

    #[test]
    fn temporary_entity_lasts_as_long_as_its_event() {
        let (mut entities, mut host) = (Entities::default(), TestHost::default());
        let add = |entities: &mut Entities, at: i32| {
            let (host, now) = (&mut TestHost::default(), LevelTime(at));
            entities.temp_entity(host, now, now, Vec3::ZERO, Event::Pain, |_, _| {});
        };
        let kept = |entities: &Entities| {
            let kept = entities.numbers().filter(|&number| entities.get(number).is_some());
            kept.map(EntityNum::index).collect::<Vec<_>>()
        };
        add(&mut entities, 1000);
        add(&mut entities, 1000);
        add(&mut entities, 1100);
        // One is removed early, and its number is used again.
        let second = EntityNum::new(65).unwrap();
        entities.remove(&mut host, second, LevelTime(1100));
        add(&mut entities, 1200);
        // One is accessed for a change.
        entities.get_mut(EntityNum::new(66).unwrap()).unwrap().state.event_parm = 1;
        for (after, left) in [
            (1000 + events::EVENT_MS, vec![64, 65, 66]),
            (1001 + events::EVENT_MS, vec![65, 66]),
            (1101 + events::EVENT_MS, vec![65]),
            (1200 + events::EVENT_MS, vec![65]),
            (1201 + events::EVENT_MS, vec![]),
        ] {
            entities.clear_expired_events(&mut host, LevelTime(after));
            assert_eq!(kept(&entities), left, "{after}");
        }
        assert!(entities.temporary.is_empty());
    }

    #[test]
    fn full_table_rejects_entities() {
        let mut entities = Entities::default();
        for _ in 0..MAX_ENTITIES {
            assert!(
                entities
                    .add(
                        Entity::new(EntityKind::TargetPosition, Vec3::ZERO),
                        LevelTime(0),
                        LevelTime(0)
                    )
                    .is_some()
            );
        }
        assert_eq!(
            entities.add(
                Entity::new(EntityKind::TargetPosition, Vec3::ZERO),
                LevelTime(0),
                LevelTime(0)
            ),
            None
        );
        assert_eq!(entities.end(), 1022);
    }
}
