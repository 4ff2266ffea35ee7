//! What has to hold, as a machine may ask: `snapshot_gap_p99<120ms,loss<1%,drops=0`.
//!
//! Each figure has one row in `FIGURES`, with its unit and how it is taken from a [`Stretch`]. A figure
//! that was not measured fulfils nothing.

use std::{fmt, str::FromStr};

use thiserror::Error;

use super::summary::{Spread, Stretch};

/// A figure that can be asked for.
struct Figure {
    name: &'static str,
    unit: &'static str,
    take: fn(&Stretch) -> Option<f64>,
}

const fn figure(
    name: &'static str,
    unit: &'static str,
    take: fn(&Stretch) -> Option<f64>,
) -> Figure {
    Figure { name, unit, take }
}

/// Every figure. Shares are percentages here.
const FIGURES: &[Figure] = &[
    figure("bots", "", |s| Some(s.bots as f64)),
    figure("in_game", "", |s| Some(s.active as f64)),
    figure("refused", "", |s| Some(s.refused as f64)),
    figure("drops", "", |s| Some(s.dropped as f64)),
    figure("faults", "", |s| Some(s.faults as f64)),
    figure("walked_per_second", "", |s| Some(s.walked_per_second)),
    figure("scored", "", |s| Some(s.scored as f64)),
    figure("join_p50", "ms", |s| some(s.join_ms, s.join_ms.p50)),
    figure("join_p99", "ms", |s| some(s.join_ms, s.join_ms.p99)),
    figure("join_max", "ms", |s| some(s.join_ms, s.join_ms.max)),
    figure("snapshots_per_second", "", |s| Some(s.snapshots_per_second)),
    figure("snapshot_gap_p50", "ms", |s| some(s.snapshot_gap_ms, s.snapshot_gap_ms.p50)),
    figure("snapshot_gap_p90", "ms", |s| some(s.snapshot_gap_ms, s.snapshot_gap_ms.p90)),
    figure("snapshot_gap_p99", "ms", |s| some(s.snapshot_gap_ms, s.snapshot_gap_ms.p99)),
    figure("snapshot_gap_max", "ms", |s| some(s.snapshot_gap_ms, s.snapshot_gap_ms.max)),
    figure("jitter_p99", "ms", |s| some(s.jitter_ms, s.jitter_ms.p99)),
    figure("ping_p50", "ms", |s| some(s.ping_ms, s.ping_ms.p50)),
    figure("ping_p99", "ms", |s| some(s.ping_ms, s.ping_ms.p99)),
    figure("command_p99", "ms", |s| some(s.command_ms, s.command_ms.p99)),
    figure("loss", "%", |s| Some(s.loss * 100.0)),
    figure("late", "%", |s| Some(s.late * 100.0)),
    figure("rate_delayed", "%", |s| Some(s.rate_delayed * 100.0)),
    figure("delta", "%", |s| Some(s.delta_share * 100.0)),
    figure("bytes_per_snapshot", "", |s| Some(s.bytes_per_snapshot)),
    figure("bytes_in_per_second", "", |s| Some(s.bytes_in_per_second)),
    figure("cpu_per_client_second", "ms", |s| s.server.map(|cost| cost.cpu_ms_per_client_second)),
    figure("memory", "MB", |s| s.server.map(|cost| cost.memory_mb)),
];

/// A value of a spread, when there is any.
fn some(spread: Spread, value: u64) -> Option<f64> {
    (spread.count > 0).then_some(value as f64)
}

/// How a figure is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Relation {
    Less,
    AtMost,
    More,
    AtLeast,
    Equal,
}

/// Relations as they are written, the longer ones first.
const RELATIONS: [(&str, Relation); 5] = [
    ("<=", Relation::AtMost),
    (">=", Relation::AtLeast),
    ("<", Relation::Less),
    (">", Relation::More),
    ("=", Relation::Equal),
];

impl Relation {
    fn holds(self, figure: f64, limit: f64) -> bool {
        match self {
            Self::Less => figure < limit,
            Self::AtMost => figure <= limit,
            Self::More => figure > limit,
            Self::AtLeast => figure >= limit,
            Self::Equal => figure == limit,
        }
    }

    fn sign(self) -> &'static str {
        RELATIONS.iter().find(|(_, relation)| *relation == self).map_or("", |(sign, _)| sign)
    }
}

/// One thing that has to hold.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Expectation {
    /// Place in `FIGURES`.
    figure: usize,
    relation: Relation,
    limit: f64,
}

impl fmt::Display for Expectation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Figure { name, unit, .. } = FIGURES[self.figure];
        write!(f, "{name}{}{}{unit}", self.relation.sign(), self.limit)
    }
}

/// Everything that has to hold.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Expectations(Vec<Expectation>);

/// What did not hold, and by how much.
#[derive(Clone, Debug, PartialEq)]
pub struct Broken {
    /// What had to hold.
    pub expectation: Expectation,
    /// What was measured, if anything was.
    pub measured: Option<f64>,
}

impl fmt::Display for Broken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Figure { name, unit, .. } = FIGURES[self.expectation.figure];
        match self.measured {
            Some(measured) => {
                let off = (measured - self.expectation.limit).abs();
                write!(
                    f,
                    "{}: {name} was {}{unit}, off by {}{unit}",
                    self.expectation,
                    rounded(measured),
                    rounded(off)
                )
            }
            None => write!(f, "{}: {name} was not measured", self.expectation),
        }
    }
}

