//! Hostile map files: truncated, tampered with, inconsistent.
//!
//! Each is rejected with its position, or is safe to use. None panics, and none costs more than its
//! size explains.

use fragd::{
    mapdraw::{self, DrawOptions},
    model::Vec3,
    world::{
        Areas, Bsp, BspError, MapEntities, PvsLocation,
        bsp::{Lump, MAX_TREE_DEPTH, mesh},
    },
};
use proptest::prelude::*;

use crate::{
    installed_maps,
    sample_maps::{Numbers as _, TestMap},
};

/// A map of one room, to be changed at will.
#[derive(Clone)]
struct Sample(TestMap);

const ENTITIES: &str = "{ classname worldspawn message Room }\n\
    { classname info_player_deathmatch origin \"0 0 24\" angle 90 }\n\
    { classname func_door model *1 }\n{ classname weapon_railgun origin \"8 8 8\" }\n\0";

impl Sample {
    /// Two leafs on both sides of x = 0, a brush in each, a door, a patch, two clusters.
    fn new() -> Self {
        let shader = |name: &str, contents: i32| {
            let mut bytes = name.as_bytes().to_vec();
            bytes.resize(64, 0);
            [bytes, [0, contents][..].bytes()].concat()
        };
        let axial = |axis: usize, sign: f32| {
            let mut plane = [0.0, 0.0, 0.0, 64.0];
            plane[axis] = sign;
            plane[..].bytes()
        };
        let planes = (0..3).flat_map(|axis| [axial(axis, -1.0), axial(axis, 1.0)].concat());
        let middle = [1.0, 0.0, 0.0, 0.0_f32];
        let sides: Vec<i32> = (0..3).flat_map(|_| (0..6).flat_map(|side| [side, 0])).collect();
        let leaf = |cluster: i32| [cluster, 0, 0, 0, 0, 0, 0, 0, cluster, 1, cluster, 1];
        let model = |brush: i32, brushes: i32, surfaces: i32| {
            let bounds = [-64.0, -64.0, -64.0, 64.0, 64.0, 64.0_f32];
            [bounds[..].bytes(), [0, surfaces, brush, brushes][..].bytes()].concat()
        };
        let vertex = |number: usize| {
            let (x, y) = ((number % 3) as f32 * 32.0, (number / 3) as f32 * 32.0);
            [x, y, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0][..].bytes()
        };
        let surface = |kind: i32, first: i32, count: i32, indexes: i32, side: i32| {
            let mut words = vec![1, -1, kind, first, count, 0, indexes];
            words.resize(24, 0);
            words.extend([side, side]);
            words.bytes()
        };
        let lumps = [
            ENTITIES.as_bytes().to_vec(),
            [shader("textures/room/wall", 1), shader("textures/room/curve", 1)].concat(),
            planes.chain(middle[..].bytes()).collect(),
            [6, -1, -2, 0, 0, 0, 0, 0, 0][..].bytes(),
            [leaf(0)[..].bytes(), leaf(1)[..].bytes()].concat(),
            [0, -1][..].bytes(),
            [0, 1][..].bytes(),
            [model(0, 2, 2), model(2, 1, 0)].concat(),
            [0, 6, 0, 6, 6, 1, 12, 6, 0][..].bytes(),
            sides.bytes(),
            (0..12).flat_map(vertex).collect(),
            [0, 1, 2][..].bytes(),
            Vec::new(),
            [surface(2, 0, 9, 0, 3), surface(1, 9, 3, 3, 0)].concat(),
            Vec::new(),
            Vec::new(),
            [&[2, 8][..].bytes()[..], &[3, 0, 0, 0, 0, 0, 0, 0], &[2, 0, 0, 0, 0, 0, 0, 0]]
                .concat(),
        ];
        Self(TestMap::new(lumps))
    }

    fn file(&self) -> Vec<u8> {
        self.0.file()
    }

    fn load(&self) -> Result<Bsp, BspError> {
        Bsp::load(&self.file())
    }

    /// The map with one word of a lump changed.
    fn with(&self, lump: Lump, at: usize, value: i32) -> Self {
        let mut changed = self.clone();
        changed.0.lumps[lump as usize][at..at + 4].copy_from_slice(&value.to_le_bytes());
        changed
    }
}

