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
    ignored::is_ignored,
    startup::ExpectedCode,
    store::Settings,
    suggestion::{nearest_of, nearest_setting},
    table::{SETTINGS, key, row_named, setting_named},
};
use crate::cvar::Flags;
use crate::model::{
    config_fault::{form_fault, line_of},
    text::{escaped, truncated},
};

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
            Ok(document) => {
                let outer = self.expected;
                let named = |name| text_of(document.get_ref(), name);
                let code = named(key::VM_GAME.setting().name).map(|code| code != "0");
                let has_mod =
                    named(key::FS_GAME.setting().name).is_some_and(|name| !name.is_empty());
                self.expect_code(ExpectedCode {
                    has_module: outer.has_module.or(code),
                    has_mod: outer.has_mod || has_mod,
                });
                reader.document(self, document.get_ref());
                self.expect_code(outer);
            }
            Err(error) => {
                let at = error.span().map_or(0, |span| span.start);
                let (_, what) = form_fault(text, error.span(), error.message());
                reader.error(at, what);
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
            if settings.hosts_module() {
                self.module_setting(settings, at, name, value);
                return;
            }
            let meant = match nearest_setting(name) {
                Some(near) => format!("did you mean {near}?"),
                None => format!("custom keys go into [{SERVERINFO}] or [{VARIABLES}]"),
            };
            self.error(at, format!("unknown setting {shown}; {meant}"));
            return;
        };
        let line = line_of(self.text, at);
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
        if !setting.kind.is_number() && !value.is_str() {
            let secret = setting.in_game(settings.game()).flags.has(Flags::SECRET);
            let example = if secret { "…".to_owned() } else { text };
            self.error(at, format!("{shown}: missing quotes; write {shown} = \"{example}\""));
        } else {
            self.set(settings, at, SetCommand::Set, name, &text);
        }
    }

    /// Stores an undeclared name, which a game module may register.
    fn module_setting(
        &mut self,
        settings: &mut Settings,
        at: usize,
        name: &str,
        value: &DeValue<'_>,
    ) {
        match plain_text(value) {
            // C has no words for flags.
            Some(text) if value.is_bool() => {
                let text = if text == "true" { "1" } else { "0" };
                self.set(settings, at, SetCommand::Seta, name, text);
            }
            Some(text) => self.set(settings, at, SetCommand::Seta, name, &text),
            None => {
                let (shown, kind) = (shown_key(name), value.type_str());
                self.error(at, format!("{shown}: invalid type {kind} (expected text or a number)"));
            }
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
        settings.set_place(Some(format!("{}:{}", self.path, line_of(self.text, at))));
        let result = settings.set_with(command, ChangeSource::File, name, text);
        settings.set_place(None);
        if let Err(error) = result {
            self.error(at, error.to_string());
        }
    }

    fn error(&mut self, at: usize, what: String) {
        let line = line_of(self.text, at);
        self.errors.push(format!("{}:{line}: {what}", self.path));
        if self.is_full() {
            self.errors.push(format!("{}: too many errors; the rest is not shown", self.path));
        }
    }

    fn is_full(&self) -> bool {
        self.errors.len() >= MAX_ERRORS
    }
}

/// Returns the value of a setting in a document, also behind names whose meaning depends on it.
fn text_of(document: &DeTable<'_>, name: &str) -> Option<String> {
    let of_table = |table: &DeTable<'_>| {
        let value = table.iter().find(|(key, _)| key.get_ref().eq_ignore_ascii_case(name))?.1;
        plain_text(value.get_ref())
    };
    let tables = document.iter().filter_map(|(_, value)| value.get_ref().as_table());
    of_table(document).or_else(|| tables.into_iter().find_map(of_table))
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

/// A key as errors show it.
fn shown_key(key: &str) -> String {
    escaped(truncated(key, 64).as_bytes())
}

#[cfg(test)]
mod tests;
