//! Table of senders that asked before, for budgets that unproven senders share.
//!
//! A forger with random sources names each of them once. A client repeats its request after seconds, and a browser
//! comes back. The table tells them apart by the time since the first request of a sender.
//! Invariants: the size is fixed, and a request takes constant time without allocation; senders are hashed with a secret
//! key, so none can choose a set; a sender that asks once replaces no sender that asked again.

use std::{
    fmt,
    hash::{Hash, Hasher as _},
    num::NonZeroU32,
};

use siphasher::sip::SipHasher13;

use crate::model::Millis;

/// Time after its first request from which a sender counts as returning.
pub const RETURN_TIME: Millis = Millis::seconds(1);

/// Entries of a set, and sets. The table takes 512 KiB from the first request on.
const WAYS: usize = 4;
const SETS: usize = 8192;
/// Length of a tick, as a power of two in ms. Ticks of 32 bits last for two years.
const TICK: u32 = 4;

/// Ticks since the start of the process.
type Ticks = u32;

/// A sender.
#[derive(Clone, Copy, Debug, Default)]
struct Sender {
    /// Part of the sender's hash; 0 for an empty entry.
    tag: u32,
    first: Ticks,
    last: Ticks,
    /// Last request that a limit of its own admitted.
    admitted: Option<NonZeroU32>,
}

impl Sender {
    /// Whether the entry is empty, or the sender was silent for its life.
    const fn is_forgotten(&self, now: Ticks, life: Ticks) -> bool {
        self.tag == 0 || now.wrapping_sub(self.last) >= life
    }

    /// Whether the sender asked again after the time of a return.
    const fn has_returned(&self) -> bool {
        self.last.wrapping_sub(self.first) >= ticks(RETURN_TIME)
    }
}

/// Senders that asked within the life of an entry.
pub struct ReturningSenders {
    sets: Box<[[Sender; WAYS]]>,
    seed: u64,
    life: Ticks,
}

impl fmt::Debug for ReturningSenders {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ReturningSenders").field("life", &self.life).finish_non_exhaustive()
    }
}

impl ReturningSenders {
    /// Creates an empty table. `seed` must be secret; a sender that is silent for `life` is forgotten.
    #[must_use]
    pub fn new(seed: u64, life: Millis) -> Self {
        Self { sets: Box::default(), seed, life: ticks(life) }
    }

    /// Records a request, and returns the time since the first request of its sender.
    pub fn record(&mut self, now: Millis, sender: impl Hash) -> Millis {
        let now = ticks(now);
        let entry = self.entry(now, sender);
        entry.last = now;
        Millis(u64::from(now.wrapping_sub(entry.first)) << TICK)
    }

    /// Records a request that another limit admitted, which counts for [`Self::admits`], too.
    pub fn record_admitted(&mut self, now: Millis, sender: impl Hash) {
        let now = ticks(now);
        let entry = self.entry(now, sender);
        entry.last = now;
        entry.admitted = NonZeroU32::new(now.max(1));
    }

    /// As [`Self::record_admitted`], for a sender that asked before. Another one is not recorded, so that requests that
    /// are admitted anyway take no entry.
    pub fn record_admitted_again(&mut self, now: Millis, sender: impl Hash) {
        let now = ticks(now);
        let (tag, number) = self.place(sender);
        let life = self.life;
        if let Some(set) = self.sets.get_mut(number)
            && let Some(at) = known(set, tag, now, life)
        {
            set[at].last = now;
            set[at].admitted = NonZeroU32::new(now.max(1));
        }
    }

    /// Records a request, and returns whether its sender is returning.
    pub fn is_returning(&mut self, now: Millis, sender: impl Hash) -> bool {
        self.record(now, sender) >= RETURN_TIME
    }

    /// Records a request, and returns whether a limit of the sender's own admits it.
    ///
    /// The sender is returning, its last admitted request is `period` ago, and `also` holds.
    pub fn admits(
        &mut self,
        now: Millis,
        sender: impl Hash,
        period: Millis,
        also: impl FnOnce() -> bool,
    ) -> bool {
        let at = ticks(now);
        let entry = self.entry(at, sender);
        entry.last = at;
        let is_due = entry.has_returned()
            && entry.admitted.is_none_or(|last| at.wrapping_sub(last.get()) > ticks(period))
            && also();
        if is_due {
            entry.admitted = NonZeroU32::new(at.max(1));
        }
        is_due
    }