/// Asks a map everything that a server and a drawing ask.
fn use_up(file: &[u8], map: &Bsp) {
    let areas = Areas::new(map.area_count);
    let far = Vec3::new(3e38, -3e38, f32::NAN);
    for point in [Vec3::ZERO, Vec3::new(-5.0, 1.0, 1.0), far, map.world().maxs] {
        let leaf = &map.leafs[map.leaf_at(point)];
        for &brush in &map.leaf_brushes[leaf.brushes] {
            assert!(map.brush_sides[map.brushes[brush].sides].len() != 1);
        }
        assert!(
            map.leaf_surfaces[leaf.surfaces]
                .iter()
                .all(|&s| map.surfaces.get_by_number(s).is_some())
        );
        let from = map.viewpoint(point);
        let touched = PvsLocation::of_box(map, point, map.world().maxs);
        let _ = (touched.visible_from(&from, &areas), map.sees(point, Vec3::ZERO, Some(&areas)));
    }
    for (_, patch) in map.patches() {
        assert_eq!(map.vertices[patch.points].len(), usize::from(patch.width * patch.height));
    }
    assert!(map.memory_len() <= 4096 + 4 * file.len());
    let triangles = mesh::triangles(file, map).unwrap();
    if let Ok(entities) = MapEntities::parse(&map.entity_text) {
        let options = DrawOptions { side: 32, clusters: true, floors: true };
        let scene = mapdraw::draw("<x>", map, &triangles, &entities, options);
        assert!(mapdraw::svg(&scene).unwrap().ends_with("</svg>\n"));
        assert!(mapdraw::png(&scene).unwrap().starts_with(b"\x89PNG"));
    }
}

#[test]
fn sample_map_is_valid() {
    let sample = Sample::new();
    let map = sample.load().unwrap();
    assert_eq!((map.leafs.len(), map.area_count, map.visibility.cluster_count()), (2, 1, 2));
    let [front, back] = [1.0, -1.0].map(|x| map.leafs[map.leaf_at(Vec3::new(x, 0.0, 0.0))].cluster);
    assert_ne!(front, back);
    assert!(map.visibility.sees(front, back) && !map.visibility.sees(back, front));
    assert_eq!(map.visibility.row(None), fragd::world::PvsRow::Everything);
    let door = map.models[map.inline_model("*1").unwrap()];
    assert_eq!(door.maxs, Vec3::new(65.0, 65.0, 65.0));
    assert_eq!(map.brushes[door.brushes][0].mins, Vec3::new(-64.0, -64.0, -64.0));
    assert!(map.inline_model("*0").is_none() && map.inline_model("*2").is_none());
    assert_eq!(map.patches().count(), 1);
    use_up(&sample.file(), &map);
}

/// The sample with `count` brushes or surfaces in leaf 1, or in the door's model.
fn crowded(lump: Lump, count: usize) -> Sample {
    let mut sample = Sample::new();
    let lumps = &mut sample.0.lumps;
    let words = |count: usize, word: i32| vec![word; count][..].bytes();
    let (field, record) = match lump {
        Lump::LeafBrushes => (44, Lump::Leafs),
        Lump::LeafSurfaces => (36, Lump::Leafs),
        _ => (36, Lump::Models),
    };
    match lump {
        Lump::Brushes => {
            let brush = [0, 0, 0][..].bytes();
            lumps[lump as usize].extend(brush.repeat(count));
        }
        _ => lumps[lump as usize].extend(words(count, 0)),
    }
    let at = record.record_len() + field;
    lumps[record as usize][at..at + 4].copy_from_slice(&(count as i32).to_le_bytes());
    sample
}

#[test]
fn crowded_leafs_and_models_are_refused() {
    for (lump, max, what) in [
        (Lump::LeafBrushes, 65_536, "leafs, record 1: too many leaf brushes"),
        (Lump::LeafSurfaces, 131_072, "leafs, record 1: too many leaf surfaces"),
        (Lump::Brushes, 65_536, "models, record 1: too many brushes"),
    ] {
        assert!(crowded(lump, max).load().is_ok(), "{what}");
        let error = crowded(lump, max + 1).load().expect_err(what).to_string();
        assert_eq!(error, format!("{what}: {} (max {max})", max + 1));
    }
}

