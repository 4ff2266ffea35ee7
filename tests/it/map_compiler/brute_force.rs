//! Compiled maps against brute force: the same file with all brushes in one leaf.

use fragd::{
    model::{
        Vec3,
        contents::{content::SOLID, mask::PLAYER_SOLID},
    },
    testing::{TestMap, sample_maps::Numbers as _},
    world::{Bsp, CollisionMap, TracePrecision, TraceQuery, bsp::Lump},
};

use super::{MAPS, own_map};

const POINTS: usize = 20_000;
const TRACES: usize = 4_000;
const LINES: usize = 6_000;

/// Reproducible numbers.
struct Random(u64);

impl Random {
    /// Returns a number from 0 to 1.
    fn unit(&mut self) -> f32 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 40) as f32 / (1 << 24) as f32
    }

    fn between(&mut self, low: f32, high: f32) -> f32 {
        low + (high - low) * self.unit()
    }

    /// Returns a point in the box of the world.
    fn point(&mut self, map: &Bsp) -> Vec3 {
        let world = map.world();
        Vec3([0, 1, 2].map(|k| self.between(world.mins[k], world.maxs[k])))
    }

    /// Returns a point in a leaf with a cluster.
    fn open_point(&mut self, map: &Bsp) -> Vec3 {
        loop {
            let point = self.point(map);
            if map.leafs[map.leaf_at(point)].cluster.is_some() {
                return point;
            }
        }
    }
}

/// Which objects the single leaf lists.
#[derive(Clone, Copy, PartialEq)]
enum Objects {
    Brushes,
    BrushesAndSurfaces,
}

