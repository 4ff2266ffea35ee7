//! Tests of maps: traces, visibility, damaged files.

// Compiled once for all cases.
#[cfg(test)]
use std::sync::LazyLock;

use proptest::prelude::*;

use super::compiler::fragqw1;
use super::*;

static MAP: LazyLock<Bsp29> = LazyLock::new(|| Bsp29::load(&fragqw1()).expect("own map"));

const SIZES: [HullSize; 3] = [HullSize::Point, HullSize::Player, HullSize::Large];

fn point() -> impl Strategy<Value = Vec3> {
    let [x, y, z] = [-560.0_f32..816.0, -432.0_f32..432.0, -160.0_f32..288.0];
    (x, y, z).prop_map(|(x, y, z)| Vec3::new(x, y, z))
}

fn lerp(start: Vec3, end: Vec3, part: f32) -> Vec3 {
    start + (end - start) * part
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn trace_from_open_never_ends_in_solid(start in point(), end in point(), hull in 0..3_usize) {
        let hull = MAP.hull(0, SIZES[hull]);
        let trace = hull.trace(start, end);
        prop_assert!((0.0..=1.0).contains(&trace.fraction));
        prop_assert_eq!(trace.start_solid, hull.contents_at(start) == Contents::SOLID);
        if !trace.start_solid {
            prop_assert_ne!(hull.contents_at(trace.end), Contents::SOLID);
            prop_assert!(!trace.all_solid);
        }
    }

    #[test]
    fn trace_agrees_with_contents_on_its_way(start in point(), end in point(), hull in 0..3_usize) {
        let hull = MAP.hull(0, SIZES[hull]);
        let trace = hull.trace(start, end);
        if trace.start_solid {
            return Ok(());
        }
        // The trace stops 1/32 in front of a plane. Grazed edges are thinner than the steps.
        let steps = 400;
        let first_solid = (0..=steps).map(|step| step as f32 / steps as f32).find(|&part| {
            hull.contents_at(lerp(start, end, part)) == Contents::SOLID
        });
        if let Some(part) = first_solid {
            prop_assert!(trace.fraction <= part, "solid at {part}, trace {trace:?}");
        } else if trace.fraction < 1.0 {
            let reach = 0.2 / trace.normal.dot(end - start).abs().max(1e-3);
            let beyond = lerp(start, end, (trace.fraction + reach).min(1.0));
            let near = (-8..=8).flat_map(|x| (-8..=8).map(move |y| (x, y)));
            let side = |part: i32| part as f32 / 16.0;
            let is_solid = |point: Vec3| hull.contents_at(point) == Contents::SOLID;
            let mut hits = near.map(|(x, y)| beyond + Vec3::new(side(x), side(y), side(x - y)));
            prop_assert!(is_solid(beyond) || hits.any(is_solid), "{trace:?}");
        }
    }

    #[test]
    fn leaf_and_hull_agree_on_contents(at in point()) {
        let leaf = MAP.leaf_at(at);
        prop_assert_eq!(MAP.leafs()[leaf.index()].contents, MAP.contents_at(at));
        let mut is_met = MAP.leafs()[leaf.index()].contents == Contents::SOLID;
        let unit = Vec3::new(1.0, 1.0, 1.0);
        MAP.leafs_in_box(at - unit, at + unit, |met| { is_met |= met == leaf; true });
        prop_assert!(is_met);
    }

    #[test]
    fn line_of_sight_implies_pvs(start in point(), end in point()) {
        let trace = MAP.hull(0, HullSize::Point).trace(start, end);
        if trace.start_solid || trace.fraction < 1.0 {
            return Ok(());
        }
        let (from, to) = (MAP.leaf_at(start), MAP.leaf_at(end));
        prop_assert!(MAP.visibility().pvs(from).contains(to), "{start:?} {end:?}");
        prop_assert!(MAP.visibility().phs(from).contains(to));
        let mut set = LeafSet::default();
        MAP.fat_pvs(start, 8.0, &mut set);
        prop_assert!(set.contains(to));
    }

    #[test]
    fn damaged_map_loads_or_is_rejected(changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..8), a in point(), b in point()) {
        let mut file = fragqw1_file().to_vec();
        for (index, byte) in changes {
            let at = index.index(file.len());
            file[at] = byte;
        }
        if let Ok(map) = Bsp29::load(&file) {
            walk(&map, a, b);
        }
    }
}

