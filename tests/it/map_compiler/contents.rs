//! Contents of brushes: fogs, brushes with faces of several kinds, entities of other compilers.

use std::io::Read as _;

use fragd::{
    mapbuild::Effort,
    testing::generated_maps::box_brush as brush,
    world::{Bsp, bsp::Lump},
};

use super::{
    compile, compile_with, lump,
    sources::{SPAWN, source, walls, warnings},
};

const FOG: &str = "textures/room/fog\n{\nsurfaceparm fog\nsurfaceparm trans\nsurfaceparm nonsolid\n\
    fogparms ( .5 .4 .3 ) 300\n}\n";
/// The same, without a surface of its own.
const HIDDEN_FOG: &str = "textures/room/fog\n{\nsurfaceparm fog\nsurfaceparm trans\nsurfaceparm nodraw\n\
    fogparms ( .5 .4 .3 ) 300\n}\n";

fn scripts(text: &str) -> [(String, Vec<u8>); 1] {
    [("room.shader".to_owned(), text.as_bytes().to_vec())]
}

fn word(bytes: &[u8], at: usize) -> i32 {
    i32::from_le_bytes(bytes[at..at + 4].try_into().unwrap())
}

/// A room with fog up to −128, and a pillar, a curve and a lift that reach out of it.
fn foggy_room() -> String {
    let mut world = walls();
    world.push(brush([-256; 3], [256, 256, -128], "room/fog"));
    world.push(brush([64, 64, -256], [96, 96, 0], "room/wall"));
    let mut curve =
        "{\npatchDef2\n{\nroom/wall\n( 3 3 0 0 0 )\n(\n( ( 0 -64 -200 0 0 ) ".to_owned();
    for at in 1..9 {
        let close = if at % 3 == 0 { ")\n( " } else { "" };
        let (column, row) = (at / 3, at % 3);
        curve += &format!("{close}( {} -64 {} 0 0 ) ", column * 32, row * 100 - 200);
    }
    world.push(curve + ")\n)\n}\n}\n");
    let lift = brush([-96, -96, -240], [-64, -64, -64], "room/wall");
    source(&world, &format!("{SPAWN}{{\n\"classname\" \"func_static\"\n{lift}}}\n"))
}

/// Returns lowest and highest vertex, fog and kind of each surface.
fn surfaces(map: &[u8]) -> Vec<([f32; 2], i32, i32)> {
    let vertices = lump(map, Lump::Vertices);
    let records = lump(map, Lump::Surfaces).chunks(104);
    let surface = records.map(|record| {
        let (first, count) = (word(record, 12) as usize, word(record, 16) as usize);
        let height = |vertex: usize| f32::from_bits(word(vertices, 44 * vertex + 8) as u32);
        let heights = (first..first + count).map(height);
        let low = heights.clone().fold(f32::INFINITY, f32::min);
        ([low, heights.fold(f32::NEG_INFINITY, f32::max)], word(record, 4), word(record, 8))
    });
    surface.collect()
}

#[test]
fn fog_has_a_visible_side_and_cuts_surfaces() {
    let text = foggy_room();
    let built = compile("room", text.as_bytes(), &scripts(FOG)).unwrap();
    let fogs = lump(&built.bsp, Lump::Fogs);
    assert_eq!((fogs.len(), fogs.starts_with(b"textures/room/fog\0")), (72, true));
    let map = Bsp::load(&built.bsp).unwrap();
    let brush = &map.brushes.numbered().nth(word(fogs, 64) as usize).unwrap().1;
    assert_eq!(map.shaders[brush.shader].contents & 0x40, 0x40);
    assert_eq!(word(fogs, 68), 5, "the upward side");
    let surfaces = surfaces(&built.bsp);
    for &([low, high], fog, kind) in &surfaces {
        let is_inside = if kind == 2 { low < -128.0 } else { low < -128.0 && high <= -128.0 };
        assert_eq!(fog, if is_inside { 0 } else { -1 }, "{low} to {high}");
        assert!(kind == 2 || low >= -128.0 || high <= -128.0, "{low} to {high}");
    }
    // Four sides of the pillar and of the lift below, the bottom of the lift, and the curve.
    assert_eq!(surfaces.iter().filter(|surface| surface.1 == 0).count(), 4 + 4 + 1 + 1);
    // The sides above and two tops, without the fog's own surface.
    let is_above = |surface: &&([f32; 2], i32, i32)| surface.1 < 0 && surface.0 != [-128.0; 2];
    assert_eq!(surfaces.iter().filter(is_above).count(), 4 + 4 + 2);
    let told = built.warnings.iter().map(|one| format!("{one}\n")).collect::<String>();
    assert!(!told.contains("fog with") && !told.contains("missing: textures/room/fog"), "{told}");
}

#[test]
fn shader_of_a_fog_is_packed_without_own_surfaces() {
    let text = foggy_room();
    let built = compile_with(Effort::Fast, "room", text.as_bytes(), &scripts(HIDDEN_FOG)).unwrap();
    assert_eq!(word(lump(&built.bsp, Lump::Fogs), 68), 5);
    let mut archive = zip::ZipArchive::new(std::io::Cursor::new(built.pk3)).unwrap();
    let mut script = String::new();
    archive.by_name("scripts/room.shader").unwrap().read_to_string(&mut script).unwrap();
    assert!(script.contains("fogparms ( .5 .4 .3 ) 300"), "{script}");
}

