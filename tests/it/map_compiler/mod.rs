//! Map compiler: the project's own maps against brute force, leaks, hostile sources, determinism.

mod archives;
mod broken;
mod brute_force;
mod contents;
mod scale;
mod sources;

use std::{
    collections::BTreeMap,
    fs,
    path::Path,
    sync::{Mutex, PoisonError},
};

use fragd::{
    mapbuild::{self, BuildError, Built, Effort, Source},
    world::bsp::Lump,
};

/// Maps of the project.
const MAPS: [&str; 3] = ["course", "fragd1", "fragdctf1"];

/// Compiles a source without light.
fn compile(name: &str, text: &[u8], scripts: &[(String, Vec<u8>)]) -> Result<Built, BuildError> {
    compile_with(Effort::Dark, name, text, scripts)
}

fn compile_with(
    effort: Effort,
    name: &str,
    text: &[u8],
    scripts: &[(String, Vec<u8>)],
) -> Result<Built, BuildError> {
    let file = format!("{name}.map");
    let source = Source {
        name,
        file: &file,
        text,
        scripts,
        files: &|_| None,
        game: None,
        effort,
        threads: 1,
    };
    mapbuild::build(&source, &mut |_, _, _| {})
}

/// Returns the bytes of a lump.
fn lump(file: &[u8], lump: Lump) -> &[u8] {
    let word = |at: usize| u32::from_le_bytes(file[at..at + 4].try_into().unwrap()) as usize;
    let header = 8 + 8 * lump as usize;
    &file[word(header)..word(header) + word(header + 4)]
}

/// Returns a map of the project without light, compiled once per run.
fn own_map(name: &'static str) -> Vec<u8> {
    static COMPILED: Mutex<BTreeMap<&str, Vec<u8>>> = Mutex::new(BTreeMap::new());
    let mut compiled = COMPILED.lock().unwrap_or_else(PoisonError::into_inner);
    compiled.entry(name).or_insert_with(|| compile_own_map(name)).clone()
}

/// Compiles a map of the project without light.
fn compile_own_map(name: &str) -> Vec<u8> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("maps");
    let text = fs::read(folder.join(format!("{name}.map"))).unwrap();
    let mut scripts: Vec<_> = fs::read_dir(&folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "shader"))
        .map(|path| (path.display().to_string(), fs::read(&path).unwrap()))
        .collect();
    scripts.sort();
    let built = compile(name, &text, &scripts).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(built.warnings, [], "{name}");
    built.bsp
}
