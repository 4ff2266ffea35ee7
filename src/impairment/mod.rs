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

/// Thousandths, in shares of datagrams.
pub const PER_MILLE: u32 = 1000;
/// Longest delay that can be asked for.
const MAX_DELAY: Millis = Millis::seconds(10);

/// What happens to datagrams on their way. Shares are in thousandths.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Impairment {
    /// Least time on the way.
    pub latency: Millis,
    /// Up to this much is added, each time anew. A [`ImpairedLink`] holds back what would overtake, unless
    /// `reordering` is set.
    pub jitter: Millis,
    /// How many are lost.
    pub loss: u32,
    /// How many arrive twice.
    pub duplication: u32,
    /// How many take no time, and so overtake others. With any of these jitter may reorder, too.
    pub reordering: u32,
    /// How many have a bit flipped.
    pub corruption: u32,
    /// How many are cut short.
    pub truncation: u32,
    /// Bytes a second that fit through, without the headers of UDP and IP; 0 for any number.
    pub rate_bytes_per_sec: u32,
}

/// What happens to one datagram.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Delivery {
    /// Time on the way of each copy, behind the pipe.
    pub delays: [Option<Millis>; 2],
}

/// What was done to a datagram's bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Corruption {
    /// A bit is another.
    pub is_flipped: bool,
    /// Bytes at its end are missing.
    pub is_cut: bool,
}

impl Impairment {
    /// A way that only takes time.
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

    /// Whether datagrams pass as if nothing were there.
    #[must_use]
    pub fn is_clear(&self) -> bool {
        *self == Self::default()
    }

    /// Decides what becomes of the next datagram.
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

    /// Damages a datagram, or leaves it as it is, and says which.
    pub fn damage(&self, rng: &mut SeededRng, bytes: &mut Vec<u8>) -> Corruption {
        let mut damage = Corruption::default();
        if rng.chance(self.corruption) && !bytes.is_empty() {
            let at = rng.below(bytes.len() as u64) as usize;
            bytes[at] ^= 1 << rng.below(8);
            damage.is_flipped = true;
        }
        if rng.chance(self.truncation) {
            let len = rng.below(bytes.len() as u64 + 1) as usize;
            damage.is_cut = len < bytes.len();
            bytes.truncate(len);
        }
        damage
    }
}

/// Chance that can be drawn again.
#[derive(Clone, Debug)]
pub struct SeededRng(Pcg32);

impl SeededRng {
    /// Chance that grows from `seed`.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self(Pcg32::new(seed, 0x5eed))
    }

    /// A number below `limit`; 0 when that is 0.
    pub fn below(&mut self, limit: u64) -> u64 {
        self.0.next_u64() % limit.max(1)
    }

    /// True as often as asked. A share of 0 draws nothing.
    pub fn chance(&mut self, thousandths: u32) -> bool {
        thousandths > 0 && self.below(u64::from(PER_MILLE)) < u64::from(thousandths)
    }
}

/// A shape that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ImpairmentError {
    /// No such word.
    #[error(
        "'{0}': a network is described as latency=80ms,jitter=20ms,loss=1%,dup=0.5%,reorder=1%,rate=8000"
    )]
    Unknown(String),
    /// A value that is none, or out of range.
    #[error("{key}: '{value}' is no {wanted}")]
    Value {
        /// Which.
        key: &'static str,
        /// What was given.
        value: String,
        /// What it takes.
        wanted: &'static str,
    },
}

/// What a word of a description sets.
enum Parameter {
    Time(fn(&mut Impairment) -> &mut Millis),
    Share(fn(&mut Impairment) -> &mut u32),
    Rate,
}

/// The words of descriptions, as they are written.
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

    /// Reads a description such as `latency=80ms,jitter=20ms,loss=1%`.
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
                    *field(&mut impairment) = ms.ok_or_else(|| wrong("time of 0 to 10000 ms"))?;
                }
                Parameter::Share(field) => {
                    let percent: Option<f64> =
                        value.strip_suffix('%').unwrap_or(value).trim().parse().ok();
                    let percent = percent.filter(|share| (0.0..=100.0).contains(share));
                    let percent = percent.ok_or_else(|| wrong("share of 0 to 100 %"))?;
                    *field(&mut impairment) = (percent * 10.0).round() as u32;
                }
                Parameter::Rate => {
                    let rate = value.parse().ok();
                    impairment.rate_bytes_per_sec =
                        rate.ok_or_else(|| wrong("number of bytes a second"))?;
                }
            }
        }
        Ok(impairment)
    }
}

impl fmt::Display for Impairment {
    /// A description that reads back as this shape.
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
    fn descriptions_are_read_and_written() {
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
            ("latency", "described as"),
            ("speed=1", "'speed=1'"),
            ("loss=101%", "loss: '101%' is no share"),
            ("latency=-1ms", "0 to 10000"),
            ("jitter=99999999999999999999", "0 to 10000"),
            ("loss=nan", "0 to 100"),
            ("rate=-4", "bytes a second"),
        ] {
            let error = bad.parse::<Impairment>().unwrap_err().to_string();
            assert!(error.contains(because), "{bad}: {error}");
        }
    }

    #[test]
    fn chance_is_as_often_as_asked_and_the_same_again() {
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
