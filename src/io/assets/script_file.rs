//! Scripts that the command line names: files of the system beside those of the game data.
//!
//! Invariant: at most [`MAX_ENTRIES`] entries of a folder are compared with a misspelled name.

use std::{fs, io, path::Path};

use crate::{
    io::files::open_regular,
    model::{
        assets::{AssetError, Assets},
        near_files::near_scripts,
        spelling::{did_you_mean, near_names},
    },
};

/// Maximum number of entries of a folder that are read for a suggestion.
const MAX_ENTRIES: usize = 4096;
/// Maximum number of files of a suggestion.
const MAX_FILES: usize = 3;

/// Reads a script of at most `max` bytes from the game data, or else a file of the system. A path that is absolute or
/// starts with `.` names a file of the system only.
///
/// # Errors
///
/// As of [`Assets::read`], with the names of near files.
pub(super) fn read(data: &dyn Assets, name: &str, max: u64) -> Result<Vec<u8>, AssetError> {
    let path = Path::new(name);
    let is_file = path.is_absolute() || name.starts_with('.') && name.contains(['/', '\\']);
    if is_file {
        return read_file(path, max).map_err(|why| named(name, why));
    }
    match data.read(name, max) {
        Err(AssetError::Missing { .. }) if path.exists() => {
            read_file(path, max).map_err(|why| named(name, why))
        }
        Err(missing @ AssetError::Missing { .. }) => match near_files(path) {
            files if files.is_empty() => Err(missing),
            files => {
                let mut near = near_scripts(data, name);
                near.extend(files);
                near.dedup();
                Err(named(name, format!("not in the game data{}", did_you_mean(&near))))
            }
        },
        read => read,
    }
}

fn named(name: &str, why: String) -> AssetError {
    AssetError::Archive { name: name.to_owned(), why }
}

/// Reads a file of at most `max` bytes.
///
/// # Errors
///
/// The reason, for the operator.
fn read_file(path: &Path, max: u64) -> Result<Vec<u8>, String> {
    let mut bytes = Vec::new();
    let read = open_regular(path)
        .and_then(|file| io::Read::read_to_end(&mut io::Read::take(file, max + 1), &mut bytes));
    match read {
        Ok(_) if bytes.len() as u64 <= max => Ok(bytes),
        Ok(_) => Err(format!("too long (max {max} bytes)")),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            Err(format!("file not found{}", did_you_mean(&near_files(path))))
        }
        Err(error) => Err(error.to_string()),
    }
}

/// Returns the scripts near to a path in its folder, the nearest first, with the folder as it was written.
fn near_files(path: &Path) -> Vec<String> {
    let Some(wanted) = path.file_stem().and_then(|stem| stem.to_str()) else { return Vec::new() };
    let folder = path.parent().unwrap_or(Path::new(""));
    let read = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    let entries = fs::read_dir(read).into_iter().flatten().take(MAX_ENTRIES).flatten();
    let names: Vec<String> =
        entries.filter_map(|entry| entry.file_name().into_string().ok()).collect();
    let stems = names.iter().filter_map(|name| name.strip_suffix(".cfg"));
    let near = near_names(wanted, stems, MAX_FILES).into_iter();
    near.map(|stem| folder.join(format!("{stem}.cfg")).display().to_string()).collect()
}
