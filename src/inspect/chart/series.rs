//! Time series with several lines and shaded spans, and metrics by number of clients.

use maud::{Markup, html};

use super::{
    HEIGHT, LEFT, MAX_POINTS, WIDTH,
    scale::{Scale, label},
    view_box,
};

/// Maximum shaded spans.
const MAX_SPANS: usize = 200;

/// A line of a chart: its name and a value for each sample that has one.
pub struct Series<'a, T> {
    /// Name in the legend; empty for a chart with one line.
    pub name: &'a str,
    /// Value of a sample; `None` breaks the line.
    pub value: &'a dyn Fn(&T) -> Option<f64>,
}

/// Samples over time, from 0 to the end of the last one.
pub struct Timeline<'a, T> {
    /// Samples.
    pub samples: &'a [T],
    /// Time of the end of a sample, in seconds.
    pub seconds: &'a dyn Fn(&T) -> f64,
    /// Whether the time before a sample is unreliable.
    pub is_spoiled: &'a dyn Fn(&T) -> bool,
}

impl<T> Timeline<'_, T> {
    fn end(&self) -> f64 {
        self.samples.last().map_or(1.0, |last| (self.seconds)(last)).max(1.0)
    }

    fn x(&self, second: f64) -> f64 {
        LEFT + second / self.end() * (WIDTH - LEFT)
    }

    /// Draws the unreliable spans.
    fn spans(&self) -> Markup {
        let begins = std::iter::once(0.0).chain(self.samples.iter().map(|one| (self.seconds)(one)));
        let spoiled = begins.zip(self.samples).filter(|(_, sample)| (self.is_spoiled)(sample));
        html! {
            @for (begin, sample) in spoiled.take(MAX_SPANS) {
                @let from = self.x(begin);
                @let width = (self.x((self.seconds)(sample)) - from).max(1.0);
                rect .spoiled x=(format!("{from:.1}")) y="0" width=(format!("{width:.1}")) height=(HEIGHT) {
                    title { "load generator late: values unreliable" }
                }
            }
        }
    }

    /// Draws lines over time. A logarithmic axis shows small and large values at once.
    #[must_use]
    pub fn draw(&self, title: &str, lines: &[Series<'_, T>], is_log: bool) -> Markup {
        let every = self.samples.len().div_ceil(MAX_POINTS).max(1);
        // Seconds that share a point show their maximum, to keep the peaks.
        let peak = |chunk: &[T], line: &Series<'_, T>| {
            chunk.iter().filter_map(|sample| (line.value)(sample)).reduce(f64::max)
        };
        let values = lines
            .iter()
            .flat_map(|line| self.samples.chunks(every).filter_map(move |chunk| peak(chunk, line)));
        let scale = if is_log { Scale::log(values) } else { Scale::linear(values) };
        let point = |chunk: &[T], line: &Series<'_, T>| {
            let x = self.x(chunk.last().map_or(0.0, |last| (self.seconds)(last)));
            peak(chunk, line).map(|value| format!("{x:.1},{:.1}", scale.y(value)))
        };
        // A line has a part for each run of values. A value without neighbors becomes a dot by the line's round ends.
        let parts = |line: &Series<'_, T>| -> Vec<String> {
            let points: Vec<_> =
                self.samples.chunks(every).map(|chunk| point(chunk, line)).collect();
            let runs = points.split(Option::is_none).filter(|run| !run.is_empty());
            runs.map(|run| match run {
                [Some(only)] => format!("{only} {only}"),
                run => run.iter().flatten().cloned().collect::<Vec<_>>().join(" "),
            })
            .collect()
        };
        html! {
            figure {
                figcaption {
                    (title)
                    @for (place, line) in lines.iter().enumerate().filter(|(_, line)| !line.name.is_empty()) {
                        " " span class=(format!("key line{place}")) { (line.name) }
                    }
                }
                svg viewBox=(view_box()) role="img" {
                    (self.spans())
                    (axes(scale, &format!("{:.0} s", self.end())))
                    @for (place, line) in lines.iter().enumerate().rev() {
                        @for points in parts(line) {
                            polyline class=(format!("line line{place}")) points=(points) {}
                        }
                    }
                }
            }
        }
    }
}

/// Draws the axis of values, and both ends of the other axis.
fn axes(scale: Scale, right: &str) -> Markup {
    html! {
        @for tick in scale.ticks() {
            @let y = scale.y(tick);
            line .axis x1=(LEFT) y1=(format!("{y:.1}")) x2=(WIDTH) y2=(format!("{y:.1}")) {}
            text x=(LEFT - 6.0) y=(format!("{:.1}", y + 4.0)) text-anchor="end" { (label(tick)) }
        }
        text x=(LEFT) y=(HEIGHT + 15.0) { "0" }
        text x=(WIDTH) y=(HEIGHT + 15.0) text-anchor="end" { (right) }
    }
}

