//! World of one player's pmove, with the cache of that player.
//!
//! Invariants: results equal those of [`CollisionScene`]. A cache belongs to one entity of one world; it is cleared
//! when the map changes.

use super::{CollisionScene, EntityViews, World, sectors::NearbyEntities};
use crate::model::{EntityNum, Trace, Vec3, contents::content, prefetch};
use crate::world::collision::{Hull, TraceCache, TraceQuery};

/// Maximum number of entities from [`World::nearby_bodies`].
pub const MAX_NEARBY: usize = super::sectors::MAX_NEIGHBOURS;

/// Answers of a world to one moving entity: of the map, and of the search for nearby entities.
#[derive(Clone, Debug, Default)]
pub struct MoveCache {
    map: TraceCache,
    near: NearbyEntities,
}

impl MoveCache {
    /// Requests the memory of the cache.
    pub fn expect_move(&self) {
        prefetch(self);
        self.map.expect_trace();
    }

    /// Forgets everything, before use with another map or entity.
    pub fn clear(&mut self) {
        self.map.clear();
        self.near = NearbyEntities::default();
    }
}

/// World and entities of a pmove, with the moving entity excluded.
#[derive(Debug)]
pub struct MoveScene<'a, E: ?Sized> {
    scene: CollisionScene<'a, E>,
    map: &'a mut TraceCache,
    /// Nearby entities; `None` if there are too many. No entity is linked while the scene exists.
    near: Option<&'a NearbyEntities>,
}

impl World {
    /// Returns the scene of an entity that moves within a box. A search for nearby entities covers `spare` units
    /// more on each side, so that it lasts for later moves.
    pub fn move_scene<'a, E: EntityViews + ?Sized>(
        &'a self,
        entities: &'a E,
        number: EntityNum,
        cache: &'a mut MoveCache,
        [mins, maxs]: [Vec3; 2],
        spare: f32,
    ) -> MoveScene<'a, E> {
        self.sectors.refresh(&mut cache.near, &[mins, maxs], number, spare);
        let near = Some(&cache.near).filter(|near| self.sectors.is_valid(near));
        MoveScene { scene: self.scene(entities, number), map: &mut cache.map, near }
    }

    /// Writes the solid entities whose bounds touch a box into `found` and returns their number. The entity of
    /// the cache is left out. Returns `None` if the cache does not cover the box or other entities were linked
    /// since.
    pub fn nearby_bodies(
        &self,
        cache: &MoveCache,
        mins: Vec3,
        maxs: Vec3,
        found: &mut [EntityNum; MAX_NEARBY],
    ) -> Option<usize> {
        self.sectors.nearby_bodies(&cache.near, &[mins, maxs], found)
    }
}

impl<E: EntityViews + ?Sized> MoveScene<'_, E> {
    /// Traces a box as [`CollisionScene::trace`] does.
    #[must_use]
    pub fn trace(&mut self, query: &TraceQuery) -> Trace {
        let mut best = self.scene.world.map.trace_cached(self.map, query);
        self.scene.stop_at_entities(&mut best, self.near, Hull::Box, query);
        best
    }

    /// Returns the contents as [`CollisionScene::point_contents`] does.
    #[must_use]
    pub fn point_contents(&mut self, point: Vec3) -> i32 {
        let contents = self.scene.world.map.point_contents_cached(self.map, point);
        self.scene.add_contents(contents, self.near, point)
    }

    /// Whether [`Self::point_contents`] has some of the contents of a mask.
    #[must_use]
    pub fn has_contents(&mut self, point: Vec3, mask: i32) -> bool {
        // The box of an entity is a body for this purpose.
        let asks_entities =
            mask & content::BODY != 0 || self.near.is_none_or(|near| near.may_have_model_at(point));
        self.scene.world.map.has_contents_cached(self.map, point, mask)
            || asks_entities && self.scene.add_contents(0, self.near, point) & mask != 0
    }
}
