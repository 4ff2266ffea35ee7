//! Byte source: a file, a growing file or standard input, read in pieces.

use std::{
    fs::File,
    io::{self, Read as _},
    path::Path,
    thread,
    time::Duration,
};

use super::files::FileError;

/// Length of a piece, in bytes.
const PIECE_LEN: usize = 1 << 16;
/// Interval between two looks at the end of a growing file.
const FOLLOW_INTERVAL: Duration = Duration::from_millis(100);

/// A file or standard input.
#[derive(Debug)]
pub struct ByteSource {
    input: Input,
    /// Whether the end of the file is waited behind.
    follows: bool,
    piece: Vec<u8>,
}

#[derive(Debug)]
enum Input {
    File(File),
    Stdin,
}

impl ByteSource {
    /// Opens a file, or standard input for `-`. With `follows` the end of a file is not the end.
    ///
    /// # Errors
    /// The file cannot be opened.
    pub fn open(path: &Path, follows: bool) -> Result<Self, FileError> {
        let named = || path.to_owned();
        let input = if path.as_os_str() == "-" {
            Input::Stdin
        } else {
            let opened = File::open(path).and_then(|file| {
                let is_folder = file.metadata()?.is_dir();
                if is_folder { Err(io::ErrorKind::IsADirectory.into()) } else { Ok(file) }
            });
            Input::File(opened.map_err(|source| match source.kind() {
                io::ErrorKind::NotFound => FileError::Missing { path: named() },
                io::ErrorKind::PermissionDenied => FileError::Forbidden { path: named() },
                io::ErrorKind::IsADirectory => FileError::Directory { path: named() },
                _ => FileError::Io { path: named(), source },
            })?)
        };
        Ok(Self { input, follows, piece: vec![0; PIECE_LEN] })
    }

    /// Returns the next piece, empty at the end. Waits for data of a growing file or a pipe.
    ///
    /// # Errors
    /// As the operating system.
    pub fn read(&mut self) -> io::Result<&[u8]> {
        loop {
            let read = match &mut self.input {
                Input::File(file) => file.read(&mut self.piece),
                Input::Stdin => io::stdin().lock().read(&mut self.piece),
            };
            match read {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
                Ok(0) if self.follows && matches!(self.input, Input::File(_)) => {
                    thread::sleep(FOLLOW_INTERVAL);
                }
                Ok(len) => return Ok(&self.piece[..len]),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn missing_file_and_folder_are_named() {
        let missing = ByteSource::open(Path::new("/nonexistent/file"), false).map(drop);
        assert!(missing.unwrap_err().to_string().contains("/nonexistent/file not found"));
        let folder = ByteSource::open(Path::new("/"), false).map(drop);
        assert!(folder.unwrap_err().to_string().contains("is a directory"));
    }
}
