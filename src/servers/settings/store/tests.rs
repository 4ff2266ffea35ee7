//! Unit tests of the settings store.

use proptest::prelude::*;

use super::*;
use crate::{
    cvar::{LogLevel, MovementChoice, Protocol71, StatusStyle},
    model::limits::MAX_STRING_LEN,
    settings::{
        MAX_NAME_LEN, constraints::shown_len, ignored::is_ignored, table::row_named,
        variables::MAX_VARIABLES,
    },
};

fn started() -> Settings {
    let mut settings = Settings::default();
    settings.start().expect("defaults are right together");
    settings
}

#[track_caller]
fn refused(settings: &mut Settings, name: &str, value: &str, sentence: &str) {
    let before = settings.get(name).map(str::to_owned);
    let error = settings.set(name, value).expect_err("refused");
    assert_eq!(error.to_string(), sentence);
    assert_eq!(settings.get(name).map(str::to_owned), before, "a refusal changes nothing");
}

#[test]
fn names_are_found_in_any_case() {
    let mut settings = started();
    assert_eq!(settings.set("SV_HostName", "mine"), Ok(Change::Changed));
    assert_eq!(settings.get("sv_hostname"), Some("mine"));
    assert_eq!(settings.text(key::SV_HOSTNAME), "mine");
    assert_eq!(settings.set("sv_hostname", "mine"), Ok(Change::Unchanged));
    assert_eq!(settings.get("nobody"), None);
}

#[test]
fn keys_read_what_was_set() {
    let mut settings = started();
    for (name, value) in
        [("sv_fps", "40"), ("g_gravity", "650.5"), ("sv_wire71", "Native"), ("g_allowVote", "0")]
    {
        assert_eq!(settings.set(name, value), Ok(Change::Changed), "{name}");
    }
    assert_eq!(settings.int(key::SV_FPS), 40);
    assert_eq!(settings.float(key::G_GRAVITY), 650.5);
    assert_eq!(settings.choice(key::SV_WIRE71), Protocol71::Native);
    assert_eq!(settings.choice(key::SV_STATUS_STYLE), StatusStyle::Ioq3);
    assert_eq!(settings.choice(key::SV_LOG_LEVEL), LogLevel::Info);
    assert!(settings.int(key::G_ALLOW_VOTE) == 0);
    assert_eq!(settings.address(key::NET_IP6), IpAddr::from([0_u16; 8]));
    assert!(settings.networks(key::SV_RCON_ALLOW).contains(IpAddr::from([127, 0, 0, 1])));
}

#[test]
fn errors_name_setting_and_accepted_values() {
    let mut settings = started();
    refused(
        &mut settings,
        "SV_FPS",
        "9",
        "sv_fps: invalid value \"9\" (expected an integer from 10 to 125)",
    );
    refused(
        &mut settings,
        "g_gravity",
        "nan",
        "g_gravity: invalid value \"nan\" (expected a number from 0 to 65535)",
    );
    refused(&mut settings, "mapname", "x", "mapname is read only.");
    refused(
        &mut settings,
        "net_port",
        "27961",
        "net_port is write protected. It is startup only: set it in the config file or with +set",
    );
    refused(&mut settings, "timescale", "2", "timescale is cheat protected.");
    refused(
        &mut settings,
        "sv_hostname",
        "a;quit",
        "sv_hostname: invalid character ; (expected printable ASCII without \\, \" and ;)",
    );
    refused(
        &mut settings,
        "g_truePing",
        "1",
        "g_truePing: invalid value \"1\" (expected 0; pings are measured by packets only)",
    );
    refused(
        &mut settings,
        "a;b",
        "1",
        "invalid name \"a;b\" (expected 1 to 63 printable ASCII characters without \\, \" and ;)",
    );
    let sets = |settings: &mut Settings, name| {
        settings.set_with(SetCommand::Sets, ChangeSource::Operator, name, "longenough")
    };
    assert_eq!(
        sets(&mut settings, "rconPassword").map_err(|error| error.to_string()),
        Err("rconPassword is secret: not allowed in the serverinfo".to_owned())
    );
}

#[test]
fn startup_settings_change_before_the_start() {
    let mut settings = Settings::default();
    assert_eq!(settings.set("net_port", "28000"), Ok(Change::Changed));
    assert_eq!(settings.set("sv_maxclients", "16"), Ok(Change::Changed), "nothing to wait for");
    settings.start().unwrap();
    assert_eq!(settings.int(key::NET_PORT), 28000);
    assert_eq!(settings.set("net_port", "28000"), Ok(Change::Unchanged));
}

