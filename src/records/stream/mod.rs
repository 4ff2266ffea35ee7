//! Live stream: the multi-view recording of a running server, sent to relays over TCP.
//!
//! ```text
//! publisher -> hello     magic, version, nonce
//! relay     -> login     nonce, proof of the password, name
//! publisher -> welcome   proof of the password, delay     (or refused: reason)
//! publisher -> seal      keyed hash of the following pieces or end
//! publisher -> pieces    pieces of a multi-view file, one key frame first
//! both      -> alive     every 5 s
//! publisher -> end       reason
//! ```
//!
//! The password never crosses the line: both sides prove it by HMAC-SHA-256 over both nonces. The stream
//! itself is readable on the line, but not changeable. Seals are left out if one side is of a version before them.
//!
//! Invariants: no clock, no socket; memory is bounded for any input; a relay that reads too slowly is
//! disconnected and delays no other; pieces are encoded once for all relays. Source: this project's own format.

mod backlog;
mod message;
mod publisher;
mod seal;
mod subscriber;
#[cfg(test)]
mod tests;

use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::Sha256;
use thiserror::Error;

use crate::model::Millis;

pub use publisher::{ConnectionId, Publisher, PublisherOptions, Refusal};
pub use subscriber::{Subscriber, SubscriberEvent};

/// First bytes of a hello.
const MAGIC: [u8; 8] = *b"FRAGDLIV";
/// Version of the stream.
const VERSION: u16 = 1;
/// Longest name of a relay, in bytes.
const MAX_NAME: usize = 64;
/// Longest reason that is shown, in bytes.
const MAX_TEXT: usize = 256;
/// Time between two keep-alive messages.
const ALIVE_INTERVAL: Millis = Millis(5_000);
/// Silence after which the other side counts as gone.
const SILENCE: Millis = Millis(20_000);

/// Random number of one connection.
pub type Nonce = [u8; 16];
/// Proof of the password.
type Proof = [u8; 32];

/// Side that proves that it has the password.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum StreamSide {
    Publisher,
    Subscriber,
    /// Publisher that seals its messages.
    SealingPublisher,
    /// Neither: the key of the seals.
    Seals,
}

/// Violation of the stream's protocol by the other side.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum StreamError {
    /// The other side is not a stream.
    #[error("not a live stream of fragd")]
    Magic,
    /// The version is unknown.
    #[error("live stream version {0} (expected {VERSION})")]
    Version(u16),
    /// A kind of message that does not exist.
    #[error("byte {at}: unknown kind of message {kind}")]
    Kind {
        /// Position in the stream.
        at: u64,
        /// The kind.
        kind: u8,
    },
    /// A message that is too long.
    #[error("byte {at}: message of {len} bytes (at most {max} allowed)")]
    Length {
        /// Position in the stream.
        at: u64,
        /// Its length.
        len: u32,
        /// The limit.
        max: u32,
    },
    /// A message that is not allowed now, or with invalid content.
    #[error("byte {at}: {what}")]
    Message {
        /// Position in the stream.
        at: u64,
        /// The fault.
        what: &'static str,
    },
    /// The publisher does not have the password.
    #[error("wrong stream password")]
    Proof,
    /// A message is not what the publisher sent.
    #[error("byte {at}: seal of a message is wrong: the stream was changed on the way")]
    Seal {
        /// Position in the stream behind the message.
        at: u64,
    },
}

/// Returns the keyed hash of a connection's nonces and name.
fn mac(password: &str, side: StreamSide, nonces: (&Nonce, &Nonce), name: &[u8]) -> Hmac<Sha256> {
    let mut mac =
        Hmac::<Sha256>::new_from_slice(password.as_bytes()).expect("keys of any length are valid");
    mac.update(match side {
        StreamSide::Publisher => b"fragd publisher".as_slice(),
        StreamSide::Subscriber => b"fragd subscriber",
        StreamSide::SealingPublisher => b"fragd publisher with seals",
        StreamSide::Seals => b"fragd seals",
    });
    mac.update(nonces.0);
    mac.update(nonces.1);
    mac.update(name);
    mac
}

/// Returns a text of the other side for a log line: bounded, without control characters.
fn printable(text: &[u8]) -> String {
    let text = String::from_utf8_lossy(&text[..text.len().min(MAX_TEXT)]);
    text.chars().filter(|c| !c.is_control()).collect()
}
