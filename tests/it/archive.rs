//! Settings and rotations that outlast a server: archive, `writeconfig`, precedence.

use std::rc::Rc;

use fragd::{
    model::{Millis, assets::MemoryAssets, state_folder::StateFolder},
    node::{Hosted as _, Input, Node as _, OutputKind, take_text},
    server::Server,
    settings::{SetCommand, Settings},
    testing::sample_maps::{TestMap, YARD},
};

use crate::memory_state::MemoryState;

const START: Millis = Millis(10_000);
const MAPS: [&str; 3] = ["alpha", "beta", "gamma"];

/// Start of a server with a state folder.
#[derive(Default)]
struct Start {
    state: Rc<MemoryState>,
    set: Vec<(&'static str, &'static str)>,
    overrides: Vec<(&'static str, &'static str)>,
    script: &'static str,
    lines: Vec<&'static str>,
}

impl Start {
    fn run(&self) -> Server {
        let mut assets = MemoryAssets::default();
        for map in MAPS {
            let name = format!("maps/{map}.bsp");
            assets.insert(&name, TestMap::test_yard(YARD).file()).expect("a path");
        }
        assets.insert("server.cfg", self.script.as_bytes().to_vec()).expect("a path");
        let mut settings = Settings::default();
        let sets = [("map", "alpha"), ("sv_pure", "0")];
        for (name, value) in sets.iter().chain(&self.set).chain(&self.overrides) {
            settings.set(name, value).expect("a setting");
        }
        settings.start().expect("a valid combination");
        let text = |text: &&str| (*text).to_owned();
        let over = |(name, value): &(&str, &str)| (SetCommand::Set, text(name), text(value));
        let state: Rc<dyn StateFolder> = Rc::clone(&self.state) as _;
        let mut server = Server::builder(settings, [9; 32])
            .assets(assets)
            .state(Some(state))
            .overrides(self.overrides.iter().map(over).collect())
            .lines(self.lines.iter().map(text).collect())
            .build();
        server.frame(START);
        server
    }
}

fn run(server: &mut Server, line: &str) -> String {
    server.handle_input(START, Input::ConsoleLine(line));
    take_text(server, OutputKind::Console)
}

/// Values of a server's settings.
fn values<const N: usize>(server: &Server, names: [&str; N]) -> [Option<String>; N] {
    names.map(|name| server.settings().get(name).map(str::to_owned))
}

fn some<const N: usize>(values: [&str; N]) -> [Option<String>; N] {
    values.map(|value| Some(value.to_owned()))
}

#[test]
fn archived_settings_outlast_the_server() {
    let start = Start::default();
    let mut first = start.run();
    for line in [
        "sv_hostname \"a // b\"",
        "sv_maxclients 12",
        "g_gravity 100",
        "seta g_speed 400",
        "seta own x; set own y",
        "setu fraglimit 33",
        "set later \"timelimit 44\"; vstr later",
        "seta rconPassword hunter2hunter2",
    ] {
        run(&mut first, line);
    }
    first.frame(START + Millis(2000));
    let file = "// Settings of fragd that outlast the server. Scripts and the command line win over them.\n\
                seta g_speed \"400\"\nseta own \"y\"\nseta rconPassword \"hunter2hunter2\"\n\
                seta sv_hostname \"a // b\"\nseta sv_maxclients \"12\"\n";
    assert_eq!(start.state.file("settings.cfg"), file);
    drop(first);

    let mut second = start.run();
    let names = ["sv_hostname", "sv_maxclients", "g_gravity", "g_speed", "own", "fraglimit"];
    assert_eq!(values(&second, names), some(["a // b", "12", "800", "400", "y", "20"]));
    assert_eq!(second.start_messages().join(""), "");
    run(&mut second, "reset sv_hostname; unset own; reset g_speed; reset rconPassword");
    drop(second);
    let file = start.state.file("settings.cfg");
    assert!(file.ends_with("them.\nseta sv_maxclients \"12\"\n"), "{file}");
}

#[test]
fn start_archives_nothing_and_wins() {
    let mut start = Start {
        set: vec![("sv_hostname", "toml"), ("timelimit", "5")],
        overrides: vec![("fraglimit", "7")],
        script: "seta timelimit 15\nseta capturelimit 3\nwait\nseta dmflags 8\n",
        lines: vec!["exec server.cfg"],
        ..Start::default()
    };
    start.state.put(
        "settings.cfg",
        "seta sv_hostname archive\nseta fraglimit 8\nseta timelimit 16\nseta rconPassword secret99\n",
    );
    let mut server = start.run();
    let names = ["sv_hostname", "fraglimit", "timelimit", "capturelimit"];
    assert_eq!(values(&server, names), some(["archive", "7", "15", "3"]));
    let told = server.start_messages().join("");
    assert!(
        told.contains("timelimit is \"15\" (server.cfg:1), not the archived \"16\"\n"),
        "{told}"
    );
    assert!(told.contains("fraglimit is \"7\", not the archived \"8\"\n"), "{told}");
    assert!(!told.contains("sv_hostname is"), "{told}");
    server.frame(START + Millis(2000));
    assert!(start.state.file("settings.cfg").contains("archive\nseta fraglimit 8\n"), "unchanged");
    drop(server);
    // Secrets are not told.
    start.overrides.push(("rconPassword", "other999"));
    let told = start.run().start_messages().join("");
    assert!(told.contains("rconPassword is ***, not the archived ***\n"), "{told}");
}

