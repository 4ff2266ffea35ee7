//! The config file: TOML, `name = value`, with tables as headings only.
//!
//! A table is named after a group of settings, or `[serverinfo]` or `[variables]` for keys of the
//! operator's own. Everything wrong is reported with its line, up to a bound; nothing is guessed.
//! Invariant: text of any content and length is refused or read, in bounded time and without a panic.

use std::{collections::HashMap, fmt};

use toml::{
    Spanned,
    de::{DeTable, DeValue},
};

use super::{
    change::{SetCommand, Writer},
    nearest::{nearest_of, nearest_setting},
    setting::{Flags, Kind},
    store::Settings,
    table::{SETTINGS, is_ignored, row_named, setting_named},
};
use crate::model::text::{escaped, truncated};

/// Largest config file, in bytes.
pub const MAX_CONFIG_LEN: usize = 1024 * 1024;
/// Faults that are reported of one file.
const MAX_FAULTS: usize = 20;
/// Table of the operator's own keys that are shown in the serverinfo.
const SERVERINFO: &str = "serverinfo";
/// Table of the operator's own variables.
const VARIABLES: &str = "variables";

/// What is wrong with a config file: one line for each fault, as `file:line: what`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfigError {
    faults: Vec<String>,
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.faults.join("\n"))
    }
}

impl std::error::Error for ConfigError {}

impl Settings {
    /// Takes the settings of a config file. `path` only names it in messages.
    ///
    /// # Errors
    /// Every fault with file, line, key and what would be right. The settings are then half changed
    /// and fit for nothing.
    pub fn read_config(&mut self, path: &str, text: &str) -> Result<(), ConfigError> {
        if text.len() > MAX_CONFIG_LEN {
            let len = text.len();
            let fault = format!(
                "{path}: {len} bytes are too many for a config file, which has at most {MAX_CONFIG_LEN}"
            );
            return Err(ConfigError { faults: vec![fault] });
        }
        let mut reader = Reader { path, text, lines: HashMap::new(), faults: Vec::new() };
        match DeTable::parse(text) {
            Ok(document) => reader.document(self, document.get_ref()),
            Err(error) => {
                let at = error.span().map_or(0, |span| span.start);
                reader.fault(at, error.message().replace('\n', ", "));
            }
        }
        if reader.faults.is_empty() { Ok(()) } else { Err(ConfigError { faults: reader.faults }) }
    }
}

/// Walks one document.
struct Reader<'a> {
    path: &'a str,
    text: &'a str,
    /// Where each setting was set, by its row: a second time would hide the first.
    lines: HashMap<usize, usize>,
    faults: Vec<String>,
}

