//! Build script: Huffman tables of the static message code, from its frequency table.
//!
//! Finished tables save the program from feeding a tree a million bytes at start.

use std::{env, fmt::Write as _, fs, path::Path};

#[allow(dead_code, unreachable_pub, reason = "the library uses the rest")]
#[path = "src/wire/huffman/tree.rs"]
mod tree;

#[allow(unreachable_pub, reason = "the library uses it too")]
#[path = "src/wire/huffman/frequencies.rs"]
mod frequencies;

fn main() {
    println!("cargo::rerun-if-changed=src/wire/huffman/tree.rs");
    println!("cargo::rerun-if-changed=src/wire/huffman/frequencies.rs");

    let mut tree = tree::Tree::new();
    for symbol in 0..=255u8 {
        for _ in 0..frequencies::FREQUENCIES[usize::from(symbol)] {
            tree.add(symbol);
        }
    }
    let mut codes = String::from("[");
    for symbol in 0..=255u8 {
        let code = tree.code(symbol).expect("every byte was fed to the tree");
        write!(codes, "Code {{ bits: {}, len: {} }},", code.bits, code.len)
            .expect("writing to a String");
    }
    codes.push(']');
    let out = env::var_os("OUT_DIR").expect("cargo names the output directory");
    fs::write(Path::new(&out).join("fixed_codes.rs"), codes).expect("the output directory is ours");
}
