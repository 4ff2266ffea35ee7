//! World: a collision map with linked entities, and traces against both.
//!
//! [`World`] keeps the bounds of each linked entity. All else (contents, owner, origin, angles, box) is read at
//! each query from the game's own storage, through [`EntityViews`].
//!
//! Invariants: no query allocates. Entities are visited in one order: by sector, and within a sector the last
//! linked first. Source: the collision document, linking, server trace. Engine names: `SV_LinkEntity`,
//! `SV_Trace`, `SV_PointContents`.

mod sectors;

use super::{
    areas::Areas,
    bsp::Bsp,
    collision::{CollisionError, CollisionMap, Hull, TracePrecision, TraceTarget},
    pvs::{PvsIndex, PvsLocation, Viewpoint},
};
use crate::model::{
    EntityNum, EntitySet, EntityShared, EntityState, Trace, Vec3, contents::content,
    limits::MAX_ENTITIES,
};
use sectors::{LinkKind, NearbyEntities, Sectors};

/// Contents that clients predict collisions with.
const PREDICTED: i32 = content::SOLID | content::BODY;
/// `solid` of a brush model.
const BRUSH_MODEL: i32 = 0x00ff_ffff;

/// Entities, wherever the game keeps them.
pub trait EntityViews {
    /// What an entity is right now, or `None` when there is none of that number.
    fn view(&self, number: EntityNum) -> Option<(&EntityState, &EntityShared)>;
}

/// No entities at all.
impl EntityViews for () {
    fn view(&self, _number: EntityNum) -> Option<(&EntityState, &EntityShared)> {
        None
    }
}

/// A map and which entities reach where in it.
#[derive(Debug)]
pub struct World {
    bsp: Bsp,
    map: CollisionMap,
    sectors: Sectors,
    /// Which areas are joined by open doors.
    areas: Areas,
    /// By entity, where it can be seen, as of when the world was settled last.
    locations: Box<[PvsLocation]>,
    pvs_index: PvsIndex,
    /// Linked or unlinked since then.
    dirty: EntitySet,
}

impl World {
    /// Prepares a map for collision; nothing is linked.
    ///
    /// # Errors
    /// A curved patch that cannot be collided with.
    pub fn new(bsp: Bsp, family: TracePrecision) -> Result<Self, CollisionError> {
        let map = CollisionMap::new(&bsp, family)?;
        let bounds = [bsp.world().mins, bsp.world().maxs];
        let locations = vec![PvsLocation::default(); MAX_ENTITIES].into();
        let areas = Areas::new(bsp.area_count);
        Ok(Self {
            pvs_index: PvsIndex::new(bsp.visibility.cluster_count(), areas.count()),
            sectors: Sectors::new(bounds),
            dirty: EntitySet::default(),
            bsp,
            map,
            areas,
            locations,
        })
    }

    /// The map's file: entity text, visibility, areas.
    #[must_use]
    pub fn bsp(&self) -> &Bsp {
        &self.bsp
    }

    /// The map without entities.
    #[must_use]
    pub fn map(&self) -> &CollisionMap {
        &self.map
    }

    /// Which areas are joined by open doors.
    #[must_use]
    pub fn areas(&self) -> &Areas {
        &self.areas
    }

    /// The same, to open and close doors.
    pub fn areas_mut(&mut self) -> &mut Areas {
        &mut self.areas
    }

    /// Memory that it takes, in bytes.
    #[must_use]
    pub fn memory_len(&self) -> usize {
        self.bsp.memory_len() + self.map.memory_len() + size_of_val(&*self.locations)
    }

    /// Takes all entities out, for a new level on the same map.
    pub fn clear(&mut self) {
        self.sectors = Sectors::new([self.bsp.world().mins, self.bsp.world().maxs]);
        self.areas = Areas::new(self.bsp.area_count);
        self.pvs_index = PvsIndex::new(self.bsp.visibility.cluster_count(), self.areas.count());
        self.locations.fill(PvsLocation::default());
        self.dirty = EntitySet::default();
    }

    /// Makes an entity part of the world where its current origin and angles put it: sets its bounds,
    /// its `solid` for the clients' prediction, and counts the link.
    pub fn link(&mut self, number: EntityNum, state: &mut EntityState, shared: &mut EntityShared) {
        self.unlink(number, shared);
        measure(state, shared);
        let (mins, maxs) = (shared.absmin, shared.absmax);
        // As it is now: what gets contents or a size is linked anew to count.
        let is_point = shared.contents == 0 && shared.bmodel == 0 && shared.mins == shared.maxs;
        let kind = if is_point { LinkKind::Point } else { LinkKind::Solid };
        self.sectors.insert(number, [mins, maxs], kind);
    }

    /// Takes an entity out of the world.
    pub fn unlink(&mut self, number: EntityNum, shared: &mut EntityShared) {
        self.sectors.remove(number);
        self.dirty.insert(number);
        shared.linked = 0;
    }

