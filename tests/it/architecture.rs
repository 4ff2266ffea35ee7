//! Layering: imports as listed in `ARCHITECTURE.md`, no I/O outside `io`, documented fuzz targets.

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
};

/// Modules and what each may import, as in the table of `ARCHITECTURE.md`.
const MODULES: &[(&str, &[&str])] = &[
    ("model", &[]),
    ("bg", &["model"]),
    ("cvar", &["model"]),
    ("node", &["model"]),
    ("wire", &["model"]),
    ("netchan", &["model", "wire"]),
    ("world", &["model"]),
    ("mapdraw", &["bg", "model", "world"]),
    ("game", &["bg", "cvar", "model", "world"]),
    ("settings", &["cvar", "game", "model"]),
    ("observe", &["model"]),
    ("capture", &["model", "node"]),
    ("builder", &["game", "model", "server", "settings"]),
    ("server", &["bg", "game", "model", "netchan", "node", "observe", "settings", "wire", "world"]),
    ("client", &["model", "netchan", "node", "wire"]),
    ("impairment", &["model"]),
    ("bots", &["bg", "client", "model", "impairment", "node", "wire", "world"]),
    ("io", &["model", "node"]),
    ("journal", &["model", "node"]),
    ("sim", &["bots", "client", "journal", "impairment", "model", "node", "server", "wire"]),
    ("cli", &["bots", "client", "model", "impairment", "settings"]),
];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("src")
}

/// Every source file of a module.
fn files(module: &str) -> Vec<PathBuf> {
    let mut open = vec![root().join(module)];
    let mut files = vec![root().join(format!("{module}.rs"))];
    while let Some(dir) = open.pop() {
        let Ok(entries) = fs::read_dir(&dir) else { continue };
        for path in entries.map(|entry| entry.unwrap().path()) {
            if path.is_dir() { open.push(path) } else { files.push(path) }
        }
    }
    files.retain(|path| path.extension().is_some_and(|e| e == "rs") && path.exists());
    assert!(!files.is_empty(), "module {module} has no files");
    files
}

/// The modules that a source text names behind `crate::`.
fn imports(source: &str) -> BTreeSet<String> {
    let mut modules = BTreeSet::new();
    for (at, path) in source.match_indices("crate::") {
        let rest = &source[at + path.len()..];
        match rest.strip_prefix('{') {
            Some(list) => modules.extend(first_words_of_group(list)),
            None => modules.extend(first_word(rest)),
        }
    }
    modules
}

fn first_word(text: &str) -> Option<String> {
    let word: String =
        text.chars().take_while(|c| c.is_ascii_alphanumeric() || *c == '_').collect();
    (!word.is_empty()).then_some(word)
}

/// The first words of `a::b, c::{d, e}, f}`.
fn first_words_of_group(list: &str) -> Vec<String> {
    let mut words = Vec::new();
    let (mut depth, mut fresh) = (0, true);
    for (at, c) in list.char_indices() {
        match c {
            '{' => depth += 1,
            '}' if depth == 0 => break,
            '}' => depth -= 1,
            ',' if depth == 0 => fresh = true,
            c if fresh && depth == 0 && !c.is_whitespace() => {
                words.extend(first_word(&list[at..]));
                fresh = false;
            }
            _ => {}
        }
    }
    words
}

#[test]
fn import_parser_reads_every_form() {
    let source =
        "use crate::{\n    model::{A, B},\n    wire::x,\n};\nuse crate::netchan::Y; crate::io::z()";
    let expected = ["io", "model", "netchan", "wire"].map(String::from);
    assert_eq!(imports(source), BTreeSet::from(expected));
}

#[test]
fn modules_import_only_listed_modules() {
    let known: BTreeSet<_> = MODULES.iter().map(|(module, _)| *module).collect();
    for (module, allowed) in MODULES {
        for file in files(module) {
            for import in imports(&fs::read_to_string(&file).unwrap()) {
                let legal = import == *module || allowed.contains(&import.as_str());
                assert!(
                    legal || !known.contains(import.as_str()),
                    "{}: {module} must not import {import}",
                    file.display()
                );
            }
        }
    }
}

#[test]
fn architecture_document_lists_every_module() {
    let document = fs::read_to_string(root().parent().unwrap().join("ARCHITECTURE.md")).unwrap();
    for (module, allowed) in MODULES {
        let row = document
            .lines()
            .find(|line| line.starts_with(&format!("| `{module}` |")))
            .unwrap_or_else(|| panic!("ARCHITECTURE.md has no row for {module}"));
        let named: BTreeSet<_> = row.rsplit('|').nth(1).unwrap().split_whitespace().collect();
        let allowed: BTreeSet<_> = allowed.iter().copied().collect();
        let named: BTreeSet<_> = named.into_iter().filter(|word| *word != "–").collect();
        assert_eq!(named, allowed, "row {module}");
    }
    let declared = fs::read_to_string(root().join("lib.rs")).unwrap();
    for line in declared.lines().filter_map(|line| line.strip_prefix("pub mod ")) {
        let module = line.trim_end_matches(';');
        // Test support imports everything and is imported by tests only.
        if module == "testing" {
            continue;
        }
        assert!(MODULES.iter().any(|(known, _)| *known == module), "{module} has no row");
    }
}

/// Clocks, sockets, files, threads and globals live in `io` and nowhere else.
#[test]
fn only_io_uses_clock_sockets_and_files() {
    let forbidden = [
        "std::net::UdpSocket",
        "std::fs",
        "std::thread",
        "Instant::now",
        "SystemTime",
        "static mut",
        "thread_local!",
        "OnceLock",
        "LazyLock",
        "std::env",
        "std::process",
    ];
    for (module, _) in MODULES.iter().filter(|(module, _)| !["io", "cli"].contains(module)) {
        for file in files(module) {
            let source = fs::read_to_string(&file).unwrap();
            let production = source.split("#[cfg(test)]").next().unwrap();
            for word in forbidden {
                assert!(!production.contains(word), "{}: {word}", file.display());
            }
        }
    }
}

/// Every fuzz target is built, seeded and listed in `docs/fuzzing.md`.
#[test]
fn fuzz_targets_are_built_seeded_and_documented() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let read = |path: &str| fs::read_to_string(root.join(path)).unwrap();
    let (document, manifest) = (read("docs/fuzzing.md"), read("fuzz/Cargo.toml"));
    let seeds = read("fuzz/seeds.py");
    let described: BTreeSet<_> =
        document.lines().filter_map(|line| line.strip_prefix("| `")?.split('`').next()).collect();
    let targets: Vec<_> = fs::read_dir(root.join("fuzz/fuzz_targets"))
        .unwrap()
        .map(|entry| entry.unwrap().path().file_stem().unwrap().to_str().unwrap().to_owned())
        .collect();
    for target in &targets {
        assert!(described.contains(target.as_str()), "{target} is not in the table");
        assert!(manifest.contains(&format!("name = \"{target}\"")), "{target} is not built");
        assert!(seeds.contains(&format!("seed(\"{target}\"")), "{target} has no seeds");
    }
    assert_eq!(described.len(), targets.len(), "{described:?}");
}
