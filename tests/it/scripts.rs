//! Console scripts: `exec`, the configuration of a mod, their limits, and their replay.

use fragd::{
    model::{ConfigIndex, LevelTime, Millis, assets::MemoryAssets},
    node::{Hosted as _, Input, Node as _, OutputKind, take_text},
    server::Server,
    settings::{ChangeSource, SetCommand, Settings, key},
    testing::sample_maps::{TestMap, YARD},
    wire::Protocol,
};

use crate::sim_fixture::SimFixture;

/// Game data with a map and scripts.
fn assets(scripts: &[(&str, &str)]) -> MemoryAssets {
    let mut assets = MemoryAssets::default();
    assets.insert("maps/yard.bsp", TestMap::test_yard(YARD).file()).expect("a path");
    for (name, text) in scripts {
        assets.insert(name, text.as_bytes().to_vec()).expect("a path");
    }
    assets
}

fn settings(pairs: &[(&str, &str)]) -> Settings {
    let mut settings = Settings::default();
    for (name, value) in [("map", "yard"), ("sv_pure", "0")].iter().chain(pairs) {
        settings.set(name, value).expect("a setting");
    }
    settings.start().expect("a valid combination");
    settings
}

fn server(scripts: &[(&str, &str)]) -> Server {
    Server::builder(settings(&[]), [9; 32]).assets(assets(scripts)).build()
}

/// Runs a line and returns what it prints.
fn run(server: &mut Server, line: &str) -> String {
    server.handle_input(Millis(0), Input::ConsoleLine(line));
    take_text(server, OutputKind::Console)
}

#[test]
fn restart_runs_soon_after_another_one() {
    let mut server = server(&[]);
    let restart = |server: &mut Server, ms| {
        let before = server.server_id();
        server.handle_input(Millis(ms), Input::ConsoleLine("map_restart 0"));
        (server.server_id() != before, take_text(server, OutputKind::Console))
    };
    server.frame(Millis(1000));
    assert!(restart(&mut server, 1010).0);
    assert!(restart(&mut server, 1012).0, "the next frame is not due before");
    let (restarted, printed) = restart(&mut server, 1012);
    assert!(!restarted && printed.contains("map_restart ignored: "), "{printed}");
}

#[test]
fn scripts_run_in_place_of_their_command() {
    let mut server = server(&[
        (
            "server.cfg",
            "// set a 1; set a 2\nsets b \"x // y\"; echo one\r\nexecq sub/more\necho \"a;b\"",
        ),
        ("sub/more.cfg", "echo two /* comment;\n\" */; echo three"),
        ("plain", "echo never"),
    ]);
    assert_eq!(
        run(&mut server, "exec SERVER; echo end"),
        "execing SERVER.cfg\none\ntwo\nthree\na;b\nend\n"
    );
    assert_eq!((server.settings().get("a"), server.settings().get("b")), (None, Some("x // y")));
    assert_eq!(run(&mut server, "EXECQ sub/more.cfg"), "two\nthree\n");
    assert_eq!(
        run(&mut server, "exec plain"),
        "couldn't exec plain.cfg: plain.cfg: not in the game data\n"
    );
    for line in ["exec", "exec a b"] {
        assert_eq!(run(&mut server, line), "Usage: exec <file>\n");
    }
    for name in ["../server", "/etc/passwd", "c:server", "..\\server"] {
        let printed = run(&mut server, &format!("exec {name}"));
        assert!(printed.contains("invalid game file name"), "{printed}");
    }
}

