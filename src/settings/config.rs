//! Config file: TOML, `name = value`, with tables as headings.
//!
//! A table is named after a group of settings, or `[serverinfo]` or `[variables]` for custom keys. Errors
//! are reported with their line, up to a limit. Invariant: text of any content and length is accepted or
//! rejected in bounded time, without a panic.

use std::{collections::HashMap, fmt};

use toml::{
    Spanned,
    de::{DeTable, DeValue},
};

use super::{
    change::{ChangeSource, SetCommand},
    store::Settings,
    suggestion::{nearest_of, nearest_setting},
    table::{SETTINGS, is_ignored, row_named, setting_named},
};
use crate::cvar::{Flags, Kind};
use crate::model::text::{escaped, truncated};

/// Maximum size of a config file, in bytes.
pub const MAX_CONFIG_LEN: usize = 1024 * 1024;
/// Maximum number of reported errors per file.
const MAX_ERRORS: usize = 20;
/// Table of custom serverinfo keys.
const SERVERINFO: &str = "serverinfo";
/// Table of variables.
const VARIABLES: &str = "variables";

/// Errors of a config file: one line each, as `file:line: error`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfigError {
    errors: Vec<String>,
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.errors.join("\n"))
    }
}

impl std::error::Error for ConfigError {}

impl Settings {
    /// Reads a config file. `path` only names it in errors.
    ///
    /// # Errors
    /// Every error with file, line, key and accepted values. The settings are then partly changed and must
    /// be discarded.
    pub fn read_config(&mut self, path: &str, text: &str) -> Result<(), ConfigError> {
        if text.len() > MAX_CONFIG_LEN {
            let len = text.len();
            let error = format!("{path}: config file too long: {len} bytes (max {MAX_CONFIG_LEN})");
            return Err(ConfigError { errors: vec![error] });
        }
        let mut reader = Reader { path, text, lines: HashMap::new(), errors: Vec::new() };
        match DeTable::parse(text) {
            Ok(document) => reader.document(self, document.get_ref()),
            Err(error) => {
                let at = error.span().map_or(0, |span| span.start);
                reader.error(at, error.message().replace('\n', ", "));
            }
        }
        if reader.errors.is_empty() { Ok(()) } else { Err(ConfigError { errors: reader.errors }) }
    }
}

/// Reader of one document.
struct Reader<'a> {
    path: &'a str,
    text: &'a str,
    /// Line of each setting by its row; a second one is an error.
    lines: HashMap<usize, usize>,
    errors: Vec<String>,
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
                self.error(at, format!("{shown} is a setting, not a table; write {shown} = value"));
                return;
            }
            let mut known: Vec<&str> = groups().chain([SERVERINFO, VARIABLES]).collect();
            known.dedup();
            let meant = match nearest_of(name, known.iter().copied()) {
                Some(near) => format!("did you mean [{near}]?"),
                None => format!("expected [{}]", known.join("], [")),
            };
            self.error(at, format!("unknown table [{shown}]; {meant}"));
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
                None => format!("custom keys go into [{SERVERINFO}] or [{VARIABLES}]"),
            };
            self.error(at, format!("unknown setting {shown}; {meant}"));
            return;
        };
        let line = self.line_of(at);
        if let Some(first) = self.lines.insert(row, line) {
            self.error(at, format!("{shown} is already set in line {first}"));
            return;
        }
        let setting = &SETTINGS[row];
        let Some(text) = plain_text(value) else {
            let kind = value.type_str();
            self.error(at, format!("{shown}: invalid type {kind} (expected {})", setting.kind));
            return;
        };
        if wants_quotes(&setting.kind) && !value.is_str() {
            let secret = setting.in_game(settings.game()).flags.has(Flags::SECRET);
            let example = if secret { "…".to_owned() } else { text };
            self.error(at, format!("{shown}: missing quotes; write {shown} = \"{example}\""));
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
            self.error(at, format!("{shown}: invalid type {kind} (expected text in quotes)"));
            return;
        };
        if setting_named(name).is_some() {
            self.error(at, format!("{shown} is a setting; move it out of [{table}]"));
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
        if let Err(error) = settings.set_with(command, ChangeSource::File, name, text) {
            self.error(at, error.to_string());
        }
    }

    fn error(&mut self, at: usize, what: String) {
        let line = self.line_of(at);
        self.errors.push(format!("{}:{line}: {what}", self.path));
        if self.is_full() {
            self.errors.push(format!("{}: too many errors; the rest is not shown", self.path));
        }
    }

    fn is_full(&self) -> bool {
        self.errors.len() >= MAX_ERRORS
    }

    /// Line number, from 1, of a byte of the text.
    fn line_of(&self, at: usize) -> usize {
        let before = self.text.as_bytes().get(..at).unwrap_or(self.text.as_bytes());
        before.iter().filter(|&&byte| byte == b'\n').count() + 1
    }
}

/// Entries in file order; the parser sorts them by name.
fn in_file_order<'a, 'i>(
    table: &'a DeTable<'i>,
) -> Vec<(&'a Spanned<std::borrow::Cow<'i, str>>, &'a Spanned<DeValue<'i>>)> {
    let mut entries: Vec<_> = table.iter().collect();
    entries.sort_by_key(|(key, _)| key.span().start);
    entries
}

/// A scalar value as text; `None` for tables, arrays and dates.
fn plain_text(value: &DeValue<'_>) -> Option<String> {
    match value {
        DeValue::String(text) => Some(text.to_string()),
        // Other radices are converted to decimal.
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
        Kind::Flag
        | Kind::OnlyZero { .. }
        | Kind::Int { .. }
        | Kind::IntOrOff { .. }
        | Kind::Float { .. } => false,
        Kind::Text { .. }
        | Kind::Name { .. }
        | Kind::Ipv4
        | Kind::Ipv6
        | Kind::Networks
        | Kind::Choice(_) => true,
    }
}

/// A key as errors show it.
fn shown_key(key: &str) -> String {
    escaped(truncated(key, 64).as_bytes())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::settings::{config_template, key};

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
        assert!(!settings.flag(key::G_ALLOW_VOTE) && settings.flag(key::G_DO_WARMUP));
        assert!(settings.serverinfo().any(|pair| pair == ("Admin", "Kim")));
        assert_eq!(settings.get("d1"), Some("map oa_dm1 ; set nextmap vstr d2"));
        assert_eq!(settings.poll_note(), None);
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
        error(
            "sv_hostname = 5",
            "f.toml:1: sv_hostname: missing quotes; write sv_hostname = \"5\"",
        );
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
        error(
            "[sv_fps]\nx = 1",
            "f.toml:1: sv_fps is a setting, not a table; write sv_fps = value",
        );
        error("\n[servr]\nx = 1", "f.toml:2: unknown table [servr]; did you mean [server]?");
        error(
            "[zzz]",
            "f.toml:1: unknown table [zzz]; expected [server], [network], [admin], [match], [openarena], [serverinfo], [variables]",
        );
        error(
            "[variables]\nsv_fps = 20",
            "f.toml:2: sv_fps is a setting; move it out of [variables]",
        );
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
        let committed = include_str!("../../config/fragd.toml");
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
        let is_setting =
            |line: &str| line.starts_with('#') && !line.starts_with("# ") && line != "#";
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
            assert!(line.chars().count() <= 100, "{line}");
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
}
