//! Compiler of QuakeWorld maps: the bytes of two maps of another implementation.

use fragd::bsp29::Contents;
use fragd::bsp29::compiler::{Brush, BrushSide, Direction, MapSource, Texture, Zone, compile};

use crate::vectors;

type Point = [f64; 3];

#[test]
fn quakeworld_map_compiler_equals_reference_maps() {
    let zones = [
        Zone { corners: [[-512.0, -512.0, -128.0], [512.0, 512.0, 256.0]], sees: &[0, 1] },
        Zone { corners: [[256.0, 512.0, -128.0], [640.0, 768.0, 256.0]], sees: &[0, 1, 2] },
        Zone { corners: [[640.0, -512.0, -128.0], [1280.0, 768.0, 256.0]], sees: &[1, 2] },
    ];
    let expected = vectors::read_packed_bytes("fragbox.bsp.gz");
    let source = MapSource {
        inner: [[-512.0, -512.0, -128.0], [1280.0, 768.0, 256.0]],
        hints: &[],
        zones: &zones,
        textures: &TEXTURES,
        world: &fragbox(),
        models: &[platform()],
        entities: &entities(&expected),
    };
    assert_eq_bytes(&compile(&source), &expected);

    let expected = vectors::read_packed_bytes("fragramps.bsp.gz");
    let inner = [[-512.0, -512.0, -128.0], [512.0, 512.0, 256.0]];
    let source = MapSource {
        inner,
        zones: &[Zone { corners: inner, sees: &[0] }],
        world: &fragramps(),
        models: &[],
        entities: &entities(&expected),
        ..source
    };
    assert_eq_bytes(&compile(&source), &expected);
}

const TEXTURES: [Texture; 4] = [
    Texture { name: "wall", ramp: 0x20, shade: tiles },
    Texture { name: "floor", ramp: 0x10, shade: tiles },
    Texture { name: "ceil", ramp: 0x00, shade: tiles },
    Texture { name: "*water", ramp: 0x60, shade: tiles },
];

fn tiles(x: usize, y: usize, size: usize) -> u8 {
    let tile = if (x * 4 / size + y * 4 / size) % 2 == 1 { 10 } else { 6 };
    tile + if x == 0 || y == 0 { 3 } else { 0 }
}

/// The entity string of a file, which is not compiled.
fn entities(file: &[u8]) -> String {
    let word = |at: usize| u32::from_le_bytes(file[at..at + 4].try_into().unwrap()) as usize;
    let text = &file[word(4)..word(4) + word(8) - 1];
    String::from_utf8(text.to_vec()).unwrap()
}

fn assert_eq_bytes(got: &[u8], expected: &[u8]) {
    let first = got.iter().zip(expected).position(|(a, b)| a != b);
    assert_eq!((first, got.len()), (None, expected.len()), "first byte that differs, length");
}

fn wall(low: Point, high: Point) -> Brush {
    Brush::new(low, high)
}

fn liquid(low: Point, high: Point, contents: Contents) -> Brush {
    Brush::new(low, high).filled(contents).painted(3, 3, 3)
}

/// An eight-sided pillar.
fn pillar(x: f64, y: f64, radius: f64, bottom: f64, top: f64) -> Brush {
    let half = 0.5_f64.sqrt();
    let mut pillar = Brush::new([x - radius, y - radius, bottom], [x + radius, y + radius, top]);
    for a in [-1.0, 1.0] {
        for b in [-1.0, 1.0] {
            let dist = (a * x + b * y) * half + radius;
            pillar = pillar.cut(BrushSide { normal: [a * half, b * half, 0.0], dist });
        }
    }
    pillar
}

fn fragbox() -> Vec<Brush> {
    vec![
        wall([-512.0, -512.0, -144.0], [1280.0, 768.0, -128.0]),
        wall([-512.0, -512.0, -128.0], [-256.0, 512.0, 0.0]),
        wall([-256.0, 128.0, -128.0], [512.0, 512.0, 0.0]),
        wall([-256.0, -512.0, -128.0], [512.0, -128.0, 0.0]),
        wall([0.0, -128.0, -128.0], [512.0, 128.0, 0.0]),
        liquid([-256.0, -128.0, -112.0], [0.0, 128.0, -8.0], Contents::WATER),
        wall([512.0, -512.0, -128.0], [1280.0, 768.0, 0.0]),
        wall([-512.0, 512.0, -128.0], [512.0, 768.0, 0.0]),
        wall([-512.0, -512.0, 256.0], [1280.0, 768.0, 272.0]),
        wall([-528.0, -512.0, -128.0], [-512.0, 768.0, 256.0]),
        wall([1280.0, -512.0, -128.0], [1296.0, 768.0, 256.0]),
        wall([-512.0, -528.0, -128.0], [1280.0, -512.0, 256.0]),
        wall([-512.0, 768.0, -128.0], [1280.0, 784.0, 256.0]),
        wall([-512.0, 512.0, 0.0], [256.0, 768.0, 256.0]),
        wall([512.0, -512.0, 0.0], [640.0, 512.0, 256.0]),
        wall([512.0, 512.0, 128.0], [640.0, 768.0, 256.0]),
        wall([256.0, 496.0, 128.0], [512.0, 512.0, 256.0]),
        wall([256.0, 496.0, 0.0], [320.0, 512.0, 128.0]),
        wall([384.0, -64.0, 0.0], [416.0, -32.0, 200.0]),
        wall([64.0, -512.0, 0.0], [256.0, -448.0, 18.0]),
        wall([256.0, -512.0, 0.0], [448.0, -448.0, 22.0]),
        Brush::ramp([-512.0, 192.0, 0.0], [-256.0, 320.0, 128.0], Direction::East),
        wall([-256.0, 192.0, 0.0], [-128.0, 320.0, 128.0]),
        wall([-128.0, 192.0, 0.0], [-96.0, 320.0, 112.0]),
        wall([-96.0, 192.0, 0.0], [-64.0, 320.0, 96.0]),
        wall([-64.0, 192.0, 0.0], [-32.0, 320.0, 80.0]),
        wall([-32.0, 192.0, 0.0], [0.0, 320.0, 64.0]),
        wall([0.0, 192.0, 0.0], [32.0, 320.0, 48.0]),
        wall([32.0, 192.0, 0.0], [64.0, 320.0, 32.0]),
        wall([64.0, 192.0, 0.0], [96.0, 320.0, 16.0]),
        wall([900.0, 100.0, 0.0], [1000.0, 200.0, 100.0]),
    ]
}

