//! Broken sources: every problem with its line, each once.

use fragd::mapbuild::shaders;
use fragd::testing::generated_maps::box_brush as brush;

use super::{
    compile,
    sources::{SPAWN, source, walls, warnings},
};

fn failure(text: &str) -> String {
    compile("room", text.as_bytes(), &[]).unwrap_err().to_string()
}

/// Asserts that these are all problems of a source, by the begins of their lines.
#[track_caller]
fn assert_problems(text: &str, expected: &[&str]) {
    let told = failure(text);
    let lines: Vec<&str> = told.lines().collect();
    assert_eq!(lines.len(), expected.len(), "{told}");
    for (line, expected) in lines.iter().zip(expected) {
        assert!(line.starts_with(expected), "{expected:?} is not in\n{told}");
    }
}

#[test]
fn all_problems_of_a_source_are_reported_at_once() {
    let wall = brush([0; 3], [8; 3], "common/caulk");
    let world = [
        wall.replace("( 8 0 0 )", "( 8 0 x )"),
        wall.clone(),
        wall.replacen("0.5 0.5", "0.5 up", 1),
        "{\npatchDef3\n{\n( 1 2 )\n}\n}\n".to_owned(),
        // The brace at the end is missing.
        wall.trim_end().trim_end_matches('}').to_owned(),
        wall.clone(),
    ];
    let spawn = SPAWN.replacen("\"info_player_deathmatch\"", "info_player_deathmatch", 1);
    let text = failure(&source(&world, &spawn));
    let lines: Vec<&str> = text.lines().collect();
    let expected = [
        "room.map:5: unusable coordinate: \"x\"",
        "room.map:6: unusable coordinate: \"x\"",
        "room.map:8: unusable coordinate: \"x\"",
        "room.map:20: unusable texture scale: \"up\"",
        "room.map:28: unsupported primitive: \"patchDef3\"",
        "room.map:40: unexpected \"{\" (expected '(' of a face or '}' of the brush)",
        "room.map:50: unexpected \"info_player_deathmatch\" after key",
    ];
    assert_eq!(lines.len(), expected.len(), "{text}");
    for (line, expected) in lines.iter().zip(expected) {
        assert!(line.starts_with(expected), "{text}");
    }
}

#[test]
fn missing_brace_before_a_brush_is_one_error() {
    let wall = brush([0; 3], [8; 3], "common/caulk");
    let world = [wall.trim_start_matches('{').trim_start().to_owned(), wall];
    let text = failure(&source(&world, SPAWN));
    assert_eq!(text.lines().count(), 1, "{text}");
    assert!(text.contains("unexpected \"(\" (expected '{' before a brush)"), "{text}");
}

#[test]
fn broken_sources_name_the_line_and_the_remedy() {
    let cases = [
        (
            "{\n\"classname\" \"worldspawn\"\n{\nbrushDef3\n{\n}\n}\n}",
            "room.map:4: unsupported primitive: \"brushDef3\" (save",
        ),
        (
            "{\n\"classname\" \"worldspawn\"\n{\n( 0 0 x )",
            "room.map:4: unusable coordinate: \"x\" (expected a number)",
        ),
        ("{\n\"classname\" worldspawn\n}", "room.map:2: unexpected \"worldspawn\" after key"),
        ("{\n\"classname\" \"worldspawn\"\n", "room.map:3: source ends early"),
        ("{\n\"classname\" \"light\"\n}\n", "room.map:1: first entity is not worldspawn"),
        (" \n", "room.map: source is empty (expected {"),
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
        (
            "a/b\n{\nq3map_sun 1 1 1 100 0\n}\n",
            "x.shader:3: unusable value of q3map_sun: \"1 1 1 100 0\" (expected 6 numbers)",
        ),
        ("a/b\n{\nq3map_sun\n}\n", "x.shader:3: unusable value of q3map_sun: nothing"),
        ("}\n", "x.shader:1: unexpected \"}\""),
        ("a/b { }\n\"\" { map a }\n", "x.shader:2: shader without a name"),
        ("a/b {\nqer_editorimage \"\"\n}\n", "x.shader:2: qer_editorimage without a file"),
    ];
    for (text, expected) in cases {
        let error = shaders::read("x.shader", text.as_bytes()).unwrap_err().to_string();
        assert!(error.starts_with(expected), "{error}");
    }
}

