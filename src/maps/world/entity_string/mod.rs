//! Entity string: all entities of a map as pairs of keys and values.
//!
//! Invariants: at most [`MAX_ENTITIES`] entities of at most [`MAX_PAIRS`] pairs and
//! [`MAX_ENTITY_BYTES`] bytes; the first is `worldspawn`; every position, angle and speed is finite. Text keeps
//! its bytes: those beyond ASCII are Latin-1.
//!
//! Source: IBSP 46 and the base game's parser: tokens, limits, and precedence of equal keys. Engine names:
//! `G_SpawnString`, `G_ParseField`.

mod tokens;

use std::str;

use thiserror::Error;

pub use self::tokens::TokenCursor;
use self::tokens::Tokens;
use crate::model::{Vec3, text::atoi};

/// Maximum length of the entity string, in bytes.
pub const MAX_TEXT_LEN: usize = 1024 * 1024;
/// Maximum number of entities.
pub const MAX_ENTITIES: usize = 1024;
/// Maximum number of pairs of an entity.
pub const MAX_PAIRS: usize = 64;
/// Limit of an entity's keys and values in bytes, each with a terminator.
pub const MAX_ENTITY_BYTES: usize = 4096;
/// Longest key or value, in bytes; longer ones are truncated.
pub const MAX_TOKEN_LEN: usize = 1023;

/// Keys that the game reads as numbers.
const NUMBERS: [&str; 15] = [
    "origin", "angles", "angle", "speed", "wait", "random", "delay", "height", "lip", "phase",
    "radius", "light", "gravity", "dmg", "health",
];

/// Entities of a map.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MapEntities(Vec<MapEntity>);

/// One entity of the entity string.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MapEntity {
    line: u32,
    pairs: Vec<(Box<str>, Box<str>)>,
}

/// An error of the entity string.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("entity string, line {line}: {fault}")]
pub struct EntityStringError {
    /// Line number, from 1.
    pub line: u32,
    /// Kind of error.
    pub fault: EntityStringErrorKind,
}

/// Kinds of errors in the entity string.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum EntityStringErrorKind {
    /// Text longer than the limit.
    #[error("too long: {len} bytes (max {MAX_TEXT_LEN})")]
    TooLong {
        /// Length of the text, in bytes.
        len: usize,
    },
    /// A token other than an entity's opening brace.
    #[error("unexpected \"{found}\" (expected {{ of an entity)")]
    NoEntity {
        /// Token found.
        found: Box<str>,
    },
    /// End of the text inside an entity.
    #[error("entity that starts in line {since} is not closed")]
    Unclosed {
        /// Line of its opening brace.
        since: u32,
    },
    /// A key without a value.
    #[error("key \"{key}\" has no value")]
    NoValue {
        /// Key.
        key: Box<str>,
    },
    /// More entities than a level can hold.
    #[error("too many entities (max {MAX_ENTITIES})")]
    TooManyEntities,
    /// More pairs than an entity can hold.
    #[error("entity has too many pairs (max {MAX_PAIRS})")]
    TooManyPairs,
    /// More bytes than an entity can hold.
    #[error("entity has too many bytes (max {MAX_ENTITY_BYTES})")]
    TooManyBytes,
    /// Infinite or invalid number.
    #[error("\"{key}\" is not a finite number: \"{value}\"")]
    NotFinite {
        /// Key.
        key: Box<str>,
        /// Value.
        value: Box<str>,
    },
    /// First entity other than the world, or no entity.
    #[error("first entity is not a worldspawn")]
    NoWorldspawn,
}

impl MapEntities {
    /// Parses a map's entity string.
    ///
    /// # Errors
    ///
    /// Reports unbalanced braces or pairs, an exceeded limit, or a first entity other than the
    /// world.
    pub fn parse(text: &[u8]) -> Result<Self, EntityStringError> {
        let mut tokens = Tokens { text, at: 0, line: 1 };
        if text.len() > MAX_TEXT_LEN {
            return Err(tokens.fault(EntityStringErrorKind::TooLong { len: text.len() }));
        }
        let mut entities = Vec::new();
        while let Some(token) = tokens.next() {
            if !token.starts_with(b"{") {
                return Err(tokens.fault(EntityStringErrorKind::NoEntity { found: latin1(token) }));
            }
            if entities.len() == MAX_ENTITIES {
                return Err(tokens.fault(EntityStringErrorKind::TooManyEntities));
            }
            let entity = entity(&mut tokens)?;
            if entities.is_empty() && !entity.classname().eq_ignore_ascii_case("worldspawn") {
                return Err(tokens.fault(EntityStringErrorKind::NoWorldspawn));
            }
            entities.push(entity);
        }
        if entities.is_empty() {
            return Err(tokens.fault(EntityStringErrorKind::NoWorldspawn));
        }
        Ok(Self(entities))
    }

