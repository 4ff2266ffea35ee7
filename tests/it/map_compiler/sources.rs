//! Sources: leaks, broken text and geometry, determinism.

use fragd::mapbuild::{map_file, shaders};
use fragd::{model::Vec3, world::Bsp};
use proptest::prelude::*;

use super::{compile, compile_own_map};

/// Returns the text of a box brush with one texture.
fn brush(mins: [i32; 3], maxs: [i32; 3], texture: &str) -> String {
    let [x, y, z] = mins;
    let [u, v, w] = maxs;
    let face = |[a, b, c]: [[i32; 3]; 3]| {
        let point = |[x, y, z]: [i32; 3]| format!("( {x} {y} {z} )");
        format!("{} {} {} {texture} 0 0 0 0.5 0.5 0 0 0\n", point(a), point(b), point(c))
    };
    let faces = [
        [[x, y, z], [x, v, z], [x, y, w]],
        [[u, y, z], [u, y, w], [u, v, z]],
        [[x, y, z], [x, y, w], [u, y, z]],
        [[x, v, z], [u, v, z], [x, v, w]],
        [[x, y, z], [u, y, z], [x, v, z]],
        [[x, y, w], [x, v, w], [u, y, w]],
    ];
    format!("{{\n{}}}\n", faces.map(face).concat())
}

/// Walls, floor and ceiling of a room from -256 to 256, each 16 thick.
fn walls() -> Vec<String> {
    (0..3)
        .flat_map(|axis| [false, true].map(|high| (axis, high)))
        .map(|(axis, high)| {
            let (mut mins, mut maxs) = ([-272; 3], [272; 3]);
            if high {
                mins[axis] = 256
            } else {
                maxs[axis] = -256
            }
            brush(mins, maxs, "common/caulk")
        })
        .collect()
}

fn source(world: &[String], entities: &str) -> String {
    let world = world.concat();
    format!("{{\n\"classname\" \"worldspawn\"\n{world}}}\n{entities}")
}

const SPAWN: &str = "{\n\"classname\" \"info_player_deathmatch\"\n\"origin\" \"0 0 -200\"\n}\n";

fn built(text: &str) -> Bsp {
    let built = compile("room", text.as_bytes(), &[]).unwrap_or_else(|error| panic!("{error}"));
    Bsp::load(&built.bsp).unwrap()
}

fn failure(text: &str) -> String {
    compile("room", text.as_bytes(), &[]).unwrap_err().to_string()
}

#[test]
fn closed_room_is_the_only_open_space() {
    let map = built(&source(&walls(), SPAWN));
    let clusters = map.leafs.iter().filter(|leaf| leaf.cluster.is_some()).count();
    // Space is always cut at x = 0 and y = 0.
    assert_eq!((clusters, map.brushes.len(), map.area_count), (4, 6, 1));
    assert!(map.leafs[map.leaf_at(Vec3::ZERO)].cluster.is_some());
    assert!(map.leafs[map.leaf_at(Vec3::new(0.0, 0.0, 400.0))].cluster.is_none());
}

#[test]
fn leak_is_reported_with_the_way_out() {
    let error = compile("room", source(&walls()[1..], SPAWN).as_bytes(), &[]).unwrap_err();
    let leak = error.leak.clone().unwrap();
    assert_eq!(leak.points[0].0, [0.0, 0.0, -200.0]);
    let exit = leak.points.last().unwrap();
    assert!(exit[0] < -256.0, "{exit:?}");
    let lines: Vec<_> = leak.lin().lines().map(String::from).collect();
    assert_eq!(
        (lines.len(), lines[0].as_str()),
        (leak.points.len(), "0.000000 0.000000 -200.000000")
    );
    let text = error.to_string();
    assert!(text.contains("map is not closed: info_player_deathmatch"), "{text}");
    assert!(text.starts_with("room.map:"), "{text}");
}

#[test]
fn detail_walls_do_not_close_a_map() {
    let mut walls = walls();
    walls[0] = walls[0].replace("0 0 0\n", "134217728 0 0\n");
    assert!(compile("room", source(&walls, SPAWN).as_bytes(), &[]).unwrap_err().leak.is_some());
}

