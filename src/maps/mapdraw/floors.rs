//! Floors of a map: ranges of height with much even ground, to be drawn apart.
//!
//! Invariant: a map has at most [`MAX_FLOORS`] floors, for any input.

use std::fmt;

use crate::model::Vec3;

/// Maximum number of floors.
pub(super) const MAX_FLOORS: usize = 6;
/// Height of a bin of the histogram, in units.
const BIN: f32 = 16.0;
const MAX_BINS: usize = 4096;
/// Minimum distance of two floors, in units: a player and a ceiling.
const MIN_DISTANCE: usize = 112 / BIN as usize;
/// Distance of a border below the upper floor, in units, so that steps in front of it belong to it.
const BELOW: usize = 32 / BIN as usize;
/// Minimum share of the ground of a floor.
const MIN_SHARE: f32 = 0.06;
/// Minimum z of the normal of even ground.
const EVEN: f32 = 0.9;

/// Range of heights, in units: from the first to below the second.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Band {
    pub(super) from: f32,
    pub(super) to: f32,
}

impl Band {
    /// Every height.
    pub(super) const ALL: Self = Self { from: f32::NEG_INFINITY, to: f32::INFINITY };

    pub(super) fn contains(self, height: f32) -> bool {
        (self.from..self.to).contains(&height)
    }

    /// Whether a range of heights reaches into the band.
    pub(super) fn meets(self, low: f32, high: f32) -> bool {
        low < self.to && high >= self.from
    }
}

impl fmt::Display for Band {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.from.is_finite(), self.to.is_finite()) {
            (true, true) => write!(f, "{:.0} to {:.0}", self.from, self.to),
            (true, false) => write!(f, "from {:.0}", self.from),
            (false, true) => write!(f, "up to {:.0}", self.to),
            (false, false) => write!(f, "all"),
        }
    }
}

/// Returns the floors from the lowest to the highest; one for an even map. A surface is its corners and the z of its
/// normal.
pub(super) fn bands(surfaces: impl Iterator<Item = ([Vec3; 3], f32)> + Clone) -> Vec<Band> {
    let even = surfaces.filter(|&(_, up)| up > EVEN).filter_map(|([a, b, c], _)| {
        let area = ((b[0] - a[0]) * (c[1] - a[1]) - (c[0] - a[0]) * (b[1] - a[1])).abs() / 2.0;
        let height = (a[2] + b[2] + c[2]) / 3.0;
        (area.is_finite() && height.is_finite()).then_some((height, area))
    });
    let lowest = even.clone().fold(f32::INFINITY, |low, (height, _)| low.min(height));
    let mut bins = Vec::new();
    for (height, area) in even {
        // Casts saturate at the limits of the range.
        let bin = ((height - lowest) / BIN) as usize;
        if bin < MAX_BINS {
            bins.resize(bins.len().max(bin + 1), 0.0_f32);
            bins[bin] += area;
        }
    }
    let peaks = peaks(&bins);
    let mut bands = Vec::new();
    let mut from = f32::NEG_INFINITY;
    for pair in peaks.windows(2) {
        let border = lowest + BIN * border(&bins, pair[0], pair[1]) as f32;
        bands.push(Band { from, to: border });
        from = border;
    }
    bands.push(Band { from, to: f32::INFINITY });
    bands
}

/// Bins with the most ground, far enough from each other, in ascending order.
fn peaks(bins: &[f32]) -> Vec<usize> {
    let total: f32 = bins.iter().sum();
    let around =
        |bin: usize| -> f32 { bins[bin.saturating_sub(1)..(bin + 2).min(bins.len())].iter().sum() };
    let mut order: Vec<usize> = (0..bins.len()).filter(|&bin| bins[bin] > 0.0).collect();
    order.sort_by(|&a, &b| around(b).total_cmp(&around(a)).then(bins[b].total_cmp(&bins[a])));
    let mut peaks: Vec<usize> = Vec::new();
    for bin in order {
        if peaks.len() == MAX_FLOORS || around(bin) < total * MIN_SHARE {
            break;
        }
        if peaks.iter().all(|peak| peak.abs_diff(bin) >= MIN_DISTANCE) {
            peaks.push(bin);
        }
    }
    peaks.sort_unstable();
    peaks
}

/// Bin with the least ground between two floors, the highest of equals.
fn border(bins: &[f32], lower: usize, upper: usize) -> usize {
    let between = lower + 2..=upper - BELOW;
    between.rev().min_by(|&a, &b| bins[a].total_cmp(&bins[b])).unwrap_or(upper - BELOW)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn square(height: f32, side: f32) -> ([Vec3; 3], f32) {
        let corner = |x, y| Vec3::new(x, y, height);
        ([corner(0.0, 0.0), corner(side, 0.0), corner(0.0, side)], 1.0)
    }

    #[test]
    fn storeys_are_floors_and_crates_are_not() {
        let ground =
            [square(0.0, 900.0), square(48.0, 500.0), square(256.0, 900.0), square(520.0, 100.0)];
        let bands = bands(ground.into_iter());
        assert_eq!(bands.len(), 2, "{bands:?}");
        assert!(
            bands[0].contains(48.0) && bands[1].contains(256.0 - 24.0) && bands[1].contains(520.0)
        );
        assert!(bands[0].contains(-999.0) && !bands[0].contains(256.0));
        assert!(bands[0].meets(0.0, 300.0) && bands[1].meets(0.0, 300.0));
    }

    #[test]
    fn hostile_heights_give_one_floor() {
        let far = [square(f32::NAN, 10.0), square(3e38, 10.0), square(-3e38, f32::INFINITY)];
        assert_eq!(bands(far.into_iter()).len(), 1);
        assert_eq!(bands([].into_iter()), [Band::ALL]);
    }
}