#[test]
fn latched_values_take_effect_with_the_next_map() {
    let mut settings = started();
    let version = settings.serverinfo_version();
    assert_eq!(settings.set("sv_maxclients", "16"), Ok(Change::Latched));
    assert_eq!(
        (settings.int(key::SV_MAXCLIENTS), settings.latched("sv_maxclients")),
        (8, Some("16"))
    );
    assert_eq!(settings.serverinfo_version(), version);
    settings.apply_latched();
    assert_eq!((settings.int(key::SV_MAXCLIENTS), settings.latched("sv_maxclients")), (16, None));
    assert_eq!(settings.serverinfo_version(), version + 1);
    settings.set("sv_maxclients", "4").unwrap();
    assert_eq!(settings.set("sv_maxclients", "16"), Ok(Change::Unchanged), "taken back");
    settings.apply_latched();
    assert_eq!(settings.int(key::SV_MAXCLIENTS), 16);
    settings.set("sv_maxclients", "2").unwrap();
}

#[test]
fn public_server_requires_long_rcon_password() {
    let sentence = "rconPassword too short (expected at least 8 characters, or none, while dedicated is 2 or \
             sv_rconAllow allows more than loopback)";
    for order in [["rconPassword", "dedicated"], ["dedicated", "rconPassword"]] {
        let mut settings = Settings::default();
        for name in order {
            let value = if name == "dedicated" { "2" } else { "1234567" };
            assert_eq!(settings.set(name, value), Ok(Change::Changed));
        }
        assert_eq!(settings.start().unwrap_err().to_string(), sentence);
        settings.set("rconPassword", "12345678").unwrap();
        settings.start().unwrap();
        refused(&mut settings, "rconPassword", "1234567", sentence);
        assert_eq!(settings.set("rconPassword", ""), Ok(Change::Changed));
    }
    let mut public = Settings::default();
    public.set("dedicated", "2").unwrap();
    public.start().unwrap();
    let example = "rconPassword is a placeholder of examples (expected another one, or none, while dedicated is 2 \
                    or sv_rconAllow allows more than loopback)";
    for placeholder in ["changeme", "Change_Me", "<your-password>"] {
        refused(&mut public, "rconPassword", placeholder, example);
    }
    let mut lan = Settings::default();
    lan.set("rconPassword", "x").unwrap();
    assert_eq!(lan.start(), Ok(()));
    refused(&mut lan, "sv_rconAllow", "10.0.0.0/8", sentence);
    assert_eq!(lan.set("sv_rconAllow", "127.0.0.1"), Ok(Change::Changed));
}

#[test]
fn server_writes_read_only_settings() {
    let mut settings = started();
    let versions =
        |settings: &Settings| (settings.serverinfo_version(), settings.systeminfo_version());
    let (server, system) = versions(&settings);
    assert_eq!(settings.write(key::MAPNAME, "oa_dm1"), Ok(Change::Changed));
    assert_eq!(versions(&settings), (server + 1, system));
    assert_eq!(settings.write(key::SV_SERVERID, 7), Ok(Change::Changed));
    assert_eq!(settings.write(key::SV_SERVERID, 7), Ok(Change::Unchanged));
    assert_eq!(versions(&settings), (server + 1, system + 1));
    assert!(settings.write(key::SV_SERVERID, -1).is_err());
    assert!(settings.write(key::MAPNAME, "../x").is_err());
    assert_eq!(
        settings.set_with(SetCommand::Set, ChangeSource::Game, "g_needpass", "1"),
        Ok(Change::Changed)
    );
    assert!(settings.flag(key::G_NEEDPASS));
    assert!(settings.set_with(SetCommand::Set, ChangeSource::Game, "net_port", "1").is_err());
}

#[test]
fn unknown_names_become_variables_with_a_note() {
    let mut settings = started();
    assert_eq!(settings.set("sv_hostnam", "x"), Ok(Change::Changed));
    assert_eq!(
        settings.poll_note().as_deref(),
        Some("unknown setting sv_hostnam: stored as a variable; did you mean sv_hostname?")
    );
    settings.set("d1", "map q3dm1 ; set nextmap vstr d2").unwrap();
    assert_eq!(settings.poll_note().as_deref(), Some("unknown setting d1: stored as a variable"));
    settings.set("d1", "changed").unwrap();
    for ignored in ["com_hunkmegs", "fs_homedatapath", "VM_CGAME"] {
        assert_eq!(settings.set(ignored, "256"), Ok(Change::Changed));
        assert_eq!(settings.get(ignored), Some("256"));
    }
    let sets = SetCommand::named("SETS").unwrap();
    settings.set_with(sets, ChangeSource::Operator, "Admin", "Kim").unwrap();
    assert_eq!(settings.poll_note(), None);
    assert!(settings.serverinfo().any(|pair| pair == ("Admin", "Kim")));
    assert!(!settings.serverinfo().any(|(name, _)| name == "d1"));
    assert_eq!(settings.set("admin", "Kai"), Ok(Change::Changed));
    assert!(settings.serverinfo().any(|pair| pair == ("Admin", "Kai") || pair == ("admin", "Kai")));
}

