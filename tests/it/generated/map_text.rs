//! Text of a generated map source, with the values that its build must give.

use std::fmt::Write as _;

use fragd::impairment::SeededRng;

/// Width of a room, its height, and the width of a cell for one part.
pub(super) const ROOM: [i32; 3] = [1024, 256, 128];
/// Cells of a room.
const CELLS: i32 = (ROOM[0] / ROOM[2]) * (ROOM[0] / ROOM[2]);
/// Content bit of detail.
const DETAIL: i32 = 0x800_0000;

/// Form of the faces of a brush.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Faces {
    /// Five numbers and three flags.
    Classic,
    /// Five numbers alone, as in sources of older games.
    Short,
    /// Texture axes.
    Valve,
    /// Texture matrix, in a block of its own.
    Primitive,
}

/// Values that the build must give.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Expected {
    pub items: usize,
    pub spawns: usize,
    pub brushes: usize,
    pub models: usize,
    pub patches: usize,
    pub leak: bool,
    pub omitted: Vec<String>,
    /// Parts of warnings, one each.
    pub warnings: Vec<String>,
    /// Keys and values in the entity string.
    pub pairs: Vec<(String, String)>,
}

/// A source that is written part by part.
pub(super) struct MapText {
    pub rng: SeededRng,
    /// Keys of worldspawn.
    pub keys: String,
    /// Primitives of worldspawn.
    pub world: String,
    /// Other entities.
    pub entities: String,
    pub expected: Expected,
    used: i32,
}

impl MapText {
    /// A closed room with a spawn point.
    pub(super) fn new(seed: u64) -> Self {
        let mut map = Self {
            rng: SeededRng::new(seed),
            keys: String::new(),
            world: String::new(),
            entities: String::new(),
            expected: Expected { models: 1, ..Expected::default() },
            used: 0,
        };
        let [width, height, _] = ROOM;
        let (low, high) = ([-16; 3], [width + 16, width + 16, height + 16]);
        for axis in 0..3 {
            for is_high in [false, true] {
                let (mut mins, mut maxs) = (low, high);
                if is_high {
                    mins[axis] = high[axis] - 16;
                } else {
                    maxs[axis] = low[axis] + 16;
                }
                map.add_brush(mins, maxs, "common/caulk");
            }
        }
        let [x, y, z] = map.cell();
        map.entity("info_player_deathmatch", &format!("\"origin\" \"{x} {y} {}\"\n", z + 40));
        map.expected.spawns += 1;
        map
    }

    pub(super) fn below(&mut self, limit: i32) -> i32 {
        self.rng.below(limit.unsigned_abs().into()) as i32
    }

    /// Middle of the floor of the next cell.
    pub(super) fn cell(&mut self) -> [i32; 3] {
        let cell = self.used % CELLS;
        self.used += 1;
        let side = ROOM[0] / ROOM[2];
        [cell % side * ROOM[2] + ROOM[2] / 2, cell / side * ROOM[2] + ROOM[2] / 2, 0]
    }

    /// Whether all cells are in use.
    pub(super) fn is_full(&self) -> bool {
        self.used >= CELLS
    }

    /// Corners of a block on the floor of the next cell.
    pub(super) fn block(&mut self) -> ([i32; 3], [i32; 3]) {
        let [x, y, z] = self.cell();
        let (half, height) = (8 + 8 * self.below(4), 8 + 8 * self.below(16));
        ([x - half, y - half, z], [x + half, y + half, z + height])
    }

    /// Adds a brush of the world in a random form.
    pub(super) fn add_brush(&mut self, mins: [i32; 3], maxs: [i32; 3], texture: &str) {
        let forms = [Faces::Classic, Faces::Short, Faces::Valve, Faces::Primitive];
        let form = *super::pick(&mut self.rng, &forms);
        let text = brush(form, mins, maxs, texture, false);
        self.world += &text;
        self.expected.brushes += 1;
    }

    /// Adds an entity.
    pub(super) fn entity(&mut self, class: &str, rest: &str) {
        let _ = write!(self.entities, "{{\n\"classname\" \"{class}\"\n{rest}}}\n");
    }

    /// The whole source.
    pub(super) fn text(&self) -> String {
        let Self { keys, world, entities, .. } = self;
        format!("{{\n\"classname\" \"worldspawn\"\n{keys}{world}}}\n{entities}")
    }
}

/// Text of a box.
pub(super) fn brush(
    form: Faces,
    [x, y, z]: [i32; 3],
    [u, v, w]: [i32; 3],
    texture: &str,
    is_detail: bool,
) -> String {
    let faces = [
        [[x, y, z], [x, v, z], [x, y, w]],
        [[u, y, z], [u, y, w], [u, v, z]],
        [[x, y, z], [x, y, w], [u, y, z]],
        [[x, v, z], [u, v, z], [x, v, w]],
        [[x, y, z], [u, y, z], [x, v, z]],
        [[x, y, w], [x, v, w], [u, y, w]],
    ];
    let flags = if is_detail { DETAIL } else { 0 };
    let mut text = "{\n".to_owned();
    if form == Faces::Primitive {
        text += "brushDef\n{\n";
    }
    for face in faces {
        for [x, y, z] in face {
            let _ = write!(text, "( {x} {y} {z} ) ");
        }
        let _ = match form {
            Faces::Classic => writeln!(text, "{texture} 0 0 0 0.5 0.5 {flags} 0 0"),
            Faces::Short => writeln!(text, "{texture} 16 -8 45 1 1"),
            Faces::Valve => {
                writeln!(text, "{texture} [ 1 0 0 4 ] [ 0 -1 0 -4 ] 0 0.25 0.25 {flags} 0 0")
            }
            Faces::Primitive => {
                writeln!(text, "( ( 0.03125 0 0 ) ( 0 0.03125 0.5 ) ) {texture} {flags} 0 0")
            }
        };
    }
    if form == Faces::Primitive {
        text += "}\n";
    }
    text + "}\n"
}
