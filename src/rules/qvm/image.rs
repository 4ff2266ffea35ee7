//! QVM image files: header, code, data, literals, zero length, jump table.
//!
//! Invariants: every length and offset lies inside the file; code and data together are bounded by
//! [`MAX_FILE`], the memory block by [`MAX_BLOCK`]; parsing allocates no more than the file's length.
//! Source: Quake III QVM format.

use thiserror::Error;

use super::memory::STACK_SIZE;

/// Largest image file, in bytes.
pub const MAX_FILE: usize = 16 << 20;
/// Most instructions of an image. The largest known modules have 250,000.
pub const MAX_INSTRUCTIONS: u32 = 1 << 21;
/// Largest memory block of a module, in bytes.
pub const MAX_BLOCK: u32 = 64 << 20;

const MAGIC: u32 = 0x1272_1444;
const MAGIC_WITH_TABLE: u32 = 0x1272_1445;
/// Magic of stubs, which the name of their archive and checksums follow.
const STUB_MAGIC: &[u8] = b"NTVE";
/// Length from which no file is a stub: an archive name and 32 bytes.
const MAX_STUB: usize = 256;
const HEADER: usize = 32;
const HEADER_WITH_TABLE: usize = 36;

/// A QVM image: the content of a `.qvm` file, parsed but not verified.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Image {
    /// Number of instructions in the code segment.
    pub instruction_count: u32,
    /// Code segment.
    pub code: Vec<u8>,
    /// Offset of the code segment in the file, in bytes. [`Image::write`] ignores it.
    pub code_offset: u32,
    /// Initialized words, little-endian.
    pub data: Vec<u8>,
    /// Strings and other byte data.
    pub literals: Vec<u8>,
    /// Bytes that start as zero, with the program stack.
    pub zero_length: u32,
    /// Instruction numbers that computed jumps may reach; present in version 2 only.
    pub jump_table: Option<Vec<u32>>,
}

/// Reason to reject an image file.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ImageError {
    /// The file exceeds [`MAX_FILE`].
    #[error("image too long: {0} bytes (max {MAX_FILE})")]
    TooLong(usize),
    /// The file is a stub, by which some packages ask for a native library.
    #[error(
        "stub that asks for a native library: {0} bytes without code (expected bytecode; install a mod or package with a complete module)"
    )]
    Stub(usize),
    /// The file ends within the header.
    #[error("image truncated: {length} bytes (expected a header of {header})")]
    Header {
        /// Length of the file, in bytes.
        length: usize,
        /// Length of the header, in bytes.
        header: usize,
    },
    /// The first word is not a magic number of the format.
    #[error("invalid magic at offset 0: {0:#010x} (expected 0x12721444 or 0x12721445)")]
    Magic(u32),
    /// A header word is negative, or zero where a length is required.
    #[error("invalid {field} at offset {offset}: {value}")]
    Field {
        /// Name of the header word.
        field: &'static str,
        /// Offset of the header word, in bytes.
        offset: usize,
        /// Value of the header word.
        value: i32,
    },
    /// A segment does not lie inside the file.
    #[error("{segment} at offset {start}, {length} bytes, exceeds the file of {file} bytes")]
    Segment {
        /// Name of the segment.
        segment: &'static str,
        /// Offset of the segment, in bytes.
        start: u64,
        /// Length of the segment, in bytes.
        length: u64,
        /// Length of the file, in bytes.
        file: usize,
    },
    /// The memory lengths exceed [`MAX_BLOCK`].
    #[error("memory too large: {0} bytes (max {MAX_BLOCK})")]
    Block(u64),
    /// More instructions than bytes of code, or than [`MAX_INSTRUCTIONS`].
    #[error("invalid instruction count: {count} in {code} bytes of code (max {MAX_INSTRUCTIONS})")]
    Instructions {
        /// Instruction count of the header.
        count: u32,
        /// Length of the code segment, in bytes.
        code: usize,
    },
}

/// Returns the word at a byte offset. The caller has checked the length.
fn word(bytes: &[u8], offset: usize) -> i32 {
    bytes[offset..].first_chunk().map_or(0, |word| i32::from_le_bytes(*word))
}