#[test]
fn scripts_are_bounded() {
    let long = format!("echo {}\necho next", "x".repeat(3000));
    let many = "echo x\n".repeat(10_000);
    let huge = "//".repeat(1 << 20);
    let mut server = server(&[
        ("self.cfg", "exec self"),
        ("twice.cfg", "execq twice; execq twice"),
        ("long.cfg", &long),
        ("many.cfg", &many),
        ("huge.cfg", &huge),
        ("binary.cfg", "echo a\0b"),
    ]);
    let mut frame = {
        let mut at = Millis(0);
        move |server: &mut Server| {
            at += Millis(50);
            server.frame(at);
        }
    };
    frame(&mut server);
    let printed = run(&mut server, "exec self");
    assert_eq!(printed.matches("execing").count(), 15);
    assert!(printed.ends_with("self.cfg:1: exec: recursion limit reached (16)\n"), "{printed}");
    frame(&mut server);
    let printed = run(&mut server, "execq twice");
    assert!(printed.contains("couldn't exec twice.cfg: script limit reached (32 in a frame)"));
    assert!(printed.lines().count() < 40, "{} lines", printed.lines().count());
    // A line of the same frame reads no more scripts.
    assert!(run(&mut server, "exec long").contains("script limit"));
    frame(&mut server);
    assert_eq!(
        run(&mut server, "execq long"),
        "long.cfg:1: command ignored: over 2048 bytes\nnext\n"
    );
    let printed = run(&mut server, "execq many");
    assert_eq!(printed.lines().count(), 8191);
    assert!(printed.ends_with(
        "many.cfg:8191: command limit reached (8192): rest of the line and its scripts ignored\n"
    ));
    assert!(run(&mut server, "exec huge").contains("too long: 2097152 bytes (max 1048576)"));
    assert!(run(&mut server, "exec binary").contains("not a text file"));
    assert_eq!(run(&mut server, "echo still here"), "still here\n");
}

/// A mod with a configuration that starts on the given command line.
fn modded(config: &str, overrides: &[(&str, &str)], lines: &[&str]) -> Server {
    let mut assets = assets(&[("server.cfg", "set g_gametype 3\nset sv_hostname script")]);
    assets.insert_into_mod("autoexec.cfg", config.as_bytes().to_vec()).expect("a path");
    let changes = overrides
        .iter()
        .map(|(name, value)| (SetCommand::Set, (*name).to_owned(), (*value).to_owned()));
    let mut pairs = vec![("fs_game", "mymod")];
    pairs.extend(overrides);
    Server::builder(settings(&pairs), [9; 32])
        .assets(assets)
        .overrides(changes.collect())
        .lines(lines.iter().map(|line| (*line).to_owned()).collect())
        .build()
}

#[test]
fn mod_config_applies_to_first_level() {
    let config = "seta g_gametype 1; set sv_maxclients 3\nset g_own 7\nset fraglimit 5\necho early\nsv_hostname mod";
    let server = modded(config, &[("fraglimit", "9"), ("g_own", "8")], &[]);
    let shown = |server: &Server, name: &str| {
        server.settings().get(name).map(str::to_owned).unwrap_or_default()
    };
    for (name, value) in [
        ("g_gametype", "1"),
        ("sv_maxclients", "3"),
        ("sv_hostname", "mod"),
        ("fraglimit", "9"),
        ("g_own", "8"),
    ] {
        assert_eq!(shown(&server, name), value, "{name}");
    }
    let info = server.configstring(ConfigIndex::SERVERINFO);
    assert!(info.contains("\\g_gametype\\1\\"), "{info}");
    // A script of the command line comes last.
    let server = modded(config, &[("sv_hostname", "line")], &["exec server"]);
    assert_eq!(
        (shown(&server, "g_gametype"), shown(&server, "sv_hostname")),
        ("3".into(), "script".into())
    );
}

#[test]
fn mod_config_commands_wait_for_first_frame() {
    let config = "say hi\nsets d1 \"echo rotated\"\nvstr d1; status\nset net_port 1";
    let mut server = modded(config, &[], &[]);
    let before = server.start_messages().concat();
    assert!(before.starts_with("rotated\nautoexec.cfg:4: net_port is write protected"), "{before}");
    server.frame(Millis(50));
    let after: String = take_text(&mut server, OutputKind::Console);
    assert!(after.starts_with("console: hi\nmap: yard\n"), "{after}");
}

