//! Tests of light maps and light grid on small scenes.

use super::{caster::Caster, gather::Region, work::Receivers, *};

fn plane(normal: Vector, distance: f64) -> Plane {
    Plane { normal, distance }
}

fn solid(low: Vector, high: Vector) -> Occluder {
    let mut planes = Vec::new();
    for axis in 0..3 {
        let mut normal = [0.0; 3];
        normal[axis] = 1.0;
        planes.push(plane(normal, high[axis]));
        normal[axis] = -1.0;
        planes.push(plane(normal, -low[axis]));
    }
    Occluder { planes, bounds: [low, high], sky: false, casts_shadow: true }
}

fn polygon(points: &[Vector], normal: Vector) -> Surface {
    Surface {
        shape: Shape::Polygon {
            ring: points.iter().map(|point| Vertex { point: *point, st: [0.0; 2] }).collect(),
            extra: Vec::new(),
            normal,
        },
        material: 0,
        model: 0,
    }
}

/// A floor at height 0 from (-side, -side) to (side, side).
fn floor(side: f64) -> Surface {
    polygon(
        &[[-side, -side, 0.0], [-side, side, 0.0], [side, side, 0.0], [side, -side, 0.0]],
        [0.0, 0.0, 1.0],
    )
}

fn scene(surfaces: Vec<Surface>, occluders: Vec<Occluder>) -> Scene {
    Scene {
        occluders,
        materials: vec![Material { color: [0.5; 3], emission: [0.0; 3], lit: true }],
        surfaces,
        ambient: [4.0; 3],
        grid_cell: [64.0, 64.0, 128.0],
        bounds: [[-128.0, -128.0, -16.0], [128.0, 128.0, 240.0]],
        ..Scene::default()
    }
}

fn lamp(origin: Vector, intensity: f64) -> PointLight {
    PointLight { origin, intensity: [intensity; 3], linear: false }
}

/// Brightness of a surface's luxel in the file.
fn luxel(lighting: &Lighting, surface: usize, column: usize, row: usize) -> u8 {
    let placed = lighting.surfaces[surface].placement.as_ref().expect("lit surface");
    let at = (placed.y + row) * PAGE_SIZE + placed.x + column;
    lighting.pages[placed.page][at * 3]
}

fn full(scene: &Scene) -> Lighting {
    light(scene, Options::default(), &mut |_, _| {})
}

/// A closed room of 256 × 256 × 224 with a sky hole in its ceiling, and all its inner faces.
fn room() -> Scene {
    let wall = |axis: usize, sign: f64| {
        let mut low = [-144.0, -144.0, -16.0];
        let mut high = [144.0, 144.0, 240.0];
        if sign > 0.0 {
            low[axis] = high[axis] - 16.0;
        } else {
            high[axis] = low[axis] + 16.0;
        }
        solid(low, high)
    };
    let mut occluders =
        vec![wall(0, 1.0), wall(0, -1.0), wall(1, 1.0), wall(1, -1.0), wall(2, -1.0)];
    // The ceiling has a hole over x > 0, closed by sky.
    occluders.push(solid([-144.0, -144.0, 224.0], [0.0, 144.0, 240.0]));
    occluders.push(Occluder { sky: true, ..solid([0.0, -144.0, 224.0], [144.0, 144.0, 240.0]) });
    let west = polygon(
        &[
            [-128.0, -128.0, 0.0],
            [-128.0, -128.0, 224.0],
            [-128.0, 128.0, 224.0],
            [-128.0, 128.0, 0.0],
        ],
        [1.0, 0.0, 0.0],
    );
    scene(vec![floor(128.0), west], occluders)
}

#[test]
fn ray_is_blocked_by_solids_only() {
    let wedge = Occluder {
        planes: vec![
            plane([0.6, 0.0, 0.8], 0.0),
            plane([0.0, 0.0, -1.0], 32.0),
            plane([-1.0, 0.0, 0.0], 64.0),
        ],
        bounds: [[-64.0, -32.0, -32.0], [42.0, 32.0, 48.0]],
        sky: false,
        casts_shadow: true,
    };
    let caster = Caster::new(&[wedge, solid([100.0; 3], [116.0; 3])]);
    assert!(caster.blocked([-50.0, 0.0, 100.0], [-50.0, 0.0, -100.0]));
    assert!(!caster.blocked([30.0, 0.0, 100.0], [30.0, 0.0, -22.0]));
    assert!(!caster.blocked([-50.0, 0.0, 100.0], [30.0, 0.0, 40.0]));
    assert!(caster.inside([0.0, 0.0, -10.0]));
    assert!(!caster.inside([30.0, 0.0, 0.0]));
}

