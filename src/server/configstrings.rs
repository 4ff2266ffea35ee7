//! The configstrings of the level, and how a change of one is told.
//!
//! Invariants: no string holds a quote or is longer than a client stores; all together fit what a
//! client can hold. Source: Quake III protocol 68, configstrings.

use std::sync::Arc;

use crate::model::{
    ConfigIndex,
    limits::{MAX_BIG_STRING_LEN, MAX_CONFIGSTRINGS, MAX_GAMESTATE_CHARS},
    text,
};

/// A change shorter than this goes as one command, a longer one in pieces of one byte less.
const PIECE_LIMIT: usize = 1000;

/// All configstrings of a level.
#[derive(Debug)]
pub(super) struct Configstrings {
    texts: Vec<Arc<str>>,
    /// Each string with its terminator, plus one.
    chars: usize,
}

/// What became of a string that was set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    /// It was that already.
    Unchanged,
    /// Clients have to be told.
    Changed,
    /// All together would be more than clients can hold: the old one stays.
    Refused,
}

impl Configstrings {
    pub(super) fn new() -> Self {
        Self { texts: vec![Arc::from(""); MAX_CONFIGSTRINGS], chars: 1 }
    }

    /// Whether none is set.
    pub(super) fn is_empty(&self) -> bool {
        self.chars == 1
    }

    pub(super) fn get(&self, index: ConfigIndex) -> &str {
        &self.texts[index.index()]
    }

    /// Replaces a string. Quotes become apostrophes, for they would end it on its way.
    pub(super) fn set(&mut self, index: ConfigIndex, value: &str) -> Outcome {
        let value = text::truncated(value, MAX_BIG_STRING_LEN);
        let cost = |text: &str| if text.is_empty() { 0 } else { text.len() + 1 };
        let old = &mut self.texts[index.index()];
        let value = if value.contains('"') { value.replace('"', "'") } else { value.to_owned() };
        if **old == *value {
            return Outcome::Unchanged;
        }
        let chars = self.chars - cost(old) + cost(&value);
        if chars > MAX_GAMESTATE_CHARS {
            return Outcome::Refused;
        }
        self.chars = chars;
        *old = Arc::from(value);
        Outcome::Changed
    }

    /// Those that are not empty, ascending.
    pub(super) fn iter(&self) -> impl Iterator<Item = (ConfigIndex, &str)> {
        ConfigIndex::all()
            .zip(&self.texts)
            .filter(|(_, text)| !text.is_empty())
            .map(|(index, text)| (index, &**text))
    }

    /// The reliable commands that tell a string's present value.
    pub(super) fn commands(&self, index: ConfigIndex) -> Vec<Arc<str>> {
        let value = self.get(index);
        if value.len() < PIECE_LIMIT {
            return vec![format!("cs {index} \"{value}\"\n").into()];
        }
        let mut commands = Vec::new();
        let mut rest = value;
        while !rest.is_empty() {
            let (piece, after) = rest.split_at(text::truncated(rest, PIECE_LIMIT - 1).len());
            let kind = match (commands.is_empty(), after.is_empty()) {
                (true, _) => "bcs0",
                (false, false) => "bcs1",
                (false, true) => "bcs2",
            };
            commands.push(format!("{kind} {index} \"{piece}\"\n").into());
            rest = after;
        }
        commands
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const INDEX: ConfigIndex = ConfigIndex::at(5);

    #[test]
    fn a_long_change_travels_in_pieces_a_client_can_join() {
        let mut strings = Configstrings::new();
        for (len, kinds) in [
            (0, vec!["cs"]),
            (999, vec!["cs"]),
            (1000, vec!["bcs0", "bcs2"]),
            (1998, vec!["bcs0", "bcs2"]),
            (1999, vec!["bcs0", "bcs1", "bcs2"]),
            (8000, vec!["bcs0", "bcs1", "bcs1", "bcs1", "bcs1", "bcs1", "bcs1", "bcs1", "bcs2"]),
        ] {
            strings.set(INDEX, &"x".repeat(len));
            let commands = strings.commands(INDEX);
            let heads: Vec<_> = commands.iter().map(|c| c.split(' ').next().unwrap()).collect();
            assert_eq!(heads, kinds, "{len}");
            let joined: usize = commands.iter().map(|c| c.split('"').nth(1).unwrap().len()).sum();
            assert_eq!(joined, len);
            assert!(commands.iter().all(|c| c.len() <= 1022));
        }
    }

    #[test]
    fn the_text_of_a_level_is_bounded() {
        let mut strings = Configstrings::new();
        assert_eq!(strings.set(ConfigIndex::at(100), &"x".repeat(8000)), Outcome::Changed);
        assert_eq!(strings.set(ConfigIndex::at(101), &"x".repeat(8000)), Outcome::Refused);
        assert_eq!(strings.set(ConfigIndex::at(101), &"x".repeat(7000)), Outcome::Changed);
        assert_eq!(strings.set(ConfigIndex::at(100), ""), Outcome::Changed);
        assert_eq!(strings.set(ConfigIndex::at(100), ""), Outcome::Unchanged);
        assert_eq!(strings.set(ConfigIndex::at(102), &"x".repeat(8000)), Outcome::Changed);
        assert_eq!(strings.iter().count(), 2);
    }

    #[test]
    fn quotes_do_not_end_a_string_early() {
        let mut strings = Configstrings::new();
        strings.set(INDEX, "a \"b\"");
        assert_eq!(strings.commands(INDEX)[0].as_ref(), "cs 5 \"a 'b'\"\n");
    }
}
