//! Coupling inside the rules and the server: cycles of imports, functions that take everything.
//!
//! Limits equal the present counts. A change may lower them, never raise them.

use std::collections::{BTreeMap, BTreeSet};

use crate::architecture::{imports, production_sources};

/// Units of the rules of matches in one cycle of imports. A unit is a folder or a file.
const DEATHMATCH_CYCLE: usize = 3;
/// Files of the server in one cycle of imports.
const SERVER_CYCLE: usize = 6;
/// Functions that take all subsystems of a match, and those that take the ones that damage changes.
const WITH_ALL_SYSTEMS: usize = 37;
const WITH_FIGHT: usize = 52;

/// Imports of each unit.
type Graph = BTreeMap<String, BTreeSet<String>>;

/// Imports between the parts of a module. `unit_of` names the part that a path belongs to.
fn graph(module: &str, unit_of: impl Fn(&[String]) -> Option<String>) -> Graph {
    let mut graph = Graph::new();
    for (path, source) in production_sources(module) {
        let Some(unit) = unit_of(&path) else { continue };
        let found = imports(&path, &code_of(&source));
        let found = found.iter().filter_map(|import| unit_of(import));
        graph.entry(unit.clone()).or_default().extend(found.filter(|other| *other != unit));
    }
    graph
}

/// Text of a source file without comments and visibilities, whose paths would count as imports.
fn code_of(source: &str) -> String {
    let line = |line: &str| {
        let code = line.split("//").next().unwrap_or_default();
        let mut parts = code.split("pub(in ");
        let mut kept = parts.next().unwrap_or_default().to_owned();
        for part in parts {
            kept.push_str("pub");
            kept.push_str(part.split_once(')').map_or(part, |(_, rest)| rest));
        }
        kept + "\n"
    };
    source.lines().map(line).collect()
}

/// Units that each unit reaches over imports.
fn reached(graph: &Graph, from: &str) -> BTreeSet<String> {
    let (mut seen, mut open) = (BTreeSet::new(), vec![from.to_owned()]);
    while let Some(unit) = open.pop() {
        for next in graph.get(&unit).into_iter().flatten() {
            if seen.insert(next.clone()) {
                open.push(next.clone());
            }
        }
    }
    seen
}

/// The largest set of units that all reach one another.
fn largest_cycle(graph: &Graph) -> Vec<String> {
    let reach: BTreeMap<_, _> = graph.keys().map(|unit| (unit, reached(graph, unit))).collect();
    let cycle = |unit: &String| -> Vec<String> {
        let mutual = reach[unit]
            .iter()
            .filter(|other| reach.get(other).is_some_and(|reached| reached.contains(unit)));
        mutual.cloned().collect()
    };
    graph.keys().map(cycle).max_by_key(Vec::len).unwrap_or_default()
}

#[test]
fn visibilities_and_comments_are_no_imports() {
    let source = "pub(in crate::server) fn a() {} // crate::server::b\nuse super::c;\n";
    assert_eq!(code_of(source), "pub fn a() {} \nuse super::c;\n");
}

#[test]
fn largest_cycle_is_found_among_imports() {
    let graph = |rows: &[(&str, &[&str])]| -> Graph {
        let set = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
        rows.iter().map(|(unit, imports)| ((*unit).to_owned(), set(imports))).collect()
    };
    let tree = graph(&[("a", &["b", "c"]), ("b", &["c"]), ("c", &[])]);
    assert!(largest_cycle(&tree).is_empty());
    let cycles =
        graph(&[("a", &["b"]), ("b", &["a", "c"]), ("c", &["d"]), ("d", &["e"]), ("e", &["c"])]);
    assert_eq!(largest_cycle(&cycles), ["c", "d", "e"]);
}

#[test]
fn deathmatch_units_form_only_small_cycles() {
    // The root of the folder is the interface, which no unit may need.
    let names: BTreeSet<_> = production_sources("game/deathmatch")
        .into_iter()
        .filter_map(|(path, _)| path.get(2).cloned())
        .collect();
    let graph = graph("game/deathmatch", |path| match path {
        [game, deathmatch, unit, ..] if game == "game" && deathmatch == "deathmatch" => {
            names.contains(unit).then(|| unit.clone())
        }
        _ => None,
    });
    assert!(graph.len() > 30, "{graph:?}");
    let cycle = largest_cycle(&graph);
    assert!(cycle.len() <= DEATHMATCH_CYCLE, "{} units: {cycle:?}", cycle.len());
}

#[test]
fn server_files_form_no_larger_cycle() {
    let files: BTreeSet<_> =
        production_sources("server").into_iter().map(|(path, _)| path.join("/")).collect();
    let graph = graph("server", |path| {
        let ends = (1..=path.len()).rev().map(|end| path[..end].join("/"));
        ends.into_iter().find(|place| files.contains(place))
    });
    assert!(graph.len() > 30, "{graph:?}");
    let cycle = largest_cycle(&graph);
    assert!(cycle.len() <= SERVER_CYCLE, "{} files: {cycle:?}", cycle.len());
    // State does not know what acts on the whole.
    for state in ["server/core", "server/state"] {
        let below = reached(&graph, state);
        for whole in ["server", "server/core", "server/state"] {
            assert!(
                !below.contains(whole) || (state, whole) == ("server/state", "server/core"),
                "{state}: {below:?}"
            );
        }
    }
}

/// Functions of the rules of matches with a parameter of a type, by unit and name.
fn functions_with(parameter: &str) -> Vec<String> {
    let mut found = Vec::new();
    for (path, source) in production_sources("game/deathmatch") {
        let source = source.split("#[cfg(test)]\nimpl").next().unwrap_or_default();
        for (at, _) in source.match_indices("fn ") {
            let head = source[at..].split(['{', ';']).next().unwrap_or_default();
            let parameters = head.split("->").next().unwrap_or_default();
            let name = head["fn ".len()..].split(['(', '<']).next().unwrap_or_default();
            if name.chars().all(|c| c.is_alphanumeric() || c == '_')
                && parameters.contains(parameter)
            {
                found.push(format!("{}::{name}", path.join("::")));
            }
        }
    }
    found
}

#[test]
fn few_functions_take_all_subsystems() {
    for (parameter, limit) in [("&mut Systems", WITH_ALL_SYSTEMS), ("&mut Fight", WITH_FIGHT)] {
        let found = functions_with(parameter);
        assert!(found.len() <= limit, "{} take {parameter}: {found:#?}", found.len());
    }
}
