//! Memory of a module: one block of a power of two, and bounded windows for services.
//!
//! Loads, stores and argument stores combine each address with the mask, so a wild address wraps. Accesses
//! of 2 or 4 bytes at the top of the block reach into a slack behind it. Windows of services do not wrap:
//! their first address is masked, and a window that passes the end of the block is a fault.
//!
//! The program stack grows down from the end of the block to the end of the module's own data. It has at least
//! the bytes that the image reserves for it, and those by which the block exceeds the image.
//!
//! Invariants: nothing panics on any address; the block never moves while a machine lives.
//! Source: Quake III QVM format.

use super::{fault::FaultKind, image::Image};

/// Bytes behind the block, for accesses that pass its end by up to 3 bytes.
pub const SLACK: usize = 8;
/// Bytes of program stack that the usual tools reserve at the end of the zeroed space.
pub const STACK_SIZE: u32 = 65_536;

/// Reads bytes of a block with slack. The address is masked, so it always lies inside.
pub(super) fn load<const N: usize>(block: &[u8], address: u32) -> [u8; N] {
    let start = address as usize;
    let bytes = block.get(start..start + N).and_then(|bytes| bytes.first_chunk());
    bytes.copied().unwrap_or([0; N])
}

/// Stores bytes of a block with slack, at a masked address.
pub(super) fn store<const N: usize>(block: &mut [u8], address: u32, value: [u8; N]) {
    let start = address as usize;
    if let Some(bytes) = block.get_mut(start..start + N) {
        bytes.copy_from_slice(&value);
    }
}

/// Copies bytes inside a block. Ranges may overlap; neither end may be changed by the mask.
pub(super) fn block_copy(
    block: &mut [u8],
    mask: u32,
    target: u32,
    source: u32,
    length: u32,
) -> Result<(), FaultKind> {
    let fits = |start: u32| start.checked_add(length).is_some_and(|end| end <= mask);
    if !fits(source) || !fits(target) {
        return Err(FaultKind::BlockCopy { source_address: source, target, length });
    }
    let source = source as usize;
    block.copy_within(source..source + length as usize, target as usize);
    Ok(())
}

/// Memory block of a module.
#[derive(Clone, Debug)]
pub struct Memory {
    /// The block and its slack, aligned so that the host can view records in place.
    words: Box<[u64]>,
    /// Size of the block minus 1.
    mask: u32,
    /// Lowest address of the program stack: the end of the module's own data.
    stack_limit: u32,
}

impl Memory {
    /// Allocates the block of an image and copies data and literals into it.
    pub fn new(image: &Image) -> Self {
        let size = image.block_size();
        let stack_limit = image.data_end().next_multiple_of(4).min(size);
        let words = vec![0; (size as usize + SLACK).div_ceil(8)].into_boxed_slice();
        let mut memory = Self { words, mask: size - 1, stack_limit };
        memory.copy_data(image);
        memory
    }

    /// Zeroes the block, then copies data and literals again.
    pub fn reset(&mut self, image: &Image) {
        self.words.fill(0);
        self.copy_data(image);
    }

    fn copy_data(&mut self, image: &Image) {
        let source = image.data.iter().chain(&image.literals);
        self.block_mut().iter_mut().zip(source).for_each(|(target, byte)| *target = *byte);
    }

    /// Size of the block, in bytes.
    pub const fn size(&self) -> u32 {
        self.mask + 1
    }

    /// Mask of addresses: the size minus 1.
    pub const fn mask(&self) -> u32 {
        self.mask
    }

    /// Lowest address of the program stack: the end of the module's own data.
    pub const fn stack_limit(&self) -> u32 {
        self.stack_limit
    }

    /// The block and its slack: `mask + 1 + SLACK` bytes.
    pub fn block(&self) -> &[u8] {
        &bytemuck::cast_slice(&self.words)[..self.mask as usize + 1 + SLACK]
    }

    /// The block and its slack, for stores.
    pub fn block_mut(&mut self) -> &mut [u8] {
        &mut bytemuck::cast_slice_mut(&mut self.words)[..self.mask as usize + 1 + SLACK]
    }

    /// Reads the word at an address, masked.
    pub fn load4(&self, address: u32) -> i32 {
        i32::from_le_bytes(self.array(address))
    }

    /// Reads consecutive words; each address is masked.
    pub(super) fn words<const N: usize>(&self, address: u32) -> [i32; N] {
        let start = (address & self.mask) as usize;
        let mut words = [0; N];
        if let Some(bytes) = self.block()[..self.size() as usize].get(start..start + 4 * N) {
            for (word, bytes) in words.iter_mut().zip(bytes.as_chunks().0) {
                *word = i32::from_le_bytes(*bytes);
            }
        } else {
            for (word, offset) in words.iter_mut().zip((0..).step_by(4)) {
                *word = self.load4(address.wrapping_add(offset));
            }
        }
        words
    }

