//! Tests of the config file.

use proptest::prelude::*;

use super::*;
use crate::{
    cvar::GameCode,
    settings::{Author, ExpectedCode, config_template},
};

#[track_caller]
fn errors(text: &str) -> Vec<String> {
    let error = Settings::default().read_config("f.toml", text).expect_err("refused");
    error.to_string().lines().map(str::to_owned).collect()
}

#[track_caller]
fn error(text: &str, expected: &str) {
    assert_eq!(errors(text), [expected], "{text}");
}

#[test]
fn settings_are_read_flat_and_in_tables() {
    let mut settings = Settings::default();
    let text = r#"
        sv_hostname = "My ^1server" # as players see it
        SV_FPS = 40
        g_gravity = 650.5
        g_allowVote = false
        g_doWarmup = 1
        com_hunkMegs = 256
        dedicated = "1"
        [network]
        net_port = 2_8000
        [serverinfo]
        Admin = "Kim"
        [variables]
        d1 = "map oa_dm1 ; set nextmap vstr d2"
    "#;
    settings.read_config("f.toml", text).unwrap();
    assert_eq!(settings.text(key::SV_HOSTNAME), "My ^1server");
    assert_eq!((settings.int(key::SV_FPS), settings.int(key::NET_PORT)), (40, 28000));
    assert_eq!(settings.float(key::G_GRAVITY), 650.5);
    assert!(settings.int(key::G_ALLOW_VOTE) == 0 && settings.flag(key::G_DO_WARMUP));
    assert!(settings.serverinfo().any(|pair| pair == ("Admin", "Kim")));
    assert_eq!(settings.get("d1"), Some("map oa_dm1 ; set nextmap vstr d2"));
    assert_eq!(settings.poll_note(), None);
}

#[test]
fn undeclared_names_are_accepted_for_a_module() {
    let text = "xalpha_rounds = 3\nmod_flag = true\n[server]\nmod_name = \"x y\"\nvm_game = \"1\"";
    let mut settings = Settings::default();
    settings.read_config("f.toml", text).expect("a module's settings");
    let read = ["xalpha_rounds", "mod_flag", "mod_name"].map(|name| settings.get(name));
    assert_eq!(read, [Some("3"), Some("1"), Some("x y")]);
    assert_eq!(settings.poll_note(), None);
    settings.register(Author::Module, "xalpha_rounds", "1", Flags::SERVERINFO).expect("a name");
    assert!(settings.serverinfo().any(|pair| pair == ("xalpha_rounds", "3")));
    settings.read_config("f.toml", "sv_hostnam = \"x\"").expect("stored");
    let note = settings.poll_note().expect("a note");
    assert!(note.ends_with("did you mean sv_hostname?"), "{note}");
    let text = "vm_game = \"0\"\nxalpha_rounds = 3";
    assert_eq!(errors(text).len(), 1, "without a module the name is an error");
    let mut settings = Settings::default();
    settings.expect_code(ExpectedCode { has_module: Some(true), ..ExpectedCode::default() });
    settings.read_config("f.toml", text).expect("the command line selects a module");
    error(
        "vm_game = \"2\"\nmod = [1]",
        "f.toml:2: mod: invalid type array (expected text or a number)",
    );
}

