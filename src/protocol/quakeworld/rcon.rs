//! Remote console: hashed password with the time of the request.
//!
//! The word in place of the password is a SHA-1 over password, time and command. A receiver accepts it for a limited
//! time. Source: QuakeWorld protocol 28, ezQuake's and MVDSV's encrypted form.

use sha1::{Digest as _, Sha1};

use super::bytes::Text;
use crate::model::UnixMillis;

/// Seconds for which MVDSV accepts a hash by default.
pub const DEFAULT_WINDOW_SECONDS: u64 = 60;

const HASH_LEN: usize = 40;
const TIME_LEN: usize = 16;

/// Returns the word that an encrypted request carries in place of the password.
#[must_use]
pub fn hashed_password(password: &[u8], command: Text<'_>, now: UnixMillis) -> String {
    let time = hex(&(now.0 / 1000).to_le_bytes());
    hash(password, &time, command) + &time
}

/// Whether `word` proves the password, for this command and at this time.
#[must_use]
pub fn is_hashed_password(
    word: Text<'_>,
    password: &[u8],
    command: Text<'_>,
    now: UnixMillis,
    window_seconds: u64,
) -> bool {
    let word = word.bytes();
    if word.len() != HASH_LEN + TIME_LEN || password.is_empty() {
        return false;
    }
    let (given, time) = word.split_at(HASH_LEN);
    let Some((time, seconds)) = std::str::from_utf8(time).ok().and_then(|text| {
        let number = u64::from_str_radix(text, 16).ok()?;
        Some((text, number.swap_bytes()))
    }) else {
        return false;
    };
    let is_fresh = seconds.abs_diff(now.0 / 1000) <= window_seconds;
    is_fresh && is_equal(given, hash(password, time, command).as_bytes())
}

/// Whether `word` is the plain password.
#[must_use]
pub fn is_plain_password(word: Text<'_>, password: &[u8]) -> bool {
    !password.is_empty() && is_equal(word.bytes(), password)
}

fn hash(password: &[u8], time: &str, command: Text<'_>) -> String {
    let mut sha = Sha1::new();
    sha.update(b"rcon ");
    sha.update(password);
    sha.update(time.as_bytes());
    sha.update(b" ");
    for word in command.words() {
        sha.update(word.bytes());
        sha.update(b" ");
    }
    hex(&sha.finalize())
}

fn hex(bytes: &[u8]) -> String {
    let digit = |value: u8| char::from(b"0123456789ABCDEF"[usize::from(value)]);
    bytes.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]).collect()
}

/// Compares without a hint by time at the first difference.
fn is_equal(a: &[u8], b: &[u8]) -> bool {
    let difference = a.iter().zip(b).fold(0, |bits, (a, b)| bits | (a ^ b));
    a.len() == b.len() && std::hint::black_box(difference) == 0
}
