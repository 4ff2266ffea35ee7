//! Console scripts: `exec`, the configuration of a mod, their limits, and their replay.

use fragd::{
    model::{ConfigIndex, Millis, assets::MemoryAssets},
    node::{Hosted as _, Node as _},
    server::Server,
    settings::{SetCommand, Settings},
    testing::sample_maps::{TestMap, YARD},
};

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
    server.handle_console_line(Millis(0), line);
    std::iter::from_fn(|| server.poll_console()).collect()
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
    assert!(printed.ends_with("exec: recursion limit reached (16)\n"), "{printed}");
    frame(&mut server);
    let printed = run(&mut server, "execq twice");
    assert!(printed.contains("couldn't exec twice.cfg: script limit reached (32 in a frame)"));
    assert!(printed.lines().count() < 40, "{} lines", printed.lines().count());
    // A line of the same frame reads no more scripts.
    assert!(run(&mut server, "exec long").contains("script limit"));
    frame(&mut server);
    assert_eq!(run(&mut server, "execq long"), "command ignored: over 2048 bytes\nnext\n");
    let printed = run(&mut server, "execq many");
    assert_eq!(printed.lines().count(), 8191);
    assert!(printed.ends_with("command limit reached (8192): rest of line ignored\n"));
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
    let mut printed = || -> String { std::iter::from_fn(|| server.poll_console()).collect() };
    let before = printed();
    assert!(before.starts_with("rotated\nnet_port is write protected"), "{before}");
    server.frame(Millis(50));
    let after: String = std::iter::from_fn(|| server.poll_console()).collect();
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
