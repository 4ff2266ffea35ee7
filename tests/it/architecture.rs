//! Layering: imports as listed in `ARCHITECTURE.md` and inside `game`, no I/O outside `io`.
//!
//! Fuzz targets are documented, and their lock file is complete.

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
};

/// A module of the library and what it may import.
type Module = (&'static str, &'static [&'static str]);

/// Folders of `src/`, lowest first: a module imports from its own folder and those above it in this list. Each
/// module with what it may import, as in the table of `ARCHITECTURE.md`.
const FOLDERS: &[(&str, &[Module])] = &[
    (
        "base",
        &[
            ("model", &[]),
            ("bans", &["model"]),
            ("cvar", &["model"]),
            ("node", &["model"]),
            ("observe", &["model"]),
            ("limits", &["model"]),
            ("impairment", &["model"]),
        ],
    ),
    (
        "protocol",
        &[
            ("bg", &["model"]),
            ("wire", &["model"]),
            ("discovery", &["model", "wire"]),
            ("netchan", &["model", "wire"]),
            ("client", &["discovery", "model", "netchan", "node", "wire"]),
            ("quakeworld", &["model"]),
            ("rcon", &["discovery", "model", "node", "quakeworld", "wire"]),
        ],
    ),
    (
        "maps",
        &[
            ("world", &["model"]),
            ("bsp29", &["model", "world"]),
            ("mapbuild", &["bg", "model", "world"]),
            ("mapdraw", &["bg", "model", "world"]),
        ],
    ),
    (
        "inspect",
        &[
            ("chart", &["model"]),
            ("trace", &["chart", "client", "model", "netchan", "quakeworld", "wire"]),
            ("capture", &["model", "node", "trace"]),
            (
                "proxy",
                &[
                    "impairment",
                    "limits",
                    "model",
                    "netchan",
                    "node",
                    "observe",
                    "quakeworld",
                    "trace",
                    "wire",
                ],
            ),
        ],
    ),
    (
        "listing",
        &[
            ("master", &["cvar", "discovery", "limits", "model", "node", "observe", "wire"]),
            ("browser", &["discovery", "limits", "model", "node", "wire"]),
            ("decoy", &["discovery", "model", "node", "wire"]),
        ],
    ),
    (
        "rules",
        &[
            ("game", &["bg", "cvar", "limits", "model", "world"]),
            ("qagame", &["cvar", "game", "model", "qvm", "world"]),
            ("qvm", &[]),
            ("qwgame", &["bsp29", "model", "quakeworld", "world"]),
        ],
    ),
    (
        "records",
        &[
            ("multiview", &["bg", "model", "wire", "world"]),
            ("stream", &["limits", "model", "multiview"]),
            ("demo", &["bg", "client", "model", "wire"]),
            ("journal", &["model", "node"]),
        ],
    ),
    (
        "bots",
        &[(
            "bots",
            &[
                "bg",
                "bsp29",
                "chart",
                "client",
                "model",
                "impairment",
                "node",
                "quakeworld",
                "qwgame",
                "wire",
                "world",
            ],
        )],
    ),
    (
        "servers",
        &[
            ("settings", &["cvar", "game", "limits", "model"]),
            ("builder", &["game", "model", "qagame", "qvm", "server", "settings"]),
            ("serving", &["bg", "limits", "model", "netchan", "node", "observe", "wire"]),
            (
                "server",
                &[
                    "bans",
                    "bg",
                    "discovery",
                    "game",
                    "limits",
                    "model",
                    "multiview",
                    "netchan",
                    "node",
                    "observe",
                    "serving",
                    "settings",
                    "wire",
                    "world",
                ],
            ),
            (
                "qwserver",
                &[
                    "bans",
                    "bsp29",
                    "cvar",
                    "discovery",
                    "limits",
                    "model",
                    "node",
                    "observe",
                    "quakeworld",
                    "qwgame",
                    "wire",
                ],
            ),
            (
                "relay",
                &[
                    "bans",
                    "bg",
                    "client",
                    "demo",
                    "limits",
                    "model",
                    "multiview",
                    "netchan",
                    "node",
                    "observe",
                    "serving",
                    "stream",
                    "wire",
                ],
            ),
        ],
    ),
    ("io", &[("io", &["bsp29", "limits", "model", "node", "stream"])]),
    (
        "sim",
        &[(
            "sim",
            &[
                "bg",
                "bots",
                "relay",
                "client",
                "journal",
                "impairment",
                "mapbuild",
                "model",
                "node",
                "observe",
                "proxy",
                "quakeworld",
                "qwserver",
                "server",
                "settings",
                "wire",
                "world",
            ],
        )],
    ),
    (
        "cli",
        &[(
            "cli",
            &[
                "bots",
                "relay",
                "browser",
                "client",
                "cvar",
                "decoy",
                "discovery",
                "impairment",
                "master",
                "model",
                "proxy",
                "qwserver",
                "rcon",
                "settings",
                "trace",
            ],
        )],
    ),
];

/// Modules of `game`, lowest first.
const GAME: &[(&str, &[&str])] = &[
    ("rng", &[]),
    ("direction_bytes", &[]),
    ("game_event", &[]),
    ("settings", &[]),
    ("ruleset", &[]),
    ("movement", &["ruleset"]),
    ("userinfo", &["ruleset"]),
    ("clients", &["movement", "ruleset", "settings", "userinfo"]),
    ("flight", &["clients", "movement", "rng", "ruleset", "settings", "userinfo"]),
    (
        "deathmatch",
        &["clients", "direction_bytes", "movement", "rng", "ruleset", "settings", "userinfo"],
    ),
    ("conformance", &["settings"]),
];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("src")
}

/// The modules of all folders.
fn modules() -> impl Iterator<Item = Module> {
    FOLDERS.iter().flat_map(|(_, modules)| modules.iter().copied())
}

/// Path of a module below `src/`, without extension: `servers/server` for `server`.
fn path_of(module: &str) -> Option<String> {
    let is_there = |(_, modules): &&(&str, &[Module])| modules.iter().any(|(at, _)| *at == module);
    let (folder, _) = FOLDERS.iter().find(is_there)?;
    Some(if *folder == module { module.to_owned() } else { format!("{folder}/{module}") })
}

/// Every source file of a module, or of a part of it such as `game/clients`.
fn files(module: &str) -> Vec<PathBuf> {
    let (first, part) = module.split_once('/').unwrap_or((module, ""));
    let base =
        root().join(path_of(first).unwrap_or_else(|| panic!("{first} has no row"))).join(part);
    let mut files = vec![base.with_extension("rs")];
    let mut open = vec![base];
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

/// Module path and text of each source file of a module, without tests.
pub(crate) fn production_sources(module: &str) -> Vec<(Vec<String>, String)> {
    let is_test = |file: &PathBuf| {
        let name = file.to_str().unwrap();
        name.contains("/tests/") || name.ends_with("/tests.rs")
    };
    let files = files(module).into_iter().filter(|file| !is_test(file));
    let read = |file: PathBuf| {
        let source = fs::read_to_string(&file).unwrap();
        let production = source.split("#[cfg(test)]\nmod tests {").next().unwrap();
        (module_path(&file), production.to_owned())
    };
    files.map(read).collect()
}

/// Module path of a source file: `["game", "clients"]` for `src/rules/game/clients/mod.rs`.
pub(crate) fn module_path(file: &Path) -> Vec<String> {
    let inside = file.strip_prefix(root()).unwrap().with_extension("");
    let mut path: Vec<String> =
        inside.iter().map(|part| part.to_str().unwrap().to_owned()).collect();
    path.pop_if(|last| last == "mod");
    // The path of a module has no folder.
    if path.get(1).is_some_and(|module| path_of(module) == Some(path[..2].join("/"))) {
        path.remove(0);
    }
    path
}

/// Absolute paths behind `crate::`, `super::` and `self::` in the source text of a module.
pub(crate) fn imports(module: &[String], source: &str) -> BTreeSet<Vec<String>> {
    let mut paths = BTreeSet::new();
    for prefix in ["crate::", "super::", "self::"] {
        for (at, _) in source.match_indices(prefix) {
            // A chain of `super::` is read once, from its start.
            if source[..at].ends_with("super::") {
                continue;
            }
            let (mut base, mut rest) = (Vec::new(), &source[at..]);
            if let Some(behind) = rest.strip_prefix("crate::") {
                rest = behind;
            } else {
                base = module.to_vec();
                rest = rest.strip_prefix("self::").unwrap_or(rest);
                while let Some(behind) = rest.strip_prefix("super::") {
                    base.pop();
                    rest = behind;
                }
            }
            collect_paths(&base, rest, &mut paths);
        }
    }
    paths
}

/// Adds the paths of a use tree such as `a::{b, c::d}` and returns the text behind it.
fn collect_paths<'a>(base: &[String], tree: &'a str, paths: &mut BTreeSet<Vec<String>>) -> &'a str {
    let Some(mut rest) = tree.strip_prefix('{') else {
        let end = tree.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(tree.len());
        let path = [base, &[tree[..end].to_owned()]].concat();
        return match tree[end..].strip_prefix("::") {
            Some(behind) if !behind.starts_with('<') => collect_paths(&path, behind, paths),
            _ => {
                paths.insert(path);
                &tree[end..]
            }
        };
    };
    loop {
        rest = rest.trim_start_matches(|c: char| c.is_whitespace() || c == ',');
        match rest.strip_prefix('}') {
            Some(behind) => return behind,
            None if rest.is_empty() => return rest,
            None => rest = collect_paths(base, rest, paths).trim_start_matches('*'),
        }
    }
}

