//! The map `fragqw1`: two rooms and a bent corridor, for QuakeWorld servers without game data.
//!
//! | place | content |
//! |---|---|
//! | west room | pool with a beach, stairs and a ramp to a platform, ledges of 18 and 22 units, a pillar |
//! | corridor | door that opens by itself |
//! | east room | lava, a lift that moves by itself, balcony, teleporter to the platform, jump pad to a high ledge |
//!
//! Moving things are trains between two corners, so that every game understands them. The corner of a train is
//! where its lower corner goes, minus 1: engines widen the boxes of brush entities by 1 unit.

use super::super::hull::Contents;
use super::textures::{bricks, planks, tiles, waves};
use super::{Brush, BrushSide, Direction, MapSource, Point, Texture, Zone, compile};

/// Name of the map.
pub const FRAGQW1: &str = "fragqw1";

/// Lower and upper corner of the space.
const INNER: [Point; 2] = [[-512.0, -384.0, -128.0], [768.0, 384.0, 256.0]];

const BRICK: usize = 0;
const STONE: usize = 1;
const PLANK: usize = 2;
const WATER: usize = 3;
const LAVA: usize = 4;
const METAL: usize = 5;

const TEXTURES: [Texture; 6] = [
    Texture { name: "brick", ramp: 0x10, shade: bricks },
    Texture { name: "stone", ramp: 0x00, shade: tiles },
    Texture { name: "plank", ramp: 0x50, shade: planks },
    Texture { name: "*water", ramp: 0x20, shade: waves },
    Texture { name: "*lava", ramp: 0xE0, shade: waves },
    Texture { name: "metal", ramp: 0x20, shade: tiles },
];

/// Borders of the zones along x.
const BORDERS: [f64; 4] = [0.0, 96.0, 160.0, 256.0];

/// Zones from west to east: room, leg of the corridor, bend, leg, room.
const SEES: [&[usize]; 5] =
    [&[0, 1, 2], &[0, 1, 2, 3], &[0, 1, 2, 3, 4], &[1, 2, 3, 4], &[2, 3, 4]];

/// Returns the file of the map.
#[must_use]
pub fn fragqw1() -> Vec<u8> {
    let hints = BORDERS.map(|border| (0, border));
    let zones: [Zone<'_>; 5] = std::array::from_fn(|zone| {
        let [mut low, mut high] = INNER;
        low[0] = if zone == 0 { low[0] } else { BORDERS[zone - 1] };
        high[0] = BORDERS.get(zone).copied().unwrap_or(high[0]);
        Zone { corners: [low, high], sees: SEES[zone] }
    });
    let world = [frame(), west_room(), corridor(), east_room()].concat();
    compile(&MapSource {
        inner: INNER,
        hints: &hints,
        zones: &zones,
        textures: &TEXTURES,
        world: &world,
        models: &[vec![lift()], vec![door()], vec![teleporter()], vec![jump_pad()]],
        entities: ENTITIES,
    })
}

fn block(low: Point, high: Point) -> Brush {
    Brush::new(low, high).painted(BRICK, STONE, PLANK)
}

fn metal(low: Point, high: Point) -> Brush {
    Brush::new(low, high).painted(METAL, METAL, METAL)
}

fn liquid(low: Point, high: Point, contents: Contents, texture: usize) -> Brush {
    Brush::new(low, high).filled(contents).painted(texture, texture, texture)
}

/// Bottom, ceiling and outer walls.
fn frame() -> Vec<Brush> {
    vec![
        block([-512.0, -384.0, -144.0], [768.0, 384.0, -128.0]),
        block([-512.0, -384.0, 256.0], [768.0, 384.0, 272.0]),
        block([-528.0, -384.0, -128.0], [-512.0, 384.0, 256.0]),
        block([768.0, -384.0, -128.0], [784.0, 384.0, 256.0]),
        block([-512.0, -400.0, -128.0], [768.0, -384.0, 256.0]),
        block([-512.0, 384.0, -128.0], [768.0, 400.0, 256.0]),
    ]
}

fn west_room() -> Vec<Brush> {
    let mut brushes = vec![
        // Floor around the pool.
        block([-512.0, -384.0, -128.0], [-448.0, 384.0, 0.0]),
        block([-448.0, -96.0, -128.0], [0.0, 384.0, 0.0]),
        block([-448.0, -384.0, -128.0], [0.0, -320.0, 0.0]),
        block([-256.0, -320.0, -128.0], [0.0, -96.0, 0.0]),
        // The beach is 16 units below the floor, the water 8.
        Brush::ramp([-400.0, -320.0, -128.0], [-256.0, -224.0, -16.0], Direction::East)
            .painted(BRICK, STONE, PLANK),
        liquid([-448.0, -320.0, -128.0], [-256.0, -96.0, -8.0], Contents::WATER, WATER),
        // Platform and ramp.
        block([-512.0, 128.0, 0.0], [-448.0, 384.0, 128.0]),
        Brush::ramp([-448.0, 128.0, 0.0], [-192.0, 256.0, 128.0], Direction::West)
            .painted(BRICK, PLANK, PLANK),
        // A ledge that a player can climb, and one for a jump.
        block([-192.0, -384.0, 0.0], [-96.0, -336.0, 18.0]),
        block([-96.0, -384.0, 0.0], [0.0, -336.0, 22.0]),
        pillar(-128.0, 32.0, 24.0, 0.0, 256.0),
    ];
    let stairs = (1..=8).map(f64::from).map(|step| {
        let foot = -256.0 - 24.0 * step;
        block([foot, 256.0, 0.0], [foot + 24.0, 384.0, 16.0 * step])
    });
    brushes.extend(stairs);
    brushes
}

