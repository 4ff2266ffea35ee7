//! Secrets of administrators: plain text, or a salted hash of it.
//!
//! Invariant: no error, log line or debug text shows a secret. Source: RFC 8018, PBKDF2 with HMAC-SHA-256.

use std::fmt::{self, Write as _};

use pbkdf2::pbkdf2_hmac_array;
use sha2::Sha256;
use subtle::{Choice, ConstantTimeEq as _};

/// Bounds of the length of a secret, in characters.
const MIN_LEN: usize = 8;
const MAX_LEN: usize = 63;
/// Begin of a hashed secret.
const HASHED: &str = "pbkdf2-sha256:";
/// Rounds of the hash. A try of a login costs less than a millisecond for each hash of the file, while the server waits.
const ROUNDS: u32 = 2000;
/// Characters that clients change, or that end a word of their console.
const UNSENDABLE: [char; 4] = ['"', ';', '%', '\\'];

/// Length of a salt in bytes.
pub const SALT_LEN: usize = 16;

type Hash = [u8; 32];

/// Secret of a login.
#[derive(Clone, PartialEq, Eq)]
pub(super) enum Secret {
    Plain(String),
    Hashed { salt: [u8; SALT_LEN], hash: Hash },
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret")
    }
}

impl Secret {
    /// Parses a secret of a file.
    ///
    /// # Errors
    /// What is expected.
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let Some(parts) = text.strip_prefix(HASHED) else {
            check(text)?;
            return Ok(Self::Plain(text.to_owned()));
        };
        let parsed = parts.split_once(':').and_then(|(salt, hash)| {
            Some(Self::Hashed { salt: bytes_of(salt)?, hash: bytes_of(hash)? })
        });
        parsed.ok_or_else(|| "damaged hash (expected a line that fragd secret printed)".to_owned())
    }

    /// Whether a text is the secret. The time does not tell how much of it is right.
    pub(super) fn is_right(&self, given: &str) -> Choice {
        match self {
            Self::Plain(secret) => secret.as_bytes().ct_eq(given.as_bytes()),
            Self::Hashed { salt, hash } => hash_of(given, salt).ct_eq(hash),
        }
    }
}

/// Returns the hash of a secret as a file of administrators holds it.
///
/// # Errors
/// What is expected of a secret.
pub fn hashed_secret(secret: &str, salt: [u8; SALT_LEN]) -> Result<String, String> {
    check(secret)?;
    Ok(format!("{HASHED}{}:{}", hex(&salt), hex(&hash_of(secret, &salt))))
}

/// Checks that a client can send a secret, and that it is not short.
fn check(secret: &str) -> Result<(), String> {
    let is_sendable = |c: char| c.is_ascii_graphic() && !UNSENDABLE.contains(&c);
    let is_comment = secret.contains("//") || secret.contains("/*");
    if !secret.chars().all(is_sendable) || is_comment {
        return Err(
            "secret with a character that clients cannot send (expected ASCII without spaces, \" ; % \\ and //)"
                .to_owned(),
        );
    }
    if !(MIN_LEN..=MAX_LEN).contains(&secret.len()) {
        let len = secret.len();
        return Err(format!(
            "secret of {len} characters (expected {MIN_LEN} to {MAX_LEN}, or a line of fragd secret)"
        ));
    }
    Ok(())
}

/// Returns the hash of a text.
fn hash_of(text: &str, salt: &[u8; SALT_LEN]) -> Hash {
    pbkdf2_hmac_array::<Sha256, 32>(text.as_bytes(), salt, ROUNDS)
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// Parses exactly `N` bytes in hexadecimal digits.
fn bytes_of<const N: usize>(text: &str) -> Option<[u8; N]> {
    let mut bytes = [0; N];
    if text.len() != 2 * N || !text.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return None;
    }
    for (byte, at) in bytes.iter_mut().zip((0..).step_by(2)) {
        *byte = u8::from_str_radix(text.get(at..at + 2)?, 16).ok()?;
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hash_equals_pbkdf2_of_other_programs() {
        // hashlib.pbkdf2_hmac("sha256", b"correct-horse", bytes(range(16)), 2000).hex()
        let salt = std::array::from_fn(|at| at as u8);
        let text = hashed_secret("correct-horse", salt).unwrap();
        assert_eq!(
            text,
            "pbkdf2-sha256:000102030405060708090a0b0c0d0e0f:\
             5fdc04e3499dfc6ab4f4b1f5d6ca78520baf775b97a2aacc6f165bb99c16001d"
        );
        let secret = Secret::parse(&text).unwrap();
        assert!(bool::from(secret.is_right("correct-horse")));
        assert!(!bool::from(secret.is_right("correct-horsf")));
        assert!(!bool::from(secret.is_right(&text)));
    }

    #[test]
    fn secrets_are_long_and_sendable() {
        for (text, expected) in [
            ("short", "secret of 5 characters (expected 8 to 63"),
            ("with space", "secret with a character"),
            ("semi;colon", "secret with a character"),
            ("http://host", "secret with a character"),
            ("pbkdf2-sha256:00:11", "damaged hash (expected"),
            ("pbkdf2-sha256:+0", "damaged hash (expected"),
        ] {
            let error = Secret::parse(text).unwrap_err();
            assert!(error.starts_with(expected), "{error}");
            assert!(!error.contains(text), "{error}");
        }
        let secret = Secret::parse("eight-ch").unwrap();
        assert!(bool::from(secret.is_right("eight-ch")) && !bool::from(secret.is_right("eight-c")));
        assert_eq!(format!("{secret:?}"), "Secret");
    }
}