/// A brush with a problem in each face.
#[test]
fn each_face_of_a_brush_has_its_error() {
    let wall = brush([0; 3], [8; 3], "arena/wall");
    let mut lines: Vec<String> = wall.lines().map(str::to_owned).collect();
    lines[1] = lines[1].replacen("( 0", "( zero", 1);
    lines[2] = lines[2].replacen("( ", "", 1);
    lines[3] = lines[3].replace("arena/wall", "arena\\\\wall");
    lines[4] = lines[4].replace("arena/wall", "my wall");
    lines[5] = lines[5].replace(" 0.5 0.5 0 0 0", " 0.5");
    lines[6] = lines[6].replacen("( 0", "( 1 2 3", 1).replace("arena/wall", "arena/w\u{e4}nd");
    let world = [lines.join("\n") + "\n", wall.replace("0.5 0.5", "0.5 wide")];
    let text = source(&world, SPAWN);
    let told = failure(&text);
    let expected = [
        "room.map:4: unusable coordinate: \"zero\"",
        "room.map:5: unexpected ",
        "room.map:6: texture name has an empty part between or behind slashes: ",
        "room.map:7: texture name contains a space: \"my wall\" (expected folder/name without spaces)",
        "room.map:8: line ends early (expected texture scale)",
        "room.map:9: unexpected \"0\" (expected ')'",
        "room.map:12: unusable texture scale: \"wide\"",
        "room.map:13: unusable texture scale: \"wide\"",
    ];
    for (line, expected) in told.lines().zip(expected) {
        assert!(line.starts_with(expected), "{expected:?} is not in\n{told}");
    }
    assert_eq!(told.lines().count(), 7 + 5, "{told}");
}

#[test]
fn braces_too_many_or_missing_are_one_error() {
    let wall = brush([0; 3], [8; 3], "common/caulk");
    let open = wall.trim_end().trim_end_matches('}').to_owned();
    let entity = SPAWN.trim_end().trim_end_matches('}').to_owned();
    let bad = "{\n\"classname\" light\n}\n";
    let bad_light = "unexpected \"light\" after key";
    // A brush and an entity that are not closed.
    let text = source(&[open, wall.clone()], &format!("{entity}{bad}"));
    let light = text.lines().position(|line| line.contains("light")).unwrap() + 1;
    let bad_light = format!("room.map:{light}: {bad_light}");
    let entity = format!("room.map:{}: entity that begins in line 19 is not closed", light - 1);
    assert_problems(&text, &["room.map:10: unexpected \"{\"", &entity, &bad_light]);
    // A brace too many behind a brush, and behind an entity.
    let text = source(&[format!("{wall}}}\n"), wall], &format!("}}\n{SPAWN}{bad}"));
    let light = text.lines().position(|line| line.contains("light")).unwrap() + 1;
    let bad_light = format!("room.map:{light}: unexpected \"light\"");
    let expected = [
        "room.map:12: brush or key outside an entity: line 11 closed the entity before it (expected '{'",
        "room.map:21: unexpected \"}\" (expected '{' before an entity)",
        &bad_light,
    ];
    assert_problems(&text, &expected);
}

#[test]
fn entities_are_checked_beside_a_brush_with_an_error() {
    let world = [brush([0; 3], [8; 3], "common/caulk").replace("0.5 0.5", "0.5 up")];
    let door = "{\n\"classname\" \"func_dor\"\n\"target\" \"none\"\n\"wait\" \"long\"\n}\n{\n\"a\" \"b\"\n}\n";
    let text = source(&world, &format!("{SPAWN}{door}"));
    let failed = compile("room", text.as_bytes(), &[]).unwrap_err();
    let errors: Vec<_> = failed.errors.iter().map(ToString::to_string).collect();
    assert_eq!(errors.len(), 7, "{errors:?}");
    assert!(errors[6].starts_with("room.map:21: entity without a class"), "{errors:?}");
    let told: Vec<_> = failed.warnings.iter().map(ToString::to_string).collect();
    for expected in [
        "room.map:17: unknown class: \"func_dor\" (expected \"func_door\")",
        "room.map:19: unusable wait of func_dor: \"long\" (expected a number of seconds)",
        "room.map:18: target of func_dor does not exist: \"none\" (expected",
    ] {
        assert!(told.iter().any(|line| line.starts_with(expected)), "{told:?}");
    }
    // Nothing is said about a world that is not closed without the brush.
    assert_eq!(told.len(), 3, "{told:?}");
}