#[test]
fn only_loose_files_of_the_mod_are_its_config() {
    let start = |fs_game: &str, in_mod: bool| {
        let mut assets = assets(&[("autoexec.cfg", "set fraglimit 5")]);
        if in_mod {
            let text = b"set fraglimit 6".to_vec();
            assets.insert_into_mod("autoexec.cfg", text).expect("a path");
        }
        let server =
            Server::builder(settings(&[("fs_game", fs_game)]), [9; 32]).assets(assets).build();
        server.settings().get("fraglimit").map(str::to_owned)
    };
    let default = Settings::default().get("fraglimit").map(str::to_owned);
    assert_eq!(start("", true), default, "no mod");
    assert_eq!(start("mymod", false), default, "a script of the game");
    assert_eq!(start("mymod", true).as_deref(), Some("6"));
}

/// Starts a server with the maps `yard` and `court`, these scripts and a command line.
fn start(scripts: &[(&str, &str)], lines: &[&str]) -> Result<Server, String> {
    let mut assets = assets(scripts);
    assets.insert("maps/court.bsp", TestMap::test_yard(YARD).file()).expect("a path");
    Server::builder(settings(&[]), [9; 32])
        .assets(assets)
        .lines(lines.iter().map(|line| (*line).to_owned()).collect())
        .start()
}

/// Map, rotation, and number of levels that began.
fn level_of(mut server: Server) -> (String, String, usize) {
    server.frame(Millis(50));
    server.frame(Millis(100));
    let log: String = take_text(&mut server, OutputKind::GameLog);
    let get = |name: &str| server.settings().get(name).unwrap_or_default().to_owned();
    (get("mapname"), get("nextmap"), log.matches("InitGame:").count())
}

#[test]
fn first_map_of_command_line_is_loaded_once() {
    let steps =
        "set m1 \"map court; set nextmap vstr m2\"\nset m2 \"map yard; set nextmap vstr m1\"\n";
    let rotation = format!("{steps}vstr m1\n");
    let scripts = [("server.cfg", rotation.as_str()), ("lists.cfg", steps), ("empty.cfg", "")];
    for (lines, map, next) in [
        (&["map yard", "exec server"][..], "court", "vstr m2"),
        (&["exec server"], "court", "vstr m2"),
        (&["exec empty", "exec lists", "vstr m1"], "court", "vstr m2"),
        (&["exec server", "map yard"], "yard", "map_restart 0"),
        (&["exec lists", "map yard", "vstr m1"], "court", "vstr m2"),
        (&["exec lists", "map court"], "court", "map_restart 0"),
        (&[], "yard", "map_restart 0"),
    ] {
        let server = start(&scripts, lines).expect("a start");
        assert_eq!(level_of(server), (map.to_owned(), next.to_owned(), 1), "{lines:?}");
    }
}

#[test]
fn settings_behind_map_of_script_wait_for_next_level() {
    let script = "set g_gametype 1\nmap court\nset g_gametype 3\nset timelimit 7";
    let server = start(&[("server.cfg", script)], &["exec server"]).expect("a start");
    let settings = server.settings();
    assert_eq!(
        (settings.get("g_gametype"), settings.latched("g_gametype")),
        (Some("1"), Some("3"))
    );
    assert_eq!(settings.get("timelimit"), Some("7"));
    // Behind a map of the command line, a script sets the first level.
    let script = "seta sv_privateClients 10\nseta sv_maxclients 32\nseta g_log x.log";
    let server = start(&[("server.cfg", script)], &["map court", "exec server"]).expect("a start");
    for (name, value) in [("sv_maxclients", "32"), ("sv_privateClients", "10"), ("g_log", "x.log")]
    {
        assert_eq!(server.settings().get(name), Some(value), "{name}");
    }
}

#[test]
fn commands_of_script_run_in_order_around_level() {
    let script = "addip 10.1.2.3\nmap court\nsay hi\nset nextmap \"vstr d2\"\nmap_restart 0";
    let mut server = start(&[("server.cfg", script)], &["exec server"]).expect("a start");
    server.frame(Millis(50));
    assert!(run(&mut server, "listbans").contains("Ban #1: 10.1.2.3/32 (id 1, by server.cfg:1)"));
    assert_eq!(level_of(server), ("court".to_owned(), "vstr d2".to_owned(), 2));
}

