//! Costliest `connect` packets to decode: most userinfo pairs, deepest Huffman stream.

use crate::wire::connect::{CONNECT_PREFIX, compress};

/// A `connect` of this text.
pub fn connect_of(text: &[u8]) -> Vec<u8> {
    let mut packet = CONNECT_PREFIX.to_vec();
    compress(text, &mut packet);
    packet
}

/// Short distinct pairs, `count` of them.
pub fn pairs(count: usize) -> String {
    let letters = b"abcdefghijklmnopqrstuvwxyz0123456789";
    let key = |n: usize| match n.checked_sub(letters.len()) {
        None => String::from(letters[n] as char),
        Some(n) => [n / 36, n % 36].map(|at| letters[at] as char).iter().collect(),
    };
    (0..count).map(|n| format!("\\{}\\a", key(n))).collect()
}

/// The longest userinfo of short pairs that a `connect` holds.
pub fn many_pairs() -> Vec<u8> {
    let packet = connect_of(format!("\"{}\"", pairs(209)).as_bytes());
    assert!((300..600).contains(&packet.len()), "{} bytes", packet.len());
    packet
}

/// Bytes in the order that makes the growing Huffman tree work the most.
pub fn deep_stream() -> Vec<u8> {
    let byte = |n: usize| if (n / 256).is_multiple_of(2) { n } else { 255 - n % 256 } as u8;
    connect_of(&(0..1024).map(byte).collect::<Vec<_>>())
}
