//! Seals: keyed hashes of the messages after the login.
//!
//! A relay asks for seals by the last byte of its name, which its proof covers. A publisher that knows seals answers with a
//! proof of its own label, which covers the delay, too. Neither can be removed on the way without the password. Each message
//! with content follows its seal:
//!
//! ```text
//! key    HMAC-SHA-256 of the password over label and both nonces
//! seal   first 16 bytes of HMAC-SHA-256 of the key over number, kind and content; numbers count from 0
//! ```
//!
//! Invariant: a message that was changed, inserted, repeated, moved or left out is an error at the next seal.

use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::Sha256;

use super::{Nonce, StreamSide, mac, message::MessageKind};

/// Last byte of the name of a relay that asks for seals. Publishers without seals do not show it.
pub(super) const SEALS_ASKED: u8 = 2;
/// Length of a seal, in bytes.
pub(super) const SEAL_LEN: usize = 16;

/// Key of one connection and the number of its next message.
#[derive(Clone)]
pub(super) struct Seals {
    keyed: Hmac<Sha256>,
    next: u64,
}

impl Seals {
    /// Derives the key of a connection.
    pub(super) fn new(password: &str, nonces: (&Nonce, &Nonce)) -> Self {
        let key = mac(password, StreamSide::Seals, nonces, &[]).finalize().into_bytes();
        let keyed = Hmac::<Sha256>::new_from_slice(&key).expect("keys of any length are valid");
        Self { keyed, next: 0 }
    }

    fn mac_of_next(&mut self, kind: MessageKind, content: &[u8]) -> Hmac<Sha256> {
        let mut mac = self.keyed.clone();
        mac.update(&self.next.to_le_bytes());
        mac.update(&[kind as u8]);
        mac.update(content);
        self.next += 1;
        mac
    }

    /// Returns the seal of the next message.
    pub(super) fn seal(&mut self, kind: MessageKind, content: &[u8]) -> [u8; SEAL_LEN] {
        let whole = self.mac_of_next(kind, content).finalize().into_bytes();
        *whole.first_chunk().expect("a hash is longer than a seal")
    }

    /// Whether a seal is that of the next message.
    pub(super) fn check(&mut self, kind: MessageKind, content: &[u8], seal: &[u8]) -> bool {
        let mac = self.mac_of_next(kind, content);
        seal.len() == SEAL_LEN && mac.verify_truncated_left(seal).is_ok()
    }
}
