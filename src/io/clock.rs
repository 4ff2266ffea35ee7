//! Process clock and random source.
//!
//! [`Clock`] is monotonic and independent of the time of day. It starts at zero with the process, so an
//! instant is not a date. Dates come from [`unix_millis`] and appear in files only.

use std::{
    io,
    time::{Duration, Instant, SystemTime, UNIX_EPOCH},
};

use crate::model::Millis;

/// Monotonic clock in whole milliseconds, zero at its creation.
#[derive(Clone, Copy, Debug)]
pub struct Clock {
    start: Instant,
}

impl Clock {
    /// Creates a clock that starts now.
    #[must_use]
    pub fn start() -> Self {
        Self { start: Instant::now() }
    }

    /// Returns the milliseconds since the start, rounded down, so that no instant is reported early.
    #[must_use]
    pub fn now(&self) -> Millis {
        Millis(u64::try_from(self.start.elapsed().as_millis()).unwrap_or(u64::MAX))
    }

    /// Starts the conversion of arrival times.
    pub(super) fn arrivals(&self) -> Arrivals {
        let unix = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Arrivals { now: self.start.elapsed(), unix }
    }

    /// Returns the time until `instant`: zero if it has passed, `None` for never.
    ///
    /// Exact below the millisecond, so that a sleep of this length ends neither early nor a whole
    /// millisecond late.
    #[must_use]
    pub fn until(&self, instant: Millis) -> Option<Duration> {
        if instant == Millis::NEVER {
            return None;
        }
        Some(Duration::from_millis(instant.0).saturating_sub(self.start.elapsed()))
    }
}

/// Converter of calendar times of the recent past to the time of a [`Clock`].
#[derive(Clone, Copy, Debug)]
pub(super) struct Arrivals {
    now: Duration,
    unix: Duration,
}

impl Arrivals {
    /// Returns when a datagram arrived; without a time, or with one in the future, now.
    ///
    /// After a step of the calendar, one answer is too early. The caller knows when it last looked.
    pub(super) fn at(&self, stamp: Option<Duration>) -> Millis {
        let age = stamp.map_or(Duration::ZERO, |stamp| self.unix.saturating_sub(stamp));
        Millis(u64::try_from(self.now.saturating_sub(age).as_millis()).unwrap_or(u64::MAX))
    }
}

/// Returns the milliseconds since 1970-01-01 UTC by the system clock, which may jump; 0 before that date.
#[must_use]
pub fn unix_millis() -> u64 {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0, |since| u64::try_from(since.as_millis()).unwrap_or(u64::MAX))
}

/// Returns `N` random bytes from the operating system, for keys and seeds.
pub fn random_bytes<const N: usize>() -> io::Result<[u8; N]> {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes)
        .map_err(|error| io::Error::other(format!("random bytes not available: {error}")))?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sleep_until_an_instant_is_exact() {
        let clock = Clock::start();
        let target = clock.now() + Millis(5);
        std::thread::sleep(clock.until(target).unwrap());
        assert!(clock.now() >= target);
        assert_eq!(clock.until(target), Some(Duration::ZERO));
        assert_eq!(clock.until(Millis(0)), Some(Duration::ZERO));
        assert_eq!(clock.until(Millis::NEVER), None);
    }

    #[test]
    fn arrivals_are_converted() {
        let arrivals =
            Arrivals { now: Duration::from_millis(5000), unix: Duration::from_secs(1_700_000_000) };
        let ago = |ms| Some(arrivals.unix - Duration::from_millis(ms));
        assert_eq!(arrivals.at(ago(0)), Millis(5000));
        assert_eq!(arrivals.at(ago(49)), Millis(4951));
        assert_eq!(arrivals.at(None), Millis(5000));
        // The calendar was set back, or forward.
        assert_eq!(arrivals.at(Some(arrivals.unix + Duration::from_secs(9))), Millis(5000));
        assert_eq!(arrivals.at(ago(3_600_000)), Millis(0));
    }

    #[test]
    fn random_bytes_differ() {
        assert_ne!(random_bytes::<16>().unwrap(), random_bytes::<16>().unwrap());
    }

    #[test]
    fn unix_time_is_of_this_century() {
        assert!(unix_millis() > 1_600_000_000_000);
    }
}
