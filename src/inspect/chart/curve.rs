//! Percentile curve and histogram with logarithmic axes, which show one long value among thousands.

use maud::{Markup, html};

use super::{
    HEIGHT, LEFT, WIDTH,
    scale::{Scale, label},
    view_box,
};

/// Labeled shares of the percentile axis.
const SHARES: [(f64, &str); 7] = [
    (0.0, "0%"),
    (0.5, "50%"),
    (0.9, "90%"),
    (0.99, "99%"),
    (0.999, "99.9%"),
    (0.9999, "99.99%"),
    (0.99999, "99.999%"),
];
/// Bars of the histogram in one decade, and maximum decades.
const BARS_PER_DECADE: f64 = 24.0;
const MAX_DECADES: f64 = 9.0;

/// Limit in a percentile curve: share, value and text.
#[derive(Clone, Debug, PartialEq)]
pub struct CurveLimit {
    /// Share of the values, below 1.
    pub share: f64,
    /// Limit of the value.
    pub value: f64,
    /// Whether it is kept.
    pub is_kept: bool,
    /// Description.
    pub text: String,
}

/// Draws the horizontal lines and labels of an axis of values.
fn grid(scale: Scale) -> Markup {
    html! {
        @for tick in scale.ticks() {
            @let y = format!("{:.1}", scale.y(tick));
            line .axis x1=(LEFT) y1=(y) x2=(WIDTH) y2=(y) {}
            text x=(LEFT - 6.0) y=(format!("{:.1}", scale.y(tick) + 4.0)) text-anchor="end" {
                (label(tick))
            }
        }
    }
}

/// Draws the percentiles of `values`, pairs of milliseconds and weight.
///
/// The axis of shares is logarithmic towards 100%: each decade has the same width.
#[must_use]
pub fn percentile_curve(values: &[(u64, u64)], limits: &[CurveLimit]) -> Markup {
    let total: u64 = values.iter().map(|(_, weight)| weight).sum();
    let all = values.iter().map(|(value, _)| *value as f64);
    let scale = Scale::log(all.chain(limits.iter().map(|limit| limit.value)));
    // The smallest share of the values, so that the curve ends at the largest one.
    let finest = (1.0 / total.max(10) as f64).clamp(1e-5, 1e-1);
    let decades = (1.0 / finest).log10();
    let x = |share: f64| {
        let nines = (1.0 / (1.0 - share).max(finest)).log10();
        LEFT + nines / decades * (WIDTH - LEFT)
    };
    let mut points = Vec::new();
    let mut below = 0;
    for (value, weight) in values {
        let y = scale.y(*value as f64);
        points.push(format!("{:.1},{y:.1}", x(below as f64 / total.max(1) as f64)));
        below += weight;
        points.push(format!("{:.1},{y:.1}", x(below as f64 / total.max(1) as f64)));
    }
    let marks = SHARES.iter().filter(|(share, _)| 1.0 - share >= finest * 0.999);
    html! {
        svg viewBox=(view_box()) role="img" {
            (grid(scale))
            @for (share, name) in marks {
                @let at = format!("{:.1}", x(*share));
                line .axis x1=(at) y1="0" x2=(at) y2=(HEIGHT) {}
                @let anchor = if *share == 0.0 { "start" } else if x(*share) > WIDTH - 30.0 { "end" } else { "middle" };
                text x=(at) y=(HEIGHT + 15.0) text-anchor=(anchor) { (name) }
            }
            polyline .line points=(points.join(" ")) {}
            @for limit in limits {
                @let at = x(limit.share);
                @let y = scale.y(limit.value);
                g .limit.(if limit.is_kept { "kept" } else { "broken" }) {
                    line x1=(format!("{:.1}", at - 14.0)) y1=(format!("{y:.1}"))
                        x2=(format!("{:.1}", (at + 14.0).min(WIDTH))) y2=(format!("{y:.1}")) {}
                    title { (limit.text) }
                }
            }
        }
    }
}

/// Draws the histogram of `values`, pairs of milliseconds and weight, with logarithmic axes.
#[must_use]
pub fn histogram(values: &[(u64, u64)]) -> Markup {
    let longest = values.iter().map(|(value, _)| *value).max().unwrap_or(1).max(100) as f64;
    let decades = longest.log10().ceil().clamp(2.0, MAX_DECADES);
    let count = (decades * BARS_PER_DECADE) as usize + 1;
    let place = |value: u64| ((value.max(1) as f64).log10() * BARS_PER_DECADE) as usize;
    let mut bars = vec![0_u64; count];
    for (value, weight) in values {
        let bar = &mut bars[place(*value).min(count - 1)];
        *bar = bar.saturating_add(*weight);
    }
    let scale = Scale::log(bars.iter().map(|&bar| bar as f64).chain([1.0]));
    let step = (WIDTH - LEFT) / count as f64;
    let edge = |bar: usize| 10f64.powf(bar as f64 / BARS_PER_DECADE);
    html! {
        svg viewBox=(view_box()) role="img" {
            (grid(scale))
            @for decade in 0..=decades as usize {
                @let at = LEFT + decade as f64 * BARS_PER_DECADE * step;
                text x=(format!("{at:.1}")) y=(HEIGHT + 15.0)
                    text-anchor=(if decade == 0 { "start" } else if decade == decades as usize { "end" } else { "middle" }) {
                    (label(10f64.powi(decade as i32))) " ms"
                }
            }
            @for (at, bar) in bars.iter().enumerate().filter(|(_, bar)| **bar > 0) {
                @let height = (HEIGHT - scale.y(*bar as f64)).max(2.0);
                rect .bar x=(format!("{:.1}", LEFT + at as f64 * step)) y=(format!("{:.1}", HEIGHT - height))
                    width=(format!("{:.1}", (step - 0.5).max(0.5))) height=(format!("{height:.1}")) {
                    title { (format!("{:.0} to {:.0} ms: {} s", edge(at), edge(at + 1), *bar as f64 / 1000.0)) }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn curve_reaches_one_long_gap() {
        let limits =
            [CurveLimit { share: 0.99, value: 120.0, is_kept: false, text: "<p99".into() }];
        let values = [(50, 28_000), (2039, 2039)];
        let curve = percentile_curve(&values, &limits).into_string();
        let last = curve.split("points=\"").nth(1).and_then(|rest| rest.split('"').next()).unwrap();
        let end: Vec<f64> =
            last.split(' ').next_back().unwrap().split(',').map(|n| n.parse().unwrap()).collect();
        assert!((end[0] - WIDTH).abs() < 0.2, "{last}");
        assert!(end[1] < HEIGHT / 2.0, "{last}");
        assert!(
            curve.contains("99.9%") && curve.contains("limit broken") && curve.contains("&lt;p99")
        );
        assert!(percentile_curve(&[], &[]).into_string().contains("<svg"));
    }

    #[test]
    fn histogram_shows_rare_long_gap() {
        let drawn = histogram(&[(50, 280_000), (51, 1), (2000, 2)]).into_string();
        let heights: Vec<f64> = drawn
            .split("<rect")
            .skip(1)
            .filter_map(|rect| rect.split("height=\"").nth(1)?.split('"').next()?.parse().ok())
            .collect();
        assert_eq!(heights.len(), 2, "{drawn}");
        assert!(heights[1] >= 5.0, "{heights:?}");
        assert!(histogram(&[]).into_string().contains("<svg"));
        assert!(histogram(&[(u64::MAX, u64::MAX), (u64::MAX, 5)]).into_string().len() < 20_000);
    }
}
