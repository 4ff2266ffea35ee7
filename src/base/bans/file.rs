//! State file of a ban list: a JSON object in each line.
//!
//! `{"id":7,"kind":"ban","network":"10.0.0.0/8","reason":"spam","by":"console","made":1732780800,"expires":1732788000}`:
//! each line has one of `network`, `guid` and `name`; times are seconds since 1970. All other keys may be missing.
//! The whole file is checked before an entry counts.

use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::{
    entry::{Draft, EntryKind, MAX_AUTHOR_LEN, MAX_REASON_LEN, bounded_text},
    list::{AddError, BanList},
    subject::{Subject, SubjectError},
};
use crate::model::text;

/// Longest line, in bytes.
const MAX_LINE_LEN: usize = 2048;
/// Longest part of a value that an error shows, in bytes.
const MAX_SHOWN_LEN: usize = 80;

/// Fault of a file.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("line {line}: {fault}")]
pub struct FileFault {
    /// Line, from 1.
    pub line: usize,
    /// Problem, and what would be right.
    pub fault: String,
}

/// A line of the file.
#[derive(Debug, Default, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct Line {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    id: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    kind: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    network: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    guid: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    name: Option<String>,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    reason: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    by: String,
    #[serde(default)]
    made: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    expires: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    ended: Option<u64>,
}

impl BanList {
    /// Reads a state file.
    ///
    /// # Errors
    /// The first line with a fault.
    pub fn parse(text: &str) -> Result<Self, FileFault> {
        let mut list = Self::default();
        let mut unnumbered = Vec::new();
        // Editors may write a byte order mark.
        let text = text.trim_start_matches('\u{feff}');
        for (at, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
            let failed = |fault| FileFault { line: at + 1, fault };
            let (id, content, ended) = entry_of(line).map_err(failed)?;
            match id {
                None => unnumbered.push((at, content)),
                Some(id) => list.insert_read(id, content).map_err(failed)?,
            }
            if let (Some(id), Some(ended)) = (id, ended) {
                list.set_ended(id, ended);
            }
            if unnumbered.len() > super::MAX_ENTRIES {
                return Err(failed(AddError::Full.to_string()));
            }
        }
        for (at, content) in unnumbered {
            let failed = |fault| FileFault { line: at + 1, fault };
            if list.id_of(content.kind, &content.subject).is_some() {
                return Err(failed(repeated(&content)));
            }
            list.add(content).map_err(|error| failed(error.to_string()))?;
        }
        Ok(list)
    }

    fn insert_read(&mut self, id: u32, content: Draft) -> Result<(), String> {
        if self.get(id).is_some() {
            return Err(format!("id repeated: {id} (expected another number, or none)"));
        }
        if self.id_of(content.kind, &content.subject).is_some() {
            return Err(repeated(&content));
        }
        self.insert(id, content).map_err(|error| error.to_string())
    }

    /// Returns the text of the state file.
    #[must_use]
    pub fn to_text(&self) -> String {
        let mut text = String::new();
        for entry in self.entries() {
            let Draft { kind, subject, reason, author, made, expires } = entry.content;
            let mut line = Line {
                id: Some(entry.id),
                kind: Some(kind.word().to_owned()),
                reason,
                by: author,
                made,
                expires,
                ended: self.ended(entry.id),
                ..Line::default()
            };
            match subject {
                Subject::Network(network) => line.network = Some(network.to_string()),
                Subject::Guid(guid) => line.guid = Some(guid),
                Subject::Name(pattern) => line.name = Some(pattern.to_string()),
            }
            // Strings and numbers always have a JSON form.
            text.push_str(&serde_json::to_string(&line).unwrap_or_default());
            text.push('\n');
        }
        text
    }
}

fn repeated(content: &Draft) -> String {
    let (kind, subject) = (content.kind.word(), &content.subject);
    format!("{kind} repeated: {subject} (expected one line for each)")
}

