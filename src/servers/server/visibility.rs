//! Entity visibility in one server frame: the PVS and area test for snapshots.
//!
//! The entities of a frame are sorted once into sets. The set visible from a position is computed
//! once for each pair of cluster and area, and shared by all viewers there. The set of one viewer
//! is combined from whole words.
//!
//! Invariants: only entities of the frame are sent; without a map every client sees every entity;
//! an entity in no leaf of the map is not sent, unless it is a broadcast. Source: Quake III
//! protocol 68, snapshot building.
//! Engine names: `SV_AddEntitiesVisibleFromPoint`, `SVF_BROADCAST`, `SVF_PORTAL`.

use super::restricted::RestrictedEntities;
use crate::{
    game::EntityView,
    model::{
        ClientNum, EntityNum, EntitySet, PlayerState, SvFlags, Vec3, limits::MAX_SNAPSHOT_ENTITIES,
    },
    wire::snapshot::AreaMask,
    world::{
        self, Viewpoint, World,
        bsp::{AreaNum, ClusterNum},
    },
};

/// Entities of a frame, and the sets visible from the positions requested so far.
#[derive(Debug, Default)]
pub(super) struct FrameVisibility {
    /// All entities that clients may be sent.
    all: EntitySet,
    /// Broadcast entities, visible everywhere.
    everywhere: EntitySet,
    restricted: RestrictedEntities,
    portals: Vec<Portal>,
    /// Pairs of cluster and area, side by side: each viewer searches them.
    pairs: Vec<ClusterAndArea>,
    /// Visible set of each of them.
    visible: Vec<EntitySet>,
    /// Positions still to process; the memory is reused.
    viewpoints: Vec<Vec3>,
}

type ClusterAndArea = (Option<ClusterNum>, Option<AreaNum>);

/// A portal surface.
#[derive(Clone, Copy, Debug)]
struct Portal {
    number: EntityNum,
    origin: Vec3,
    /// Origin of its camera.
    eye: Vec3,
    /// Largest distance of a viewer; 0 for any distance.
    range: f32,
}

impl FrameVisibility {
    /// Starts a frame with the entities of the last one. The world must not change until all snapshots are
    /// written.
    pub(super) fn begin(&mut self, world: Option<&mut World>) {
        if let Some(world) = world {
            world.update_pvs_index();
        }
        self.pairs.clear();
        self.visible.clear();
    }

    /// Entities that clients may be sent.
    pub(super) fn entities(&self) -> &EntitySet {
        &self.all
    }

    /// Removes the entities of a set.
    pub(super) fn remove_all(&mut self, numbers: &EntitySet) {
        self.all.remove_all(numbers);
        self.everywhere.remove_all(numbers);
        self.restricted.remove_all(numbers);
        self.portals.retain(|portal| !numbers.contains(portal.number));
    }

    /// Adds an entity that clients may be sent.
    pub(super) fn add(&mut self, number: EntityNum, entity: EntityView<'_>) {
        let flags = entity.shared.sv_flags;
        self.all.insert(number);
        if flags.contains(SvFlags::BROADCAST) {
            self.everywhere.insert(number);
        }
        self.restricted.add(number, entity.shared);
        if flags.contains(SvFlags::PORTAL) {
            self.portals.push(Portal {
                number,
                origin: entity.state.origin,
                eye: entity.state.origin2,
                range: entity.state.generic1 as f32,
            });
        }
    }

    /// Entities that a viewer is sent, at most `limit`, and the visible areas.
    pub(super) fn visible_to(
        &mut self,
        viewer: &PlayerState,
        world: Option<&World>,
        limit: usize,
    ) -> (EntitySet, AreaMask) {
        let number = usize::try_from(viewer.client_num).ok().and_then(ClientNum::new);
        let hidden = self.restricted.hidden_from(number);
        let (mut seen, areas) = match world {
            None => (self.all.clone(), AreaMask::default()),
            Some(world) => {
                let eye = viewer.origin + Vec3::new(0.0, 0.0, viewer.viewheight as f32);
                self.visible_from(eye, world, &hidden)
            }
        };
        seen.remove_all(&hidden);
        if let Some(number) = number {
            seen.remove(number.into());
        }
        seen.keep_lowest(limit.min(MAX_SNAPSHOT_ENTITIES));
        (seen, areas)
    }

