//! Remote console requests with a message authentication code, which carry no password.
//!
//! ```text
//! 255 255 255 255 "srcon HMAC-MD4 TIME "      MAC(16) " " time " " command
//! 255 255 255 255 "srcon HMAC-MD4 CHALLENGE " MAC(16) " " challenge " " command
//! ```
//!
//! The code is HMAC-MD4 with the password as its key, over everything behind it but the space. Its bytes have any value, so
//! that a request is cut by position.
//! Source: secure remote console of DarkPlaces; RFC 2104, RFC 1320.

use hmac::{Hmac, KeyInit as _, Mac as _};
use md4::Md4;
use subtle::ConstantTimeEq as _;
use thiserror::Error;

use super::connectionless::OUT_OF_BAND;

/// Length of a code, in bytes.
pub const MAC_LEN: usize = 16;
/// Longest request that is read, in bytes.
const MAX_REQUEST: usize = 1400;
/// Most digits of the seconds of a time.
const MAX_DIGITS: usize = 12;

/// Proof that a request is new.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SecureMode {
    /// Calendar time of the request.
    Time,
    /// Challenge of the receiver.
    Challenge,
}

impl SecureMode {
    const fn head(self) -> &'static [u8] {
        match self {
            Self::Time => b"srcon HMAC-MD4 TIME ",
            Self::Challenge => b"srcon HMAC-MD4 CHALLENGE ",
        }
    }
}

/// Request that was received.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SecureRcon<'a> {
    /// Kind of the proof.
    pub mode: SecureMode,
    /// Code, as a key of requests that were seen.
    pub mac: [u8; MAC_LEN],
    /// Time or challenge.
    pub proof: &'a [u8],
    /// Commands, separated by zero bytes.
    commands: &'a [u8],
    signed: &'a [u8],
}

impl<'a> SecureRcon<'a> {
    /// Parses a datagram. `None` for one of another form.
    #[must_use]
    pub fn parse(datagram: &'a [u8]) -> Option<Self> {
        if datagram.len() > MAX_REQUEST {
            return None;
        }
        let body = datagram.strip_prefix(OUT_OF_BAND)?;
        let modes = [SecureMode::Time, SecureMode::Challenge].into_iter();
        let (mode, rest) =
            modes.filter_map(|mode| Some((mode, body.strip_prefix(mode.head())?))).next()?;
        let (mac, rest) = rest.split_first_chunk::<MAC_LEN>()?;
        let signed = rest.strip_prefix(b" ")?;
        let end = signed.iter().position(|&byte| byte == b' ')?;
        let (proof, commands) = (&signed[..end], &signed[end + 1..]);
        Some(Self { mode, mac: *mac, proof, commands, signed })
    }

    /// Whether the key signed the request. The time that this takes tells nothing about the right code.
    #[must_use]
    pub fn is_signed_by(&self, key: &[u8]) -> bool {
        !key.is_empty() && bool::from(mac_of(key, self.signed).ct_eq(&self.mac))
    }

    /// Seconds since 1970, of a request with a time.
    #[must_use]
    pub fn seconds(&self) -> Option<u64> {
        let (whole, fraction) = match self.proof.iter().position(|&byte| byte == b'.') {
            Some(dot) => (&self.proof[..dot], &self.proof[dot + 1..]),
            None => (self.proof, &[][..]),
        };
        let is_number = |digits: &[u8]| digits.iter().all(u8::is_ascii_digit);
        let is_time = is_number(whole) && is_number(fraction) && whole.len() <= MAX_DIGITS;
        std::str::from_utf8(whole).ok().filter(|_| is_time)?.parse().ok()
    }

    /// Commands, without the ends of lines behind them.
    pub fn commands(&self) -> impl Iterator<Item = &'a [u8]> {
        let commands = self.commands.split(|&byte| byte == 0);
        let line = |command: &'a [u8]| {
            let end = command.iter().position(|byte| matches!(byte, b'\n' | b'\r'));
            command[..end.unwrap_or(command.len())].trim_ascii()
        };
        commands.map(line).filter(|command| !command.is_empty())
    }
}

/// Conditions under which a request runs.
#[derive(Clone, Copy, Debug)]
pub struct SecureConditions<'a> {
    /// Password; empty accepts nothing.
    pub key: &'a [u8],
    /// Calendar time of the receiver, in seconds since 1970.
    pub now_s: u64,
    /// Greatest difference of the time of a request, in seconds.
    pub max_difference_s: u64,
}

