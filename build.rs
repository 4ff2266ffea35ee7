//! Build script: Huffman tables of the static message code, and the version with its commit.
//!
//! Finished tables save the program from feeding a tree a million bytes at start. The commit is that of the source
//! tree, or of the variable `FRAGD_COMMIT`; without both, the version is that of the package alone.

use std::{env, fmt::Write as _, fs, path::Path, process::Command};

#[allow(dead_code, unreachable_pub, reason = "the library uses the rest")]
#[path = "src/protocol/wire/huffman/tree.rs"]
mod tree;

#[allow(unreachable_pub, reason = "the library uses it too")]
#[path = "src/protocol/wire/huffman/frequencies.rs"]
mod frequencies;

/// Digits of a commit in the version.
const COMMIT_DIGITS: usize = 12;

fn main() {
    write_version();
    write_tables();
}

/// Sets `FRAGD_VERSION` for the program, such as `0.1.0 (1a2b3c4d5e6f)`.
fn write_version() {
    println!("cargo::rerun-if-env-changed=FRAGD_COMMIT");
    let version = env!("CARGO_PKG_VERSION");
    let commit = match env::var("FRAGD_COMMIT") {
        Ok(commit) => Some(commit),
        Err(_) => source_commit(),
    };
    let is_commit = |text: &String| {
        (7..=64).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_hexdigit())
    };
    let commit = commit.filter(is_commit);
    let commit = commit.map(|commit| format!(" ({})", &commit[..commit.len().min(COMMIT_DIGITS)]));
    println!("cargo::rustc-env=FRAGD_VERSION={version}{}", commit.unwrap_or_default());
}

/// Returns the commit of the source tree, if it is a checkout of this package. A dependency inside another
/// repository has none.
fn source_commit() -> Option<String> {
    let root = env::var("CARGO_MANIFEST_DIR").ok()?;
    // Builds of a developer would start again after each commit.
    let is_release = env::var("PROFILE").is_ok_and(|profile| profile == "release");
    if !is_release || !Path::new(&root).join(".git").exists() {
        return None;
    }
    let git = |arguments: &[&str]| {
        let output = Command::new("git").arg("-C").arg(&root).args(arguments).output().ok()?;
        let text = String::from_utf8(output.stdout).ok()?.trim().to_owned();
        (output.status.success() && !text.is_empty()).then_some(text)
    };
    // A commit moves the log of HEAD, a checkout HEAD itself.
    for file in ["HEAD", "logs/HEAD"] {
        let path = git(&["rev-parse", "--git-path", file])?;
        let path = Path::new(&root).join(path);
        if path.exists() {
            println!("cargo::rerun-if-changed={}", path.display());
        }
    }
    git(&["rev-parse", "HEAD"])
}

fn write_tables() {
    println!("cargo::rerun-if-changed=src/protocol/wire/huffman/tree.rs");
    println!("cargo::rerun-if-changed=src/protocol/wire/huffman/frequencies.rs");

    let mut tree = tree::Tree::new();
    for symbol in 0..=255u8 {
        for _ in 0..frequencies::FREQUENCIES[usize::from(symbol)] {
            tree.add(symbol);
        }
    }
    let mut codes = String::from("[");
    for symbol in 0..=255u8 {
        let code = tree.code(symbol).expect("every byte was fed to the tree");
        write!(codes, "Code {{ bits: {}, len: {} }},", code.bits, code.len)
            .expect("writing to a String");
    }
    codes.push(']');
    let out = env::var_os("OUT_DIR").expect("cargo names the output directory");
    fs::write(Path::new(&out).join("fixed_codes.rs"), codes).expect("the output directory is ours");
}
