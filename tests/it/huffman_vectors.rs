//! Static Huffman code against the list of all 256 codes and its own construction.

use fragd::wire::{
    bits::{BitReader, BitWriter},
    huffman::{CODES, Code, DECODE, MAX_CODE_LEN, frequencies::FREQUENCIES, tree::Tree},
};

use crate::vectors::{Row, table};

/// The symbol and code of a row, whose two ways of writing the code must agree.
fn code_of(row: &Row) -> (u8, Code) {
    let sent = row.text("code_sent_order");
    let bits = sent.chars().rev().fold(0, |bits, bit| bits << 1 | u32::from(bit == '1'));
    assert_eq!(bits, row.number::<u32>("code_as_int_lsb_first"), "{row:?}");
    assert_eq!(sent.len(), row.number::<usize>("bits"), "{row:?}");
    (row.number("symbol"), Code { bits, len: row.number("bits") })
}

fn codes() -> Vec<(u8, Code)> {
    let codes: Vec<_> = table("huffman_codes.csv").iter().map(code_of).collect();
    let symbols: Vec<_> = codes.iter().map(|(symbol, _)| *symbol).collect();
    assert_eq!(symbols, Vec::from_iter(0..=255_u8), "each symbol once");
    codes
}

#[test]
fn huffman_code_vectors_equal_the_table_and_the_construction() {
    let mut tree = Tree::new();
    for symbol in 0..=255 {
        for _ in 0..FREQUENCIES[usize::from(symbol)] {
            tree.add(symbol);
        }
    }
    for (symbol, code) in codes() {
        assert_eq!(CODES[usize::from(symbol)], code, "{symbol} in the table");
        assert_eq!(tree.code(symbol), Some(code), "{symbol} built");
    }
    // What is left over: 00000000100 in sending order, for a byte that was never seen.
    assert_eq!(tree.escape(), Code { bits: 1 << 8, len: 11 });
}

#[test]
fn huffman_code_vectors_are_free_of_prefixes() {
    let codes = codes();
    for (symbol, code) in &codes {
        let mask = (1 << code.len) - 1;
        for (other, longer) in codes.iter().filter(|(other, _)| other != symbol) {
            let begins = longer.len >= code.len && longer.bits & mask == code.bits;
            assert!(!begins, "{symbol} begins {other}");
        }
    }
}

#[test]
fn huffman_code_vectors_decode_before_any_bits() {
    for (symbol, code) in codes() {
        for rest in 0..1_usize << (MAX_CODE_LEN - u32::from(code.len)) {
            let decoded = DECODE[code.bits as usize | rest << code.len];
            assert_eq!((decoded.symbol, decoded.len), (symbol, code.len));
        }
        let mut writer = BitWriter::new();
        writer.byte(symbol);
        assert_eq!(writer.bit_len(), usize::from(code.len));
        let message = writer.message().to_vec();
        let word = u32::from(message[0]) | message.get(1).map_or(0, |&byte| u32::from(byte) << 8);
        assert_eq!(word, code.bits, "{symbol}");
        assert_eq!(BitReader::new(&message).byte(), Ok(symbol));
    }
}
