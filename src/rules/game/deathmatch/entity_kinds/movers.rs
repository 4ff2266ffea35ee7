//! State of a mover, its route and the corners of routes.

use crate::model::{ClientNum, EntityNum, Vec3};
use crate::world::bsp::AreaNum;
use std::sync::Arc;

/// Kind of a mover.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum MoverKind {
    /// Static, rotating, bobbing or pendulum.
    Free,
    Door,
    Plat,
    Button,
    Train(Route),
}

/// Server-side state of a mover.
#[derive(Clone, Debug)]
pub(crate) struct Mover {
    pub(crate) kind: MoverKind,
    /// The two positions of a two-position mover.
    pub(crate) positions: [Vec3; 2],
    pub(crate) state: MoverState,
    /// Travel time between the positions, in ms.
    pub(crate) travel_ms: i32,
    /// Wait at the second position, in ms.
    pub(crate) wait_ms: i32,
    /// Damage to a blocking player.
    pub(crate) damage: i32,
    /// Whether it does not reverse when blocked.
    pub(crate) crusher: bool,
    /// Sound index of the start, the return and the arrival; 0 for none.
    pub(crate) start_sound: i32,
    pub(crate) return_sound: i32,
    pub(crate) arrival_sound: i32,
    /// Whether damage activates it.
    pub(crate) shootable: bool,
    /// Whether only damage activates it, touch does not.
    pub(crate) damage_only: bool,
    /// Master of its team; itself without a team.
    pub(crate) team_master: EntityNum,
    /// Members of the team, the master first; empty for other members.
    pub(crate) team: Arc<[EntityNum]>,
    pub(crate) team_name: Box<str>,
    pub(crate) activator: Option<ClientNum>,
    /// The two areas whose portal it holds open.
    pub(crate) open_portal: [Option<AreaNum>; 2],
    /// Origin and angles before the push of this frame.
    pub(crate) before: [Vec3; 2],
}

/// State of a two-position mover.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MoverState {
    /// At this position.
    At(usize),
    /// On its way to this position.
    To(usize),
}

/// Keys of a `path_corner`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PathCorner {
    /// Speed to the next corner, in units per second; 0 for the train's own.
    pub(crate) speed: f32,
    /// Wait of a train at this corner, in ms.
    pub(crate) wait_ms: i32,
}

/// Route of a train; empty before the search and if it found no loop.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Route {
    pub(crate) speed: f32,
    pub(crate) stops: Vec<Stop>,
    /// Index of the stop that the train is at, or comes from.
    pub(crate) at: usize,
}

/// Stop of a train's route.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Stop {
    pub(crate) corner: EntityNum,
    pub(crate) origin: Vec3,
    pub(crate) wait_ms: i32,
    /// Travel time to the next stop, in ms; 0 for a jump.
    pub(crate) travel_ms: i32,
    /// Index of the next stop.
    pub(crate) next: usize,
}
