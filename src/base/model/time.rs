//! Clocks: monotonic process time, server time, calendar time.

use std::{
    fmt,
    ops::{Add, AddAssign, Sub},
};

/// Time of the process's monotonic clock or a duration, in ms. Never decreases.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Millis(pub u64);

impl Millis {
    /// A time that is never reached.
    pub const NEVER: Self = Self(u64::MAX);

    /// Creates a duration of whole seconds.
    #[must_use]
    pub const fn seconds(seconds: u64) -> Self {
        Self(seconds * 1000)
    }

    /// Returns the time since `earlier`; zero when that is in the future.
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

/// Calendar time in UTC: milliseconds since 1970-01-01, leap seconds not counted. Displayed as
/// `2026-01-31 23:59:59`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnixMillis(pub u64);

impl Add<Millis> for UnixMillis {
    type Output = Self;
    fn add(self, span: Millis) -> Self {
        Self(self.0.saturating_add(span.0))
    }
}

/// A day of the Gregorian calendar, in UTC.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CalendarDate {
    /// Year.
    pub year: u64,
    /// Month, 1 to 12.
    pub month: u64,
    /// Day of the month, 1 to 31.
    pub day: u64,
    /// Day of the week, 0 for Sunday.
    pub weekday: u64,
    /// Day of the year, 0 for the first.
    pub day_of_year: u64,
}

impl CalendarDate {
    /// Returns the day of a time in seconds since 1970.
    #[must_use]
    pub const fn of_seconds(seconds: u64) -> Self {
        let days = seconds / 86_400;
        // Years start in March here, so that the leap day is the last of its year. An era is the
        // 400 years after which the calendar repeats; there are 719,468 days between 0000-03-01 and
        // 1970-01-01.
        let (era, day) = ((days + 719_468) / 146_097, (days + 719_468) % 146_097);
        let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365;
        let since_march = day - (365 * year + year / 4 - year / 100);
        let month = (5 * since_march + 2) / 153;
        let day = since_march - (153 * month + 2) / 5 + 1;
        let is_next = month >= 10;
        let year = era * 400 + year + is_next as u64;
        let is_leap =
            year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
        // January and February have 59 days, 60 in a leap year.
        let day_of_year =
            if is_next { since_march - 306 } else { since_march + 59 + is_leap as u64 };
        let month = if is_next { month - 9 } else { month + 3 };
        // 1 January 1970 was a Thursday.
        Self { year, month, day, weekday: (days + 4) % 7, day_of_year }
    }
}

impl fmt::Display for UnixMillis {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let seconds = self.0 / 1000;
        let CalendarDate { year, month, day, .. } = CalendarDate::of_seconds(seconds);
        let (hour, minute, second) = (seconds / 3600 % 24, seconds / 60 % 60, seconds % 60);
        write!(f, "{year:04}-{month:02}-{day:02} {hour:02}:{minute:02}:{second:02}")
    }
}

/// Server time in ms, as in snapshots and usercmds: 32 bits, signed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LevelTime(pub i32);

impl LevelTime {
    /// Returns `self - other` in milliseconds, by signed difference.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calendar_time_handles_leap_years() {
        // Reference: `date -u --date=@SECONDS '+%F %T'`.
        for (seconds, text) in [
            (0, "1970-01-01 00:00:00"),
            (68_169_599, "1972-02-28 23:59:59"),
            (68_169_600, "1972-02-29 00:00:00"),
            (951_868_799, "2000-02-29 23:59:59"),
            (951_868_800, "2000-03-01 00:00:00"),
            (1_767_225_599, "2025-12-31 23:59:59"),
            (1_767_225_600, "2026-01-01 00:00:00"),
            (4_107_542_400, "2100-03-01 00:00:00"),
        ] {
            assert_eq!(UnixMillis(seconds * 1000 + 999).to_string(), text);
        }
        assert_eq!((UnixMillis(999) + Millis(1)).to_string(), "1970-01-01 00:00:01");
    }
}
