//! Games of a master: heartbeats, names, options, and which names are accepted.
//!
//! Invariant: a [`Tag`] is valid for the table that issued it, which never changes.

use std::{collections::BTreeSet, sync::Arc};

use thiserror::Error;

use crate::{
    discovery::{Family, GAMES},
    wire::text::WireText,
};

/// Heartbeat of servers that name their game only in `infoResponse`.
const ANY_GAME_HEARTBEAT: &str = "DarkPlaces";
/// Longest heartbeat and name, in bytes.
pub(super) const MAX_NAME: usize = 63;
/// Most declared games.
const MAX_DECLARED: usize = 200;

/// Number of a heartbeat in the table.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Tag(pub(super) u8);

/// Heartbeat of a game.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Heartbeat {
    /// First word of the heartbeat.
    pub(super) word: String,
    /// Word that announces a shutdown. It is ignored, because anyone can forge it.
    flatline: Option<&'static str>,
    /// Name of the game; `None` if servers give it themselves.
    pub(super) name: Option<Arc<str>>,
    /// Whether a request may leave out the name.
    pub(super) is_anonymous: bool,
    /// Whether the master queries its servers again and again.
    pub(super) is_probed: bool,
}

/// Error of a declared game.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum GamesError {
    /// Name or heartbeat that no packet can carry.
    #[error(
        "invalid game '{0}' (expected 1 to 63 printable characters without blanks and \\ / ; \" %)"
    )]
    Name(String),
    /// Heartbeat of another game.
    #[error("heartbeat '{0}' declared for two games (expected one)")]
    Twice(String),
    /// More games than a challenge can number.
    #[error("too many games: {0} (expected at most {MAX_DECLARED})")]
    TooMany(usize),
}

/// Games that a master declares, accepts and rejects.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GamePolicy {
    /// Names to accept; empty accepts all.
    pub accept: BTreeSet<String>,
    /// Names to reject, also if accepted.
    pub reject: BTreeSet<String>,
    /// Declared games: name and heartbeat.
    pub declared: Vec<(String, String)>,
}

impl GamePolicy {
    /// Checks that a master can be built with it.
    ///
    /// # Errors
    /// The invalid game.
    pub fn check(&self) -> Result<(), GamesError> {
        Games::new(self).map(|_| ())
    }

    /// Checks a name or a heartbeat's word.
    ///
    /// # Errors
    /// The invalid name.
    pub fn check_name(name: &str) -> Result<(), GamesError> {
        check_name(name)
    }
}

/// Table of heartbeats, and the policy for names.
#[derive(Clone, Debug)]
pub(super) struct Games {
    heartbeats: Vec<Heartbeat>,
    accept: BTreeSet<String>,
    reject: BTreeSet<String>,
}

/// Meaning of a heartbeat's word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Meaning {
    /// The server is up.
    Up(Tag),
    /// The server is about to stop, it claims.
    Flatline,
}

impl Games {
    /// Builds the table.
    pub(super) fn new(policy: &GamePolicy) -> Result<Self, GamesError> {
        if policy.declared.len() > MAX_DECLARED {
            return Err(GamesError::TooMany(policy.declared.len()));
        }
        let mut heartbeats: Vec<_> = GAMES
            .iter()
            .filter(|game| game.family == Family::Quake3)
            .map(|game| Heartbeat {
                word: game.heartbeat.to_owned(),
                flatline: game.flatline,
                name: Some(game.name.into()),
                is_anonymous: true,
                is_probed: game.lists_all,
            })
            .collect();
        let declared = |word: &str, name: Option<&str>| Heartbeat {
            word: word.to_owned(),
            flatline: None,
            name: name.map(Arc::from),
            is_anonymous: false,
            is_probed: false,
        };
        heartbeats.push(declared(ANY_GAME_HEARTBEAT, None));
        for (name, word) in &policy.declared {
            check_name(name)?;
            check_name(word)?;
            if heartbeats.iter().any(|known| known.word == *word || known.flatline == Some(word)) {
                return Err(GamesError::Twice(word.clone()));
            }
            heartbeats.push(declared(word, Some(name)));
        }
        policy.accept.iter().chain(&policy.reject).try_for_each(|name| check_name(name))?;
        Ok(Self { heartbeats, accept: policy.accept.clone(), reject: policy.reject.clone() })
    }

