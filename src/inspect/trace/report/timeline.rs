//! Timeline: bytes by kind of data per interval.
//!
//! Invariant: at most 600 intervals. A longer trace doubles their length.

use crate::trace::parts::Part;

/// Maximum intervals.
const MAX_ROWS: usize = 600;

/// Kind of data in the bandwidth chart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Layer {
    Entities,
    Player,
    Snapshot,
    Commands,
    Gamestate,
    Usercmds,
    Download,
    Voice,
    Header,
    Other,
}

/// Number of layers.
pub(super) const LAYERS: usize = Layer::Other as usize + 1;
const _: () = assert!(LAYERS <= crate::chart::MAX_LAYERS);

/// Names of the layers, in order.
pub(super) const LAYER_NAMES: [&str; LAYERS] = [
    "entities",
    "playerstate",
    "snapshot header",
    "commands",
    "gamestate",
    "usercmds",
    "download",
    "voice",
    "message header and end",
    "netchan headers, queries, undecoded",
];

impl Layer {
    /// Returns the layer of a part.
    pub(super) const fn of(part: Part) -> Self {
        match part {
            Part::Entities => Self::Entities,
            Part::Player => Self::Player,
            Part::Snapshot => Self::Snapshot,
            Part::Commands => Self::Commands,
            Part::Configstrings | Part::Baselines => Self::Gamestate,
            Part::Usercmds => Self::Usercmds,
            Part::Download => Self::Download,
            Part::Voice => Self::Voice,
            Part::Header | Part::End => Self::Header,
        }
    }
}

/// Bytes of one interval, by layer.
pub(super) type Row = [f64; LAYERS];

/// Bytes over time.
#[derive(Debug)]
pub(super) struct Timeline {
    /// Length of an interval in µs.
    interval_us: u64,
    rows: Vec<Row>,
}

impl Default for Timeline {
    fn default() -> Self {
        Self { interval_us: 250_000, rows: Vec::new() }
    }
}

impl Timeline {
    /// Returns the row of a time since the start, in µs.
    pub(super) fn at(&mut self, since_us: u64) -> &mut Row {
        while since_us / self.interval_us >= MAX_ROWS as u64 {
            let sum = |pair: &[Row]| {
                let mut sum = Row::default();
                for row in pair {
                    sum.iter_mut().zip(row).for_each(|(sum, bytes)| *sum += bytes);
                }
                sum
            };
            self.rows = self.rows.chunks(2).map(sum).collect();
            self.interval_us = self.interval_us.saturating_mul(2);
        }
        let place = (since_us / self.interval_us) as usize;
        if place >= self.rows.len() {
            self.rows.resize(place + 1, Row::default());
        }
        &mut self.rows[place]
    }

    /// Rows in kB per second.
    pub(super) fn rates(&self) -> Vec<Vec<f64>> {
        let scale = 1e3 / self.interval_us as f64;
        let rate = |row: &Row| row.iter().map(|bytes| bytes * scale).collect();
        self.rows.iter().map(rate).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn timeline_is_bounded_and_keeps_sums() {
        let mut timeline = Timeline::default();
        for second in 0..5000 {
            timeline.at(second * 1_000_000)[0] += 1.0;
        }
        assert!(timeline.rows.len() <= MAX_ROWS);
        let sum: f64 = timeline.rows.iter().map(|row| row[0]).sum();
        assert!((sum - 5000.0).abs() < 1e-6, "{sum}");
        timeline.at(u64::MAX)[1] = 1.0;
        assert!(timeline.rows.len() <= MAX_ROWS);
    }
}