#[test]
fn hierarchy_agrees_with_every_solid() {
    let mut state = 1u64;
    let mut random = || {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as f64 / f64::from(1u32 << 31) * 1000.0 - 500.0
    };
    let solids: Vec<Occluder> = (0..200)
        .map(|_| {
            let low = [random(), random(), random()];
            solid(low, low.map(|c| c + 30.0))
        })
        .collect();
    let whole = Caster::new(&solids);
    let single: Vec<Caster> = solids.iter().map(|s| Caster::new(std::slice::from_ref(s))).collect();
    let mut blocked = 0;
    for _ in 0..3000 {
        let from = [random(), random(), random()];
        let to = [random(), random(), random()];
        let expected = single.iter().any(|c| c.blocked(from, to));
        assert_eq!(whole.blocked(from, to), expected);
        assert_eq!(whole.inside(from), single.iter().any(|c| c.inside(from)));
        blocked += usize::from(expected);
    }
    assert!((300..2900).contains(&blocked), "{blocked} rays blocked");
}

#[test]
fn point_light_follows_the_inverse_square() {
    let mut scene = scene(vec![floor(128.0)], Vec::new());
    scene.lights = vec![lamp([0.0, 0.0, 101.0], 60.0)];
    let lighting = full(&scene);
    let center = luxel(&lighting, 0, 8, 8);
    assert!((47..=49).contains(&center), "{center}");
    for i in 0..17 {
        for j in 0..17 {
            let here = luxel(&lighting, 0, i, j);
            assert_eq!(here, luxel(&lighting, 0, 16 - i, j), "{i} {j}");
            assert_eq!(here, luxel(&lighting, 0, j, i), "{i} {j}");
            assert!(here <= center);
        }
    }
}

#[test]
fn wall_casts_a_shadow_edge() {
    let mut scene =
        scene(vec![floor(128.0)], vec![solid([32.0, -200.0, 0.0], [40.0, 200.0, 100.0])]);
    scene.lights = vec![lamp([-64.0, 0.0, 64.0], 60.0)];
    let lighting = full(&scene);
    assert!(luxel(&lighting, 0, 9, 8) > 10);
    for column in 12..17 {
        assert_eq!(luxel(&lighting, 0, column, 8), 4);
    }
}

#[test]
fn sun_shines_through_sky_only() {
    let mut scene = room();
    scene.ambient = [0.0; 3];
    scene.suns = vec![Sun { direction: [0.0, 0.0, 1.0], intensity: [80.0; 3] }];
    let lighting = light(&scene, Options { fast: true, threads: 1 }, &mut |_, _| {});
    assert_eq!(luxel(&lighting, 0, 12, 8), 80);
    assert_eq!(luxel(&lighting, 0, 4, 8), 0);
    assert_eq!(luxel(&lighting, 1, 8, 7), 0);
}

#[test]
fn bounce_lights_what_the_sun_misses() {
    let mut scene = room();
    scene.ambient = [0.0; 3];
    scene.suns = vec![Sun { direction: [0.0, 0.0, 1.0], intensity: [80.0; 3] }];
    let lighting = full(&scene);
    let west = luxel(&lighting, 1, 8, 4);
    assert!((1..20).contains(&west), "{west}");
    assert!(lighting.surfaces.iter().all(|s| s.placement.is_some() && s.colors.len() == 4));
}

#[test]
fn sky_lights_an_open_floor_fully() {
    let mut scene = scene(vec![floor(128.0)], Vec::new());
    scene.ambient = [0.0; 3];
    scene.sky = [50.0, 60.0, 70.0];
    let lighting = full(&scene);
    for i in 0..17 {
        assert_eq!(luxel(&lighting, 0, i, i), 50);
    }
    let mut covered = scene.clone();
    covered.occluders.push(solid([-128.0, -128.0, 64.0], [0.0, 128.0, 80.0]));
    let lighting = full(&covered);
    let (under, open) = (luxel(&lighting, 0, 2, 8), luxel(&lighting, 0, 15, 8));
    assert!(under * 2 < open, "{under} under the cover, {open} beside it");
}