    /// Entry of a sender. A new one replaces an empty or forgotten one, else the oldest that asked once, else the
    /// oldest.
    fn entry(&mut self, now: Ticks, sender: impl Hash) -> &mut Sender {
        if self.sets.is_empty() {
            self.sets = vec![[Sender::default(); WAYS]; SETS].into();
        }
        let (tag, number) = self.place(sender);
        let life = self.life;
        let set = &mut self.sets[number];
        let at = known(set, tag, now, life).unwrap_or_else(|| {
            let rank = |one: &Sender| {
                let age = now.wrapping_sub(one.last);
                (!one.is_forgotten(now, life), one.has_returned(), u32::MAX - age)
            };
            let at = (0..WAYS).min_by_key(|&way| rank(&set[way])).unwrap_or(0);
            set[at] = Sender { tag, first: now, last: now, admitted: None };
            at
        });
        &mut set[at]
    }

    /// Tag of a sender, and the number of its set.
    fn place(&self, sender: impl Hash) -> (u32, usize) {
        let mut hasher = SipHasher13::new_with_keys(self.seed, !self.seed);
        sender.hash(&mut hasher);
        let hash = hasher.finish();
        ((hash >> 32) as u32 | 1, hash as usize % SETS)
    }
}

/// Place of a sender in its set, unless it is forgotten.
fn known(set: &[Sender; WAYS], tag: u32, now: Ticks, life: Ticks) -> Option<usize> {
    set.iter().position(|one| one.tag == tag && !one.is_forgotten(now, life))
}

/// Ticks of a time.
const fn ticks(time: Millis) -> Ticks {
    (time.0 >> TICK) as Ticks
}

#[cfg(test)]
mod tests {
    use super::*;

    fn senders() -> ReturningSenders {
        ReturningSenders::new(7, Millis::seconds(60))
    }

    #[test]
    fn sender_returns_one_second_after_its_first_request() {
        let mut senders = senders();
        let mut returns = |ms, sender: u64| senders.is_returning(Millis(ms), sender);
        assert!(!returns(5000, 1) && !returns(5900, 1));
        assert!(returns(6016, 1) && !returns(6016, 2));
        assert!(returns(65_000, 1), "asked within a minute");
        assert!(!returns(126_000, 1), "forgotten");
    }

    #[test]
    fn own_limit_admits_one_request_per_period() {
        let mut senders = senders();
        let admitted = (0..10_000)
            .filter(|&ms| senders.admits(Millis(ms), 1u64, Millis(2000), || true))
            .collect::<Vec<_>>();
        assert_eq!(admitted.len(), 5, "{admitted:?}");
        assert!((980..1032).contains(&admitted[0]), "{admitted:?}");
        assert!(!senders.admits(Millis(30_000), 1u64, Millis(2000), || false));
        assert!(senders.admits(Millis(30_000), 1u64, Millis(2000), || true), "was not charged");
    }

    #[test]
    fn flood_of_single_requests_replaces_no_returning_sender() {
        let mut senders = senders();
        let mut kept = 0;
        for second in 0..30u64 {
            for number in 0..20_000 {
                let ms = second * 1000 + number / 20;
                senders.record(Millis(ms), (second, number));
            }
            kept += u32::from(senders.is_returning(Millis(second * 1000 + 999), 1u64));
        }
        assert!(kept >= 28, "{kept} of 30 although 600,000 others asked");
        assert_eq!(senders.sets.len(), SETS);
    }

    #[test]
    fn senders_of_equal_inputs_are_equal() {
        let run = |seed| {
            let mut senders = ReturningSenders::new(seed, Millis::seconds(60));
            let ask = |n: u64| senders.record(Millis(n * 3), n.wrapping_mul(n) % 20_000).0;
            (0..100_000).map(ask).collect::<Vec<_>>()
        };
        assert_eq!(run(3), run(3));
    }
}
