//! Differences of a comparison, grouped by kind.

use std::{collections::BTreeMap, fmt};

/// Longest value of a report, in bytes.
const MAX_VALUE: usize = 400;
/// Most kinds of a report; further kinds are counted as one.
const MAX_KINDS: usize = 2000;

/// Explanation of a difference.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Explanation {
    /// Accepted, with the subject of its row.
    Known(&'static str),
    /// Random, with the reason that the play names.
    Chance(String),
}

impl fmt::Display for Explanation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Known(subject) => write!(f, "known   {subject}"),
            Self::Chance(reason) => write!(f, "chance  {reason}"),
        }
    }
}

/// Differences of one kind with one explanation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// Kind: a field, a configstring or the first word of a command.
    pub kind: String,
    /// Number of occurrences.
    pub count: u64,
    /// Play of the first occurrence.
    pub play: String,
    /// Time of the first occurrence since the start of the play, in ms.
    pub time_ms: u64,
    /// Player, entity or command of the first occurrence.
    pub place: String,
    /// Value with the native rules; `-` for none.
    pub native: String,
    /// Value with the module; `-` for none.
    pub module: String,
    /// Explanation, if there is one.
    pub explanation: Option<Explanation>,
    /// Number of plays in which it occurs.
    pub plays: u64,
}

/// Differences by kind, in the order of their first occurrence.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Differences {
    list: Vec<Difference>,
    by_kind: BTreeMap<(String, Option<Explanation>), usize>,
    /// Lines `chance` by name of the play and kind, with the differences that they explained.
    chances: BTreeMap<(String, String), u64>,
    /// Frames that were compared.
    pub frames: u64,
    /// Values that were compared: playerstates, entities, configstrings and commands.
    pub compared: u64,
    /// Plays that were run.
    pub plays: u64,
}

/// Place and time of an occurrence.
#[derive(Clone, Copy)]
pub(super) struct Occurrence<'a> {
    pub(super) play: &'a str,
    pub(super) time_ms: u64,
    pub(super) place: &'a str,
}

impl Differences {
    /// Creates the empty differences of a play.
    pub(super) fn of_one_play() -> Self {
        Self { plays: 1, ..Self::default() }
    }

    /// Kinds of differences, first occurrence first.
    #[must_use]
    pub fn kinds(&self) -> &[Difference] {
        &self.list
    }

    /// Number of kinds without an explanation.
    #[must_use]
    pub fn unexplained(&self) -> usize {
        self.list.iter().filter(|difference| difference.explanation.is_none()).count()
    }

    /// Lines `chance` that explained nothing: name of the play and kind.
    pub fn ineffective_chances(&self) -> impl Iterator<Item = (&str, &str)> {
        let idle = self.chances.iter().filter(|(_, count)| **count == 0);
        idle.map(|((play, kind), _)| (play.as_str(), kind.as_str()))
    }

    /// Records a line `chance` of a play, and whether it explained a difference.
    pub(super) fn use_chance(&mut self, play: &str, kind: &str, count: u64) {
        *self.chances.entry((play.to_owned(), kind.to_owned())).or_default() += count;
    }

    /// Counts a difference.
    pub(super) fn add(
        &mut self,
        kind: &str,
        at: Occurrence<'_>,
        [native, module]: [&str; 2],
        explanation: Option<Explanation>,
    ) {
        let mut key = (kind.to_owned(), explanation);
        if self.list.len() >= MAX_KINDS && !self.by_kind.contains_key(&key) {
            key = ("further kinds".to_owned(), None);
        }
        if let Some(known) = self.by_kind.get(&key).and_then(|at| self.list.get_mut(*at)) {
            known.count += 1;
            return;
        }
        let (kind, explanation) = key.clone();
        self.by_kind.insert(key, self.list.len());
        self.list.push(Difference {
            kind,
            count: 1,
            play: at.play.to_owned(),
            time_ms: at.time_ms,
            place: at.place.to_owned(),
            native: shortened(native),
            module: shortened(module),
            explanation,
            plays: 1,
        });
    }

    /// Adds the differences of another comparison.
    pub fn merge(&mut self, other: Self) {
        self.frames += other.frames;
        self.compared += other.compared;
        self.plays += other.plays;
        for ((play, kind), count) in other.chances {
            *self.chances.entry((play, kind)).or_default() += count;
        }
        for difference in other.list {
            let key = (difference.kind.clone(), difference.explanation.clone());
            match self.by_kind.get(&key).and_then(|at| self.list.get_mut(*at)) {
                Some(known) => {
                    known.count += difference.count;
                    known.plays += difference.plays;
                }
                None => {
                    self.by_kind.insert(key, self.list.len());
                    self.list.push(difference);
                }
            }
        }
    }
}

/// Returns a printable text of bounded length.
fn shortened(text: &str) -> String {
    let text = text.escape_debug().to_string().replace("\\\"", "\"").replace("\\'", "'");
    match text.char_indices().nth(MAX_VALUE) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn differences_are_grouped_by_kind_and_explanation() {
        let at = Occurrence { play: "walk", time_ms: 50, place: "player 0" };
        let spread = || Some(Explanation::Chance("spread".to_owned()));
        let mut walk = Differences::default();
        walk.add("player.origin", at, ["1", "2"], spread());
        walk.add("player.origin", at, ["3", "4"], spread());
        walk.use_chance("walk", "player", 2);
        walk.use_chance("walk", "item", 0);
        assert_eq!((walk.kinds()[0].count, walk.unexplained()), (2, 0));
        let mut fall = Differences::default();
        let at = Occurrence { play: "fall", ..at };
        fall.add("player.origin", at, ["5", "6"], None);
        fall.add("player.origin", at, ["5", "6"], Some(Explanation::Known("floats")));
        walk.merge(fall.clone());
        walk.merge(fall);
        let shown: Vec<_> = walk.kinds().iter().map(|kind| (kind.count, kind.plays)).collect();
        assert_eq!((shown, walk.unexplained()), (vec![(2, 1), (2, 2), (2, 2)], 1));
        assert_eq!(walk.ineffective_chances().collect::<Vec<_>>(), [("walk", "item")]);
    }
}