/// Reason to refuse a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum SecureFault {
    /// Signed with another password.
    #[error("wrong password")]
    Key,
    /// The time is not a number.
    #[error("invalid time")]
    Form,
    /// The calendars differ too much.
    #[error(
        "clock of the sender differs by {difference_s} s (max {max_s} s by rcon_secure_maxdiff): check both clocks"
    )]
    Time {
        /// Difference.
        difference_s: u64,
        /// Greatest difference.
        max_s: u64,
    },
    /// Challenge of another address, or an old one.
    #[error("invalid challenge")]
    Challenge,
    /// The same request came before.
    #[error("repeated request")]
    Repeated,
}

impl SecureRcon<'_> {
    /// Checks a request. `is_challenge` knows the challenges of the sender. `is_new` records the code.
    ///
    /// # Errors
    /// The first condition that does not hold. A sender without the password learns nothing else.
    pub fn check(
        &self,
        conditions: SecureConditions<'_>,
        is_challenge: impl FnOnce(&[u8]) -> bool,
        is_new: impl FnOnce([u8; MAC_LEN]) -> bool,
    ) -> Result<(), SecureFault> {
        let SecureConditions { key, now_s, max_difference_s: max_s } = conditions;
        if !self.is_signed_by(key) {
            return Err(SecureFault::Key);
        }
        match self.mode {
            SecureMode::Time => {
                let difference_s = self.seconds().ok_or(SecureFault::Form)?.abs_diff(now_s);
                if difference_s > max_s {
                    return Err(SecureFault::Time { difference_s, max_s });
                }
            }
            SecureMode::Challenge if !is_challenge(self.proof) => {
                return Err(SecureFault::Challenge);
            }
            SecureMode::Challenge => {}
        }
        if is_new(self.mac) { Ok(()) } else { Err(SecureFault::Repeated) }
    }
}

/// Appends a request to `out`.
pub fn write_secure_rcon(
    out: &mut Vec<u8>,
    mode: SecureMode,
    key: &[u8],
    proof: &[u8],
    command: &[u8],
) {
    let signed = [proof, b" ", command].concat();
    out.extend_from_slice(OUT_OF_BAND);
    out.extend_from_slice(mode.head());
    out.extend_from_slice(&mac_of(key, &signed));
    out.push(b' ');
    out.extend_from_slice(&signed);
}

