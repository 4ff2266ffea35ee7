//! Lagometer of one bot: snapshot gap, ping and losses over time.
//!
//! The time of a test is divided into at most `MAX_COLUMNS` samples. Engine names: `cg_lagometer`.

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

/// Samples of one bot.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Lagometer {
    began: Millis,
    column: Millis,
    columns: Vec<LagometerSample>,
}

impl Lagometer {
    /// Creates a lagometer for a test of the given duration.
    pub(super) fn new(began: Millis, duration: Millis) -> Self {
        let column = Millis(duration.0.div_ceil(MAX_COLUMNS)).max(MIN_COLUMN);
        Self { began, column, columns: Vec::new() }
    }

    /// Returns the sample of a time; `None` beyond the last one.
    pub(super) fn at(&mut self, now: Millis) -> Option<&mut LagometerSample> {
        let place = (now.since(self.began).0 / self.column.0.max(1)) as usize;
        if place > MAX_COLUMNS as usize {
            return None;
        }
        if place >= self.columns.len() {
            self.columns.resize(place + 1, LagometerSample::default());
        }
        self.columns.get_mut(place)
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
        lagometer.at(Millis(1000)).unwrap().lost = 1;
        lagometer.at(Millis(3500)).unwrap().lost = 2;
        lagometer.at(Millis(601_000)).unwrap().lost = 3;
        assert_eq!(lagometer.at(Millis(700_000)), None);
        let (columns, _) = lagometer.columns();
        assert_eq!((columns.len(), columns[0].lost, columns[1].lost), (241, 1, 2));
        assert_eq!(Lagometer::new(Millis(0), Millis(1)).columns().1, MIN_COLUMN);
    }
}