/// A stage of a load test in the chart of stages.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StagePoint {
    /// Number of clients.
    pub clients: f64,
    /// Value of the stage; `None` when not measured.
    pub value: Option<f64>,
    /// Whether the stage passed.
    pub passed: bool,
}

/// Draws a metric by number of clients. A vertical line marks the capacity.
#[must_use]
pub fn by_clients(
    title: &str,
    stages: &[StagePoint],
    capacity: Option<f64>,
    is_log: bool,
) -> Markup {
    let mut stages: Vec<_> = stages.iter().take(MAX_POINTS).copied().collect();
    stages.sort_by(|one, other| one.clients.total_cmp(&other.clients));
    let values = stages.iter().filter_map(|stage| stage.value);
    let scale = if is_log { Scale::log(values) } else { Scale::linear(values) };
    let across = Scale::linear(stages.iter().map(|stage| stage.clients));
    let points: Vec<_> = stages
        .iter()
        .filter_map(|stage| Some((across.x(stage.clients), scale.y(stage.value?), stage)))
        .collect();
    let line: Vec<_> = points.iter().map(|(x, y, _)| format!("{x:.1},{y:.1}")).collect();
    let ticks = across.ticks();
    html! {
        figure {
            figcaption { (title) }
            svg viewBox=(view_box()) role="img" {
                (axes(scale, &format!("{} bots", label(ticks.last().copied().unwrap_or(1.0)))))
                @if let Some(capacity) = capacity {
                    @let x = format!("{:.1}", across.x(capacity));
                    line .capacity x1=(x) y1="0" x2=(x) y2=(HEIGHT) {}
                    text x=(x) y=(HEIGHT + 15.0) text-anchor="middle" { "capacity " (label(capacity)) }
                }
                polyline .line points=(line.join(" ")) {}
                @for (x, y, stage) in points {
                    circle.(if stage.passed { "passed" } else { "failed" }) cx=(format!("{x:.1}")) cy=(format!("{y:.1}")) r="5" {
                        title {
                            (stage.clients) " bots: " (label(stage.value.unwrap_or(0.0)))
                            @if !stage.passed { ", failed" }
                        }
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn draw(samples: &[u64]) -> String {
        let timeline = Timeline {
            samples,
            seconds: &|second| *second as f64,
            is_spoiled: &|second| *second == 7,
        };
        let value = |second: &u64| (!(11..=13).contains(second)).then_some(*second as f64);
        let lines =
            [Series { name: "p50", value: &value }, Series { name: "<max>", value: &value }];
        timeline.draw("Ping <ms>", &lines, true).into_string()
    }

    #[test]
    fn timeline_draws_lines_and_spoiled_seconds() {
        let drawn = draw(&(1..=5000).collect::<Vec<_>>());
        assert!(drawn.contains("Ping &lt;ms&gt;") && drawn.contains("5000 s"), "{drawn}");
        assert!(drawn.contains("&lt;max&gt;") && drawn.matches("class=\"spoiled\"").count() == 1);
        assert!(drawn.matches(',').count() <= MAX_POINTS * 2 + 10);
        assert!(draw(&[]).contains("<svg"));
    }

    #[test]
    fn line_is_broken_where_values_are_missing() {
        let drawn = draw(&(1..=20).collect::<Vec<_>>());
        assert_eq!(drawn.matches("<polyline").count(), 4, "{drawn}");
        assert_eq!(draw(&[9, 11, 12, 14]).matches("<polyline").count(), 4);
        // The shaded second ends with its sample.
        let x = |second: f64| LEFT + second / 20.0 * (WIDTH - LEFT);
        let span = format!("x=\"{:.1}\" y=\"0\" width=\"{:.1}\"", x(6.0), x(7.0) - x(6.0));
        assert!(drawn.contains(&span), "{drawn}");
    }

    #[test]
    fn stages_mark_the_capacity() {
        let stage = |clients, value, passed| StagePoint { clients, value, passed };
        let stages = [
            stage(16.0, Some(50.0), true),
            stage(32.0, Some(200.0), false),
            stage(64.0, None, false),
        ];
        let drawn = by_clients("Gap", &stages, Some(16.0), true).into_string();
        assert!(drawn.contains("capacity 16") && drawn.matches("<circle").count() == 2, "{drawn}");
        assert!(by_clients("Gap", &[], None, false).into_string().contains("<svg"));
    }
}
