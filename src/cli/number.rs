//! Whole numbers of the command line, whose errors name the range.

use std::ops::RangeInclusive;

/// Every 64-bit number, e.g. a seed.
pub(super) const ANY_U64: RangeInclusive<i128> = 0..=u64::MAX as i128;
/// Every number of 32 bits.
pub(super) const ANY_U32: RangeInclusive<i128> = 0..=u32::MAX as i128;
/// Every number of 32 bits with a sign.
pub(super) const ANY_I32: RangeInclusive<i128> = i32::MIN as i128..=i32::MAX as i128;

/// Returns the parser of a number in `range`.
pub(super) fn number<T: TryFrom<i128>>(
    range: RangeInclusive<i128>,
) -> impl Fn(&str) -> Result<T, String> + Clone + Send + Sync + 'static {
    move |text| {
        let number = text.parse().ok().filter(|number| range.contains(number));
        number
            .and_then(|number| T::try_from(number).ok())
            .ok_or_else(|| format!("expected a whole number, {}..={}", range.start(), range.end()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn number_errors_name_the_range() {
        let port = number::<u16>(1..=65535);
        assert_eq!((port("1"), port("65535")), (Ok(1), Ok(65535)));
        for text in
            ["", "abc", "0", "-1", "65536", "1.5", "99999999999999999999999999999999999999999"]
        {
            let error = port(text).unwrap_err();
            assert_eq!(error, "expected a whole number, 1..=65535", "{text}");
        }
        assert_eq!(number::<u64>(ANY_U64)("18446744073709551615"), Ok(u64::MAX));
        assert_eq!(number::<i32>(ANY_I32)("-2147483648"), Ok(i32::MIN));
        assert!(number::<u8>(ANY_U32)("256").is_err(), "wider than the type");
    }
}
