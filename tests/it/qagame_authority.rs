//! Authority of game modules and mods: operator-only settings and commands, passwords.

use fragd::{
    model::{ConfigIndex, Millis},
    observe::Counter,
    server::{Server, ends_with_start},
    settings::Flags,
};

use crate::{
    qagame::{ENGINES, OF_MOD, server, server_set, small_game_of_mod},
    qagame_files::FileDrill,
};

/// Places in the memory of the module.
const NAME: i32 = 1000;
const VALUE: i32 = 2000;
const BUFFER: i32 = 4000;
/// Configstring that shows a buffer.
const SHOWN: usize = 45;

const PASSWORDS: [(&str, &str); 4] = [
    ("rconPassword", "of the operator"),
    ("sv_privatePassword", "of friends"),
    ("sv_relayPassword", "of relays"),
    ("g_password", "of players"),
];

/// A module that acts against its operator.
struct Mutiny(FileDrill);

impl Mutiny {
    fn new(engine: &'static str, set: &[(&str, &str)]) -> Self {
        let files = [
            ("drill.cfg", "set sv_dlURL dl.example.net"),
            ("server.cfg", SERVER_CONFIG),
            ("fragd.toml.bak", SERVER_CONFIG),
        ];
        Self(FileDrill::with_files(engine, set, &files))
    }

    /// Reads a setting by its name.
    fn read(&mut self, name: &str) -> String {
        let (name, buffer) = (self.0.write(NAME, name), self.0.place(BUFFER));
        self.0.call(1, 7, &[name, buffer, 200]);
        self.shown()
    }

    fn shown(&mut self) -> String {
        let buffer = self.0.place(BUFFER);
        self.0.call(1, 18, &[SHOWN as i32, buffer]);
        let index = ConfigIndex::new(SHOWN).expect("an index");
        self.0.sim.server().configstring(index).to_owned()
    }

    /// Sets a setting by the service.
    fn set(&mut self, name: &str, value: &str) {
        let (name, value) = (self.0.write(NAME, name), self.0.write(VALUE, value));
        self.0.call(1, 5, &[name, value]);
    }

    /// Queues a console line at a time.
    fn line_at(&mut self, when: i32, line: &str) {
        let line = self.0.write(NAME, line);
        self.0.call(1, 14, &[when, line]);
        self.0.sim.run_for(Millis(300));
    }

    fn line(&mut self, line: &str) {
        self.line_at(2, line);
    }

    /// A line of the operator.
    fn operator(&mut self, line: &str) {
        self.0.sim.console(line);
        self.0.sim.run_for(Millis(300));
    }

    fn value(&self, name: &str) -> String {
        self.server().settings().get(name).unwrap_or_default().to_owned()
    }

    fn server(&self) -> &Server {
        self.0.sim.server()
    }

    fn refused(&self) -> u64 {
        self.server().counters().get(Counter::AuthorityRefused)
    }
}

const SERVER_CONFIG: &str = "set rconPassword hunter22; set g_x 1\nset fraglimit 3\n";

#[test]
fn passwords_read_as_empty_for_modules() {
    for engine in ENGINES {
        let mut module = Mutiny::new(engine, &PASSWORDS);
        let read = PASSWORDS.map(|(name, _)| module.read(name));
        // The module itself checks the password of players.
        assert_eq!(read, ["", "", "", "of players"], "{engine}");
        assert_eq!(module.read("sv_hostname"), "noname", "{engine}");
        module.operator("set sv_trustMod 1");
        let read = PASSWORDS.map(|(name, _)| module.read(name));
        assert_eq!(read, PASSWORDS.map(|(_, value)| value), "{engine}");
    }
}

