//! In-memory BSP files with exactly the geometry that a test needs.
//!
//! Invariant: a map of [`TestMap::from_boxes`] is valid. Source: IBSP, version 46.

/// Little-endian encoding of numbers.
pub trait Numbers {
    fn bytes(&self) -> Vec<u8>;
}

impl Numbers for [i32] {
    fn bytes(&self) -> Vec<u8> {
        self.iter().flat_map(|word| word.to_le_bytes()).collect()
    }
}

impl Numbers for [f32] {
    fn bytes(&self) -> Vec<u8> {
        self.iter().flat_map(|word| word.to_le_bytes()).collect()
    }
}

/// Lumps of a map file, to modify freely.
#[derive(Clone)]
pub struct TestMap {
    pub version: i32,
    pub lumps: [Vec<u8>; 17],
}

/// Solid or liquid box.
#[derive(Clone, Copy)]
pub struct Block {
    pub mins: [f32; 3],
    pub maxs: [f32; 3],
    pub contents: i32,
    pub surface_flags: i32,
}

const SOLID: i32 = 1;
const LAVA: i32 = 8;
const WATER: i32 = 32;
const NODROP: i32 = i32::MIN;
/// Slick surface flag.
const SLICK: i32 = 2;

const fn block(mins: [f32; 3], maxs: [f32; 3], contents: i32) -> Block {
    Block { mins, maxs, contents, surface_flags: 0 }
}

impl TestMap {
    /// A map of version 46 with these lumps.
    pub const fn new(lumps: [Vec<u8>; 17]) -> Self {
        Self { version: 46, lumps }
    }

    /// The bytes of the file.
    pub fn file(&self) -> Vec<u8> {
        let mut file = [b"IBSP".to_vec(), self.version.to_le_bytes().to_vec()].concat();
        let mut offset = 144;
        for lump in &self.lumps {
            file.extend([offset, lump.len() as i32][..].bytes());
            offset += lump.len() as i32;
        }
        file.extend(self.lumps.concat());
        file
    }

    /// A world of boxes, and brush models `*1` and up of one box each. Two leafs meet at x = 0; both
    /// see each other.
    pub fn from_boxes(entities: &str, world: &[Block], models: &[Block]) -> Self {
        let all: Vec<_> = world.iter().chain(models).copied().collect();
        let count = all.len() as i32;
        let in_world = world.len() as i32;
        let shader = |block: &Block| {
            let mut bytes = b"textures/sample/block".to_vec();
            bytes.resize(64, 0);
            [bytes, [block.surface_flags, block.contents][..].bytes()].concat()
        };
        let plane = |axis: usize, sign: f32, dist: f32| {
            let mut plane = [0.0, 0.0, 0.0, dist];
            plane[axis] = sign;
            plane[..].bytes()
        };
        let planes = |block: &Block| {
            let sides = (0..3).flat_map(|axis| {
                [plane(axis, -1.0, -block.mins[axis]), plane(axis, 1.0, block.maxs[axis])].concat()
            });
            sides.collect::<Vec<u8>>()
        };
        let sides: Vec<i32> =
            (0..count).flat_map(|n| (0..6).flat_map(move |side| [1 + n * 6 + side, n])).collect();
        let brushes: Vec<i32> = (0..count).flat_map(|n| [n * 6, 6, n]).collect();
        let model = |of: &[Block], first: i32| {
            let edge = |axis: usize, pick: fn(f32, f32) -> f32, upper: bool| {
                let ends = of.iter().map(|b| if upper { b.maxs[axis] } else { b.mins[axis] });
                ends.reduce(pick).unwrap_or(0.0)
            };
            let mins = [0, 1, 2].map(|axis| edge(axis, f32::min, false));
            let maxs = [0, 1, 2].map(|axis| edge(axis, f32::max, true));
            let tail = [0, 0, first, of.len() as i32];
            [mins[..].bytes(), maxs[..].bytes(), tail[..].bytes()].concat()
        };
        let leaf = |n: i32| [n, 0, 0, 0, 0, 0, 0, 0, 0, 0, n * in_world, in_world];
        let listed: Vec<i32> = (0..in_world).chain(0..in_world).collect();
        let mut lumps: [Vec<u8>; 17] = Default::default();
        lumps[0] = entities.as_bytes().to_vec();
        lumps[1] = all.iter().flat_map(shader).collect();
        lumps[2] = [plane(0, 1.0, 0.0), all.iter().flat_map(planes).collect()].concat();
        lumps[3] = [0, -1, -2, 0, 0, 0, 0, 0, 0][..].bytes();
        lumps[4] = [leaf(0)[..].bytes(), leaf(1)[..].bytes()].concat();
        lumps[6] = listed.bytes();
        let own = (in_world..).zip(models).flat_map(|(n, block)| model(&[*block], n));
        lumps[7] = model(world, 0).into_iter().chain(own).collect();
        lumps[8] = brushes.bytes();
        lumps[9] = sides.bytes();
        Self::new(lumps)
    }