fn corridor() -> Vec<Brush> {
    vec![
        block([0.0, -384.0, -128.0], [256.0, 384.0, 0.0]),
        block([0.0, -384.0, 128.0], [256.0, 384.0, 256.0]),
        block([0.0, -384.0, 0.0], [256.0, -192.0, 128.0]),
        block([0.0, 192.0, 0.0], [256.0, 384.0, 128.0]),
        block([0.0, -64.0, 0.0], [96.0, 192.0, 128.0]),
        block([160.0, -192.0, 0.0], [256.0, 64.0, 128.0]),
    ]
}

fn east_room() -> Vec<Brush> {
    vec![
        // Floor around the lava.
        block([256.0, -384.0, -128.0], [320.0, 384.0, 0.0]),
        block([448.0, -384.0, -128.0], [768.0, 384.0, 0.0]),
        block([320.0, -192.0, -128.0], [448.0, 384.0, 0.0]),
        block([320.0, -384.0, -128.0], [448.0, -320.0, 0.0]),
        block([320.0, -320.0, -128.0], [448.0, -192.0, -64.0]),
        liquid([320.0, -320.0, -64.0], [448.0, -192.0, -16.0], Contents::LAVA, LAVA),
        // Balcony with the frame of the teleporter.
        block([256.0, 256.0, 112.0], [640.0, 384.0, 128.0]),
        metal([264.0, 264.0, 128.0], [296.0, 280.0, 216.0]),
        metal([264.0, 360.0, 128.0], [296.0, 376.0, 216.0]),
        metal([264.0, 264.0, 216.0], [296.0, 376.0, 232.0]),
        // The high ledge beside the jump pad, and cover.
        block([560.0, -384.0, 0.0], [656.0, -256.0, 160.0]),
        block([480.0, -64.0, 0.0], [544.0, 0.0, 40.0]),
    ]
}

/// An eight-sided pillar.
fn pillar(x: f64, y: f64, radius: f64, bottom: f64, top: f64) -> Brush {
    let half = 0.5_f64.sqrt();
    let mut pillar = metal([x - radius, y - radius, bottom], [x + radius, y + radius, top]);
    for (a, b) in [(-1.0, -1.0), (-1.0, 1.0), (1.0, -1.0), (1.0, 1.0)] {
        let dist = (a * x + b * y) * half + radius;
        pillar = pillar.cut(BrushSide { normal: [a * half, b * half, 0.0], dist });
    }
    pillar
}

fn lift() -> Brush {
    metal([640.0, 256.0, 0.0], [768.0, 384.0, 16.0])
}

fn door() -> Brush {
    metal([96.0, -16.0, 0.0], [160.0, 16.0, 128.0])
}

fn teleporter() -> Brush {
    metal([272.0, 280.0, 128.0], [288.0, 360.0, 216.0])
}

fn jump_pad() -> Brush {
    metal([672.0, -352.0, 0.0], [736.0, -288.0, 16.0])
}

/// Entity string. The push of a pad is ten times its speed, upward at angle -1.
const ENTITIES: &str = r#"{
"classname" "worldspawn"
"message" "Two rooms"
"sounds" "0"
}
{
"classname" "info_player_start"
"origin" "-64 64 32"
"angle" "180"
}
{
"classname" "info_player_deathmatch"
"origin" "-64 64 32"
"angle" "180"
}
{
"classname" "info_player_deathmatch"
"origin" "-64 -128 32"
"angle" "0"
}
{
"classname" "info_player_deathmatch"
"origin" "-224 -352 32"
"angle" "90"
}
{
"classname" "info_player_deathmatch"
"origin" "-480 0 32"
"angle" "0"
}
{
"classname" "info_player_deathmatch"
"origin" "-480 320 160"
"angle" "0"
}
{
"classname" "info_player_deathmatch"
"origin" "-96 320 32"
"angle" "180"
}
{
"classname" "info_player_deathmatch"
"origin" "320 128 32"
"angle" "0"
}
{
"classname" "info_player_deathmatch"
"origin" "320 -96 32"
"angle" "0"
}
{
"classname" "info_player_deathmatch"
"origin" "512 -160 32"
"angle" "90"
}
{
"classname" "info_player_deathmatch"
"origin" "704 64 32"
"angle" "180"
}
{
"classname" "info_player_deathmatch"
"origin" "512 320 160"
"angle" "180"
}
{
"classname" "info_player_deathmatch"
"origin" "608 -320 192"
"angle" "90"
}
{
"classname" "func_train"
"model" "*1"
"target" "lift_low"
"speed" "56"
"dmg" "2"
}
{
"classname" "path_corner"
"targetname" "lift_low"
"target" "lift_high"
"origin" "639 255 -1"
"wait" "2"
}
{
"classname" "path_corner"
"targetname" "lift_high"
"target" "lift_low"
"origin" "639 255 111"
"wait" "2"
}
{
"classname" "func_train"
"model" "*2"
"target" "door_low"
"speed" "112"
"dmg" "2"
}
{
"classname" "path_corner"
"targetname" "door_low"
"target" "door_high"
"origin" "95 -17 -1"
"wait" "2"
}
{
"classname" "path_corner"
"targetname" "door_high"
"target" "door_low"
"origin" "95 -17 111"
"wait" "4"
}
{
"classname" "trigger_teleport"
"model" "*3"
"target" "platform"
}
{
"classname" "info_teleport_destination"
"targetname" "platform"
"origin" "-480 192 136"
"angle" "270"
}
{
"classname" "trigger_push"
"model" "*4"
"angle" "-1"
"speed" "60"
}
"#;