#[test]
fn scripts_are_masked_for_modules() {
    let mut module = Mutiny::new("1", &[]);
    let read = |module: &mut Mutiny, name: &str| {
        let len = module.0.open(name, 0);
        let (buffer, handle) = (module.0.place(BUFFER), 1);
        module.0.call(1, 100, &[buffer, 0, 100]);
        module.0.call(1, 11, &[buffer, len, handle]);
        module.0.call(1, 13, &[handle]);
        module.shown()
    };
    for name in ["server.cfg", "fragd.toml.bak"] {
        assert_eq!(read(&mut module, name), "set rconPassword ***\nset fraglimit 3\n", "{name}");
    }
    module.operator("set sv_trustMod 1");
    assert_eq!(read(&mut module, "server.cfg"), SERVER_CONFIG);
}

#[test]
fn operator_settings_refuse_modules() {
    for engine in ENGINES {
        let mut module = Mutiny::new(engine, &PASSWORDS);
        let attempts = [
            ("rconPassword", "hackedpassword"),
            ("sv_rconAllow", "any"),
            ("sv_dlURL", "dl.example.org"),
            ("sv_master1", "192.0.2.1"),
            ("sv_lanNetworks", "any"),
            ("sv_trustMod", "1"),
            ("sv_cheats", "1"),
            ("g_password", "none"),
        ];
        let before = attempts.map(|(name, _)| module.value(name));
        for (name, value) in attempts {
            module.set(name, value);
            for when in 0..3 {
                module.line_at(when, &format!("set {name} {value}"));
            }
            module.line(&format!("{name} {value}"));
        }
        assert_eq!(attempts.map(|(name, _)| module.value(name)), before, "{engine}");
        assert_eq!(module.refused(), 5 * attempts.len() as u64, "{engine}");
        // The service may write read-only settings that are not the operator's, and no cheats.
        module.set("g_needpass", "1");
        module.set("timescale", "5");
        assert_eq!(
            (module.value("g_needpass"), module.value("timescale")),
            ("1".into(), "1".into())
        );
        // A module that repeats a value is not refused.
        let own = module.value("sv_rconAllow");
        module.set("sv_rconAllow", &own);
        assert_eq!(module.refused(), 5 * attempts.len() as u64, "{engine}");
    }
}

#[test]
fn modules_change_rules_and_level() {
    let mut module = Mutiny::new("1", &[]);
    module.set("g_own", "1");
    module.line("set fraglimit 7; set g_own 2; set nextmap vstr d1");
    assert_eq!((module.value("fraglimit"), module.value("g_own")), ("7".into(), "2".into()));
    let before = module.value("sv_serverid");
    module.line("map yard");
    assert_ne!(module.value("sv_serverid"), before);
    for line in ["quit", "devmap yard", "record all", "heartbeat", "wait 2; quit"] {
        module.line(line);
    }
    assert!(module.refused() == 5 && module.value("sv_cheats") == "0");
    assert_eq!(module.server().active_clients(), 2);
}

#[test]
fn texts_of_modules_keep_their_right() {
    let evil = "set sv_rconAllow any";
    let mut module = Mutiny::new("1", &[]);
    let is_refused = |module: &mut Mutiny, line: &str| {
        let before = module.refused();
        module.operator(line);
        let is_same = module.value("sv_rconAllow") != "any" && module.value("sv_dlURL").is_empty();
        assert!(is_same, "{line}");
        module.refused() == before + 1
    };
    module.set("evil", evil);
    assert!(is_refused(&mut module, "vstr evil"));
    module.line("set outer vstr evil");
    assert!(is_refused(&mut module, "vstr outer"));
    module.set("later", "wait 2; set sv_rconAllow any");
    assert!(is_refused(&mut module, "vstr later"));
    module.set("nextmap", evil);
    assert!(is_refused(&mut module, "vstr nextmap"));
    // A restart that loads the map puts the value back.
    module.operator("set g_gametype 3");
    module.operator("map_restart 0");
    assert_eq!((module.value("g_gametype"), module.value("nextmap")), ("3".into(), evil.into()));
    assert!(is_refused(&mut module, "vstr nextmap"));
    // A script of the operator, run by the module; then a default of the module.
    module.set("run", "exec drill");
    assert!(is_refused(&mut module, "vstr run"));
    let (name, value) = (module.0.write(NAME, "preset"), module.0.write(VALUE, evil));
    module.0.call(1, 3, &[0, name, value, 0]);
    module.operator("set preset x");
    module.operator("reset preset");
    assert!(is_refused(&mut module, "vstr preset"));
    // The operator writes the same text.
    module.operator("set evil set sv_rconAllow private");
    module.operator("vstr evil");
    assert_eq!(module.value("sv_rconAllow"), "private");
    module.operator("exec drill");
    assert_eq!(module.value("sv_dlURL"), "dl.example.net");
}

