//! Recipes of all textures.
//!
//! Mean brightness is 110 to 150 of 255 for walls and floors, because light above full brightness only washes out.

use super::{
    canvas::{
        Layer::{self, Alpha, Emboss, Glow, Raise, Ramp, Shade, Tint},
        Recipe,
    },
    field::{
        Blocks,
        Field::{
            self, Above, And, Band, Bars, Block, Chevrons, Constant, Disc, Distance, Dots, Joint,
            Noise, Not, Or, Ridge, Ring, Spiral, Square, Stripes, Studs, Warp,
        },
    },
};

const fn noise(cells: u32, octaves: u32, seed: u32) -> Field {
    Noise { cells: [cells, cells], octaves, seed }
}

const fn blocks(width: f64, height: f64, shifted: bool) -> Blocks {
    Blocks { width, height, shifted }
}

const ALL: Field = Constant(1.0);
const CLOUDY: Field = noise(5, 4, 1);
const GRAIN: Field = noise(40, 2, 2);
const STAINS: Field = noise(3, 4, 3);

// Basalt: dark slabs, a little blue.
const SMALL_SLABS: Blocks = blocks(64.0, 64.0, false);
const LARGE_SLABS: Blocks = blocks(128.0, 128.0, false);
const BASALT_SMALL: &[Layer] = &[
    Ramp(&CLOUDY, [92, 96, 106], [136, 140, 148]),
    Shade(&Block(SMALL_SLABS, 11), 0.86, 1.1),
    Shade(&GRAIN, 0.92, 1.08),
    Raise(&GRAIN, 2.0),
    Raise(&Joint(SMALL_SLABS, 4.0), -5.0),
    Emboss(0.13),
    Shade(&Above(&Joint(SMALL_SLABS, 2.5), 0.0, 1.0), 1.0, 0.5),
];
const BASALT_LARGE: &[Layer] = &[
    Ramp(&CLOUDY, [96, 99, 108], [140, 143, 150]),
    Shade(&Block(LARGE_SLABS, 12), 0.9, 1.08),
    Shade(&GRAIN, 0.93, 1.07),
    Raise(&GRAIN, 2.0),
    Raise(&Joint(LARGE_SLABS, 5.0), -6.0),
    Emboss(0.13),
    Shade(&Above(&Joint(LARGE_SLABS, 3.0), 0.0, 1.0), 1.0, 0.5),
];

// Sandstone: ashlar with weathered layers.
const ASHLAR: Blocks = blocks(128.0, 64.0, true);
const STRATA: Field = Noise { cells: [3, 20], octaves: 3, seed: 21 };
const SAND: &[Layer] = &[
    Ramp(&Warp(&STRATA, &CLOUDY, 26.0), [158, 124, 84], [216, 184, 136]),
    Shade(&Block(ASHLAR, 22), 0.88, 1.08),
    Tint(&And(&Block(ASHLAR, 23), &Constant(0.16)), [176, 112, 76]),
    Raise(&STRATA, 3.0),
    Raise(&GRAIN, 1.5),
    Raise(&Joint(ASHLAR, 4.0), -5.0),
    Emboss(0.14),
    Shade(&Above(&Joint(ASHLAR, 2.5), 0.0, 1.0), 1.0, 0.55),
];
const SAND_PLAIN: &[Layer] = &[
    Ramp(&Warp(&STRATA, &CLOUDY, 40.0), [166, 134, 94], [210, 180, 134]),
    Shade(&STAINS, 0.9, 1.08),
    Raise(&STRATA, 2.5),
    Raise(&GRAIN, 1.5),
    Emboss(0.14),
];

// Furnace brick: burnt, with soot.
const BRICKS: Blocks = blocks(64.0, 32.0, true);
const FURNACE: &[Layer] = &[
    Ramp(&Block(BRICKS, 31), [138, 72, 54], [196, 118, 84]),
    Shade(&CLOUDY, 0.82, 1.12),
    Raise(&noise(20, 3, 32), 4.0),
    Raise(&Joint(BRICKS, 4.0), -6.0),
    Emboss(0.13),
    Tint(&Above(&Joint(BRICKS, 3.0), 0.0, 1.2), [82, 66, 58]),
    Shade(&Above(&STAINS, 0.45, 2.0), 1.06, 0.72),
];

