//! Prometheus metrics in the OpenMetrics text format.
//!
//! Names are those of the tables, with labels in braces. Samples of one metric family are adjacent; the
//! help of a family joins the help of its samples.

use std::{borrow::Cow, fmt};

use prometheus_client::{
    collector::Collector,
    encoding::{DescriptorEncoder, EncodeMetric, MetricEncoder, NoLabelSet, text},
    metrics::{MetricType, counter::ConstCounter, gauge::ConstGauge},
    registry::Registry,
};

/// Content type of the text.
pub const CONTENT_TYPE: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// Value of a sample.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Value {
    /// Number that only grows.
    Counter(u64),
    /// Duration that only grows, in microseconds.
    Duration(u64),
    /// Number that may shrink.
    Gauge(i64),
    /// Distribution of values.
    Histogram(Histogram),
}

/// Distribution of values, in millionths of their unit, e.g. microseconds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Histogram {
    /// Upper bound of each bucket, and the number of values up to it, ascending.
    pub buckets: Vec<(u64, u64)>,
    /// Number of values.
    pub count: u64,
    /// Sum of all values.
    pub sum: u64,
}

impl Histogram {
    /// Buckets as the encoder expects them: bounds in units, counts of their own.
    fn own_buckets(&self) -> Vec<(f64, u64)> {
        let mut below = 0;
        let mut own = |bound: f64, up_to: u64| {
            let count = up_to.saturating_sub(below);
            below = up_to;
            (bound, count)
        };
        let bounded = self.buckets.iter().map(|&(bound, count)| (bound as f64 / 1e6, count));
        let all = bounded.chain([(f64::INFINITY, self.count)]);
        all.map(|(bound, up_to)| own(bound, up_to)).collect()
    }
}

impl fmt::Display for Histogram {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} with sum {}", self.count, self.sum as f64 / 1e6)
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Counter(value) => value.fmt(f),
            Self::Duration(us) => write!(f, "{} s", *us as f64 / 1e6),
            Self::Gauge(value) => value.fmt(f),
            Self::Histogram(value) => value.fmt(f),
        }
    }
}

impl Value {
    fn encode(&self, mut encoder: MetricEncoder<'_>) -> fmt::Result {
        match self {
            Self::Counter(value) => ConstCounter::new(*value).encode(encoder),
            Self::Duration(us) => ConstCounter::new(*us as f64 / 1e6).encode(encoder),
            Self::Gauge(value) => ConstGauge::new(*value).encode(encoder),
            Self::Histogram(value) => encoder.encode_histogram::<NoLabelSet>(
                value.sum as f64 / 1e6,
                value.count,
                &value.own_buckets(),
                None,
            ),
        }
    }
}

/// Metric sample: name, help and value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sample {
    /// Metric name with labels, e.g. `q3_packets_total{dir="in"}`. Values of labels have no comma and no quote.
    pub name: Cow<'static, str>,
    /// Help text.
    pub help: &'static str,
    /// The value.
    pub value: Value,
}

impl Sample {
    /// Name of the metric family, without labels.
    fn family(&self) -> &str {
        let name = self.name.split('{').next().unwrap_or(&self.name);
        // The encoder appends the suffix again.
        name.strip_suffix("_total").unwrap_or(name)
    }

    /// Labels of the sample.
    fn labels(&self) -> Vec<(&str, &str)> {
        let (_, labels) = self.name.split_once('{').unwrap_or((&self.name, ""));
        labels
            .trim_end_matches('}')
            .split(',')
            .filter_map(|label| label.split_once('='))
            .map(|(key, value)| (key, value.trim_matches('"')))
            .collect()
    }
}

/// Samples to encode.
#[derive(Debug)]
struct Samples(Vec<Sample>);

impl Collector for Samples {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> fmt::Result {
        for family in self.0.chunk_by(|a, b| a.family() == b.family()) {
            let help = family.iter().map(|sample| sample.help).collect::<Vec<_>>().join(" ");
            let kind = match family[0].value {
                Value::Counter(_) | Value::Duration(_) => ConstCounter::new(0u64).metric_type(),
                Value::Gauge(_) => ConstGauge::new(0i64).metric_type(),
                Value::Histogram(_) => MetricType::Histogram,
            };
            let name = family[0].family();
            let mut encoder = encoder.encode_descriptor(name, &help, None, kind)?;
            for sample in family {
                let labels = sample.labels();
                if labels.is_empty() {
                    // Only sample of its family: two without labels would be equal.
                    sample.value.encode(encoder)?;
                    break;
                }
                sample.value.encode(encoder.encode_family(&labels)?)?;
            }
        }
        Ok(())
    }
}

/// Encodes samples as text. Samples of a family must be adjacent.
#[must_use]
pub fn exposition(samples: Vec<Sample>) -> String {
    let mut registry = Registry::default();
    registry.register_collector(Box::new(Samples(samples)));
    let mut out = String::new();
    // Writing to a string cannot fail.
    let _ = text::encode(&mut out, &registry);
    out
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;
    use crate::observe::{Counter, Counters};

    #[test]
    fn families_and_labels_are_encoded() {
        let sample = |name: &'static str, value| Sample { name: name.into(), help: "One.", value };
        let text = exposition(vec![
            sample("q3_packets_total{dir=\"in\",kind=\"unmatched\"}", Value::Counter(3)),
            sample("q3_packets_total{dir=\"out\",kind=\"unmatched\"}", Value::Counter(4)),
            sample("q3_clients", Value::Gauge(-2)),
            sample("process_cpu_seconds_total", Value::Duration(2_500_000)),
        ]);
        assert_eq!(
            text,
            "# HELP q3_packets One. One.\n# TYPE q3_packets counter\n\
             q3_packets_total{dir=\"in\",kind=\"unmatched\"} 3\n\
             q3_packets_total{dir=\"out\",kind=\"unmatched\"} 4\n\
             # HELP q3_clients One.\n# TYPE q3_clients gauge\nq3_clients -2\n\
             # HELP process_cpu_seconds One.\n# TYPE process_cpu_seconds counter\n\
             process_cpu_seconds_total 2.5\n# EOF\n"
        );
    }

    #[test]
    fn histograms_have_cumulative_buckets_in_seconds() {
        let buckets = (1..=10).map(|at| (1000 * at, if at == 1 { 2 } else { 3 })).collect();
        let value = Value::Histogram(Histogram { buckets, count: 4, sum: 1_500_000 });
        let text = exposition(vec![Sample { name: "q3_x_seconds".into(), help: "Time.", value }]);
        for line in [
            "# TYPE q3_x_seconds histogram",
            "q3_x_seconds_sum 1.5",
            "q3_x_seconds_count 4",
            "q3_x_seconds_bucket{le=\"0.001\"} 2",
            "q3_x_seconds_bucket{le=\"0.01\"} 3",
            "q3_x_seconds_bucket{le=\"+Inf\"} 4",
        ] {
            assert!(text.lines().any(|known| known == line), "{line} in\n{text}");
        }
    }

    #[test]
    fn counters_are_encoded_once() {
        let samples: Vec<_> = Counters::default().samples().collect();
        let text = exposition(samples);
        for counter in Counter::ALL {
            let line = format!("{} 0", counter.name());
            assert_eq!(text.lines().filter(|l| *l == line).count(), 1, "{line}");
        }
        let types: Vec<_> = text.lines().filter(|line| line.starts_with("# TYPE ")).collect();
        let families: HashSet<_> = types.iter().collect();
        assert_eq!(families.len(), types.len(), "samples of a family stand together: {types:?}");
    }
}