    /// Reads the 2 bytes at an address, masked.
    pub fn load2(&self, address: u32) -> u16 {
        u16::from_le_bytes(self.array(address))
    }

    /// Reads the byte at an address, masked.
    pub fn load1(&self, address: u32) -> u8 {
        self.array::<1>(address)[0]
    }

    /// Stores a word at an address, masked.
    pub fn store4(&mut self, address: u32, value: i32) {
        self.put(address, value.to_le_bytes());
    }

    /// Stores 2 bytes at an address, masked.
    pub fn store2(&mut self, address: u32, value: u16) {
        self.put(address, value.to_le_bytes());
    }

    /// Stores a byte at an address, masked.
    pub fn store1(&mut self, address: u32, value: u8) {
        self.put(address, [value]);
    }

    fn array<const N: usize>(&self, address: u32) -> [u8; N] {
        load(self.block(), address & self.mask)
    }

    fn put<const N: usize>(&mut self, address: u32, value: [u8; N]) {
        let address = address & self.mask;
        store(self.block_mut(), address, value);
    }

    /// Copies bytes inside the block. Ranges may overlap; neither end may be changed by the mask.
    pub fn block_copy(&mut self, target: u32, source: u32, length: u32) -> Result<(), FaultKind> {
        let mask = self.mask;
        block_copy(self.block_mut(), mask, target, source, length)
    }

    fn window(&self, address: i32, length: u64) -> Result<std::ops::Range<usize>, FaultKind> {
        let address = address as u32 & self.mask;
        if u64::from(address) + length > u64::from(self.size()) {
            return Err(FaultKind::Window { address, length });
        }
        Ok(address as usize..address as usize + length as usize)
    }

    /// Returns a window for reading.
    pub fn bytes(&self, address: i32, length: usize) -> Result<&[u8], FaultKind> {
        let range = self.window(address, length as u64)?;
        Ok(&self.block()[range])
    }

    /// Returns a window for writing.
    pub fn bytes_mut(&mut self, address: i32, length: usize) -> Result<&mut [u8], FaultKind> {
        let range = self.window(address, length as u64)?;
        Ok(&mut self.block_mut()[range])
    }

    /// Returns the text at an address, up to its zero byte; at most `max` bytes are returned.
    pub fn text(&self, address: i32, max: usize) -> Result<&[u8], FaultKind> {
        let start = address as u32 & self.mask;
        let most = max.min((self.size() - start) as usize);
        let bytes = self.bytes(address, most)?;
        match bytes.iter().position(|byte| *byte == 0) {
            Some(end) => Ok(&bytes[..end]),
            None if most == max => Ok(bytes),
            None => Err(FaultKind::Window { address: start, length: max as u64 }),
        }
    }

    /// Writes a text into a buffer of `size` bytes, truncated, always with a zero byte at its end.
    pub fn write_text(&mut self, address: i32, size: i32, text: &[u8]) -> Result<(), FaultKind> {
        let Some(most) = usize::try_from(size).ok().and_then(|size| size.checked_sub(1)) else {
            return Ok(());
        };
        // Only the bytes that are written must lie inside the block.
        let length = text.iter().position(|byte| *byte == 0).unwrap_or(text.len()).min(most);
        let buffer = self.bytes_mut(address, length + 1)?;
        buffer[..length].copy_from_slice(&text[..length]);
        buffer[length] = 0;
        Ok(())
    }

    /// Reads an integer inside the block.
    pub fn i32_at(&self, address: i32) -> Result<i32, FaultKind> {
        let bytes = self.bytes(address, 4)?;
        Ok(i32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]))
    }

    /// Reads a float inside the block.
    pub fn f32_at(&self, address: i32) -> Result<f32, FaultKind> {
        Ok(f32::from_bits(self.i32_at(address)? as u32))
    }

    /// Reads three floats inside the block.
    pub fn vec3_at(&self, address: i32) -> Result<[f32; 3], FaultKind> {
        let mut vector = [0.0; 3];
        for (value, bytes) in vector.iter_mut().zip(self.bytes(address, 12)?.chunks_exact(4)) {
            *value = f32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
        }
        Ok(vector)
    }

    /// Writes an integer inside the block.
    pub fn set_i32(&mut self, address: i32, value: i32) -> Result<(), FaultKind> {
        self.bytes_mut(address, 4)?.copy_from_slice(&value.to_le_bytes());
        Ok(())
    }

    /// Writes a float inside the block.
    pub fn set_f32(&mut self, address: i32, value: f32) -> Result<(), FaultKind> {
        self.set_i32(address, value.to_bits() as i32)
    }

    /// Writes three floats inside the block.
    pub fn set_vec3(&mut self, address: i32, vector: [f32; 3]) -> Result<(), FaultKind> {
        let bytes = self.bytes_mut(address, 12)?;
        for (target, value) in bytes.chunks_exact_mut(4).zip(vector) {
            target.copy_from_slice(&value.to_le_bytes());
        }
        Ok(())
    }
}
