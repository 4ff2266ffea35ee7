//! File access: bounded reads, and writes that follow no foreign links.
//!
//! Invariants: no file costs more memory than its bound, even if it claims a larger size; a link that another user
//! may have created is not followed for writing; a file that was found rather than named is read only if
//! it is regular (`open_regular`).

use std::{
    fs::{self, File, OpenOptions},
    io::{self, Read as _},
    path::{Path, PathBuf},
};

use thiserror::Error;

/// Maximum size of a config file, in bytes.
pub const CONFIG_BYTES_MAX: u64 = 1024 * 1024;

/// Error of a file, with the remedy.
#[derive(Debug, Error)]
pub enum FileError {
    /// The file does not exist.
    #[error("{path} not found; check the name and the working directory")]
    Missing {
        /// The file.
        path: PathBuf,
    },
    /// No permission to read the file.
    #[error("{path} not readable for this user; check its owner and mode")]
    Forbidden {
        /// The file.
        path: PathBuf,
    },
    /// The path names a directory.
    #[error("{path} is a directory (expected a file)")]
    Directory {
        /// The directory.
        path: PathBuf,
    },
    /// The file exceeds its maximum size.
    #[error("{path} too long (max {max} bytes)")]
    TooLong {
        /// The file.
        path: PathBuf,
        /// The bound in bytes.
        max: u64,
    },
    /// The file is not UTF-8 text.
    #[error("{path}:{line}: not UTF-8; save the file as UTF-8")]
    NotText {
        /// The file.
        path: PathBuf,
        /// Line of the first invalid byte, from 1.
        line: usize,
    },
    /// Other system error.
    #[error("{path} not readable: {source}")]
    Io {
        /// The file.
        path: PathBuf,
        /// The system error.
        source: io::Error,
    },
}

/// Reads the file at `path`, at most `max` bytes.
///
/// A pipe that the operator names is read to its end.
pub fn read_file(path: &Path, max: u64) -> Result<Vec<u8>, FileError> {
    read_opened(path, max, File::open(path))
}

/// Reads a file that was found in a folder, at most `max` bytes. Pipes and devices are errors.
pub fn read_regular_file(path: &Path, max: u64) -> Result<Vec<u8>, FileError> {
    read_opened(path, max, open_regular(path))
}

fn read_opened(path: &Path, max: u64, opened: io::Result<File>) -> Result<Vec<u8>, FileError> {
    let named = || path.to_owned();
    let failed = |source: io::Error| match source.kind() {
        io::ErrorKind::NotFound => FileError::Missing { path: named() },
        io::ErrorKind::PermissionDenied => FileError::Forbidden { path: named() },
        io::ErrorKind::IsADirectory => FileError::Directory { path: named() },
        _ => FileError::Io { path: named(), source },
    };
    let mut bytes = Vec::new();
    opened.and_then(|file| file.take(max + 1).read_to_end(&mut bytes)).map_err(failed)?;
    if bytes.len() as u64 > max {
        return Err(FileError::TooLong { path: named(), max });
    }
    Ok(bytes)
}

/// Reads the config file at `path`, at most [`CONFIG_BYTES_MAX`] bytes of UTF-8.
///
/// A pipe is read to its end, as in `--config <(program)`.
pub fn read_config(path: &Path) -> Result<String, FileError> {
    config_text(path, read_file(path, CONFIG_BYTES_MAX)?)
}

/// Reads a config file again. A pipe would wait for a writer, and is an error.
pub fn reread_config(path: &Path) -> Result<String, FileError> {
    config_text(path, read_regular_file(path, CONFIG_BYTES_MAX)?)
}

fn config_text(path: &Path, bytes: Vec<u8>) -> Result<String, FileError> {
    String::from_utf8(bytes).map_err(|error| {
        let good = &error.as_bytes()[..error.utf8_error().valid_up_to()];
        let line = 1 + good.iter().filter(|byte| **byte == b'\n').count();
        FileError::NotText { path: path.to_owned(), line }
    })
}

/// Opens a regular file for reading.
///
/// Anything else is an error: opening a pipe would wait for a writer, and opening a device may have side effects.
pub(super) fn open_regular(path: &Path) -> io::Result<File> {
    let irregular = || io::Error::new(io::ErrorKind::InvalidInput, "is not a regular file");
    if !fs::metadata(path)?.is_file() {
        return Err(irregular());
    }
    let mut options = OpenOptions::new();
    options.read(true);
    // A pipe may have replaced the file since the first check.
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::custom_flags(&mut options, nix::libc::O_NONBLOCK);
    let file = options.open(path)?;
    if file.metadata()?.is_file() { Ok(file) } else { Err(irregular()) }
}