#[test]
fn map_error_names_lump_and_record() {
    const NAN: i32 = 0x7fc0_0000;
    let sample = Sample::new();
    let cases = [
        (Lump::Brushes, 12 + 8, 2, "brushes, record 1: shader 2 not found (table has 2)"),
        (Lump::Brushes, 8, -1, "brushes, record 0: shader -1 not found (table has 2)"),
        (
            Lump::Brushes,
            12 + 4,
            5,
            "brushes, record 1: brush has 5 sides (expected 0 or at least 6)",
        ),
        (
            Lump::Brushes,
            12,
            13,
            "brushes, record 1: range of sides exceeds its table: first 13, count 6 (table has 18)",
        ),
        (
            Lump::Brushes,
            4,
            i32::MAX,
            "brushes, record 0: range of sides exceeds its table: first 0, count 2147483647 (table has 18)",
        ),
        (
            Lump::Brushes,
            4,
            18,
            "brushes, record 1: ranges of sides overlap: their sum exceeds the table of 18",
        ),
        (Lump::BrushSides, 8, 7, "brush sides, record 1: plane 7 not found (table has 7)"),
        (Lump::Planes, 16, NAN, "planes, record 1: normal is not a finite number"),
        (Lump::Planes, 12, 0x7f80_0000, "planes, record 0: distance is not a finite number"),
        (Lump::Planes, 0, 0, "planes, record 0: normal has length 0 (expected 1)"),
        (Lump::Nodes, 4, 0, "nodes, record 0: tree reaches this record twice"),
        (Lump::Nodes, 8, -1, "leafs, record 0: tree reaches this record twice"),
        (
            Lump::Nodes,
            8,
            i32::MIN,
            "nodes, record 0: child leaf 2147483647 not found (table has 2)",
        ),
        (Lump::Nodes, 4, 1, "nodes, record 0: child node 1 not found (table has 1)"),
        (Lump::Nodes, 0, 7, "nodes, record 0: plane 7 not found (table has 7)"),
        (Lump::Leafs, 48, 2, "leafs, record 1: cluster 2 not found (table has 2)"),
        (Lump::Leafs, 52, 256, "leafs, record 1: area 256 not found (table has 256)"),
        (
            Lump::Leafs,
            48 + 44,
            2,
            "leafs, record 1: range of leaf brushes exceeds its table: first 1, count 2 (table has 2)",
        ),
        (
            Lump::Leafs,
            44,
            2,
            "leafs, record 1: ranges of leaf brushes overlap: their sum exceeds the table of 2",
        ),
        (Lump::LeafBrushes, 4, 3, "leaf brushes, record 1: brush 3 not found (table has 3)"),
        (Lump::LeafSurfaces, 0, 2, "leaf surfaces, record 0: surface 2 not found (table has 2)"),
        (Lump::LeafSurfaces, 0, -2, "leaf surfaces, record 0: surface -2 not found (table has 2)"),
        (
            Lump::Models,
            40 + 32,
            3,
            "models, record 1: range of brushes exceeds its table: first 3, count 1 (table has 3)",
        ),
        (
            Lump::Models,
            36,
            3,
            "models, record 1: ranges of brushes overlap: their sum exceeds the table of 3",
        ),
        (Lump::Models, 0, NAN, "models, record 0: lower bound is not a finite number"),
        (Lump::Vertices, 44, NAN, "vertices, record 1: position is not a finite number"),
        (
            Lump::Surfaces,
            96,
            4,
            "surfaces, record 0: invalid patch size: 4 by 3 points (expected odd sides, 3 to 129, at most 1024 points)",
        ),
        (
            Lump::Surfaces,
            100,
            131,
            "surfaces, record 0: invalid patch size: 3 by 131 points (expected odd sides, 3 to 129, at most 1024 points)",
        ),
        (
            Lump::Surfaces,
            12,
            4,
            "surfaces, record 0: range of vertices exceeds its table: first 4, count 9 (table has 12)",
        ),
        (Lump::Surfaces, 0, 2, "surfaces, record 0: shader 2 not found (table has 2)"),
    ];
    for (lump, at, value, expected) in cases {
        let error = sample.with(lump, at, value).load().unwrap_err();
        assert_eq!(error.to_string(), expected);
    }
}

#[test]
fn false_map_headers_are_rejected() {
    let sample = Sample::new();
    let file = sample.file();
    let refused = |at: usize, value: i32| {
        let mut changed = file.clone();
        changed[at..at + 4].copy_from_slice(&value.to_le_bytes());
        Bsp::load(&changed).unwrap_err().to_string()
    };
    assert_eq!(refused(4, 47), "unsupported map version: 47 (expected 46)");
    assert!(refused(0, 0x5053_4252).contains("begins with \"RBSP\""));
    let len = file.len();
    for (offset, bytes) in [(-1, 8), (8, -8), (len as i32, 8), (i32::MAX, i32::MAX), (0, i32::MAX)]
    {
        let mut changed = file.clone();
        changed[8 + 8..8 + 16].copy_from_slice(&[offset, bytes][..].bytes());
        let expected =
            format!("shaders: {bytes} bytes at offset {offset} exceed the file of {len} bytes");
        assert_eq!(Bsp::load(&changed).unwrap_err().to_string(), expected);
    }
    assert_eq!(refused(8 + 12, 73), "shaders: 73 bytes are not a multiple of the record length 72");
    for (lump, name) in [(1, "shaders"), (2, "planes"), (3, "nodes"), (4, "leafs"), (7, "models")] {
        assert_eq!(refused(8 + 8 * lump + 4, 0), format!("{name}: is empty"));
    }
    let mut many = sample.clone();
    many.0.lumps[Lump::Models as usize] = sample.0.lumps[Lump::Models as usize][..40].repeat(255);
    assert_eq!(many.load().unwrap_err().to_string(), "models: too many records: 255 (max 254)");
}

