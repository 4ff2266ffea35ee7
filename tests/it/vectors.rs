//! Where reference vectors lie, and how to read them.
//!
//! `FRAGD_VECTORS` names another directory of the same layout; files missing there fall back to the
//! repository's own.

use std::{env, fs, path::PathBuf};

use serde_json::{Map, Value};

/// The text of a vector file.
pub(crate) fn read(name: &str) -> String {
    let own = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/vectors");
    let other = env::var_os("FRAGD_VECTORS").map(PathBuf::from);
    // A directory may keep its files flat or, as the reference does, some of them in `vectors/`.
    let places = other.iter().flat_map(|dir| [dir.clone(), dir.join("vectors")]).chain([own]);
    let path = places
        .map(|dir| dir.join(name))
        .find(|path| path.exists())
        .unwrap_or_else(|| panic!("no vector file {name}"));
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

pub(crate) fn from_hex(hex: &str) -> Vec<u8> {
    (0..hex.len()).step_by(2).map(|at| u8::from_str_radix(&hex[at..at + 2], 16).unwrap()).collect()
}

pub(crate) fn to_hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The datagrams of a server message in both dialects.
pub(crate) fn check_server_datagrams(_case: &Map<String, Value>, _message: &[u8]) {}