fn fragqw1_file() -> &'static [u8] {
    static FILE: LazyLock<Vec<u8>> = LazyLock::new(fragqw1);
    &FILE
}

/// Runs every query on a map.
fn walk(map: &Bsp29, start: Vec3, end: Vec3) {
    for model in 0..map.models().len() {
        for size in SIZES {
            let hull = map.hull(model, size);
            let _ = (hull.trace(start, end), hull.contents_at(start));
        }
    }
    let leaf = map.leaf_at(start);
    let _ = (map.visibility().pvs(leaf).contains(leaf), map.visibility().phs(leaf).contains(leaf));
    map.fat_pvs(start, 8.0, &mut LeafSet::default());
}

#[test]
fn rooms_of_own_map_are_not_visible_mutually() {
    let leaf = |x: f32, y: f32| MAP.leaf_at(Vec3::new(x, y, 64.0));
    let (west, bend, east) = (leaf(-200.0, -200.0), leaf(128.0, 100.0), leaf(500.0, 100.0));
    let visibility = MAP.visibility();
    assert!(!visibility.pvs(west).contains(east) && !visibility.pvs(east).contains(west));
    assert!(visibility.pvs(bend).contains(east) && visibility.pvs(bend).contains(west));
    // Sound goes through the bend.
    assert!(visibility.phs(west).contains(east));
    assert_eq!(MAP.warnings(), [""; 0]);
    assert!(MAP.entities().is_ok());
}

#[test]
fn own_map_has_liquids_and_models() {
    assert_eq!(MAP.contents_at(Vec3::new(-420.0, -200.0, -40.0)), Contents::WATER);
    assert_eq!(MAP.contents_at(Vec3::new(384.0, -256.0, -32.0)), Contents::LAVA);
    assert_eq!(MAP.models().len(), 5);
    let lift = MAP.hull(1, HullSize::Player);
    assert_eq!(lift.contents_at(Vec3::new(700.0, 300.0, 39.0)), Contents::SOLID);
    assert_eq!(lift.contents_at(Vec3::new(700.0, 300.0, 41.0)), Contents::EMPTY);
}

#[test]
fn spawn_points_of_own_map_are_free() {
    let entities = MAP.entities().expect("entities");
    let spots = entities.all().iter().filter(|entity| entity.classname().starts_with("info_"));
    let hull = MAP.hull(0, HullSize::Player);
    let mut count = 0;
    for spot in spots {
        // Games lift players to 27 units above a destination.
        let is_destination = spot.classname() == "info_teleport_destination";
        let lift = if is_destination { 27.0 } else { 0.0 };
        let origin = spot.origin() + Vec3::new(0.0, 0.0, lift);
        assert_eq!(hull.contents_at(origin), Contents::EMPTY, "{origin:?}");
        count += 1;
    }
    assert_eq!(count, 14);
}

#[test]
fn trace_of_a_box_uses_the_nearest_hull() {
    let (start, end) = (Vec3::new(-64.0, 64.0, 64.0), Vec3::new(-64.0, 64.0, -64.0));
    let fall =
        |mins: Vec3, maxs: Vec3| MAP.trace_box(0, Vec3::ZERO, (mins, maxs), (start, end)).end[2];
    assert_eq!(fall(Vec3::ZERO, Vec3::ZERO), 0.03125);
    assert_eq!(fall(HULL_BOXES[1].0, HULL_BOXES[1].1), 24.03125);
    // A box of 20 units has the hull of players, with its own bottom.
    let half = Vec3::new(10.0, 10.0, 10.0);
    assert_eq!(fall(Vec3::ZERO - half, half), 10.03125);
    // The lift, 100 units higher.
    let lift = Vec3::new(0.0, 0.0, 100.0);
    let line = (Vec3::new(700.0, 320.0, 200.0), Vec3::new(700.0, 320.0, 20.0));
    assert_eq!(MAP.trace_box(1, lift, HULL_BOXES[1], line).end[2], 140.03125);
}

