//! Download blocks inside server messages.
//!
//! ```text
//! block short | size of the file long, with block 0 only | size short | bytes      size 0: the end
//! 0 short | -1 long | string                                                       refused
//! ```
//!
//! Block numbers are truncated to 16 bits on the wire; both sides count on. The file size is sent
//! with the very first block and not again after a wrap. Source: Quake III protocol 68, UDP
//! download.

use super::{
    Result, WireError,
    bits::{BitReader, BitWriter},
};

/// Largest block that current clients accept, in bytes.
pub const MAX_BLOCK_LEN: usize = 1024;
/// Largest block that any engine sends, in bytes.
const MAX_READ_LEN: i16 = 2048;

/// One download operation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Block {
    /// Refusal, with its reason as text.
    Refused(String),
    /// Part of the file.
    Data {
        /// Low 16 bits of the block number.
        number: u16,
        /// File size in bytes, with the first block.
        file_size: Option<u32>,
        /// Content; empty at the end of the file.
        bytes: Vec<u8>,
    },
}

/// Writes a block behind its operation byte. `file_size` counts for block 0 only.
pub fn write_block(writer: &mut BitWriter, number: u32, file_size: u32, bytes: &[u8]) {
    debug_assert!(bytes.len() <= MAX_READ_LEN as usize);
    writer.short(number as i16);
    if number == 0 {
        writer.long(file_size as i32);
    }
    writer.short(bytes.len() as i16);
    writer.data(bytes);
}

/// Writes a refusal behind the operation byte.
pub fn write_refusal(writer: &mut BitWriter, text: &[u8]) {
    writer.short(0);
    writer.long(-1);
    writer.string(text);
}

/// Reads a block behind its operation byte. `expected` is the full number of the expected block,
/// not truncated to 16 bits.
///
/// # Errors
/// As [`BitReader::bits`]; a size that no engine sends.
pub fn read(reader: &mut BitReader<'_>, expected: u32) -> Result<Block> {
    let number = reader.short()? as u16;
    let file_size = if number == 0 && expected == 0 {
        match reader.long()? {
            -1 => return Ok(Block::Refused(reader.string()?)),
            size => Some(u32::try_from(size).map_err(|_| WireError::OutOfRange {
                what: "download size",
                number: i64::from(size),
            })?),
        }
    } else {
        None
    };
    let len = reader.short()?;
    if !(0..=MAX_READ_LEN).contains(&len) {
        return Err(WireError::OutOfRange { what: "download block", number: i64::from(len) });
    }
    let mut bytes = vec![0; len as usize];
    reader.data(&mut bytes)?;
    Ok(Block::Data { number, file_size, bytes })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_back(expected: u32, write: impl FnOnce(&mut BitWriter)) -> Result<Block> {
        let mut writer = BitWriter::new();
        write(&mut writer);
        read(&mut BitReader::new(writer.message()), expected)
    }

    #[test]
    fn block_number_wrap_keeps_order() {
        for number in [0, 1, 32_768, 65_535, 65_536, 70_000] {
            let block = read_back(number, |w| write_block(w, number, 99, b"abc")).unwrap();
            let file_size = (number == 0).then_some(99);
            let expected = Block::Data { number: number as u16, file_size, bytes: b"abc".to_vec() };
            assert_eq!(block, expected);
        }
    }

    #[test]
    fn refusal_and_end_of_file_differ() {
        let refused = read_back(0, |w| write_refusal(w, b"no"));
        assert_eq!(refused, Ok(Block::Refused("no".into())));
        let end = read_back(4, |w| write_block(w, 4, 0, b""));
        assert_eq!(end, Ok(Block::Data { number: 4, file_size: None, bytes: Vec::new() }));
    }

    #[test]
    fn invalid_block_sizes_are_rejected() {
        for len in [-1, 2049, i16::MAX] {
            let result = read_back(5, |w| {
                w.short(5);
                w.short(len);
            });
            assert!(matches!(result, Err(WireError::OutOfRange { .. })), "{len}: {result:?}");
        }
    }
}