#[test]
fn missing_script_or_map_of_command_line_ends_start() {
    let scripts = [
        ("server.cfg", "exec nosuch\nset sv_hostname after"),
        ("rotation.cfg", "set d1 \"map curt; set nextmap vstr d1\"\nvstr d1"),
    ];
    let error = |lines: &[&str]| start(&scripts, lines).err().expect("an error");
    assert!(error(&["exec nosuch"]).starts_with("+exec: couldn't exec nosuch.cfg: "));
    assert_eq!(error(&["map curt"]), "Can't find map maps/curt.bsp; did you mean court?");
    assert_eq!(
        error(&["exec rotation"]),
        "rotation.cfg:2: Can't find map maps/curt.bsp; did you mean court?"
    );
    assert!(error(&["map ../x"]).starts_with("Can't find map maps/../x.bsp"));
    let server = start(&scripts, &["exec server"]).expect("a script inside a script");
    assert_eq!(server.settings().get("sv_hostname"), Some("after"));
    let messages = server.start_messages().concat();
    assert!(messages.contains("server.cfg:1: couldn't exec nosuch.cfg: "), "{messages}");
    assert_eq!(error(&["exec"]), "+exec: script name missing; Usage: exec <file>");
    // The map of the command line is the first level, also behind another one.
    assert!(error(&["map court", "map curt"]).starts_with("Can't find map maps/curt.bsp"));
    let many = "set a 1\n".repeat(9000);
    let error = start(&[("many.cfg", &many)], &["exec many"]).err().expect("an error");
    assert!(error.starts_with("many.cfg:8191: command limit reached (8192)"), "{error}");
    let server = start(&scripts, &["exec rotation", "map court"]).expect("a later map");
    assert_eq!(server.settings().get("mapname"), Some("court"));
}

#[test]
fn messages_of_scripts_name_file_and_line() {
    let script = "set d1 \"map yard\"; set map1 \"map yard\"\n\nset fraglimt 5\nset sv_maxclients 99\nxp_config 1\n\
                  set g_gravity up\nset bot_minplayers 8\nset sv_hostname x\nvstr map1";
    let server = start(&[("server.cfg", script)], &["exec server"]).expect("a start");
    let expected = [
        "execing server.cfg\n",
        "server.cfg:4: sv_maxclients: \"99\" read as 64 (expected an integer from 1 to 64)",
        "server.cfg:5: unknown command: xp_config",
        "server.cfg:6: g_gravity: invalid value \"up\" (expected a number from 0 to 65535)",
        "server.cfg: 9 lines, 2 settings set, 4 stored as variables, 1 value changed, 2 not understood\n",
        "server.cfg:3: unknown setting fraglimt: stored as a variable; did you mean fraglimit?",
    ];
    let messages = server.start_messages();
    assert_eq!(messages[..6], expected);
    assert!(messages[6].starts_with("bot_minplayers \"8\" ignored: "), "{messages:?}");
    assert_eq!(messages.len(), 7, "{messages:?}");
}

#[test]
fn nothing_of_a_script_is_ignored_in_silence() {
    let script = "map court\nset sv_maxclients 9\nvstr d9\nexce more\nset sv_hostname \"Caf\u{e9} x\"\nvstr rconPassword";
    let mut server = start(&[("server.cfg", script)], &["exec server"]).expect("a start");
    let messages = server.start_messages().concat();
    for expected in [
        "sv_maxclients will be changed upon restarting.",
        "server.cfg:3: vstr: variable d9 not set",
        "server.cfg:4: unknown command: exce; did you mean exec?",
        "server.cfg:5: sv_hostname: \"Caf\\xc3\\xa9 x\" read as \"Caf. x\" (expected printable ASCII)",
        "server.cfg:6: vstr: rconPassword is secret",
    ] {
        assert!(messages.contains(expected), "{expected}: {messages}");
    }
    assert_eq!(server.settings().get("sv_hostname"), Some("Caf. x"));
    assert_eq!(run(&mut server, "set g_password \"caf\u{e9}\"").matches("(hidden)").count(), 0);
    assert_eq!(server.settings().get("g_password"), Some(""), "it would never match");
}

