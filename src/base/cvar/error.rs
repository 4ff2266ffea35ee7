//! Errors of setting values, each with the accepted values.

use thiserror::Error;

use crate::model::text::{escaped, truncated};

/// Longest part of a rejected value that an error repeats, in bytes.
const SHOWN_LEN: usize = 64;

/// Reason for rejecting a value.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ValueError {
    /// A value that the row does not accept.
    #[error("{name}: invalid value {given} (expected {expected})")]
    Value {
        /// Name of the setting.
        name: String,
        /// The value, quoted and escaped.
        given: String,
        /// Accepted values.
        expected: String,
    },
    /// A forbidden character.
    #[error("{name}: invalid character {character} (expected printable ASCII without {forbidden})")]
    Character {
        /// Name of the setting.
        name: String,
        /// The character, escaped.
        character: String,
        /// Printable characters that are forbidden.
        forbidden: &'static str,
    },
    /// Text beyond the maximum length.
    #[error("{name} too long: {len} bytes (max {max})")]
    TooLong {
        /// Name of the setting.
        name: String,
        /// Length of the given text, in bytes.
        len: usize,
        /// Maximum length, in bytes.
        max: usize,
    },
}

/// Foreign text as errors show it: quoted, escaped, truncated.
pub(crate) fn quoted(given: &str) -> String {
    let short = truncated(given, SHOWN_LEN);
    let more = if short.len() < given.len() { "…" } else { "" };
    format!("\"{}{more}\"", escaped(short.as_bytes()))
}