impl Reader<'_> {
    fn document(&mut self, settings: &mut Settings, document: &DeTable<'_>) {
        for (key, value) in in_file_order(document) {
            if self.is_full() {
                return;
            }
            let name = key.get_ref().as_ref();
            match value.get_ref() {
                DeValue::Table(table) => self.table(settings, key.span().start, name, table),
                _ => self.setting(settings, key.span().start, name, value.get_ref()),
            }
        }
    }

    fn table(&mut self, settings: &mut Settings, at: usize, name: &str, table: &DeTable<'_>) {
        let own = [SERVERINFO, VARIABLES].contains(&name);
        let groups = || SETTINGS.iter().map(|setting| setting.group.name);
        if !own && !groups().any(|group| group == name) {
            let shown = shown_key(name);
            if setting_named(name).is_some() {
                self.fault(at, format!("{shown} is a setting, not a table; write {shown} = value"));
                return;
            }
            let mut known: Vec<&str> = groups().chain([SERVERINFO, VARIABLES]).collect();
            known.dedup();
            let meant = match nearest_of(name, known.iter().copied()) {
                Some(near) => format!("did you mean [{near}]?"),
                None => format!("there are [{}]", known.join("], [")),
            };
            self.fault(at, format!("no table is named [{shown}]; {meant}"));
            return;
        }
        for (key, value) in in_file_order(table) {
            if self.is_full() {
                return;
            }
            let (at, key) = (key.span().start, key.get_ref().as_ref());
            if own {
                self.variable(settings, at, name, key, value.get_ref());
            } else {
                self.setting(settings, at, key, value.get_ref());
            }
        }
    }

    fn setting(&mut self, settings: &mut Settings, at: usize, name: &str, value: &DeValue<'_>) {
        let shown = shown_key(name);
        let Some(row) = row_named(name) else {
            if is_ignored(name) {
                if let Some(text) = plain_text(value) {
                    self.set(settings, at, SetCommand::Set, name, &text);
                }
                return;
            }
            let meant = match nearest_setting(name) {
                Some(near) => format!("did you mean {near}?"),
                None => format!("keys of your own go into [{SERVERINFO}] or [{VARIABLES}]"),
            };
            self.fault(at, format!("{shown}: no setting has this name; {meant}"));
            return;
        };
        let line = self.line_of(at);
        if let Some(first) = self.lines.insert(row, line) {
            self.fault(at, format!("{shown} is set twice, first in line {first}"));
            return;
        }
        let setting = &SETTINGS[row];
        let Some(text) = plain_text(value) else {
            let kind = value.type_str();
            self.fault(at, format!("{shown} cannot be a TOML {kind}: it takes {}", setting.kind));
            return;
        };
        if wants_quotes(&setting.kind) && !value.is_str() {
            let secret = setting.column(settings.game()).flags.has(Flags::SECRET);
            let example = if secret { "…".to_owned() } else { text };
            self.fault(at, format!("{shown} takes text in quotes: {shown} = \"{example}\""));
        } else {
            self.set(settings, at, SetCommand::Set, name, &text);
        }
    }

    fn variable(
        &mut self,
        settings: &mut Settings,
        at: usize,
        table: &str,
        name: &str,
        value: &DeValue<'_>,
    ) {
        let shown = shown_key(name);
        let Some(text) = plain_text(value) else {
            let kind = value.type_str();
            self.fault(at, format!("{shown} cannot be a TOML {kind}: it takes text in quotes"));
            return;
        };
        if setting_named(name).is_some() {
            self.fault(at, format!("{shown} is a setting and stands outside of [{table}]"));
            return;
        }
        let command = if table == SERVERINFO { SetCommand::Sets } else { SetCommand::Set };
        self.set(settings, at, command, name, &text);
    }

    fn set(
        &mut self,
        settings: &mut Settings,
        at: usize,
        command: SetCommand,
        name: &str,
        text: &str,
    ) {
        if let Err(error) = settings.set_with(command, Writer::File, name, text) {
            self.fault(at, error.to_string());
        }
    }

    fn fault(&mut self, at: usize, what: String) {
        let line = self.line_of(at);
        self.faults.push(format!("{}:{line}: {what}", self.path));
        if self.is_full() {
            self.faults.push(format!("{}: there may be more faults", self.path));
        }
    }

    fn is_full(&self) -> bool {
        self.faults.len() >= MAX_FAULTS
    }

    /// The line, counted from 1, of a byte of the text.
    fn line_of(&self, at: usize) -> usize {
        let before = self.text.as_bytes().get(..at).unwrap_or(self.text.as_bytes());
        before.iter().filter(|&&byte| byte == b'\n').count() + 1
    }
}

/// Entries as they stand in the file; the parser sorts them by name.
fn in_file_order<'a, 'i>(
    table: &'a DeTable<'i>,
) -> Vec<(&'a Spanned<std::borrow::Cow<'i, str>>, &'a Spanned<DeValue<'i>>)> {
    let mut entries: Vec<_> = table.iter().collect();
    entries.sort_by_key(|(key, _)| key.span().start);
    entries
}

/// A single value as text; `None` for tables, arrays and dates.
fn plain_text(value: &DeValue<'_>) -> Option<String> {
    match value {
        DeValue::String(text) => Some(text.to_string()),
        // Hexadecimal and the like come in their digits: let the plain number speak.
        DeValue::Integer(int) => Some(match i64::from_str_radix(int.as_str(), int.radix()) {
            Ok(number) => number.to_string(),
            Err(_) => int.to_string(),
        }),
        DeValue::Float(float) => Some(float.as_str().to_owned()),
        DeValue::Boolean(flag) => Some(flag.to_string()),
        DeValue::Datetime(_) | DeValue::Array(_) | DeValue::Table(_) => None,
    }
}

