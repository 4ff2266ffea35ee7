//! What is seen from where in one server frame.
//!
//! The entities of a frame are sorted once into sets; the set that a place sees is found once for each
//! pair of cluster and area and shared by all who stand there. What one viewer is told is then made of
//! whole words, and only entities that are restricted to somebody are looked at one by one.
//!
//! Invariants: nothing is shown that is not in the frame; without a map everybody sees everything; an
//! entity that no leaf of the map holds is seen by nobody, unless it is for all.
//! Source: Quake III protocol 68, snapshot building; the game interface, who gets an entity.

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

/// Flags of entities that some clients are not told of.
const RESTRICTING: [SvFlags; 3] =
    [SvFlags::SINGLE_CLIENT, SvFlags::NOT_SINGLE_CLIENT, SvFlags::CLIENT_MASK];

/// The entities of one frame, and what is seen from the places that were asked for.
#[derive(Debug, Default)]
pub(super) struct FrameVisibility {
    /// All that anybody may be told of.
    all: EntitySet,
    /// Told wherever they are.
    everywhere: EntitySet,
    /// Not for everybody, with the flags and the client that say for whom.
    restricted: Vec<(EntityNum, SvFlags, i32)>,
    portals: Vec<Portal>,
    /// By cluster and area.
    places: Vec<(Place, EntitySet)>,
    /// Points yet to look from, kept for its memory.
    viewpoints: Vec<Vec3>,
}

type Place = (Option<ClusterNum>, Option<AreaNum>);

/// A surface that shows another place.
#[derive(Clone, Copy, Debug)]
struct Portal {
    number: EntityNum,
    origin: Vec3,
    /// Where it looks from.
    eye: Vec3,
    /// Farthest that it works from; 0 for any distance.
    range: f32,
}

impl FrameVisibility {
    /// Forgets the frame before, and everything seen in it. The world shall stay as it is until all have
    /// looked.
    pub(super) fn begin(&mut self, world: Option<&mut World>) {
        if let Some(world) = world {
            world.update_pvs_index();
        }
        self.all = EntitySet::default();
        self.everywhere = EntitySet::default();
        self.restricted.clear();
        self.portals.clear();
        self.places.clear();
    }

    /// Adds an entity of the frame.
    pub(super) fn add(&mut self, number: EntityNum, entity: EntityView<'_>) {
        let flags = entity.shared.sv_flags;
        self.all.insert(number);
        if flags.contains(SvFlags::BROADCAST) {
            self.everywhere.insert(number);
        }
        if RESTRICTING.into_iter().any(|flag| flags.contains(flag)) {
            self.restricted.push((number, flags, entity.shared.single_client));
        }
        if flags.contains(SvFlags::PORTAL) {
            self.portals.push(Portal {
                number,
                origin: entity.state.origin,
                eye: entity.state.origin2,
                range: entity.state.generic1 as f32,
            });
        }
    }

    /// What a viewer is told of, at most `limit` entities, and the areas that its snapshot shows.
    pub(super) fn visible_to(
        &mut self,
        viewer: &PlayerState,
        world: Option<&World>,
        limit: usize,
    ) -> (EntitySet, AreaMask) {
        let number = usize::try_from(viewer.client_num).ok().and_then(ClientNum::new);
        let (mut seen, areas) = match world {
            None => (self.all.clone(), AreaMask::default()),
            Some(world) => {
                let eye = viewer.origin + Vec3::new(0.0, 0.0, viewer.viewheight as f32);
                self.visible_from(eye, world, number)
            }
        };
        for &(entity, flags, client) in &self.restricted {
            if !is_for(number, flags, client) {
                seen.remove(entity);
            }
        }
        if let Some(number) = number {
            seen.remove(number.into());
        }
        seen.keep_lowest(limit.min(MAX_SNAPSHOT_ENTITIES));
        (seen, areas)
    }

    /// What is seen from a point, and through the portals that are seen from it, and so on.
    fn visible_from(
        &mut self,
        eye: Vec3,
        world: &World,
        viewer: Option<ClientNum>,
    ) -> (EntitySet, AreaMask) {
        let mut seen = self.everywhere.clone();
        let mut mask = world::VisibleAreas::new(world.areas());
        // Each portal leads on once, so this ends.
        let mut viewpoints = std::mem::take(&mut self.viewpoints);
        viewpoints.push(eye);
        let mut used = EntitySet::default();
        while let Some(eye) = viewpoints.pop() {
            let viewpoint = world.bsp().viewpoint(eye);
            mask.add(world.areas(), viewpoint.area);
            let here = self.place(&viewpoint, world);
            let here = &self.places[here].1;
            seen.add_all(here);
            for portal in &self.portals {
                let told = !self.restricted.iter().any(|&(entity, flags, client)| {
                    entity == portal.number && !is_for(viewer, flags, client)
                });
                let away = portal.origin - eye;
                let near = portal.range == 0.0 || away.dot(away) <= portal.range * portal.range;
                if told && near && here.contains(portal.number) && !used.contains(portal.number) {
                    used.insert(portal.number);
                    viewpoints.push(portal.eye);
                }
            }
        }
        self.viewpoints = viewpoints;
        let (hidden, len) = mask.hidden();
        (seen, AreaMask::new(&hidden[..len]).unwrap_or_default())
    }

    /// Where the set is that belongs to a viewpoint; finds it out for the first who asks.
    fn place(&mut self, viewpoint: &Viewpoint<'_>, world: &World) -> usize {
        let place = (viewpoint.cluster, viewpoint.area);
        if let Some(known) = self.places.iter().position(|(known, _)| *known == place) {
            return known;
        }
        let mut seen = world.visible_from(viewpoint);
        seen.keep_all(&self.all);
        self.places.push((place, seen));
        self.places.len() - 1
    }
}

/// Whether an entity's flags let that viewer know of it.
fn is_for(viewer: Option<ClientNum>, flags: SvFlags, client: i32) -> bool {
    let number = viewer.map_or(-1, |viewer| viewer.index() as i32);
    !(flags.contains(SvFlags::SINGLE_CLIENT) && client != number
        || flags.contains(SvFlags::NOT_SINGLE_CLIENT) && client == number
        || flags.contains(SvFlags::CLIENT_MASK) && !(0..32).contains(&number)
        || flags.contains(SvFlags::CLIENT_MASK) && client >> (number & 31) & 1 == 0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{EntityShared, EntityState};

    #[test]
    fn flags_say_who_is_told() {
        let check = |flags: SvFlags, single_client, expected: [bool; 3]| {
            let told =
                [0, 5, 40].map(|number| is_for(ClientNum::new(number), flags, single_client));
            assert_eq!(told, expected, "{flags:?} {single_client}");
        };
        check(SvFlags::default(), 0, [true, true, true]);
        check(SvFlags::SINGLE_CLIENT, 5, [false, true, false]);
        check(SvFlags::NOT_SINGLE_CLIENT, 5, [true, false, true]);
        check(SvFlags::CLIENT_MASK, 0b10_0001, [true, true, false]);
        check(SvFlags::CLIENT_MASK, 0b1, [true, false, false]);
        check(SvFlags::BROADCAST, 0, [true, true, true]);
    }

    #[test]
    fn without_a_map_everything_is_seen_but_oneself_and_what_is_for_others() {
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
        let viewer = PlayerState::default();
        assert_eq!(visibility.visible_to(&viewer, None, 256).0, EntitySet::default());
    }
}
