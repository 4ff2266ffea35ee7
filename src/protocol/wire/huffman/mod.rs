//! Huffman codes of the protocol: fixed for messages, adaptive for `connect`.
//!
//! The fixed code is computed at build time, by [`tree`] from [`frequencies`], and used through two
//! tables: [`CODES`] to write, [`DECODE`] to read a symbol in one step.
//! Invariant: no code is longer than [`MAX_CODE_LEN`] bits. Source: Quake III protocol 68.

pub mod frequencies;
pub mod tree;

pub use tree::Code;

/// Longest code of the fixed tree, in bits.
pub const MAX_CODE_LEN: u32 = 11;

/// Entries of the decoding table: one for each value of the next [`MAX_CODE_LEN`] bits.
const DECODE_LEN: usize = 1 << MAX_CODE_LEN;

/// Fixed code of each byte.
pub const CODES: [Code; 256] = include!(concat!(env!("OUT_DIR"), "/fixed_codes.rs"));

/// Symbol of the next bits of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Decoded {
    /// Byte.
    pub symbol: u8,
    /// Bits of its code; 0 marks the unassigned code.
    pub len: u8,
}

/// Decoding table, indexed by the next [`MAX_CODE_LEN`] bits with the first sent lowest.
pub static DECODE: [Decoded; DECODE_LEN] = decode_table();

const fn decode_table() -> [Decoded; DECODE_LEN] {
    let mut table = [Decoded { symbol: 0, len: 0 }; DECODE_LEN];
    let mut symbol = 0;
    while symbol < CODES.len() {
        let Code { bits, len } = CODES[symbol];
        assert!(len >= 1 && len as u32 <= MAX_CODE_LEN);
        let mut at = bits as usize;
        while at < DECODE_LEN {
            assert!(table[at].len == 0, "no code begins another");
            table[at] = Decoded { symbol: symbol as u8, len };
            at += 1 << len;
        }
        symbol += 1;
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exactly_one_code_is_unassigned() {
        let nothing: Vec<_> = (0..DECODE_LEN).filter(|&bits| DECODE[bits].len == 0).collect();
        // 00000000100 in wire order.
        assert_eq!(nothing, [1 << 8]);
    }

    #[test]
    fn adaptive_code_starts_with_bare_symbol() {
        let mut tree = tree::Tree::new();
        assert_eq!(tree.escape().len, 0);
        tree.add(b'a');
        assert_eq!(tree.code(b'a'), Some(Code { bits: 1, len: 1 }));
        assert_eq!(tree.escape(), Code { bits: 0, len: 1 });
    }
}