    /// Returns the world entity: title, music, gravity.
    #[must_use]
    pub fn world(&self) -> &MapEntity {
        // The parser rejects an empty list.
        &self.0[0]
    }

    /// Returns all entities in the order of the text, the world first.
    #[must_use]
    pub fn all(&self) -> &[MapEntity] {
        &self.0
    }

    /// Iterates over the entities of a class, in the order of the text.
    pub fn of_class(&self, class: &str) -> impl Iterator<Item = &MapEntity> {
        self.0.iter().filter(move |entity| entity.classname().eq_ignore_ascii_case(class))
    }

    /// Iterates over the entities whose `targetname` is `name`, in the order of the text.
    pub fn targets(&self, name: &str) -> impl Iterator<Item = &MapEntity> {
        self.0.iter().filter(move |entity| {
            entity.field("targetname").is_some_and(|own| own.eq_ignore_ascii_case(name))
        })
    }
}

impl MapEntity {
    /// Line of the text on which the entity starts, from 1.
    #[must_use]
    pub const fn line(&self) -> u32 {
        self.line
    }

    /// Iterates over the pairs as written.
    pub fn pairs(&self) -> impl Iterator<Item = (&str, &str)> {
        self.pairs.iter().map(|(key, value)| (&**key, &**value))
    }

    /// Returns the first value of a key. The game's spawn functions read this one by name.
    #[must_use]
    pub fn spawn_value(&self, key: &str) -> Option<&str> {
        self.pairs().find(|(own, _)| own.eq_ignore_ascii_case(key)).map(|(_, value)| value)
    }

    /// Returns the last value of a key. This one ends up in the entity's own field.
    #[must_use]
    pub fn field(&self, key: &str) -> Option<&str> {
        let mut pairs = self.pairs.iter().rev();
        pairs.find(|(own, _)| own.eq_ignore_ascii_case(key)).map(|(_, value)| &**value)
    }

    /// Returns the last value of a key with its escapes resolved. `\n` ends a line; a backslash
    /// before any other character stays, and that character is lost.
    #[must_use]
    pub fn text_field(&self, key: &str) -> Option<String> {
        let mut resolved = String::new();
        let mut chars = self.field(key)?.chars();
        while let Some(char) = chars.next() {
            match char {
                '\\' if chars.next() == Some('n') => resolved.push('\n'),
                other => resolved.push(other),
            }
        }
        Some(resolved)
    }

    /// Classname; empty when none is given.
    #[must_use]
    pub fn classname(&self) -> &str {
        self.field("classname").unwrap_or_default()
    }

    /// Origin; zero when none is given.
    #[must_use]
    pub fn origin(&self) -> Vec3 {
        self.vec3("origin").unwrap_or(Vec3::ZERO)
    }

    /// Pitch, yaw and roll in degrees, from `angles`, or `angle` for yaw only.
    #[must_use]
    pub fn angles(&self) -> Vec3 {
        let mut angles = Vec3::ZERO;
        // Both keys write the same field, so the last of either counts.
        for (key, value) in self.pairs() {
            if key.eq_ignore_ascii_case("angles") {
                angles = vec3(value);
            } else if key.eq_ignore_ascii_case("angle") {
                angles = Vec3::new(0.0, finite_or_zero(leading_float(value)), 0.0);
            }
        }
        angles
    }

    /// Returns three numbers; missing or invalid ones are 0.
    #[must_use]
    pub fn vec3(&self, key: &str) -> Option<Vec3> {
        self.field(key).map(vec3)
    }

    /// Returns a number; 0 when invalid.
    #[must_use]
    pub fn float(&self, key: &str) -> Option<f32> {
        self.field(key).map(|value| finite_or_zero(leading_float(value)))
    }

    /// Returns an integer; 0 when invalid.
    #[must_use]
    pub fn int(&self, key: &str) -> Option<i32> {
        self.field(key).map(atoi)
    }
}

