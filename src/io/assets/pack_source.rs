//! Source of an archive: an open file, or bytes in the program.
//!
//! An archive is also read as a whole, by clients that download it. The file stays open, so an archive that is removed or
//! replaced by renaming is still read. Invariant: a file that was changed in place is not read.

use std::{
    fs::{self, File, Metadata},
    io::{self, BufReader, Cursor, Read, Seek, SeekFrom},
    ops::Range,
    path::{Path, PathBuf},
    sync::Arc,
    time::SystemTime,
};

use crate::io::files::open_regular;

/// Location of the bytes of an archive.
#[derive(Clone, Debug)]
pub enum PackSource {
    /// File of the disk.
    File(PackFile),
    /// Archive that the program contains, with its name.
    Builtin(&'static str, &'static [u8]),
}

/// An open archive file.
#[derive(Clone, Debug)]
pub struct PackFile {
    path: PathBuf,
    file: Arc<File>,
    stamp: FileStamp,
}

/// State of a file by which a change is noticed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct FileStamp {
    len: u64,
    modified: Option<SystemTime>,
    /// Device and number of the file; zeros where the system has none.
    identity: (u64, u64),
}

impl FileStamp {
    fn of(metadata: &Metadata) -> Self {
        #[cfg(unix)]
        let identity = {
            use std::os::unix::fs::MetadataExt as _;
            (metadata.dev(), metadata.ino())
        };
        #[cfg(not(unix))]
        let identity = (0, 0);
        Self { len: metadata.len(), modified: metadata.modified().ok(), identity }
    }

    /// Returns the state of the file at `path` now; `None` if it is not readable.
    pub(super) fn at(path: &Path) -> Option<Self> {
        fs::metadata(path).ok().map(|metadata| Self::of(&metadata))
    }
}

impl PackSource {
    /// Opens the archive at `path`.
    ///
    /// # Errors
    ///
    /// System errors, and a file that is not regular.
    pub fn file(path: &Path) -> io::Result<Self> {
        let file = open_regular(path)?;
        let stamp = FileStamp::of(&file.metadata()?);
        Ok(Self::File(PackFile { path: path.to_owned(), file: Arc::new(file), stamp }))
    }

    /// Length in bytes.
    #[must_use]
    pub fn len(&self) -> u64 {
        match self {
            Self::File(file) => file.stamp.len,
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
            Self::File(file) => &file.path,
            Self::Builtin(name, _) => Path::new(name),
        }
    }

    /// State of the file when it was opened; none for an archive in the program.
    pub(super) fn stamp(&self) -> Option<FileStamp> {
        match self {
            Self::File(file) => Some(file.stamp),
            Self::Builtin(..) => None,
        }
    }

    /// Returns a reader of the bytes with a position of its own.
    ///
    /// # Errors
    ///
    /// System errors, and a file that was changed in place.
    pub fn reader(&self) -> io::Result<PackReader> {
        match self {
            Self::File(PackFile { file, stamp, .. }) => {
                if FileStamp::of(&file.metadata()?) != *stamp {
                    return Err(io::Error::other("changed since it was opened"));
                }
                let file = PositionedFile { file: Arc::clone(file), len: stamp.len, position: 0 };
                Ok(PackReader::File(BufReader::new(file)))
            }
            Self::Builtin(_, bytes) => Ok(PackReader::Builtin(Cursor::new(bytes))),
        }
    }

    /// Reads a range of the bytes.
    ///
    /// # Errors
    ///
    /// As [`Self::reader`], and a range beyond the end.
    pub fn read(&self, range: Range<u64>) -> io::Result<Vec<u8>> {
        let beyond = || io::Error::from(io::ErrorKind::UnexpectedEof);
        if range.end > self.len() {
            return Err(beyond());
        }
        let len = range.end.checked_sub(range.start).ok_or_else(beyond)?;
        let mut reader = self.reader()?;
        reader.seek(SeekFrom::Start(range.start))?;
        let mut bytes = vec![0; usize::try_from(len).map_err(|_| beyond())?];
        reader.read_exact(&mut bytes)?;
        Ok(bytes)
    }
}

/// Reader of an archive.
#[derive(Debug)]
pub enum PackReader {
    /// File.
    File(BufReader<PositionedFile>),
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

/// Shared open file with a position of its own.
#[derive(Debug)]
pub struct PositionedFile {
    file: Arc<File>,
    len: u64,
    position: u64,
}

impl Read for PositionedFile {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        #[cfg(unix)]
        let read = std::os::unix::fs::FileExt::read_at(&*self.file, buffer, self.position)?;
        #[cfg(windows)]
        let read = std::os::windows::fs::FileExt::seek_read(&*self.file, buffer, self.position)?;
        self.position += read as u64;
        Ok(read)
    }
}

impl Seek for PositionedFile {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let position = match to {
            SeekFrom::Start(position) => Some(position),
            SeekFrom::End(offset) => self.len.checked_add_signed(offset),
            SeekFrom::Current(offset) => self.position.checked_add_signed(offset),
        };
        self.position = position.ok_or_else(|| {
            io::Error::new(io::ErrorKind::InvalidInput, "position before the start of the file")
        })?;
        Ok(self.position)
    }
}