/// Files that name addresses in a map, and count nothing by them.
const ADDRESS_MAPS: [&str; 1] = ["inspect/proxy/sessions.rs"];

#[test]
fn limits_count_addresses_by_their_keys() {
    for (module, _) in modules().filter(|(module, _)| *module != "limits") {
        for path in files(module) {
            let Ok(text) = fs::read_to_string(&path) else { continue };
            let is_map = ADDRESS_MAPS.iter().any(|known| path.ends_with(known));
            let shown = path.display();
            for (number, line) in text.lines().enumerate() {
                let keyed = ["Map<IpAddr", "Map<(IpAddr", "Set<IpAddr", "Map<Ipv6Addr"];
                let is_keyed = keyed.iter().any(|kind| line.contains(kind)) && !is_map;
                let is_cut = line.contains("to_bits() >> 64");
                assert!(!is_keyed && !is_cut, "{shown}:{}: use limits::AddressKey", number + 1);
            }
        }
    }
}

#[test]
fn import_parser_reads_every_form() {
    let source = "use crate::{\n    model::{A, B},\n    wire::x,\n};\nuse super::super::y::Y; crate::io::z(); use self::w::W;";
    let module = ["game", "clients", "chat"].map(String::from);
    let expected =
        ["game::clients::chat::w::W", "game::y::Y", "io::z", "model::A", "model::B", "wire::x"];
    let paths: Vec<_> = imports(&module, source).iter().map(|path| path.join("::")).collect();
    assert_eq!(paths, expected);
}