fn entity(tokens: &mut Tokens<'_>) -> Result<MapEntity, EntityStringError> {
    let line = tokens.line;
    let unclosed =
        |tokens: &Tokens<'_>| tokens.fault(EntityStringErrorKind::Unclosed { since: line });
    let mut pairs = Vec::new();
    let mut bytes = 0;
    loop {
        let key = tokens.next().ok_or_else(|| unclosed(tokens))?;
        if key.starts_with(b"}") {
            return Ok(MapEntity { line, pairs });
        }
        let value = tokens.next().ok_or_else(|| unclosed(tokens))?;
        if value.starts_with(b"}") {
            return Err(tokens.fault(EntityStringErrorKind::NoValue { key: latin1(key) }));
        }
        bytes += key.len() + value.len() + 2;
        if pairs.len() == MAX_PAIRS {
            return Err(tokens.fault(EntityStringErrorKind::TooManyPairs));
        }
        if bytes > MAX_ENTITY_BYTES {
            return Err(tokens.fault(EntityStringErrorKind::TooManyBytes));
        }
        let (key, value) = (latin1(key), latin1(value));
        let is_number = NUMBERS.iter().any(|number| key.eq_ignore_ascii_case(number));
        if is_number && !floats(&value).all(f32::is_finite) {
            return Err(tokens.fault(EntityStringErrorKind::NotFinite { key, value }));
        }
        pairs.push((key, value));
    }
}

fn latin1(bytes: &[u8]) -> Box<str> {
    match str::from_utf8(bytes) {
        Ok(text) if text.is_ascii() => text.into(),
        _ => bytes.iter().map(|&byte| char::from(byte)).collect::<String>().into(),
    }
}

fn finite_or_zero(number: f32) -> f32 {
    if number.is_finite() { number } else { 0.0 }
}

fn vec3(value: &str) -> Vec3 {
    let mut numbers = floats(value).map(finite_or_zero);
    let mut next = || numbers.next().unwrap_or(0.0);
    Vec3::new(next(), next(), next())
}

/// Iterates over the numbers of a text. A word that is not a number counts as 0.
///
/// A number is a sign, digits, a point and digits, as the bytecode of game modules reads it: without an exponent, and
/// with sums of floats. The byte after a number ends it and is skipped.
fn floats(text: &str) -> impl Iterator<Item = f32> {
    let mut bytes = text.bytes().peekable();
    std::iter::from_fn(move || {
        while bytes.next_if(|&byte| byte <= b' ').is_some() {}
        bytes.peek()?;
        let sign = match bytes.next_if(|byte| matches!(byte, b'+' | b'-')) {
            Some(b'-') => -1.0,
            _ => 1.0,
        };
        let digit = |byte: u8| f32::from(byte - b'0');
        let mut number = 0.0;
        while let Some(byte) = bytes.next_if(u8::is_ascii_digit) {
            number = number * 10.0 + digit(byte);
        }
        if bytes.next() == Some(b'.') {
            let mut place = 0.1;
            while let Some(byte) = bytes.next_if(u8::is_ascii_digit) {
                number += digit(byte) * place;
                place *= 0.1;
            }
            bytes.next();
        }
        Some(number * sign)
    })
}

