//! Trace caches: the same results as without, in every bit.
//!
//! Random players move in short steps over a map with brushes and patches, with boxes of several sizes. They
//! repeat questions, jump to other places and meet entities.

use fragd::{
    model::{
        EntityNum, EntityShared, EntityState, Trace, Vec3,
        assets::Assets as _,
        contents::{content, mask},
    },
    world::{
        Bsp, CollisionMap, MapEntities, TracePrecision, TraceQuery, World,
        bsp::MAX_FILE_LEN,
        collision::TraceCache,
        links::{EntityViews, MAX_NEARBY, MoveCache},
    },
};
use rand_pcg::{
    Pcg64Mcg,
    rand_core::{Rng as _, SeedableRng as _},
};

use crate::installed_maps;

/// A map of the program, and maps of OpenArena with many patches.
const MAPS: [&str; 5] = ["fragd1", "oa_dm1", "oa_dm4", "aggressor", "wrackdm17"];
const PRECISIONS: [TracePrecision; 3] =
    [TracePrecision::Single, TracePrecision::Double, TracePrecision::Fast];
const MASKS: [i32; 4] = [mask::PLAYER_SOLID, mask::DEAD_SOLID, mask::SHOT, -1];
/// Boxes of players: standing, crouched, dead, sphere; others.
const BOXES: [[[f32; 3]; 2]; 7] = [
    [[-15.0, -15.0, -24.0], [15.0, 15.0, 32.0]],
    [[-15.0, -15.0, -24.0], [15.0, 15.0, 16.0]],
    [[-15.0, -15.0, -24.0], [15.0, 15.0, -8.0]],
    [[-42.0; 3], [42.0; 3]],
    [[0.0; 3], [0.0; 3]],
    [[-3.5, -70.25, 1.0], [90.0, 8.0, 30.0]],
    [[-200.0; 3], [200.0; 3]],
];

struct Dice(Pcg64Mcg);

impl Dice {
    fn below(&mut self, limit: usize) -> usize {
        (self.0.next_u64() >> 33) as usize % limit
    }

    /// A number from −`size` to `size`.
    fn within(&mut self, size: f32) -> f32 {
        ((self.0.next_u64() >> 40) as f32 / 8_388_608.0 - 1.0) * size
    }

    fn vector(&mut self, size: f32) -> Vec3 {
        Vec3([0; 3].map(|_| self.within(size)))
    }

    /// A step of a player: down, up, along, none; rarely a long way.
    fn step(&mut self) -> Vec3 {
        match self.below(16) {
            0..4 => Vec3::new(0.0, 0.0, -0.25),
            4 => Vec3::new(0.0, 0.0, 18.0),
            5 => Vec3::new(0.0, 0.0, -64.0),
            6 => Vec3::ZERO,
            7 => self.vector(300.0),
            8 => Vec3::new(self.within(20.0), 0.0, 0.0),
            _ => self.vector(16.0),
        }
    }
}

/// A question that movement may ask.
#[derive(Clone, Copy, Debug)]
struct Question {
    start: Vec3,
    size: [Vec3; 2],
    end: Vec3,
    mask: i32,
}

/// Returns what a player asks on its way, from spawn points on.
fn questions(bsp: &Bsp, seed: u64, count: usize) -> Vec<Question> {
    let mut dice = Dice(Pcg64Mcg::seed_from_u64(seed));
    let entities = MapEntities::parse(&bsp.entity_text).unwrap();
    let spots: Vec<Vec3> = entities
        .of_class("info_player_deathmatch")
        .filter_map(|spot| {
            let parts = spot.field("origin")?.split(' ').filter_map(|part| part.parse().ok());
            Some(Vec3(parts.collect::<Vec<f32>>().try_into().ok()?))
        })
        .collect();
    let (mut at, mut size, mut mask) = (spots[0], BOXES[0], MASKS[0]);
    let mut questions = Vec::with_capacity(count);
    while questions.len() < count {
        match dice.below(100) {
            0 => at = spots[dice.below(spots.len())] + dice.vector(60.0),
            1 => at = Vec3(at.0.map(f32::round)),
            2..6 => size = BOXES[dice.below(BOXES.len())],
            6 => mask = MASKS[dice.below(MASKS.len())],
            _ => {}
        }
        let question = Question { start: at, size: size.map(Vec3), end: at + dice.step(), mask };
        questions.push(question);
        if dice.below(3) == 0 {
            questions.push(question);
        }
        if dice.below(2) == 0 {
            at = question.end;
        }
    }
    questions
}

/// Bits of a trace.
fn bits(trace: &Trace) -> String {
    let floats = [trace.fraction, trace.plane.dist].map(f32::to_bits);
    let vectors = [trace.endpos, trace.plane.normal].map(|vector| vector.0.map(f32::to_bits));
    format!("{floats:x?} {vectors:x?} {trace:?}")
}

fn for_maps(mut check: impl FnMut(&str, Bsp)) {
    let builtin = installed_maps::data().with_builtin("baseoa");
    let file = builtin.read(&format!("maps/{}.bsp", MAPS[0]), MAX_FILE_LEN as u64).unwrap();
    check(MAPS[0], Bsp::load(&file).unwrap());
    for name in &MAPS[1..] {
        if let Some(bsp) = installed_maps::load(name) {
            check(name, bsp);
        }
    }
}

