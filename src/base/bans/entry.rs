//! Entry of a ban list: kind, subject, reason, author, time and expiry.

use std::fmt;

use super::{Span, Subject};
use crate::model::text;

/// Longest reason and author, in bytes. A refusal with its reason is shorter than the `connect` that it answers.
pub const MAX_REASON_LEN: usize = 120;
/// Longest author, in bytes.
pub const MAX_AUTHOR_LEN: usize = 64;

/// Effect of an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum EntryKind {
    /// Its clients are refused.
    Ban,
    /// Its clients are admitted in spite of bans.
    Exception,
    /// Chat of its clients is not sent.
    Mute,
}

impl EntryKind {
    /// Kinds with their words in the state file.
    pub(super) const WORDS: [(Self, &str); 3] =
        [(Self::Ban, "ban"), (Self::Exception, "exception"), (Self::Mute, "mute")];

    /// Word of the kind in the state file.
    #[must_use]
    pub fn word(self) -> &'static str {
        Self::WORDS.iter().find(|(kind, _)| *kind == self).map_or("", |(_, word)| word)
    }

    /// Name in the lists of ioquake3.
    #[must_use]
    pub const fn title(self) -> &'static str {
        match self {
            Self::Ban => "Ban",
            Self::Exception => "Except",
            Self::Mute => "Mute",
        }
    }
}

/// Entry without number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Draft {
    /// Effect.
    pub kind: EntryKind,
    /// Clients that it is about.
    pub subject: Subject,
    /// Reason that these clients are told; empty for none.
    pub reason: String,
    /// Author, e.g. `console`.
    pub author: String,
    /// Time of the entry in seconds since 1970; 0 if unknown.
    pub made: u64,
    /// End in seconds since 1970; `None` for never.
    pub expires: Option<u64>,
}

/// Entry of a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Number, which stays the same as long as the entry exists.
    pub id: u32,
    /// Content.
    pub content: Draft,
}

impl Draft {
    /// Whether the entry is in force.
    #[must_use]
    pub fn is_in_force(&self, now: u64) -> bool {
        self.expires.is_none_or(|end| end > now)
    }

    /// Whether the entry ends later than another one, or at the same time.
    #[must_use]
    pub fn outlasts(&self, other: &Self) -> bool {
        self.end() >= other.end()
    }

    /// End, with a value above all times for never.
    pub(super) fn end(&self) -> u64 {
        self.expires.unwrap_or(u64::MAX)
    }

    /// Text for the client: reason and time left, each if there is one. Begins with a space if not empty.
    #[must_use]
    pub fn notice(&self, now: u64) -> String {
        let mut notice = String::new();
        if !self.reason.is_empty() {
            notice.push_str(" Reason: ");
            notice.push_str(&self.reason);
            if !self.reason.ends_with(['.', '!', '?']) {
                notice.push('.');
            }
        }
        if let Some(end) = self.expires {
            notice.push_str(&format!(" Time left: {}.", Span(end.saturating_sub(now))));
        }
        notice
    }
}

impl Entry {
    /// Details behind the subject in a list: number, time left, author and reason.
    #[must_use]
    pub fn details(&self, now: u64) -> impl fmt::Display {
        let Draft { reason, author, expires, .. } = &self.content;
        let left = expires.map(|end| format!(", {} left", Span(end.saturating_sub(now))));
        let by = if author.is_empty() { String::new() } else { format!(", by {author}") };
        let reason = if reason.is_empty() { String::new() } else { format!(": {reason}") };
        format!("(id {}{}{by}){reason}", self.id, left.unwrap_or_default())
    }
}

/// Returns a text without control characters and quotes, cut to `len` bytes. It can be part of a command, a log line and a
/// console line.
#[must_use]
pub fn bounded_text(text: &str, len: usize) -> String {
    let safe = |c: char| match c {
        '"' => '\'',
        '\\' => '/',
        ';' => ',',
        '%' => '.',
        c if c.is_control() => ' ',
        c => c,
    };
    let safe: String = text::truncated(text.trim(), len).chars().map(safe).collect();
    safe.trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn notice_names_reason_and_time_left() {
        let mut draft = Draft {
            kind: EntryKind::Ban,
            subject: Subject::network("10.0.0.0/8").unwrap(),
            reason: String::new(),
            author: "console".to_owned(),
            made: 1000,
            expires: None,
        };
        assert_eq!(draft.notice(2000), "");
        draft.reason = "spam".to_owned();
        assert_eq!(draft.notice(2000), " Reason: spam.");
        draft.expires = Some(2000 + 7500);
        assert_eq!(draft.notice(2000), " Reason: spam. Time left: 2 h 5 min.");
        assert!(draft.is_in_force(9499) && !draft.is_in_force(9500));
        let entry = Entry { id: 7, content: draft };
        assert_eq!(entry.details(9000).to_string(), "(id 7, 8 min left, by console): spam");
    }

    #[test]
    fn texts_inject_nothing() {
        let text = bounded_text(" a\"b\n;quit \u{1b}[2J\u{85}% \\ ", 100);
        assert_eq!(text, "a'b ,quit  [2J . /");
        assert_eq!(bounded_text(&"ä".repeat(100), 5), "ää");
    }
}