#[test]
fn variables_are_bounded() {
    let mut settings = started();
    for number in 0..MAX_VARIABLES {
        settings.set(&format!("own{number}"), "x").unwrap();
    }
    let error = settings.set("one_more", "x").unwrap_err();
    assert_eq!(error.to_string(), "one_more not stored: too many variables (max 512)");
    assert_eq!(settings.set("own7", "y"), Ok(Change::Changed));
    assert!(settings.set("own7", &"y".repeat(MAX_STRING_LEN + 1)).is_err());
}

#[test]
fn sets_adds_setting_to_serverinfo() {
    let mut settings = started();
    let version = settings.serverinfo_version();
    let shown = settings.set_with(SetCommand::Sets, ChangeSource::Operator, "g_speed", "320");
    assert_eq!(shown, Ok(Change::Changed));
    assert!(settings.serverinfo().any(|pair| pair == ("g_speed", "320")));
    assert!(settings.serverinfo_version() > version);
    assert!(settings.set_with(SetCommand::Sets, ChangeSource::Operator, "g_motd", "a;b").is_err());
    assert!(!settings.serverinfo().any(|(name, _)| name == "g_motd"));
}

#[test]
fn serverinfo_warns_before_it_is_full() {
    let mut settings = started();
    assert_eq!(settings.poll_note(), None);
    let mut sets = |name: &str, len: usize| {
        let value = "x".repeat(len);
        let result = settings.set_with(SetCommand::Sets, ChangeSource::Operator, name, &value);
        (result, settings.poll_note(), shown_len(&settings))
    };
    let (result, note, len) = sets("own", 250);
    assert_eq!(result, Ok(Change::Changed));
    let sentence =
        format!("serverinfo nearly full: {len} bytes (max 1023); changes beyond that are rejected");
    assert_eq!(note, Some(sentence));
    let (result, _, after) = sets("another", 300);
    let sentence = result.unwrap_err().to_string();
    assert!(sentence.starts_with("another does not fit: serverinfo too long: "), "{sentence}");
    assert!(sentence.ends_with(" (max 1023); shorten it or another of its values"), "{sentence}");
    assert_eq!(after, len, "nothing changed");
}

#[test]
fn server_values_always_fit() {
    let mut settings = started();
    settings.set("sv_maxclients", "64").unwrap();
    let mut len = 0;
    while settings
        .set_with(SetCommand::Sets, ChangeSource::Operator, "own", &"x".repeat(len))
        .is_ok()
    {
        len += 1;
    }
    assert!(len > 0);
    settings.apply_latched();
    settings.write(key::MAPNAME, "m".repeat(63)).unwrap();
    settings.write(key::G_TIMESTAMP, "2026-01-01 00:00:00").unwrap();
    settings.write(key::GAMENAME, "g".repeat(31)).unwrap();
    assert_eq!(shown_len(&settings), MAX_INFO_LEN);
}

#[test]
fn game_change_keeps_set_values() {
    let mut settings = Settings::default();
    assert_eq!(settings.int(key::PMOVE_MSEC), 11);
    settings.set("map", "oa_dm1").unwrap();
    settings.set("game", "BASEQ3").unwrap();
    assert_eq!(settings.game(), GameFolder::BaseQ3);
    assert_eq!(settings.choice(key::GAME), GameFolder::BaseQ3);
    assert_eq!(settings.int(key::PMOVE_MSEC), 8);
    assert_eq!(settings.text(key::GAMENAME), "baseq3");
    assert_eq!(settings.text(key::MAP), "oa_dm1", "chosen, though it was the default");
    assert!(!settings.serverinfo().any(|(name, _)| name == "videoflags"));
    assert!(!settings.systeminfo().any(|(name, _)| name == "pmove_float" || name == "sv_fps"));
    let fresh = Settings::new(GameFolder::BaseQ3);
    assert_eq!(fresh.text(key::MAP), "q3dm17");
    assert_eq!(fresh.choice(key::GAME), GameFolder::BaseQ3);
    settings.start().unwrap();
    assert!(settings.set("game", "baseoa").is_err());
}

