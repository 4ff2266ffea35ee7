//! The block checksum: MD4 folded to 32 bits, by which maps and data files are known.
//!
//! Source: RFC 1320, and the engine's deviation from it: bytes of length 0 have their padding block
//! processed twice.

const BLOCK_LEN: usize = 64;

/// Block checksum of `bytes`, as the engine prints it: a signed number.
#[must_use]
pub fn block_checksum(bytes: &[u8]) -> i32 {
    let mut state = [0x6745_2301, 0xefcd_ab89, 0x98ba_dcfe, 0x1032_5476];
    let (blocks, rest) = bytes.as_chunks::<BLOCK_LEN>();
    for block in blocks {
        process(&mut state, block);
    }
    // The rest, one bit, zeros, and the length in bits. Its upper half stays zero in the engine.
    let mut tail = [0; 2 * BLOCK_LEN];
    tail[..rest.len()].copy_from_slice(rest);
    tail[rest.len()] = 0x80;
    let tail_len = if rest.len() < BLOCK_LEN - 8 { BLOCK_LEN } else { 2 * BLOCK_LEN };
    let bits = (bytes.len() as u32).wrapping_mul(8);
    tail[tail_len - 8..tail_len - 4].copy_from_slice(&bits.to_le_bytes());
    for block in tail[..tail_len].as_chunks().0 {
        process(&mut state, block);
        if bytes.is_empty() {
            process(&mut state, block);
        }
    }
    let [a, b, c, d] = state;
    (a ^ b ^ c ^ d).cast_signed()
}

/// Order of a block's words in each round.
const ORDERS: [[usize; 16]; 3] = [
    [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15],
    [0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15],
    [0, 8, 4, 12, 2, 10, 6, 14, 1, 9, 5, 13, 3, 11, 7, 15],
];

/// Runs one round: 16 steps that mix a word of the block into the state. Inlined, so that order and turns become
/// constants of each step; a level start checks megabytes.
#[inline(always)]
fn round(
    [mut a, mut b, mut c, mut d]: [u32; 4],
    words: [u32; 16],
    turns: [u32; 4],
    mix: impl Fn(u32, u32, u32) -> u32,
) -> [u32; 4] {
    for four in words.as_chunks::<4>().0 {
        a = a.wrapping_add(mix(b, c, d)).wrapping_add(four[0]).rotate_left(turns[0]);
        d = d.wrapping_add(mix(a, b, c)).wrapping_add(four[1]).rotate_left(turns[1]);
        c = c.wrapping_add(mix(d, a, b)).wrapping_add(four[2]).rotate_left(turns[2]);
        b = b.wrapping_add(mix(c, d, a)).wrapping_add(four[3]).rotate_left(turns[3]);
    }
    [a, b, c, d]
}

fn process(state: &mut [u32; 4], block: &[u8; BLOCK_LEN]) {
    let mut words = [0; 16];
    for (word, bytes) in words.iter_mut().zip(block.as_chunks().0) {
        *word = u32::from_le_bytes(*bytes);
    }
    let ordered = |number: usize, constant: u32| {
        ORDERS[number].map(|place| words[place].wrapping_add(constant))
    };
    let mixed = round(*state, ordered(0, 0), [3, 7, 11, 19], |x, y, z| (x & y) | (!x & z));
    let majority = |x, y, z| (x & y) | (x & z) | (y & z);
    let mixed = round(mixed, ordered(1, 0x5a82_7999), [3, 5, 9, 13], majority);
    let mixed = round(mixed, ordered(2, 0x6ed9_eba1), [3, 9, 11, 15], |x, y, z| x ^ y ^ z);
    for (word, mixed) in state.iter_mut().zip(mixed) {
        *word = word.wrapping_add(mixed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Digests of the RFC's own test suite, folded.
    #[test]
    fn folded_digests_of_the_rfc() {
        for (text, digest) in [
            ("a", "bde52cb31de33e46245e05fbdbd6fb24"),
            ("abc", "a448017aaf21d8525fc10ae87aa6729d"),
            ("message digest", "d9130a8164549fe818874806e1c7014b"),
            (
                "12345678901234567890123456789012345678901234567890123456789012345678901234567890",
                "e33b4ddc9c38f2199c3e7b164fcc0536",
            ),
        ] {
            let folded = (0..4).fold(0, |folded, word| {
                let word = &digest[word * 8..word * 8 + 8];
                folded ^ u32::from_str_radix(word, 16).unwrap().swap_bytes()
            });
            assert_eq!(block_checksum(text.as_bytes()), folded.cast_signed(), "{text}");
        }
    }
}
