//! Rejoin stats: counters kept for players who left.
//!
//! Players are identified by `cl_guid`. Invariants: at most [`MAX_KEPT`] players are stored, the oldest
//! is evicted first; stored counters are restored once; nothing is stored without a `cl_guid`.
//! Source: messages of OpenArena's server to a client that changes teams.

use std::collections::VecDeque;

use crate::bg::Persistent;

/// Maximum players stored.
const MAX_KEPT: usize = 32;
/// Length of `cl_guid`, in bytes. Clients choose it.
const IDENTITY_LEN: usize = 32;

/// `persistant` values of a player state.
pub(super) type Counts = [i32; 16];

/// Counters of players who left, the oldest first.
#[derive(Debug, Default)]
pub(super) struct RejoinStats {
    kept: VecDeque<(Box<str>, Counts)>,
}

impl RejoinStats {
    /// Stores the counters of a player.
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

    /// Removes and returns the counters of a player. A negative score becomes zero.
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
    fn rejoin_stats_return_newest_counters_once() {
        let mut stats = RejoinStats::default();
        let (one, other) = ("0".repeat(31) + "a", "1".repeat(32));
        stats.keep(&one, counts(5, 2));
        stats.keep(&other, counts(7, 1));
        stats.keep(&one, counts(-3, 4));
        assert_eq!(stats.take(&one.to_uppercase()), Some(counts(0, 4)));
        assert_eq!(stats.take(&one), None);
        assert_eq!(stats.take(&other), Some(counts(7, 1)));
        stats.keep("short", counts(1, 1));
        assert_eq!(stats.take("short"), None);
    }

    #[test]
    fn rejoin_stats_evict_oldest_player_first() {
        let mut stats = RejoinStats::default();
        let identity = |n: usize| format!("{n:032}");
        (0..=MAX_KEPT).for_each(|n| stats.keep(&identity(n), counts(n as i32, 0)));
        assert_eq!(stats.take(&identity(0)), None);
        assert_eq!(stats.take(&identity(1)), Some(counts(1, 0)));
    }
}
