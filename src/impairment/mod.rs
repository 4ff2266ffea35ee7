//! What a network does to datagrams on their way: time, chance and a narrow pipe.
//!
//! A [`Shape`] says it, a [`Link`] does it for one direction. The simulated network and the load test
//! use both, so a bot suffers from the same faults as a simulated player. Invariants: the same seed and
//! the same datagrams at the same times have the same fate; what waits in a link is bounded by its
//! [`MAX_WAITING`]; a [`Link`] keeps the order of datagrams unless its shape asks for reordering, as most
//! networks do, where jitter comes from queues. The simulated network draws each delay by itself, so that
//! jitter alone reorders. Source: the terms are those of network emulators; a reordered datagram skips the
//! delay.

mod link;

use std::{fmt, str::FromStr};

use rand_pcg::{Pcg32, rand_core::Rng as _};
use thiserror::Error;

use crate::model::Millis;

pub use link::{Link, MAX_WAITING};

/// Thousandths, in shares of datagrams.
pub const WHOLE: u32 = 1000;
/// Longest delay that can be asked for.
const MAX_DELAY: Millis = Millis::seconds(10);

/// What happens to datagrams on their way. Shares are in thousandths.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Shape {
    /// Least time on the way.
    pub latency: Millis,
    /// Up to this much is added, each time anew. A [`Link`] holds back what would overtake, unless
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
pub struct Fate {
    /// Time on the way of each copy, behind the pipe.
    pub delays: [Option<Millis>; 2],
}

/// What was done to a datagram's bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Damage {
    /// A bit is another.
    pub is_flipped: bool,
    /// Bytes at its end are missing.
    pub is_cut: bool,
}

impl Shape {
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
    pub fn decide(&self, dice: &mut Dice) -> Fate {
        let mut fate = Fate::default();
        if dice.chance(self.loss) {
            return fate;
        }
        let copies = if dice.chance(self.duplication) { 2 } else { 1 };
        for delay in fate.delays.iter_mut().take(copies) {
            let skips = dice.chance(self.reordering);
            let jitter = Millis(dice.below(self.jitter.0 + 1));
            *delay = Some(if skips { Millis(0) } else { self.latency + jitter });
        }
        fate
    }

    /// Damages a datagram, or leaves it as it is, and says which.
    pub fn damage(&self, dice: &mut Dice, bytes: &mut Vec<u8>) -> Damage {
        let mut damage = Damage::default();
        if dice.chance(self.corruption) && !bytes.is_empty() {
            let at = dice.below(bytes.len() as u64) as usize;
            bytes[at] ^= 1 << dice.below(8);
            damage.is_flipped = true;
        }
        if dice.chance(self.truncation) {
            let len = dice.below(bytes.len() as u64 + 1) as usize;
            damage.is_cut = len < bytes.len();
            bytes.truncate(len);
        }
        damage
    }
}

/// Chance that can be drawn again.
#[derive(Clone, Debug)]
pub struct Dice(Pcg32);

impl Dice {
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
        thousandths > 0 && self.below(u64::from(WHOLE)) < u64::from(thousandths)
    }
}

/// A shape that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ShapeError {
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
enum Word {
    Time(fn(&mut Shape) -> &mut Millis),
    Share(fn(&mut Shape) -> &mut u32),
    Rate,
}

/// The words of descriptions, as they are written.
const WORDS: [(&str, Word); 8] = [
    ("latency", Word::Time(|shape| &mut shape.latency)),
    ("jitter", Word::Time(|shape| &mut shape.jitter)),
    ("loss", Word::Share(|shape| &mut shape.loss)),
    ("dup", Word::Share(|shape| &mut shape.duplication)),
    ("reorder", Word::Share(|shape| &mut shape.reordering)),
    ("corrupt", Word::Share(|shape| &mut shape.corruption)),
    ("cut", Word::Share(|shape| &mut shape.truncation)),
    ("rate", Word::Rate),
];

impl FromStr for Shape {
    type Err = ShapeError;

