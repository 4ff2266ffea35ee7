//! Reader of `.map` sources: entities and keys, and where reading continues behind a problem.
//!
//! Invariants:
//! - A problem ends the face, primitive or key with it alone, so that all problems of a source are reported at once.
//! - A problem has no consequences in the report: what it damages is left out, and a brace that is missing or too many is
//!   one problem.

use std::collections::BTreeSet;

use super::{Entity, Pair};
use crate::{
    mapbuild::{
        diagnostic::{Diagnostic, Findings},
        tokens::{Token, Tokens},
    },
    world::entity_string::{MAX_PAIRS, MAX_TOKEN_LEN},
};

/// Maximum number of entities, with lights and groups, which are not written.
const MAX_ENTITIES: usize = 16_384;
/// Maximum number of problems with texture names.
const MAX_TEXTURE_PROBLEMS: usize = 1000;
/// Longest value of a key for editors, which is not written.
const MAX_EDITOR_VALUE_LEN: usize = 65_536;
/// Words with which a primitive begins.
const PRIMITIVES: [&str; 6] =
    ["(", "brushDef", "brushDef3", "patchDef2", "patchDef3", "terrainDef"];

/// Entities of a source.
pub(super) struct Reading {
    /// Entities, without what has a problem.
    pub entities: Vec<Entity>,
    /// Whether all keys were read.
    pub has_all_keys: bool,
}

/// Reads the entities of a source. Problems are reported with their lines.
pub(super) fn entities(text: &str, findings: &mut Findings) -> Reading {
    let mut reader = Reader::new(text, findings);
    let mut entities = Vec::new();
    if let Err(error) = reader.entities(&mut entities) {
        reader.has_all_keys = false;
        reader.note(error);
    }
    Reading { entities, has_all_keys: reader.has_all_keys }
}

pub(super) struct Reader<'a, 'f> {
    findings: &'f mut Findings,
    pub(super) tokens: Tokens<'a>,
    pub(super) brushes: usize,
    pub(super) patches: usize,
    /// Whether the primitive that is read has a problem.
    pub(super) is_damaged: bool,
    /// Line and subject of the last problem with a value.
    value_problem: (u32, &'static str),
    /// Problems with texture names.
    texture_problems: BTreeSet<String>,
    /// Line of the brace that closed the last entity.
    closed_at: u32,
    /// Line of the last entity with too many keys.
    too_many_keys_in: u32,
    /// Opening braces that were one too many, whose closing braces may follow.
    extra_braces: usize,
    has_ended: bool,
    has_all_keys: bool,
}

impl<'a, 'f> Reader<'a, 'f> {
    fn new(text: &'a str, findings: &'f mut Findings) -> Self {
        Self {
            findings,
            tokens: Tokens::new(text),
            brushes: 0,
            patches: 0,
            is_damaged: false,
            value_problem: (0, ""),
            texture_problems: BTreeSet::new(),
            closed_at: 0,
            too_many_keys_in: 0,
            extra_braces: 0,
            has_ended: false,
            has_all_keys: true,
        }
    }

    pub(super) fn error<T>(&self, line: u32, message: impl Into<String>) -> Result<T, Diagnostic> {
        Err(Diagnostic::new(self.findings.file(), line, message))
    }

    /// Reports a problem behind which reading continues.
    pub(super) fn note(&mut self, error: Diagnostic) {
        // The end of the source is one problem, and so is a line whose value is not usable.
        if self.has_ended || self.is_damaged && self.value_problem.0 == error.line {
            return;
        }
        self.has_ended = self.tokens.peek().is_none();
        self.findings.error(error.line, error.message);
    }

    /// Reports a value that is not usable, once per subject and line. The primitive is read on.
    pub(super) fn note_value(&mut self, line: u32, subject: &'static str, message: String) {
        self.is_damaged = true;
        if self.value_problem != (line, subject) {
            self.value_problem = (line, subject);
            self.findings.error(line, message);
        }
    }