// Teal tiles of the cistern, glazed.
const TILES: Blocks = blocks(32.0, 32.0, false);
const TEAL: &[Layer] = &[
    Ramp(&Block(TILES, 41), [62, 118, 124], [104, 162, 160]),
    Shade(&CLOUDY, 0.88, 1.1),
    Raise(&Joint(TILES, 4.0), -5.0),
    Emboss(0.16),
    Tint(&Above(&Joint(TILES, 2.0), 0.0, 1.4), [92, 96, 92]),
    Glow(&And(&Block(TILES, 42), &Constant(0.12)), [110, 140, 140]),
    Tint(&And(&Above(&STAINS, 0.58, 3.0), &Constant(0.35)), [70, 84, 60]),
];

// Dark metal: plates with rivets.
const PLATES: Blocks = blocks(128.0, 128.0, false);
const RIVETS: Field = Or(
    &Or(
        &Dots { period: [128.0, 128.0], center: [12.0, 12.0], radius: 5.0 },
        &Dots { period: [128.0, 128.0], center: [116.0, 12.0], radius: 5.0 },
    ),
    &Or(
        &Dots { period: [128.0, 128.0], center: [12.0, 116.0], radius: 5.0 },
        &Dots { period: [128.0, 128.0], center: [116.0, 116.0], radius: 5.0 },
    ),
);
const BRUSHED: Field = Noise { cells: [4, 64], octaves: 2, seed: 51 };
const RUST: Field = Above(&Warp(&noise(4, 5, 52), &GRAIN, 12.0), 0.62, 5.0);
const METAL: &[Layer] = &[
    Ramp(&STAINS, [100, 102, 108], [134, 136, 142]),
    Shade(&BRUSHED, 0.93, 1.07),
    Tint(&And(&RUST, &Constant(0.55)), [118, 82, 58]),
    Raise(&RIVETS, 5.0),
    Raise(&Joint(PLATES, 4.0), -6.0),
    Emboss(0.16),
    Shade(&Above(&Joint(PLATES, 2.5), 0.0, 1.0), 1.0, 0.45),
];

// Copper: two flanges and verdigris, the trim of every room.
const COPPER_SHEET: Field = noise(6, 4, 61);
const VERDIGRIS: Field = Above(&Warp(&noise(4, 5, 62), &GRAIN, 10.0), 0.42, 4.0);
const FLANGES: Field =
    Or(&Band { period: 64.0, rows: [-2.0, 7.0] }, &Band { period: 64.0, rows: [57.0, 66.0] });
const COPPER_RIVETS: Field = Dots { period: [32.0, 64.0], center: [16.0, 32.0], radius: 4.0 };
const COPPER: &[Layer] = &[
    Ramp(&COPPER_SHEET, [158, 92, 58], [206, 134, 90]),
    Shade(&BRUSHED, 0.94, 1.06),
    Tint(&VERDIGRIS, [98, 160, 142]),
    Shade(&And(&VERDIGRIS, &GRAIN), 1.0, 1.12),
    Raise(&FLANGES, 6.0),
    Raise(&COPPER_RIVETS, 4.0),
    Emboss(0.16),
    Shade(&Band { period: 64.0, rows: [7.5, 9.5] }, 1.0, 0.6),
    Shade(&Band { period: 64.0, rows: [54.5, 56.5] }, 1.0, 0.72),
];

// Tread plate and grate.
const TREAD: &[Layer] = &[
    Ramp(&STAINS, [98, 100, 104], [130, 132, 136]),
    Tint(&And(&RUST, &Constant(0.4)), [120, 88, 64]),
    Raise(&Studs, 5.0),
    Emboss(0.16),
    Shade(&Studs, 0.96, 1.16),
];
const GRATING: Field = Bars(32.0, 10.0);
const GRATE: &[Layer] = &[
    Ramp(&CLOUDY, [112, 114, 118], [146, 148, 152]),
    Raise(&GRATING, 6.0),
    Emboss(0.14),
    Shade(&GRATING, 0.2, 1.0),
];

