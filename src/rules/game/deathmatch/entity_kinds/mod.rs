//! Kinds of entities, with the state of each. Behavior is in the subsystems.

mod items;
mod missiles;
mod movers;
mod targets;

use crate::game::movement::GIB_HEALTH;
use crate::model::{EntityNum, LevelTime};

pub(super) use items::{ItemState, ItemThink};
pub(super) use missiles::{Kamikaze, KamikazeTimer, MineBase, Missile, MissileState, Portal};
pub(super) use movers::{Mover, MoverKind, MoverState, PathCorner, Route, Stop};
pub(super) use targets::{Laser, Shooter, Target, TargetKind};

/// Kind of an entity, with the state of that kind.
#[derive(Clone, Debug)]
pub(super) enum EntityKind {
    /// Temporary entity, freed when its event has expired.
    TempEntity,
    /// Position that others target.
    TargetPosition,
    /// Jump pad; its push velocity is the state's `origin2`.
    PushTrigger,
    /// Teleporter.
    Teleporter {
        /// Whether it ignores players.
        spectators_only: bool,
    },
    /// Hurt trigger.
    Hurt(Hurt),
    /// Trigger or target: fires its targets, or acts on its activator.
    Target(Box<Target>),
    /// Mover.
    Mover(Box<Mover>),
    /// Corner of a train's route.
    PathCorner(PathCorner),
    /// Named location.
    Location(Box<str>),
    /// Trigger box around a door.
    DoorTrigger {
        /// Master of the door's team.
        door: EntityNum,
        /// Axis along which the door is passed: the thinnest of the door.
        axis: usize,
    },
    /// Trigger box above a lowered plat.
    PlatTrigger(EntityNum),
    /// Slot of the body queue.
    Corpse(Corpse),
    /// Projectile in flight, or attached where it hit.
    Missile(Missile),
    /// Kamikaze explosion.
    Kamikaze(Kamikaze),
    /// Kamikaze item of a dead carrier.
    KamikazeTimer(KamikazeTimer),
    /// Entrance or exit that a player placed.
    Portal(Portal),
    /// Item.
    Item(Box<ItemState>),
    /// Entity without server behavior.
    Static,
}

/// Corpse, or an empty slot for one.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Corpse {
    pub(super) since: LevelTime,
    pub(super) health: i32,
}

/// State of a hurt trigger.
#[derive(Clone, Copy, Debug)]
pub(super) struct Hurt {
    pub(super) points: i32,
    pub(super) sound: i32,
    pub(super) next: LevelTime,
}

impl Corpse {
    /// Whether the corpse is not gibbed and can be damaged.
    pub(super) fn is_whole(&self) -> bool {
        self.health > GIB_HEALTH
    }
}
