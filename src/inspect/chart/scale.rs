//! Linear and logarithmic axes of charts.

use super::{HEIGHT, LEFT, WIDTH, ceiling};

/// Axis of values, upwards from the lower edge of a chart.
#[derive(Clone, Copy, Debug)]
pub(super) enum Scale {
    /// From 0 to a round number.
    Linear { top: f64 },
    /// From a power of ten to another. Smaller values are drawn at the edge.
    Log { bottom: f64, top: f64 },
}

impl Scale {
    /// Returns a linear axis that holds the values.
    pub(super) fn linear(values: impl Iterator<Item = f64>) -> Self {
        Self::Linear { top: ceiling(values.filter(|value| value.is_finite()).fold(0.0, f64::max)) }
    }

    /// Returns a logarithmic axis that holds the positive values, over two decades or more.
    pub(super) fn log(values: impl Iterator<Item = f64>) -> Self {
        let (mut least, mut most) = (f64::MAX, 0.0_f64);
        for value in values.filter(|&value| value > 0.0 && value.is_finite()) {
            (least, most) = (least.min(value), most.max(value));
        }
        if most == 0.0 {
            return Self::Log { bottom: 1.0, top: 100.0 };
        }
        let bottom = 10f64.powf(least.log10().floor());
        let top = 10f64.powf(most.log10().ceil()).max(bottom * 100.0);
        Self::Log { bottom, top }
    }

    /// Returns the share of the axis below a value, 0 to 1.
    pub(super) fn share(self, value: f64) -> f64 {
        let share = match self {
            Self::Linear { top } => value / top,
            Self::Log { bottom, top } => {
                (value.max(bottom) / bottom).log10() / (top / bottom).log10()
            }
        };
        if share.is_finite() { share.clamp(0.0, 1.0) } else { 0.0 }
    }

    /// Returns the y coordinate of a value.
    pub(super) fn y(self, value: f64) -> f64 {
        HEIGHT - self.share(value) * HEIGHT
    }

    /// Returns the x coordinate of a value, for an axis from left to right.
    pub(super) fn x(self, value: f64) -> f64 {
        LEFT + self.share(value) * (WIDTH - LEFT)
    }

    /// Returns the labeled values.
    pub(super) fn ticks(self) -> Vec<f64> {
        match self {
            Self::Linear { top } => vec![0.0, top / 2.0, top],
            Self::Log { bottom, top } => {
                let decades = (top / bottom).log10().round() as i32;
                (0..=decades.clamp(1, 12)).map(|decade| bottom * 10f64.powi(decade)).collect()
            }
        }
    }
}

/// Returns a number for a label, without a long fraction.
pub(super) fn label(value: f64) -> String {
    match value {
        _ if value >= 1e6 => format!("{}M", value / 1e6),
        _ if value >= 1e4 => format!("{}k", value / 1e3),
        _ => format!("{}", (value * 1e6).round() / 1e6),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn log_axis_holds_all_values() {
        let scale = Scale::log([0.0, 7.0, 2039.0, f64::NAN].into_iter());
        assert_eq!(scale.ticks(), [1.0, 10.0, 100.0, 1000.0, 10_000.0]);
        assert!((scale.share(100.0) - 0.5).abs() < 1e-9);
        assert_eq!([scale.share(0.0), scale.share(1e9)], [0.0, 1.0]);
        assert_eq!(Scale::log(std::iter::empty()).ticks().len(), 3);
    }

    #[test]
    fn labels_are_short() {
        assert_eq!([0.1, 2039.0, 25_000.0, 5e6].map(label), ["0.1", "2039", "25k", "5M"]);
    }
}
