//! Static Huffman code on one KiB of configstrings, commands and states.

use std::hint::black_box;

use fragd::wire::bits::{BitReader, BitWriter};

use super::{Operation, average, recorded::Recorded};

pub(crate) fn operations() -> Vec<Operation> {
    let inputs = blocks();
    let encoded: Vec<Vec<u8>> = inputs
        .iter()
        .map(|block| {
            let mut writer = BitWriter::new();
            writer.data(block);
            writer.message().to_vec()
        })
        .collect();
    let size = average(&encoded, "B coded", Vec::len);
    let mut writer = BitWriter::new();
    let mut block = [0; 1024];
    vec![
        Operation::over("fixed tree, encode 1 KiB", size.clone(), inputs, move |block| {
            writer.clear();
            writer.data(block);
            black_box(writer.message());
        }),
        Operation::over("fixed tree, decode 1 KiB", size, encoded, move |message| {
            let read = BitReader::new(message).data(&mut block);
            assert!(read.is_ok());
            black_box(&block);
        }),
    ]
}

/// Pieces of texts and of states, as many bytes of one as of the other.
fn blocks() -> Vec<[u8; 1024]> {
    let mut recorded = Recorded::read();
    let mut texts = Vec::new();
    for case in recorded.cases.iter().filter(|case| case["kind"] == "gamestate") {
        for string in case["configstrings"].as_array().expect("a list") {
            texts.extend(string["text"].as_str().expect("text").bytes());
        }
    }
    let states: Vec<u8> = recorded
        .shown
        .iter()
        .flat_map(|entity| entity.words().iter().filter(|word| **word != 0))
        .flat_map(|word| word.to_le_bytes())
        .collect();
    (0..256)
        .map(|_| {
            let mut block = [0; 1024];
            for (i, piece) in block.chunks_mut(64).enumerate() {
                let source = if i % 2 == 0 { &texts } else { &states };
                let at = recorded.below(source.len() - 64);
                piece.copy_from_slice(&source[at..at + 64]);
            }
            block
        })
        .collect()
}
