//! Linked entities in a map: clipping and area queries.

use fragd::{
    model::{
        EntityNum, EntityShared, EntityState, Trace, Vec3,
        contents::{content, mask},
    },
    world::{TracePrecision, TraceQuery, World, links::EntityViews},
};

use crate::installed_maps;

const SHOOTER: usize = 1;
const BODY: usize = 2;
const MISSILE: usize = 3;
const TRIGGER: usize = 4;
/// The room above a place where players begin.
const ABOVE: Vec3 = Vec3::new(0.0, 0.0, 50.0);

struct Level {
    world: World,
    entities: Slots,
    /// Spawn point of players, occupied by an entity.
    spot: Vec3,
}

/// Entity storage of a game.
struct Slots(Vec<(EntityState, EntityShared)>);

impl EntityViews for Slots {
    fn view(&self, number: EntityNum) -> Option<(&EntityState, &EntityShared)> {
        self.0.get(number.index()).map(|(state, shared)| (state, shared))
    }
}

fn number(index: usize) -> EntityNum {
    EntityNum::new(index).unwrap()
}

impl Level {
    fn new() -> Option<Self> {
        let bsp = installed_maps::load("oa_dm1")?;
        let text = String::from_utf8_lossy(&bsp.entity_text).into_owned();
        let player = text.split('}').find(|e| e.contains("info_player_deathmatch")).unwrap();
        let origin = player.split("\"origin\"").nth(1).unwrap().split('"').nth(1).unwrap();
        let parts: Vec<f32> = origin.split(' ').map(|part| part.parse().unwrap()).collect();
        let spot = Vec3(parts.try_into().unwrap());
        let nobody = EntityShared { owner_num: 1023, ..EntityShared::default() };
        Some(Self {
            world: World::new(bsp, TracePrecision::Single).unwrap(),
            entities: Slots(vec![(EntityState::default(), nobody); 8]),
            spot,
        })
    }

    /// Puts a player's box on the spot.
    fn put(&mut self, index: usize, contents: i32) {
        let (state, shared) = &mut self.entities.0[index];
        shared.mins = Vec3::new(-15.0, -15.0, -24.0);
        shared.maxs = Vec3::new(15.0, 15.0, 32.0);
        shared.contents = contents;
        shared.current_origin = self.spot;
        self.world.link(number(index), state, shared);
    }

    /// A point falls onto the spot.
    fn fall(&self, pass: EntityNum, mask: i32) -> Trace {
        let scene = self.world.scene(&self.entities, pass);
        scene.trace(&TraceQuery::line(self.spot + ABOVE, self.spot, mask))
    }
}

#[test]
fn solid_entities_stop_all_but_their_owner() {
    let Some(mut level) = Level::new() else { return };
    let shooter = number(SHOOTER);
    assert_eq!(level.fall(shooter, mask::SHOT), Trace::free(level.spot));
    level.put(BODY, content::BODY);
    let hit = level.fall(shooter, mask::SHOT);
    assert_eq!((hit.entity, hit.contents), (number(BODY), content::BODY));
    assert_eq!(hit.plane.normal, Vec3::new(0.0, 0.0, 1.0));
    assert!((hit.endpos[2] - (level.spot[2] + 32.125)).abs() < 0.001, "{hit:?}");
    assert_eq!(level.fall(shooter, content::SOLID).fraction, 1.0, "the mask leaves bodies out");
    assert_eq!(level.fall(number(BODY), mask::SHOT).fraction, 1.0, "nobody stops itself");
    // What the shooter owns does not stop it, and what one owner has does not stop each other.
    level.entities.0[BODY].1.owner_num = SHOOTER as i32;
    assert_eq!(level.fall(shooter, mask::SHOT).fraction, 1.0);
    level.entities.0[MISSILE].1.owner_num = SHOOTER as i32;
    assert_eq!(level.fall(number(MISSILE), mask::SHOT).fraction, 1.0);
    assert_eq!(level.fall(EntityNum::NONE, mask::SHOT).entity, number(BODY));
    // Contents are those of now, not those of linking.
    level.entities.0[BODY].1.contents = content::TRIGGER;
    assert_eq!(level.fall(EntityNum::NONE, mask::SHOT).fraction, 1.0);
}