/// Replaces the tree by one leaf above a plane far below.
fn flattened(file: &[u8], objects: Objects) -> Bsp {
    let header = |at: usize| i32::from_le_bytes(file[at..at + 4].try_into().unwrap()) as usize;
    let mut map = TestMap::new(std::array::from_fn(|lump| {
        let (offset, len) = (header(8 + 8 * lump), header(12 + 8 * lump));
        file[offset..offset + len].to_vec()
    }));
    let model = &map.lumps[Lump::Models as usize][24..40];
    let word = |at: usize| i32::from_le_bytes(model[4 * at..4 * at + 4].try_into().unwrap());
    let (surfaces, brushes) = (word(1), word(3));
    let surfaces = if objects == Objects::Brushes { 0 } else { surfaces };
    let plane = map.lumps[Lump::Planes as usize].len() as i32 / 16;
    map.lumps[Lump::Planes as usize].extend([0.0_f32, 0.0, 1.0, -1e6][..].bytes());
    let node = [plane, -1 - 1, -1, 0, 0, 0, 0, 0, 0];
    map.lumps[Lump::Nodes as usize] = node[..].bytes();
    let unused = [-1, -1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
    let all = [0, 0, 0, 0, 0, 0, 0, 0, 0, surfaces, 0, brushes];
    map.lumps[Lump::Leafs as usize] = [unused, all].concat().bytes();
    map.lumps[Lump::LeafSurfaces as usize] = (0..surfaces).collect::<Vec<i32>>().bytes();
    map.lumps[Lump::LeafBrushes as usize] = (0..brushes).collect::<Vec<i32>>().bytes();
    map.lumps[Lump::Visibility as usize].clear();
    Bsp::load(&map.file()).unwrap()
}

fn collision(map: &Bsp) -> CollisionMap {
    CollisionMap::new(map, TracePrecision::default()).unwrap()
}

#[test]
fn own_maps_load_without_warnings() {
    for name in MAPS {
        let map = Bsp::load(&own_map(name)).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert!(map.warnings.is_empty(), "{name}: {:?}", map.warnings);
        assert!(map.leafs.iter().all(|leaf| leaf.cluster.is_some() == leaf.area.is_some()));
    }
}

#[test]
fn point_contents_equal_those_of_all_brushes() {
    for name in MAPS {
        let file = own_map(name);
        let map = Bsp::load(&file).unwrap();
        let (tree, all) = (collision(&map), collision(&flattened(&file, Objects::Brushes)));
        let mut random = Random(1);
        for _ in 0..POINTS {
            let point = random.point(&map);
            assert_eq!(tree.point_contents(point), all.point_contents(point), "{name}: {point:?}");
        }
    }
}

#[test]
fn traces_equal_those_over_all_brushes() {
    for name in MAPS {
        let file = own_map(name);
        let map = Bsp::load(&file).unwrap();
        let tree = collision(&map);
        let all = collision(&flattened(&file, Objects::BrushesAndSurfaces));
        let mut random = Random(2);
        for number in 0..TRACES {
            let is_box = number % 2 == 0;
            let size = if is_box { [15.0, 24.0, 32.0] } else { [0.0; 3] };
            let mins = Vec3::new(-size[0], -size[0], -size[1]);
            let maxs = Vec3::new(size[0], size[0], size[2]);
            let start = random.open_point(&map);
            let reach = [50.0, 400.0, 2000.0][number % 3];
            let end = start + Vec3([0, 1, 2].map(|_| random.between(-reach, reach)));
            let query = TraceQuery::line(start, end, PLAYER_SOLID).with_box(mins, maxs);
            let found = tree.trace(&query);
            let expected = all.trace(&query);
            let place = format!("{name}: {start:?} to {end:?}, box {is_box}");
            assert_eq!(found.fraction, expected.fraction, "{place}");
            // A trace ends at the first brush that stops it at once. Which one that is depends on the order, and
            // the brushes behind it are not asked whether the trace starts in them.
            if found.fraction > 0.0 {
                assert_eq!(found.startsolid, expected.startsolid, "{place}");
            }
        }
    }
}

/// Asserts that the ends of free lines between random points see each other, and returns the number of free lines.
pub(super) fn check_free_lines(name: &str, file: &[u8], lines: usize) -> usize {
    let map = Bsp::load(file).unwrap();
    let brushes = collision(&flattened(file, Objects::Brushes));
    let mut random = Random(3);
    let mut free = 0;
    for _ in 0..lines {
        let (from, to) = (random.open_point(&map), random.open_point(&map));
        if brushes.trace(&TraceQuery::line(from, to, SOLID)).fraction < 1.0 {
            continue;
        }
        free += 1;
        let [a, b] = [from, to].map(|point| map.leafs[map.leaf_at(point)].cluster);
        let is_symmetric = map.visibility.sees(a, b) && map.visibility.sees(b, a);
        assert!(is_symmetric, "{name}: {from:?} to {to:?}");
    }
    free
}

#[test]
fn free_lines_are_in_the_visible_set() {
    for name in MAPS {
        let free = check_free_lines(name, &own_map(name), LINES);
        assert!(free > LINES / 20, "{name}: {free} free lines");
    }
}

#[test]
fn visible_set_hides_much_of_each_map() {
    for name in MAPS {
        let map = Bsp::load(&own_map(name)).unwrap();
        let clusters: Vec<_> = map.leafs.iter().filter_map(|leaf| leaf.cluster).collect();
        let pairs = clusters.iter().flat_map(|&a| clusters.iter().map(move |&b| (a, b)));
        let seen = pairs.filter(|&(a, b)| map.visibility.sees(Some(a), Some(b))).count();
        let all = clusters.len() * clusters.len();
        assert!(seen * 10 < all * 9, "{name}: {seen} of {all} pairs see each other");
    }
}

#[test]
fn world_surfaces_are_all_in_some_leaf() {
    for name in MAPS {
        let map = Bsp::load(&own_map(name)).unwrap();
        let mut listed = vec![false; map.surfaces.len()];
        for surface in map.leaf_surfaces.iter() {
            listed[surface.index()] = true;
        }
        let missing: Vec<_> =
            map.world().surfaces.numbers().filter(|&surface| !listed[surface.index()]).collect();
        assert!(missing.is_empty(), "{name}: {missing:?}");
    }
}

#[test]
fn contents_of_triggers_are_never_zero() {
    for name in MAPS {
        let map = Bsp::load(&own_map(name)).unwrap();
        assert!(map.brushes.iter().all(|brush| brush.contents != 0), "{name}");
    }
}
