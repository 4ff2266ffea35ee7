//! Server frames: entity states of the last frames, and their visibility in the newest one.
//!
//! Invariant: states are recorded once for each server frame and shared by all clients.
//! Engine names: `svs.snapshotEntities`.

use super::visibility::FrameVisibility;
use crate::{
    game::Game,
    model::{EntityNum, EntitySet, EntityState, FrameNum, FrameRing, PlayerState, SvFlags},
    serving::delta_cache::visible_entities,
    wire::snapshot::AreaMask,
    world::World,
};

/// Server frames whose entities are kept. A delta base is at most 28 snapshots old. At the slowest
/// usual rate of 20 snapshots a second and 125 frames a second that is 175 frames.
const FRAMES_KEPT: usize = 256;

/// Number of the first server frame. Numbers wrap ten seconds after each start, so every run tests the
/// wrap, which would otherwise come after seven years.
const FIRST_FRAME: FrameNum = FrameNum::MAX - 200;

/// The frames of a server.
#[derive(Debug)]
pub(super) struct ServerFrames {
    ring: FrameRing,
    newest: FrameNum,
    visibility: FrameVisibility,
}

impl ServerFrames {
    pub(super) fn new() -> Self {
        Self {
            ring: FrameRing::new(FRAMES_KEPT),
            newest: FIRST_FRAME,
            visibility: FrameVisibility::default(),
        }
    }

    pub(super) fn ring(&self) -> &FrameRing {
        &self.ring
    }

    /// Number of the newest frame.
    pub(super) fn newest(&self) -> FrameNum {
        self.newest
    }

    /// Discards what was visible in the frame before.
    pub(super) fn reset_visibility(&mut self, world: Option<&mut World>) {
        self.visibility.begin(world);
    }

    /// Records all entities that clients may be sent. Returns the number of states with values that are
    /// not finite, which are replaced.
    pub(super) fn record(&mut self, game: &dyn Game, world: Option<&mut World>) -> u64 {
        let Self { ring, newest, visibility } = self;
        let previous = *newest;
        *newest = previous.wrapping_add(1);
        visibility.begin(world);
        let states = EntityNum::all()
            .take(game.entity_count().min(EntityNum::WORLD.index()))
            .filter_map(|number| Some((number, game.entity(number)?)))
            .filter(|(_, entity)| {
                entity.shared.is_linked() && !entity.shared.sv_flags.contains(SvFlags::NO_CLIENT)
            })
            .inspect(|&(number, entity)| visibility.add(number, entity))
            .map(|(number, entity)| (number, entity.state));
        ring.record(*newest, previous, states)
    }

    /// Entities of the newest frame that a player is sent, at most `limit`, and the visible areas.
    pub(super) fn visible_to(
        &mut self,
        player: &PlayerState,
        world: Option<&World>,
        limit: usize,
    ) -> (EntitySet, AreaMask) {
        self.visibility.visible_to(player, world, limit)
    }

    /// Entities of a frame that are in a set; `None` once the frame is overwritten.
    pub(super) fn entities<'a>(
        &'a self,
        frame: FrameNum,
        seen: &'a EntitySet,
    ) -> Option<impl Iterator<Item = &'a EntityState>> {
        let entries = self.ring.frame(frame)?;
        Some(visible_entities(&self.ring, entries, seen))
    }
}