#[test]
fn last_linked_of_two_hits_is_reported() {
    let Some(mut level) = Level::new() else { return };
    level.put(BODY, content::BODY);
    level.put(MISSILE, content::BODY);
    assert_eq!(level.fall(EntityNum::NONE, mask::SHOT).entity, number(MISSILE));
    level.put(BODY, content::BODY);
    assert_eq!(level.fall(EntityNum::NONE, mask::SHOT).entity, number(BODY));
    assert_eq!(level.entities.0[BODY].1.linkcount, 2);
    assert_eq!(level.entities.0[BODY].0.solid, 0x0040_180f);
}

#[test]
fn trace_reports_start_in_solid_entity() {
    let Some(mut level) = Level::new() else { return };
    level.put(BODY, content::BODY);
    let scene = level.world.scene(&level.entities, EntityNum::NONE);
    let out = scene.trace(&TraceQuery::line(level.spot, level.spot + ABOVE, mask::SHOT));
    assert!(out.startsolid && !out.allsolid && out.fraction == 1.0, "{out:?}");
    let within = scene.trace(&TraceQuery::line(level.spot, level.spot, mask::SHOT));
    assert!(within.allsolid && within.entity == number(BODY), "{within:?}");
    assert_eq!(scene.point_contents(level.spot) & content::BODY, content::BODY);
    let without = level.world.scene(&level.entities, number(BODY));
    assert_eq!(without.point_contents(level.spot) & content::BODY, 0);
}

#[test]
fn triggers_are_found_by_box_and_contact() {
    let Some(mut level) = Level::new() else { return };
    level.put(TRIGGER, content::TRIGGER);
    let margin = Vec3::new(4.0, 4.0, 4.0);
    let mut found = [EntityNum::NONE; 4];
    let [low, high] = [level.spot - margin, level.spot + margin];
    assert_eq!(level.world.bodies_in_box(low, high, &mut found), 1);
    assert_eq!(found[0], number(TRIGGER));
    let scene = level.world.scene(&level.entities, EntityNum::NONE);
    assert!(scene.touches(low, high, number(TRIGGER)));
    assert!(!scene.touches(low + ABOVE, high + ABOVE, number(TRIGGER)));
    assert!(!scene.touches(low, high, number(700)), "no such entity");
    assert_eq!(level.world.bodies_in_box(low, high, &mut []), 0);
    assert!(level.world.pvs_location(number(TRIGGER)).unwrap().clusters().next().is_some());
    level.world.unlink(number(TRIGGER), &mut level.entities.0[TRIGGER].1);
    assert_eq!(level.world.bodies_in_box(low, high, &mut found), 0);
    assert!(level.world.pvs_location(number(TRIGGER)).is_none());
}

#[test]
fn arbitrary_queries_are_safe() {
    let Some(mut level) = Level::new() else { return };
    let strange = [f32::NAN, f32::INFINITY, f32::NEG_INFINITY, f32::MAX, 1e-45, -0.0];
    for (n, &a) in strange.iter().enumerate() {
        for &b in &strange {
            let (state, shared) = &mut level.entities.0[BODY];
            shared.bmodel = (n % 2) as i32;
            state.modelindex = [0, 1, -1, 300][n % 4];
            shared.current_angles = Vec3([b, a, b]);
            (shared.mins, shared.maxs, shared.contents) = (Vec3([a; 3]), Vec3([b; 3]), -1);
            level.world.link(number(BODY), state, shared);
            let scene = level.world.scene(&level.entities, EntityNum::NONE);
            let (from, to) = (Vec3([a, 0.0, b]), Vec3([b, 10.0, a]));
            let _ =
                scene.trace(&TraceQuery::line(from, to, -1).with_box(Vec3([b; 3]), Vec3([a; 3])));
            let _ =
                scene.trace(&TraceQuery::line(from, from, -1).with_box(Vec3([a; 3]), Vec3([b; 3])));
            let _ = scene.point_contents(from);
            let _ = scene.touches(from, to, number(BODY));
        }
    }
}