fn rounded(value: f64) -> f64 {
    (value * 1000.0).round() / 1000.0
}

impl Expectations {
    /// Whether nothing is expected.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether something is expected of a figure.
    #[must_use]
    pub fn name(&self, figure: &str) -> bool {
        self.0.iter().any(|one| FIGURES[one.figure].name == figure)
    }

    /// Adds what others expect.
    pub fn extend(&mut self, others: &Self) {
        self.0.extend_from_slice(&others.0);
    }

    /// What of it does not hold.
    #[must_use]
    pub fn broken(&self, stretch: &Stretch) -> Vec<Broken> {
        let measured = |expectation: &Expectation| (FIGURES[expectation.figure].take)(stretch);
        self.0
            .iter()
            .map(|expectation| Broken {
                expectation: *expectation,
                measured: measured(expectation),
            })
            .filter(|Broken { expectation: Expectation { relation, limit, .. }, measured }| {
                !measured.is_some_and(|measured| relation.holds(measured, *limit))
            })
            .collect()
    }
}

/// An expectation that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ExpectError {
    /// No relation in it.
    #[error("'{0}' is no expectation: FIGURE<LIMIT, with <, <=, >, >= or =, such as loss<1%")]
    Form(String),
    /// No such figure.
    #[error("no figure '{name}': {}", figures())]
    Figure {
        /// What was asked for.
        name: String,
    },
    /// A limit that is no number of the figure's unit.
    #[error("{name}: '{limit}' is no number{}", in_unit(unit))]
    Limit {
        /// The figure.
        name: &'static str,
        /// What was given.
        limit: String,
        /// Its unit.
        unit: &'static str,
    },
}

/// Names of all figures, for people.
#[must_use]
pub fn figures() -> String {
    FIGURES.iter().map(|figure| figure.name).collect::<Vec<_>>().join(", ")
}

fn in_unit(unit: &str) -> String {
    if unit.is_empty() { String::new() } else { format!(" of {unit}") }
}

impl FromStr for Expectations {
    type Err = ExpectError;

    fn from_str(text: &str) -> Result<Self, ExpectError> {
        let parts = text.split(',').map(str::trim).filter(|part| !part.is_empty());
        parts.map(expectation).collect::<Result<Vec<_>, _>>().map(Self)
    }
}

fn expectation(text: &str) -> Result<Expectation, ExpectError> {
    let split = RELATIONS.iter().find_map(|(sign, relation)| {
        let (name, limit) = text.split_once(sign)?;
        Some((name.trim(), *relation, limit.trim()))
    });
    let (name, relation, limit) = split.ok_or_else(|| ExpectError::Form(text.to_owned()))?;
    let place = FIGURES.iter().position(|figure| figure.name == name);
    let figure = place.ok_or_else(|| ExpectError::Figure { name: name.to_owned() })?;
    let Figure { name, unit, .. } = FIGURES[figure];
    let number = limit.strip_suffix(unit).unwrap_or(limit).trim().parse::<f64>().ok();
    let number = number.filter(|number| number.is_finite());
    let wrong = || ExpectError::Limit { name, limit: limit.to_owned(), unit };
    Ok(Expectation { figure, relation, limit: number.ok_or_else(wrong)? })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn measured() -> Stretch {
        let mut stretch = Stretch { loss: 0.02, dropped: 0, ..Stretch::default() };
        stretch.snapshot_gap_ms = Spread { p99: 150, count: 1, ..Spread::default() };
        stretch
    }

    #[test]
    fn what_holds_is_silent_and_what_does_not_says_by_how_much() {
        let all: Expectations = "snapshot_gap_p99<120ms, loss<=2%,drops=0".parse().unwrap();
        let broken: Vec<_> = all.broken(&measured()).iter().map(ToString::to_string).collect();
        assert_eq!(broken, ["snapshot_gap_p99<120ms: snapshot_gap_p99 was 150ms, off by 30ms"]);
        let all: Expectations = "memory<10MB,ping_p50>=0".parse().unwrap();
        let broken: Vec<_> = all.broken(&measured()).iter().map(ToString::to_string).collect();
        assert_eq!(
            broken,
            ["memory<10MB: memory was not measured", "ping_p50>=0ms: ping_p50 was not measured"]
        );
        assert!(all.name("memory") && !all.name("loss"));
    }

    #[test]
    fn mistakes_are_named() {
        for (text, because) in [
            ("loss", "no expectation"),
            ("speed<1", "no figure 'speed': bots, in_game"),
            ("loss<x%", "'x%' is no number of %"),
            ("drops=inf", "no number"),
            ("loss<1ms", "no number of %"),
        ] {
            let error = text.parse::<Expectations>().unwrap_err().to_string();
            assert!(error.contains(because), "{text}: {error}");
        }
        assert!("".parse::<Expectations>().unwrap().is_empty());
    }

    #[test]
    fn every_figure_has_one_name() {
        for (at, figure) in FIGURES.iter().enumerate() {
            assert!(
                FIGURES[at + 1..].iter().all(|other| other.name != figure.name),
                "{}",
                figure.name
            );
        }
    }
}