#[test]
fn unreadable_archive_is_kept_aside() {
    let start = Start::default();
    start.state.put("settings.cfg", "seta sv_hostname kept\nnonsense\n");
    start.state.put("values.json", "{");
    let mut server = start.run();
    assert_eq!(values(&server, ["sv_hostname"]), some(["noname"]));
    run(&mut server, "sv_hostname new");
    drop(server);
    assert!(start.state.file("settings.cfg.bad").contains("nonsense"));
    assert_eq!(start.state.file("values.json.bad"), "{");
    assert_eq!(values(&start.run(), ["sv_hostname"]), some(["new"]));
}

#[test]
fn busy_disk_delays_the_archive() {
    let start = Start::default();
    let mut server = start.run();
    *start.state.is_busy.borrow_mut() = true;
    run(&mut server, "sv_hostname late");
    server.frame(START + Millis(2000));
    assert_eq!(start.state.file("settings.cfg"), "");
    *start.state.is_busy.borrow_mut() = false;
    server.frame(START + Millis(4000));
    assert!(start.state.file("settings.cfg").contains("late"));
    run(&mut server, "sv_hostname last");
    server.frame(START + Millis(4100));
    assert!(!start.state.file("settings.cfg").contains("\"last\""), "once a second");
    drop(server);
    assert!(start.state.file("settings.cfg").contains("\"last\""));
}

#[test]
fn address_masks_of_the_game_are_archived() {
    let start = Start::default();
    run(&mut start.run(), "addip 10.*.2.*");
    let file = start.state.file("settings.cfg");
    assert!(file.contains("seta g_banIPs \"10.*.2.*\"\n"), "{file}");
}

#[test]
fn written_config_is_run_by_exec() {
    let start = Start { script: "set a b", ..Start::default() };
    let mut server = start.run();
    run(&mut server, "sv_hostname friday; timelimit 33; seta own z; g_gravity 5");
    let told = run(&mut server, "writeconfig friday");
    assert!(
        told.contains(" settings written to state/friday.cfg; exec friday sets them"),
        "{told}"
    );
    for name in ["../x", "settings", "server", "a.b", "", "a/b"] {
        let told = run(&mut server, &format!("writeconfig \"{name}\""));
        assert!(told.starts_with("Error: "), "{name}: {told}");
    }
    let file = start.state.file("friday.cfg");
    assert!(file.contains("seta sv_hostname \"friday\"\n") && file.contains("seta own \"z\"\n"));
    assert!(!file.contains("rconPassword") && !file.contains("g_gravity"), "{file}");
    run(&mut server, "sv_hostname monday; timelimit 1");
    run(&mut server, "exec friday");
    assert_eq!(values(&server, ["sv_hostname", "timelimit"]), some(["friday", "33"]));
    let many: String = (0..40).map(|at| run(&mut server, &format!("writeconfig f{at}"))).collect();
    assert!(many.contains("too many files (max 16 in a run)"), "{many}");
}

#[test]
fn rotation_goes_on_after_a_restart() {
    let script = "set d1 \"map alpha ; set nextmap vstr d2\"\n\
                  set d2 \"map beta ; set nextmap vstr d3\"\n\
                  set d3 \"map gamma ; set nextmap vstr d1\"\nvstr d1\n";
    let mut start = Start { script, lines: vec!["exec server.cfg"], ..Start::default() };
    let mut server = start.run();
    assert_eq!(values(&server, ["mapname"]), some(["alpha"]));
    run(&mut server, "vstr nextmap");
    assert_eq!(values(&server, ["mapname", "nextmap"]), some(["beta", "vstr d3"]));
    drop(server);
    for _ in 0..2 {
        let server = start.run();
        assert_eq!(values(&server, ["mapname", "nextmap"]), some(["beta", "vstr d3"]));
        assert!(server.start_messages().join("").contains("map rotation continues with d2\n"));
    }
    // A chain without the step, and a map of the command line, start as they say.
    start.script = "set d1 \"map gamma ; set nextmap vstr d1\"\nvstr d1\n";
    assert_eq!(values(&start.run(), ["mapname"]), some(["gamma"]));
    start.script = script;
    start.state.put("values.json", "{\"rotation\":\"d2\"}");
    start.lines.push("map gamma");
    assert_eq!(values(&start.run(), ["mapname"]), some(["gamma"]));
}