    /// Creates a walled yard of 1024 by 1024 units with its floor at z = 0. It has lava, water, slick floor and
    /// brush models `*1` to `*6`.
    pub fn test_yard(entities: &str) -> Self {
        let world = [
            block([-528.0, -528.0, -16.0], [528.0, 528.0, 0.0], SOLID),
            block([-528.0, -528.0, 512.0], [528.0, 528.0, 528.0], SOLID),
            block([-528.0, -528.0, 0.0], [-512.0, 528.0, 512.0], SOLID),
            block([512.0, -528.0, 0.0], [528.0, 528.0, 512.0], SOLID),
            block([-512.0, -528.0, 0.0], [512.0, -512.0, 512.0], SOLID),
            block([-512.0, 512.0, 0.0], [512.0, 528.0, 512.0], SOLID),
            block([128.0, 128.0, 0.0], [256.0, 256.0, 16.0], SOLID),
            block([-512.0, -512.0, 0.0], [-256.0, -256.0, 128.0], WATER),
            block([256.0, -512.0, 0.0], [512.0, -256.0, 32.0], LAVA),
            block([256.0, 256.0, 0.0], [512.0, 512.0, 256.0], NODROP),
            Block {
                surface_flags: SLICK,
                ..block([-512.0, 256.0, 0.0], [-256.0, 512.0, 8.0], SOLID)
            },
        ];
        let models = [
            block([-32.0, 320.0, 0.0], [32.0, 336.0, 96.0], SOLID),
            block([-64.0, -320.0, 0.0], [0.0, -256.0, 64.0], SOLID),
            block([320.0, -32.0, 0.0], [384.0, 32.0, 16.0], SOLID),
            block([-384.0, -32.0, 0.0], [-320.0, 32.0, 32.0], SOLID),
            block([64.0, -448.0, 0.0], [128.0, -384.0, 64.0], SOLID),
            block([-224.0, 160.0, 0.0], [-160.0, 224.0, 96.0], SOLID),
        ];
        Self::from_boxes(entities, &world, &models)
    }
}

/// Entities of the yard: spawn points, and one entity of each kind that moves or touches players.
pub const YARD: &str = r#"
{ "classname" "worldspawn" "message" "Yard" }
{ "classname" "info_player_deathmatch" "origin" "0 0 32" "angle" "90" }
{ "classname" "info_player_deathmatch" "origin" "-128 64 32" }
{ "classname" "info_player_deathmatch" "origin" "192 192 48" "angle" "180" }
{ "classname" "info_player_deathmatch" "origin" "-400 -400 32" }
{ "classname" "info_player_intermission" "origin" "0 0 300" "angles" "45 0 0" }
{ "classname" "func_door" "model" "*1" "angle" "-1" "health" "20" }
{ "classname" "func_plat" "model" "*2" "height" "128" }
{ "classname" "trigger_push" "model" "*3" "target" "up" }
{ "classname" "target_position" "targetname" "up" "origin" "0 0 400" }
{ "classname" "trigger_teleport" "model" "*4" "target" "there" }
{ "classname" "misc_teleporter_dest" "targetname" "there" "origin" "0 200 32" "angle" "270" }
{ "classname" "trigger_hurt" "model" "*5" "dmg" "30" }
{ "classname" "func_bobbing" "model" "*6" "height" "48" "speed" "2" }
"#;
