//! Lagometer of one bot: snapshot gap, ping and losses over time.
//!
//! The time of a test is divided into at most `MAX_COLUMNS` samples. Engine names: `cg_lagometer`.

use crate::model::Millis;

/// Columns at most.
const MAX_COLUMNS: u64 = 240;
/// Shortest time of a column.
const MIN_COLUMN: Millis = Millis(250);

/// What was seen in the time of one column.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LagometerSample {
    /// Longest time between two snapshots, in milliseconds; 0 when none came.
    pub gap_ms: u16,
    /// Last round trip, in milliseconds.
    pub ping_ms: u16,
    /// Messages of the server that never came.
    pub lost: u16,
    /// Snapshots before which the server left some out to keep to the rate.
    pub rate_delayed: u16,
    /// Snapshots that came.
    pub snapshots: u16,
}

/// The columns of one bot.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Lagometer {
    began: Millis,
    column: Millis,
    columns: Vec<LagometerSample>,
}

impl Lagometer {
    /// A strip for so much time.
    pub(super) fn new(began: Millis, duration: Millis) -> Self {
        let column = Millis(duration.0.div_ceil(MAX_COLUMNS)).max(MIN_COLUMN);
        Self { began, column, columns: Vec::new() }
    }

    /// The column of a time.
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

    /// The columns up to now, and how long each is.
    #[must_use]
    pub fn columns(&self) -> (&[LagometerSample], Millis) {
        (&self.columns, self.column)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_as_many_as_fit() {
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
