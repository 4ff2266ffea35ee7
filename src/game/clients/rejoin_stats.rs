//! Rejoin stats: counters kept for players who left.
//!
//! Invariants: at most [`MAX_KEPT`] are remembered, whoever left first is forgotten first; what was kept
//! is given back once; who does not say who it is has nothing kept. Source: what OpenArena's server tells
//! a client that changes teams.

use std::collections::VecDeque;

use crate::bg::Persistent;

/// Players remembered at a time.
const MAX_KEPT: usize = 32;
/// Length of the identity that clients make up, `cl_guid`.
const IDENTITY_LEN: usize = 32;

/// The `persistant` values of a state.
pub(super) type Counts = [i32; 16];

/// Who left, and with what.
#[derive(Debug, Default)]
pub(super) struct RejoinStats {
    kept: VecDeque<(Box<str>, Counts)>,
}

impl RejoinStats {
    /// Remembers what somebody has.
    pub(super) fn keep(&mut self, identity: &str, counts: Counts) {
        if identity.len() != IDENTITY_LEN {
            return;
        }
        self.take(identity);
        if self.kept.len() == MAX_KEPT {
            self.kept.pop_front();
        }
        self.kept.push_back((identity.into(), counts));
    }

    /// What somebody had; no score stays below zero.
    pub(super) fn take(&mut self, identity: &str) -> Option<Counts> {
        let at = self.kept.iter().position(|(kept, _)| kept.eq_ignore_ascii_case(identity))?;
        let (_, mut counts) = self.kept.remove(at)?;
        let score = &mut counts[Persistent::Score];
        *score = (*score).max(0);
        Some(counts)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counts(score: i32, deaths: i32) -> Counts {
        let mut counts = Counts::default();
        counts[Persistent::Score] = score;
        counts[Persistent::Deaths] = deaths;
        counts
    }

    #[test]
    fn the_newest_is_given_back_once() {
        let mut returning = RejoinStats::default();
        let (one, other) = ("0".repeat(31) + "a", "1".repeat(32));
        returning.keep(&one, counts(5, 2));
        returning.keep(&other, counts(7, 1));
        returning.keep(&one, counts(-3, 4));
        assert_eq!(returning.take(&one.to_uppercase()), Some(counts(0, 4)));
        assert_eq!(returning.take(&one), None);
        assert_eq!(returning.take(&other), Some(counts(7, 1)));
        returning.keep("short", counts(1, 1));
        assert_eq!(returning.take("short"), None);
    }

    #[test]
    fn who_left_first_is_forgotten_first() {
        let mut returning = RejoinStats::default();
        let identity = |n: usize| format!("{n:032}");
        (0..=MAX_KEPT).for_each(|n| returning.keep(&identity(n), counts(n as i32, 0)));
        assert_eq!(returning.take(&identity(0)), None);
        assert_eq!(returning.take(&identity(1)), Some(counts(1, 0)));
    }
}