#[test]
fn info_strings_hold_client_keys() {
    let settings = started();
    let server: Vec<_> = settings.serverinfo().collect();
    for pair in [
        ("mapname", "nomap"),
        ("g_gametype", "0"),
        ("sv_maxclients", "8"),
        ("dmflags", "0"),
        ("fraglimit", "20"),
        ("timelimit", "0"),
        ("capturelimit", "8"),
        ("g_needpass", "0"),
        ("gamename", "baseoa"),
        ("com_gamename", "Quake3Arena"),
        ("protocol", "71"),
        ("videoflags", "7"),
        ("voteflags", "767"),
    ] {
        assert!(server.contains(&pair), "{pair:?} in {server:?}");
    }
    let system: Vec<_> = settings.systeminfo().collect();
    for pair in [
        ("sv_serverid", "0"),
        ("sv_cheats", "0"),
        ("sv_pure", "0"),
        ("sv_paks", ""),
        ("fs_game", ""),
        ("sv_fps", "20"),
        ("timescale", "1"),
        ("pmove_fixed", "0"),
        ("pmove_msec", "11"),
        ("pmove_float", "1"),
        ("g_synchronousClients", "0"),
    ] {
        assert!(system.contains(&pair), "{pair:?} in {system:?}");
    }
    assert!(server.iter().all(|(_, value)| !value.is_empty()));
}

proptest! {
    #[test]
    fn info_strings_always_fit(
        changes in proptest::collection::vec((0..SETTINGS.len() + 3, ".{0,40}|[0-9]{1,4}|x{0,400}", 0..4_usize), 0..60),
    ) {
        let commands = [SetCommand::Set, SetCommand::Sets, SetCommand::Seta, SetCommand::Setu];
        let mut settings = started();
        for (row, value, command) in changes {
            let own = format!("own{row}");
            let name = SETTINGS.get(row).map_or(own.as_str(), |setting| setting.name);
            let _ = settings.set_with(commands[command], ChangeSource::Operator, name, &value);
            settings.apply_latched();
            prop_assert!(shown_len(&settings) <= MAX_INFO_LEN);
            for (name, value) in settings.serverinfo().chain(settings.systeminfo()) {
                let clean = |text: &str| text.chars().all(|c| matches!(c, ' '..='~') && !"\\\";".contains(c));
                prop_assert!(clean(name) && clean(value), "{name} {value}");
            }
        }
    }
}

#[test]
fn table_is_consistent() {
    for (row, setting) in SETTINGS.iter().enumerate() {
        let name = setting.name;
        assert_eq!(row_named(name), Some(row), "{name} is declared twice");
        assert!(!is_ignored(name), "{name} is ignored and is not");
        assert!(
            name.len() <= MAX_NAME_LEN
                && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
        );
        assert!(setting.help.ends_with('.'), "{name}: a help is a sentence");
        assert!(setting.help.is_ascii() && !setting.help.contains("  "), "{name}");
        assert!(
            setting.help.starts_with(|c: char| c.is_ascii_uppercase() || c.is_ascii_digit()),
            "{name}"
        );
        assert!(
            SETTINGS[..row]
                .iter()
                .rev()
                .skip_while(|s| s.group == setting.group)
                .all(|s| s.group != setting.group),
            "{name}: groups stand together"
        );
        for &game in GameFolder::ALL {
            let column = setting.in_game(game);
            let value = Value::parse(name, &setting.kind, column.flags, column.default);
            assert_eq!(
                value.map(|value| value.text).as_deref(),
                Ok(column.default),
                "{name}: plainest form"
            );
            let secret_travels = column.flags.has(Flags::SECRET) && column.flags.travels();
            assert!(!secret_travels, "{name}");
        }
    }
}

#[test]
fn pmove_variant_belongs_to_the_game() {
    for (game, right) in [
        ("baseq3", ["auto", "quake3", "ioquake3"]),
        ("baseoa", ["auto", "openarena", "openarena-next"]),
    ] {
        for &movement in MovementChoice::NAMES {
            // In either order: only the start looks at both.
            for order in [["game", "g_movement"], ["g_movement", "game"]] {
                let mut settings = Settings::default();
                for name in order {
                    let value = if name == "game" { game } else { movement };
                    settings.set(name, value).unwrap();
                }
                let started = settings.start().map_err(|error| error.to_string());
                if right.contains(&movement) {
                    assert_eq!(started, Ok(()));
                    assert!(matches!(
                        settings.set("g_movement", "auto"),
                        Ok(Change::Unchanged) | Err(SettingError::InitOnly { .. })
                    ));
                } else {
                    let sentence = format!(
                        "g_movement: invalid value {movement} while game is {game} (expected auto, {} or {})",
                        right[1], right[2]
                    );
                    assert_eq!(started, Err(sentence));
                }
            }
        }
    }
}
