//! Function names in both server and relay: each names two different jobs.
//!
//! The common jobs are in `serving::connection`. A name in both modules shows a job
//! that is done twice, unless the list explains that the jobs differ.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
};

/// Modules of the two nodes.
const MODULES: [&str; 2] = ["src/servers/server", "src/servers/relay"];

/// Names in both modules, with the jobs that they name there.
const DIFFERENT_JOBS: &[(&str, &str)] = &[
    ("begin", "recordings and messages; a level of the source"),
    ("check_invariants", "of each whole node, for simulations"),
    ("choose", "a default game; a followed player"),
    ("clear", "bot slots; bodies of a frame"),
    ("counters", "public counters of each node"),
    ("end", "a recording or message; a wait for a level"),
    ("explain", "arguments of a command; the help of the console"),
    ("find_player", "a client of the console; a player of the source"),
    ("is_ended", "a recording; the playback of a demo"),
    ("new", "constructors of different types"),
    ("newest", "frame of the game; frame of the source"),
    ("next_due", "blocks of a download; frames of a source"),
    ("progress", "of a download; of a level that loads"),
    ("record", "entities of the game; frames of a source"),
    ("report", "a problem of a script; the state of a join"),
    ("request", "a file of the offer; a control of the source"),
    ("ring", "frames of the game; frames of the source"),
    ("run", "usercmds and start scripts; commands and console lines"),
    ("say", "of the operator; of a viewer"),
    ("served", "data of each node as the connection reads it"),
    ("serverinfo", "of the settings; of the source under another name"),
    ("set", "a setting; a configstring of the source"),
    ("set_now", "a setting at once; the clock of the delay"),
    ("set_userinfo", "of a bot; of a viewer with its own name rules"),
    ("start", "a recording of a client; the playback of a match"),
    ("stop", "recordings and the game; the source"),
    ("systeminfo", "of the settings; of the source without archives"),
];

/// Adds every source file below a folder.
fn collect(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("a readable folder") {
        let path = entry.expect("a readable entry").path();
        if path.is_dir() {
            collect(&path, files);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
}

/// Names of free functions and inherent methods. Tests, traits and their implementations are left out: their names
/// are those of the trait.
fn own_functions(source: &str) -> BTreeSet<&str> {
    let production = source.split("#[cfg(test)]\nmod ").next().unwrap_or_default();
    let mut names = BTreeSet::new();
    let mut is_of_trait = false;
    let mut head = String::new();
    for line in production.lines() {
        let is_outer = !line.starts_with([' ', '}', '/', ')']) && !line.is_empty();
        if is_outer {
            head.clear();
        }
        // The head of a block may have several lines.
        head.push_str(line.split('{').next().unwrap_or_default());
        head.push(' ');
        if is_outer || line == "{" {
            let item = head.trim_start_matches("pub ").trim_start_matches("pub(super) ");
            let item = item.trim_start_matches("pub(crate) ");
            is_of_trait =
                item.starts_with("trait ") || item.starts_with("impl") && item.contains(" for ");
        }
        let Some((before, rest)) = line.split_once("fn ").filter(|_| !is_of_trait) else {
            continue;
        };
        let is_declared = before.trim().split(' ').all(|word| {
            word.is_empty()
                || word.starts_with("pub")
                || ["in", "const", "async"].contains(&word)
                || word.ends_with(')')
        });
        let name = rest.split(['(', '<']).next().unwrap_or_default();
        if is_declared && !name.is_empty() {
            names.insert(name);
        }
    }
    names
}

#[test]
fn function_names_are_read_without_traits_and_tests() {
    let source = "fn free<T>() {}\nimpl A {\n    pub(super) fn method(&self) {\n        let fn_like = 1;\n    }\n}\n\
                  impl<T> B for A<T> {\n    fn hidden() {}\n}\npub trait C {\n    fn c();\n}\n\
                  pub(in crate::server) const fn late() {}\n#[cfg(test)]\nmod tests {\n    fn test() {}\n}\n";
    assert_eq!(own_functions(source).into_iter().collect::<Vec<_>>(), ["free", "late", "method"]);
}

#[test]
fn server_and_relay_share_no_function_names() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut places: BTreeMap<String, [Vec<String>; 2]> = BTreeMap::new();
    for (at, module) in MODULES.iter().enumerate() {
        let mut files = Vec::new();
        collect(&root.join(module), &mut files);
        assert!(files.len() > 10, "{module} has its files");
        for file in files {
            let shown = file.strip_prefix(root).expect("below the root").display().to_string();
            if shown.contains("/tests") {
                continue;
            }
            let source = fs::read_to_string(&file).expect("a readable file");
            for name in own_functions(&source) {
                places.entry(name.to_owned()).or_default()[at].push(shown.clone());
            }
        }
    }
    places.retain(|_, [server, relay]| !server.is_empty() && !relay.is_empty());
    let listed: BTreeMap<_, _> = DIFFERENT_JOBS.iter().copied().collect();
    let wrong: Vec<_> = places
        .iter()
        .filter(|(name, _)| !listed.contains_key(name.as_str()))
        .map(|(name, [server, relay])| format!("{name}: {} and {}", server[0], relay[0]))
        .collect();
    assert!(wrong.is_empty(), "do the job once, in serving::connection:\n{}", wrong.join("\n"));
    let stale: Vec<_> = listed.keys().filter(|name| !places.contains_key(**name)).collect();
    assert!(stale.is_empty(), "no longer in both: {stale:?}");
    assert!(DIFFERENT_JOBS.iter().all(|(_, jobs)| jobs.len() > 10), "each is explained");
}
