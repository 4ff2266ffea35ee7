//! Settings table against the games' own tables.

use fragd::{
    game::{Profile, movement::Variant},
    settings::{Choice as _, Flags, GameFolder, MovementChoice, SETTINGS},
};

#[test]
fn every_pmove_variant_has_a_setting_value() {
    let mut names = vec!["auto"];
    names.extend(Variant::ALL.map(|variant| variant.name));
    assert_eq!(MovementChoice::NAMES, names);
}

#[test]
fn systeminfo_holds_settings_that_cgame_reads() {
    for profile in Profile::ALL {
        let game = GameFolder::named(profile.folder).unwrap();
        for (told, flag) in
            [(profile.serverinfo, Flags::SERVERINFO), (profile.systeminfo, Flags::SYSTEMINFO)]
        {
            for info in told {
                let row = SETTINGS.iter().find(|setting| setting.name == info.name);
                let column = row.expect(info.name).in_game(game);
                assert!(column.flags.has(flag), "{} of {}", info.name, profile.folder);
                assert_eq!(column.default, info.default, "{} of {}", info.name, profile.folder);
            }
        }
    }
}

#[test]
fn announced_keys_are_settings() {
    for name in Profile::ALL.iter().flat_map(|profile| profile.announced) {
        assert!(SETTINGS.iter().any(|setting| setting.name == *name), "{name}");
    }
}

/// Prefixes of setting names, at any place in the rules.
const PREFIXES: [&str; 5] = ["g_", "pmove_", "com_", "sv_", "elimination_"];

/// Keys of userinfos, which look like settings.
const USERINFO_KEYS: [&str; 2] = ["g_redteam", "g_blueteam"];

#[test]
fn keys_read_by_rules_are_settings() {
    let mut read = std::collections::BTreeSet::new();
    let mut folders =
        vec![std::path::PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/src/game"))];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            if path.is_dir() {
                folders.extend((name != "tests").then_some(path));
            } else if name.ends_with(".rs") && name != "tests.rs" {
                let text = std::fs::read_to_string(&path).unwrap();
                let rules = text.split("#[cfg(test)]\nmod tests {").next().unwrap();
                let quoted = rules.split('"').skip(1).step_by(2).map(str::to_owned);
                read.extend(quoted.filter(|word| {
                    PREFIXES.iter().any(|prefix| word.starts_with(prefix))
                        && word.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
                }));
            }
        }
    }
    assert!(read.len() > 50, "{read:?}");
    for name in read.iter().filter(|name| !USERINFO_KEYS.contains(&name.as_str())) {
        assert!(SETTINGS.iter().any(|setting| setting.name == name), "{name} is in no table");
    }
}