#[test]
fn surface_light_lights_its_front_only() {
    let mut scene = scene(vec![floor(128.0)], Vec::new());
    scene.materials.push(Material { color: [1.0; 3], emission: [300.0; 3], lit: false });
    let lamp = |z: f64, normal: f64| {
        let mut points =
            vec![[-16.0, -16.0, z], [16.0, -16.0, z], [16.0, 16.0, z], [-16.0, 16.0, z]];
        if normal > 0.0 {
            points.reverse();
        }
        Surface { material: 1, ..polygon(&points, [0.0, 0.0, normal]) }
    };
    scene.surfaces.push(lamp(96.0, 1.0));
    assert_eq!(luxel(&full(&scene), 0, 8, 8), 4);
    scene.surfaces[1] = lamp(96.0, -1.0);
    let lighting = full(&scene);
    // 300 · 1024 / (91² + 1024 / π) with the lamp 4 below its plate and the sample 1 over the floor.
    assert!((38..=41).contains(&luxel(&lighting, 0, 8, 8)));
    assert_eq!(lighting.surfaces[1].placement, None);
}

#[test]
fn neighbors_in_a_plane_agree_on_their_edge() {
    let mut scene = room();
    scene.lights = vec![lamp([40.0, 30.0, 90.0], 60.0)];
    let half = |from: f64, to: f64| {
        polygon(
            &[[from, -128.0, 0.0], [from, 128.0, 0.0], [to, 128.0, 0.0], [to, -128.0, 0.0]],
            [0.0, 0.0, 1.0],
        )
    };
    scene.surfaces = vec![half(-128.0, 8.0), half(8.0, 128.0)];
    let lighting = light(&scene, Options { fast: true, threads: 1 }, &mut |_, _| {});
    // The edge at x = 8 lies between the luxels at 0 and 16, which both halves have.
    for row in 0..17 {
        for column in 0..2 {
            assert_eq!(luxel(&lighting, 0, 8 + column, row), luxel(&lighting, 1, column, row));
        }
    }
}

#[test]
fn thread_count_leaves_all_bytes_equal() {
    let mut scene = room();
    scene.lights = vec![lamp([40.0, 30.0, 90.0], 60.0)];
    scene.sky = [60.0; 3];
    let one = full(&scene);
    let two = light(&scene, Options { fast: false, threads: 2 }, &mut |_, _| {});
    assert_eq!(one, two);
}

#[test]
fn small_map_uses_two_pages() {
    let lighting = full(&room());
    assert_eq!(lighting.pages.len(), 2);
    let pages: Vec<usize> =
        lighting.surfaces.iter().filter_map(|s| s.placement.as_ref().map(|p| p.page)).collect();
    assert_eq!(pages, [0, 1]);
}

#[test]
fn light_map_coordinates_stay_within_rectangles() {
    let mut scene = scene(Vec::new(), Vec::new());
    for i in 0..300 {
        let width = 8.0 + f64::from(i * 37 % 500);
        let height = 8.0 + f64::from(i * 91 % 700);
        scene.surfaces.push(polygon(
            &[
                [3.0, 5.0, 0.0],
                [3.0, 5.0 + height, 0.0],
                [3.0 + width, 5.0 + height, 0.0],
                [3.0 + width, 5.0, 0.0],
            ],
            [0.0, 0.0, 1.0],
        ));
    }
    let layout::Layout { placements, pages, .. } = layout::place(&scene);
    let mut owner = vec![vec![false; PAGE_SIZE * PAGE_SIZE]; pages];
    for placed in placements.iter().flatten() {
        for y in placed.y..placed.y + placed.height {
            for x in placed.x..placed.x + placed.width {
                let taken = &mut owner[placed.page][y * PAGE_SIZE + x];
                assert!(!std::mem::replace(taken, true), "luxel {x} {y} used twice");
            }
        }
        for [u, v] in &placed.coordinates {
            let (x, y) = (u * 128.0 - placed.x as f64, v * 128.0 - placed.y as f64);
            assert!(x >= 0.5 && x <= placed.width as f64 - 0.5, "{x}");
            assert!(y >= 0.5 && y <= placed.height as f64 - 0.5, "{y}");
        }
    }
    let used: usize = owner.iter().flatten().filter(|u| **u).count();
    assert!(used * 100 > 75 * pages * PAGE_SIZE * PAGE_SIZE);
}