#[test]
fn comment_without_end_is_reported_with_its_line() {
    let script = "set a 1\n/* closed */ set b 2 /* not\nset sv_hostname lost\nset c 3\n";
    let server = start(&[("server.cfg", script)], &["exec server"]).expect("a start");
    assert_eq!((server.settings().get("b"), server.settings().get("c")), (Some("2"), None));
    let expected = "server.cfg:2: comment /* not closed: lines 2 to 4 ignored (expected */)";
    assert_eq!(server.start_messages()[1], expected);
    let summary = &server.start_messages()[2];
    assert!(
        summary.ends_with("4 lines, 0 settings set, 2 stored as variables, 1 comment not closed\n")
    );
    let mut server = self::server(&[]);
    let printed = run(&mut server, "echo a /* b; echo c");
    assert_eq!(printed, "comment /* not closed: rest of the line ignored (expected */)\na\n");
    assert_eq!(run(&mut server, "echo \"/* quoted\"; echo /* closed */ c"), "/* quoted\nc\n");
}

#[test]
fn repeated_problems_are_suppressed_and_counted() {
    let mut many: String = (0..600).map(|at| format!("set own{at} 1\n")).collect();
    many.push_str("set l \"vstr l; vstr l\"\nvstr own3\n");
    many.push_str(&"xp_config 1\n".repeat(500));
    let deep = "set l \"vstr l; vstr l\"\nvstr l";
    let server = start(&[("server.cfg", &many)], &["exec server"]).expect("a start");
    let messages = server.start_messages();
    assert!(messages.len() < 80, "{}", messages.len());
    let of = |text: &str| messages.iter().filter(|line| line.contains(text)).count();
    assert_eq!((of("too many variables"), of("unknown command: xp_config")), (1, 63));
    let summary = messages.iter().find(|line| line.contains(" lines, ")).expect("a summary");
    assert!(summary.contains("512 stored as variables, "), "{summary}");
    assert!(summary.contains(", 89 variables not stored"), "{summary}");
    assert_eq!(
        (of("variables not stored (+88 suppressed)"), of("not understood (+437 supp")),
        (1, 1)
    );
    // The line may end only with the limit of commands.
    let mut server = self::server(&[("deep.cfg", deep)]);
    let printed = run(&mut server, "execq deep");
    assert_eq!(printed.lines().count(), 3, "{printed}");
    let first = "deep.cfg:2: vstr: recursion limit reached (16)\n";
    assert!(printed.starts_with(first), "{printed}");
    assert!(printed.ends_with("commands nested too deep (+4092 suppressed)\n"), "{printed}");
    // The next line reports again.
    assert!(run(&mut server, "vstr l").starts_with("vstr: recursion limit"));
}

#[test]
fn summary_counts_scripts_and_maps_that_are_missing() {
    let script = "exec nosuch\nmap curt\nexec more\nvstr d1\nmap court\nmap curt\nexec nosuch";
    let scripts = [("server.cfg", script), ("more.cfg", "exec nosuch\nset sv_hostname x")];
    let server = start(&scripts, &["exec server"]).expect("a start");
    let messages = server.start_messages().concat();
    for expected in [
        "more.cfg: 2 lines, 1 setting set, 1 script not run\n",
        "server.cfg: 7 lines, 0 settings set, 2 scripts not run, 2 maps not found, 1 command failed\n",
    ] {
        assert!(messages.contains(expected), "{expected}: {messages}");
    }
}

