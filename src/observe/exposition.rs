//! Numbers as monitoring reads them: the OpenMetrics text format.
//!
//! Names are those of the tables: words, `_total` for what only grows, and in braces what kind. Samples
//! of one family stand together, as the format wants it; the family's help is that of all its samples.

use std::fmt;

use prometheus_client::{
    collector::Collector,
    encoding::{DescriptorEncoder, EncodeMetric, MetricEncoder, text},
    metrics::{counter::ConstCounter, gauge::ConstGauge},
    registry::Registry,
};

/// What HTTP calls the text.
pub const CONTENT_TYPE: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// A number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Value {
    /// It only grows.
    Counter(u64),
    /// It goes up and down.
    Gauge(i64),
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Counter(value) => value.fmt(f),
            Self::Gauge(value) => value.fmt(f),
        }
    }
}

impl Value {
    fn encode(self, encoder: MetricEncoder<'_>) -> fmt::Result {
        match self {
            Self::Counter(value) => ConstCounter::new(value).encode(encoder),
            Self::Gauge(value) => ConstGauge::new(value).encode(encoder),
        }
    }
}

/// A number, its name and one sentence about it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sample {
    /// As in the tables: `q3_packets_total{dir="in"}`.
    pub name: &'static str,
    /// One sentence.
    pub help: &'static str,
    /// The number.
    pub value: Value,
}

impl Sample {
    /// The name without what kind it is.
    fn family(&self) -> &'static str {
        let name = self.name.split('{').next().unwrap_or(self.name);
        // The format's writer appends it again.
        name.strip_suffix("_total").unwrap_or(name)
    }

    /// What kind it is.
    fn labels(&self) -> Vec<(&'static str, &'static str)> {
        let (_, labels) = self.name.split_once('{').unwrap_or((self.name, ""));
        labels
            .trim_end_matches('}')
            .split(',')
            .filter_map(|label| label.split_once('='))
            .map(|(key, value)| (key, value.trim_matches('"')))
            .collect()
    }
}

/// Samples on their way into text.
#[derive(Debug)]
struct Samples(Vec<Sample>);

impl Collector for Samples {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> fmt::Result {
        for family in self.0.chunk_by(|a, b| a.family() == b.family()) {
            let help = family.iter().map(|sample| sample.help).collect::<Vec<_>>().join(" ");
            let kind = match family[0].value {
                Value::Counter(_) => ConstCounter::new(0u64).metric_type(),
                Value::Gauge(_) => ConstGauge::new(0i64).metric_type(),
            };
            let name = family[0].family();
            let mut encoder = encoder.encode_descriptor(name, &help, None, kind)?;
            for sample in family {
                let labels = sample.labels();
                if labels.is_empty() {
                    // Alone in its family, for nothing tells two of them apart.
                    sample.value.encode(encoder)?;
                    break;
                }
                sample.value.encode(encoder.encode_family(&labels)?)?;
            }
        }
        Ok(())
    }
}

/// The samples as text. Those of a family must stand together.
#[must_use]
pub fn exposition(samples: Vec<Sample>) -> String {
    let mut registry = Registry::default();
    registry.register_collector(Box::new(Samples(samples)));
    let mut out = String::new();
    // A string takes everything.
    let _ = text::encode(&mut out, &registry);
    out
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;
    use crate::observe::{Counter, Counters};

    #[test]
    fn families_and_labels_are_written_as_monitoring_reads_them() {
        let sample = |name, value| Sample { name, help: "One.", value };
        let text = exposition(vec![
            sample("q3_packets_total{dir=\"in\",kind=\"stray\"}", Value::Counter(3)),
            sample("q3_packets_total{dir=\"out\",kind=\"stray\"}", Value::Counter(4)),
            sample("q3_players", Value::Gauge(-2)),
        ]);
        assert_eq!(
            text,
            "# HELP q3_packets One. One.\n# TYPE q3_packets counter\n\
             q3_packets_total{dir=\"in\",kind=\"stray\"} 3\n\
             q3_packets_total{dir=\"out\",kind=\"stray\"} 4\n\
             # HELP q3_players One.\n# TYPE q3_players gauge\nq3_players -2\n# EOF\n"
        );
    }

    #[test]
    fn every_counter_is_written_once_under_its_own_name() {
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
