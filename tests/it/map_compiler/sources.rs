//! Sources: leaks, broken text and geometry, determinism.

use fragd::mapbuild::{self, Effort, GameSources, Source, image, map_file, shaders};
use fragd::testing::generated_maps::box_brush as brush;
use fragd::{model::Vec3, world::Bsp};
use proptest::prelude::*;

use super::{compile, compile_own_map};

/// Walls, floor and ceiling of a room from -256 to 256, each 16 thick.
pub(super) fn walls() -> Vec<String> {
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

pub(super) fn source(world: &[String], entities: &str) -> String {
    let world = world.concat();
    format!("{{\n\"classname\" \"worldspawn\"\n{world}}}\n{entities}")
}

pub(super) const SPAWN: &str =
    "{\n\"classname\" \"info_player_deathmatch\"\n\"origin\" \"0 0 -200\"\n}\n";

fn built(text: &str) -> Bsp {
    let built = compile("room", text.as_bytes(), &[]).unwrap_or_else(|error| panic!("{error}"));
    Bsp::load(&built.bsp).unwrap()
}

pub(super) fn warnings(text: &str) -> String {
    let built = compile("room", text.as_bytes(), &[]).unwrap_or_else(|error| panic!("{error}"));
    built.warnings.iter().map(|warning| format!("{warning}\n")).collect()
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
    let built = compile("room", source(&walls()[1..], SPAWN).as_bytes(), &[]).unwrap();
    let leak = built.leak.clone().unwrap();
    assert_eq!(leak.points[0].0, [0.0, 0.0, -200.0]);
    let exit = leak.points.last().unwrap();
    assert!(exit[0] < -256.0, "{exit:?}");
    let lines: Vec<_> = leak.lin().lines().map(String::from).collect();
    assert_eq!(
        (lines.len(), lines[0].as_str()),
        (leak.points.len(), "0.000000 0.000000 -200.000000")
    );
    let [text] = &built.warnings[..] else { panic!("{:?}", built.warnings) };
    let text = text.to_string();
    assert!(text.contains("map is not closed: info_player_deathmatch"), "{text}");
    assert!(text.starts_with("room.map:"), "{text}");
    // Everything sees everything.
    let map = Bsp::load(&built.bsp).unwrap();
    let clusters: Vec<_> =
        map.leafs.iter().map(|leaf| leaf.cluster).filter(Option::is_some).collect();
    assert!(clusters.iter().all(|&to| map.visibility.sees(clusters[0], to)));
    assert!(map.warnings.is_empty(), "{:?}", map.warnings);
}

#[test]
fn detail_walls_do_not_close_a_map() {
    let mut walls = walls();
    walls[0] = walls[0].replace("0 0 0\n", "134217728 0 0\n");
    assert!(compile("room", source(&walls, SPAWN).as_bytes(), &[]).unwrap().leak.is_some());
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
fn items_and_spawn_points_in_solid_are_warnings() {
    let entity = |class: &str, rest: &str| {
        format!("{{\n\"classname\" \"{class}\"\n\"origin\" \"0 0 -250\"\n{rest}}}\n")
    };
    let float = "\"spawnflags\" \"1\"\n";
    for (class, rest, warns) in [
        ("info_player_deathmatch", "", true),
        ("item_health", "", true),
        ("weapon_railgun", "", true),
        ("item_health", float, false),
        ("item_botroam", "", false),
        ("info_notnull", "", false),
    ] {
        let text = warnings(&source(&walls(), &format!("{SPAWN}{}", entity(class, rest))));
        assert_eq!(text.contains(&format!("{class} in solid")), warns, "{class} {rest}: {text}");
    }
}

#[test]
fn brushes_without_volume_are_dropped_with_their_line() {
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
    let flat = brush([0; 3], [8, 8, 0], "common/caulk");
    world.push(flat);
    let text = warnings(&source(&world, SPAWN));
    let lines: Vec<&str> = text.lines().collect();
    assert!(lines[0].starts_with("room.map:51: brush dropped: it is not closed"), "{text}");
    assert!(lines[1].starts_with("room.map:59: face dropped: "), "{text}");
    let flat = lines.last().unwrap();
    assert!(flat.starts_with("room.map:64: brush dropped: two faces back to back"), "{text}");
}

/// A texture is missing, is one of the game, or is one of the author in another case.
#[test]
fn textures_are_of_author_game_or_a_stand_in() {
    let wall = image::Image::rgb(8, 8, vec![100; 192]).tga();
    let author = |name: &str| (name == "textures/lab/wall.tga").then(|| wall.clone());
    let game = |name: &str| {
        let is_known = ["textures/base/floor.jpg", "textures/room/own.tga"].contains(&name);
        is_known.then(|| wall.clone())
    };
    let scripts = [(
        "scripts/base.shader".to_owned(),
        b"textures/base/glow { { map textures/base/floor.tga } }\ntextures/common/caulk { }\n}"
            .to_vec(),
    )];
    let built = |texture: &str| {
        let mut world = walls();
        world.push(brush([0; 3], [8; 3], texture));
        let text = source(&world, SPAWN);
        let source = Source {
            name: "room",
            file: "room.map",
            text: text.as_bytes(),
            scripts: &[],
            files: &author,
            game: Some(GameSources { scripts: &scripts, files: &game }),
            effort: Effort::Fast,
            threads: 1,
        };
        let built = mapbuild::build(&source, &mut |_, _, _| {}).unwrap();
        let archive = zip::ZipArchive::new(std::io::Cursor::new(built.pk3)).unwrap();
        let mut names = archive.file_names().map(|name| name.unwrap().into_owned());
        let texture = names.find(|name| name.starts_with("textures/"));
        let warnings = built.warnings.iter().map(ToString::to_string).collect::<String>();
        (texture.unwrap_or_default(), built.of_game.concat(), warnings)
    };
    let found = |texture: &str, game: &str| (texture.to_owned(), game.to_owned(), String::new());
    assert_eq!(built("Lab/Wall"), found("textures/lab/wall.tga", ""));
    assert_eq!(built("base/floor"), found("", "textures/base/floor"));
    assert_eq!(built("base/glow"), found("", "textures/base/glow"));
    for (texture, packed) in [("base/none", ""), ("room/own", "textures/room/own.jpg")] {
        let (name, game, warning) = built(texture);
        assert_eq!((&*name, &*game), (packed, ""));
        let expected = format!("image missing: textures/{texture}; drawn with a stand-in");
        assert!(warning.contains(&expected), "{warning}");
    }
}

#[test]
fn layers_omitted_from_export_are_left_out() {
    let layer = |id: u8, omit: u8| {
        format!(
            "{{\n\"classname\" \"func_group\"\n\"_tb_type\" \"_tb_layer\"\n\"_tb_name\" \"layer {id}\"\n\
             \"_tb_id\" \"{id}\"\n\"_tb_layer_omit_from_export\" \"{omit}\"\n{}}}\n",
            brush([0; 3], [8; 3], "common/caulk")
        )
    };
    let member = |class: &str, keys: &str| format!("{{\n\"classname\" \"{class}\"\n{keys}}}\n");
    let group = "\"_tb_type\" \"_tb_group\"\n\"_tb_id\" \"5\"\n\"_tb_layer\" \"2\"\n";
    let inner = "\"_tb_type\" \"_tb_group\"\n\"_tb_id\" \"6\"\n\"_tb_group\" \"5\"\n";
    let entities = [
        SPAWN.to_owned(),
        member("info_null", "\"_tb_group\" \"6\"\n"),
        member("func_group", inner),
        member("func_group", group),
        member("info_notnull", "\"_tb_layer\" \"2\"\n"),
        member("target_position", "\"_tb_layer\" \"1\"\n"),
        layer(1, 0),
        layer(2, 1),
    ];
    let built = compile("room", source(&walls(), &entities.concat()).as_bytes(), &[]).unwrap();
    assert_eq!(built.omitted_layers, ["layer 2"]);
    let map = Bsp::load(&built.bsp).unwrap();
    let text = String::from_utf8_lossy(&map.entity_text).into_owned();
    assert_eq!((map.brushes.len(), text.matches("classname").count()), (7, 3), "{text}");
    assert!(text.contains("target_position") && !text.contains("info_n"), "{text}");
    let omitted = source(&walls(), SPAWN).replacen(
        "\"worldspawn\"\n",
        "\"worldspawn\"\n\"_tb_layer_omit_from_export\" \"1\"\n",
        1,
    );
    let told = compile("room", omitted.as_bytes(), &[]).unwrap_err().to_string();
    let expected = "room.map:1: worldspawn has no brushes without its omitted layers: default (";
    assert!(told.starts_with(expected), "{told}");
}

#[test]
fn brush_primitives_are_read_with_their_texture_matrix() {
    let classic = brush([-64, -64, -128], [64, 64, 0], "room/wall");
    let lines = classic.lines().map(|line| match line.split_once(" room/wall") {
        // Scale 0.5 of an image of 64 pixels: 32 units a repeat.
        Some((points, _)) => {
            format!("{points} ( ( 0.03125 0 0 ) ( 0 0.03125 0 ) ) room/wall 0 0 0\n")
        }
        None => format!("{line}\n"),
    });
    let primitive = lines.collect::<String>().replacen("{\n", "{\nbrushDef\n{\n", 1) + "}\n";
    let coordinates = |block: &str| {
        let mut world = walls();
        world.push(block.to_owned());
        let built = compile("room", source(&world, SPAWN).as_bytes(), &[]).unwrap();
        assert_eq!(built.counts.brushes, 7);
        let map = built.bsp;
        // Records of 44 bytes of lump 10, with texture coordinates behind the position.
        let word = |at: usize| u32::from_le_bytes(map[at..at + 4].try_into().unwrap()) as usize;
        let (start, len) = (word(8 + 10 * 8), word(12 + 10 * 8));
        let number = |at: usize| f32::from_bits(word(at) as u32);
        let records = (start..start + len).step_by(44);
        records.map(|at| [number(at + 12), number(at + 16)]).collect::<Vec<_>>()
    };
    let longest = |all: &[[f32; 2]]| all.iter().flatten().copied().fold(0.0, f32::max);
    let (found, expected) = (coordinates(&primitive), coordinates(&classic));
    assert_eq!(found.len(), expected.len());
    assert_eq!((longest(&found), longest(&expected)), (4.0, 4.0));
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