#[test]
fn brushless_door_and_nonsense_keys_are_warnings() {
    let door = "{\n\"classname\" \"func_door\"\n}\n";
    let text = source(&walls(), &format!("{SPAWN}{door}"));
    let text = text.replacen("\"worldspawn\"\n", "\"worldspawn\"\n\"ambient\" \"dark\"\n", 1);
    let told = warnings(&text);
    assert!(
        told.contains("room.map:3: unusable ambient of worldspawn: \"dark\" (expected"),
        "{told}"
    );
    assert!(told.contains(": func_door without brushes (expected brushes that"), "{told}");
    assert_eq!(told.lines().count(), 2, "{told}");
}

#[test]
fn files_that_are_not_text_are_one_error() {
    let text = source(&walls(), SPAWN);
    let wide: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
    let elf = [b"\x7fELF\x02\x01\x01\0".as_slice(), &[0; 200], b"{\n}\n{"].concat();
    for (bytes, expected) in [
        (wide, "room.map: source is text in UTF-16, little endian (expected text in UTF-8"),
        (elf, "room.map: source is a program (ELF) (expected text"),
    ] {
        let told = compile("room", &bytes, &[]).unwrap_err().to_string();
        assert!(told.starts_with(expected) && told.lines().count() == 1, "{told}");
        let scripts = [("room.shader".to_owned(), bytes)];
        let told = compile("room", text.as_bytes(), &scripts).unwrap_err().to_string();
        let expected = expected.replacen("room.map", "room.shader", 1);
        assert!(told.starts_with(&expected) && told.lines().count() == 1, "{told}");
    }
}

