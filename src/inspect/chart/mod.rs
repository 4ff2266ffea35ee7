//! SVG charts of HTML reports: percentile curve, histogram, time series, stacked bars and lagometer.
//!
//! Invariant: the length of a chart is bounded for any input.

mod curve;
mod lagometer;
mod scale;
mod series;

use maud::{Markup, html};

pub use curve::{CurveLimit, histogram, percentile_curve};
pub use lagometer::{Lagometer, LagometerSample};
pub use series::{Series, StagePoint, Timeline, by_clients};

/// Style sheet of reports for screen, in light and dark mode, and print.
pub const STYLE: &str = include_str!("report.css");

/// Size of the charts in SVG units, and the margins for axis labels.
const WIDTH: f64 = 800.0;
const HEIGHT: f64 = 160.0;
const LEFT: f64 = 48.0;
const ABOVE: f64 = 16.0;
const BELOW: f64 = 18.0;
/// Maximum points of a line.
const MAX_POINTS: usize = 600;
/// Number of layer classes of the style sheet.
pub const MAX_LAYERS: usize = 10;
/// Width of a lagometer, and height of its upper and its lower half.
const LAGOMETER_WIDTH: f64 = 800.0;
const HALF_HEIGHT: f64 = 22.0;
/// Ping at the lower edge of a lagometer, in ms.
const MAX_LAGOMETER_PING_MS: f64 = 400.0;

/// Rounds up to 1, 2, 2.5 or 5 times a power of ten, for the end of an axis.
fn ceiling(value: f64) -> f64 {
    if value <= 1.0 {
        return 1.0;
    }
    let scale = 10f64.powf(value.log10().floor());
    let steps = [1.0, 2.0, 2.5, 5.0, 10.0];
    steps.iter().map(|step| step * scale).find(|&step| step >= value).unwrap_or(value)
}

/// Draws axis labels and grid lines.
fn frame(top: f64, right: &str) -> Markup {
    html! {
        @for part in [0.0, 0.5, 1.0] {
            @let y = HEIGHT - part * HEIGHT;
            line .axis x1=(LEFT) y1=(y) x2=(WIDTH) y2=(y) {}
            text x="0" y=(y + 4.0) { (format!("{}", top * part)) }
        }
        text x=(LEFT) y=(HEIGHT + BELOW) { "0" }
        text x=(WIDTH) y=(HEIGHT + BELOW) text-anchor="end" { (right) }
    }
}

fn view_box() -> String {
    format!("0 -{ABOVE} {WIDTH} {}", ABOVE + HEIGHT + BELOW + 4.0)
}

/// Draws stacked bars over time from 0 to `seconds`: rows of values, one per layer.
///
/// The layers have the CSS classes `layer0` to `layer9`; further ones share the last.
#[must_use]
pub fn stacked(title: &str, rows: &[Vec<f64>], seconds: u64) -> Markup {
    let every = rows.len().div_ceil(MAX_POINTS / 2).max(1);
    let total = |row: &Vec<f64>| row.iter().sum::<f64>();
    // Rows that share a bar show the largest of them, to keep the peaks.
    let largest = |chunk: &[Vec<f64>]| {
        chunk.iter().max_by(|one, other| total(one).total_cmp(&total(other))).cloned()
    };
    let bars: Vec<Vec<f64>> = rows.chunks(every).filter_map(largest).collect();
    let top = ceiling(bars.iter().map(total).fold(0.0, f64::max));
    let step = (WIDTH - LEFT) / bars.len().max(1) as f64;
    html! {
        figure {
            figcaption { (title) }
            svg viewBox=(view_box()) role="img" {
                (frame(top, &format!("{seconds} s")))
                @for (place, bar) in bars.iter().enumerate() {
                    @for (layer, value) in bar.iter().enumerate().filter(|(_, value)| **value > 0.0) {
                        @let below: f64 = bar[..layer].iter().sum();
                        rect class=(format!("layer{}", layer.min(MAX_LAYERS - 1)))
                            x=(format!("{:.1}", LEFT + place as f64 * step))
                            y=(format!("{:.1}", HEIGHT - (below + value) / top * HEIGHT))
                            width=(format!("{:.1}", step.max(0.5)))
                            height=(format!("{:.1}", value / top * HEIGHT)) {}
                    }
                }
            }
        }
    }
}

