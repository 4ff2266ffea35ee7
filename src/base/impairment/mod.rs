//! Network impairment: latency, jitter, loss, duplication, reordering, corruption and rate limit.
//!
//! An [`Impairment`] describes it, an [`ImpairedLink`] applies it to one direction. The simulated network and
//! the load test use both. The simulated network draws each delay on its own, so jitter alone reorders there.
//!
//! Invariants: the same seed and the same datagrams at the same times give the same deliveries. A link queues
//! at most [`MAX_WAITING`] datagrams. A link keeps the order unless its impairment asks for reordering.
//! Source: terms of network emulators (`tc netem`); a reordered datagram skips the delay.

mod link;

use std::{fmt, str::FromStr};

use rand_pcg::{Pcg32, rand_core::Rng as _};
use thiserror::Error;

use crate::model::Millis;

pub use link::{ImpairedLink, MAX_WAITING};

/// Denominator of shares of datagrams.
pub const PER_MILLE: u32 = 1000;
/// Maximum latency and jitter.
const MAX_DELAY: Millis = Millis::seconds(10);

/// Impairment of datagrams in one direction. Shares are in thousandths.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Impairment {
    /// Minimum delay.
    pub latency: Millis,
    /// Maximum random addition to the delay of each datagram.
    ///
    /// An [`ImpairedLink`] delays datagrams that would overtake others, unless `reordering` is set.
    pub jitter: Millis,
    /// Share of lost datagrams.
    pub loss: u32,
    /// Share of duplicated datagrams.
    pub duplication: u32,
    /// Share of datagrams without delay, which overtake others. Above 0, jitter may reorder, too.
    pub reordering: u32,
    /// Share of datagrams with one flipped bit.
    pub corruption: u32,
    /// Share of truncated datagrams.
    pub truncation: u32,
    /// Rate limit in bytes per second, without UDP and IP headers; 0 disables it.
    pub rate_bytes_per_sec: u32,
}

/// Delivery of one datagram: lost, delivered or duplicated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Delivery {
    /// Delay of each copy, after the rate limit.
    pub delays: [Option<Millis>; 2],
}

/// Corruption of one datagram.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Corruption {
    /// Whether a bit was flipped.
    pub is_flipped: bool,
    /// Whether bytes at the end were removed.
    pub is_cut: bool,
}

impl Impairment {
    /// Creates an impairment with latency only.
    #[must_use]
    pub const fn latency(latency: Millis) -> Self {
        Self {
            latency,
            jitter: Millis(0),
            loss: 0,
            duplication: 0,
            reordering: 0,
            corruption: 0,
            truncation: 0,
            rate_bytes_per_sec: 0,
        }
    }

    /// Whether datagrams pass unchanged and without delay.
    #[must_use]
    pub fn is_clear(&self) -> bool {
        *self == Self::default()
    }

    /// Draws the delivery of the next datagram.
    pub fn decide(&self, rng: &mut SeededRng) -> Delivery {
        let mut delivery = Delivery::default();
        if rng.chance(self.loss) {
            return delivery;
        }
        let copies = if rng.chance(self.duplication) { 2 } else { 1 };
        for delay in delivery.delays.iter_mut().take(copies) {
            let skips = rng.chance(self.reordering);
            let jitter = Millis(rng.below(self.jitter.0 + 1));
            *delay = Some(if skips { Millis(0) } else { self.latency + jitter });
        }
        delivery
    }

    /// Corrupts or truncates a datagram at the configured shares. Returns the changes made.
    pub fn corrupt(&self, rng: &mut SeededRng, bytes: &mut Vec<u8>) -> Corruption {
        let mut corruption = Corruption::default();
        if rng.chance(self.corruption) && !bytes.is_empty() {
            let at = rng.below(bytes.len() as u64) as usize;
            bytes[at] ^= 1 << rng.below(8);
            corruption.is_flipped = true;
        }
        if rng.chance(self.truncation) {
            let len = rng.below(bytes.len() as u64 + 1) as usize;
            corruption.is_cut = len < bytes.len();
            bytes.truncate(len);
        }
        corruption
    }
}

/// Reproducible random numbers.
#[derive(Clone, Debug)]
pub struct SeededRng(Pcg32);

impl SeededRng {
    /// Creates a generator from a seed.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self(Pcg32::new(seed, 0x5eed))
    }

    /// Returns a number below `limit`, or 0 for a limit of 0.
    pub fn below(&mut self, limit: u64) -> u64 {
        self.0.next_u64() % limit.max(1)
    }

    /// Returns true with a probability in thousandths. A probability of 0 draws no number.
    pub fn chance(&mut self, thousandths: u32) -> bool {
        thousandths > 0 && self.below(u64::from(PER_MILLE)) < u64::from(thousandths)
    }
}

/// An invalid impairment description.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ImpairmentError {
    /// An unknown parameter.
    #[error(
        "unknown network parameter '{0}' (expected latency=80ms,jitter=20ms,loss=1%,dup=0.5%,reorder=1%,rate=8000)"
    )]
    Unknown(String),
    /// A value that is invalid or out of range.
    #[error("{key}: invalid value '{value}' (expected {wanted})")]
    Value {
        /// Name of the parameter.
        key: &'static str,
        /// The invalid value.
        value: String,
        /// Expected value.
        wanted: &'static str,
    },
}

/// Kind and field of a parameter.
enum Parameter {
    Time(fn(&mut Impairment) -> &mut Millis),
    Share(fn(&mut Impairment) -> &mut u32),
    Rate,
}