#[test]
fn large_polygon_gets_coarser_luxels() {
    let scene = scene(vec![floor(4096.0)], Vec::new());
    let layout::Layout { placements, .. } = layout::place(&scene);
    let placed = placements[0].as_ref().expect("lit surface");
    assert!(placed.width < PAGE_SIZE && placed.vectors[0][0] == 128.0);
}

#[test]
fn grid_is_bright_in_the_open_only() {
    let mut scene = room();
    scene.suns = vec![Sun { direction: [0.0, 0.0, 1.0], intensity: [80.0; 3] }];
    let lighting = full(&scene);
    // 5 · 5 · 2 points from (-128, -128, 0).
    assert_eq!(lighting.grid.len(), 5 * 5 * 2 * 8);
    let at = |x: usize, y: usize, z: usize| &lighting.grid[((z * 5 + y) * 5 + x) * 8..][..8];
    let open = at(3, 2, 1);
    assert!(open[3] >= 80, "{open:?}");
    assert!(open[6] <= 2, "light comes from above");
    assert!(at(1, 2, 1)[3] < 40);
}

#[test]
fn patch_is_lit_along_its_curve() {
    let mut points = Vec::new();
    for row in 0..3 {
        for (x, z) in [(-64.0, 0.0), (0.0, 128.0), (64.0, 0.0)] {
            points.push(Vertex { point: [x, f64::from(row) * 64.0 - 64.0, z], st: [0.0; 2] });
        }
    }
    let patch =
        Surface { shape: Shape::Patch { width: 3, height: 3, points }, material: 0, model: 0 };
    let mut scene = scene(vec![patch], Vec::new());
    scene.suns = vec![Sun { direction: [0.0, 0.0, 1.0], intensity: [80.0; 3] }];
    let lighting = full(&scene);
    let placed = lighting.surfaces[0].placement.clone().expect("lit patch");
    assert_eq!(lighting.surfaces[0].colors.len(), 9);
    let top = luxel(&lighting, 0, placed.width / 2, 2);
    let side = luxel(&lighting, 0, 0, 2);
    // Odd widths have a luxel at the crest, others two beside it.
    assert!(top > 70, "{top}");
    assert!(side < 50, "{side}");
}

#[test]
fn bytes_keep_hue_beyond_full_brightness() {
    assert_eq!(to_bytes([510.0, 255.0, 0.0]), [255, 128, 0]);
    assert_eq!(to_bytes([0.4, 0.2, 0.1]), [0, 0, 0]);
    assert_eq!(to_bytes([33.0, 33.0, 16.6]), [33, 33, 17]);
    for value in 1..=255u8 {
        let [r, ..] = to_bytes([f64::from(value); 3]);
        assert!(r.abs_diff(value) <= 2, "{r} for {value}");
    }
}

#[test]
fn luxels_grow_when_light_maps_are_too_many() {
    let scene = scene((0..200).map(|_| floor(960.0)).collect(), Vec::new());
    let layout::Layout { placements, luxel, pages } = layout::place(&scene);
    assert_eq!(luxel, 32.0);
    assert!(pages < 256 && placements.iter().all(Option::is_some));
}

#[test]
fn sources_left_out_at_a_surface_are_negligible() {
    let mut scene = scene(vec![floor(128.0)], Vec::new());
    scene.lights = (0..40)
        .map(|i| PointLight { linear: i % 2 == 0, ..lamp([f64::from(i) * 300.0, 0.0, 64.0], 30.0) })
        .collect();
    let caster = Caster::new(&scene.occluders);
    let sources = Sources::new(&caster, &scene, false, 1);
    let [near, everything] = [[[-128.0, -128.0, 0.0], [128.0, 128.0, 2.0]], [[-1e6; 3], [1e6; 3]]]
        .map(|bounds| sources.near(&Region { bounds, plane: None }));
    assert!(near.count() < everything.count());
    for x in [-128.0, 0.0, 128.0] {
        let [part, all] = [&near, &everything]
            .map(|local| sources.on_surface(local, [x, 0.0, 1.0], [0.0, 0.0, 1.0], 0));
        assert_eq!(part, all);
    }
}

