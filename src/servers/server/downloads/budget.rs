//! Shared rate of all downloads, `sv_dlRate`.

use crate::model::Millis;

/// Longest time that unused rate is kept.
const BURST: Millis = Millis(20);

/// Bytes that downloads may send.
#[derive(Debug, Default)]
pub(super) struct Budget {
    /// Thousandths of bytes; below zero after a datagram that exceeded the rest.
    left: i64,
    filled_at: Millis,
}

impl Budget {
    /// Adds the bytes since the last call, at a rate in kilobytes per second.
    pub(super) fn fill(&mut self, now: Millis, rate: i32) {
        let elapsed = now.since(self.filled_at).0.min(60_000) as i64;
        self.filled_at = now;
        let per_ms = i64::from(rate) * 1024;
        self.left = (self.left + elapsed * per_ms).min(BURST.0 as i64 * per_ms);
    }

    /// Whether a datagram may be sent now.
    pub(super) fn allows(&self, rate: i32) -> bool {
        rate == 0 || self.left >= 0
    }

    /// Takes the bytes of a datagram.
    pub(super) fn take(&mut self, bytes: usize) {
        self.left -= bytes as i64 * 1000;
    }

    /// Time until the next datagram, counted from the last [`Self::fill`].
    pub(super) fn next_at(&self, rate: i32) -> Millis {
        if self.allows(rate) {
            return Millis(0);
        }
        let per_ms = i64::from(rate.max(1)) * 1024;
        self.filled_at + Millis(self.left.unsigned_abs().div_ceil(per_ms.unsigned_abs()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn budget_keeps_the_rate() {
        for rate in [1, 100, 3000] {
            let mut budget = Budget::default();
            let (mut now, mut sent) = (Millis(5000), 0_usize);
            budget.fill(now, rate);
            while now < Millis(15_000) {
                if budget.allows(rate) {
                    budget.take(1100);
                    sent += 1100;
                    continue;
                }
                now = budget.next_at(rate);
                budget.fill(now, rate);
            }
            let expected = rate as usize * 1024 * 10;
            assert!(
                (expected..expected + rate as usize * 25 + 3300).contains(&sent),
                "{rate} {sent}"
            );
        }
    }
}
