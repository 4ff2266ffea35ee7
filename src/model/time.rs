//! Two clocks: the process's, which only grows, and the level's, which players see.

use std::{
    fmt,
    ops::{Add, AddAssign, Sub},
};

/// Milliseconds of the process's monotonic clock, or a span of them. Never goes back.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Millis(pub u64);

impl Millis {
    /// So far away that it never comes.
    pub const NEVER: Self = Self(u64::MAX);

    /// A span of whole seconds.
    #[must_use]
    pub const fn seconds(seconds: u64) -> Self {
        Self(seconds * 1000)
    }

    /// Time passed since `earlier`; zero when that lies ahead.
    #[must_use]
    pub const fn since(self, earlier: Self) -> Self {
        Self(self.0.saturating_sub(earlier.0))
    }
}

impl Add for Millis {
    type Output = Self;
    fn add(self, span: Self) -> Self {
        Self(self.0.saturating_add(span.0))
    }
}

impl AddAssign for Millis {
    fn add_assign(&mut self, span: Self) {
        *self = *self + span;
    }
}

impl fmt::Display for Millis {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ms", self.0)
    }
}

/// Milliseconds of the level clock, as snapshots and usercmds carry it: 32 bits, signed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LevelTime(pub i32);

impl LevelTime {
    /// `self - other` in milliseconds, by signed difference.
    #[must_use]
    pub const fn distance(self, other: Self) -> i32 {
        self.0.wrapping_sub(other.0)
    }
}

impl Add<i32> for LevelTime {
    type Output = Self;
    fn add(self, ms: i32) -> Self {
        Self(self.0.wrapping_add(ms))
    }
}

impl Sub<i32> for LevelTime {
    type Output = Self;
    fn sub(self, ms: i32) -> Self {
        Self(self.0.wrapping_sub(ms))
    }
}

impl fmt::Display for LevelTime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}