#[test]
fn draft_grid_has_the_points_of_a_full_one() {
    let mut scene = scene(vec![floor(128.0)], Vec::new());
    scene.bounds = [[-300.0, -170.0, -16.0], [128.0, 128.0, 240.0]];
    scene.lights = vec![lamp([0.0, 0.0, 100.0], 300.0)];
    let grid = |fast| light(&scene, Options { fast, threads: 2 }, &mut |_, _| {}).grid;
    let (draft, full) = (grid(true), grid(false));
    assert_eq!(draft.len(), full.len());
    assert_eq!(draft[..8], draft[8..16]);
}

#[test]
fn huge_surface_lights_have_few_emitters() {
    let mut scene = scene((0..30).map(|_| floor(960.0)).collect(), Vec::new());
    scene.materials[0].emission = [50.0; 3];
    let caster = Caster::new(&scene.occluders);
    let [full, fast] =
        [false, true].map(|fast| Sources::new(&caster, &scene, fast, 1).emitter_power());
    assert!(full.0 <= 2048 && fast.0 <= 256 && fast.0 >= 30, "{full:?} {fast:?}");
    assert!((full.1 / fast.1 - 1.0).abs() < 1e-9, "{full:?} {fast:?}");
}

/// Thirty floors of 120 x 120 luxels under strong lights.
fn bright(lights: usize) -> Scene {
    let mut scene = scene((0..30).map(|_| floor(960.0)).collect(), Vec::new());
    scene.bounds = [[-960.0, -960.0, 0.0], [960.0, 960.0, 512.0]];
    let place = |i: usize| [(i * 37 % 1900) as f64 - 950.0, (i * 91 % 1900) as f64 - 950.0, 200.0];
    scene.lights = (0..lights).map(|i| lamp(place(i), 9e5)).collect();
    scene
}

#[test]
fn lights_beyond_the_budget_count_as_one() {
    for (fast, lights, is_over) in [(true, 4000, true), (true, 100, false), (false, 4000, true)] {
        let scene = bright(lights);
        let layout::Layout { placements, .. } = layout::place(&scene);
        let caster = Caster::new(&scene.occluders);
        let receivers = Receivers::new(&scene, &placements, fast);
        let samples = if fast { 1 } else { OFFSETS.len() };
        let mut sources = Sources::new(&caster, &scene, fast, samples);
        let mut savings = Savings::default();
        let fitting = receivers.fit(&mut sources, fast, samples, &mut savings);
        assert_eq!(savings != Savings::default(), is_over, "{savings:?}");
        assert_eq!(fitting, if is_over { 1 } else { samples });
        let max = if fast { 100_000_000 } else { 400_000_000 };
        assert!(receivers.direct_work(&sources, fitting, u64::MAX) <= max, "{savings:?}");
        let power: f64 = sources.all.lights.iter().map(|lamp| lamp.light.intensity[0]).sum();
        assert!((power / (9e5 * lights as f64) - 1.0).abs() < 1e-9, "{power}");
        assert_eq!(sources.all.lights.len() < lights, is_over);
        if is_over {
            assert_eq!((savings.sources, savings.luxels), (lights, receivers.luxels()));
        }
    }
}

#[test]
fn lights_below_a_floor_are_left_out() {
    let mut scene = scene(vec![floor(128.0)], Vec::new());
    scene.lights = vec![lamp([0.0, 0.0, 64.0], 300.0), lamp([0.0, 0.0, -64.0], 300.0)];
    let caster = Caster::new(&scene.occluders);
    let sources = Sources::new(&caster, &scene, false, 1);
    let bounds = [[-128.0, -128.0, -4.0], [128.0, 128.0, 4.0]];
    let plane = plane([0.0, 0.0, 1.0], 0.0);
    let [above, all] = [Some(plane), None].map(|plane| sources.near(&Region { bounds, plane }));
    assert_eq!([above.count(), all.count()], [1, 2]);
    let [above, all] =
        [above, all].map(|local| sources.on_surface(&local, [0.0, 0.0, 1.0], [0.0, 0.0, 1.0], 0));
    assert_eq!(above, all);
}
