//! World: a collision map with linked entities.
//!
//! [`World`] stores the bounds of each linked entity. Other fields (contents, owner, origin,
//! angles, box) are read at each query from the game's own storage, through [`EntityViews`].
//!
//! Invariants: no query allocates. Entities are visited in one order: by sector, and within a sector the last
//! linked first. Source: the collision document, linking. Engine names: `SV_LinkEntity`.

mod map_services;
mod move_scene;
mod passing;
mod scene;
mod sectors;

use super::{
    areas::Areas,
    bsp::Bsp,
    collision::{CollisionError, CollisionMap, TracePrecision},
    entity_string::TokenCursor,
    pvs::{PvsIndex, PvsLocation, Viewpoint},
};
use crate::model::{
    ClientSet, EntityNum, EntitySet, EntityShared, EntityState, Vec3, contents::content,
    limits::MAX_ENTITIES,
};
pub use move_scene::{MAX_NEARBY, MoveCache, MoveScene};
pub use scene::CollisionScene;
use sectors::{Aabb, LinkKind, Sectors};

/// Contents that clients predict collisions with.
const PREDICTED: i32 = content::SOLID | content::BODY;
/// `solid` value of a brush model.
const BRUSH_MODEL: i32 = 0x00ff_ffff;

/// Access to the game's entities.
pub trait EntityViews {
    /// Returns the current state of an entity, or `None` when the number is not in use.
    fn view(&self, number: EntityNum) -> Option<(&EntityState, &EntityShared)>;
}

/// No entities.
impl EntityViews for () {
    fn view(&self, _number: EntityNum) -> Option<(&EntityState, &EntityShared)> {
        None
    }
}

/// A map with its linked entities.
#[derive(Debug)]
pub struct World {
    bsp: Bsp,
    map: CollisionMap,
    sectors: Sectors,
    /// Area connections.
    areas: Areas,
    /// PVS location of each entity, as of the last update of the index.
    locations: Box<[PvsLocation]>,
    pvs_index: PvsIndex,
    /// Entities linked or unlinked since then.
    dirty: EntitySet,
    /// Position of the game in the entity string.
    entity_cursor: TokenCursor,
}

impl World {
    /// Prepares a map for collision, without linked entities.
    ///
    /// # Errors
    /// Rejects a patch that is not usable for collision.
    pub fn new(bsp: Bsp, family: TracePrecision) -> Result<Self, CollisionError> {
        let map = CollisionMap::new(&bsp, family)?;
        let bounds = [bsp.world().mins, bsp.world().maxs];
        let locations = vec![PvsLocation::default(); MAX_ENTITIES].into();
        let areas = Areas::new(bsp.area_count);
        Ok(Self {
            pvs_index: PvsIndex::new(bsp.visibility.cluster_count(), areas.count()),
            sectors: Sectors::new(bounds),
            dirty: EntitySet::default(),
            entity_cursor: TokenCursor::default(),
            bsp,
            map,
            areas,
            locations,
        })
    }

    /// Returns the map file: entity string, PVS, areas.
    #[must_use]
    pub fn bsp(&self) -> &Bsp {
        &self.bsp
    }

    /// Returns the map without entities.
    #[must_use]
    pub fn map(&self) -> &CollisionMap {
        &self.map
    }

    /// Returns the area connections.
    #[must_use]
    pub fn areas(&self) -> &Areas {
        &self.areas
    }

    /// Returns the area connections, to open and close portals.
    pub fn areas_mut(&mut self) -> &mut Areas {
        &mut self.areas
    }

    /// Returns the memory of the world, in bytes.
    #[must_use]
    pub fn memory_len(&self) -> usize {
        self.bsp.memory_len() + self.map.memory_len() + size_of_val(&*self.locations)
    }

    /// Unlinks all entities, for a new level on the same map.
    pub fn clear(&mut self) {
        self.sectors.clear();
        self.areas = Areas::new(self.bsp.area_count);
        self.pvs_index = PvsIndex::new(self.bsp.visibility.cluster_count(), self.areas.count());
        self.locations.fill(PvsLocation::default());
        self.dirty = EntitySet::default();
        self.entity_cursor = TokenCursor::default();
    }

    /// Links an entity at its current origin and angles. Sets its bounds and its `solid` for client
    /// prediction, and increments its link count.
    pub fn link(&mut self, number: EntityNum, state: &mut EntityState, shared: &mut EntityShared) {
        measure(state, shared);
        let (mins, maxs) = (shared.absmin, shared.absmax);
        // Decided by the current state: an entity that gets contents or a size must be linked
        // again.
        let is_point = shared.contents == 0 && shared.bmodel == 0 && shared.mins == shared.maxs;
        let kind = match shared.bmodel {
            _ if is_point => LinkKind::Point,
            0 => LinkKind::Solid,
            _ => LinkKind::Model,
        };
        if self.sectors.link(number, [mins, maxs], kind) {
            self.dirty.insert(number);
        }
    }

    /// Links the entities of clients again, in ascending order, where they are. No effect on unlinked ones.
    pub fn relink_settled(&mut self, clients: ClientSet) {
        self.sectors.make_all_last(clients);
    }

    /// Unlinks an entity.
    pub fn unlink(&mut self, number: EntityNum, shared: &mut EntityShared) {
        self.sectors.remove(number);
        self.dirty.insert(number);
        shared.linked = 0;
    }

    /// Returns the PVS location of an entity, or `None` when it is not linked.
    #[must_use]
    pub fn pvs_location(&self, number: EntityNum) -> Option<PvsLocation> {
        let [mins, maxs] = self.sectors.bounds(number)?;
        Some(if self.dirty.contains(number) {
            PvsLocation::of_box(&self.bsp, mins, maxs)
        } else {
            self.locations[number.index()]
        })
    }