/// Draws the lagometer of one client. A snapshot was due every `asked_ms`.
#[must_use]
pub fn lagometer(lagometer: &Lagometer, asked_ms: u64) -> Markup {
    let (columns, _) = lagometer.columns();
    let width = LAGOMETER_WIDTH / columns.len().max(1) as f64;
    let asked = asked_ms.max(1) as f64;
    // Three times the requested interval fills the upper half.
    let above = |ms: f64| (ms / (asked * 3.0) * HALF_HEIGHT).min(HALF_HEIGHT);
    let came = |column: &LagometerSample| column.snapshots > 0;
    let (first, last) = (columns.iter().position(came), columns.iter().rposition(came));
    let is_silent = |place: usize, column: &LagometerSample| {
        !came(column)
            && first.is_some_and(|first| place > first)
            && last.is_some_and(|last| place < last)
    };
    html! {
        svg viewBox=(format!("0 0 {LAGOMETER_WIDTH} {}", HALF_HEIGHT * 2.0 + 1.0)) preserveAspectRatio="none" role="img" {
            line .axis x1="0" y1=(HALF_HEIGHT) x2=(LAGOMETER_WIDTH) y2=(HALF_HEIGHT) {}
            @for (place, column) in columns.iter().enumerate() {
                @let LagometerSample { gap_ms, ping_ms, lost, rate_delayed, .. } = *column;
                @let (gap, ping) = (f64::from(gap_ms), f64::from(ping_ms));
                @let fine = above(gap.min(asked * 1.5));
                @let long = above(gap) - fine;
                @let x = format!("{:.2}", place as f64 * width);
                @let w = format!("{width:.2}");
                @if is_silent(place, column) {
                    rect .lost x=(x) y="0" width=(w) height=(HALF_HEIGHT * 2.0 + 1.0) {}
                }
                @if fine > 0.0 { rect .fine x=(x) y=(format!("{:.1}", HALF_HEIGHT - fine)) width=(w) height=(format!("{fine:.1}")) {} }
                @if long > 0.0 { rect .long x=(x) y=(format!("{:.1}", HALF_HEIGHT - fine - long)) width=(w) height=(format!("{long:.1}")) {} }
                @let depth = (ping / MAX_LAGOMETER_PING_MS * HALF_HEIGHT).clamp(0.0, HALF_HEIGHT);
                @if lost > 0 {
                    rect .lost x=(x) y=(HALF_HEIGHT + 1.0) width=(w) height=(HALF_HEIGHT) {}
                } @else if depth > 0.0 {
                    @let kind = if rate_delayed > 0 { "held" } else { "ping" };
                    rect class=(kind) x=(x) y=(HALF_HEIGHT + 1.0) width=(w) height=(format!("{:.1}", depth.max(1.0))) {}
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Millis;

    #[test]
    fn axes_end_at_round_numbers() {
        for (value, end) in
            [(0.0, 1.0), (0.4, 1.0), (7.0, 10.0), (21.0, 25.0), (130.0, 200.0), (5e6, 5e6)]
        {
            assert!((ceiling(value) - end).abs() < 1e-6, "{value}: {}", ceiling(value));
        }
    }

    #[test]
    fn stacked_bars_draw_large_inputs() {
        let rows: Vec<_> = (0..5000).map(|row| vec![f64::from(row), 1.0]).collect();
        let drawn = stacked("Rate <kB/s>", &rows, 4999).into_string();
        assert!(drawn.contains("Rate &lt;kB/s&gt;") && drawn.contains("4999 s"));
        assert!(drawn.matches("<rect").count() <= MAX_POINTS);
        assert!(stacked("x", &[], 0).into_string().contains("<svg"));
    }

    #[test]
    fn lagometer_shows_gaps_and_losses() {
        let mut samples = Lagometer::new(Millis(0), Millis(1000));
        let seen = [
            LagometerSample { gap_ms: 50, ping_ms: 40, snapshots: 5, ..LagometerSample::default() },
            LagometerSample {
                gap_ms: 140,
                ping_ms: 40,
                rate_delayed: 1,
                snapshots: 5,
                ..LagometerSample::default()
            },
            LagometerSample::default(),
            LagometerSample {
                gap_ms: 50,
                ping_ms: 40,
                lost: 2,
                snapshots: 3,
                ..LagometerSample::default()
            },
            LagometerSample::default(),
        ];
        for (place, column) in seen.into_iter().enumerate() {
            *samples.at(Millis(place as u64 * 250)) = column;
        }
        let drawn = lagometer(&samples, 50).into_string();
        let count = |class: &str| drawn.matches(&format!("class=\"{class}\"")).count();
        assert_eq!((count("fine"), count("long")), (3, 1));
        assert_eq!((count("ping"), count("held"), count("lost")), (1, 1, 2));
    }
}