    /// Reports a texture name that is not usable, once per name: the faces of a brush often have one texture.
    pub(super) fn note_texture(&mut self, line: u32, message: String) {
        self.is_damaged = true;
        if self.texture_problems.len() < MAX_TEXTURE_PROBLEMS
            && self.texture_problems.insert(message.clone())
        {
            self.note_value(line, "texture", message);
        }
    }

    /// Reports a problem that damages no primitive.
    pub(super) fn report(&mut self, line: u32, message: String) {
        self.findings.error(line, message);
    }

    /// Reports a problem that does not stop the build.
    pub(super) fn advise(&mut self, line: u32, message: String) {
        self.findings.warn(line, message);
    }

    /// Returns the problem of a source that ends early.
    fn ended<T>(&self, expected: &str) -> Result<T, Diagnostic> {
        let end = self.tokens.at_next();
        match end.open_comment() {
            Some(line) => self.error(line, "comment not closed (expected */ at its end)"),
            None => self.error(end.line(), format!("source ends early (expected {expected})")),
        }
    }

    pub(super) fn next(&mut self, expected: &str) -> Result<Token<'a>, Diagnostic> {
        self.tokens.next().map_or_else(|| self.ended(expected), Ok)
    }

    pub(super) fn peek(&self, expected: &str) -> Result<Token<'a>, Diagnostic> {
        self.tokens.peek().map_or_else(|| self.ended(expected), Ok)
    }

    /// Consumes a punctuation token. Braces in its place are left.
    pub(super) fn expect(&mut self, punctuation: &str, place: &str) -> Result<(), Diagnostic> {
        let Some(token) = self.tokens.peek() else {
            return self.ended(&format!("'{punctuation}' {place}"));
        };
        let is_right = token.is(punctuation);
        let is_brace = token.is("{") || token.is("}");
        if is_right || !is_brace {
            let _ = self.tokens.next();
        }
        if is_right {
            return Ok(());
        }
        let what = format!("unexpected {} (expected '{punctuation}' {place})", token.shown());
        self.error(token.line, what)
    }

    /// Reads all entities.
    ///
    /// # Errors
    /// A problem behind which nothing more can be read.
    fn entities(&mut self, entities: &mut Vec<Entity>) -> Result<(), Diagnostic> {
        while let Some(token) = self.tokens.peek() {
            if token.is("}") && self.extra_braces > 0 {
                let _ = self.tokens.next();
                self.extra_braces -= 1;
                continue;
            }
            if entities.len() == MAX_ENTITIES {
                return self.error(token.line, format!("too many entities (max {MAX_ENTITIES})"));
            }
            if self.lacks_entity_brace() {
                let what = "key \"classname\" outside an entity (expected '{' before it)";
                self.note(Diagnostic::new("", token.line, what));
                let mut entity = Entity { line: token.line, ..Entity::default() };
                let read = self.entity(&mut entity);
                entities.push(entity);
                read?;
            } else if self.is_outside_entity(!entities.is_empty()) {
                let closed = match self.closed_at {
                    0 => String::new(),
                    line => format!(": line {line} closed the entity before it"),
                };
                let what = format!(
                    "brush or key outside an entity{closed} (expected '{{' before an entity)"
                );
                self.has_all_keys = false;
                self.note(Diagnostic::new("", token.line, what));
                // As without the brace that closed the entity.
                let mut entity = entities
                    .pop()
                    .unwrap_or_else(|| Entity { line: token.line, ..Entity::default() });
                let read = self.entity(&mut entity);
                entities.push(entity);
                read?;
            } else if token.is("{") {
                let _ = self.tokens.next();
                let mut entity = Entity { line: token.line, ..Entity::default() };
                let read = self.entity(&mut entity);
                entities.push(entity);
                read?;
            } else {
                let what = format!("unexpected {} (expected '{{' before an entity)", token.shown());
                self.note(Diagnostic::new("", token.line, what));
                let _ = self.tokens.next();
                let has_entity = !entities.is_empty();
                while let Some(token) = self.tokens.peek() {
                    // A text of another kind has braces and quotes, too.
                    let is_rest = match has_entity {
                        true => !token.is("{") && !token.quoted,
                        false => !self.begins_entity(),
                    };
                    if !is_rest {
                        break;
                    }
                    let _ = self.tokens.next();
                }
            }
        }
        match self.tokens.at_next().open_comment() {
            Some(_) if !self.has_ended => self.ended(""),
            _ => Ok(()),
        }
    }

    /// Whether the class of an entity follows, and not its opening brace.
    fn lacks_entity_brace(&self) -> bool {
        let mut ahead = self.tokens.ahead();
        ahead.next().is_some_and(|key| key.quoted && key.text.eq_ignore_ascii_case("classname"))
            && ahead.next().is_some_and(|value| value.quoted)
    }

    /// Whether a brace closes a second one before a primitive: more of the entity follows behind it.
    pub(super) fn closes_doubled_brace(&self) -> bool {
        let mut ahead = self.tokens.ahead();
        if !ahead.next().is_some_and(|token| token.is("}")) {
            return false;
        }
        match (ahead.next(), ahead.next()) {
            (Some(token), _) if token.is("}") || token.quoted => true,
            (Some(brace), Some(word)) if brace.is("{") => {
                PRIMITIVES.iter().any(|known| word.is(known))
            }
            _ => false,
        }
    }

    /// Whether a primitive follows, or a key behind an entity, and not an entity.
    fn is_outside_entity(&self, has_entity: bool) -> bool {
        let mut ahead = self.tokens.ahead();
        match (ahead.next(), ahead.next()) {
            (Some(key), Some(value)) if key.quoted && value.quoted => has_entity,
            (Some(brace), Some(word)) if brace.is("{") => {
                PRIMITIVES.iter().any(|known| word.is(known))
            }
            _ => false,
        }
    }

    /// Whether an entity follows: a brace and a key. The name of a patch's texture has a parenthesis behind it.
    fn begins_entity(&self) -> bool {
        let mut ahead = self.tokens.ahead();
        ahead.next().is_some_and(|token| token.is("{"))
            && ahead.next().is_some_and(|token| token.quoted)
            && ahead.next().is_some_and(|token| !token.is("("))
    }

    /// Reads an entity behind its opening brace.
    ///
    /// # Errors
    /// The source ends.
    fn entity(&mut self, entity: &mut Entity) -> Result<(), Diagnostic> {
        loop {
            let Some(token) = self.tokens.peek() else {
                let line = entity.line;
                return self.ended(&format!(
                    "a \"key\", a brush or '}}' of the entity that begins in line {line}"
                ));
            };
            let is_empty =
                entity.pairs.is_empty() && entity.brushes.is_empty() && entity.patches.is_empty();
            if is_empty && self.begins_entity() {
                let what = "unexpected \"{\" (expected one '{' before the keys of an entity)";
                self.note(Diagnostic::new("", token.line, what));
                let _ = self.tokens.next();
                self.extra_braces += 1;
                continue;
            }
            if self.begins_entity() {
                let what = format!(
                    "entity that begins in line {} is not closed (expected '}}' before the next one)",
                    entity.line
                );
                self.note(Diagnostic::new("", token.line, what));
                return Ok(());
            }
            let lacks_brace = PRIMITIVES.iter().any(|known| token.is(known));
            if !lacks_brace {
                let _ = self.tokens.next();
            }
            if token.is("}") {
                self.closed_at = token.line;
                return Ok(());
            }
            if lacks_brace {
                let what = format!("unexpected {} (expected '{{' before a brush)", token.shown());
                self.note(Diagnostic::new("", token.line, what));
            }
            if token.is("{") || lacks_brace {
                self.is_damaged = false;
                let start = self.tokens.clone();
                if let Err(error) = self.primitive(token.line, entity) {
                    self.note(error);
                    self.leave_primitive(start);
                }
                self.is_damaged = false;
            } else if token.quoted {
                if let Err(error) = self.pair(token, entity) {
                    self.has_all_keys = false;
                    self.note(error);
                    self.leave_line();
                }
            } else {
                let what = format!(
                    "unexpected {} (expected a \"key\", a brush or '}}' of the entity)",
                    token.shown()
                );
                self.has_all_keys = false;
                self.note(Diagnostic::new("", token.line, what));
                self.leave_line();
            }
        }
    }

    /// Continues behind a primitive with a problem. `start` is behind its opening brace.
    fn leave_primitive(&mut self, start: Tokens<'a>) {
        // The closing brace is missing, and the next primitive or a key follows.
        if self.tokens.peek().is_some_and(|token| token.is("{") || token.quoted) {
            return;
        }
        self.tokens = start;
        let mut depth = 1;
        while depth > 0 && !self.begins_entity() {
            match self.tokens.next() {
                Some(token) if token.is("{") => depth += 1,
                Some(token) if token.is("}") => depth -= 1,
                Some(_) => {}
                None => break,
            }
        }
    }

    /// Continues behind a face with a problem: at the next face that begins a line, or at a brace.
    pub(super) fn leave_face(&mut self) {
        loop {
            let line = self.tokens.line();
            match self.tokens.peek() {
                None => return,
                Some(token) if token.is("{") || token.is("}") || token.quoted => return,
                Some(token) if token.line > line && self.begins_face() => return,
                Some(_) => drop(self.tokens.next()),
            }
        }
    }

    /// Whether the next line is that of a face, with two points at least, and not only its later part.
    fn begins_face(&self) -> bool {
        let mut ahead = self.tokens.clone();
        let is_open = ahead.next().is_some_and(|token| token.is("("));
        let is_point = ahead.peek().is_some_and(|token| !token.is("("));
        is_open && is_point && ahead.rest_of_line().any(|token| token.is("("))
    }

    /// Continues behind the rest of a line with a problem, or at a brace on it.
    fn leave_line(&mut self) {
        let line = self.tokens.line();
        let is_rest = |token: Token<'_>| token.line == line && !token.is("{") && !token.is("}");
        while self.tokens.peek().is_some_and(is_rest) {
            let _ = self.tokens.next();
        }
    }

    /// Whether a brace or a key with its value follows a key in a line before.
    fn lacks_value(&self) -> bool {
        let mut ahead = self.tokens.ahead();
        let Some(value) = ahead.next() else { return false };
        let is_key = value.quoted
            && value.line > self.tokens.line()
            && ahead.next().is_some_and(|next| next.quoted && next.line == value.line);
        value.is("{") || value.is("}") || is_key
    }

    fn pair(&mut self, key: Token<'a>, entity: &mut Entity) -> Result<(), Diagnostic> {
        if !key.is_open && self.lacks_value() {
            let what = format!("key {} without a value (expected a \"value\")", key.shown());
            return self.error(key.line, what);
        }
        let value = if key.is_open { key } else { self.next("a \"value\" after a key")? };
        if value.is_open {
            let what = format!("quote not closed: {} (expected '\"' at its end)", value.shown());
            return self.error(value.line, what);
        }
        if !value.quoted {
            let what = format!(
                "unexpected {} after key {} (expected a \"value\")",
                value.shown(),
                key.shown()
            );
            return self.error(value.line, what);
        }
        if entity.pairs.len() == MAX_PAIRS {
            self.has_all_keys = false;
            if self.too_many_keys_in != entity.line {
                self.too_many_keys_in = entity.line;
                let what = format!("too many keys in an entity (max {MAX_PAIRS}, reached here)");
                self.note(Diagnostic::new("", key.line, what));
            }
            return Ok(());
        }
        let is_written = !key.text.starts_with('_');
        let max = if is_written { MAX_TOKEN_LEN } else { MAX_EDITOR_VALUE_LEN };
        if key.text.len().max(value.text.len()) > max {
            let what = format!("value of {} too long (max {max} bytes)", key.shown());
            return self.error(key.line, what);
        }
        let (key, value, line) = (key.text.to_owned(), value.text.to_owned(), key.line);
        entity.pairs.push(Pair { key, value, line });
        Ok(())
    }
}
