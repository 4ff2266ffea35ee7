//! The pk3 of a compiled map: archive, arena file and levelshot.
//!
//! Invariants:
//! - The same files give the same bytes: entries are sorted, dates are fixed, and the deflate level is one whose hash does
//!   not depend on the processor.
//! - Names are short, lower case and relative, as all engines read them.

mod levelshot;
mod pixels;

pub use levelshot::{Camera, Drawing, SHOT_SIZE, Skin, levelshot};

use std::{
    collections::BTreeMap,
    io::{Cursor, Write},
};

use zip::{CompressionMethod, DateTime, ZipWriter, write::SimpleFileOptions};

/// Maximum length of a name in the archive; engines store names in 64 bytes.
const MAX_NAME: usize = 63;
/// Deflate level. Lower levels of zlib-rs hash with processor instructions where they exist.
const DEFLATE_LEVEL: i64 = 9;

/// Problem of the archive.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PackageError {
    /// Name that engines or file systems do not read.
    #[error(
        "file name invalid: \"{0}\" (expected 1 to {MAX_NAME} printable characters without spaces, capitals, backslashes \
         and any of \":*?<>|)"
    )]
    Name(String),
    /// Writer error.
    #[error("archive not written: {0}")]
    Zip(String),
}

/// Writes a pk3 with the given files.
///
/// # Errors
///
/// A name is not valid, or the archive is too large.
pub fn write(files: &BTreeMap<String, Vec<u8>>) -> Result<Vec<u8>, PackageError> {
    let fail = |error: &dyn std::fmt::Display| PackageError::Zip(error.to_string());
    let options = SimpleFileOptions::default()
        .compression_method(CompressionMethod::Deflated)
        .compression_level(Some(DEFLATE_LEVEL))
        .last_modified_time(DateTime::default())
        .unix_permissions(0o644);
    let mut archive = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, bytes) in files {
        check_name(name)?;
        archive.start_file(name.as_str(), options).map_err(|error| fail(&error))?;
        archive.write_all(bytes).map_err(|error| fail(&error))?;
    }
    let written = archive.finish().map_err(|error| fail(&error))?;
    Ok(written.into_inner())
}

/// Checks the name of a file in the archive.
///
/// # Errors
///
/// Engines or file systems do not read the name.
pub(super) fn check_name(name: &str) -> Result<(), PackageError> {
    let allowed =
        |c: u8| c.is_ascii_graphic() && !c.is_ascii_uppercase() && !b"\\\":*?<>|".contains(&c);
    let parts = || name.split('/');
    let valid = name.len() <= MAX_NAME
        && name.bytes().all(allowed)
        && parts().all(|part| !part.is_empty() && part != "." && part != "..");
    if valid {
        return Ok(());
    }
    Err(PackageError::Name(name.to_owned()))
}

/// Text of an arena file, which lists the map in the menus of clients.
pub fn arena_file(name: &str, title: &str, types: &str) -> String {
    // Quotes and line ends would end the value early.
    let clean = |text: &str| text.replace(['"', '\n', '\r', '\\'], " ");
    format!(
        "{{\nmap \"{}\"\nlongname \"{}\"\ntype \"{}\"\nfraglimit 20\ntimelimit 10\n}}\n",
        clean(name),
        clean(title),
        clean(types),
    )
}

#[cfg(test)]
mod tests;