#[test]
fn lines_of_published_configs_are_understood_or_reported() {
    let script = "sets Web http://example.org/x // mine\r\nset\tg_gametype\t\"3\r\ncom_hunkMegs 128\r\n\
                  set dir a: // why\r\naddbot sarge 4\r\nseta a \"http://b;c\"; sets Admin Kim\r\n";
    let mut server = start(&[("server.cfg", script)], &["exec server"]).expect("a start");
    let get = |server: &Server, name: &str| server.settings().get(name).map(str::to_owned);
    for (name, value) in [
        ("Web", "http:"),
        ("g_gametype", "3"),
        ("com_hunkMegs", "128"),
        ("dir", "a:"),
        ("a", "http://b;c"),
        ("Admin", "Kim"),
    ] {
        assert_eq!(get(&server, name).as_deref(), Some(value), "{name}");
    }
    let messages = server.start_messages();
    let url = "server.cfg:1: value ends at the comment // (expected a URL in quotes)";
    assert_eq!(messages[1], url);
    assert!(messages[2].starts_with("server.cfg:2: quote not closed: "), "{messages:?}");
    assert!(messages[3].starts_with("server.cfg:5: addbot ignored: the rules of"), "{messages:?}");
    assert!(messages[4].starts_with("server.cfg: 6 lines, 1 setting set, "), "{messages:?}");
    assert!(messages[4].ends_with(", 2 values changed, 1 command ignored\n"), "{messages:?}");
    assert!(messages[5].starts_with("com_hunkMegs \"128\" ignored: "), "{messages:?}");
    assert_eq!(messages.len(), 6, "{messages:?}");
    assert!(run(&mut server, "logfile 2").starts_with("logfile \"2\" ignored: "));
}

#[test]
fn live_stream_without_password_ends_start() {
    let start = |script: &str, password: &str| {
        let mut settings = Settings::default();
        settings.set_place(Some("f.toml:3".to_owned()));
        settings.set("sv_relayAddress", "127.0.0.1:27970").expect("an address");
        settings.set("map", "yard").expect("a map");
        settings.set("sv_relayPassword", password).expect("a password");
        settings.set_place(None);
        settings.start().expect("scripts may set the password");
        let assets = assets(&[("server.cfg", script)]);
        let lines = vec!["exec server".to_owned()];
        Server::builder(settings, [9; 32]).assets(assets).lines(lines).start()
    };
    let error = "f.toml:3: sv_relayAddress: \"127.0.0.1:27970\" needs a password; set sv_relayPassword \
                 (expected 8 to 63 characters)";
    for script in ["set sv_hostname x", "map yard\nsay hello", "set sv_relayPassword short"] {
        assert_eq!(start(script, "").err().as_deref(), Some(error), "{script}");
    }
    assert!(start("", "long enough").is_ok());
    assert!(start("set sv_relayPassword \"long enough\"\nmap yard", "").is_ok());
}

#[test]
fn wait_before_first_level_is_reported_once() {
    let script = "wait\nset a 1\nwait 20\nset b 1\nmap court\nwait\nset c 1";
    let mut server = start(&[("server.cfg", script)], &["exec server"]).expect("a start");
    let get = |server: &Server, name: &str| server.settings().get(name).map(str::to_owned);
    assert_eq!((get(&server, "b").as_deref(), get(&server, "c")), (Some("1"), None));
    server.frame(Millis(50));
    server.frame(Millis(100));
    assert_eq!(get(&server, "c").as_deref(), Some("1"), "a wait behind the map takes a frame");
    let messages = server.start_messages();
    let waits = messages.iter().filter(|line| line.contains("wait skipped: no level has begun"));
    assert_eq!(waits.collect::<Vec<_>>(), ["server.cfg:1: wait skipped: no level has begun"]);
}

#[test]
fn summary_of_start_script_follows_its_last_wait() {
    let scripts = [
        ("server.cfg", "map court\nwait\nexec more\nset sv_fps 30\nexce"),
        ("more.cfg", "set sv_hostname x\nwait 2\nset g_x 1"),
    ];
    let mut server = start(&scripts, &["exec server"]).expect("a start");
    assert!(!server.start_messages().concat().contains(" lines, "));
    let frames: Vec<String> = (1..6)
        .map(|at| {
            server.frame(Millis(50 * at));
            take_text(&mut server, OutputKind::Console)
        })
        .filter(|printed| printed.contains(" lines, "))
        .collect();
    let [printed] = &frames[..] else { panic!("{frames:?}") };
    let more = "more.cfg: 3 lines, 1 setting set, 1 stored as a variable\n";
    let of_server = "server.cfg: 5 lines, 1 setting set, 1 not understood\n";
    assert!(printed.contains(more) && printed.ends_with(of_server), "{printed}");
    assert!(!run(&mut server, "exec more; wait").contains(" lines, "), "of the console");
}

