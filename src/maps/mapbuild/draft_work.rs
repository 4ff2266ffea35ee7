//! Work of a draft against that of a full build, counted and not timed.
//!
//! Most instructions of a build are visits of portals and shadow rays. `docs/performance.md` has the instructions of a
//! whole build.

use std::sync::atomic::Ordering;

use super::{
    Effort, Source, diagnostic::Findings, geometry, images, light, lit_scene, map_file,
    materials::Materials, shaders::Shaders,
};
use crate::testing::generated_maps::rooms;

/// Visits of portals and rays of a build of rooms. Light map points are far apart, which leaves the shares as they are.
fn work(side: i32, effort: Effort) -> [u64; 2] {
    let (text, _) = rooms(7, side);
    let keys = "\n\"luxel\" \"64\"\n\"gridsize\" \"256 256 256\"\n";
    let text = text.replacen('\n', keys, 1);
    let source = Source {
        name: "rooms",
        file: "rooms.map",
        text: text.as_bytes(),
        scripts: &[],
        files: &|_| None,
        game: None,
        effort,
        threads: 2,
    };
    let mut findings = Findings::new(source.file);
    let reading = map_file::read_parts(source.text, &mut findings).unwrap();
    let geometry = geometry::compile(
        reading,
        Materials::new(Shaders::new()),
        &mut images::Images::new(&source, true),
        geometry::Options { precision: effort.precision(), threads: source.threads },
        &mut findings,
        &mut |_, _, _| {},
    )
    .unwrap();
    let scene = lit_scene::of_geometry(&geometry);
    let caster = light::Caster::new(&scene.occluders);
    let options = light::Options { fast: effort == Effort::Fast, threads: source.threads };
    let _ = light::light_with(&caster, &scene, options, &mut |_, _| {});
    [geometry.sight_work, caster.rays.load(Ordering::Relaxed)]
}

#[track_caller]
fn assert_tenth(side: i32) {
    let [draft, full] = [Effort::Fast, Effort::Full].map(|effort| work(side, effort));
    assert!(draft.iter().all(|&work| work > 1000), "{draft:?}");
    for (draft, full) in draft.into_iter().zip(full) {
        assert!(draft * 10 <= full, "draft {draft}, full build {full}");
    }
}

#[test]
fn draft_takes_at_most_a_tenth_of_the_work() {
    assert_tenth(6);
}

/// Takes about a minute.
#[test]
#[ignore = "a minute"]
fn draft_of_1500_brushes_takes_a_tenth() {
    assert!((1500..1700).contains(&rooms(7, 14).1));
    assert_tenth(14);
}
