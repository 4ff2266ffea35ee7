//! Scrambling of whole datagrams, as protocols 43 and 45 have it.
//!
//! The first six bytes stay: sequence and qport, or sequence and the first two bytes of the message. The others are
//! XORed with a series of numbers and exchanged by it. The series starts from sequence, length and a constant, so it
//! hides nothing from a reader who knows it.
//!
//! Invariants: unscrambling reverses scrambling; no memory is allocated. Source: Quake III protocol 43, scrambling;
//! `tests/vectors/vectors_43_48.csv`.

use crate::wire::protocol::{Framing, Scrambling};

/// Bytes at the start of a datagram that are not scrambled.
const CLEAR_LEN: usize = 6;
/// Constant of the first number.
const KEY: u32 = 0x8724_3987;
/// Step of the series: the next number is this one multiplied, plus one.
const MULTIPLIER: u32 = 69_069;
/// Inverse of [`MULTIPLIER`] modulo 2³², which steps back.
const INVERSE: u32 = {
    let (mut inverse, mut round) = (1_u32, 0);
    while round < 5 {
        // Each round doubles the number of right bits, from three on.
        inverse = inverse.wrapping_mul(2_u32.wrapping_sub(MULTIPLIER.wrapping_mul(inverse)));
        round += 1;
    }
    assert!(MULTIPLIER.wrapping_mul(inverse) == 1);
    inverse
};

/// Series of numbers that scrambles a datagram: one for each of its bytes.
#[derive(Clone, Copy)]
struct Series(u32);

impl Series {
    /// Returns the series of a datagram, before its first number. `None` if nothing of it is scrambled.
    fn of(datagram: &[u8]) -> Option<Self> {
        if datagram.len() <= CLEAR_LEN {
            return None;
        }
        let sequence = u32::from_le_bytes(*datagram.first_chunk()?);
        let len = datagram.len() as u32;
        Some(Self(sequence.wrapping_mul(3) ^ len.wrapping_mul(123) ^ KEY))
    }

    /// Moves behind the numbers of `count` bytes.
    fn skip(&mut self, count: usize) {
        (0..count).for_each(|_| {
            self.next();
        });
    }

    fn next(&mut self) -> u32 {
        self.0 = self.0.wrapping_mul(MULTIPLIER).wrapping_add(1);
        self.0
    }

    /// Returns the last number and moves in front of it.
    fn previous(&mut self) -> u32 {
        let last = self.0;
        self.0 = last.wrapping_sub(1).wrapping_mul(INVERSE);
        last
    }
}

/// Returns the mask of a number that chooses the byte to exchange with: all ones, less than `bytes`.
fn exchange_mask(bytes: usize) -> usize {
    let mut mask = 1;
    while mask < bytes {
        mask = mask * 2 + 1;
    }
    mask >> 1
}

/// Returns a datagram with its header and payload readable. `unscrambled` is memory for one that is scrambled as a
/// whole.
pub fn opened<'a>(framing: Framing, datagram: &'a [u8], unscrambled: &'a mut Vec<u8>) -> &'a [u8] {
    if framing.scrambling != Scrambling::Datagram {
        return datagram;
    }
    unscrambled.clear();
    unscrambled.extend_from_slice(datagram);
    unscramble(unscrambled);
    unscrambled
}

/// Scrambles a complete datagram in place, where the framing does.
pub(super) fn close(framing: Framing, datagram: &mut [u8]) {
    if framing.scrambling == Scrambling::Datagram {
        scramble(datagram);
    }
}

/// Scrambles a datagram in place.
fn scramble(datagram: &mut [u8]) {
    let Some(series) = Series::of(datagram) else { return };
    let bytes = &mut datagram[CLEAR_LEN..];
    let mask = exchange_mask(bytes.len());
    apply_xor(series, bytes);
    let mut numbers = series;
    numbers.skip(CLEAR_LEN);
    for at in 0..bytes.len() {
        bytes.swap(at, numbers.next() as usize & mask);
    }
}

/// Reverses [`scramble`].
fn unscramble(datagram: &mut [u8]) {
    let Some(series) = Series::of(datagram) else { return };
    let bytes = &mut datagram[CLEAR_LEN..];
    let mask = exchange_mask(bytes.len());
    let mut numbers = series;
    numbers.skip(CLEAR_LEN + bytes.len());
    for at in (0..bytes.len()).rev() {
        bytes.swap(at, numbers.previous() as usize & mask);
    }
    apply_xor(series, bytes);
}

fn apply_xor(mut numbers: Series, bytes: &mut [u8]) {
    numbers.skip(CLEAR_LEN);
    bytes.iter_mut().for_each(|byte| *byte ^= numbers.next() as u8);
}

#[cfg(test)]
mod tests {
    use proptest::{collection::vec, prelude::*};

    use super::*;

    proptest! {
        #[test]
        fn unscrambling_reverses_scrambling(datagram in vec(any::<u8>(), 0..1500)) {
            let mut scrambled = datagram.clone();
            scramble(&mut scrambled);
            prop_assert_eq!(&scrambled[..datagram.len().min(6)], &datagram[..datagram.len().min(6)]);
            unscramble(&mut scrambled);
            prop_assert_eq!(scrambled, datagram);
        }
    }

    #[test]
    fn short_datagrams_are_unchanged() {
        let mut datagram = [1, 2, 3, 4, 5, 6];
        scramble(&mut datagram);
        assert_eq!(datagram, [1, 2, 3, 4, 5, 6]);
    }
}