#[test]
fn trusted_module_has_right_of_operator() {
    let mut module = Mutiny::new("1", &[("sv_trustMod", "1")]);
    module.line("set sv_dlURL dl.example.org");
    module.set("rconPassword", "of the module");
    assert_eq!(module.value("sv_dlURL"), "dl.example.org");
    assert_eq!((module.value("rconPassword"), module.refused()), ("of the module".into(), 0));
    module.line("quit");
    assert!(ends_with_start(module.server()));
}

#[test]
fn mod_config_has_right_of_mod() {
    let config = "set sv_dlURL dl.example.org\nset d1 \"set sv_rconAllow any\"\nset fraglimit 5\nset sv_rconLockout 300";
    let start = |set: &[(&str, &str)]| {
        let mut data = small_game_of_mod();
        data.insert_into_mod("autoexec.cfg", config.as_bytes().to_vec()).expect("a path");
        server_set(OF_MOD, data, set)
    };
    let refused = start(&[]);
    let messages = refused.start_messages().concat();
    let line = "autoexec.cfg:1: sv_dlURL is operator only: not changed by a script of the mod (sv_trustMod 1 permits it)";
    assert!(messages.contains(line), "{messages}");
    assert_eq!(refused.settings().get("sv_dlURL"), Some(""));
    assert_eq!(refused.settings().get("fraglimit"), Some("5"));
    assert_eq!(refused.counters().get(Counter::AuthorityRefused), 1);
    let trusted = start(&[("sv_trustMod", "1")]);
    assert_eq!(trusted.settings().get("sv_dlURL"), Some("dl.example.org"));
}

#[test]
fn mod_config_runs_no_operator_command_before_first_level() {
    for line in [
        "devmap court",
        "quit",
        "set a \"devmap court\"\nvstr a",
        "wait 2;quit",
        "wait;DEVMAP court",
    ] {
        let mut data = small_game_of_mod();
        data.insert_into_mod("autoexec.cfg", line.as_bytes().to_vec()).expect("a path");
        let server = server_set(OF_MOD, data, &[]);
        let messages = server.start_messages().concat();
        assert!(
            messages.contains(" is operator only: not run for a script of the mod"),
            "{messages}"
        );
        assert!(!ends_with_start(&server), "{line}");
        assert_eq!(server.settings().get("sv_cheats"), Some("0"), "{line}");
        assert_eq!(server.counters().get(Counter::AuthorityRefused), 1, "{line}");
    }
}

#[test]
fn operator_settings_are_marked_in_the_table() {
    let server = server("0", small_game_of_mod());
    for name in ["rconPassword", "sv_rconAllow", "sv_http", "sv_relayPassword", "sv_trustMod"] {
        let flags = server.settings().flags(name).expect("a row");
        assert!(flags.has(Flags::PROTECTED), "{name}");
    }
    for name in ["fraglimit", "nextmap", "sv_hostname", "g_needpass"] {
        let flags = server.settings().flags(name).expect("a row");
        assert!(!flags.has(Flags::PROTECTED), "{name}");
    }
    for row in fragd::settings::SETTINGS {
        let flags = server.settings().flags(row.name).expect("a row");
        assert!(!flags.has(Flags::SECRET) || flags.has(Flags::PROTECTED), "{}", row.name);
    }
}
