//! Settings table against its readers: every row is read, announced or marked, and unique.

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
};

use fragd::{
    game::movement::PmoveVariant,
    settings::{
        Choice as _, Flags, GameFolder, MovementChoice, SETTINGS, Setting, SettingKind, key,
    },
};

/// Files that declare rows.
const TABLES: [&str; 2] = ["src/base/cvar/engine.rs", "src/rules/game/settings.rs"];

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Path and text of every source file below a folder, without unit tests.
fn sources(folder: &str) -> Vec<(PathBuf, String)> {
    let mut open = vec![root().join(folder)];
    let mut files = Vec::new();
    while let Some(folder) = open.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            if path.is_dir() {
                open.extend((!["tests", "conformance"].contains(&&*name)).then_some(path));
            } else if name.ends_with(".rs") && !name.ends_with("tests.rs") {
                let text = fs::read_to_string(&path).unwrap();
                let code = text.split("#[cfg(test)]\nmod tests {").next().unwrap().to_owned();
                files.push((path.strip_prefix(root()).unwrap().to_owned(), code));
            }
        }
    }
    files
}

/// Key and row of every setting, read from the files that declare them.
fn rows() -> Vec<(String, &'static Setting)> {
    let mut rows = Vec::new();
    for table in TABLES {
        for line in fs::read_to_string(root().join(table)).unwrap().lines() {
            let mut parts = line.trim_start().splitn(3, ", ");
            let (Some(key), Some(name)) = (parts.next(), parts.next()) else { continue };
            let name = name.trim_matches(['"', ',']);
            let is_key =
                key.bytes().all(|byte| byte.is_ascii_uppercase() || b"_0123456789".contains(&byte));
            rows.extend(
                SETTINGS
                    .iter()
                    .find(|row| is_key && row.name == name)
                    .map(|row| (key.to_owned(), row)),
            );
        }
    }
    assert_eq!(rows.len(), SETTINGS.len(), "every row stands on one line of {TABLES:?}");
    rows
}

fn has(row: &Setting, flags: Flags) -> bool {
    row.per_game.iter().any(|column| column.flags.has(flags))
}

#[test]
fn every_setting_has_an_effect_or_a_mark() {
    let mut used = BTreeSet::new();
    for (path, code) in sources("src") {
        if !TABLES.iter().any(|table| path == Path::new(table)) {
            let keys = code.split("key::").skip(1).map(|rest| {
                rest.chars()
                    .take_while(|c| c.is_ascii_uppercase() || c.is_ascii_digit() || *c == '_')
            });
            used.extend(keys.map(|key| key.collect::<String>()));
        }
    }
    for (key, row) in rows() {
        let name = row.name;
        let is_marked =
            has(row, Flags::NO_EFFECT) || matches!(row.kind, SettingKind::OnlyZero { .. });
        let is_sent = has(row, Flags::CLIENT) && row.per_game.iter().any(|c| c.flags.travels());
        let is_constant = name == "version";
        match used.contains(&key) {
            true => assert!(!has(row, Flags::NO_EFFECT), "{name} has a reader: remove NO_EFFECT"),
            false => assert!(
                is_marked || is_sent || is_constant,
                "{name} has no reader: read key::{key}, or mark the row NO_EFFECT"
            ),
        }
    }
}

#[test]
fn settings_without_effect_are_listed_as_such() {
    let settings = fragd::settings::Settings::default();
    let template = fragd::settings::config_template();
    let mark = "no effect, accepted for compatibility";
    for row in SETTINGS.iter().filter(|row| has(row, Flags::NO_EFFECT)) {
        let listing = fragd::settings::listing(&settings, Some(row.name)).unwrap();
        assert!(listing.contains(mark), "{listing}");
        let before = template.split(&format!("\n#{} = ", row.name)).next().unwrap();
        let help = before.rsplit("\n\n").next().unwrap().replace("\n# ", " ");
        assert!(help.contains(mark), "{help}");
    }
}

/// Features that are not implemented, and the settings that ask for them.
#[test]
fn unimplemented_features_are_refused_with_a_reason() {
    let mut settings = fragd::settings::Settings::default();
    for name in ["g_truePing", "g_elimination"] {
        settings.set(name, "0").unwrap();
        let error = settings.set(name, "1").unwrap_err().to_string();
        assert!(
            error.starts_with(&format!("{name}: invalid value \"1\" (expected 0; ")),
            "{error}"
        );
    }
    let error = settings.set("g_truePing", "1").unwrap_err().to_string();
    assert!(error.ends_with("(expected 0; pings are measured by packets only)"), "{error}");
}