#[test]
fn modules_import_only_listed_modules() {
    let known: BTreeSet<_> = modules().map(|(module, _)| module).collect();
    for (module, allowed) in modules() {
        for file in files(module) {
            for path in imports(&module_path(&file), &fs::read_to_string(&file).unwrap()) {
                let import = path[0].as_str();
                assert!(
                    import == module || allowed.contains(&import) || !known.contains(import),
                    "{}: {module} must not import {import}",
                    file.display()
                );
            }
        }
    }
}

#[test]
fn folders_import_no_later_folder() {
    let folder_of = |module: &str| {
        FOLDERS.iter().position(|(_, modules)| modules.iter().any(|(at, _)| *at == module)).unwrap()
    };
    for (at, (folder, modules)) in FOLDERS.iter().enumerate() {
        for (module, allowed) in *modules {
            for import in *allowed {
                assert!(folder_of(import) <= at, "{folder}: {module} must not import {import}");
            }
        }
    }
}

#[test]
fn module_of_a_folder_is_its_mod_file() {
    let (mut open, mut both) = (vec![root(), root().join("../tests")], Vec::new());
    while let Some(dir) = open.pop() {
        let paths: Vec<_> =
            fs::read_dir(&dir).unwrap().map(|entry| entry.unwrap().path()).collect();
        both.extend(
            paths
                .iter()
                .filter(|path| path.with_extension("rs").is_file() && path.is_dir())
                .cloned(),
        );
        open.extend(paths.into_iter().filter(|path| path.is_dir()));
    }
    assert!(both.is_empty(), "{both:?}: a file x.rs beside a folder x: x/mod.rs instead");
}