    /// Returns the meaning of a heartbeat's word, if it is known or declared.
    pub(super) fn meaning(&self, word: WireText<'_>) -> Option<Meaning> {
        self.heartbeats.iter().enumerate().find_map(|(number, known)| {
            if word == *known.word {
                return Some(Meaning::Up(Tag(number as u8)));
            }
            known.flatline.is_some_and(|flatline| word == flatline).then_some(Meaning::Flatline)
        })
    }

    /// Returns a heartbeat of the table.
    pub(super) fn heartbeat(&self, tag: Tag) -> Option<&Heartbeat> {
        self.heartbeats.get(usize::from(tag.0))
    }

    /// Returns the number of a heartbeat's word, as stored in a state file.
    pub(super) fn tag_named(&self, word: &str) -> Option<Tag> {
        let at = self.heartbeats.iter().position(|known| known.word == word)?;
        Some(Tag(at as u8))
    }

    /// Whether the policy accepts a name.
    pub(super) fn accepts(&self, name: WireText<'_>) -> bool {
        let listed = |names: &BTreeSet<String>| names.iter().any(|known| name == **known);
        (self.accept.is_empty() || listed(&self.accept)) && !listed(&self.reject)
    }
}

/// Whether text is valid as a name or heartbeat.
pub(super) fn is_name(name: WireText<'_>) -> bool {
    let legal = |byte: &u8| (0x21..0x7f).contains(byte) && !b"\\/;\"%".contains(byte);
    (1..=MAX_NAME).contains(&name.len()) && name.raw().iter().all(legal)
}

fn check_name(name: &str) -> Result<(), GamesError> {
    if is_name(WireText::from(name)) { Ok(()) } else { Err(GamesError::Name(name.to_owned())) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn declared(games: &[(&str, &str)]) -> Result<Games, GamesError> {
        let declared =
            games.iter().map(|(name, word)| ((*name).to_owned(), (*word).to_owned())).collect();
        Games::new(&GamePolicy { declared, ..GamePolicy::default() })
    }

    #[test]
    fn heartbeats_have_their_games() {
        let games = declared(&[("Warsow", "Warsow-1")]).unwrap();
        let name = |word: &str| match games.meaning(word.into()) {
            Some(Meaning::Up(tag)) => {
                games.heartbeat(tag).map(|one| one.name.as_deref().unwrap_or_default().to_owned())
            }
            Some(Meaning::Flatline) => Some("flatline".to_owned()),
            None => None,
        };
        for (word, expected) in [
            ("QuakeArena-1", Some("Quake3Arena")),
            ("Wolfenstein-1", Some("wolfmp")),
            ("EnemyTerritory-1", Some("et")),
            ("ETFlatline-1", Some("flatline")),
            ("WolfFlatline-1", Some("flatline")),
            ("DarkPlaces", Some("")),
            ("Warsow-1", Some("Warsow")),
            ("Warsow", None),
            ("quakearena-1", None),
            ("", None),
        ] {
            assert_eq!(name(word).as_deref(), expected, "{word}");
        }
    }

    #[test]
    fn invalid_declared_games_are_named() {
        let error = |games| declared(games).unwrap_err().to_string();
        assert!(error(&[("My Game", "x")]).starts_with("invalid game 'My Game' (expected"));
        assert!(error(&[("x", "ETFlatline-1")]).contains("declared for two games"));
        assert!(error(&[("x", "y"), ("z", "y")]).contains("'y' declared for two games"));
        let many: Vec<_> = (0..201).map(|at| (format!("g{at}"), format!("h{at}"))).collect();
        let policy = GamePolicy { declared: many, ..GamePolicy::default() };
        assert_eq!(Games::new(&policy).unwrap_err(), GamesError::TooMany(201));
    }

    #[test]
    fn policy_accepts_listed_names_and_rejects_others() {
        let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
        let games = |accept: &[&str], reject: &[&str]| {
            let (accept, reject) = (names(accept), names(reject));
            Games::new(&GamePolicy { accept, reject, ..GamePolicy::default() }).unwrap()
        };
        assert!(games(&[], &[]).accepts("a".into()));
        assert!(games(&["a"], &[]).accepts("a".into()) && !games(&["a"], &[]).accepts("b".into()));
        assert!(!games(&[], &["a"]).accepts("a".into()) && games(&[], &["a"]).accepts("A".into()));
        assert!(!games(&["a"], &["a"]).accepts("a".into()));
    }
}