fn platform() -> Vec<Brush> {
    vec![wall([-480.0, -480.0, 0.0], [-352.0, -352.0, 16.0])]
}

fn fragramps() -> Vec<Brush> {
    vec![
        wall([-512.0, -512.0, -144.0], [512.0, 512.0, -128.0]),
        wall([-512.0, -512.0, 256.0], [512.0, 512.0, 272.0]),
        wall([-528.0, -512.0, -128.0], [-512.0, 512.0, 256.0]),
        wall([512.0, -512.0, -128.0], [528.0, 512.0, 256.0]),
        wall([-512.0, -528.0, -128.0], [512.0, -512.0, 256.0]),
        wall([-512.0, 512.0, -128.0], [512.0, 528.0, 256.0]),
        wall([-512.0, -512.0, -128.0], [-384.0, 512.0, 0.0]),
        wall([-384.0, -512.0, -128.0], [512.0, 384.0, 0.0]),
        wall([320.0, 384.0, -128.0], [512.0, 512.0, 0.0]),
        liquid([-384.0, 384.0, -128.0], [-160.0, 512.0, -16.0], Contents::WATER),
        liquid([-128.0, 384.0, -128.0], [64.0, 512.0, -16.0], Contents::SLIME),
        liquid([96.0, 384.0, -128.0], [320.0, 512.0, -16.0], Contents::LAVA),
        wall([-160.0, 384.0, -128.0], [-128.0, 512.0, 0.0]),
        wall([64.0, 384.0, -128.0], [96.0, 512.0, 0.0]),
        Brush::ramp([-384.0, 448.0, -128.0], [-256.0, 512.0, -16.0], Direction::West),
        Brush::ramp([-448.0, -448.0, 0.0], [-320.0, -384.0, 74.0], Direction::East),
        Brush::ramp([-448.0, -352.0, 0.0], [-320.0, -288.0, 124.0], Direction::East),
        Brush::ramp([-448.0, -256.0, 0.0], [-320.0, -192.0, 132.0], Direction::East),
        Brush::ramp([-448.0, -160.0, 0.0], [-384.0, -96.0, 112.0], Direction::East),
        Brush::ramp([-448.0, -64.0, 0.0], [-256.0, 0.0, 64.0], Direction::West),
        Brush::ramp([-192.0, -448.0, 0.0], [-128.0, -320.0, 128.0], Direction::North),
        Brush::ramp([-96.0, -448.0, 0.0], [-32.0, -320.0, 127.0], Direction::South),
        Brush::ramp([64.0, -448.0, 0.0], [192.0, -320.0, 133.0], Direction::West),
        Brush::ramp([192.0, -448.0, 0.0], [320.0, -320.0, 133.0], Direction::East),
        Brush::ramp([352.0, -448.0, 0.0], [480.0, -320.0, 60.0], Direction::North),
        Brush::ramp([352.0, -320.0, 0.0], [480.0, -256.0, 60.0], Direction::South),
        pillar(0.0, -128.0, 32.0, 0.0, 160.0),
        pillar(160.0, -128.0, 48.0, 0.0, 24.0),
        wall([-192.0, 64.0, 0.0], [-160.0, 192.0, 8.0]),
        wall([-160.0, 64.0, 0.0], [-128.0, 192.0, 26.0]),
        wall([-128.0, 64.0, 0.0], [-96.0, 192.0, 45.0]),
        wall([-96.0, 64.0, 0.0], [-64.0, 192.0, 63.0]),
        wall([0.0, 64.0, 56.0], [96.0, 192.0, 72.0]),
        wall([128.0, 64.0, 60.0], [224.0, 192.0, 76.0]),
        wall([128.0, 64.0, 0.0], [224.0, 128.0, 3.0]),
        wall([288.0, 64.0, 0.0], [480.0, 96.0, 17.0]),
        wall([288.0, 96.0, 0.0], [480.0, 128.0, 34.0]),
        wall([288.0, 128.0, 0.0], [480.0, 160.0, 52.0]),
        wall([288.0, 160.0, 0.0], [480.0, 192.0, 71.0]),
    ]
}