#[test]
fn each_shader_of_a_script_has_its_error() {
    let script = "\
textures/a/open
{
    surfaceparm water
textures/a/sun
{
    q3map_sun 1 bright
    q3map_surfacelight much
}
textures/a/none
    surfaceparm lava
    { map $lightmap }
}
}
textures/a/stage
{
    {
        map a.tga
    {
        map b.tga
    }
}
textures/a/right
{
    surfaceparm slime
}
textures/a/joined{
    surfaceparm lava
}
textures/a/end
{
";
    let errors = shaders::read("x.shader", script.as_bytes()).unwrap_err().to_string();
    let expected = [
        "x.shader:1: shader \"textures/a/open\" is not closed (expected '}' before line 4)",
        "x.shader:6: unusable value of q3map_sun: \"bright\" (expected 6 numbers)",
        "x.shader:7: unusable value of q3map_surfacelight: \"much\" (expected 1 number)",
        "x.shader:10: no '{' after the shader name \"textures/a/none\"",
        "x.shader:13: unexpected \"}\" (expected the name of a shader)",
        "x.shader:18: '{' inside a stage (expected '}' of the stage first)",
        "x.shader:26: no space between shader name and brace: \"textures/a/joined{\"",
        "x.shader:29: shader \"textures/a/end\" is not closed (expected '}' before the end)",
    ];
    let told: Vec<&str> = errors.lines().collect();
    assert_eq!(told.len(), expected.len(), "{errors}");
    for (line, expected) in told.iter().zip(expected) {
        assert!(line.starts_with(expected), "{expected:?} is not in\n{errors}");
    }
    // A map tells all of them, and does not miss the images of these shaders.
    let scripts = [("x.shader".to_owned(), script.as_bytes().to_vec())];
    let text = source(&[walls(), vec![brush([0; 3], [8; 3], "a/open")]].concat(), SPAWN);
    let failed = compile("room", text.as_bytes(), &scripts).unwrap_err();
    assert_eq!(failed.errors.len(), expected.len(), "{failed}");
    assert_eq!(failed.warnings, []);
}

#[test]
fn open_comment_is_the_only_error() {
    for script in ["/* a\ntextures/a/b\n{\n}\n", "textures/a/b\n{\n/* {\n}\n"] {
        let line = script.lines().position(|line| line.contains("/*")).unwrap() + 1;
        let told = shaders::read("x.shader", script.as_bytes()).unwrap_err().to_string();
        assert_eq!(told, format!("x.shader:{line}: comment not closed (expected */ at its end)"));
    }
    let text = source(&walls(), &format!("/*\n{SPAWN}"));
    assert_problems(&text, &["room.map:52: comment not closed (expected */"]);
}

#[test]
fn problem_of_many_primitives_is_one_error() {
    let wall = brush([0; 3], [8; 3], "my wall");
    let text = source(&[wall.clone(), wall], SPAWN);
    assert_problems(&text, &["room.map:4: texture name contains a space: \"my wall\""]);
    let many = [walls(), vec![PATCH.to_owned(); 8300]].concat();
    let told = failure(&source(&many, SPAWN));
    assert_eq!(told.matches("too many").count(), 1, "{told}");
    assert!(told.contains(": too many patches (max 8192)"), "{told}");
}

#[test]
fn shaders_beyond_what_clients_draw_are_warned_of() {
    let shader =
        |stages| format!("textures/a/b\n{{\n{}}}\n", "{\nmap $lightmap\n}\n".repeat(stages));
    let typo = "textures/a/c\n{\nq3map_surfacelite 300\n}\n";
    let told = |script: String| {
        let scripts = [("x.shader".to_owned(), script.into_bytes())];
        let built = compile("room", source(&walls(), SPAWN).as_bytes(), &scripts).unwrap();
        let lines = built.warnings.iter().map(ToString::to_string);
        lines.filter(|line| line.starts_with("x.shader")).collect::<Vec<_>>()
    };
    assert_eq!(told(shader(8)), [""; 0]);
    assert_eq!(
        told(shader(9) + typo),
        [
            "x.shader:1: shader \"textures/a/b\" has 9 stages (expected at most 8, as clients draw)",
            "x.shader:33: unknown keyword: \"q3map_surfacelite\" has no effect (expected \"q3map_surfacelight\")",
        ]
    );
}

#[test]
fn missing_images_are_all_reported() {
    let mut world = walls();
    world.extend((0..30).map(|x| brush([8 * x, 0, 0], [8 * x + 8, 8, 8], &format!("lab/{x}"))));
    let told = warnings(&source(&world, SPAWN));
    assert_eq!(told.matches("image missing: textures/lab/").count(), 30, "{told}");
}

/// A flat patch behind the opening brace of its entity.
const PATCH: &str = "{\npatchDef2\n{\ncommon/caulk\n( 3 3 0 0 0 )\n(\n\
    ( ( 0 0 0 0 0 ) ( 0 8 0 0 0 ) ( 0 16 0 0 0 ) )\n( ( 8 0 0 0 0 ) ( 8 8 0 0 0 ) ( 8 16 0 0 0 ) )\n\
    ( ( 16 0 0 0 0 ) ( 16 8 0 0 0 ) ( 16 16 0 0 0 ) )\n)\n}\n}\n";

#[test]
fn doubled_or_missing_opening_braces_are_one_error() {
    let (wall, text) = (brush([0; 3], [8; 3], "common/caulk"), source(&walls(), SPAWN));
    let doubled = "unexpected \"{\" (expected one '{' before";
    let patch = |from: &str, to: &str| {
        source(&[walls(), vec![PATCH.replacen(from, to, 1), wall.clone()]].concat(), SPAWN)
    };
    for (text, expected) in [
        (format!("{{\n{text}"), doubled),
        (text.replacen("{\n\"classname\"", "\"classname\"", 1), "key \"classname\" outside"),
        (text.replace("{\n\"classname\" \"info", "\"classname\" \"info"), "key \"classname\""),
        (text.replace("{\n\"classname\" \"info", "{\n{\n\"classname\" \"info"), doubled),
        (text.replace(SPAWN, &format!("{{\n{SPAWN}}}\n")), doubled),
        (patch("{\npatch", "{\n{\npatch"), doubled),
        (patch(PATCH, &format!("{{\n{PATCH}}}\n")), doubled),
        (patch("patchDef2\n{", "patchDef2\n"), "unexpected \"common/caulk\" (expected '{' after"),
    ] {
        let told = failure(&text);
        assert!(told.lines().count() == 1 && told.contains(expected), "{told}\nof\n{text}");
    }
}

#[test]
fn limits_of_the_result_name_line_and_remedy() {
    let door = |n: i32| {
        let [x, y] = [n % 20 * 16 - 160, n / 20 * 16 - 160];
        let brush = brush([x, y, 0], [x + 8, y + 8, 8], "common/caulk");
        format!("{{\n\"classname\" \"func_static\"\n{brush}}}\n")
    };
    let relay = "{\n\"classname\" \"target_relay\"\n}\n";
    let long =
        format!("{{\n\"classname\" \"target_relay\"\n\"message\" \"{}\"\n}}\n", "x".repeat(1000));
    let doors: String = (0..300).map(door).collect();
    for (entities, place, expected, remedy) in [
        (doors, "\"func_static\"", "too many entities with brushes: 300 (max 253;", "func_group"),
        (relay.repeat(1100), "", "too many entities for servers: 1102 ", "fewer entities"),
        (long.repeat(1020), "", "entities too long for servers: ", "shorter keys"),
    ] {
        let text = source(&walls(), &format!("{SPAWN}{entities}"));
        let told = failure(&text);
        assert!(told.contains(expected) && told.contains(remedy), "{told}");
        let line: usize =
            told.split(':').nth(1).unwrap().parse().unwrap_or_else(|_| panic!("{told}"));
        let lines: Vec<&str> = text.lines().collect();
        assert!(line > 60 && lines[line].contains(place), "{told}");
    }
}

#[test]
fn patch_too_fine_names_its_line() {
    let wave = |n: i32| {
        let point = |x: i32, y: i32| {
            let z = (x * 7919 + y * 104_729 + n) % 97;
            format!("( {} {} {z} 0 0 ) ", x * 13 - 200, y * 11 - 200)
        };
        let column = |x: i32| format!("( {})\n", (0..31).map(|y| point(x, y)).collect::<String>());
        let columns: String = (0..31).map(column).collect();
        format!("{{\npatchDef2\n{{\ncommon/caulk\n( 31 31 0 0 0 )\n(\n{columns})\n}}\n}}\n")
    };
    let text = source(&[walls(), vec![wave(0), wave(1)]].concat(), SPAWN);
    let told = failure(&text);
    let first = text.lines().position(|line| line == "patchDef2").unwrap();
    let expected = format!("room.map:{first}: patch too fine for engines: ");
    assert!(told.starts_with(&expected) && told.contains("(expected several smaller"), "{told}");
    assert_eq!(told.lines().count(), 2, "{told}");
}

#[test]
fn numbers_keys_and_names_without_effect_are_told() {
    let wall = brush([0; 3], [8; 3], "common/caulk");
    let far = wall.replacen("( 8 0 0 )", "( 8e9 0 0 )", 1);
    let told = failure(&source(&[far], SPAWN));
    assert!(told.contains("(expected a number from -1000000000 to 1000000000)"), "{told}");
    let keys: String = (0..70).map(|n| format!("\"key{n}\" \"1\"\n")).collect();
    let told =
        failure(&source(&walls(), &SPAWN.replacen("\"origin\"", &format!("{keys}\"origin\""), 1)));
    assert!(told.lines().count() == 1 && told.contains("too many keys"), "{told}");
    // A number of the texture is missing, and a second world.
    let world = [walls(), vec![wall.replacen("0.5 0.5 0 0 0", "0.5 0.5 0 0", 1)]].concat();
    let told = warnings(&source(&world, &format!("{SPAWN}{{\n\"classname\" \"worldspawn\"\n}}\n")));
    assert!(told.contains("room.map:52: face with 2 numbers behind its texture"), "{told}");
    assert!(told.contains(": second worldspawn has no effect"), "{told}");
    let script = "textures/a/b\n{\nsurfaceparm nonsold\nq3map_surfacelihgt 300\nsurfaceparm mine\ncull none\n}\n";
    let scripts = [("x.shader".to_owned(), script.as_bytes().to_vec())];
    let built = compile("room", source(&walls(), SPAWN).as_bytes(), &scripts).unwrap();
    let told: Vec<_> = built.warnings.iter().map(ToString::to_string).collect();
    let expected = [
        "x.shader:3: unknown surfaceparm: \"nonsold\" has no effect (expected \"nonsolid\")",
        "x.shader:4: unknown keyword: \"q3map_surfacelihgt\" has no effect (expected \"q3map_surfacelight\")",
    ];
    assert_eq!(told, expected);
}

#[test]
fn errors_beyond_the_limit_are_counted_per_file() {
    let script = format!("textures/a/b\n{{\n{}", "{\n".repeat(3000));
    let text = source(&walls(), SPAWN).replacen("\"worldspawn\"", "worldspawn", 1);
    let scripts = [("x.shader".to_owned(), script.into_bytes())];
    let told = compile("room", text.as_bytes(), &scripts).unwrap_err().to_string();
    let lines: Vec<&str> = told.lines().collect();
    // 2,999 braces inside a stage and the end.
    assert_eq!(lines[50..], ["room.map: 1 more error", "x.shader: 2950 more errors"], "{told}");
}

#[test]
fn lines_may_end_with_cr_alone() {
    let text = source(&walls(), SPAWN).replacen("\"0 0 -200\"", "0", 1);
    let [unix, mac, windows] = ["\n", "\r", "\r\n"].map(|end| failure(&text.replace('\n', end)));
    assert_eq!((&mac, &windows), (&unix, &unix));
    assert!(!unix.starts_with("room.map:1:"), "{unix}");
    let comment = failure(&format!("// a\r{}", text.replace('\n', "\r")));
    assert!(comment.lines().count() == 1, "{comment}");
}
