//! Lagometer of one client: snapshot gap, ping and losses over time.
//!
//! The time is divided into at most `MAX_COLUMNS` samples. Engine names: `cg_lagometer`.

use crate::model::Millis;

/// Maximum samples.
const MAX_COLUMNS: u64 = 240;
/// Minimum interval of a sample.
const MIN_COLUMN: Millis = Millis(250);

/// Measurements of one interval.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LagometerSample {
    /// Longest time between two snapshots, in ms; 0 without snapshots.
    pub gap_ms: u16,
    /// Last round trip, in ms.
    pub ping_ms: u16,
    /// Lost messages of the server.
    pub lost: u16,
    /// Rate-delayed snapshots.
    pub rate_delayed: u16,
    /// Snapshots received.
    pub snapshots: u16,
}

/// Samples of one client.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Lagometer {
    began: Millis,
    column: Millis,
    columns: Vec<LagometerSample>,
}

impl LagometerSample {
    /// Returns the measurements of two intervals as one.
    fn merged(self, later: Self) -> Self {
        Self {
            gap_ms: self.gap_ms.max(later.gap_ms),
            ping_ms: self.ping_ms.max(later.ping_ms),
            lost: self.lost.saturating_add(later.lost),
            rate_delayed: self.rate_delayed.saturating_add(later.rate_delayed),
            snapshots: self.snapshots.saturating_add(later.snapshots),
        }
    }
}

impl Lagometer {
    /// Creates a lagometer for the given duration. A longer one halves the resolution.
    #[must_use]
    pub fn new(began: Millis, duration: Millis) -> Self {
        let column = Millis(duration.0.div_ceil(MAX_COLUMNS)).max(MIN_COLUMN);
        Self { began, column, columns: Vec::new() }
    }

    /// Returns the sample of a time.
    pub fn at(&mut self, now: Millis) -> &mut LagometerSample {
        let since = now.since(self.began).0;
        let mut place = since / self.column.0.max(1);
        while place > MAX_COLUMNS {
            let pairs = self.columns.chunks(2);
            let merge = |pair: &[LagometerSample]| {
                pair.iter().copied().reduce(LagometerSample::merged).unwrap_or_default()
            };
            self.columns = pairs.map(merge).collect();
            self.column = Millis(self.column.0.max(1).saturating_mul(2));
            place = since / self.column.0;
        }
        let place = place as usize;
        if place >= self.columns.len() {
            self.columns.resize(place + 1, LagometerSample::default());
        }
        &mut self.columns[place]
    }

    /// Returns the samples and the interval of each.
    #[must_use]
    pub fn columns(&self) -> (&[LagometerSample], Millis) {
        (&self.columns, self.column)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lagometer_samples_are_bounded() {
        let mut lagometer = Lagometer::new(Millis(1000), Millis::seconds(600));
        assert_eq!(lagometer.columns().1, Millis(2500));
        lagometer.at(Millis(1000)).lost = 1;
        lagometer.at(Millis(3500)).lost = 2;
        lagometer.at(Millis(601_000)).lost = 3;
        let (columns, _) = lagometer.columns();
        assert_eq!((columns.len(), columns[0].lost, columns[1].lost), (241, 1, 2));
        lagometer.at(Millis(700_000)).lost = 4;
        let (columns, width) = lagometer.columns();
        assert_eq!((columns.len(), columns[0].lost, width), (140, 3, Millis(5000)));
        assert_eq!((columns[120].lost, columns[139].lost), (3, 4));
        lagometer.at(Millis(u64::MAX)).lost = 5;
        assert!(lagometer.columns().0.len() <= 241);
        assert_eq!(Lagometer::new(Millis(0), Millis(1)).columns().1, MIN_COLUMN);
    }
}
