//! Generated scripts as real servers have them. The start of a server gives the values that they set.

use std::collections::BTreeMap;

use fragd::{
    impairment::SeededRng,
    model::{Millis, assets::MemoryAssets},
    node::Node as _,
    server::Server,
    settings::Settings,
    testing::sample_maps::{TestMap, YARD},
};

use super::{pick, seeds};

/// Script that is written part by part, with the values that it must give.
struct Script {
    rng: SeededRng,
    text: String,
    /// Other scripts, by name.
    others: Vec<(String, String)>,
    /// Expected values, by lower-case name. The last setting counts.
    values: BTreeMap<String, String>,
    /// Expected level and its successor.
    level: (String, String),
    /// Description for failures.
    what: String,
}

impl Script {
    fn line(&mut self, line: &str) {
        self.text += line;
        self.text.push('\n');
    }

    fn expect(&mut self, name: &str, value: &str) {
        self.values.insert(name.to_ascii_lowercase(), value.to_owned());
    }

    fn below(&mut self, limit: u64) -> u64 {
        self.rng.below(limit)
    }

    /// A whole number of a setting.
    fn number(&mut self) -> (&'static str, String) {
        let names = ["timelimit", "fraglimit", "capturelimit", "sv_privateClients"];
        let name = *pick(&mut self.rng, &names);
        (name, (1 + self.below(20)).to_string())
    }

    /// A name of a mod's setting.
    fn own_name(&mut self) -> String {
        let begin = *pick(&mut self.rng, &["xp_", "ref_", "match_", "osp_"]);
        format!("{begin}own{}", self.below(40))
    }

    /// A command that sets.
    fn command(&mut self) -> &'static str {
        const COMMANDS: &[&str] = &["set", "seta", "sets", "SETA", "Set"];
        let command: &&'static str = pick(&mut self.rng, COMMANDS);
        command
    }
}

