//! Pages of machine code: writable while they are filled, then executable and read-only.

use std::io;

use memmap2::{Mmap, MmapMut};

/// Executable pages.
#[derive(Debug)]
pub(super) struct Pages {
    map: Mmap,
    length: usize,
}

impl Pages {
    /// Copies code into new pages and makes them executable.
    pub(super) fn new(code: &[u8]) -> io::Result<Self> {
        let mut map = MmapMut::map_anon(code.len())?;
        map[..code.len()].copy_from_slice(code);
        // The type has no way back to writable pages.
        Ok(Self { map: map.make_exec()?, length: code.len() })
    }

    /// Address of the first byte.
    pub(super) fn start(&self) -> *const u8 {
        self.map.as_ptr()
    }

    /// Length of the code, in bytes.
    pub(super) fn length(&self) -> usize {
        self.length
    }
}