#[test]
fn invalid_pvs_hides_nothing_and_is_reported() {
    let sample = Sample::new();
    for (at, value, expected) in [
        (0, 1, "visibility: 1 cluster, but leafs use 2; PVS ignored, everything is visible"),
        (0, -1, "visibility: -1 clusters, but leafs use 2; PVS ignored, everything is visible"),
        (4, 0, "visibility: rows of 0 bytes for 2 clusters; PVS ignored, everything is visible"),
        (4, 9, "visibility: 2 rows of 9 bytes exceed 24 bytes; PVS ignored, everything is visible"),
        (
            0,
            i32::MAX,
            "visibility: rows of 8 bytes for 2147483647 clusters; PVS ignored, everything is visible",
        ),
    ] {
        let map = sample.with(Lump::Visibility, at, value).load().unwrap();
        assert_eq!(map.warnings, [expected]);
        let clusters: Vec<_> = map.leafs.iter().map(|leaf| leaf.cluster).collect();
        assert!(map.visibility.sees(clusters[1], clusters[0]));
    }
}

#[test]
fn deepest_bsp_tree_loads_and_deeper_is_rejected() {
    let chain = |len: usize| {
        let mut sample = Sample::new();
        let nodes = (0..len as i32).flat_map(|node| {
            let next = if node + 1 == len as i32 { -1 - len as i32 } else { node + 1 };
            [6, -1 - node, next, 0, 0, 0, 0, 0, 0]
        });
        sample.0.lumps[Lump::Nodes as usize] = nodes.collect::<Vec<_>>().bytes();
        let empty = [-1, -1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0_i32];
        sample.0.lumps[Lump::Leafs as usize] = empty[..].bytes().repeat(len + 1);
        sample.0.lumps[Lump::Visibility as usize].clear();
        sample
    };
    let map = chain(MAX_TREE_DEPTH).load().unwrap();
    assert_eq!(map.leaf_at(Vec3::new(-1.0, 0.0, 0.0)).index(), MAX_TREE_DEPTH);
    let mut leafs = 0;
    map.leafs_in_box(Vec3::new(-1.0, 0.0, 0.0), Vec3::new(1.0, 0.0, 0.0), |_| {
        leafs += 1;
        true
    });
    assert_eq!(leafs, MAX_TREE_DEPTH + 1);
    let error = chain(MAX_TREE_DEPTH + 1).load().unwrap_err().to_string();
    assert!(error.contains("tree is too deep"), "{error}");
    assert!(chain(100_000).load().is_err());
}

#[test]
fn truncated_map_is_rejected() {
    let file = Sample::new().file();
    for len in 0..file.len() {
        assert!(Bsp::load(&file[..len]).is_err(), "{len} of {} bytes", file.len());
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn tampered_sample_maps_are_rejected_or_safe(
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..8),
    ) {
        let mut file = Sample::new().file();
        for (at, byte) in changes {
            let at = at.index(file.len());
            file[at] = byte;
        }
        if let Ok(map) = Bsp::load(&file) {
            use_up(&file, &map);
        }
    }

    #[test]
    fn random_map_bytes_are_rejected_or_safe(
        bytes in prop::collection::vec(any::<u8>(), 0..400),
        spans in prop::collection::vec((0_i32..500, 0_i32..400), 17),
    ) {
        let mut file = [b"IBSP".to_vec(), 46_i32.to_le_bytes().to_vec()].concat();
        for (offset, len) in spans {
            file.extend([offset, len][..].bytes());
        }
        file.extend(bytes);
        if let Ok(map) = Bsp::load(&file) {
            use_up(&file, &map);
        }
    }
}

#[test]
fn tampered_real_map_is_rejected_or_safe() {
    let Some(file) = installed_maps::read("maps/oa_dm3.bsp") else { return };
    let mut runner = proptest::test_runner::TestRunner::new(ProptestConfig::with_cases(24));
    // Half of the changes hit the lumps that a server reads, which are a small part of the file.
    let place = prop_oneof![0..144_usize, 144..file.len()];
    let changes = prop::collection::vec((place, any::<u8>()), 1..6);
    let result = runner.run(&changes, |changes| {
        let mut file = file.clone();
        for (at, byte) in changes {
            file[at] = byte;
        }
        if let Ok(map) = Bsp::load(&file) {
            use_up(&file, &map);
        }
        Ok(())
    });
    result.unwrap();
}
