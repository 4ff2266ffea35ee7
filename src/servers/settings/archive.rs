//! Archived settings: values that an administrator set, which outlast the server.
//!
//! The file has lines `seta NAME "VALUE"`, so that `exec` reads it, too. Invariants: the number of names is bounded; a file
//! with a fault is not used at all; startup-only, read-only and cheat-protected settings have no archived value.
//! Source: config files that Quake III servers write. Engine names: `CVAR_ARCHIVE`, `Cvar_WriteVariables`.

use std::collections::BTreeMap;

use super::{
    MAX_NAME_LEN,
    author::Author,
    change::{ChangeSource, SetCommand},
    secrets::{MASK, is_secret_name},
    store::Settings,
    table::SETTINGS,
    variables::position,
};
use crate::{
    cvar::{Flags, quoted},
    model::CommandArgs,
};

/// Maximum number of archived settings.
const MAX_ARCHIVED: usize = 1024;
/// Longest value, in bytes.
const MAX_VALUE_LEN: usize = 4096;
/// Longest file that is read, in bytes.
pub const MAX_ARCHIVE_LEN: u64 = 8 << 20;
/// First line of the file.
const HEAD: &str =
    "// Settings of fragd that outlast the server. Scripts and the command line win over them.\n";
/// Settings that no archive holds: their values are those of the start, of the server or of `devmap`.
const NEVER: Flags = Flags::INIT.and(Flags::EARLY).and(Flags::READ_ONLY).and(Flags::CHEAT);

/// An archived value.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Row {
    name: String,
    value: String,
    /// Line of the file that it was read from.
    line: usize,
}

/// Values by the names of their settings.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ArchivedSettings {
    /// By name in lower case.
    rows: BTreeMap<String, Row>,
}

impl ArchivedSettings {
    /// Reads a file.
    ///
    /// # Errors
    /// Its first fault, with the line.
    pub fn parse(text: &str) -> Result<Self, String> {
        let mut all = Self::default();
        // Editors may write a byte order mark.
        for (at, line) in text.trim_start_matches('\u{feff}').lines().enumerate() {
            let words = CommandArgs::parse(line);
            if words.is_empty() {
                continue;
            }
            let row = row_of(line, &words).map_err(|what| {
                format!("line {}: {what} (expected seta NAME \"VALUE\")", at + 1)
            })?;
            if all.rows.len() == MAX_ARCHIVED {
                return Err(format!("line {}: too many settings (max {MAX_ARCHIVED})", at + 1));
            }
            all.rows.insert(row.name.to_ascii_lowercase(), Row { line: at + 1, ..row });
        }
        Ok(all)
    }

    /// Text of the file.
    #[must_use]
    pub fn to_text(&self) -> String {
        let lines = self.rows.values().map(|row| {
            // A name without quotes may have a comment.
            let is_plain =
                row.name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
            let quote = if is_plain { "" } else { "\"" };
            format!("seta {quote}{}{quote} \"{}\"\n", row.name, row.value)
        });
        std::iter::once(HEAD.to_owned()).chain(lines).collect()
    }

    /// Number of settings.
    #[must_use]
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Whether no setting is archived.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Whether a setting is archived.
    #[must_use]
    pub fn has(&self, name: &str) -> bool {
        self.rows.contains_key(&name.to_ascii_lowercase())
    }

    /// Takes the value that an administrator gave a setting. It is kept if other servers archive the setting, if it is
    /// archived already, or if `is_asked`. Returns whether the archive has changed.
    ///
    /// # Errors
    /// The archive is full.
    pub fn note(
        &mut self,
        settings: &Settings,
        name: &str,
        is_asked: bool,
    ) -> Result<bool, String> {
        let Some((row, flags)) = row_in(settings, name) else { return Ok(false) };
        let key = row.name.to_ascii_lowercase();
        let is_wanted = is_asked || flags.has(Flags::ARCHIVE) || self.rows.contains_key(&key);
        if !is_wanted || flags.has(NEVER) {
            return Ok(false);
        }
        if self.rows.len() >= MAX_ARCHIVED && !self.rows.contains_key(&key) {
            return Err(format!(
                "{} not archived: too many settings (max {MAX_ARCHIVED})",
                row.name
            ));
        }
        let known = self.rows.entry(key).or_default();
        let is_other = (&known.name, &known.value) != (&row.name, &row.value);
        *known = row;
        Ok(is_other)
    }

    /// Removes a setting. Returns whether it was archived.
    pub fn forget(&mut self, name: &str) -> bool {
        self.rows.remove(&name.to_ascii_lowercase()).is_some()
    }

    /// Sets the archived values, except of settings that the command line sets. Returns the problems, with file and line.
    pub fn apply(
        &self,
        settings: &mut Settings,
        file: &str,
        is_set: impl Fn(&str) -> bool,
    ) -> Vec<String> {
        let mut problems = Vec::new();
        for row in self.rows.values().filter(|row| !is_set(&row.name)) {
            let place = format!("{file}:{}", row.line);
            settings.set_place(Some(place.clone()));
            let (set, file) = (SetCommand::Set, ChangeSource::File);
            if let Err(error) = settings.set_by(Author::Operator, set, file, &row.name, &row.value)
            {
                problems.push(format!("{place}: {error}; not used"));
            }
            while let Some(note) = settings.take_note() {
                if note.undeclared.is_none() {
                    problems.push(format!("{place}: {}", note.text));
                }
            }
        }
        settings.set_place(None);
        problems
    }

