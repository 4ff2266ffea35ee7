//! Source of an archive: a file, or bytes in the program.
//!
//! An archive is also read as a whole, by clients that download it. Invariant: a file that was replaced by
//! one of another length is not read.

use std::{
    fs::File,
    io::{self, BufReader, Cursor, Read, Seek, SeekFrom},
    ops::Range,
    path::{Path, PathBuf},
};

use crate::io::files::open_regular;

/// Location of the bytes of an archive.
#[derive(Clone, Debug)]
pub enum PackSource {
    /// File, and its length when it was opened.
    File(PathBuf, u64),
    /// Archive that the program contains, with its name.
    Builtin(&'static str, &'static [u8]),
}

impl PackSource {
    /// Finds the archive at `path`.
    ///
    /// # Errors
    ///
    /// System errors, and a file that is not regular.
    pub fn file(path: &Path) -> io::Result<Self> {
        Ok(Self::File(path.to_owned(), open_regular(path)?.metadata()?.len()))
    }

    /// Length in bytes.
    #[must_use]
    pub fn len(&self) -> u64 {
        match self {
            Self::File(_, len) => *len,
            Self::Builtin(_, bytes) => bytes.len() as u64,
        }
    }

    /// Whether the archive has no bytes.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Path, or name in the program, as shown to operators.
    #[must_use]
    pub fn path(&self) -> &Path {
        match self {
            Self::File(path, _) => path,
            Self::Builtin(name, _) => Path::new(name),
        }
    }

    /// Opens the bytes for reading.
    ///
    /// # Errors
    ///
    /// System errors, and a file that has another length now.
    pub fn open(&self) -> io::Result<OpenPack> {
        match self {
            Self::File(path, len) => {
                let file = open_regular(path)?;
                if file.metadata()?.len() != *len {
                    return Err(io::Error::other("replaced since the start"));
                }
                Ok(OpenPack::File(file))
            }
            Self::Builtin(_, bytes) => Ok(OpenPack::Builtin(bytes)),
        }
    }

    /// Reads a range of the bytes.
    ///
    /// # Errors
    ///
    /// As [`Self::open`], and a range beyond the end.
    pub fn read(&self, range: Range<u64>) -> io::Result<Vec<u8>> {
        let beyond = || io::Error::from(io::ErrorKind::UnexpectedEof);
        if range.end > self.len() {
            return Err(beyond());
        }
        let len = range.end.checked_sub(range.start).ok_or_else(beyond)?;
        let mut reader = self.open()?.reader()?;
        reader.seek(SeekFrom::Start(range.start))?;
        let mut bytes = vec![0; usize::try_from(len).map_err(|_| beyond())?];
        reader.read_exact(&mut bytes)?;
        Ok(bytes)
    }
}

/// Open archive without a read buffer.
#[derive(Debug)]
pub enum OpenPack {
    /// File.
    File(File),
    /// Bytes in the program.
    Builtin(&'static [u8]),
}

impl OpenPack {
    /// Returns a reader of these bytes, also if the file was replaced. All readers share one position.
    ///
    /// # Errors
    ///
    /// System errors.
    pub fn reader(&self) -> io::Result<PackReader> {
        match self {
            Self::File(file) => Ok(PackReader::File(BufReader::new(file.try_clone()?))),
            Self::Builtin(bytes) => Ok(PackReader::Builtin(Cursor::new(bytes))),
        }
    }
}

/// Reader of an archive.
#[derive(Debug)]
pub enum PackReader {
    /// File.
    File(BufReader<File>),
    /// Bytes in the program.
    Builtin(Cursor<&'static [u8]>),
}

impl Read for PackReader {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::File(file) => file.read(buffer),
            Self::Builtin(bytes) => bytes.read(buffer),
        }
    }
}

impl Seek for PackReader {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        match self {
            Self::File(file) => file.seek(to),
            Self::Builtin(bytes) => bytes.seek(to),
        }
    }
}