#[test]
fn undeclared_names_are_accepted_for_a_mod() {
    for text in [
        "xalpha_rounds = 3\nfs_game = \"mymod\"",
        "[server]\nfs_game = \"mymod\"\nxalpha_rounds = 3",
    ] {
        let mut settings = Settings::default();
        settings.read_config("f.toml", text).expect("a mod's settings");
        assert_eq!(settings.get("xalpha_rounds"), Some("3"));
        settings.start().expect("valid");
        assert_eq!(settings.poll_note(), None, "the mod may have a module");
        let mut without = settings.clone();
        without.follow_mod(GameCode::Native);
        let note = without.poll_note().expect("a note");
        let text = "unknown setting xalpha_rounds: stored as a variable";
        assert!(note.starts_with("f.toml:") && note.ends_with(text), "{note}");
        settings.follow_mod(GameCode::Compiled);
        assert_eq!(settings.poll_note(), None);
        assert_eq!((settings.get("vm_game"), settings.is_chosen(key::VM_GAME)), (Some("2"), false));
    }
    let text = "xalpha_rounds = 3\nfs_game = \"mymod\"\nvm_game = \"0\"";
    assert_eq!(errors(text).len(), 1, "the rules of the program have no such name");
    assert_eq!(errors("xalpha_rounds = 3\nfs_game = \"\"").len(), 1, "no mod");
    let mut settings = Settings::default();
    settings.expect_code(ExpectedCode { has_mod: true, ..ExpectedCode::default() });
    settings.read_config("f.toml", "xalpha_rounds = 3").expect("the command line loads a mod");
}

#[test]
fn errors_name_file_line_and_accepted_values() {
    error(
        "sv_fps = 20\n\nsv_hostnam = \"x\"",
        "f.toml:3: unknown setting sv_hostnam; did you mean sv_hostname?",
    );
    error(
        "Website = \"x\"",
        "f.toml:1: unknown setting Website; custom keys go into [serverinfo] or [variables]",
    );
    error(
        "# fast\nsv_fps = 500",
        "f.toml:2: sv_fps: invalid value \"500\" (expected an integer from 10 to 125)",
    );
    error(
        "g_gravity = nan",
        "f.toml:1: g_gravity: invalid value \"nan\" (expected a number from 0 to 65535)",
    );
    error(
        "g_gravity = -inf",
        "f.toml:1: g_gravity: invalid value \"-inf\" (expected a number from 0 to 65535)",
    );
    error(
        "sv_fps = true",
        "f.toml:1: sv_fps: invalid value \"true\" (expected an integer from 10 to 125)",
    );
    error(
        "sv_fps = [20]",
        "f.toml:1: sv_fps: invalid type array (expected an integer from 10 to 125)",
    );
    error("sv_hostname = 5", "f.toml:1: sv_hostname: missing quotes; write sv_hostname = \"5\"");
    error(
        "rconPassword = 12345678",
        "f.toml:1: rconPassword: missing quotes; write rconPassword = \"…\"",
    );
    error("mapname = \"x\"", "f.toml:1: mapname is read only.");
    error("timescale = 2.0", "f.toml:1: timescale is cheat protected.");
    error(
        "sv_hostname = \"a\\\\b\"",
        "f.toml:1: sv_hostname: invalid character \\ (expected printable ASCII without \\, \" and ;)",
    );
    error("sv_fps = 20\nSV_FPS = 30\n", "f.toml:2: SV_FPS is already set in line 1");
    error(
        "[network]\nsv_fps = 20\n[server]\nsv_fps = 20",
        "f.toml:4: sv_fps is already set in line 2",
    );
    error("[sv_fps]\nx = 1", "f.toml:1: sv_fps is a setting, not a table; write sv_fps = value");
    error("\n[servr]\nx = 1", "f.toml:2: unknown table [servr]; did you mean [server]?");
    error(
        "[zzz]",
        "f.toml:1: unknown table [zzz]; expected [server], [network], [admin], [match], [openarena], [serverinfo], [variables]",
    );
    error("[variables]\nsv_fps = 20", "f.toml:2: sv_fps is a setting; move it out of [variables]");
    error("sv_fps = 20\nsv_fps = 30", "f.toml:2: duplicate key sv_fps");
    error("[variables]\nx = {}", "f.toml:2: x: invalid type table (expected text in quotes)");
}

#[test]
fn toml_syntax_errors_name_the_line() {
    for (text, line) in [
        ("sv_fps 20", 1),
        ("sv_fps = 20\nsv_hostname = \"open\n", 2),
        ("sv_fps = 20\nsv_fps = 30", 2),
        ("\n\nsv_fps = 0x", 3),
        ("set sv_hostname \"x\"", 1),
    ] {
        let found = errors(text);
        assert_eq!(found.len(), 1, "{found:?}");
        let start = format!("f.toml:{line}: ");
        assert!(found[0].starts_with(&start), "{found:?}");
        assert!(found[0].len() > start.len());
    }
}