    /// Updates the PVS index for all entities linked since the last call. Deferred, because many
    /// entities are linked several times per frame.
    pub fn update_pvs_index(&mut self) {
        for number in std::mem::take(&mut self.dirty).iter() {
            let bounds = self.sectors.bounds(number);
            let new = bounds.map(|[mins, maxs]| PvsLocation::of_box(&self.bsp, mins, maxs));
            let new = new.unwrap_or_default();
            let old = std::mem::replace(&mut self.locations[number.index()], new);
            self.pvs_index.update(number, &old, &new);
        }
    }

    /// Returns the entities visible from a viewpoint, as of the last update of the index.
    #[must_use]
    pub fn visible_from(&self, place: &Viewpoint<'_>) -> EntitySet {
        self.pvs_index.visible_from(place, &self.areas)
    }

    /// Writes the solid entities whose bounds touch a box into `found` and returns their number.
    /// Only point entities without contents are not solid. The order is that of all queries; the
    /// list is cut at the length of `found`.
    pub fn bodies_in_box(&self, mins: Vec3, maxs: Vec3, found: &mut [EntityNum]) -> usize {
        let all = self.sectors.search(&Aabb::of(&[mins, maxs]), |_| true);
        let count = all.len().min(found.len());
        found[..count].copy_from_slice(&all[..count]);
        count
    }

    /// Returns the world as an entity collides with it: without itself and the entities that it
    /// owns. [`EntityNum::NONE`] excludes no entity.
    pub fn scene<'a, E: EntityViews + ?Sized>(
        &'a self,
        entities: &'a E,
        pass: EntityNum,
    ) -> CollisionScene<'a, E> {
        CollisionScene::new(self, entities, pass)
    }
}

/// Links an entity without a map: sets its bounds and `solid` and increments its link count.
pub fn measure(state: &mut EntityState, shared: &mut EntityShared) {
    state.solid = solid(shared);
    [shared.absmin, shared.absmax] = reach(shared);
    shared.linkcount = shared.linkcount.wrapping_add(1);
    shared.linked = 1;
}

/// Returns the box packed into 24 bits for client prediction: half width, depth below and height
/// above the origin.
#[must_use]
pub fn solid(shared: &EntityShared) -> i32 {
    if shared.bmodel != 0 {
        return BRUSH_MODEL;
    }
    if shared.contents & PREDICTED == 0 {
        return 0;
    }
    // The casts saturate, so every box is valid.
    let byte = |value: f32| (value as i32).clamp(1, 255);
    let x = byte(shared.maxs[0]);
    let down = byte(-shared.mins[2]);
    let up = byte(shared.maxs[2] + 32.0);
    up << 16 | down << 8 | x
}

/// Returns the bounds of a linked entity, padded by one unit.
fn reach(shared: &EntityShared) -> [Vec3; 2] {
    let origin = shared.current_origin;
    let margin = Vec3::new(1.0, 1.0, 1.0);
    let (mins, maxs) = if shared.bmodel != 0 && shared.current_angles != Vec3::ZERO {
        // In any rotation.
        let farthest = |axis: usize| shared.mins[axis].abs().max(shared.maxs[axis].abs());
        let radius = Vec3([0, 1, 2].map(farthest)).length();
        let radius = Vec3([radius; 3]);
        (origin - radius, origin + radius)
    } else {
        (origin + shared.mins, origin + shared.maxs)
    };
    [mins - margin, maxs + margin]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shared(mins: [f32; 3], maxs: [f32; 3], contents: i32) -> EntityShared {
        EntityShared { mins: Vec3(mins), maxs: Vec3(maxs), contents, ..EntityShared::default() }
    }

    #[test]
    fn solid_is_packed_as_clients_expect() {
        let standing = shared([-15.0, -15.0, -24.0], [15.0, 15.0, 32.0], content::BODY);
        assert_eq!(solid(&standing), 0x0040_180f);
        let ducked = shared([-15.0, -15.0, -24.0], [15.0, 15.0, 16.0], content::BODY);
        assert_eq!(solid(&ducked), 0x0030_180f);
        let fallen = shared([-15.0, -15.0, -24.0], [15.0, 15.0, -8.0], content::BODY);
        assert_eq!(solid(&fallen), 0x0018_180f);
        assert_eq!(solid(&EntityShared { contents: content::CORPSE, ..fallen }), 0);
        assert_eq!(solid(&EntityShared { bmodel: 1, contents: 0, ..fallen }), 0x00ff_ffff);
        let strange = shared([f32::NAN; 3], [f32::INFINITY; 3], content::SOLID);
        assert_eq!(solid(&strange), 0x00ff_01ff);
    }

    #[test]
    fn rotated_model_is_linked_with_its_radius() {
        let door = EntityShared {
            bmodel: 1,
            current_origin: Vec3::new(100.0, 0.0, 0.0),
            ..shared([-3.0, 0.0, 0.0], [1.0, 4.0, 0.0], -1)
        };
        assert_eq!(reach(&door), [Vec3::new(96.0, -1.0, -1.0), Vec3::new(102.0, 5.0, 1.0)]);
        let turned = EntityShared { current_angles: Vec3::new(0.0, 1.0, 0.0), ..door };
        assert_eq!(reach(&turned), [Vec3::new(94.0, -6.0, -6.0), Vec3::new(106.0, 6.0, 6.0)]);
        let player = EntityShared { bmodel: 0, ..turned };
        assert_eq!(reach(&player), reach(&door), "boxes do not turn");
    }
}