    /// Where an entity can be seen, or `None` when it is not linked.
    #[must_use]
    pub fn pvs_location(&self, number: EntityNum) -> Option<PvsLocation> {
        let [mins, maxs] = self.sectors.bounds(number)?;
        Some(if self.dirty.contains(number) {
            PvsLocation::of_box(&self.bsp, mins, maxs)
        } else {
            self.locations[number.index()]
        })
    }

    /// Finds out where all entities are that were linked since the last time: many are linked more often
    /// than anybody looks.
    pub fn update_pvs_index(&mut self) {
        for number in std::mem::take(&mut self.dirty).iter() {
            let bounds = self.sectors.bounds(number);
            let new = bounds.map(|[mins, maxs]| PvsLocation::of_box(&self.bsp, mins, maxs));
            let new = new.unwrap_or_default();
            let old = std::mem::replace(&mut self.locations[number.index()], new);
            self.pvs_index.update(number, &old, &new);
        }
    }

    /// The entities that may be seen from a place, as of when the world was settled last.
    #[must_use]
    pub fn visible_from(&self, place: &Viewpoint<'_>) -> EntitySet {
        self.pvs_index.visible_from(place, &self.areas)
    }

    /// Writes the bodies whose bounds touch a box into `found`, that is, all entities but those that are
    /// points without contents, in the order in which all else meets them, and returns how many there are: no more than fit.
    pub fn bodies_in_box(&self, mins: Vec3, maxs: Vec3, found: &mut [EntityNum]) -> usize {
        let mut count = 0;
        self.sectors.visit(&[mins, maxs], &mut |number| {
            let Some(place) = found.get_mut(count) else { return false };
            *place = number;
            count += 1;
            true
        });
        count
    }

    /// The world as an entity meets it, that is, without itself and what belongs to it;
    /// [`EntityNum::NONE`] leaves nothing out.
    pub fn scene<'a, E: EntityViews + ?Sized>(
        &'a self,
        entities: &'a E,
        pass: EntityNum,
    ) -> CollisionScene<'a, E> {
        let owner = entities.view(pass).map(|(_, shared)| shared.owner_num);
        let pass_owner = owner.filter(|&owner| owner != EntityNum::NONE.index() as i32);
        CollisionScene { world: self, entities, pass, pass_owner, near: None }
    }
}

/// A world and its entities, one of them left out.
#[derive(Debug)]
pub struct CollisionScene<'a, E: ?Sized> {
    world: &'a World,
    entities: &'a E,
    pass: EntityNum,
    /// The owner of who is left out, if it has any.
    pass_owner: Option<i32>,
    near: Option<NearbyEntities>,
}

