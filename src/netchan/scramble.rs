//! Scrambling of messages, and the key of usercmds.
//!
//! The key is one byte that runs over the message and changes at every step by a letter of a
//! reliable command that both sides know.
//!
//! ```text
//! direction          clear bytes   first key byte                                 text
//! server to client   4             challenge ^ sequence                           client command
//! client to server   12            challenge ^ serverId ^ messageAcknowledge      server command
//! ```
//!
//! The text is the command that the message acknowledges. The clear bytes always contain the low
//! bytes of the numbers of the key. Invariant: scrambling twice changes nothing. Source: Quake III
//! protocol 68, scrambling and usercmd delta.

use crate::{
    model::{Challenge, Sequence, ServerId, limits::MAX_STRING_LEN},
    wire::bits::safe_byte,
};

/// Scrambling key without the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Scrambler {
    /// Number of bytes that are not scrambled.
    clear: usize,
    /// Key before its first step.
    key: u8,
}

impl Scrambler {
    /// Creates the key of a server message with this number.
    #[must_use]
    pub const fn server(challenge: Challenge, sequence: Sequence) -> Self {
        Self { clear: 4, key: challenge.0 as u8 ^ sequence.0 as u8 }
    }

    /// Creates the key of a client message with these header numbers.
    #[must_use]
    pub const fn client(challenge: Challenge, id: ServerId, message_acknowledge: i32) -> Self {
        Self { clear: 12, key: challenge.0 as u8 ^ id.0 as u8 ^ message_acknowledge as u8 }
    }

    /// Scrambles or unscrambles a message in place. `text` is used up to [`MAX_STRING_LEN`] bytes.
    pub fn apply(self, text: &[u8], message: &mut [u8]) {
        let Some(message) = message.get_mut(self.clear..) else { return };
        let mut letters = KeyStream::new(text, message.len());
        // The keys of eight bytes are the sum of their steps since the word began, XORed with the
        // key at its start in every byte. Only the latter depends on the word before.
        let mut key = u64::from(self.key) * EACH_BYTE;
        let (words, rest) = message.as_chunks_mut::<8>();
        for word in words {
            let steps = letters.next_steps();
            *word = (u64::from_le_bytes(*word) ^ steps ^ key).to_le_bytes();
            key ^= (steps >> 56) * EACH_BYTE;
        }
        let keys = letters.next_steps() ^ key;
        for (byte, key) in rest.iter_mut().zip(keys.to_le_bytes()) {
            *byte ^= key;
        }
    }
}

/// Multiplier that copies a byte to eight bytes.
const EACH_BYTE: u64 = 0x0101_0101_0101_0101;
/// Mask of the second, fourth, sixth and eighth byte.
const ODD_BYTES: u64 = 0xff00_ff00_ff00_ff00;

/// Letters of a text, repeated, eight at a time.
struct KeyStream {
    /// Text repeated to at least eight letters, then its start once more. Eight letters can
    /// therefore be read at any offset.
    text: [u8; MAX_STRING_LEN + 8],
    period: usize,
    at: usize,
}

impl KeyStream {
    /// Prepares as much of `text` as `wanted` steps need.
    fn new(text: &[u8], wanted: usize) -> Self {
        let text = &text[..text.len().min(MAX_STRING_LEN).min(wanted)];
        let mut letters = Self { text: [0; MAX_STRING_LEN + 8], period: 8, at: 0 };
        // Without a text the letters are 0, and the key does not change.
        if text.is_empty() {
            return letters;
        }
        for (letter, &byte) in letters.text.iter_mut().zip(text) {
            *letter = safe_byte(byte);
        }
        letters.period = text.len() * 8_usize.div_ceil(text.len());
        for at in text.len()..letters.period + 8 {
            letters.text[at] = letters.text[at - text.len()];
        }
        letters
    }

    /// Returns the key changes of the next eight steps, each including those before.
    #[inline]
    fn next_steps(&mut self) -> u64 {
        let mut word = [0; 8];
        word.copy_from_slice(&self.text[self.at..self.at + 8]);
        let word = u64::from_le_bytes(word);
        self.at += 8;
        if self.at >= self.period {
            self.at -= self.period;
        }
        // Every second letter counts twice. Letters are below 128, so none overflows into the next byte.
        let terms = word + (word & ODD_BYTES);
        let terms = terms ^ terms << 8;
        let terms = terms ^ terms << 16;
        terms ^ terms << 32
    }
}

