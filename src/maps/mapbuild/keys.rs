//! Values of entity keys that compiler and game read as numbers.
//!
//! The compiler takes its default in place of an unusable value, the game takes zero. Both are reported.

use super::{
    diagnostic::Findings,
    map_file::{Entity, Pair},
};
use crate::model::spelling::distance;

/// Entities in which a key has a meaning.
#[derive(Clone, Copy, PartialEq)]
enum KeyOwner {
    World,
    Light,
    Any,
}

/// Form of a value.
#[derive(Clone, Copy)]
enum Form {
    Number { min: f64, max: f64 },
    Whole,
    Three { min: f64 },
}

/// Number without limits.
const NUMBER: Form = Form::Number { min: -1e9, max: 1e9 };
/// Number that is not negative.
const POSITIVE: Form = Form::Number { min: 0.0, max: 1e9 };

/// Keys with their entities, forms, and what would be right.
const KEYS: &[(&str, KeyOwner, Form, &str)] = &[
    (
        "gridsize",
        KeyOwner::World,
        Form::Three { min: 16.0 },
        "three numbers from 16, e.g. \"64 64 128\"",
    ),
    ("luxel", KeyOwner::World, Form::Number { min: 8.0, max: 64.0 }, "a number from 8 to 64"),
    ("ambient", KeyOwner::World, POSITIVE, "a number from 0"),
    (
        "gravity",
        KeyOwner::World,
        Form::Number { min: 0.0, max: 65535.0 },
        "a number from 0 to 65535",
    ),
    (
        "_color",
        KeyOwner::World,
        Form::Three { min: 0.0 },
        "three numbers from 0, e.g. \"1 0.8 0.6\"",
    ),
    (
        "_color",
        KeyOwner::Light,
        Form::Three { min: 0.0 },
        "three numbers from 0, e.g. \"1 0.8 0.6\"",
    ),
    ("light", KeyOwner::Light, POSITIVE, "a number from 0"),
    ("light", KeyOwner::Any, NUMBER, "a number"),
    ("color", KeyOwner::Any, Form::Three { min: 0.0 }, "three numbers from 0, e.g. \"1 0.8 0.6\""),
    ("origin", KeyOwner::Any, Form::Three { min: -1e6 }, "three numbers from -1000000 to 1000000"),
    ("angles", KeyOwner::Any, Form::Three { min: -1e6 }, "three numbers: pitch, yaw and roll"),
    ("angle", KeyOwner::Any, NUMBER, "a number of degrees, -1 for up or -2 for down"),
    ("spawnflags", KeyOwner::Any, Form::Whole, "a whole number"),
    ("notfree", KeyOwner::Any, Form::Whole, "0 or 1"),
    ("notteam", KeyOwner::Any, Form::Whole, "0 or 1"),
    ("notsingle", KeyOwner::Any, Form::Whole, "0 or 1"),
    ("count", KeyOwner::Any, NUMBER, "a number"),
    ("delay", KeyOwner::Any, NUMBER, "a number of seconds"),
    ("dmg", KeyOwner::Any, NUMBER, "a number"),
    ("health", KeyOwner::Any, NUMBER, "a number"),
    ("height", KeyOwner::Any, NUMBER, "a number"),
    ("lip", KeyOwner::Any, NUMBER, "a number"),
    ("phase", KeyOwner::Any, NUMBER, "a number from 0 to 1"),
    ("radius", KeyOwner::Any, NUMBER, "a number"),
    ("random", KeyOwner::Any, NUMBER, "a number of seconds"),
    ("speed", KeyOwner::Any, NUMBER, "a number"),
    ("wait", KeyOwner::Any, NUMBER, "a number of seconds"),
    ("weight", KeyOwner::Any, NUMBER, "a number"),
];