#[test]
fn detail_brush_collides_without_splitting_space() {
    let mut world = walls();
    let block = brush([-64, -64, -128], [64, 64, 0], "common/caulk");
    world.push(block.replace("0 0 0\n", "134217728 0 0\n"));
    let map = built(&source(&world, SPAWN));
    let clusters = map.leafs.iter().filter(|leaf| leaf.cluster.is_some()).count();
    assert_eq!((clusters, map.brushes.len()), (4, 7));
    world[6] = block;
    let map = built(&source(&world, SPAWN));
    assert!(map.leafs.iter().filter(|leaf| leaf.cluster.is_some()).count() > 4);
}

#[test]
fn area_portal_divides_two_rooms() {
    let mut world = walls();
    // A wall with a doorway in the middle, filled by an area portal.
    world.push(brush([-8, -256, -256], [8, -32, 256], "common/caulk"));
    world.push(brush([-8, 32, -256], [8, 256, 256], "common/caulk"));
    world.push(brush([-8, -32, -128], [8, 32, 256], "common/caulk"));
    world.push(brush([-4, -32, -256], [4, 32, -128], "common/areaportal"));
    let spawn = SPAWN.replace("0 0 -200", "100 0 -200");
    let map = built(&source(&world, &spawn));
    assert_eq!(map.area_count, 2);
    let area = |x: f32| map.leafs[map.leaf_at(Vec3::new(x, 0.0, -200.0))].area;
    assert_ne!(area(-100.0), area(100.0));
}

#[test]
fn origin_brush_moves_a_model() {
    let door = brush([64, 64, -256], [80, 128, -128], "common/caulk");
    let origin = brush([68, 92, -196], [76, 100, -188], "common/origin");
    let entity = format!("{{\n\"classname\" \"func_rotating\"\n{door}{origin}}}\n");
    let map = built(&source(&walls(), &format!("{SPAWN}{entity}")));
    let model = &map.models[map.inline_model("*1").unwrap()];
    assert_eq!(model.mins, Vec3::new(-9.0, -33.0, -65.0));
    let text = String::from_utf8_lossy(&map.entity_text).into_owned();
    assert!(
        text.contains("\"origin\" \"72 96 -192\"") && text.contains("\"model\" \"*1\""),
        "{text}"
    );
}

#[test]
fn groups_join_the_world_and_lights_vanish() {
    let group =
        format!("{{\n\"classname\" \"func_group\"\n{}}}\n", brush([0; 3], [8; 3], "common/caulk"));
    let light = "{\n\"classname\" \"light\"\n\"origin\" \"0 0 100\"\n}\n";
    let map = built(&source(&walls(), &format!("{SPAWN}{group}{light}")));
    assert_eq!((map.brushes.len(), map.models.len()), (7, 1));
    let text = String::from_utf8_lossy(&map.entity_text).into_owned();
    assert_eq!(text.matches('{').count(), 2, "{text}");
}

#[test]
fn spawn_point_in_solid_is_an_error() {
    let text = source(&walls(), &SPAWN.replace("-200", "-250"));
    let text = failure(&text);
    assert!(text.contains("info_player_deathmatch in solid"), "{text}");
}

#[test]
fn unclosed_brush_is_an_error_with_its_line() {
    let mut world = walls();
    let whole = brush([0; 3], [8; 3], "common/caulk");
    world.push(
        whole
            .lines()
            .filter(|line| !line.contains("8 0 0 ) ( 8 0 8"))
            .collect::<Vec<_>>()
            .join("\n")
            + "\n",
    );
    let text = failure(&source(&world, SPAWN));
    assert!(text.starts_with("room.map:51: brush is not closed"), "{text}");
}