#[test]
fn private_slots_of_script_are_reduced_with_their_line() {
    let script = "set sv_hostname x\nset sv_privateClients 63\nset sv_maxclients 12";
    let mut server = start(&[("server.cfg", script)], &["exec server"]).expect("a start");
    let note = "sv_privateClients: \"63\" read as 12 (expected at most sv_maxclients, 12)";
    let messages = server.start_messages().concat();
    assert!(messages.contains(&format!("server.cfg:2: {note}")), "{messages}");
    assert_eq!(run(&mut server, "set sv_privateClients 63"), format!("{note}\n"));
    assert_eq!(server.settings().int(key::SV_PRIVATE_CLIENTS), 12);
}

#[test]
fn rotation_survives_level_that_reloads_itself() {
    let mut server = start(&[], &["map court", "set nextmap \"vstr d2\""]).expect("a start");
    server.start_clock_at(LevelTime(0));
    assert_eq!(server.settings().get("nextmap"), Some("vstr d2"));
    run(&mut server, "set g_gametype 3; map_restart \"\"");
    assert_eq!(server.settings().get("g_gametype"), Some("3"), "an empty word is 0 seconds");
    assert_eq!(server.settings().get("nextmap"), Some("vstr d2"));
    run(&mut server, "map yard");
    assert_eq!(server.settings().get("nextmap"), Some("map_restart 0"));
}

#[test]
fn wait_puts_off_rest_of_all_texts() {
    let mut server = server(&[("two.cfg", "echo a; wait 2; echo b")]);
    server.frame(Millis(50));
    assert_eq!(run(&mut server, "execq two; echo c"), "a\n");
    assert_eq!(run(&mut server, "echo now"), "now\n");
    let mut frame = |at| {
        server.frame(Millis(at));
        take_text(&mut server, OutputKind::Console)
    };
    assert_eq!([frame(100), frame(150), frame(200)], ["", "b\nc\n", ""]);
    run(&mut server, "set loop \"echo x; wait; vstr loop\"; vstr loop");
    for at in 0..40 {
        server.frame(Millis(250 + 50 * at));
        let printed: String = take_text(&mut server, OutputKind::Console);
        assert_eq!(printed, "x\n", "frame {at}");
    }
}

#[test]
fn settings_are_reset_toggled_and_unset() {
    let mut server = server(&[]);
    run(
        &mut server,
        "set fraglimit 5; reset fraglimit; toggle g_friendlyFire; toggle sv_fps 20 30 40; toggle fresh",
    );
    run(&mut server, "set own 1; unset own; set \" Email\" x; sets \" Email\" kim@example.org");
    let get = |name: &str| server.settings().get(name).map(str::to_owned);
    assert_eq!(get("fraglimit").as_deref(), Some("20"));
    assert_eq!(get("g_friendlyFire").as_deref(), Some("1"));
    assert_eq!(get("sv_fps").as_deref(), Some("30"));
    assert_eq!((get("own"), get("fresh").as_deref()), (None, Some("1")));
    assert!(server.settings().serverinfo().any(|pair| pair == (" Email", "kim@example.org")));
    assert!(run(&mut server, "unset sv_fps").contains("is a setting"));
    assert_eq!(run(&mut server, "dir maps"), "maps/yard.bsp\n1 files .bsp in maps\n");
}