/// Keys of `worldspawn` that change the build or the level, and their alternatives.
const WORLD_KEYS: &[&str] = &[
    "gridsize",
    "luxel",
    "ambient",
    "gravity",
    "_color",
    "_blocksize",
    "blocksize",
    "chopsize",
    "_contents",
    "message",
    "music",
];
/// Keys of lights.
const LIGHT_KEYS: &[&str] = &["light", "_color", "origin", "spawnflags", "target", "targetname"];
/// Keys of other entities, without those of [`KEYS`].
const ENTITY_KEYS: &[&str] = &[
    "classname",
    "gametype",
    "message",
    "model",
    "model2",
    "music",
    "noise",
    "roll",
    "target",
    "targetname",
    "targetshadername",
    "targetshadernewname",
    "team",
];
/// Keys that are near to one of the others and have a meaning to editors, other compilers or mods.
const OTHER_KEYS: &[&str] = &["mode", "noise2", "sound", "scale", "type", "types"];
/// Maximum edits between an unknown key and a known one.
const MAX_EDITS: usize = 1;

/// Reports the keys of an entity whose values are not usable, and misspelled keys.
pub(super) fn check(entity: &Entity, findings: &mut Findings) {
    let class = entity.class();
    let owner = match class.to_ascii_lowercase().as_str() {
        "worldspawn" => KeyOwner::World,
        "light" => KeyOwner::Light,
        _ => KeyOwner::Any,
    };
    for pair in &entity.pairs {
        let Pair { key, value, line } = pair;
        let of_owner = |row: &&(&str, KeyOwner, Form, &str)| {
            row.0.eq_ignore_ascii_case(key) && (row.1 == owner || row.1 == KeyOwner::Any)
        };
        match KEYS.iter().find(of_owner) {
            // Editors leave keys without a value.
            Some((_, _, form, expected))
                if !value.trim().is_empty() && !is_usable(value, *form) =>
            {
                let what = format!("unusable {key} of {class}: {value:?} (expected {expected})");
                findings.warn(*line, what);
            }
            Some(_) => {}
            None => check_name(pair, owner, class, findings),
        }
    }
}

fn is_usable(value: &str, form: Form) -> bool {
    let number = |text: &str| text.trim().parse::<f64>().ok().filter(|number| number.is_finite());
    match form {
        Form::Number { min, max } => number(value).is_some_and(|n| (min..=max).contains(&n)),
        // Some editors write fractions.
        Form::Whole => {
            number(value).is_some_and(|n| n.fract() == 0.0 && n.abs() <= 4_294_967_296.0)
        }
        Form::Three { min } => {
            let numbers: Vec<Option<f64>> = value.split_whitespace().map(number).collect();
            let is_usable = |n: &Option<f64>| n.is_some_and(|n| (min..=1e6).contains(&n));
            numbers.len() == 3 && numbers.iter().all(is_usable)
        }
    }
}

