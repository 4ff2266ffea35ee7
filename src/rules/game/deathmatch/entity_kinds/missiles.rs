//! State of a missile, a mine and a kamikaze.

use crate::bg::{MeansOfDeath, weapons::ImpactBehavior};
use crate::model::{ClientNum, EntityNum, LevelTime, Vec3};

/// State of a missile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MissileState {
    /// Flying.
    Flying,
    /// Hook attached to the map or to an entity.
    Hooked(Option<EntityNum>),
    /// Mine that sticks and is not armed yet.
    Arming,
    /// Armed mine that waits for an enemy.
    Armed,
    /// Triggered mine that is about to explode.
    Triggered,
    /// Mine that ticks on a player.
    OnPlayer(ClientNum),
}

/// Server side state of a missile entity.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Missile {
    /// Entity that fired the missile.
    pub(crate) owner: EntityNum,
    pub(crate) number: i32,
    pub(crate) damage: i32,
    pub(crate) splash_damage: f32,
    pub(crate) splash_radius: f32,
    pub(crate) means: MeansOfDeath,
    pub(crate) splash_means: MeansOfDeath,
    pub(crate) on_impact: ImpactBehavior,
    pub(crate) state: MissileState,
    /// Player whose invulnerability sphere deflected the missile, until it has left the sphere.
    pub(crate) leaving_sphere: Option<EntityNum>,
    /// Whether a mine has left its owner's bounding box.
    pub(crate) has_left_owner: bool,
    /// Surface that a mine sticks to.
    pub(crate) base: Option<MineBase>,
}

/// Surface that a mine sticks to.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MineBase {
    pub(crate) entity: EntityNum,
    pub(crate) normal: Vec3,
}

/// State of an active kamikaze.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Kamikaze {
    pub(crate) by: ClientNum,
    pub(crate) since: LevelTime,
    /// Current view rotation of the earthquake.
    pub(crate) view_turn: Vec3,
}

/// Kamikaze item of a dead carrier, which explodes unless the body is gibbed before.
#[derive(Clone, Copy, Debug)]
pub(crate) struct KamikazeTimer {
    pub(crate) by: ClientNum,
    /// Body with the item: the player, then its corpse.
    pub(crate) body: EntityNum,
}

/// Portal that a player placed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Portal {
    /// Number that an entrance and its exit share.
    pub(crate) id: u32,
    pub(crate) health: i32,
    /// Place of the exit when the entrance was placed.
    pub(crate) exit: Option<Vec3>,
    pub(crate) is_entrance: bool,
    /// Whether the entrance has opened.
    pub(crate) is_open: bool,
}

impl Missile {
    /// Returns the player who fired the missile.
    pub(crate) fn shooter(&self) -> Option<ClientNum> {
        self.owner.client()
    }

    /// Whether the missile is an armed mine, which can be shot.
    pub(crate) fn is_armed(&self) -> bool {
        matches!(self.state, MissileState::Armed | MissileState::Triggered)
    }
}