    /// Reads a description such as `latency=80ms,jitter=20ms,loss=1%`.
    fn from_str(text: &str) -> Result<Self, ShapeError> {
        let mut shape = Self::default();
        for part in text.split(',').map(str::trim).filter(|part| !part.is_empty()) {
            let unknown = || ShapeError::Unknown(part.to_owned());
            let (key, value) = part.split_once('=').ok_or_else(unknown)?;
            let (key, value) = (key.trim(), value.trim());
            let (name, word) = WORDS.iter().find(|(name, _)| *name == key).ok_or_else(unknown)?;
            let wrong = |wanted| ShapeError::Value { key: name, value: value.to_owned(), wanted };
            match word {
                Word::Time(field) => {
                    let ms = value.strip_suffix("ms").unwrap_or(value).trim().parse().ok();
                    let ms = ms.map(Millis).filter(|&time| time <= MAX_DELAY);
                    *field(&mut shape) = ms.ok_or_else(|| wrong("time of 0 to 10000 ms"))?;
                }
                Word::Share(field) => {
                    let percent: Option<f64> =
                        value.strip_suffix('%').unwrap_or(value).trim().parse().ok();
                    let percent = percent.filter(|share| (0.0..=100.0).contains(share));
                    let percent = percent.ok_or_else(|| wrong("share of 0 to 100 %"))?;
                    *field(&mut shape) = (percent * 10.0).round() as u32;
                }
                Word::Rate => {
                    let rate = value.parse().ok();
                    shape.rate_bytes_per_sec =
                        rate.ok_or_else(|| wrong("number of bytes a second"))?;
                }
            }
        }
        Ok(shape)
    }
}

impl fmt::Display for Shape {
    /// A description that reads back as this shape.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shape = *self;
        let mut separator = "";
        for (name, word) in WORDS {
            let text = match word {
                Word::Time(field) => Some(*field(&mut shape))
                    .filter(|time| time.0 > 0)
                    .map(|time| format!("{}ms", time.0)),
                Word::Share(field) => Some(*field(&mut shape))
                    .filter(|&share| share > 0)
                    .map(|share| format!("{}%", f64::from(share) / 10.0)),
                Word::Rate => Some(shape.rate_bytes_per_sec)
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
        let shape: Shape = text.parse().unwrap();
        assert_eq!((shape.latency, shape.loss, shape.reordering), (Millis(80), 15, 20));
        assert_eq!(shape.to_string(), text);
        assert_eq!(
            " latency=5 , loss=1 ".parse::<Shape>().unwrap().to_string(),
            "latency=5ms,loss=1%"
        );
        assert!("".parse::<Shape>().unwrap().is_clear());
        for (bad, because) in [
            ("latency", "described as"),
            ("speed=1", "'speed=1'"),
            ("loss=101%", "loss: '101%' is no share"),
            ("latency=-1ms", "0 to 10000"),
            ("jitter=99999999999999999999", "0 to 10000"),
            ("loss=nan", "0 to 100"),
            ("rate=-4", "bytes a second"),
        ] {
            let error = bad.parse::<Shape>().unwrap_err().to_string();
            assert!(error.contains(because), "{bad}: {error}");
        }
    }

    #[test]
    fn chance_is_as_often_as_asked_and_the_same_again() {
        let shape =
            Shape { loss: 100, duplication: 50, jitter: Millis(9), ..Shape::latency(Millis(20)) };
        let fates = |seed| {
            let mut dice = Dice::new(seed);
            (0..10_000).map(|_| shape.decide(&mut dice)).collect::<Vec<_>>()
        };
        let decided = fates(5);
        assert_eq!(decided, fates(5));
        assert_ne!(decided, fates(6));
        let lost = decided.iter().filter(|fate| fate.delays == [None; 2]).count();
        let twice = decided.iter().filter(|fate| fate.delays[1].is_some()).count();
        assert!((900..1100).contains(&lost) && (400..500).contains(&twice), "{lost} {twice}");
        let delays = decided.iter().flat_map(|fate| fate.delays).flatten();
        assert!(delays.clone().all(|delay| (20..=29).contains(&delay.0)));
        assert_eq!(delays.map(|delay| delay.0).max(), Some(29));
    }
}