impl<E: EntityViews + ?Sized> CollisionScene<'_, E> {
    /// The same scene, for many questions within a box: what is near is looked up once. Questions beyond
    /// it have the same answers as ever.
    #[must_use]
    pub fn with_candidates(mut self, mins: Vec3, maxs: Vec3) -> Self {
        self.near = self.world.sectors.nearby(&[mins, maxs], self.pass);
        self
    }

    /// How far a box (`mins` to `maxs`, relative to the moving point) gets from `start` to `end`
    /// through map and entities with contents that meet `contents_mask`.
    #[must_use]
    pub fn trace(
        &self,
        start: Vec3,
        mins: Vec3,
        maxs: Vec3,
        end: Vec3,
        contents_mask: i32,
    ) -> Trace {
        self.trace_hull(Hull::Box, start, mins, maxs, end, contents_mask)
    }

    /// The same for what a box is around.
    #[must_use]
    pub fn trace_hull(
        &self,
        hull: Hull,
        start: Vec3,
        mins: Vec3,
        maxs: Vec3,
        end: Vec3,
        contents_mask: i32,
    ) -> Trace {
        let mut best = self.world.map.trace_hull(hull, start, mins, maxs, end, contents_mask);
        if best.fraction == 0.0 {
            return best;
        }
        let mut low = Vec3::ZERO;
        let mut high = Vec3::ZERO;
        for axis in 0..3 {
            let (least, most) = if end[axis] > start[axis] {
                (start[axis], end[axis])
            } else {
                (end[axis], start[axis])
            };
            low[axis] = least + mins[axis] - 1.0;
            high[axis] = most + maxs[axis] + 1.0;
        }
        self.world.sectors.visit_near(self.near.as_ref(), &[low, high], &mut |number| {
            let Some((state, shared)) = self.entities.view(number) else { return true };
            if self.pass != EntityNum::NONE
                && (number == self.pass
                    || shared.owner_num == self.pass.index() as i32
                    || self.pass_owner == Some(shared.owner_num))
            {
                return true;
            }
            if shared.contents & contents_mask == 0 {
                return true;
            }
            let trace = against(&self.world.map, state, shared).trace(
                hull,
                start,
                mins,
                maxs,
                end,
                contents_mask,
            );
            if trace.allsolid {
                best.allsolid = true;
            } else {
                best.startsolid |= trace.startsolid;
            }
            if trace.fraction < best.fraction {
                let startsolid = best.startsolid || trace.startsolid;
                best = Trace { startsolid, entity: number, ..trace };
            }
            !best.allsolid
        });
        best
    }

    /// Content bits at a point, of the map and of whatever entities are there. An entity that is no
    /// brush model is all body, whatever it says of itself.
    #[must_use]
    pub fn point_contents(&self, point: Vec3) -> i32 {
        let mut contents = self.world.map.point_contents(point);
        self.world.sectors.visit_near(self.near.as_ref(), &[point, point], &mut |number| {
            if number != self.pass
                && let Some((state, shared)) = self.entities.view(number)
            {
                contents |= against(&self.world.map, state, shared).contents(point);
            }
            true
        });
        contents
    }

    /// Whether a box in the world touches one entity's model or box.
    #[must_use]
    pub fn touches(&self, mins: Vec3, maxs: Vec3, entity: EntityNum) -> bool {
        self.entities.view(entity).is_some_and(|(state, shared)| {
            let at = Vec3::ZERO;
            against(&self.world.map, state, shared)
                .trace(Hull::Box, at, mins, maxs, at, -1)
                .startsolid
        })
    }

    /// How far a box gets past one entity, as if there were nothing else.
    #[must_use]
    pub fn trace_entity(
        &self,
        start: Vec3,
        mins: Vec3,
        maxs: Vec3,
        end: Vec3,
        contents_mask: i32,
        entity: EntityNum,
    ) -> Trace {
        let Some((state, shared)) = self.entities.view(entity) else { return Trace::free(end) };
        if shared.contents & contents_mask == 0 {
            return Trace::free(end);
        }
        let mut trace = against(&self.world.map, state, shared).trace(
            Hull::Box,
            start,
            mins,
            maxs,
            end,
            contents_mask,
        );
        if trace.fraction < 1.0 {
            trace.entity = entity;
        }
        trace
    }
}

/// One entity as something to collide with.
struct Collider<'a> {
    map: &'a CollisionMap,
    target: TraceTarget,
    origin: Vec3,
    angles: Vec3,
}

fn against<'a>(map: &'a CollisionMap, state: &EntityState, shared: &EntityShared) -> Collider<'a> {
    let target = if shared.bmodel == 0 {
        TraceTarget::Box { mins: shared.mins, maxs: shared.maxs }
    } else {
        // A number below zero is a model that no map has.
        TraceTarget::Model(usize::try_from(state.modelindex).unwrap_or(usize::MAX))
    };
    Collider { map, target, origin: shared.current_origin, angles: shared.current_angles }
}

impl Collider<'_> {
    fn trace(
        &self,
        hull: Hull,
        start: Vec3,
        mins: Vec3,
        maxs: Vec3,
        end: Vec3,
        mask: i32,
    ) -> Trace {
        let Self { map, target, origin, angles } = *self;
        map.trace_target(hull, target, origin, angles, start, mins, maxs, end, mask)
    }

    fn contents(&self, point: Vec3) -> i32 {
        self.map.target_contents(self.target, self.origin, self.angles, point)
    }
}

/// Links an entity as far as it goes without a map: sets its bounds and its `solid`, and counts the link.
pub fn measure(state: &mut EntityState, shared: &mut EntityShared) {
    state.solid = solid(shared);
    [shared.absmin, shared.absmax] = reach(shared);
    shared.linkcount = shared.linkcount.wrapping_add(1);
    shared.linked = 1;
}

/// The box packed into 24 bits for the clients' prediction: half width, depth below and height above
/// the origin.
#[must_use]
pub fn solid(shared: &EntityShared) -> i32 {
    if shared.bmodel != 0 {
        return BRUSH_MODEL;
    }
    if shared.contents & PREDICTED == 0 {
        return 0;
    }
    // The casts saturate, so no box is too strange.
    let byte = |value: f32| (value as i32).clamp(1, 255);
    let x = byte(shared.maxs[0]);
    let down = byte(-shared.mins[2]);
    let up = byte(shared.maxs[2] + 32.0);
    up << 16 | down << 8 | x
}

/// The bounds that an entity is linked with: one unit more than it takes up.
fn reach(shared: &EntityShared) -> [Vec3; 2] {
    let origin = shared.current_origin;
    let margin = Vec3::new(1.0, 1.0, 1.0);
    let (mins, maxs) = if shared.bmodel != 0 && shared.current_angles != Vec3::ZERO {
        // Whichever way it turns.
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
    fn boxes_are_packed_as_clients_expect() {
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
    fn what_turns_reaches_everywhere_around() {
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