impl Image {
    /// Parses an image file.
    pub fn parse(bytes: &[u8]) -> Result<Self, ImageError> {
        if bytes.len() > MAX_FILE {
            return Err(ImageError::TooLong(bytes.len()));
        }
        let length = bytes.len();
        if length < MAX_STUB && bytes.starts_with(STUB_MAGIC) {
            return Err(ImageError::Stub(length));
        }
        if length < HEADER {
            return Err(ImageError::Header { length, header: HEADER });
        }
        let with_table = match word(bytes, 0) as u32 {
            MAGIC => false,
            MAGIC_WITH_TABLE => true,
            other => return Err(ImageError::Magic(other)),
        };
        if with_table && length < HEADER_WITH_TABLE {
            return Err(ImageError::Header { length, header: HEADER_WITH_TABLE });
        }
        let field = |field, offset, least| match word(bytes, offset) {
            value if value < least => Err(ImageError::Field { field, offset, value }),
            value => Ok(value as u32),
        };
        let instruction_count = field("instruction count", 4, 1)?;
        let code_offset = field("code offset", 8, 0)?;
        let code_length = field("code length", 12, 1)?;
        let data_offset = u64::from(field("data offset", 16, 0)?);
        let data_length = u64::from(field("data length", 20, 0)?);
        let literal_length = u64::from(field("literal length", 24, 0)?);
        let zero_length = field("zero length", 28, 0)?;
        let table_length = if with_table { field("jump table length", 32, 0)? } else { 0 };

        let code = segment(bytes, "code", u64::from(code_offset), u64::from(code_length))?;
        let data = segment(bytes, "data", data_offset, data_length)?;
        let literal_offset = data_offset + data_length;
        let literals = segment(bytes, "literals", literal_offset, literal_length)?;
        let table_offset = literal_offset + literal_length;
        let table = segment(bytes, "jump table", table_offset, u64::from(table_length & !3))?;

        let memory = data_length + literal_length + u64::from(zero_length);
        if memory > u64::from(MAX_BLOCK) {
            return Err(ImageError::Block(memory));
        }
        if instruction_count > MAX_INSTRUCTIONS || instruction_count as usize > code.len() {
            return Err(ImageError::Instructions { count: instruction_count, code: code.len() });
        }
        let words = table.chunks_exact(4).map(|chunk| word(chunk, 0) as u32);
        Ok(Self {
            instruction_count,
            code: code.to_vec(),
            code_offset,
            data: data.to_vec(),
            literals: literals.to_vec(),
            zero_length,
            jump_table: with_table.then(|| words.collect()),
        })
    }

    /// Appends the image file to `out`. Segments follow the header without gaps.
    pub fn write(&self, out: &mut Vec<u8>) {
        let header = if self.jump_table.is_some() { HEADER_WITH_TABLE } else { HEADER };
        let magic = if self.jump_table.is_some() { MAGIC_WITH_TABLE } else { MAGIC };
        // Words of the data segment stay aligned in the file.
        let padding = self.code.len().next_multiple_of(4) - self.code.len();
        let mut put = |value: usize| out.extend_from_slice(&(value as u32).to_le_bytes());
        put(magic as usize);
        put(self.instruction_count as usize);
        put(header);
        put(self.code.len());
        put(header + self.code.len() + padding);
        put(self.data.len());
        put(self.literals.len());
        put(self.zero_length as usize);
        if let Some(table) = &self.jump_table {
            put(table.len() * 4);
        }
        out.extend_from_slice(&self.code);
        out.resize(out.len() + padding, 0);
        out.extend_from_slice(&self.data);
        out.extend_from_slice(&self.literals);
        for target in self.jump_table.iter().flatten() {
            out.extend_from_slice(&target.to_le_bytes());
        }
    }

    /// Returns the size of the memory block, a power of two, in bytes.
    pub fn block_size(&self) -> u32 {
        // An image that was not parsed may exceed the limit; its block then has the largest size.
        self.memory_length().clamp(1, u64::from(MAX_BLOCK)).next_power_of_two() as u32
    }

    /// Returns the end of the module's own data: of the zeroed space without the program stack at its end.
    /// A zeroed space smaller than the usual stack is all stack.
    pub fn data_end(&self) -> u32 {
        let stack = self.zero_length.min(STACK_SIZE);
        (self.memory_length() - u64::from(stack)).min(u64::from(MAX_BLOCK)) as u32
    }

    fn memory_length(&self) -> u64 {
        self.data.len() as u64 + self.literals.len() as u64 + u64::from(self.zero_length)
    }
}

fn segment<'a>(
    bytes: &'a [u8],
    segment: &'static str,
    start: u64,
    length: u64,
) -> Result<&'a [u8], ImageError> {
    let end = start + length;
    bytes.get(start as usize..end as usize).ok_or(ImageError::Segment {
        segment,
        start,
        length,
        file: bytes.len(),
    })
}
