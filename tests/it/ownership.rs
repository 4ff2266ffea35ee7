//! Size of types: methods, lines of `impl` blocks and files of each type stay bounded.
//!
//! A type with methods all over a directory is one unit to understand, even in short files.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
};

use crate::architecture::module_path;

/// Most methods, lines of `impl` blocks and files of one type.
const LIMITS: Size = Size { methods: 60, lines: 1200, files: 12 };

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Size {
    methods: usize,
    lines: usize,
    files: usize,
}

impl Size {
    const fn exceeds(self, limit: Self) -> bool {
        self.methods > limit.methods || self.lines > limit.lines || self.files > limit.files
    }
}

/// Most methods of one type, those of traits included.
const METHODS_WITH_TRAITS: usize = 60;

#[test]
fn types_stay_small() {
    let mut wrong = Vec::new();
    for ((module, name), size) in sizes() {
        if size.exceeds(LIMITS) {
            wrong.push(format!("{module}: {name} has {size:?}, limit {LIMITS:?}"));
        }
    }
    assert!(wrong.is_empty(), "split these types by the state they own:\n{}", wrong.join("\n"));
}

#[test]
fn types_have_few_methods_with_those_of_traits() {
    for ((module, name), size) in sizes_of(impls_with_traits) {
        let methods = size.methods;
        assert!(
            methods <= METHODS_WITH_TRAITS,
            "{module}: {name} has {methods} methods, limit {METHODS_WITH_TRAITS}"
        );
    }
}

/// Sizes by top module (two levels inside `game`) and type name, without tests.
fn sizes() -> BTreeMap<(String, String), Size> {
    sizes_of(impls)
}

/// `impl` blocks of a file: the type's name, the lines, the methods.
type Impls = fn(&str) -> Vec<(String, usize, usize)>;

fn sizes_of(impls: Impls) -> BTreeMap<(String, String), Size> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut files = Vec::new();
    collect(&root, &mut files);
    let mut sizes: BTreeMap<(String, String), (Size, BTreeSet<PathBuf>)> = BTreeMap::new();
    for path in files {
        let text = fs::read_to_string(&path).expect("a readable source file");
        let text = text.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
        let mut parts = module_path(&path).into_iter();
        let first = parts.next().unwrap_or_default();
        let module = match first.as_str() {
            "game" => format!("game/{}", parts.next().unwrap_or_default()),
            _ => first,
        };
        for (name, lines, methods) in impls(text) {
            let (size, places) = sizes.entry((module.clone(), name)).or_default();
            size.methods += methods;
            size.lines += lines;
            places.insert(path.clone());
        }
    }
    sizes
        .into_iter()
        .map(|(key, (size, places))| (key, Size { files: places.len(), ..size }))
        .collect()
}

/// Inherent `impl` blocks of a file.
fn impls(text: &str) -> Vec<(String, usize, usize)> {
    impl_blocks(text, |head| (!head.contains(" for ")).then_some(head))
}

/// All `impl` blocks of a file, those of traits included.
fn impls_with_traits(text: &str) -> Vec<(String, usize, usize)> {
    impl_blocks(text, |head| Some(head.split_once(" for ").map_or(head, |(_, of)| of)))
}

/// Blocks of a file for which `type_in` returns the rest of the head from the type on.
fn impl_blocks(text: &str, type_in: impl Fn(&str) -> Option<&str>) -> Vec<(String, usize, usize)> {
    let mut found = Vec::new();
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        let Some(head) = line.strip_prefix("impl") else { continue };
        let Some(head) = type_in(skip_generics(head).trim_start()) else { continue };
        if !line.ends_with('{') {
            continue;
        }
        let name: String = head.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
        let body: Vec<&str> = lines.by_ref().take_while(|line| *line != "}").collect();
        let methods = body.iter().filter(|line| is_method(line)).count();
        found.push((name, body.len() + 2, methods));
    }
    found
}

/// The rest of an `impl` head behind its generic parameters.
fn skip_generics(head: &str) -> &str {
    let mut depth = 0;
    for (at, c) in head.char_indices() {
        match c {
            '<' => depth += 1,
            '>' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return if c == '>' { &head[at + 1..] } else { &head[at..] };
        }
    }
    head
}

/// Whether a line opens a method of a block at the left margin.
fn is_method(line: &str) -> bool {
    let Some(rest) = line.strip_prefix("    ").filter(|rest| !rest.starts_with(' ')) else {
        return false;
    };
    let before = rest.split("fn ").next().unwrap_or_default();
    rest.contains("fn ")
        && before.split_whitespace().all(|word| {
            word.starts_with("pub")
                || ["const", "in", "async", "unsafe"].contains(&word)
                || word.ends_with(')')
        })
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("a source folder") {
        let path = entry.expect("an entry").path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if path.is_dir() {
            if name != "tests" {
                collect(&path, files);
            }
        } else if name.ends_with(".rs") && !name.starts_with("test") {
            files.push(path);
        }
    }
}
