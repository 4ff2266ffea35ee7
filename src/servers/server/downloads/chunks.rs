//! Recently read parts of archives, shared by all downloads.
//!
//! Invariant: at most [`MAX_CHUNKS`] parts are kept, for any requests.

use std::collections::VecDeque;

use crate::model::assets::{AssetError, Assets};

/// Bytes that are read at once.
const CHUNK_LEN: u64 = 64 * 1024;
/// Parts that are kept: one for each client.
const MAX_CHUNKS: usize = 64;

/// Cache of parts, the most recently used last.
#[derive(Debug, Default)]
pub(super) struct Chunks(VecDeque<Chunk>);

#[derive(Debug)]
struct Chunk {
    pack: usize,
    /// Number of the part in its archive.
    number: u64,
    bytes: Vec<u8>,
}

impl Chunks {
    /// Returns `len` bytes of an archive of `file_len` bytes, or less at its end. They are in one part.
    ///
    /// # Errors
    /// As [`Assets::read_pack`].
    pub(super) fn read(
        &mut self,
        assets: &dyn Assets,
        pack: usize,
        file_len: u64,
        offset: u64,
        len: usize,
    ) -> Result<&[u8], AssetError> {
        let number = offset / CHUNK_LEN;
        let found = self.0.iter().position(|chunk| (chunk.pack, chunk.number) == (pack, number));
        let chunk = match found.and_then(|at| self.0.remove(at)) {
            Some(chunk) => chunk,
            None => {
                let start = number * CHUNK_LEN;
                let bytes = assets.read_pack(pack, start..file_len.min(start + CHUNK_LEN))?;
                if self.0.len() == MAX_CHUNKS {
                    self.0.pop_front();
                }
                Chunk { pack, number, bytes }
            }
        };
        self.0.push_back(chunk);
        let bytes = self.0.back().map_or(&[][..], |chunk| &chunk.bytes);
        let start = ((offset % CHUNK_LEN) as usize).min(bytes.len());
        Ok(&bytes[start..bytes.len().min(start + len)])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::assets::MemoryAssets;

    #[test]
    fn blocks_join_to_the_whole_archive() {
        let bytes: Vec<u8> = (0..200_000_u32).map(|n| (n * 7 / 3) as u8).collect();
        let mut assets = MemoryAssets::default();
        assets.insert_pack("baseoa", "a", &bytes, &[]).unwrap();
        let mut chunks = Chunks::default();
        let mut joined = Vec::new();
        for offset in (0..bytes.len() as u64).step_by(1024) {
            joined.extend_from_slice(
                chunks.read(&assets, 0, bytes.len() as u64, offset, 1024).unwrap(),
            );
        }
        assert_eq!(joined, bytes);
        assert!(chunks.read(&assets, 1, 10, 0, 10).is_err());
    }
}