#[test]
fn large_box_is_visible_from_everywhere() {
    let (low, high) = (Vec3::new(-500.0, -380.0, -100.0), Vec3::new(760.0, 380.0, 200.0));
    let none = LeafSet::default();
    assert!(MAP.touched_leafs(low, high).is_visible(&none));
    let player = |x: f32, y: f32| {
        let origin = Vec3::new(x, y, 32.0);
        MAP.touched_leafs(origin + HULL_BOXES[1].0, origin + HULL_BOXES[1].1)
    };
    assert!(!player(-64.0, 64.0).is_visible(&none));
    let mut west = LeafSet::default();
    MAP.fat_pvs(Vec3::new(-200.0, 0.0, 54.0), 8.0, &mut west);
    assert!(player(-64.0, 64.0).is_visible(&west) && !player(600.0, 0.0).is_visible(&west));
}

#[test]
fn error_names_lump_record_and_value() {
    let mut file = fragqw1_file().to_vec();
    let at = lump_offset(&file, Lump::Nodes);
    file[at + 24..at + 28].copy_from_slice(&12_345_i32.to_le_bytes());
    let error = Bsp29::load(&file).expect_err("plane of node 1");
    assert!(error.to_string().starts_with("nodes, record 1: plane 12345 not found (table has"));

    file[0] = 30;
    let error = Bsp29::load(&file).expect_err("version").to_string();
    assert_eq!(error, "unsupported map version: 30 (expected 29)");
    assert!(Bsp29::load(&file[..50]).is_err());
}

/// Offset of a lump in a file.
fn lump_offset(file: &[u8], lump: Lump) -> usize {
    let at = 4 + 8 * lump as usize;
    u32::from_le_bytes(file[at..at + 4].try_into().expect("offset")) as usize
}

#[test]
fn truncated_visibility_shows_everything_with_warning() {
    let mut file = fragqw1_file().to_vec();
    let len = 8 + 8 * Lump::Visibility as usize;
    file[len..len + 4].copy_from_slice(&3_u32.to_le_bytes());
    let map = Bsp29::load(&file).expect("map");
    assert_eq!(map.warnings().len(), 1);
    assert!(map.warnings()[0].starts_with("visibility, leaf 1: range of row exceeds its table"));
    let leaf = |x: f32| map.leaf_at(Vec3::new(x, 0.0, 64.0));
    assert!(map.visibility().pvs(leaf(-200.0)).contains(leaf(500.0)));
    assert!(map.visibility().phs(leaf(-200.0)).contains(leaf(500.0)));
}

#[test]
fn face_without_plane_is_a_warning() {
    let mut file = fragqw1_file().to_vec();
    let at = lump_offset(&file, Lump::Faces);
    file[at + 20..at + 22].copy_from_slice(&9999_u16.to_le_bytes());
    let map = Bsp29::load(&file).expect("map");
    assert!(map.warnings()[0].starts_with("faces, record 1: plane 9999 not found (table has"));
}

#[test]
fn cyclic_tree_is_rejected() {
    let mut file = fragqw1_file().to_vec();
    let at = lump_offset(&file, Lump::ClipNodes);
    file[at + 4..at + 6].copy_from_slice(&0_u16.to_le_bytes());
    let error = Bsp29::load(&file).expect_err("node 0 below itself").to_string();
    assert_eq!(error, "clip nodes, record 0: tree reaches this record from below itself");
}

#[test]
fn deep_and_shared_trees_are_rejected() {
    let chain = |len: usize| -> Vec<[Option<usize>; 2]> {
        (0..len).map(|node| [(node + 1 < len).then_some(node + 1), None]).collect()
    };
    assert!(trees::check(Lump::Nodes, &chain(MAX_TREE_DEPTH)).is_ok());
    assert!(trees::check(Lump::Nodes, &chain(MAX_TREE_DEPTH + 1)).is_err());
    // Both children of each node are the next: the number of paths doubles.
    let shared: Vec<_> = (0..40).map(|node| [(node < 39).then_some(node + 1); 2]).collect();
    assert!(trees::check(Lump::Nodes, &shared).is_err());
}