#[test]
fn cached_traces_equal_others_in_every_bit() {
    for_maps(|name, bsp| {
        for (seed, precision) in (1..).zip(PRECISIONS) {
            let map = CollisionMap::new(&bsp, precision).unwrap();
            let mut cache = TraceCache::default();
            let mut hits = 0;
            for (at, question) in questions(&bsp, seed, 60_000).into_iter().enumerate() {
                let Question { start, size: [mins, maxs], end, mask } = question;
                let query = TraceQuery::line(start, end, mask).with_box(mins, maxs);
                let expected = map.trace(&query);
                let cached = map.trace_cached(&mut cache, &query);
                assert_eq!(
                    bits(&cached),
                    bits(&expected),
                    "{name} {precision:?} {at} {question:?}"
                );
                hits += usize::from(expected.fraction < 1.0);
                for point in [start, end, start + mins, start + maxs * 3.0] {
                    let contents = map.point_contents(point);
                    assert_eq!(map.point_contents_cached(&cache, point), contents, "{name} {at}");
                    for mask in [mask::WATER, content::SOLID] {
                        let known = map.has_contents_cached(&mut cache, point, mask);
                        let expected = contents & mask != 0;
                        assert_eq!(known, expected, "{name} {at} {point:?} {mask:x}");
                        assert_eq!(map.has_contents(point, mask), expected);
                    }
                }
            }
            assert!(hits > 5_000, "{name}: {hits} hits");
        }
    });
}

/// Entities by number.
struct Entities(Vec<(EntityState, EntityShared)>);

impl EntityViews for Entities {
    fn view(&self, number: EntityNum) -> Option<(&EntityState, &EntityShared)> {
        self.0.get(number.index()).map(|(state, shared)| (state, shared))
    }
}

/// Moves an entity to a place near `center`, or unlinks it.
fn shift(world: &mut World, entities: &mut Entities, number: usize, center: Vec3, dice: &mut Dice) {
    let (state, shared) = &mut entities.0[number];
    let index = EntityNum::new(number).unwrap();
    let [mins, maxs] = BOXES[dice.below(4)];
    (shared.mins, shared.maxs) = (Vec3(mins), Vec3(maxs));
    shared.contents = [content::BODY, content::CORPSE, content::TRIGGER, 0][dice.below(4)];
    shared.current_origin = center + dice.vector(150.0);
    if dice.below(8) == 0 {
        world.unlink(index, shared);
    } else {
        world.link(index, state, shared);
        // Players collide where they are, and are linked where others see them.
        shared.current_origin += dice.vector(1.0);
    }
}

#[test]
fn move_scene_equals_collision_scene() {
    for_maps(|name, bsp| {
        let questions = questions(&bsp, 7, 20_000);
        let mut world = World::new(bsp, TracePrecision::Single).unwrap();
        let nobody = EntityShared { owner_num: 1023, ..EntityShared::default() };
        let mut entities = Entities(vec![(EntityState::default(), nobody); 100]);
        let mut dice = Dice(Pcg64Mcg::seed_from_u64(9));
        let mut cache = MoveCache::default();
        let own = EntityNum::new(3).unwrap();
        let (mut stopped, mut lists) = (0, 0);
        for (at, question) in questions.into_iter().enumerate() {
            let Question { start, size: [mins, maxs], end, mask } = question;
            let others = 2 + dice.below(90);
            match dice.below(6) {
                0 => shift(&mut world, &mut entities, others, start, &mut dice),
                1 => shift(&mut world, &mut entities, own.index(), start, &mut dice),
                2 if dice.below(2000) == 0 => {
                    world.clear();
                    entities.0.iter_mut().for_each(|(_, shared)| shared.linked = 0);
                }
                _ => {}
            }
            let plain = world.scene(&entities, own);
            let query = TraceQuery::line(start, end, mask).with_box(mins, maxs);
            let expected = plain.trace(&query);
            let reach = Vec3([dice.within(30.0).abs() + 40.0; 3]);
            let bounds = [start - reach, start + reach];
            let mut scene = world.move_scene(&entities, own, &mut cache, bounds, 20.0);
            let cached = scene.trace(&query);
            assert_eq!(bits(&cached), bits(&expected), "{name} {at} {question:?}");
            let contents = plain.point_contents(end);
            assert_eq!(scene.point_contents(end), contents, "{name} {at}");
            for mask in [mask::WATER, content::BODY, content::SOLID | content::BODY] {
                let told = (scene.has_contents(end, mask), mask);
                assert_eq!(told, (contents & mask != 0, mask), "{name} {at}");
            }
            stopped += usize::from(expected.entity.index() < 100);

            let mut found = [EntityNum::NONE; MAX_NEARBY];
            if let Some(count) = world.nearby_bodies(&cache, bounds[0], bounds[1], &mut found) {
                let mut all = [EntityNum::NONE; 128];
                let all_count = world.bodies_in_box(bounds[0], bounds[1], &mut all);
                let all: Vec<_> = all[..all_count].iter().filter(|&&body| body != own).collect();
                assert!(found[..count].iter().eq(all), "{name} {at}");
                lists += 1;
            }
        }
        assert!(stopped > 100 && lists > 10_000, "{name}: {stopped} stopped, {lists} lists");
    });
}