/// Modules of `game` import those of the same folder that their row lists.
#[test]
fn game_modules_import_only_listed_modules() {
    for (module, allowed) in GAME {
        for (path, source) in production_sources(&format!("game/{module}")) {
            for import in imports(&path, &source) {
                let ["game", import, ..] =
                    import.iter().map(String::as_str).collect::<Vec<_>>()[..]
                else {
                    continue;
                };
                let is_row = GAME.iter().any(|(known, _)| *known == import);
                assert!(
                    import == *module || !is_row || allowed.contains(&import),
                    "{}: {module} must not import {import}",
                    path.join("::")
                );
            }
        }
    }
}

#[test]
fn architecture_document_lists_every_module() {
    let document = fs::read_to_string(root().parent().unwrap().join("ARCHITECTURE.md")).unwrap();
    for (module, allowed) in modules() {
        let row = document
            .lines()
            .find(|line| line.starts_with(&format!("| `{module}` |")))
            .unwrap_or_else(|| panic!("ARCHITECTURE.md has no row for {module}"));
        let named: BTreeSet<_> = row.rsplit('|').nth(1).unwrap().split_whitespace().collect();
        let allowed: BTreeSet<_> = allowed.iter().copied().collect();
        let named: BTreeSet<_> = named.into_iter().filter(|word| *word != "–").collect();
        assert_eq!(named, allowed, "row {module}");
        let path = path_of(module).unwrap();
        let folder = path.strip_suffix(module).unwrap().trim_end_matches('/');
        let column = row.split('|').nth(2).unwrap().trim();
        assert_eq!(column, if folder.is_empty() { "–" } else { folder }, "folder of {module}");
    }
    let declared = fs::read_to_string(root().join("lib.rs")).unwrap();
    for line in declared.lines() {
        let Some((_, module)) = line.split_once("mod ") else { continue };
        // Test support imports everything and is imported by tests only.
        if !line.starts_with("//") && module != "testing;" {
            assert!(!files(module.trim_end_matches(';')).is_empty());
        }
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
    for (module, _) in modules().filter(|(module, _)| !["io", "cli"].contains(module)) {
        let is_test = |file: &PathBuf| file.components().any(|part| part.as_os_str() == "tests");
        for file in files(module).into_iter().filter(|file| !is_test(file)) {
            let source = fs::read_to_string(&file).unwrap();
            let production = source.split("#[cfg(test)]").next().unwrap();
            for word in forbidden {
                // The items of `map_parallel` are independent; scoped threads compute them.
                if word == "std::thread" && file.ends_with("model/parallel.rs") {
                    continue;
                }
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

/// The lock file of the fuzz targets, a package of their own, lists each dependency of the library.
#[test]
fn fuzz_lock_file_lists_every_dependency() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let read = |path: &str| fs::read_to_string(root.join(path)).unwrap();
    let manifest: toml::Table = read("Cargo.toml").parse().unwrap();
    let lock = read("fuzz/Cargo.lock");
    let block = lock.split("[[package]]").find(|block| block.contains("\nname = \"fragd\"\n"));
    let block = block.expect("the library");
    let unix = &manifest["target"]["cfg(unix)"]["dependencies"];
    for dependencies in [&manifest["dependencies"], unix] {
        for name in dependencies.as_table().unwrap().keys() {
            // A version follows the name of a crate that is there twice.
            let is_listed = [format!("\"{name}\""), format!("\"{name} ")]
                .iter()
                .any(|entry| block.contains(entry.as_str()));
            assert!(is_listed, "{name}: run cargo update --workspace in fuzz");
        }
    }
}
