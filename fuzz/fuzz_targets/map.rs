//! Map files: what loads is traced through, seen through and described.
#![no_main]

use fragd::{
    model::{EntityNum, EntityShared, EntityState, LevelTime, Vec3},
    world::{Bsp, MapEntities, TracePrecision, TraceQuery, World, links::EntityViews},
};
use libfuzzer_sys::fuzz_target;

struct Nobody;

impl EntityViews for Nobody {
    fn view(&self, _: EntityNum) -> Option<(&EntityState, &EntityShared)> {
        None
    }
}

fuzz_target!(|data: &[u8]| {
    let _ = LevelTime(0);
    let Ok(bsp) = Bsp::load(data) else { return };
    let _ = MapEntities::parse(&bsp.entity_text);
    let clusters: Vec<_> = bsp.leafs.iter().map(|leaf| leaf.cluster).take(32).collect();
    for &from in &clusters {
        for &to in &clusters {
            let _ = bsp.visibility.sees(from, to);
        }
    }
    let models = bsp.models.len();
    for family in [TracePrecision::Single, TracePrecision::Double] {
        let Ok(mut world) = World::new(bsp.clone(), family) else { continue };
        for number in 0..models.min(8) {
            let Some(entity) = EntityNum::new(64 + number) else { continue };
            let mut state =
                EntityState { modelindex: number as i32, ..EntityState::numbered(entity) };
            let mut shared = EntityShared {
                bmodel: 1,
                contents: 1,
                mins: Vec3::new(-40.0, -40.0, -40.0),
                maxs: Vec3::new(40.0, 40.0, 40.0),
                ..EntityShared::default()
            };
            world.link(entity, &mut state, &mut shared);
        }
        let half = Vec3::new(15.0, 15.0, 24.0);
        for n in 0..24 {
            let at = |k: i32| ((n * k) % 1024 - 512) as f32;
            let (start, end) =
                (Vec3::new(at(37), at(101), at(211)), Vec3::new(at(307), at(401), at(503)));
            let scene = world.scene(&Nobody, EntityNum::NONE);
            let trace =
                scene.trace(&TraceQuery::line(start, end, -1).with_box(Vec3::ZERO - half, half));
            assert!((0.0..=1.0).contains(&trace.fraction), "{trace:?}");
            let _ = scene.trace(&TraceQuery::line(start, start, -1));
            let _ = scene.point_contents(end);
        }
    }
});
