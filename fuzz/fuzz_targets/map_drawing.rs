//! Map files as pictures: what loads is surveyed and drawn.
#![no_main]

use fragd::{
    mapdraw::{self, DrawOptions},
    world::{Bsp, MapEntities, MapSummary, bsp::mesh},
};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let [choice, data @ ..] = data else { return };
    let Ok(map) = Bsp::load(data) else { return };
    let Ok(entities) = MapEntities::parse(&map.entity_text) else { return };
    let Ok(triangles) = mesh::triangles(data, &map) else { return };
    let _ = MapSummary::of(&map, &entities);
    let options = DrawOptions {
        side: 8 + usize::from(choice >> 3),
        clusters: choice & 1 != 0,
        floors: choice & 4 != 0,
    };
    let scene = mapdraw::draw("fuzz", &map, &triangles, &entities, options);
    // Compression would take most of a run and does not depend on the map.
    if choice & 2 != 0 && choice & 4 != 0 {
        let picture = mapdraw::png(&scene).expect("a picture of bounded size");
        assert!(picture.starts_with(b"\x89PNG"));
    }
    let text = mapdraw::svg(&scene).expect("a picture of bounded size");
    assert!(text.trim_end().ends_with("</svg>"));
});