// Door: plates with a warning band.
const DOOR_PLATES: Blocks = blocks(64.0, 128.0, false);
const WARNING: Field = Band { period: 128.0, rows: [98.0, 122.0] };
const DOOR: &[Layer] = &[
    Ramp(&STAINS, [112, 116, 122], [144, 148, 154]),
    Shade(&BRUSHED, 0.94, 1.06),
    Tint(&WARNING, [48, 46, 46]),
    Tint(&And(&WARNING, &Stripes(24.0)), [220, 166, 52]),
    Tint(&And(&RUST, &Constant(0.35)), [118, 82, 58]),
    Raise(&Joint(DOOR_PLATES, 5.0), -6.0),
    Raise(&WARNING, 2.5),
    Emboss(0.16),
    Shade(&Above(&Joint(DOOR_PLATES, 2.5), 0.0, 1.0), 1.0, 0.5),
];

// Lamps: a frame of bronze around a diffuser, and the light of the diffuser alone.
const GLASS: Field = Square { period: 128.0, half: 46.0, soft: 3.0 };
const RECESS: Field = Square { period: 128.0, half: 52.0, soft: 2.0 };
const DIFFUSER: Field = And(&GLASS, &Above(&Not(&Distance(128.0)), -0.35, 0.74));
const RIBS: Field = Or(
    &Band { period: 32.0, rows: [14.5, 17.5] },
    &And(&Band { period: 128.0, rows: [62.5, 65.5] }, &ALL),
);
macro_rules! lamp {
    ($glass:expr) => {
        &[
            Ramp(&CLOUDY, [116, 98, 80], [152, 130, 104]),
            Raise(&RECESS, -7.0),
            Emboss(0.14),
            Tint(&RECESS, [44, 40, 38]),
            Tint(&GLASS, $glass),
            Shade(&And(&GLASS, &RIBS), 1.0, 0.55),
        ]
    };
}
macro_rules! lamp_glow {
    ($light:expr) => {
        &[
            Ramp(&Constant(0.0), [0, 0, 0], [0, 0, 0]),
            Glow(&DIFFUSER, $light),
            Shade(&RIBS, 1.0, 0.5),
        ]
    };
}

// Jump pad: a ring of copper and arrows that glow.
const PAD: &[Layer] = &[
    Ramp(&CLOUDY, [92, 96, 102], [128, 132, 138]),
    Shade(&BRUSHED, 0.94, 1.06),
    Tint(&Ring(106.0, 7.0), [206, 138, 88]),
    Raise(&Ring(106.0, 9.0), 5.0),
    Raise(&Chevrons, -4.0),
    Emboss(0.15),
    Shade(&Chevrons, 1.0, 0.6),
    Shade(&Above(&Not(&Disc(256.0)), 0.47, 40.0), 1.0, 0.75),
];
const PAD_GLOW: &[Layer] = &[
    Ramp(&Constant(0.0), [0, 0, 0], [0, 0, 0]),
    Glow(&Chevrons, [255, 156, 66]),
    Glow(&And(&Ring(106.0, 3.5), &Constant(0.8)), [255, 156, 66]),
];

// Teleporter: a spiral that ends in darkness.
const TELE: &[Layer] = &[
    Ramp(&Constant(0.0), [0, 0, 0], [0, 0, 0]),
    Glow(&And(&Spiral { arms: 4.0, turns: 1.3 }, &Above(&Disc(132.0), 0.0, 1.4)), [150, 108, 255]),
    Glow(&Above(&Disc(128.0), 0.62, 2.2), [120, 120, 120]),
];

// Liquids.
const CRUST: Field = Ridge(&Warp(&noise(5, 4, 71), &noise(7, 3, 72), 40.0));
const LAVA: &[Layer] = &[
    Ramp(&CRUST, [74, 18, 8], [206, 70, 14]),
    Tint(&Above(&CRUST, 0.62, 2.6), [255, 188, 62]),
    Shade(&noise(4, 3, 73), 0.78, 1.14),
];
const SLIME: &[Layer] = &[
    Ramp(&CRUST, [38, 84, 22], [108, 186, 44]),
    Tint(&Above(&CRUST, 0.7, 2.4), [186, 232, 92]),
    Shade(&noise(4, 3, 74), 0.8, 1.12),
];
const WAVES: Field = Ridge(&Warp(&noise(6, 3, 75), &noise(4, 3, 76), 50.0));
const WATER: &[Layer] = &[
    Ramp(&noise(5, 3, 77), [44, 104, 116], [66, 136, 144]),
    Tint(&And(&Above(&WAVES, 0.5, 2.0), &Constant(0.4)), [120, 184, 186]),
    Glow(&Above(&WAVES, 0.86, 5.0), [30, 38, 36]),
];