/// Part of a script: a name for failures, and its lines.
type ScriptPart = (&'static str, fn(&mut Script));

const PARTS: &[ScriptPart] = &[
    ("set with a bare word", |script| {
        let ((name, value), set) = (script.number(), script.command());
        script.line(&format!("{set} {name} {value}"));
        script.expect(name, &value);
    }),
    ("set with quotes, tabs and a comment", |script| {
        let ((name, value), set) = (script.number(), script.command());
        script
            .line(&format!("\t {set}\t\t{name}   \"{value}\"\t// it's \"{value}\"; set {name} 99"));
        script.expect(name, &value);
    }),
    ("name and value alone", |script| {
        let (name, value) = script.number();
        script.line(&format!("{} \"{value}\"", name.to_ascii_uppercase()));
        script.expect(name, &value);
    }),
    ("numbers with a fraction or a unit", |script| {
        let ((name, value), set) = (script.number(), script.command());
        let end = *pick(&mut script.rng, &[".0", ".75", "min", " // minutes"]);
        script.line(&format!("{set} {name} {value}{end}"));
        script.expect(name, &value);
    }),
    ("comments", |script| {
        script.line("// set timelimit 99");
        script.line("/* set fraglimit 98");
        script.line("   \"set capturelimit 97 */");
        script.line("//////////////////////////////");
        script.line("");
    }),
    ("comment inside a line", |script| {
        let (name, value) = script.number();
        script.line(&format!("set {name} /* was 99 */ {value}"));
        script.expect(name, &value);
    }),
    ("several commands in a line", |script| {
        let ((a, one), (b, two)) = (script.number(), script.number());
        script.line(&format!("set {a} {one};set {b} \"{two}\" ; ;"));
        script.expect(a, &one);
        script.expect(b, &two);
    }),
    ("address with slashes in quotes", |script| {
        let name = script.own_name();
        script.line(&format!("sets {name} \"http://example.org/q3//a\" // the site"));
        script.expect(&name, "http://example.org/q3//a");
    }),
    ("separator in quotes", |script| {
        let name = script.own_name();
        script.line(&format!("set {name} \"map x; set nextmap vstr y\" ; echo"));
        script.expect(&name, "map x; set nextmap vstr y");
    }),
    ("address with slashes without quotes", |script| {
        let name = script.own_name();
        script.line(&format!("set {name} http://example.org/q3"));
        script.expect(&name, "http:");
    }),
    ("host name with colors", |script| {
        let number = script.below(1000);
        let name = format!("^1Red^7 & ^xFF8000Gold [{number}] | 24/7");
        script.line(&format!("sets sv_hostname \"{name}\""));
        script.expect("sv_hostname", &name);
    }),
    ("several words without quotes", |script| {
        script.line("seta sv_hostname My   own server");
        script.expect("sv_hostname", "My own server");
    }),
    ("quote that is not closed", |script| {
        let (name, value) = script.number();
        script.line(&format!("set {name} \"{value}"));
        script.expect(name, &value);
    }),
    ("setting of a mod", |script| {
        let (name, value) = (script.own_name(), script.below(99).to_string());
        let set = script.command();
        script.line(&format!("{set} {name} \"{value}\""));
        script.expect(&name, &value);
    }),
    ("command of a mod", |script| script.line("xp_config 1 2 \"3\"")),
    ("script of another file", |script| {
        let ((name, value), at) = (script.number(), script.others.len());
        let file = format!("part{at}.cfg");
        let ending = *pick(&mut script.rng, &["", ".cfg"]);
        let quote = *pick(&mut script.rng, &["", "\""]);
        script.line(&format!("exec {quote}part{at}{ending}{quote}"));
        script.others.push((file, format!("// part\nset {name} {value}")));
        script.expect(name, &value);
    }),
    ("chain of scripts", |script| {
        let ((name, value), at) = (script.number(), script.others.len());
        script.line(&format!("execq part{at}; exec nosuch{at}"));
        let (first, second) = (format!("part{at}.cfg"), format!("sub/part{at}.cfg"));
        script.others.push((first, format!("set {name} 99\nexecq sub/part{at}\n")));
        script.others.push((second, format!("set {name} {value}\n")));
        script.expect(name, &value);
    }),
    ("text of a variable", |script| {
        let ((name, value), own) = (script.number(), script.own_name());
        let text = format!("set {name} {value}");
        script.line(&format!("set {own} \"{text}\"\nvstr {own}"));
        script.expect(&own, &text);
        script.expect(name, &value);
    }),
];

/// Last lines, which choose the level.
const LEVELS: &[ScriptPart] = &[
    ("map", |script| {
        script.line("map court");
        script.level = ("court".to_owned(), "map_restart 0".to_owned());
    }),
    ("rotation", |script| {
        script.line("set d1 \"map court ; set nextmap vstr d2\"");
        script.line("set d2 \"map yard ; set nextmap vstr d1\"\nvstr d1");
        script.level = ("court".to_owned(), "vstr d2".to_owned());
    }),
    ("rotation that another file defines behind its map", |script| {
        script.line("map yard\nexec maps");
        let text = "set m1 \"map court; set nextmap vstr m2\"\nset m2 \"map yard; set nextmap vstr m1\"\nset nextmap vstr m1";
        script.others.push(("maps.cfg".to_owned(), text.to_owned()));
        script.level = ("yard".to_owned(), "vstr m1".to_owned());
    }),
    ("no map", |_| {}),
];

/// Name of an encoding, and the bytes that it gives a text.
type Encoding = (&'static str, fn(&str) -> Vec<u8>);

/// Encodings and line ends of files.
const ENCODINGS: &[Encoding] = &[
    ("UTF-8", |text| text.as_bytes().to_vec()),
    ("UTF-8 with a mark", |text| [b"\xef\xbb\xbf", text.as_bytes()].concat()),
    ("CRLF", |text| text.replace('\n', "\r\n").into_bytes()),
    ("CR", |text| text.replace('\n', "\r").into_bytes()),
    ("UTF-16 with a mark", |text| {
        let units = text.replace('\n', "\r\n");
        [0xff, 0xfe].into_iter().chain(units.encode_utf16().flat_map(u16::to_le_bytes)).collect()
    }),
    ("without a last line end", |text| text.trim_end().as_bytes().to_vec()),
];

fn generated(seed: u64) -> Script {
    let mut script = Script {
        rng: SeededRng::new(seed),
        text: String::new(),
        others: Vec::new(),
        values: BTreeMap::new(),
        level: ("yard".to_owned(), "map_restart 0".to_owned()),
        what: format!("seed {seed}"),
    };
    for _ in 0..1 + script.below(25) {
        let part = *pick(&mut script.rng, PARTS);
        (part.1)(&mut script);
        script.what += &format!(", {}", part.0);
    }
    let level = *pick(&mut script.rng, LEVELS);
    (level.1)(&mut script);
    script.what += &format!(", {}", level.0);
    script
}

/// Starts a server with the script on its command line, in front of no map.
fn start(script: &mut Script) -> Server {
    let mut settings = Settings::default();
    for (name, value) in [("map", "yard"), ("sv_pure", "0"), ("sv_maxclients", "32")] {
        settings.set(name, value).unwrap();
    }
    settings.start().unwrap();
    let mut assets = MemoryAssets::default();
    for map in ["maps/yard.bsp", "maps/court.bsp"] {
        assets.insert(map, TestMap::test_yard(YARD).file()).unwrap();
    }
    let mut files = std::mem::take(&mut script.others);
    files.push(("server.cfg".to_owned(), script.text.clone()));
    for (name, text) in files {
        let (encoding, encode) = *pick(&mut script.rng, ENCODINGS);
        script.what += &format!(", {name} in {encoding}");
        assets.insert(&name, encode(&text)).unwrap();
    }
    let built = Server::builder(settings, [9; 32])
        .assets(assets)
        .lines(vec!["exec server".to_owned()])
        .start();
    built.unwrap_or_else(|error| panic!("{error}: {}\n{}", script.what, script.text))
}

#[test]
fn generated_scripts_give_their_values_at_the_start() {
    for seed in seeds(150) {
        let mut script = generated(seed);
        let mut server = start(&mut script);
        server.frame(Millis(50));
        server.frame(Millis(100));
        let get = |name: &str| server.settings().get(name).unwrap_or_default();
        let what = format!("{}\n{}", script.what, script.text);
        for (name, value) in &script.values {
            assert_eq!(get(name), value, "{name} of {what}");
        }
        let level = (get("mapname").to_owned(), get("nextmap").to_owned());
        assert_eq!(level, script.level, "{what}");
    }
}