/// Returns number and content of a line, and when the entry was found to have ended.
fn entry_of(line: &str) -> Result<(Option<u32>, Draft, Option<u64>), String> {
    if line.len() > MAX_LINE_LEN {
        return Err(format!("line too long: {} bytes (max {MAX_LINE_LEN})", line.len()));
    }
    let line: Line = serde_json::from_str(line).map_err(|error| {
        let (text, column) = (error.to_string(), error.column());
        let text = text.split(" at line ").next().unwrap_or_default().to_owned();
        let shown = text::shown_name(text.as_bytes());
        format!("column {column}: {shown} (expected a JSON object such as {{\"network\":\"192.0.2.7\"}})")
    })?;
    let kind = match line.kind.as_deref() {
        None => EntryKind::Ban,
        Some(word) => {
            let known = EntryKind::WORDS.iter().find(|(_, known)| *known == word);
            known.map(|(kind, _)| *kind).ok_or_else(|| {
                format!("kind invalid: {} (expected ban, exception or mute)", shown(word))
            })?
        }
    };
    let invalid = |key: &str, value: &str, error: SubjectError| {
        format!("{key} invalid: {} ({error})", shown(value))
    };
    let subject = match (&line.network, &line.guid, &line.name) {
        (Some(text), None, None) => {
            Subject::network(text).map_err(|error| invalid("network", text, error))?
        }
        (None, Some(text), None) => {
            Subject::guid(text).map_err(|error| invalid("guid", text, error))?
        }
        (None, None, Some(text)) => {
            Subject::name(text).map_err(|error| invalid("name", text, error))?
        }
        _ => return Err("expected one of network, guid and name".to_owned()),
    };
    for (key, text, most) in
        [("reason", &line.reason, MAX_REASON_LEN), ("by", &line.by, MAX_AUTHOR_LEN)]
    {
        if text.len() > most {
            return Err(format!("{key} too long: {} bytes (max {most})", text.len()));
        }
    }
    let reason = bounded_text(&line.reason, MAX_REASON_LEN);
    let author = bounded_text(&line.by, MAX_AUTHOR_LEN);
    let (made, expires) = (line.made, line.expires);
    Ok((line.id, Draft { kind, subject, reason, author, made, expires }, line.ended))
}

fn shown(value: &str) -> String {
    text::escaped(text::truncated(value, MAX_SHOWN_LEN).as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list() -> BanList {
        let mut list = BanList::default();
        for (kind, subject, reason, expires) in [
            (EntryKind::Ban, Subject::network("10.0.0.0/8"), "spam", None),
            (EntryKind::Exception, Subject::network("10.1.2.3"), "", Some(99)),
            (EntryKind::Mute, Subject::guid("0123456789abcdef"), "", Some(7)),
            (EntryKind::Ban, Subject::name("*b\u{e4}d*"), "ä 'name'", None),
        ] {
            let (reason, author) = (reason.to_owned(), "rcon 192.0.2.1".to_owned());
            let subject = subject.unwrap();
            list.add(Draft { kind, subject, reason, author, made: 5, expires }).unwrap();
        }
        list
    }

    #[test]
    fn file_round_trips() {
        let list = list();
        let text = list.to_text();
        assert_eq!(text.lines().count(), 4);
        assert_eq!(BanList::parse(&text), Ok(list));
        assert_eq!(BanList::parse("\n\n"), Ok(BanList::default()));
        // Lines by hand.
        let list =
            BanList::parse("{\"id\":5,\"guid\":\"ABCDEFGH\"}\r\n{\"network\":\"::1\"}").unwrap();
        assert_eq!(list.entries().map(|entry| entry.id).collect::<Vec<_>>(), [5, 6]);
        assert_eq!(BanList::parse(&list.to_text()), Ok(list));
    }

    #[test]
    fn file_faults_name_line_and_expectation() {
        for (line, fault) in [
            ("{", "column 1: EOF while parsing an object (expected a JSON object "),
            ("{\"network\":\"::1\",\"x\":1}", "column 20: unknown field `x`, "),
            (
                "{\"network\":\"10.0.0.0/33\"}",
                "network invalid: 10.0.0.0/33 (expected an address or network",
            ),
            ("{\"guid\":\"a b\"}", "guid invalid: a b (expected a GUID of "),
            ("{\"name\":\"**\"}", "name invalid: ** (expected a name of "),
            (
                "{\"kind\":\"Ban\\n\",\"name\":\"a\"}",
                "kind invalid: Ban\\n (expected ban, exception or mute)",
            ),
            ("{\"kind\":\"ban\"}", "expected one of network, guid and name"),
            ("{\"guid\":\"abcdefgh\",\"name\":\"a\"}", "expected one of "),
            (
                "{\"name\":\"a\",\"made\":-1}",
                "column 21: invalid value: integer `-1`, expected u64 ",
            ),
            ("{\"id\":3,\"name\":\"a\"}", "id repeated: 3 "),
            ("{\"id\":4,\"name\":\"first\"}", "ban repeated: name first "),
            ("{\"name\":\"first\"}", "ban repeated: name first "),
        ] {
            let text = format!("{{\"id\":3,\"name\":\"first\"}}\n\n{line}\n");
            let found = BanList::parse(&text).unwrap_err();
            assert_eq!(found.line, 3, "{line}");
            assert!(found.fault.starts_with(fault), "{line}: {found}");
        }
        let long = format!("{{\"name\":\"a\",\"reason\":\"{}\"}}", "x".repeat(MAX_REASON_LEN + 1));
        assert!(BanList::parse(&long).unwrap_err().fault.starts_with("reason too long: 121 bytes"));
        let lines = (0..=super::super::MAX_ENTRIES).map(|n| format!("{{\"name\":\"n{n}\"}}\n"));
        let fault = BanList::parse(&lines.collect::<String>()).unwrap_err();
        assert!(fault.fault.starts_with("the list is full"), "{fault}");
    }
}