    /// Sentences about archived values that are not in force, since a script or the command line set others.
    #[must_use]
    pub fn replaced(&self, settings: &Settings) -> Vec<String> {
        let sentence = |row: &Row| {
            let (now, _) = row_in(settings, &row.name)?;
            let shown = |value: &str| {
                if is_secret_name(&row.name) { MASK.to_owned() } else { format!("\"{value}\"") }
            };
            let at = settings.values().row_named(&row.name);
            let place = at.and_then(|at| settings.slots[at].place.as_deref());
            let by = place.map(|place| format!(" ({place})")).unwrap_or_default();
            (now.value != row.value).then(|| {
                let (name, archived) = (&row.name, shown(&row.value));
                format!("{name} is {}{by}, not the archived {archived}", shown(&now.value))
            })
        };
        self.rows.values().filter_map(sentence).collect()
    }

    /// Present values of all settings that other servers archive or this archive has, for a file of the operator.
    #[must_use]
    pub fn snapshot(&self, settings: &Settings) -> Self {
        let rows = SETTINGS.iter().map(|row| row.name);
        let names = rows.chain(settings.variables().map(|(name, ..)| name));
        let mut all = Self::default();
        for name in names {
            // Never full: rows and variables are fewer.
            let _ = all.note(settings, name, self.has(name));
        }
        all
    }
}

/// Reads a line of words.
fn row_of(line: &str, words: &CommandArgs) -> Result<Row, String> {
    let is_printable = |text: &str| text.bytes().all(|byte| matches!(byte, b' '..=b'~'));
    let (name, value) = (words.get(1), words.get(2));
    if !words.command().eq_ignore_ascii_case("seta") {
        return Err(format!("unknown command {}", quoted(words.command())));
    }
    if words.len() != 3 || !line.matches('"').count().is_multiple_of(2) {
        return Err("name or value missing, or text behind the value".to_owned());
    }
    if name.is_empty() || name.len() > MAX_NAME_LEN || !is_printable(name) {
        return Err(format!("invalid name {}", quoted(name)));
    }
    if value.len() > MAX_VALUE_LEN || !is_printable(value) {
        return Err(format!("value of {name} not printable ASCII or over {MAX_VALUE_LEN} bytes"));
    }
    Ok(Row { name: name.to_owned(), value: value.to_owned(), line: 0 })
}

/// Value of a setting or variable, the latched one first, with its flags.
fn row_in(settings: &Settings, name: &str) -> Option<(Row, Flags)> {
    let (name, now, flags) = match settings.values().row_named(name) {
        Some(row) => (SETTINGS[row].name, settings.row_text(row), settings.row_flags(row)),
        None => {
            let own = &settings.variables[position(&settings.variables, name)?];
            (own.name.as_str(), own.value.as_str(), own.flags)
        }
    };
    let value = settings.latched(name).unwrap_or(now).to_owned();
    Some((Row { name: name.to_owned(), value, line: 0 }, flags))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(settings: &mut Settings, name: &str, value: &str) {
        settings.set(name, value).unwrap();
    }

    #[test]
    fn archive_is_read_back_as_written() {
        let mut settings = Settings::default();
        settings.start().unwrap();
        let mut archive = ArchivedSettings::default();
        for (name, value) in [
            ("sv_hostname", "a // b /* c */"),
            ("sv_maxclients", "12"),
            ("my name//x", ""),
            ("g_gravity", "100"),
            ("d1", "map a ; set nextmap vstr d2"),
        ] {
            set(&mut settings, name, value);
            let is_asked = !matches!(name, "sv_hostname" | "sv_maxclients" | "g_gravity");
            assert_eq!(archive.note(&settings, name, is_asked), Ok(name != "g_gravity"), "{name}");
            assert_eq!(archive.note(&settings, name, false), Ok(false), "{name}");
        }
        assert_eq!(archive.note(&settings, "net_port", true), Ok(false), "startup only");
        let read = ArchivedSettings::parse(&archive.to_text()).unwrap();
        assert_eq!(read.to_text(), archive.to_text());
        assert_eq!(read.len(), 4);

        let mut later = Settings::default();
        later.start().unwrap();
        set(&mut later, "sv_maxclients", "16");
        let problems = read.apply(&mut later, "s", |name| name == "sv_maxclients");
        assert!(problems.is_empty(), "{problems:?}");
        assert_eq!(later.get("sv_hostname"), Some("a // b /* c */"));
        assert_eq!((later.get("my name//x"), later.get("d1")), (Some(""), settings.get("d1")));
        assert_eq!(read.replaced(&later), ["sv_maxclients is \"16\", not the archived \"12\""]);
        assert!(archive.forget("SV_HOSTNAME") && !archive.has("sv_hostname"));
    }

    #[test]
    fn faults_name_the_line() {
        for (text, fault) in [
            ("seta a 1\nset b 2", "line 2: unknown command \"set\" (expected seta NAME \"VALUE\")"),
            ("seta a", "line 1: name or value missing"),
            ("seta a \"1", "line 1: name or value missing"),
            ("seta a 1 2", "line 1: name or value missing"),
            ("// x\nseta a \"\u{7f}\"", "line 2: value of a not printable"),
            ("seta \"\" 1", "line 1: invalid name"),
        ] {
            let error = ArchivedSettings::parse(text).unwrap_err();
            assert!(error.starts_with(fault), "{error}");
        }
        let many: String = (0..=MAX_ARCHIVED).map(|at| format!("seta v{at} 1\n")).collect();
        assert!(ArchivedSettings::parse(&many).unwrap_err().contains("too many settings"));
        let refused = ArchivedSettings::parse("seta sv_fps fast").unwrap();
        let problems = refused.apply(&mut Settings::default(), "s.cfg", |_| false);
        assert!(problems[0].starts_with("s.cfg:1: sv_fps: invalid value"), "{problems:?}");
    }
}