fn mac_of(key: &[u8], message: &[u8]) -> [u8; MAC_LEN] {
    let mut mac = Hmac::<Md4>::new_from_slice(key).expect("a key of any length");
    mac.update(message);
    mac.finalize().into_bytes().into()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn hex(bytes: &[u8]) -> String {
        bytes.iter().map(|byte| format!("{byte:02x}")).collect()
    }

    /// MD4 of RFC 1320, as its reference code computes it.
    fn md4(message: &[u8]) -> [u8; 16] {
        let mut padded = message.to_vec();
        padded.push(0x80);
        while padded.len() % 64 != 56 {
            padded.push(0);
        }
        padded.extend_from_slice(&(message.len() as u64 * 8).to_le_bytes());
        let mut state = [0x6745_2301_u32, 0xefcd_ab89, 0x98ba_dcfe, 0x1032_5476];
        for block in padded.chunks(64) {
            let word =
                |at: usize| u32::from_le_bytes(block[4 * at..4 * at + 4].try_into().unwrap());
            let [mut a, mut b, mut c, mut d] = state;
            for step in 0..48 {
                let (at, turn, mixed) = match step {
                    0..16 => (step, [3, 7, 11, 19][step % 4], b & c | !b & d),
                    16..32 => {
                        let at = (step - 16) % 4 * 4 + (step - 16) / 4;
                        let mixed = (b & c | b & d | c & d).wrapping_add(0x5a82_7999);
                        (at, [3, 5, 9, 13][step % 4], mixed)
                    }
                    _ => {
                        let order = [0, 8, 4, 12, 2, 10, 6, 14, 1, 9, 5, 13, 3, 11, 7, 15];
                        let mixed = (b ^ c ^ d).wrapping_add(0x6ed9_eba1);
                        (order[step - 32], [3, 9, 11, 15][step % 4], mixed)
                    }
                };
                let sum = a.wrapping_add(mixed).wrapping_add(word(at)).rotate_left(turn);
                (a, d, c, b) = (d, c, b, sum);
            }
            for (value, added) in state.iter_mut().zip([a, b, c, d]) {
                *value = value.wrapping_add(added);
            }
        }
        let mut digest = [0; 16];
        for (bytes, value) in digest.chunks_mut(4).zip(state) {
            bytes.copy_from_slice(&value.to_le_bytes());
        }
        digest
    }

    /// HMAC of RFC 2104 with a key of at most one block.
    fn hmac_md4(key: &[u8], message: &[u8]) -> [u8; 16] {
        let pad = |with: u8| {
            let mut block = vec![with; 64];
            block.iter_mut().zip(key).for_each(|(byte, key)| *byte ^= key);
            block
        };
        let inner = md4(&[&pad(0x36)[..], message].concat());
        md4(&[&pad(0x5c)[..], &inner].concat())
    }

    #[test]
    fn reference_code_has_vectors_of_rfc_1320() {
        for (text, digest) in [
            ("", "31d6cfe0d16ae931b73c59d7e0c089c0"),
            ("abc", "a448017aaf21d8525fc10ae87aa6729d"),
            ("message digest", "d9130a8164549fe818874806e1c7014b"),
        ] {
            assert_eq!(hex(&md4(text.as_bytes())), digest, "{text}");
        }
    }

    #[test]
    fn request_has_fields_at_their_places() {
        let mut time = Vec::new();
        write_secure_rcon(&mut time, SecureMode::Time, b"sesame", b"1700000000.250000", b"status");
        assert_eq!(&time[..24], b"\xff\xff\xff\xffsrcon HMAC-MD4 TIME ");
        assert_eq!(&time[40..], b" 1700000000.250000 status");
        assert_eq!(time[24..40], hmac_md4(b"sesame", b"1700000000.250000 status"));
        let parsed = SecureRcon::parse(&time).unwrap();
        assert_eq!((parsed.mode, parsed.seconds()), (SecureMode::Time, Some(1_700_000_000)));
        assert!(parsed.is_signed_by(b"sesame") && !parsed.is_signed_by(b"sesam"));
        let mut challenge = Vec::new();
        let commands = b"say a b\n\0\0 status \0";
        write_secure_rcon(&mut challenge, SecureMode::Challenge, b"k", b"~a!", commands);
        assert_eq!(&challenge[..29], b"\xff\xff\xff\xffsrcon HMAC-MD4 CHALLENGE ");
        let parsed = SecureRcon::parse(&challenge).unwrap();
        assert_eq!(
            (parsed.mode, parsed.proof, parsed.seconds()),
            (SecureMode::Challenge, &b"~a!"[..], None)
        );
        assert_eq!(parsed.commands().collect::<Vec<_>>(), [&b"say a b"[..], b"status"]);
    }

    #[test]
    fn no_password_signs_nothing() {
        let mut request = Vec::new();
        write_secure_rcon(&mut request, SecureMode::Time, b"", b"1.0", b"quit");
        assert!(!SecureRcon::parse(&request).unwrap().is_signed_by(b""));
    }

    #[test]
    fn times_are_decimal_seconds() {
        for (proof, seconds) in [
            ("1700000000", Some(1_700_000_000)),
            ("1700000000.999999", Some(1_700_000_000)),
            ("-1.0", None),
            ("1e9", None),
            (".5", None),
            ("9999999999999", None),
            ("1.-5", None),
        ] {
            let mut request = Vec::new();
            write_secure_rcon(&mut request, SecureMode::Time, b"k", proof.as_bytes(), b"x");
            assert_eq!(SecureRcon::parse(&request).unwrap().seconds(), seconds, "{proof}");
        }
    }

    proptest! {
        #[test]
        fn changed_requests_are_not_signed(
            key in proptest::collection::vec(any::<u8>(), 1..64),
            command in proptest::collection::vec(any::<u8>(), 1..200),
            at in 0..1000_usize,
            bit in 0..8_u32,
        ) {
            let mut request = Vec::new();
            write_secure_rcon(&mut request, SecureMode::Time, &key, b"1700000000.000000", &command);
            let signed = [b"1700000000.000000 ", &command[..]].concat();
            prop_assert_eq!(request[24..40].to_vec(), hmac_md4(&key, &signed).to_vec());
            prop_assert!(SecureRcon::parse(&request).unwrap().is_signed_by(&key));
            let at = 24 + at % (request.len() - 24);
            request[at] ^= 1 << bit;
            let is_accepted = SecureRcon::parse(&request).is_some_and(|parsed| parsed.is_signed_by(&key));
            prop_assert!(!is_accepted);
        }

        #[test]
        fn any_datagram_is_read(bytes in proptest::collection::vec(any::<u8>(), 0..100)) {
            let all = [b"\xff\xff\xff\xffsrcon HMAC-MD4 TIME ", &bytes[..]].concat();
            for datagram in [&bytes, &all] {
                if let Some(parsed) = SecureRcon::parse(datagram) {
                    let _ = (parsed.seconds(), parsed.commands().count());
                }
            }
        }
    }
}