/// Reports a key that is nearly one with a meaning.
fn check_name(pair: &Pair, owner: KeyOwner, class: &str, findings: &mut Findings) {
    let own = pair.key.trim_start_matches('_').to_ascii_lowercase();
    let names: Vec<&str> = match owner {
        KeyOwner::World => WORLD_KEYS.to_vec(),
        KeyOwner::Light => LIGHT_KEYS.to_vec(),
        // Keys with an underscore are for editors and compilers.
        KeyOwner::Any if pair.key.starts_with('_') => return,
        KeyOwner::Any => {
            let of_any = KEYS.iter().filter(|row| row.1 == KeyOwner::Any).map(|row| row.0);
            ENTITY_KEYS.iter().copied().chain(of_any).collect()
        }
    };
    let others = ENTITY_KEYS.iter().chain(OTHER_KEYS);
    if names.iter().chain(others).any(|known| known.eq_ignore_ascii_case(&pair.key)) {
        return;
    }
    let is_near = |known: &&str| distance(&own, known.trim_start_matches('_')) <= MAX_EDITS;
    let Some(known) = names.into_iter().find(is_near) else { return };
    let kind = match owner {
        KeyOwner::World | KeyOwner::Light => format!("key of {class} without effect"),
        // A mod may know it.
        KeyOwner::Any => format!("unknown key of {class}"),
    };
    let what = format!("{kind}: {:?} = {:?} (expected {known:?})", pair.key, pair.value);
    findings.warn(pair.line, what);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(class: &str, pairs: &[(&str, &str)]) -> Vec<String> {
        let mut entity = Entity::default();
        entity.set("classname", class.to_owned());
        for (line, (key, value)) in (2..).zip(pairs) {
            entity.set(key, (*value).to_owned());
            entity.pairs.last_mut().unwrap().line = line;
        }
        let mut findings = Findings::new("a.map");
        check(&entity, &mut findings);
        findings.into_warnings().iter().map(ToString::to_string).collect()
    }

    #[test]
    fn unusable_values_name_line_key_and_expected_value() {
        let world = [
            ("gridsize", "64"),
            ("luxel", "4"),
            ("ambient", "dark"),
            ("_color", "red"),
            ("gravity", "low"),
            ("_luxel", "16"),
            ("girdsize", "64 64 64"),
        ];
        let expected = [
            "a.map:2: unusable gridsize of worldspawn: \"64\" (expected three numbers from 16, e.g. \"64 64 128\")",
            "a.map:3: unusable luxel of worldspawn: \"4\" (expected a number from 8 to 64)",
            "a.map:4: unusable ambient of worldspawn: \"dark\" (expected a number from 0)",
            "a.map:5: unusable _color of worldspawn: \"red\" (expected three numbers from 0, e.g. \"1 0.8 0.6\")",
            "a.map:6: unusable gravity of worldspawn: \"low\" (expected a number from 0 to 65535)",
            "a.map:7: key of worldspawn without effect: \"_luxel\" = \"16\" (expected \"luxel\")",
            "a.map:8: key of worldspawn without effect: \"girdsize\" = \"64 64 64\" (expected \"gridsize\")",
        ];
        assert_eq!(told("worldspawn", &world), expected);
        let light = told("light", &[("light", "-300"), ("_color", "1 1"), ("angle", "90")]);
        assert_eq!(light.len(), 2, "{light:?}");
        let door =
            told("func_door", &[("wait", "five"), ("spawnflags", "1x"), ("origin", "a b c")]);
        assert!(door[0].starts_with("a.map:2: unusable wait of func_door: \"five\""), "{door:?}");
        assert_eq!(door.len(), 3);
    }

    #[test]
    fn misspelled_keys_name_the_nearest() {
        let door =
            [("sped", "100"), ("tagretname", "a"), ("wiat", "5"), ("_speed", "1"), ("glow", "1")];
        let expected = [
            "a.map:2: unknown key of func_door: \"sped\" = \"100\" (expected \"speed\")",
            "a.map:3: unknown key of func_door: \"tagretname\" = \"a\" (expected \"targetname\")",
            "a.map:4: unknown key of func_door: \"wiat\" = \"5\" (expected \"wait\")",
        ];
        assert_eq!(told("func_door", &door), expected);
        let light = told("light", &[("ligth", "300"), ("_light", "300"), ("_colour", "1 1 1")]);
        assert_eq!(light.len(), 3, "{light:?}");
        let expected =
            "a.map:2: key of light without effect: \"ligth\" = \"300\" (expected \"light\")";
        assert_eq!(light[0], expected);
    }

    #[test]
    fn usable_values_are_silent() {
        let world = [
            ("gridsize", "64 64 128"),
            ("luxel", "16"),
            ("_color", "1 .5 0"),
            ("gravity", "800"),
            ("message", "Arena"),
            ("_tb_def", "x"),
            ("ambient", ""),
        ];
        assert_eq!(told("worldspawn", &world), [""; 0]);
        let door = [("wait", " -1 "), ("angle", "-1"), ("spawnflags", "4.0"), ("speed", "1e3")];
        assert_eq!(told("func_door", &door), [""; 0]);
    }
}