    /// Entities visible from a position, and through the portal surfaces visible from it, recursively. Portals
    /// among the `hidden` entities lead nowhere.
    fn visible_from(
        &mut self,
        eye: Vec3,
        world: &World,
        hidden: &EntitySet,
    ) -> (EntitySet, AreaMask) {
        let mut seen = self.everywhere.clone();
        let mut mask = world::VisibleAreas::new(world.areas());
        // Each portal is followed once, so the loop ends.
        let mut viewpoints = std::mem::take(&mut self.viewpoints);
        viewpoints.push(eye);
        let mut used = EntitySet::default();
        while let Some(eye) = viewpoints.pop() {
            let viewpoint = world.bsp().viewpoint(eye);
            mask.add(world.areas(), viewpoint.area);
            let here = self.visible_index(&viewpoint, world);
            let here = &self.visible[here];
            seen.add_all(here);
            for portal in &self.portals {
                let away = portal.origin - eye;
                let near = portal.range == 0.0 || away.dot(away) <= portal.range * portal.range;
                if !hidden.contains(portal.number)
                    && near
                    && here.contains(portal.number)
                    && !used.contains(portal.number)
                {
                    used.insert(portal.number);
                    viewpoints.push(portal.eye);
                }
            }
        }
        self.viewpoints = viewpoints;
        let (hidden, len) = mask.hidden();
        (seen, AreaMask::new(&hidden[..len]).unwrap_or_default())
    }

    /// Index of the visible set of a viewpoint, which is computed on first use.
    fn visible_index(&mut self, viewpoint: &Viewpoint<'_>, world: &World) -> usize {
        let pair = (viewpoint.cluster, viewpoint.area);
        if let Some(known) = self.pairs.iter().position(|known| *known == pair) {
            return known;
        }
        let mut seen = world.visible_from(viewpoint);
        seen.keep_all(&self.all);
        self.pairs.push(pair);
        self.visible.push(seen);
        self.pairs.len() - 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{EntityShared, EntityState};

    #[test]
    fn all_permitted_entities_are_visible_without_a_map() {
        let mut visibility = FrameVisibility::default();
        let number = |number| EntityNum::new(number).unwrap();
        let state = EntityState::default();
        let plain = EntityShared::default();
        let for_others = EntityShared {
            sv_flags: SvFlags::NOT_SINGLE_CLIENT,
            single_client: 3,
            ..EntityShared::default()
        };
        for (entity, shared) in [(3, &plain), (4, &plain), (70, &for_others), (300, &plain)] {
            visibility.add(number(entity), EntityView { state: &state, shared });
        }
        let mut told = |client_num, limit| {
            let viewer = PlayerState { client_num, ..PlayerState::default() };
            let (seen, areas) = visibility.visible_to(&viewer, None, limit);
            assert!(areas.bytes().is_empty());
            seen.iter().map(EntityNum::index).collect::<Vec<_>>()
        };
        assert_eq!(told(3, 256), [4, 300]);
        assert_eq!(told(4, 256), [3, 70, 300]);
        assert_eq!(told(4, 2), [3, 70]);
        assert_eq!(told(-1, 0), [0; 0]);
        visibility.begin(None);
        let mut changed = EntitySet::default();
        [4, 70, 300].into_iter().for_each(|entity| changed.insert(number(entity)));
        visibility.remove_all(&changed);
        visibility.add(number(70), EntityView { state: &state, shared: &plain });
        let viewer = PlayerState { client_num: 3, ..PlayerState::default() };
        let (seen, _) = visibility.visible_to(&viewer, None, 256);
        assert_eq!(seen.iter().collect::<Vec<_>>(), [number(70)], "no longer restricted");
    }
}
