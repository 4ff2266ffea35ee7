//! Open files of a module.
//!
//! Invariants: at most [`MAX_OPEN`] files are open, with at most [`MAX_OPEN_BYTES`] of content; handle 0 is never open.
//! Source: file services of the game interface, version 8. Engine names: `MAX_FILE_HANDLES`, `fileHandle_t`.

use std::sync::Arc;

use crate::model::assets::GamePath;

/// Most open files. The engine has 64 handles, of which 0 is invalid.
const MAX_OPEN: usize = 63;
/// Most bytes of files that are open for reading.
const MAX_OPEN_BYTES: usize = 16 << 20;

/// An open file.
#[derive(Debug)]
pub(super) enum OpenFile {
    /// Content at the time of the opening, and the position.
    Read(Arc<[u8]>, usize),
    /// Own file that is written.
    Write {
        path: GamePath,
        at: usize,
        /// Whether each write goes to the end.
        appends: bool,
        sync: bool,
    },
    /// The game log of the server.
    GameLog,
}

/// Open files by handle.
#[derive(Debug, Default)]
pub(super) struct OpenFiles {
    files: Vec<Option<OpenFile>>,
    read_bytes: usize,
}

impl OpenFiles {
    /// Gives a file a handle, unless a limit is reached.
    pub(super) fn add(&mut self, file: OpenFile) -> Option<i32> {
        let len = file.read_len();
        if self.read_bytes + len > MAX_OPEN_BYTES {
            return None;
        }
        let free = self.files.iter().position(Option::is_none);
        let index = match free {
            Some(index) => index,
            None if self.files.len() < MAX_OPEN => {
                self.files.push(None);
                self.files.len() - 1
            }
            None => return None,
        };
        self.files[index] = Some(file);
        self.read_bytes += len;
        i32::try_from(index + 1).ok()
    }

    /// Whether a handle is in the range of handles.
    pub(super) fn is_handle(handle: i32) -> bool {
        usize::try_from(handle).is_ok_and(|handle| handle <= MAX_OPEN)
    }

    pub(super) fn get_mut(&mut self, handle: i32) -> Option<&mut OpenFile> {
        let index = usize::try_from(handle).ok()?.checked_sub(1)?;
        self.files.get_mut(index)?.as_mut()
    }

    pub(super) fn close(&mut self, handle: i32) {
        let index = usize::try_from(handle).ok().and_then(|handle| handle.checked_sub(1));
        let slot = index.and_then(|index| self.files.get_mut(index));
        if let Some(file) = slot.and_then(Option::take) {
            self.read_bytes -= file.read_len();
        }
    }
}

impl OpenFile {
    fn read_len(&self) -> usize {
        match self {
            Self::Read(bytes, _) => bytes.len(),
            Self::Write { .. } | Self::GameLog => 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn open_files_are_limited_in_number_and_bytes() {
        let mut open = OpenFiles::default();
        let handles: Vec<_> = (0..70).filter_map(|_| open.add(OpenFile::GameLog)).collect();
        assert_eq!(handles, (1..=63).collect::<Vec<_>>());
        open.close(5);
        open.close(5);
        open.close(0);
        open.close(-7);
        assert_eq!(open.add(OpenFile::GameLog), Some(5));
        let mut open = OpenFiles::default();
        let big: Arc<[u8]> = vec![0; MAX_OPEN_BYTES / 2].into();
        let read = || OpenFile::Read(Arc::clone(&big), 0);
        assert_eq!(
            [open.add(read()), open.add(read()), open.add(read())],
            [Some(1), Some(2), None]
        );
        open.close(1);
        assert_eq!(open.add(read()), Some(1));
    }
}
