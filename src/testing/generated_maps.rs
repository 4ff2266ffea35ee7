//! Map sources of any size by a seed: rooms with doors, crossing pillars, a field.

use std::fmt::Write as _;

use rand_pcg::{Pcg32, rand_core::Rng as _};

/// Distance of the walls of rooms.
const ROOM: i32 = 512;
/// Height of rooms.
const HEIGHT: i32 = 256;

/// Texture of generated brushes.
const TEXTURE: &str = "generated/basalt";

type Corner = [i32; 3];

/// Returns the text of a box brush with one texture.
#[must_use]
pub fn box_brush(mins: Corner, maxs: Corner, texture: &str) -> String {
    turned_brush(mins, maxs, texture, 0.0)
}

/// Returns the text of a box brush turned around the vertical axis by some degrees.
fn turned_brush(mins: Corner, maxs: Corner, texture: &str, degrees: f64) -> String {
    let [x, y, z] = mins;
    let [u, v, w] = maxs;
    let (sine, cosine) = (libm::sin(degrees.to_radians()), libm::cos(degrees.to_radians()));
    let faces = [
        [[x, y, z], [x, v, z], [x, y, w]],
        [[u, y, z], [u, y, w], [u, v, z]],
        [[x, y, z], [x, y, w], [u, y, z]],
        [[x, v, z], [u, v, z], [x, v, w]],
        [[x, y, z], [u, y, z], [x, v, z]],
        [[x, y, w], [x, v, w], [u, y, w]],
    ];
    let mut text = "{\n".to_owned();
    for face in faces {
        for point in face {
            let [x, y, z] = point.map(f64::from);
            let (x, y) = (x * cosine - y * sine, x * sine + y * cosine);
            write!(text, "( {x} {y} {z} ) ").unwrap();
        }
        writeln!(text, "{texture} 0 0 0 0.5 0.5 0 0 0").unwrap();
    }
    text + "}\n"
}

/// Returns the six brushes around a room.
fn shell([x, y, z]: Corner, [u, v, w]: Corner, thick: i32) -> String {
    let t = thick;
    let walls = [
        ([x - t, y - t, z - t], [u + t, v + t, z]),
        ([x - t, y - t, w], [u + t, v + t, w + t]),
        ([x - t, y - t, z], [x, v + t, w]),
        ([u, y - t, z], [u + t, v + t, w]),
        ([x, y - t, z], [u, y, w]),
        ([x, v, z], [u, v + t, w]),
    ];
    walls.map(|(mins, maxs)| box_brush(mins, maxs, TEXTURE)).concat()
}

fn entity(class: &str, [x, y, z]: Corner, more: &str) -> String {
    format!("{{\n\"classname\" \"{class}\"\n\"origin\" \"{x} {y} {z}\"\n{more}}}\n")
}

fn map(keys: &str, brushes: &str, entities: &str) -> String {
    format!("{{\n\"classname\" \"worldspawn\"\n{keys}{brushes}}}\n{entities}")
}

/// Returns a square of `side` × `side` rooms with doors and pillars, and the number of its brushes.
#[must_use]
pub fn rooms(seed: u64, side: i32) -> (String, usize) {
    let mut random = Pcg32::new(seed, 1);
    let mut below = |limit: i32| (random.next_u32() % limit.unsigned_abs()) as i32;
    let end = side * ROOM;
    let mut brushes = shell([0; 3], [end, end, HEIGHT], 16);
    let mut entities = String::new();
    for axis in 0..2 {
        for (wall, room) in (1..side).flat_map(|wall| (0..side).map(move |room| (wall, room))) {
            let (at, first) = (wall * ROOM, room * ROOM);
            let mut part = |low: i32, high: i32, bottom: i32| {
                let (mut mins, mut maxs) = ([at - 8, at - 8, bottom], [at + 8, at + 8, HEIGHT]);
                (mins[1 - axis], maxs[1 - axis]) = (low, high);
                brushes += &box_brush(mins, maxs, TEXTURE);
            };
            if below(10) < 3 {
                part(first, first + ROOM, 0);
                continue;
            }
            let door = first + 64 + 16 * below(16);
            let width = 96 + 32 * below(2);
            part(first, door, 0);
            part(door + width, first + ROOM, 0);
            part(door, door + width, 128 + 32 * below(2));
        }
    }
    for (x, y) in (0..side).flat_map(|x| (0..side).map(move |y| (x * ROOM, y * ROOM))) {
        for _ in 0..2 + below(4) {
            let low = [x + 48 + 16 * below(24), y + 48 + 16 * below(24), 0];
            let (width, height) = (16 + 16 * below(2), [HEIGHT, 64, 96][below(3) as usize]);
            brushes += &box_brush(low, [low[0] + width, low[1] + width, height], TEXTURE);
        }
        entities += &entity("info_player_deathmatch", [x + 28, y + 28, 40], "");
        entities += &entity("light", [x + 256, y + 256, 200], "\"light\" \"200\"\n");
    }
    let count = brushes.matches("{\n").count();
    (map("", &brushes, &entities), count)
}

/// Returns a room with structural pillars through each other, each turned a little more.
#[must_use]
pub fn fan(pillars: i32) -> String {
    let mut brushes = shell([-256, -256, 0], [256, 256, 256], 16);
    for number in 0..pillars {
        let top = 40 + number;
        brushes += &turned_brush([-40, -40, 0], [40, 40, top], TEXTURE, f64::from(number) * 1.7);
    }
    map("", &brushes, &entity("info_player_deathmatch", [200, 200, 32], ""))
}

/// Returns one empty room of a width, with more keys of worldspawn.
#[must_use]
pub fn field(width: i32, keys: &str) -> String {
    let half = width / 2;
    let brushes = shell([-half, -half, 0], [half, half, 4096], 64);
    let light = entity("light", [0, 0, 200], "\"light\" \"400\"\n");
    map(keys, &brushes, &(entity("info_player_deathmatch", [0, 0, 32], "") + &light))
}
