//! Server frames: entity states of the last frames, and their visibility in the newest one.
//!
//! Invariants: states are recorded once for each server frame and shared by all clients; a frame that no client can
//! acknowledge any more is released, so that few states are in memory and those in use stay in the cache.
//! Engine names: `svs.snapshotEntities`.

use super::visibility::FrameVisibility;
use crate::{
    game::{EntityView, Game},
    model::{EntityNum, EntitySet, EntityState, FrameNum, FrameRing, PlayerState, SvFlags},
    serving::delta_cache::visible_entities,
    wire::{numbers::GameNumbers, snapshot::AreaMask},
    world::World,
};

/// Most server frames whose entities are kept. A delta base is at most 28 snapshots old. At the slowest
/// usual rate of 20 snapshots a second and 125 frames a second that is 175 frames.
const FRAMES_KEPT: usize = 256;

/// Number of the first server frame. Numbers wrap ten seconds after each start, so every run tests the
/// wrap, which would otherwise come after seven years.
const FIRST_FRAME: FrameNum = FrameNum(u32::MAX - 200);

/// The frames of a server.
#[derive(Debug)]
pub(super) struct ServerFrames {
    ring: FrameRing,
    newest: FrameNum,
    /// The oldest frame that was not released.
    oldest: FrameNum,
    visibility: FrameVisibility,
}

impl ServerFrames {
    pub(super) fn new() -> Self {
        Self {
            ring: FrameRing::new(FRAMES_KEPT),
            newest: FIRST_FRAME,
            oldest: FIRST_FRAME,
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

    /// Releases all frames before the oldest of `bases`, the frames that clients still need, and before the newest.
    pub(super) fn release_unneeded(&mut self, bases: impl Iterator<Item = FrameNum>) {
        let age = |frame: FrameNum| frame.age(self.newest);
        let oldest_age = bases.map(age).max().unwrap_or(0).min(FRAMES_KEPT as u32);
        while age(self.oldest) > oldest_age {
            self.ring.forget(self.oldest);
            self.oldest = self.oldest.next();
        }
    }

    /// Forgets the entities of the level. The next one starts with changes of all its entities.
    pub(super) fn reset_visibility(&mut self, world: Option<&mut World>) {
        self.visibility = FrameVisibility::default();
        self.visibility.begin(world);
    }

    /// Records all entities that clients may be sent. Returns the number of states with values that are
    /// not finite, which are replaced.
    pub(super) fn record(&mut self, game: &mut dyn Game, world: Option<&mut World>) -> u64 {
        let Self { ring, newest, visibility, .. } = self;
        let previous = *newest;
        *newest = previous.next();
        visibility.begin(world);
        let mut changed = game.take_changed_entities();
        let count = game.entity_count().min(EntityNum::WORLD.index());
        visibility.remove_all(&changed);
        for number in changed.iter().take_while(|number| number.index() < count) {
            if let Some(entity) = game.entity(number).filter(Self::is_sent) {
                visibility.add(number, entity);
            }
        }
        if ring.frame(previous).is_none() {
            changed = EntitySet::ALL;
        }
        let states = visibility.entities().iter().map(|number| {
            let entity = changed.contains(number).then(|| game.entity(number)).flatten();
            (number, entity.map(|entity| entity.state))
        });
        ring.record_changes(*newest, previous, states)
    }

    /// Whether clients may be sent an entity.
    fn is_sent(entity: &EntityView<'_>) -> bool {
        entity.shared.is_linked() && !entity.shared.sv_flags.contains(SvFlags::NO_CLIENT)
    }

    /// Checks that the newest frame has the entities of the game.
    pub(super) fn check_newest(&self, game: &dyn Game) -> Result<(), String> {
        let mut entries = self.ring.frame(self.newest).unwrap_or(&[]).iter().peekable();
        for number in EntityNum::all().take(EntityNum::WORLD.index()) {
            let entity = game.entity(number).filter(Self::is_sent);
            let expected = entity.map(|entity| entity.state.sanitized().unwrap_or(*entity.state));
            let entry = entries.next_if(|entry| entry.number == number);
            let recorded = entry.map(|entry| self.ring.state(entry.slot));
            if recorded != expected.as_ref() {
                return Err(format!("entity {number} is {expected:?}, recorded {recorded:?}"));
            }
        }
        Ok(())
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

    /// Removes the entities that are not sent in the numbers of a protocol from a set of the newest frame.
    pub(super) fn remove_unsent(&self, seen: &mut EntitySet, numbers: GameNumbers) {
        for entry in self.ring.frame(self.newest).unwrap_or(&[]) {
            if seen.contains(entry.number)
                && numbers.sent_entity(self.ring.state(entry.slot)).is_none()
            {
                seen.remove(entry.number);
            }
        }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_are_kept_from_the_oldest_base_on() {
        let mut frames = ServerFrames::new();
        let add = |frames: &mut ServerFrames| {
            let previous = frames.newest;
            frames.newest = previous.next();
            frames.ring.record(frames.newest, previous, std::iter::empty());
        };
        (0..300).for_each(|_| add(&mut frames));
        let newest = frames.newest();
        let aged = |age: u32| FrameNum(newest.0.wrapping_sub(age));
        let kept = |frames: &ServerFrames, age: u32| frames.ring().frame(aged(age)).is_some();
        frames.release_unneeded([aged(7), aged(90)].into_iter());
        assert!(kept(&frames, 90) && !kept(&frames, 91));
        frames.release_unneeded([aged(7)].into_iter());
        assert!(kept(&frames, 7) && !kept(&frames, 8));
        // A base that is overwritten keeps no more than the ring holds.
        frames.release_unneeded([aged(100_000)].into_iter());
        assert!(kept(&frames, 7) && !kept(&frames, 8));
        frames.release_unneeded(std::iter::empty());
        assert!(
            kept(&frames, 0) && !kept(&frames, 1),
            "the next frame shares states with the newest"
        );
    }
}