#[test]
fn cvar_restart_keeps_operator_only_settings() {
    let mut server = server(&[]);
    run(
        &mut server,
        "set fraglimit 5; set own 1; rconPassword sesame; sv_maxclients 12; g_needpass",
    );
    let said = run(&mut server, "cvar_restart");
    assert!(said.contains(", 1 variable removed"), "{said}");
    let get = |name: &str| server.settings().get(name).map(str::to_owned);
    assert_eq!((get("fraglimit").as_deref(), get("own")), (Some("20"), None));
    assert_eq!(
        (get("rconPassword").as_deref(), get("map").as_deref()),
        (Some("sesame"), Some("yard"))
    );
    assert_eq!(server.settings().latched("sv_maxclients"), None);
}

#[test]
fn lists_show_archives_and_entities() {
    let mut server = server(&[]);
    assert_eq!(
        run(&mut server, "path"),
        "0 archives; files in folders precede those of archives\n"
    );
    let said = run(&mut server, "entitylist");
    assert!(said.ends_with("entities\n") && said.lines().count() > 1, "{said}");
    assert_eq!(run(&mut server, "entitylist Beam"), "0 entities\n");
    assert!(run(&mut server, "killserver").starts_with("killserver ignored: "));
    assert_eq!(run(&mut server, "cp"), "Usage: cp <text>\n");
    assert_eq!(run(&mut server, "cp hello"), "");
}

#[test]
fn help_lists_commands_of_the_game() {
    let mut server = server(&[]);
    for name in ["addip", "forceteam", "listip", "removeip", "say_team", "wait", "unset"] {
        assert!(run(&mut server, &format!("help {name}")).starts_with(name), "{name}");
        assert!(run(&mut server, "cmdlist").lines().any(|line| line == name), "{name}");
    }
    assert!(run(&mut server, "help fraglimit").starts_with("fraglimit is a setting: "));
    assert!(run(&mut server, "help addipp").contains("did you mean addip?"));
    assert!(run(&mut server, "counters frame").contains("q3_"));
}

#[test]
fn unsupported_game_type_is_shown_in_status() {
    let mut server = start(&[], &["g_gametype 7"]).expect("a start");
    server.frame(Millis(50));
    assert_eq!(server.settings().get("g_gametype"), Some("0"));
    let status = run(&mut server, "status");
    assert!(status.contains("\ng_gametype 7 not supported (expected 0, 1, 3 or 4)"), "{status}");
}

#[test]
fn kick_takes_number_as_slot_while_it_is_used() {
    let mut sim = SimFixture::new(3, &[]);
    for name in ["alpha", "7", "0"] {
        sim.join(Protocol::OA_71, name);
    }
    sim.run_for(Millis::seconds(3));
    assert_eq!(sim.server().active_clients(), 3);
    sim.console("kick 7");
    sim.run_for(Millis::seconds(1));
    assert_eq!(sim.server().active_clients(), 2, "slot 7 is empty");
    sim.console("kick 0");
    sim.run_for(Millis::seconds(1));
    assert_eq!(sim.server().active_clients(), 1);
    let left = fragd::model::ClientNum::new(2).and_then(|slot| sim.server().player(slot));
    assert!(left.is_some(), "slot 0 was kicked, not the name");
    sim.console("kick 5");
    let printed: String = std::iter::from_fn(|| sim.server_output()).collect();
    assert!(printed.ends_with("Client 5 is not active\n"), "{printed}");
}

#[test]
fn settings_of_running_module_are_its_own() {
    let mut settings = Settings::default();
    settings.set("vm_game", "1").expect("a choice");
    for (name, value) in [("timelimit", "10.5"), ("g_gametype", "13"), ("g_forcerespawn", "never")]
    {
        let set = |settings: &mut Settings, source| {
            settings.set_with(SetCommand::Set, source, name, value)
        };
        for source in [ChangeSource::Script, ChangeSource::Console, ChangeSource::File] {
            assert!(set(&mut settings, source).is_ok(), "{name}");
        }
        assert_eq!(settings.get(name), Some(value));
    }
    assert_eq!(settings.int(key::G_GAMETYPE), 12, "readers in the program get accepted numbers");
    settings.set_with(SetCommand::Set, ChangeSource::Script, "g_xp", "1").expect("a variable");
    assert_eq!(settings.poll_note(), None);
}