#[test]
fn fogs_that_clients_cannot_draw_are_reported() {
    let text = foggy_room();
    for parms in ["", "fogparms .5 .4 .3 300", "fogparms ( .5 .4 x ) 300", "fogparms ( .5 .4 .3 )"]
    {
        let script = FOG.replace("fogparms ( .5 .4 .3 ) 300", parms);
        let built = compile("room", text.as_bytes(), &scripts(&script)).unwrap();
        assert!(lump(&built.bsp, Lump::Fogs).is_empty(), "{parms}");
        let told = built.warnings.iter().map(ToString::to_string).collect::<String>();
        let expected = "fog is not drawn: shader \"textures/room/fog\" without usable fogparms";
        assert!(told.contains(expected), "{parms}: {told}");
    }
    let mut world = walls();
    for at in 0..33 {
        let x = 12 * at - 200;
        world.push(brush([x, 0, 0], [x + 8, 8, 8], "room/fog"));
    }
    let text = source(&world, SPAWN);
    let built = compile("room", text.as_bytes(), &scripts(FOG)).unwrap();
    assert_eq!(lump(&built.bsp, Lump::Fogs).len(), 31 * 72);
    let told = built.warnings.iter().map(ToString::to_string).collect::<String>();
    assert_eq!(told.matches("too many fogs").count(), 2, "{told}");
    assert!(told.contains("fog with 6 open sides"), "{told}");
}

/// A floor plate whose first face is solid, and others not.
fn mixed_plate() -> String {
    let plate = brush([-64, -64, -128], [64, 64, -120], "common/nodraw");
    plate.replacen("common/nodraw", "common/caulk", 1)
}

#[test]
fn mixed_brushes_follow_the_rule_of_the_key() {
    let mut world = walls();
    world.extend([mixed_plate(), mixed_plate()]);
    let text = source(&world, SPAWN);
    let solid = |text: &str| {
        let map = Bsp::load(&compile("room", text.as_bytes(), &[]).unwrap().bsp).unwrap();
        let brushes =
            map.brushes.iter().filter(|brush| map.shaders[brush.shader].contents & 1 != 0);
        brushes.count()
    };
    let told = warnings(&text);
    assert_eq!(solid(&text), 6);
    assert!(
        told.starts_with("room.map:51: brushes with faces of different contents: 2, "),
        "{told}"
    );
    let first = text.replacen('\n', "\n\"_contents\" \"First\"\n", 1);
    assert_eq!((solid(&first), warnings(&first).as_str()), (8, ""));
    let strongest = text.replacen('\n', "\n\"_contents\" \"strongest\"\n", 1);
    assert_eq!((solid(&strongest), warnings(&strongest).as_str()), (6, ""));
    let other = text.replacen('\n', "\n\"_contents\" \"last\"\n", 1);
    assert!(warnings(&other).contains("unusable _contents: \"last\""));
}

#[test]
fn invalid_and_missing_origins_are_warned_of() {
    let told = |origin: &str| {
        let spawn = format!("{{\n\"classname\" \"info_player_deathmatch\"\n{origin}}}\n");
        warnings(&source(&walls(), &(SPAWN.to_owned() + &spawn)))
    };
    assert_eq!(told("\"origin\" \"64 0 -200\"\n"), "");
    let invalid = told("\"origin\" \"a b c\"\n");
    assert!(invalid.contains("unusable origin of info_player_deathmatch: \"a b c\""));
    assert!(told("").contains("info_player_deathmatch without a position"));
}

#[test]
fn entities_of_other_compilers_are_left_out_by_name() {
    let entity = |class: &str, rest: &str| format!("{{\n\"classname\" \"{class}\"\n{rest}}}\n");
    let decal = brush([0; 3], [8; 3], "room/wall");
    let entities = [
        SPAWN.to_owned(),
        entity("_decal", &decal),
        entity("misc_model", "\"spawnflags\" \"2\"\n"),
        entity("misc_model", "\"spawnflags\" \"4\"\n"),
        entity("_skybox", ""),
    ];
    let text = source(&walls(), &entities.concat());
    let built = compile("room", text.as_bytes(), &[]).unwrap();
    let map = Bsp::load(&built.bsp).unwrap();
    assert_eq!(map.models.len(), 1);
    let text = String::from_utf8_lossy(&map.entity_text).into_owned();
    assert_eq!(text.matches("classname").count(), 2, "{text}");
    let told = built.warnings.iter().map(|one| format!("{one}\n")).collect::<String>();
    for expected in [
        "room.map:56: _decal entities left out: 1, ",
        "_skybox entities left out: 1, ",
        "misc_model entities left out: 2, the first one here; they are not drawn, and 1 solid ones",
    ] {
        assert!(told.contains(expected), "{told}");
    }
}