// Sky: evening, with a second layer of clouds that is added.
const SKY_CLOUDS: Field = Above(&Warp(&noise(3, 6, 81), &noise(4, 3, 82), 30.0), 0.36, 1.9);
const SKY_BASE: &[Layer] = &[
    Ramp(&noise(2, 3, 83), [82, 104, 152], [108, 124, 164]),
    Tint(&SKY_CLOUDS, [238, 196, 152]),
    Shade(&And(&SKY_CLOUDS, &noise(5, 4, 84)), 1.0, 0.8),
];
const SKY_ADDED: &[Layer] = &[
    Ramp(&Constant(0.0), [0, 0, 0], [0, 0, 0]),
    Glow(&Above(&Warp(&noise(3, 5, 85), &noise(5, 3, 86), 24.0), 0.42, 2.2), [104, 80, 68]),
];

// Banners of the two teams, and a stain with soft edges as an example with alpha.
macro_rules! banner {
    ($low:expr, $high:expr) => {
        &[
            Ramp(&CLOUDY, $low, $high),
            Shade(&noise(64, 1, 91), 0.9, 1.1),
            Tint(&Ring(84.0, 8.0), [214, 190, 140]),
            Tint(&Above(&Disc(44.0), 0.0, 12.0), [214, 190, 140]),
            Raise(&Ring(84.0, 9.0), 2.0),
            Emboss(0.12),
            Shade(&Band { period: 256.0, rows: [-3.0, 10.0] }, 1.0, 0.6),
            Shade(&Band { period: 256.0, rows: [246.0, 259.0] }, 1.0, 0.6),
        ]
    };
}
const STAIN: &[Layer] = &[
    Ramp(&CLOUDY, [30, 26, 22], [52, 46, 40]),
    Alpha(&And(&Above(&Disc(126.0), 0.0, 1.6), &Above(&noise(5, 4, 92), 0.3, 1.6))),
];

const fn recipe(name: &'static str, size: usize, layers: &'static [Layer]) -> Recipe {
    Recipe { name, size, layers }
}

const RECIPES: &[Recipe] = &[
    recipe("basalt", 256, BASALT_SMALL),
    recipe("basalt_big", 256, BASALT_LARGE),
    recipe("sand", 256, SAND),
    recipe("sand_plain", 256, SAND_PLAIN),
    recipe("furnace", 256, FURNACE),
    recipe("tiles", 256, TEAL),
    recipe("metal", 256, METAL),
    recipe("copper", 256, COPPER),
    recipe("tread", 256, TREAD),
    recipe("grate", 256, GRATE),
    recipe("door", 256, DOOR),
    recipe("pad", 256, PAD),
    recipe("pad_glow", 128, PAD_GLOW),
    recipe("tele", 256, TELE),
    recipe("lava", 256, LAVA),
    recipe("slime", 256, SLIME),
    recipe("water", 256, WATER),
    recipe("sky1", 256, SKY_BASE),
    recipe("sky2", 256, SKY_ADDED),
    recipe("lamp_amber", 256, lamp!([250, 206, 146])),
    recipe("lamp_cyan", 256, lamp!([150, 226, 240])),
    recipe("lamp_white", 256, lamp!([246, 236, 218])),
    recipe("lamp_red", 256, lamp!([250, 140, 92])),
    recipe("glow_amber", 128, lamp_glow!([255, 206, 140])),
    recipe("glow_cyan", 128, lamp_glow!([140, 236, 255])),
    recipe("glow_white", 128, lamp_glow!([255, 246, 228])),
    recipe("glow_red", 128, lamp_glow!([255, 130, 80])),
    recipe("banner_red", 256, banner!([132, 40, 34], [172, 60, 48])),
    recipe("banner_blue", 256, banner!([44, 66, 138], [62, 92, 176])),
    recipe("stain", 128, STAIN),
];

/// All recipes, by listing.
pub(super) fn all() -> impl Iterator<Item = &'static Recipe> {
    RECIPES.iter()
}
