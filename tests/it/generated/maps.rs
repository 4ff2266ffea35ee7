//! Generated map sources: each dialect of editors builds to the map that it describes.
//!
//! Broken sources name file and line.

use fragd::{
    bg::items::ITEMS,
    mapbuild::{self, BuildError, Built, Effort, Source},
    world::{Bsp, MapEntities},
};

use super::{
    map_text::{Faces, MapText, brush},
    pick, seeds,
};

/// Part of a source: a name for failures, and what it adds.
type MapPart = (&'static str, fn(&mut MapText));

const PARTS: &[MapPart] = &[
    ("block", |map| {
        let (mins, maxs) = map.block();
        map.add_brush(mins, maxs, "common/caulk");
    }),
    ("detail block", |map| {
        let (mins, maxs) = map.block();
        let form = *pick(&mut map.rng, &[Faces::Classic, Faces::Valve, Faces::Primitive]);
        map.world += &brush(form, mins, maxs, "common/caulk", true);
        map.expected.brushes += 1;
    }),
    ("numbers with fractions and exponents", |map| {
        let [x, y, z] = map.cell();
        let text =
            brush(Faces::Classic, [x, y, z], [x + 16, y + 16, z + 16], "common/caulk", false);
        let form = *pick(&mut map.rng, &[".0", ".000000", "e0", "E+00", "."]);
        let numbers = text.split(' ').map(|word| match word.parse::<i32>() {
            Ok(0) => "-0".to_owned(),
            Ok(number) => format!("{number}{form}"),
            Err(_) => word.to_owned(),
        });
        map.world += &numbers.collect::<Vec<_>>().join(" ");
        map.expected.brushes += 1;
    }),
    ("names in other forms", |map| {
        let (mins, maxs) = map.block();
        let names =
            ["COMMON/Caulk", "textures/common/caulk", "common\\caulk", "Textures\\Common/CAULK"];
        let name = *pick(&mut map.rng, &names);
        map.add_brush(mins, maxs, name);
    }),
    ("odd names, and an image that is missing", |map| {
        let (mins, maxs) = map.block();
        let number = map.expected.warnings.len();
        let begin =
            *pick(&mut map.rng, &["+0lamp", "{fence", "*water", "wall-1.5_b", "(c)", "a'b&c"]);
        // Parentheses are tokens of their own.
        let begin = begin.trim_matches(['(', ')']);
        let name = format!("field/{begin}{number}");
        map.add_brush(mins, maxs, &name);
        map.expected.warnings.push(format!("image missing: textures/{name};"));
    }),
    ("comments", |map| {
        let (mins, maxs) = map.block();
        let text = brush(Faces::Classic, mins, maxs, "common/caulk", false);
        map.world += "// brush 7 { ( 0 0 0 ) \"\n/* { \" */\n";
        map.world += &text.replacen(" 0 0 0\n", " 0 0 0 // }\n", 3);
        map.expected.brushes += 1;
    }),
    ("patch", |map| {
        let [x, y, z] = map.cell();
        let (columns, rows) = (3 + 2 * map.below(3), 3 + 2 * map.below(2));
        let mut text = format!("{{\npatchDef2\n{{\ncommon/caulk\n( {columns} {rows} 0 0 0 )\n(\n");
        for column in 0..columns {
            text += "( ";
            for row in 0..rows {
                text += &format!("( {} {} {} 0 0.5 ) ", x + 8 * column, y, z + 8 + 8 * row);
            }
            text += ")\n";
        }
        map.world += &(text + ")\n}\n}\n");
        map.expected.patches += 1;
    }),
    ("group", |map| {
        let (mins, maxs) = map.block();
        let text = brush(Faces::Valve, mins, maxs, "common/caulk", false);
        map.entity("func_group", &text);
        map.expected.brushes += 1;
    }),
    ("layer of TrenchBroom", |map| {
        let (mins, maxs) = map.block();
        let text = brush(Faces::Classic, mins, maxs, "common/caulk", false);
        let keys = "\"_tb_type\" \"_tb_layer\"\n\"_tb_name\" \"walls\"\n\"_tb_id\" \"900\"\n";
        map.entity("func_group", &format!("{keys}{text}"));
        map.expected.brushes += 1;
    }),
    ("layer that is omitted from export", |map| {
        let (mins, maxs) = map.block();
        let id = map.expected.omitted.len();
        let text = brush(Faces::Classic, mins, maxs, "common/caulk", false);
        let keys = format!(
            "\"_tb_type\" \"_tb_layer\"\n\"_tb_name\" \"off {id}\"\n\"_tb_id\" \"{id}\"\n\
             \"_tb_layer_omit_from_export\" \"1\"\n"
        );
        map.entity("func_group", &format!("{keys}{text}"));
        map.entity("item_quad", &format!("\"origin\" \"64 64 64\"\n\"_tb_layer\" \"{id}\"\n"));
        map.expected.omitted.push(format!("off {id}"));
    }),
    ("item", |map| {
        let [x, y, z] = map.cell();
        let class = *pick(
            &mut map.rng,
            &["item_health", "weapon_railgun", "ITEM_ARMOR_SHARD", "ammo_shells"],
        );
        map.entity(class, &format!("\"origin\" \"{x} {y} {}.5\"\n", z + 16));
        map.expected.items += 1;
    }),
    ("item in a wall", |map| {
        let [x, y, z] = map.cell();
        map.entity("weapon_bfg", &format!("\"origin\" \"{x} {y} {}\"\n", z + 2));
        map.expected.items += 1;
        map.expected.warnings.push("weapon_bfg in solid".to_owned());
    }),
    ("suspended item in a wall", |map| {
        let [x, y, z] = map.cell();
        let rest = format!("\"spawnflags\" \"1\"\n\"origin\" \"{x} {y} {}\"\n", z + 2);
        map.entity("item_haste", &rest);
        map.expected.items += 1;
    }),
    ("spawn points", |map| {
        let [x, y, z] = map.cell();
        let class = *pick(&mut map.rng, &["info_player_start", "team_CTF_redspawn"]);
        map.entity(class, &format!("\"Origin\" \"{x}  {y} {}\"\n\"angle\" \"-0\"\n", z + 30));
        map.expected.spawns += 1;
    }),
    ("light with a color", |map| {
        let [x, y, z] = map.cell();
        map.entity(
            "light",
            &format!("\"origin\" \"{x} {y} {}\"\n\"_color\" \".5 1 0\"\n", z + 100),
        );
    }),
    ("mover with an origin brush", |map| {
        let (mins, maxs) = map.block();
        let body = brush(Faces::Primitive, mins, maxs, "common/caulk", false);
        let center = [0, 1, 2].map(|k| (mins[k] + maxs[k]) / 2);
        let corner = |by: i32| center.map(|part| part + by);
        let origin = brush(Faces::Valve, corner(-4), corner(4), "common/origin", false);
        map.entity("func_rotating", &format!("{body}{origin}"));
        map.expected.brushes += 1;
        map.expected.models += 1;
        let [x, y, z] = center;
        map.expected.pairs.push(("origin".to_owned(), format!("{x} {y} {z}")));
    }),
    ("trigger with a target", |map| {
        let (mins, maxs) = map.block();
        let body = brush(Faces::Short, mins, maxs, "common/trigger", false);
        map.entity("trigger_push", &format!("\"target\" \"Top\"\n{body}"));
        map.entity("target_position", "\"targetname\" \"top\"\n\"origin\" \"300 300 200\"\n");
        map.expected.brushes += 1;
        map.expected.models += 1;
    }),
    ("target that is missing", |map| {
        let number = map.expected.warnings.len();
        map.entity("target_relay", &format!("\"target\" \"none{number}\"\n"));
        map.expected
            .warnings
            .push(format!("target of target_relay does not exist: \"none{number}\""));
    }),
    ("hint", |map| {
        let (mins, maxs) = map.block();
        map.world += &brush(Faces::Classic, mins, maxs, "common/hint", false);
    }),
    ("brush without volume", |map| {
        let (mins, mut maxs) = map.block();
        maxs[2] = mins[2];
        map.world += &brush(Faces::Short, mins, maxs, "common/caulk", false);
        // Faces with their points on one line, then two back to back.
        map.expected.warnings.extend(["face dropped"; 4].map(str::to_owned));
        map.expected.warnings.push("brush dropped".to_owned());
    }),
    ("face twice", |map| {
        let (mins, maxs) = map.block();
        let text = brush(Faces::Classic, mins, maxs, "common/caulk", false);
        let face = text.lines().nth(1).unwrap_or_default().to_owned();
        map.world += &text.replacen(&face, &format!("{face}\n{face}"), 1);
        map.expected.brushes += 1;
        map.expected.warnings.push("face dropped: same plane".to_owned());
    }),
    ("faces of two kinds", |map| {
        if map.expected.warnings.iter().any(|known| known.starts_with("brushes with faces")) {
            return;
        }
        let (mins, maxs) = map.block();
        let text = brush(Faces::Short, mins, maxs, "common/caulk", false);
        map.world += &text.replacen("caulk 16 -8 45 1 1\n}", "clip 16 -8 45 1 1\n}", 1);
        map.expected.brushes += 1;
        map.expected.warnings.push("brushes with faces of different contents: 1".to_owned());
    }),
    ("keys with blanks and slashes", |map| {
        let value = *pick(&mut map.rng, &["it's // no comment", " { ", "a  b\\c", "( 1 2 )"]);
        let [x, y, z] = map.cell();
        map.entity(
            "target_location",
            &format!("\"my key\" \"{value}\"\n\"origin\" \"{x} {y} {}\"\n\"_own\" \"x\"\n", z + 64),
        );
        map.expected.pairs.push(("my key".to_owned(), value.to_owned()));
    }),
    ("entity of another compiler", |map| {
        if map.entities.contains("_decal") {
            return;
        }
        let (mins, maxs) = map.block();
        map.entity("_decal", &brush(Faces::Classic, mins, maxs, "common/caulk", false));
        map.expected.warnings.push("_decal entities left out: 1".to_owned());
    }),
    ("hole in a wall", |map| {
        if map.expected.leak {
            return;
        }
        // The first brush is the wall in the west.
        let end = map.world.find("}\n{").unwrap_or(0) + 2;
        map.world.drain(..end);
        map.expected.brushes -= 1;
        map.expected.leak = true;
        map.expected.warnings.push("map is not closed: ".to_owned());
    }),
];

/// Form of a whole file: a name for failures, and what it changes.
type FileForm = (&'static str, fn(String) -> String);

/// Forms of a whole file, all with the same meaning.
const FORMS: &[FileForm] = &[
    ("plain", |text| text),
    ("CRLF", |text| text.replace('\n', "\r\n")),
    ("byte order mark", |text| format!("\u{feff}{text}")),
    ("header of an editor", |text| {
        format!("// Game: Quake 3\n// Format: Quake3 (Valve)\n// entity 0\n{text}")
    }),
    ("tabs", |text| text.replace(" ( ", "\t(\t").replace("\n\"", "\n\t\t\"")),
    ("blank lines and blanks at ends", |text| text.replace('\n', " \n \n")),
    ("no line end", |text| text.trim_end().to_owned()),
    ("zero byte at the end", |text| text + "\0"),
    ("keys in capitals", |text| text.replace("\"classname\"", "\"ClassName\"")),
];

/// A source of some dialects, and a name for failures.
fn generated(seed: u64) -> (MapText, String, String) {
    let mut map = MapText::new(seed);
    let form = *pick(&mut map.rng, FORMS);
    let mut names = format!("seed {seed}: {}", form.0);
    for _ in 0..1 + map.below(16) {
        if map.is_full() {
            break;
        }
        let part = *pick(&mut map.rng, PARTS);
        (part.1)(&mut map);
        names += &format!(", {}", part.0);
    }
    let text = (form.1)(map.text());
    (map, text, names)
}

fn build(text: &[u8], effort: Effort) -> Result<Built, BuildError> {
    let source = Source {
        name: "field",
        file: "field.map",
        text,
        scripts: &[],
        files: &|_| None,
        game: None,
        effort,
        threads: 1,
    };
    mapbuild::build(&source, &mut |_, _, _| {})
}

fn is_item(class: &str) -> bool {
    ITEMS.iter().skip(1).any(|item| item.class.eq_ignore_ascii_case(class))
}

fn is_spawn(class: &str) -> bool {
    let class = class.to_ascii_lowercase();
    class.starts_with("info_player_") || class.starts_with("team_ctf_")
}

#[test]
fn generated_sources_build_to_what_they_describe() {
    for seed in seeds(150) {
        let (MapText { expected, .. }, text, what) = generated(seed);
        let effort = if seed % 10 == 0 { Effort::Fast } else { Effort::Dark };
        let built =
            build(text.as_bytes(), effort).unwrap_or_else(|error| panic!("{what}: {error}"));
        let map = Bsp::load(&built.bsp).unwrap_or_else(|error| panic!("{what}: {error}"));
        assert!(map.warnings.is_empty(), "{what}: {:?}", map.warnings);
        let entities = MapEntities::parse(&map.entity_text).unwrap();
        let count = |is: fn(&str) -> bool| {
            entities.all().iter().filter(|entity| is(entity.classname())).count()
        };
        let patches = map.surfaces.iter().filter(|surface| surface.patch.is_some()).count();
        assert_eq!(
            (count(is_item), count(is_spawn), map.brushes.len(), map.models.len(), patches),
            (expected.items, expected.spawns, expected.brushes, expected.models, expected.patches),
            "items, spawn points, brushes, models, patches of {what}"
        );
        assert_eq!(built.leak.is_some(), expected.leak, "{what}");
        assert_eq!(built.omitted_layers, expected.omitted, "{what}");
        for (key, value) in &expected.pairs {
            let has = |pair: (&str, &str)| pair == (key.as_str(), value.as_str());
            let found = entities.all().iter().any(|entity| entity.pairs().any(has));
            assert!(found, "{key:?} {value:?} of {what}");
        }
        let mut told: Vec<_> = built.warnings.iter().map(ToString::to_string).collect();
        for warning in &expected.warnings {
            let at = told.iter().position(|told| told.contains(warning.as_str()));
            let at = at.unwrap_or_else(|| panic!("{warning:?} of {what} in {told:#?}"));
            told.remove(at);
        }
        assert!(told.is_empty(), "{what}: {told:#?}");
    }
}

/// Damage of a line: its name, what the line contains, and how it changes.
type Damage = (&'static str, &'static str, fn(&str) -> String);

const DAMAGES: &[Damage] = &[
    ("word for a coordinate", "( ", |line| line.replacen("( ", "( x", 1)),
    ("no number", "( ", |line| line.replacen("( ", "( nan ", 1)),
    ("coordinate far outside", "( ", |line| line.replacen("( ", "( 99999999 ", 1)),
    ("four coordinates", "( ", |line| line.replacen("( ", "( 8 ", 1)),
    ("parenthesis lost", ") common/", |line| line.replacen(") common/", " common/", 1)),
    ("texture outside", "common/", |line| line.replacen("common/", "../common/", 1)),
    ("texture too long", "common/", |line| line.replacen("common/", &"long".repeat(20), 1)),
    ("bare key", "\"classname\"", |line| line.replacen("\"classname\"", "classname", 1)),
    ("bare value", "\"origin\" \"", |line| line.replace("\"origin\" \"", "\"origin\" ")),
    ("quote lost", "\"origin\" \"", |line| line.trim_end().trim_end_matches('"').to_owned()),
    ("patch of another kind", "patchDef2", |_| "patchDef3".to_owned()),
    ("terrain", "patchDef2", |_| "terrainDef".to_owned()),
    ("brush of another kind", "brushDef", |_| "brushDef3".to_owned()),
    ("patch of an even size", "( 3 3 0 0 0 )", |_| "( 4 3 0 0 0 )".to_owned()),
    ("key too long", "\"classname\"", |line| {
        line.replace("\"classname\"", &format!("\"{}\"", "k".repeat(2000)))
    }),
];

#[test]
fn damaged_sources_name_file_and_line() {
    let mut damaged = [0; DAMAGES.len()];
    for seed in seeds(150) {
        let (mut map, text, what) = generated(seed);
        let lines: Vec<&str> = text.lines().collect();
        for (number, damage) in DAMAGES.iter().enumerate() {
            let is_hit = |line: &str| {
                line.contains(damage.1) && !line.contains("//") && !line.contains("my key")
            };
            let hits: Vec<usize> = (0..lines.len()).filter(|&at| is_hit(lines[at])).collect();
            if hits.is_empty() {
                continue;
            }
            let at = *pick(&mut map.rng, &hits);
            let mut broken: Vec<String> = lines.iter().map(|&line| line.to_owned()).collect();
            broken[at] = damage.2(lines[at]);
            let name = format!("{} in line {} of {what}", damage.0, at + 1);
            let error = match build(broken.join("\n").as_bytes(), Effort::Dark) {
                Ok(_) => panic!("{name} was built"),
                Err(error) => error.to_string(),
            };
            let place = format!("field.map:{}: ", at + 1);
            let next = format!("field.map:{}: ", at + 2);
            assert!(error.starts_with(&place) || error.starts_with(&next), "{name}: {error}");
            assert!(error.lines().all(|line| line.contains('(')), "{name}: {error}");
            damaged[number] += 1;
        }
    }
    if std::env::var("FRAGD_SEED").is_err() {
        assert!(damaged.iter().all(|&count| count > 2), "{damaged:?}");
    }
}

#[test]
fn changed_sources_are_built_or_rejected_with_a_place() {
    for seed in seeds(120) {
        let (mut map, text, what) = generated(seed);
        let mut bytes = text.into_bytes();
        for _ in 0..1 + map.below(4) {
            let at = map.rng.below(bytes.len() as u64) as usize;
            match map.below(4) {
                0 => bytes.truncate(at.max(1)),
                1 => drop(bytes.remove(at)),
                2 => bytes.insert(at, *pick(&mut map.rng, b"{}()\"/ \n9-.x")),
                _ => bytes[at] = *pick(&mut map.rng, b"{}()\"/ \n9-.x\0\xff"),
            }
            if bytes.is_empty() {
                break;
            }
        }
        match build(&bytes, Effort::Dark) {
            Ok(built) => assert!(Bsp::load(&built.bsp).is_ok(), "{what}"),
            Err(error) => {
                let text = error.to_string();
                let has_place = |line: &str| line.starts_with("field.map:");
                assert!(!text.is_empty() && text.lines().all(has_place), "{what}: {text}");
            }
        }
    }
}