/// Returns the usercmd key of a message. It depends on the message's own acknowledgements, the
/// level's checksum feed and the acknowledged server command.
#[must_use]
pub fn usercmd_key(checksum_feed: i32, message_acknowledge: i32, text: &[u8]) -> u32 {
    checksum_feed as u32 ^ message_acknowledge as u32 ^ command_hash(text)
}

/// Returns a hash of the first 32 bytes of a command.
#[must_use]
pub fn command_hash(text: &[u8]) -> u32 {
    let letters = text.iter().take(32).take_while(|&&byte| byte != 0);
    let sum: u32 =
        (119..).zip(letters).map(|(weight, &byte)| u32::from(safe_byte(byte)) * weight).sum();
    sum ^ sum >> 10 ^ sum >> 20
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Reference definition, byte by byte.
    fn step_by_step(scrambler: Scrambler, text: &[u8], message: &mut [u8]) {
        let mut key = scrambler.key;
        let mut letters = text.iter().cycle();
        for (step, byte) in message.iter_mut().skip(scrambler.clear).enumerate() {
            if let Some(&letter) = letters.next() {
                key ^= safe_byte(letter) << (step & 1);
            }
            *byte ^= key;
        }
    }

    #[test]
    fn scrambling_key_accumulates() {
        let scrambler = Scrambler::server(Challenge(0x1122_3344), Sequence(0x0500));
        let mut message = [0; 8];
        scrambler.apply(b"a%", &mut message);
        let first = 0x44 ^ b'a';
        let second = first ^ b'.' << 1;
        assert_eq!(message, [0, 0, 0, 0, first, second, second ^ b'a', second ^ b'a' ^ b'.' << 1]);
    }

    #[test]
    fn short_messages_are_not_scrambled() {
        let client = Scrambler::client(Challenge(1), ServerId(2), 4);
        let mut message = [9; 13];
        client.apply(b"x", &mut message[..12]);
        assert_eq!(message, [9; 13]);
        client.apply(b"", &mut message);
        assert_eq!(message[11..], [9, 9 ^ 7]);
        Scrambler::server(Challenge(1), Sequence(1)).apply(b"x", &mut []);
    }

    #[test]
    fn command_hash_matches_worked_example() {
        // c=99*119, s=115*120, space=32*121, 9=57*122, %->.=46*123: 42065; 42065>>10 is 41.
        assert_eq!(11_781 + 13_800 + 3_872 + 6_954 + 5_658, 42_065);
        assert_eq!(command_hash(b"cs 9%"), 42_065 ^ 41);
        assert_eq!(command_hash(b"cs 9\xe9"), command_hash(b"cs 9."));
        assert_eq!(command_hash(b""), 0);
        assert_eq!(command_hash(b"ab\0cd"), command_hash(b"ab"));
        assert_eq!(command_hash(&[b'a'; 33]), command_hash(&[b'a'; 32]));
        assert_ne!(command_hash(&[b'a'; 32]), command_hash(&[b'a'; 31]));
        assert_eq!(usercmd_key(-1, 0x10, b""), 0xffff_ffef);
    }

    proptest! {
        #[test]
        fn scrambling_matches_definition_and_is_its_own_inverse(
            text in proptest::collection::vec(any::<u8>(), 0..1100),
            len in prop_oneof![0..40_usize, 0..3000_usize],
            key: i32,
            to_server: bool,
        ) {
            let scrambler = if to_server {
                Scrambler::client(Challenge(key), ServerId(3), -7)
            } else {
                Scrambler::server(Challenge(key), Sequence(77))
            };
            let clear: Vec<u8> = (0..len).map(|at| (at * 7) as u8).collect();
            let mut message = clear.clone();
            scrambler.apply(&text, &mut message);
            let mut expected = clear.clone();
            step_by_step(scrambler, &text[..text.len().min(MAX_STRING_LEN)], &mut expected);
            prop_assert_eq!(&message, &expected);
            scrambler.apply(&text, &mut message);
            prop_assert_eq!(message, clear);
        }

        #[test]
        fn short_texts_repeat(text in "[a-z%]{1,20}", len in 0..200_usize) {
            let scrambler = Scrambler::server(Challenge(99), Sequence(1));
            let mut message = vec![0; len];
            let mut expected = message.clone();
            scrambler.apply(text.as_bytes(), &mut message);
            step_by_step(scrambler, text.as_bytes(), &mut expected);
            prop_assert_eq!(message, expected);
        }
    }
}
