//! Differences of a comparison, grouped by kind.

use std::collections::BTreeMap;

/// Longest value of a report, in bytes.
const MAX_VALUE: usize = 400;
/// Most kinds of a report; further kinds are counted as one.
const MAX_KINDS: usize = 2000;

/// Differences of one kind.
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
    /// Reason, if the play says that chance explains it.
    pub chance: Option<String>,
    /// Number of plays in which it occurs.
    pub plays: u64,
}

/// Differences by kind, in the order of their first occurrence.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Differences {
    list: Vec<Difference>,
    by_kind: BTreeMap<String, usize>,
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
    /// Kinds of differences, first occurrence first.
    #[must_use]
    pub fn kinds(&self) -> &[Difference] {
        &self.list
    }

    /// Number of kinds that chance does not explain.
    #[must_use]
    pub fn unexplained(&self) -> usize {
        self.list.iter().filter(|difference| difference.chance.is_none()).count()
    }

    /// Counts a difference.
    pub(super) fn add(&mut self, kind: &str, at: Occurrence<'_>, native: &str, module: &str) {
        let is_full = self.list.len() >= MAX_KINDS;
        let kind = if is_full && !self.by_kind.contains_key(kind) { "further kinds" } else { kind };
        if let Some(known) = self.by_kind.get(kind).and_then(|at| self.list.get_mut(*at)) {
            known.count += 1;
            return;
        }
        self.by_kind.insert(kind.to_owned(), self.list.len());
        self.list.push(Difference {
            kind: kind.to_owned(),
            count: 1,
            play: at.play.to_owned(),
            time_ms: at.time_ms,
            place: at.place.to_owned(),
            native: shortened(native),
            module: shortened(module),
            chance: None,
            plays: 1,
        });
    }

    /// Marks the kinds that chance explains, by the beginning of their names with dots for spaces.
    pub(super) fn explain(&mut self, chances: &[(String, String)]) {
        for difference in &mut self.list {
            // A kind is one word in plays.
            let kind = difference.kind.replace(' ', ".");
            let reason = chances.iter().find(|(start, _)| kind.starts_with(start));
            difference.chance = reason.map(|(_, reason)| reason.clone());
        }
    }

    /// Adds the differences of another comparison. A kind counts as explained only if it is in both.
    pub fn merge(&mut self, other: Self) {
        self.frames += other.frames;
        self.compared += other.compared;
        self.plays += other.plays;
        for difference in other.list {
            let index = self.by_kind.get(&difference.kind).copied();
            match index.and_then(|at| self.list.get_mut(at)) {
                Some(known) => {
                    let (count, plays) =
                        (known.count + difference.count, known.plays + difference.plays);
                    if known.chance.is_some() && difference.chance.is_none() {
                        *known = difference;
                    }
                    (known.count, known.plays) = (count, plays);
                }
                None => {
                    self.by_kind.insert(difference.kind.clone(), self.list.len());
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
    fn differences_are_grouped_by_kind() {
        let at = Occurrence { play: "walk", time_ms: 50, place: "player 0" };
        let mut walk = Differences::default();
        walk.add("player.origin", at, "1", "2");
        walk.add("player.origin", at, "3", "4");
        walk.explain(&[("player".to_owned(), "spawn point".to_owned())]);
        assert_eq!((walk.kinds()[0].count, walk.unexplained()), (2, 0));
        let mut fall = Differences::default();
        fall.add("player.origin", Occurrence { play: "fall", ..at }, "5", "6");
        walk.merge(fall);
        let origin = &walk.kinds()[0];
        assert_eq!((origin.count, origin.plays, origin.play.as_str()), (3, 2, "fall"));
        assert_eq!(walk.unexplained(), 1);
    }
}
