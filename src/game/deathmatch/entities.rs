//! Entity table: one slot for each entity that is not a player.
//!
//! Invariants: numbers run from 64 to 1021; a number is taken again only a second after it became free,
//! so that clients do not take a new entity for the old one, unless the level has just begun or nothing
//! else is left. Source: the base game's entity slots.

use crate::bg::{EntityType, Event};
use crate::game::Host;
use crate::model::{
    EntityNum, EntitySet, EntityShared, EntityState, LevelTime, SvFlags, Trajectory, Vec3,
    limits::MAX_CLIENTS,
};

use super::{
    body_queue::Corpse,
    items::ItemState,
    movers::{Mover, PathCorner},
    targets::Target,
    triggers::Hurt,
    weapons::{Kamikaze, Missile},
};

/// Most entities at a time.
const MAX_ENTITIES: usize = EntityNum::WORLD.index() - MAX_CLIENTS;
/// How long a free number stays unused, in milliseconds.
const REST_MS: i32 = 1000;
/// How long after the start of a level numbers need no rest, in milliseconds.
const RESTLESS_MS: i32 = 2000;

/// What an entity does.
#[derive(Clone, Debug)]
pub(super) enum EntityKind {
    /// Shows its event and is gone.
    TempEntity,
    /// Is somewhere: a target.
    TargetPosition,
    /// A jump pad. Throws at the velocity in its state's `origin2`.
    PushTrigger,
    /// A teleporter.
    Teleporter {
        /// Only for those who watch.
        spectators_only: bool,
    },
    /// Hurts.
    Hurt(Hurt),
    /// Is set off: fires its targets, or acts on whoever did it.
    Target(Box<Target>),
    /// A moving part of the map.
    Mover(Box<Mover>),
    /// A place that trains come by.
    PathCorner(PathCorner),
    /// A place with a name.
    Location(Box<str>),
    /// The space around a door that opens it.
    DoorTrigger {
        /// The captain of the door's team.
        door: EntityNum,
        /// The axis along which one goes through.
        axis: usize,
    },
    /// The space above a lowered lift that raises it.
    PlatTrigger(EntityNum),
    /// A place for a body.
    Corpse(Corpse),
    /// Something that flies, or stuck where it flew.
    Missile(Missile),
    /// A kamikaze at work.
    Kamikaze(Kamikaze),
    /// Something to take.
    Item(Box<ItemState>),
    /// Something that only clients look at.
    Static,
}

/// One entity.
#[derive(Clone, Debug)]
pub(super) struct Entity {
    pub(super) state: EntityState,
    pub(super) shared: EntityShared,
    pub(super) kind: EntityKind,
    /// What it fires, and what it is fired by; empty for nothing.
    pub(super) target: Box<str>,
    pub(super) targetname: Box<str>,
    pub(super) spawnflags: i32,
    /// When it acts next by itself.
    pub(super) think_at: Option<LevelTime>,
    /// When its event was raised.
    pub(super) event_at: LevelTime,
}

impl Entity {
    /// An entity at rest at a place.
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

    /// Puts it somewhere, at rest.
    pub(super) fn set_origin(&mut self, origin: Vec3) {
        self.state.pos = Trajectory::stationary(origin, LevelTime(0));
        self.shared.current_origin = origin;
    }

    /// Raises an event on it.
    pub(super) fn add_event(&mut self, event: Event, parm: i32, now: LevelTime) {
        let count = ((self.state.event & 0x300) + 0x100) & 0x300;
        self.state.event = event as i32 | count;
        self.state.event_parm = parm;
        self.event_at = now;
    }
}

/// The table.
#[derive(Clone, Debug)]
pub(super) struct Entities {
    /// By client number: when the player's event was raised.
    pub(super) player_event_at: [LevelTime; MAX_CLIENTS],
    /// Those in use hold an entity, the others are in `free`.
    slots: Vec<Option<Entity>>,
    /// When each slot became free; entities are large, so that this is not looked for among them.
    freed_at: Vec<LevelTime>,
    free: EntitySet,
}

impl Default for Entities {
    fn default() -> Self {
        Self {
            player_event_at: [LevelTime::default(); MAX_CLIENTS],
            slots: Vec::new(),
            freed_at: Vec::new(),
            free: EntitySet::default(),
        }
    }
}

