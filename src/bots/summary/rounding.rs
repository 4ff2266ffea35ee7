//! Rounding and ratios for the summary; a ratio to 0 is 0.

/// Rounds to one decimal: measurements are not more precise.
pub(super) fn rounded(value: f64) -> f64 {
    (value * 10.0).round() / 10.0
}

pub(super) fn ratio(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { rounded(part as f64 / whole as f64) }
}

/// Returns a share between 0 and 1, to four decimals.
pub(super) fn share(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { (part as f64 / whole as f64 * 1e4).round() / 1e4 }
}

pub(super) fn per_second(count: u64, ms: u64) -> f64 {
    if ms == 0 { 0.0 } else { count as f64 * 1000.0 / ms as f64 }
}