/// Parameters by name.
const PARAMETERS: [(&str, Parameter); 8] = [
    ("latency", Parameter::Time(|impairment| &mut impairment.latency)),
    ("jitter", Parameter::Time(|impairment| &mut impairment.jitter)),
    ("loss", Parameter::Share(|impairment| &mut impairment.loss)),
    ("dup", Parameter::Share(|impairment| &mut impairment.duplication)),
    ("reorder", Parameter::Share(|impairment| &mut impairment.reordering)),
    ("corrupt", Parameter::Share(|impairment| &mut impairment.corruption)),
    ("cut", Parameter::Share(|impairment| &mut impairment.truncation)),
    ("rate", Parameter::Rate),
];

impl FromStr for Impairment {
    type Err = ImpairmentError;

    /// Parses a description such as `latency=80ms,jitter=20ms,loss=1%`.
    fn from_str(text: &str) -> Result<Self, ImpairmentError> {
        let mut impairment = Self::default();
        for part in text.split(',').map(str::trim).filter(|part| !part.is_empty()) {
            let unknown = || ImpairmentError::Unknown(part.to_owned());
            let (key, value) = part.split_once('=').ok_or_else(unknown)?;
            let (key, value) = (key.trim(), value.trim());
            let (name, word) =
                PARAMETERS.iter().find(|(name, _)| *name == key).ok_or_else(unknown)?;
            let wrong =
                |wanted| ImpairmentError::Value { key: name, value: value.to_owned(), wanted };
            match word {
                Parameter::Time(field) => {
                    let ms = value.strip_suffix("ms").unwrap_or(value).trim().parse().ok();
                    let ms = ms.map(Millis).filter(|&time| time <= MAX_DELAY);
                    *field(&mut impairment) = ms.ok_or_else(|| wrong("a time of 0 to 10000 ms"))?;
                }
                Parameter::Share(field) => {
                    let percent: Option<f64> =
                        value.strip_suffix('%').unwrap_or(value).trim().parse().ok();
                    let percent = percent.filter(|share| (0.0..=100.0).contains(share));
                    let percent = percent.ok_or_else(|| wrong("a share of 0 to 100%"))?;
                    *field(&mut impairment) = (percent * 10.0).round() as u32;
                }
                Parameter::Rate => {
                    let rate = value.parse().ok();
                    impairment.rate_bytes_per_sec =
                        rate.ok_or_else(|| wrong("bytes per second"))?;
                }
            }
        }
        Ok(impairment)
    }
}

impl fmt::Display for Impairment {
    /// Writes a description that parses to the same impairment.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut impairment = *self;
        let mut separator = "";
        for (name, word) in PARAMETERS {
            let text = match word {
                Parameter::Time(field) => Some(*field(&mut impairment))
                    .filter(|time| time.0 > 0)
                    .map(|time| format!("{}ms", time.0)),
                Parameter::Share(field) => Some(*field(&mut impairment))
                    .filter(|&share| share > 0)
                    .map(|share| format!("{}%", f64::from(share) / 10.0)),
                Parameter::Rate => Some(impairment.rate_bytes_per_sec)
                    .filter(|&rate| rate > 0)
                    .map(|rate| rate.to_string()),
            };
            if let Some(text) = text {
                write!(f, "{separator}{name}={text}")?;
                separator = ",";
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn impairment_parses_and_displays() {
        let text =
            "latency=80ms,jitter=20ms,loss=1.5%,dup=0.5%,reorder=2%,corrupt=1%,cut=3%,rate=8000";
        let impairment: Impairment = text.parse().unwrap();
        assert_eq!(
            (impairment.latency, impairment.loss, impairment.reordering),
            (Millis(80), 15, 20)
        );
        assert_eq!(impairment.to_string(), text);
        assert_eq!(
            " latency=5 , loss=1 ".parse::<Impairment>().unwrap().to_string(),
            "latency=5ms,loss=1%"
        );
        assert!("".parse::<Impairment>().unwrap().is_clear());
        for (bad, because) in [
            ("latency", "unknown network parameter"),
            ("speed=1", "'speed=1'"),
            ("loss=101%", "loss: invalid value '101%' (expected a share"),
            ("latency=-1ms", "0 to 10000"),
            ("jitter=99999999999999999999", "0 to 10000"),
            ("loss=nan", "0 to 100"),
            ("rate=-4", "bytes per second"),
        ] {
            let error = bad.parse::<Impairment>().unwrap_err().to_string();
            assert!(error.contains(because), "{bad}: {error}");
        }
    }

    #[test]
    fn deliveries_match_rates_and_seed() {
        let impairment = Impairment {
            loss: 100,
            duplication: 50,
            jitter: Millis(9),
            ..Impairment::latency(Millis(20))
        };
        let deliveries = |seed| {
            let mut rng = SeededRng::new(seed);
            (0..10_000).map(|_| impairment.decide(&mut rng)).collect::<Vec<_>>()
        };
        let decided = deliveries(5);
        assert_eq!(decided, deliveries(5));
        assert_ne!(decided, deliveries(6));
        let lost = decided.iter().filter(|delivery| delivery.delays == [None; 2]).count();
        let twice = decided.iter().filter(|delivery| delivery.delays[1].is_some()).count();
        assert!((900..1100).contains(&lost) && (400..500).contains(&twice), "{lost} {twice}");
        let delays = decided.iter().flat_map(|delivery| delivery.delays).flatten();
        assert!(delays.clone().all(|delay| (20..=29).contains(&delay.0)));
        assert_eq!(delays.map(|delay| delay.0).max(), Some(29));
    }
}