impl Entities {
    pub(super) fn clear(&mut self) {
        *self = Self::default();
    }

    /// One more than the highest number that may be in use; 0 when none is.
    pub(super) fn end(&self) -> usize {
        let last = self.slots.iter().rposition(Option::is_some);
        last.map_or(0, |last| MAX_CLIENTS + last + 1)
    }

    /// Every number that may be in use, ascending.
    pub(super) fn numbers(&self) -> impl Iterator<Item = EntityNum> + use<> {
        (MAX_CLIENTS..MAX_CLIENTS + self.slots.len()).filter_map(EntityNum::new)
    }

    pub(super) fn get(&self, number: EntityNum) -> Option<&Entity> {
        self.slots.get(number.index().checked_sub(MAX_CLIENTS)?)?.as_ref()
    }

    pub(super) fn get_mut(&mut self, number: EntityNum) -> Option<&mut Entity> {
        self.slots.get_mut(number.index().checked_sub(MAX_CLIENTS)?)?.as_mut()
    }

    /// The entities of a target name.
    pub(super) fn named<'a>(&'a self, name: &'a str) -> impl Iterator<Item = EntityNum> + 'a {
        self.numbers().filter(move |&number| {
            !name.is_empty()
                && self
                    .get(number)
                    .is_some_and(|entity| entity.targetname.eq_ignore_ascii_case(name))
        })
    }

    /// Takes a slot for an entity. None when all are taken.
    pub(super) fn add(
        &mut self,
        mut entity: Entity,
        now: LevelTime,
        started: LevelTime,
    ) -> Option<EntityNum> {
        let rested = |number: &EntityNum| {
            let freed = self.freed_at[number.index() - MAX_CLIENTS];
            freed.distance(started) <= RESTLESS_MS || now.distance(freed) >= REST_MS
        };
        let number = match self.free.iter().find(rested) {
            Some(number) => number,
            None if self.slots.len() < MAX_ENTITIES => {
                let number = EntityNum::new(MAX_CLIENTS + self.slots.len())?;
                self.slots.push(None);
                self.freed_at.push(now);
                number
            }
            None => self.free.iter().next()?,
        };
        entity.state.number = number.index() as i32;
        self.free.remove(number);
        self.slots[number.index() - MAX_CLIENTS] = Some(entity);
        Some(number)
    }

    /// Removes an entity from the level.
    pub(super) fn remove(&mut self, host: &mut dyn Host, number: EntityNum, now: LevelTime) {
        let Some(place) = number.index().checked_sub(MAX_CLIENTS) else { return };
        let Some(mut entity) = self.slots.get_mut(place).and_then(Option::take) else { return };
        if entity.shared.is_linked() {
            host.unlink_entity(number, &mut entity.shared);
        }
        self.freed_at[place] = now;
        self.free.insert(number);
    }

    /// Makes an entity part of the world where it is now.
    pub(super) fn link(&mut self, host: &mut dyn Host, number: EntityNum) {
        if let Some(entity) = self.get_mut(number) {
            host.link_entity(&mut entity.state, &mut entity.shared);
        }
    }

    /// Takes an entity out of the world.
    pub(super) fn unlink(&mut self, host: &mut dyn Host, number: EntityNum) {
        if let Some(entity) = self.get_mut(number).filter(|entity| entity.shared.is_linked()) {
            host.unlink_entity(number, &mut entity.shared);
        }
    }

    /// An event at a place, for a moment. `fill` says the rest of it.
    pub(super) fn temp_entity(
        &mut self,
        host: &mut dyn Host,
        (now, started): (LevelTime, LevelTime),
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
        }
    }
}

/// Who may be told of an event that concerns one client only.
pub(super) fn send_only_to(shared: &mut EntityShared, client: usize) {
    shared.sv_flags = SvFlags::SINGLE_CLIENT;
    shared.single_client = client as i32;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::game::conformance::TestHost;

    #[test]
    fn numbers_rest_before_they_are_taken_again() {
        let (mut entities, mut host) = (Entities::default(), TestHost::default());
        let started = LevelTime(0);
        let place = || Entity::new(EntityKind::TargetPosition, Vec3::ZERO);
        let add = |entities: &mut Entities, at| {
            entities.add(place(), LevelTime(at), started).map(EntityNum::index)
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
    fn a_full_level_takes_no_more() {
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