#[test]
fn errors_are_reported_together_up_to_a_limit() {
    let found = errors("sv_fps = 1\nsv_hostnam = \"\"\nnet_port = -1");
    assert_eq!(found.len(), 3);
    let many: String = (0..50_000).map(|n| format!("unknown{n} = 1\n")).collect();
    let found = errors(&many);
    assert_eq!(found.len(), MAX_ERRORS + 1);
    assert_eq!(found[MAX_ERRORS], "f.toml: too many errors; the rest is not shown");
}

#[test]
fn errors_hide_secrets() {
    for text in
        ["rconPassword = \"hunter2%\"", "g_password = 8888888", "g_password = [\"hunter2\"]"]
    {
        let found = errors(text).join("\n");
        assert!(!found.contains("hunter2") && !found.contains("8888888"), "{found}");
    }
}

#[test]
fn huge_or_deep_files_are_rejected() {
    let huge = "#".repeat(MAX_CONFIG_LEN + 1);
    error(&huge, "f.toml: config file too long: 1048577 bytes (max 1048576)");
    for deep in [
        "a = ".to_owned() + &"[".repeat(200_000),
        "a = ".to_owned() + &"{a=".repeat(200_000),
        "a.".repeat(200_000) + "a = 1",
        format!("[{}a]\n", "a.".repeat(200_000)),
    ] {
        assert_eq!(errors(&deep).len(), 1);
    }
}

#[test]
fn template_matches_committed_file() {
    let committed = include_str!("../../../../config/fragd.toml");
    assert!(
        committed == config_template(),
        "config/fragd.toml is out of date: cargo run -- settings --toml >config/fragd.toml"
    );
}

#[test]
fn template_explains_all_settings_and_reads_back() {
    let template = config_template();
    let mut settings = Settings::default();
    settings.read_config("f.toml", &template).unwrap();
    assert_same(&settings);
    let is_setting = |line: &str| line.starts_with('#') && !line.starts_with("# ") && line != "#";
    let mut explained = Vec::new();
    let mut uncommented = String::new();
    let mut before = "";
    for line in template.lines() {
        if is_setting(line) {
            assert!(
                before.starts_with("# (") || before.ends_with(".)"),
                "{line}: preceded by {before}"
            );
            explained.push(line[1..].split(' ').next().unwrap());
            uncommented.push_str(&line[1..]);
        }
        uncommented.push('\n');
        // A value has one line.
        assert!(is_setting(line) || line.chars().count() <= 100, "{line}");
        before = line;
    }
    settings.read_config("f.toml", &uncommented).unwrap();
    assert_same(&settings);
    settings.start().unwrap();
    let wanted: Vec<_> = SETTINGS
        .iter()
        .filter(|setting| !setting.per_game[0].flags.has(Flags::READ_ONLY))
        .map(|setting| setting.name)
        .collect();
    assert_eq!(explained, wanted);
}

#[track_caller]
fn assert_same(settings: &Settings) {
    let defaults = Settings::default();
    for setting in SETTINGS {
        assert_eq!(settings.get(setting.name), defaults.get(setting.name), "{}", setting.name);
    }
    assert_eq!(settings.serverinfo_version(), 0);
}

proptest! {
    #[test]
    fn config_never_panics(text in "\\PC{0,200}|(sv_fps|g_motd|\\[server\\]|=| |\n|\"|'''|\\{|\\[|\\]|[0-9.e+-]){0,60}") {
        let _ = Settings::default().read_config("f.toml", &text);
    }

    #[test]
    fn values_never_panic(row in 0..SETTINGS.len(), value in "\\PC{0,40}") {
        let text = format!("{} = {value}", SETTINGS[row].name);
        let _ = Settings::default().read_config("f.toml", &text);
    }
}