#[test]
fn movement_variants_match_choices() {
    let mut names = vec!["auto"];
    names.extend(PmoveVariant::ALL.map(|variant| variant.name));
    assert_eq!(MovementChoice::NAMES, names);
}

/// Keys that the client game of OpenArena 0.8.8 or Quake III Arena reads from an info string.
#[test]
fn clients_receive_the_keys_that_they_read() {
    const OPENARENA: &[&str] = &[
        "videoflags",
        "voteflags",
        "g_doWarmup",
        "g_allowVote",
        "g_voteGametypes",
        "g_voteMinTimelimit",
        "g_voteMaxTimelimit",
        "g_voteMinFraglimit",
        "g_voteMaxFraglimit",
        "g_enableDust",
        "g_enableBreath",
        "g_rockets",
        "g_instantgib",
    ];
    let sent = |name: &str, game: GameFolder, flag| {
        let row = SETTINGS.iter().find(|row| row.name == name).expect(name);
        row.in_game(game).flags.has(flag)
    };
    for name in OPENARENA {
        assert!(sent(name, GameFolder::BaseOa, Flags::SERVERINFO), "{name}");
        assert!(!sent(name, GameFolder::BaseQ3, Flags::SERVERINFO), "{name}");
    }
    for name in ["pmove_fixed", "pmove_msec", "g_synchronousClients"] {
        for game in [GameFolder::BaseOa, GameFolder::BaseQ3] {
            assert!(sent(name, game, Flags::SYSTEMINFO), "{name}");
        }
    }
    for name in ["pmove_float", "sv_fps"] {
        assert!(sent(name, GameFolder::BaseOa, Flags::SYSTEMINFO), "{name}");
    }
    let step = key::PMOVE_MSEC.setting();
    assert_eq!(step.per_game.map(|column| column.default), ["11", "8"]);
}

#[test]
fn info_strings_carry_no_setting_without_effect() {
    for row in SETTINGS.iter().filter(|row| has(row, Flags::NO_EFFECT)) {
        assert!(row.per_game.iter().all(|column| !column.flags.travels()), "{}", row.name);
    }
}

/// Names in the serverinfo of a started server, in order.
#[test]
fn serverinfo_keys_keep_their_order() {
    let keys = |game| {
        let settings = fragd::settings::Settings::new(game);
        settings.serverinfo().map(|(name, _)| name.to_owned()).collect::<Vec<_>>().join(" ")
    };
    let engine = "sv_hostname sv_maxclients sv_privateClients g_needpass sv_floodProtect mapname version \
                  com_gamename com_protocol protocol sv_minRate sv_maxRate sv_minPing sv_maxPing \
                  sv_allowDownload sv_dlRate";
    let rules = "gamename g_gametype dmflags fraglimit timelimit capturelimit g_maxGameClients";
    assert_eq!(keys(GameFolder::BaseQ3), format!("{engine} {rules}"));
    let openarena = "g_doWarmup g_allowVote videoflags voteflags g_voteGametypes g_voteMaxTimelimit \
                     g_voteMinTimelimit g_voteMaxFraglimit g_voteMinFraglimit g_enableDust g_enableBreath \
                     g_delagHitscan g_rockets g_instantgib g_altExcellent";
    assert_eq!(keys(GameFolder::BaseOa), format!("{engine} {rules} {openarena}"));
}

/// Prefixes of setting names in game code.
const PREFIXES: [&str; 5] = ["g_", "pmove_", "com_", "sv_", "elimination_"];

/// Userinfo keys that look like settings.
const USERINFO_KEYS: [&str; 2] = ["g_redteam", "g_blueteam"];

#[test]
fn setting_names_in_game_code_are_in_the_table() {
    let mut named = BTreeSet::new();
    for (path, code) in sources("src/rules/game") {
        if path == Path::new(TABLES[1]) {
            continue;
        }
        let quoted = code.split('"').skip(1).step_by(2).map(str::to_owned);
        named.extend(quoted.filter(|word| {
            PREFIXES.iter().any(|prefix| word.starts_with(prefix))
                && word.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
        }));
    }
    assert!(!named.is_empty());
    for name in named.iter().filter(|name| !USERINFO_KEYS.contains(&name.as_str())) {
        assert!(SETTINGS.iter().any(|row| row.name == name), "{name} is in no table");
    }
}
