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

/// Number of bytes at the start of a client message that are not scrambled.
pub(super) const CLIENT_CLEAR_LEN: usize = 12;

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
        Self {
            clear: CLIENT_CLEAR_LEN,
            key: challenge.0 as u8 ^ id.0 as u8 ^ message_acknowledge as u8,
        }
    }

    /// Scrambles or unscrambles a message in place. `text` is used up to [`MAX_STRING_LEN`] bytes.
    pub fn apply(self, text: &[u8], message: &mut [u8]) {
        let Some(message) = message.get_mut(self.clear..) else { return };
        let text = &text[..text.len().min(MAX_STRING_LEN).min(message.len())];
        if text.is_empty() {
            // The key does not change.
            message.iter_mut().for_each(|byte| *byte ^= self.key);
        } else if 2 * text.len() < SHORT_PERIOD {
            KeyStream::<SHORT_LEN>::new(text, message.len()).apply(self.key, message);
        } else {
            KeyStream::<LONG_LEN>::new(text, message.len()).apply(self.key, message);
        }
    }
}

/// Multiplier that copies a byte to eight bytes.
const EACH_BYTE: u64 = 0x0101_0101_0101_0101;
/// Mask of the second, fourth, sixth and eighth byte.
const ODD_BYTES: u64 = 0xff00_ff00_ff00_ff00;
/// Least period of a key stream that ends within a message. A shorter one is repeated, so that most words
/// are XORed in a plain loop.
const LEAST_PERIOD: usize = 64;
/// Periods below this fit the smaller memory, which takes less time to prepare.
const SHORT_PERIOD: usize = 240;
/// Memory of a stream with a period below [`SHORT_PERIOD`], rounded up to words and one word more.
const SHORT_LEN: usize = SHORT_PERIOD + 16;
/// The same for any text, of which an odd number of letters is taken twice.
const LONG_LEN: usize = 2 * MAX_STRING_LEN + 2 + 16;
const _: () = assert!(SHORT_LEN >= 2 * LEAST_PERIOD + 16);
const _: () = assert!(SHORT_LEN.is_multiple_of(8) && LONG_LEN.is_multiple_of(8));

/// Keys of a text, for a first key of 0.
///
/// Letter and shift repeat after every even number of letters that is whole texts. Each of these
/// periods changes the key as the first one does, so its keys are those of the first, XORed with one byte.
struct KeyStream<const LEN: usize> {
    /// Keys of the first period and of eight bytes behind it, or as many as the message needs.
    keys: [u8; LEN],
    period: usize,
}

impl<const LEN: usize> KeyStream<LEN> {
    /// Computes as many keys of `text`, which is not empty, as `wanted` bytes of a message need.
    fn new(text: &[u8], wanted: usize) -> Self {
        let even = if text.len().is_multiple_of(2) { text.len() } else { 2 * text.len() };
        let period = even * LEAST_PERIOD.div_ceil(even);
        let mut stream = Self { keys: [0; LEN], period };
        let needed = (period + 8).min(wanted).next_multiple_of(8);
        let letters = &mut stream.keys[..needed];
        for (letter, &byte) in letters.iter_mut().zip(text) {
            *letter = safe_byte(byte);
        }
        let mut have = text.len();
        while have < needed {
            // Twice as many whole texts each time.
            let more = have.min(needed - have);
            let (known, rest) = letters.split_at_mut(have);
            rest[..more].copy_from_slice(&known[..more]);
            have += more;
        }
        let mut key = 0;
        for word in letters.as_chunks_mut::<8>().0 {
            let letters = u64::from_le_bytes(*word);
            // Every second letter counts twice. Letters are below 128, so none overflows into the next byte.
            let terms = letters + (letters & ODD_BYTES);
            let terms = terms ^ terms << 8;
            let terms = terms ^ terms << 16;
            let keys = terms ^ terms << 32 ^ key;
            *word = keys.to_le_bytes();
            key = (keys >> 56) * EACH_BYTE;
        }
        stream
    }

    /// XORs a message with the keys that follow `first_key`.
    fn apply(&self, first_key: u8, message: &mut [u8]) {
        let mut key = u64::from(first_key) * EACH_BYTE;
        let step = u64::from(self.keys[self.period - 1]) * EACH_BYTE;
        let mut at = 0;
        let (words, rest) = message.as_chunks_mut::<8>();
        let mut words = words;
        while !words.is_empty() {
            let count = (self.period - at).div_ceil(8).min(words.len());
            let (now, later) = words.split_at_mut(count);
            for (word, keys) in now.iter_mut().zip(self.keys[at..].as_chunks::<8>().0) {
                *word = (u64::from_le_bytes(*word) ^ u64::from_le_bytes(*keys) ^ key).to_le_bytes();
            }
            words = later;
            at += 8 * count;
            if at >= self.period {
                at -= self.period;
                key ^= step;
            }
        }
        for (byte, keys) in rest.iter_mut().zip(&self.keys[at..]) {
            *byte ^= keys ^ key as u8;
        }
    }
}

/// Returns the usercmd key of a message. It depends on the message's own acknowledgements, the
/// level's checksum feed and the [`command_hash`] of the acknowledged server command.
#[must_use]
pub const fn usercmd_key(checksum_feed: i32, message_acknowledge: i32, command_hash: u32) -> u32 {
    checksum_feed as u32 ^ message_acknowledge as u32 ^ command_hash
}

/// Number of bytes of a command in its hash.
const HASHED_LEN: usize = 32;

/// Returns a hash of the first 32 bytes of a command.
#[must_use]
pub fn command_hash(text: &[u8]) -> u32 {
    // A text is copied in front of zeros, so that a fixed number of letters is added without a test.
    let mut letters = [0; HASHED_LEN];
    let len = text.len().min(HASHED_LEN);
    letters[..len].copy_from_slice(&text[..len]);
    if text[..len].contains(&0) {
        let end = text.iter().position(|&byte| byte == 0).unwrap_or(len);
        letters[end..].fill(0);
    }
    let weighted = (119_i16..)
        .zip(letters)
        .map(|(weight, byte)| i32::from(weight) * i32::from(i16::from(safe_byte(byte))));
    let sum = weighted.sum::<i32>() as u32;
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
        assert_eq!(usercmd_key(-1, 0x10, command_hash(b"")), 0xffff_ffef);
    }

    proptest! {
        #[test]
        fn command_hash_equals_its_definition(
            text in prop_oneof![
                proptest::collection::vec(any::<u8>(), 0..80),
                proptest::collection::vec(0..3_u8, 0..40),
            ],
        ) {
            let letters = text.iter().take(32).take_while(|&&byte| byte != 0);
            let weighted = (119..).zip(letters).map(|(weight, &byte)| weight * u32::from(safe_byte(byte)));
            let sum: u32 = weighted.sum();
            prop_assert_eq!(command_hash(&text), sum ^ sum >> 10 ^ sum >> 20);
        }

        #[test]
        fn scrambling_matches_definition_and_is_its_own_inverse(
            text in prop_oneof![
                proptest::collection::vec(any::<u8>(), 0..1100),
                proptest::collection::vec(any::<u8>(), 0..260),
            ],
            len in prop_oneof![0..40_usize, 0..300_usize, 0..3000_usize],
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
