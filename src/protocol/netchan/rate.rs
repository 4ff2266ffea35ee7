//! Transmission time of a datagram under a peer's rate.
//!
//! Source: ioquake3's byte accounting, which counts the headers of IP and UDP.

/// Length of IPv4 and UDP headers, in bytes.
const IPV4_OVERHEAD: u64 = 28;
/// Length of IPv6 and UDP headers, in bytes.
const IPV6_OVERHEAD: u64 = 48;

/// Returns the transmission time of a datagram in ms, rounded down. `datagram_len` includes the
/// netchan header; a rate of 0 counts as 1.
#[must_use]
pub fn transmission_ms(datagram_len: usize, is_ipv6: bool, rate_bytes_per_sec: u32) -> u64 {
    let overhead = if is_ipv6 { IPV6_OVERHEAD } else { IPV4_OVERHEAD };
    (datagram_len as u64 + overhead) * 1000 / u64::from(rate_bytes_per_sec.max(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn full_fragment_takes_measured_time() {
        for (rate, cost) in [(1000, 1336), (3000, 445), (25_000, 53)] {
            assert_eq!(transmission_ms(1308, false, rate), cost, "rate {rate}");
        }
        assert_eq!(transmission_ms(1308, true, 1000), 1356);
        assert_eq!(transmission_ms(72, false, 0), 100_000);
    }
}