/// Returns the number at the start of a text; 0 without one.
fn leading_float(text: &str) -> f32 {
    floats(text).next().unwrap_or(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const WORLD: &str = "{\n\"classname\" \"worldspawn\"\n}\n";

    fn parse(rest: &str) -> Result<MapEntities, EntityStringError> {
        MapEntities::parse(format!("{WORLD}{rest}").as_bytes())
    }

    fn one(pairs: &str) -> MapEntity {
        parse(&format!("{{ {pairs} }}")).unwrap().all()[1].clone()
    }

    #[test]
    fn tokens_match_the_engine_parser() {
        let entity = one("a // no \"b\"\n b /* { } */ \"\" \"q r\n\"\t{foo x}y /**/");
        let pairs: Vec<_> = entity.pairs().collect();
        assert_eq!(pairs, [("a", "b"), ("", "q r\n"), ("{foo", "x}y")]);
    }

    #[test]
    fn duplicate_key_gives_first_spawn_value_and_last_field() {
        let entity = one("\"Speed\" 1 SPEED 2 angles \"10 20 30\" angle 90");
        assert_eq!((entity.spawn_value("speed"), entity.field("speed")), (Some("1"), Some("2")));
        assert_eq!(entity.angles(), Vec3::new(0.0, 90.0, 0.0));
        assert_eq!(one("message a\\nb\\c\\\\d").text_field("message").unwrap(), "a\nb\\\\d");
    }

    #[test]
    fn numbers_are_read_as_by_the_bytecode_of_modules() {
        let entity = one("origin \"1.5 -2e1x 3\" light .5 wait 5. random +-1 count 1e dmg 7e");
        assert_eq!(entity.origin(), Vec3::new(1.5, -2.0, 1.0));
        assert_eq!(entity.float("light"), Some(0.5));
        assert_eq!(entity.float("wait"), Some(5.0));
        assert_eq!(entity.float("random"), Some(0.0));
        assert_eq!(entity.float("dmg"), Some(7.0));
        assert_eq!(entity.float("none"), None);
        // A sum of floats is not the nearest float.
        let sum = one("angle -179.99998").angles()[1];
        assert_eq!((sum, sum == -179.99998), (-179.99997, false));
    }

    #[test]
    fn errors_name_their_line() {
        let fault = |text: &str| parse(text).unwrap_err().to_string();
        assert_eq!(
            fault("{\n\"a\" \"b\"\n"),
            "entity string, line 6: entity that starts in line 4 is not closed"
        );
        assert_eq!(fault("\n{ a }"), "entity string, line 5: key \"a\" has no value");
        assert_eq!(fault("}"), "entity string, line 4: unexpected \"}\" (expected { of an entity)");
        let long = "9".repeat(40);
        assert_eq!(
            fault(&format!("{{ Origin \"0 {long} 1\" }}")),
            format!("entity string, line 4: \"Origin\" is not a finite number: \"0 {long} 1\"")
        );
        assert_eq!(
            fault("{ \"a"),
            "entity string, line 4: entity that starts in line 4 is not closed"
        );
        assert_eq!(
            MapEntities::parse(b"").unwrap_err().to_string(),
            "entity string, line 1: first entity is not a worldspawn"
        );
        assert!(MapEntities::parse(b"{ classname light }").is_err());
    }

    #[test]
    fn limits_accept_their_exact_value() {
        let of = |count: usize, text: &str| parse(&text.repeat(count)).map(|all| all.all().len());
        assert_eq!(of(MAX_ENTITIES - 1, "{ a b } "), Ok(MAX_ENTITIES));
        assert_eq!(
            of(MAX_ENTITIES, "{ a b } ").unwrap_err().fault,
            EntityStringErrorKind::TooManyEntities
        );
        let pairs = |count: usize, pair: &str| parse(&format!("{{ {} }}", pair.repeat(count)));
        assert!(pairs(MAX_PAIRS, "a b ").is_ok());
        assert_eq!(
            pairs(MAX_PAIRS + 1, "a b ").unwrap_err().fault,
            EntityStringErrorKind::TooManyPairs
        );
        let long = |len: usize| format!("key {} ", "x".repeat(len));
        assert!(pairs(4, &long(1019)).is_ok());
        assert_eq!(pairs(4, &long(1020)).unwrap_err().fault, EntityStringErrorKind::TooManyBytes);
        let cut = one(&format!("key {}", "x".repeat(2000)));
        assert_eq!(cut.field("key").map(str::len), Some(MAX_TOKEN_LEN));
        let huge = vec![b' '; MAX_TEXT_LEN + 1];
        assert_eq!(
            MapEntities::parse(&huge).unwrap_err().fault,
            EntityStringErrorKind::TooLong { len: MAX_TEXT_LEN + 1 }
        );
    }

    #[test]
    fn non_ascii_bytes_separate_words_and_stay_in_quotes() {
        let text = [WORLD.as_bytes(), b"{ a\xe9b \"c\xe9d\" }"].concat();
        let fault = MapEntities::parse(&text).unwrap_err().fault;
        assert_eq!(fault, EntityStringErrorKind::NoValue { key: "c\u{e9}d".into() });
        let text = [WORLD.as_bytes(), b"{ a \"c\xe9d\" }\0"].concat();
        assert_eq!(MapEntities::parse(&text).unwrap().all()[1].field("a"), Some("c\u{e9}d"));
    }

    proptest! {
        #[test]
        fn no_text_is_too_strange(text in prop::collection::vec(
            prop::sample::select(&b"{}\"\"  \n/*ab1.e-\\\xe9\0"[..]), 0..300,
        )) {
            let text = [WORLD.as_bytes(), &text].concat();
            if let Ok(entities) = MapEntities::parse(&text) {
                for entity in entities.all() {
                    prop_assert!(entity.origin().0.iter().all(|axis| axis.is_finite()));
                    let _ = (entity.angles(), entity.text_field("a"));
                }
            }
        }
    }
}