/// Opens a file for writing. A link is followed only in a folder that belongs to this user or root and that
/// no other user may write to.
#[cfg(unix)]
pub(super) fn open_to_write(path: &Path, options: &mut OpenOptions) -> io::Result<File> {
    use nix::libc::{ELOOP, O_NOFOLLOW};
    use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};

    const WRITABLE_BY_OTHERS: u32 = 0o022;

    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let folder = folder.unwrap_or(Path::new(".")).metadata()?;
    let ours = [0, rustix::process::geteuid().as_raw()].contains(&folder.uid());
    if !ours || folder.mode() & WRITABLE_BY_OTHERS != 0 {
        options.custom_flags(O_NOFOLLOW);
    }
    options.open(path).map_err(|error| match error.raw_os_error() {
        Some(ELOOP) => io::Error::other(
            "it is a link, and others may put links into its folder: name the file itself",
        ),
        _ => error,
    })
}

/// Opens a file for writing with the given options.
#[cfg(not(unix))]
pub(super) fn open_to_write(path: &Path, options: &mut OpenOptions) -> io::Result<File> {
    options.open(path)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::io::StateFile;
    use std::{env, process};

    fn scratch(name: &str, bytes: &[u8]) -> PathBuf {
        let path = env::temp_dir().join(format!("fragd-files-{}-{name}", process::id()));
        fs::write(&path, bytes).unwrap();
        path
    }

    #[test]
    fn config_file_is_read_completely() {
        let path = scratch("good", "sv_hostname = \"Größe\"\n".as_bytes());
        assert_eq!(read_config(&path).unwrap(), "sv_hostname = \"Größe\"\n");
        fs::remove_file(path).unwrap();
    }

    #[test]
    fn config_file_above_the_limit_is_rejected() {
        let path = scratch("bound", &vec![b'#'; CONFIG_BYTES_MAX as usize]);
        assert_eq!(read_config(&path).unwrap().len() as u64, CONFIG_BYTES_MAX);
        fs::write(&path, vec![b'#'; CONFIG_BYTES_MAX as usize + 1]).unwrap();
        let error = read_config(&path).unwrap_err();
        assert!(matches!(error, FileError::TooLong { .. }), "{error}");
        fs::remove_file(path).unwrap();
    }

    #[test]
    fn file_errors_name_path_and_line() {
        let path = scratch("latin1", b"a = 1\nb = \"\xe9\"\n");
        let error = read_config(&path).unwrap_err().to_string();
        assert!(error.contains("latin1:2:"), "{error}");
        fs::remove_file(path).unwrap();
        let error = read_config(Path::new("/no/such/fragd.toml")).unwrap_err().to_string();
        assert!(error.starts_with("/no/such/fragd.toml not found"), "{error}");
        let error = read_config(&env::temp_dir()).unwrap_err();
        assert!(matches!(error, FileError::Directory { .. }), "{error}");
    }

    #[cfg(unix)]
    #[test]
    fn f11_link_in_a_shared_folder_is_not_followed() {
        use std::os::unix::fs::{PermissionsExt as _, symlink};

        let folder = env::temp_dir().join(format!("fragd-links-{}", process::id()));
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir(&folder).unwrap();
        let (target, link, plain) =
            (folder.join("target"), folder.join("link"), folder.join("plain"));
        symlink(&target, &link).unwrap();
        let open = |path: &Path| open_to_write(path, OpenOptions::new().append(true).create(true));
        for shared in [0o777, 0o1777, 0o775] {
            fs::set_permissions(&folder, fs::Permissions::from_mode(shared)).unwrap();
            let error = open(&link).unwrap_err().to_string();
            assert!(error.contains("name the file itself"), "{error}");
            assert!(!target.exists(), "nothing was made behind the link");
            open(&plain).unwrap();
        }
        fs::set_permissions(&folder, fs::Permissions::from_mode(0o755)).unwrap();
        open(&link).unwrap();
        assert!(target.exists(), "the operator's own link is followed");
        fs::remove_dir_all(&folder).unwrap();
    }

    #[cfg(unix)]
    #[test]
    fn irregular_file_is_rejected_without_waiting() {
        let pipe = scratch("pipe", b"");
        fs::remove_file(&pipe).unwrap();
        assert!(process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        for path in [&*pipe, Path::new("/dev/zero"), &env::temp_dir()] {
            let error = open_regular(path).unwrap_err().to_string();
            assert_eq!(error, "is not a regular file", "{}", path.display());
            assert!(reread_config(path).is_err(), "{}", path.display());
            let state = StateFile::read(path).unwrap_err();
            assert!(state.contains("not readable: is not a regular file"), "{state}");
        }
        fs::remove_file(pipe).unwrap();
    }

    #[cfg(unix)]
    #[test]
    fn endless_file_is_rejected() {
        let error = read_config(Path::new("/dev/zero")).unwrap_err();
        assert!(matches!(error, FileError::TooLong { .. }), "{error}");
    }
}