#[test]
fn broken_sources_name_the_line_and_the_remedy() {
    let cases = [
        (
            "{\n\"classname\" \"worldspawn\"\n{\nbrushDef\n{\n",
            "room.map:4: unsupported primitive: \"brushDef\" (save",
        ),
        (
            "{\n\"classname\" \"worldspawn\"\n{\n( 0 0 x )",
            "room.map:4: unusable coordinate: \"x\" (expected a number)",
        ),
        ("{\n\"classname\" worldspawn\n}", "room.map:2: unexpected \"worldspawn\" after key"),
        ("{\n\"classname\" \"worldspawn\"\n", "room.map:3: source ends early"),
        ("{\n\"classname\" \"light\"\n}\n", "room.map:1: first entity is not worldspawn"),
        ("\n\n}", "room.map:3: unexpected \"}\" (expected '{' before an entity)"),
    ];
    for (text, expected) in cases {
        let error = failure(text);
        assert!(error.starts_with(expected), "{error}");
    }
}

#[test]
fn broken_scripts_name_the_line() {
    let cases = [
        ("a/b\n{\n", "x.shader:1: shader \"a/b\" is not closed"),
        ("a/b\nc/d\n", "x.shader:2: no '{' after the shader name"),
        ("a/b\n{\nq3map_sun 1 2 bright\n}\n", "x.shader:3: unusable value of q3map_sun"),
        ("}\n", "x.shader:1: unexpected \"}\""),
    ];
    for (text, expected) in cases {
        let error = shaders::read("x.shader", text.as_bytes()).unwrap_err().to_string();
        assert!(error.starts_with(expected), "{error}");
    }
}

#[test]
fn shader_script_gives_contents_light_and_images() {
    let text = "textures/X/Water // comment\n{\n\tqer_editorimage textures/x/w.tga\n\tsurfaceparm water\n\
        \tsurfaceparm trans\n\tq3map_surfacelight 300\n\t{ map $lightmap }\n\t{\n\t\tmap textures/x/a.tga\n\t}\n}\n";
    let shaders = shaders::read("x.shader", text.as_bytes()).unwrap();
    let [shader] = &shaders[..] else { panic!("{shaders:?}") };
    assert_eq!(shader.name, "textures/x/water");
    assert_eq!(shader.contents, 0x20 | 0x2000_0000);
    assert_eq!((shader.main_image(), shader.surface_light), ("textures/x/w.tga", 300.0));
    assert_eq!(shader.images, ["textures/x/a.tga"]);
    assert!(shader.text.starts_with("textures/X/Water") && shader.text.ends_with('}'));
}

#[test]
fn byte_order_marks_are_no_part_of_shaders() {
    let mark = "\u{feff}";
    let text = format!("{mark}{mark}a/b\n{{\n}}\n{mark}c/d {{ }} {mark}");
    let shaders = shaders::read("x.shader", text.as_bytes()).unwrap();
    let found: Vec<_> = shaders.iter().map(|one| (one.name.as_str(), one.text.as_str())).collect();
    assert_eq!(found, [("a/b", "a/b\n{\n}"), ("c/d", "c/d { }")]);
}

#[test]
fn same_source_gives_the_same_bytes() {
    assert!(compile_own_map("course") == compile_own_map("course"));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn readers_accept_or_reject_any_text(text in ".{0,200}") {
        let _ = map_file::read("x.map", text.as_bytes());
        let _ = shaders::read("x.shader", text.as_bytes());
    }

    /// Brushes anywhere, through each other and through the walls.
    #[test]
    fn random_boxes_compile_or_are_rejected(boxes in prop::collection::vec(
        ([-300..300i32, -300..300i32, -300..300i32], [1..200i32, 1..200i32, 1..200i32]), 0..12,
    )) {
        let mut world = walls();
        for (mins, size) in boxes {
            let maxs = [0, 1, 2].map(|k| mins[k] + size[k]);
            world.push(brush(mins, maxs, "common/caulk"));
        }
        if let Ok(built) = compile("room", source(&world, SPAWN).as_bytes(), &[]) {
            prop_assert!(Bsp::load(&built.bsp).is_ok());
        }
    }

    /// A source with one changed byte.
    #[test]
    fn tampered_sources_compile_or_are_rejected(at in 0..2400usize, byte in any::<u8>()) {
        let mut text = source(&walls(), SPAWN).into_bytes();
        let at = at % text.len();
        text[at] = byte;
        let _ = compile("room", &text, &[]);
    }
}