fn wants_quotes(kind: &Kind) -> bool {
    match kind {
        Kind::Flag | Kind::Int { .. } | Kind::IntOrOff { .. } | Kind::Float { .. } => false,
        Kind::Text { .. }
        | Kind::Name { .. }
        | Kind::Ipv4
        | Kind::Ipv6
        | Kind::Networks
        | Kind::Choice(_) => true,
    }
}

/// A key as messages name it.
fn shown_key(key: &str) -> String {
    escaped(truncated(key, 64).as_bytes())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::settings::{config_template, key};

    #[track_caller]
    fn faults(text: &str) -> Vec<String> {
        let error = Settings::default().read_config("f.toml", text).expect_err("refused");
        error.to_string().lines().map(str::to_owned).collect()
    }

    #[track_caller]
    fn fault(text: &str, expected: &str) {
        assert_eq!(faults(text), [expected], "{text}");
    }

    #[test]
    fn settings_are_read_flat_and_under_their_headings() {
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
        assert!(!settings.flag(key::G_ALLOW_VOTE) && settings.flag(key::G_DO_WARMUP));
        assert!(settings.serverinfo().any(|pair| pair == ("Admin", "Kim")));
        assert_eq!(settings.get("d1"), Some("map oa_dm1 ; set nextmap vstr d2"));
        assert_eq!(settings.poll_note(), None);
    }

    #[test]
    fn a_fault_is_named_by_file_and_line_and_what_would_be_right() {
        fault(
            "sv_fps = 20\n\nsv_hostnam = \"x\"",
            "f.toml:3: sv_hostnam: no setting has this name; did you mean sv_hostname?",
        );
        fault(
            "Website = \"x\"",
            "f.toml:1: Website: no setting has this name; keys of your own go into [serverinfo] or [variables]",
        );
        fault(
            "# fast\nsv_fps = 500",
            "f.toml:2: sv_fps cannot be \"500\": it takes a whole number from 10 to 125",
        );
        fault(
            "g_gravity = nan",
            "f.toml:1: g_gravity cannot be \"nan\": it takes a number from -32768 to 32767",
        );
        fault(
            "g_gravity = -inf",
            "f.toml:1: g_gravity cannot be \"-inf\": it takes a number from -32768 to 32767",
        );
        fault(
            "sv_fps = true",
            "f.toml:1: sv_fps cannot be \"true\": it takes a whole number from 10 to 125",
        );
        fault(
            "sv_fps = [20]",
            "f.toml:1: sv_fps cannot be a TOML array: it takes a whole number from 10 to 125",
        );
        fault("sv_hostname = 5", "f.toml:1: sv_hostname takes text in quotes: sv_hostname = \"5\"");
        fault(
            "rconPassword = 12345678",
            "f.toml:1: rconPassword takes text in quotes: rconPassword = \"…\"",
        );
        fault("mapname = \"x\"", "f.toml:1: mapname is read only.");
        fault("timescale = 2.0", "f.toml:1: timescale is cheat protected.");
        fault(
            "sv_hostname = \"a\\\\b\"",
            "f.toml:1: sv_hostname cannot contain \\: it takes printable ASCII without \\, \" and ;",
        );
        fault("sv_fps = 20\nSV_FPS = 30\n", "f.toml:2: SV_FPS is set twice, first in line 1");
        fault(
            "[network]\nsv_fps = 20\n[server]\nsv_fps = 20",
            "f.toml:4: sv_fps is set twice, first in line 2",
        );
        fault(
            "[sv_fps]\nx = 1",
            "f.toml:1: sv_fps is a setting, not a table; write sv_fps = value",
        );
        fault("\n[servr]\nx = 1", "f.toml:2: no table is named [servr]; did you mean [server]?");
        fault(
            "[zzz]",
            "f.toml:1: no table is named [zzz]; there are [server], [network], [admin], [match], [openarena], [serverinfo], [variables]",
        );
        fault(
            "[variables]\nsv_fps = 20",
            "f.toml:2: sv_fps is a setting and stands outside of [variables]",
        );
        fault("[variables]\nx = {}", "f.toml:2: x cannot be a TOML table: it takes text in quotes");
    }

    #[test]
    fn what_is_no_toml_is_named_by_its_line() {
        for (text, line) in [
            ("sv_fps 20", 1),
            ("sv_fps = 20\nsv_hostname = \"open\n", 2),
            ("sv_fps = 20\nsv_fps = 30", 2),
            ("\n\nsv_fps = 0x", 3),
            ("set sv_hostname \"x\"", 1),
        ] {
            let found = faults(text);
            assert_eq!(found.len(), 1, "{found:?}");
            let start = format!("f.toml:{line}: ");
            assert!(found[0].starts_with(&start), "{found:?}");
            assert!(found[0].len() > start.len());
        }
    }

    #[test]
    fn all_faults_are_told_at_once_but_not_without_end() {
        let found = faults("sv_fps = 1\nsv_hostnam = \"\"\nnet_port = -1");
        assert_eq!(found.len(), 3);
        let many: String = (0..50_000).map(|n| format!("unknown{n} = 1\n")).collect();
        let found = faults(&many);
        assert_eq!(found.len(), MAX_FAULTS + 1);
        assert_eq!(found[MAX_FAULTS], "f.toml: there may be more faults");
    }

    #[test]
    fn secrets_are_not_repeated() {
        for text in
            ["rconPassword = \"hunter2%\"", "g_password = 8888888", "g_password = [\"hunter2\"]"]
        {
            let found = faults(text).join("\n");
            assert!(!found.contains("hunter2") && !found.contains("8888888"), "{found}");
        }
    }

    #[test]
    fn a_huge_or_deep_file_is_refused() {
        let huge = "#".repeat(MAX_CONFIG_LEN + 1);
        fault(
            &huge,
            "f.toml: 1048577 bytes are too many for a config file, which has at most 1048576",
        );
        for deep in [
            "a = ".to_owned() + &"[".repeat(200_000),
            "a = ".to_owned() + &"{a=".repeat(200_000),
            "a.".repeat(200_000) + "a = 1",
            format!("[{}a]\n", "a.".repeat(200_000)),
        ] {
            assert_eq!(faults(&deep).len(), 1);
        }
    }

    #[test]
    fn the_template_is_the_committed_file() {
        let committed = include_str!("../../config/fragd.toml");
        assert!(
            committed == config_template(),
            "config/fragd.toml is not what the table says: cargo run -- settings --toml >config/fragd.toml"
        );
    }

    #[test]
    fn the_template_explains_every_setting_and_reads_back_as_the_defaults() {
        let template = config_template();
        let mut settings = Settings::default();
        settings.read_config("f.toml", &template).unwrap();
        assert_same(&settings);
        let is_setting =
            |line: &str| line.starts_with('#') && !line.starts_with("# ") && line != "#";
        let mut explained = Vec::new();
        let mut uncommented = String::new();
        let mut before = "";
        for line in template.lines() {
            if is_setting(line) {
                assert!(
                    before.starts_with("# (") || before.ends_with(".)"),
                    "{line}: explained by {before}"
                );
                explained.push(line[1..].split(' ').next().unwrap());
                uncommented.push_str(&line[1..]);
            }
            uncommented.push('\n');
            assert!(line.chars().count() <= 100, "{line}");
            before = line;
        }
        settings.read_config("f.toml", &uncommented).unwrap();
        assert_same(&settings);
        settings.start().unwrap();
        let wanted: Vec<_> = SETTINGS
            .iter()
            .filter(|setting| !setting.columns[0].flags.has(Flags::READ_ONLY))
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
        fn no_text_panics(text in "\\PC{0,200}|(sv_fps|g_motd|\\[server\\]|=| |\n|\"|'''|\\{|\\[|\\]|[0-9.e+-]){0,60}") {
            let _ = Settings::default().read_config("f.toml", &text);
        }

        #[test]
        fn no_value_panics(row in 0..SETTINGS.len(), value in "\\PC{0,40}") {
            let text = format!("{} = {value}", SETTINGS[row].name);
            let _ = Settings::default().read_config("f.toml", &text);
        }
    }
}
