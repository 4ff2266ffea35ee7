//! Length of a ban or mute, such as `30m`.

use std::fmt;

const MINUTE: u64 = 60;
const HOUR: u64 = 60 * MINUTE;
const DAY: u64 = 24 * HOUR;
/// Units of a length, with their seconds.
const UNITS: [(char, u64); 5] = [('s', 1), ('m', MINUTE), ('h', HOUR), ('d', DAY), ('w', 7 * DAY)];
/// Largest number before a unit.
const MAX_NUMBER: u64 = 100_000;

/// Length of time in seconds. Displayed as `2 h 5 min`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Span(pub u64);

impl Span {
    /// Parses a number with a unit: `s`, `m` for minutes, `h`, `d` or `w`. `None` for other words.
    #[must_use]
    pub fn parse(word: &str) -> Option<Self> {
        let unit = word.chars().next_back()?;
        let (_, seconds) = UNITS.iter().find(|(known, _)| *known == unit.to_ascii_lowercase())?;
        let digits = &word[..word.len() - unit.len_utf8()];
        let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
        let number = digits.parse::<u64>().ok().filter(|&number| is_number && number > 0)?;
        Some(Self(number.min(MAX_NUMBER) * seconds))
    }
}

/// Whether a word that is not a [`Span`] was meant as one, such as `30`, `30min`, `-1h` or `1.5h`.
#[must_use]
pub fn is_time_like(word: &str) -> bool {
    word.trim_start_matches(['+', '-', '.']).starts_with(|first: char| first.is_ascii_digit())
        && Span::parse(word).is_none()
}

impl fmt::Display for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (large, small) = match self.0 {
            seconds if seconds >= DAY => ((seconds / DAY, "d"), (seconds % DAY / HOUR, "h")),
            seconds if seconds >= HOUR => ((seconds / HOUR, "h"), (seconds % HOUR / MINUTE, "min")),
            seconds if seconds >= MINUTE => ((seconds / MINUTE, "min"), (0, "")),
            seconds => ((seconds, "s"), (0, "")),
        };
        write!(f, "{} {}", large.0, large.1)?;
        if small.0 > 0 { write!(f, " {} {}", small.0, small.1) } else { Ok(()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mistyped_spans_are_recognized() {
        for word in ["30", "30min", "0h", "-1h", "1.5h", "1d12h", "+5m", "999999999999999999999d"] {
            assert!(is_time_like(word), "{word}");
        }
        for word in ["", "30m", "spam", "m30", "-", "..."] {
            assert!(!is_time_like(word), "{word}");
        }
    }

    #[test]
    fn spans_have_number_and_unit() {
        for (word, seconds) in
            [("30m", 1800), ("2h", 7200), ("7D", 604_800), ("1w", 604_800), ("90s", 90)]
        {
            assert_eq!(Span::parse(word), Some(Span(seconds)), "{word}");
        }
        assert_eq!(Span::parse("99999999999999999d"), Some(Span(MAX_NUMBER * DAY)));
        for word in [
            "",
            "m",
            "30",
            "0m",
            "-1m",
            "+1m",
            "1.5h",
            "30min",
            "ä",
            "3ä",
            "999999999999999999999d",
        ] {
            assert_eq!(Span::parse(word), None, "{word}");
        }
    }

    #[test]
    fn spans_show_two_units_at_most() {
        for (seconds, shown) in [
            (0, "0 s"),
            (59, "59 s"),
            (60, "1 min"),
            (3599, "59 min"),
            (7500, "2 h 5 min"),
            (7200, "2 h"),
            (90_000, "1 d 1 h"),
        ] {
            assert_eq!(Span(seconds).to_string(), shown);
        }
    }
}
