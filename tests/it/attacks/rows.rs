//! Table of known attacks, compared with the tests that its rows name.
//!
//! A row names its tests, the nodes that they run against, their worlds, their assertions and the parts that are not
//! covered. The nodes are `both`, server and relay, or `server` with the reason. Nodes, world and
//! assertion are compared with path and text of the tests, so a row cannot claim more than its tests
//! do:
//!
//! | world | where |
//! |---|---|
//! | `virtual` | `tests/it`: a simulated network under a virtual clock |
//! | `loopback` | `tests/{loopback,io_loop.rs,process.rs}`: sockets and the machine's clock |
//! | `replay` | `tests/it/journal.rs`: recorded inputs |
//! | `unit` | beside the code, without a network |
//!
//! | assertion | of |
//! |---|---|
//! | `gap` | the time that players beside the attack are without a snapshot |
//! | `work` | steps, packets or entries that the attack may cost |
//! | `bytes` | number or length of the responses |
//! | `state` | remaining clients, memory or values |

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
};

/// Rows of each group.
const GROUPS: [(char, u32); 6] = [('C', 44), ('N', 13), ('M', 44), ('F', 16), ('Q', 20), ('L', 7)];

/// Text of tests that run against server and relay.
const BOTH: [&str; 2] = ["AttackFixture::each(", "in fixtures()"];

/// Words in the assertions of a test that show their kind; of work, in what the test counts, too.
const ASSERTIONS: [(&str, &[&str]); 4] = [
    ("gap", &[".check()", "gap"]),
    (
        "work",
        &[
            "count(Counter",
            "count(QwCounter",
            "counted",
            "steps",
            "work",
            "visited",
            "compares(",
            "Limited",
            "Shed",
        ],
    ),
    ("bytes", &["bytes", "len()", "answers", "told", "is_empty()", "replies", "refusals"]),
    ("state", &["assert", "check("]),
];

/// One test function.
struct Test {
    world: &'static str,
    text: String,
}

/// Adds every file of Rust source under a folder.
fn files(folder: &Path, all: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files(&path, all);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            all.push(path);
        }
    }
}

fn world_of(path: &str) -> &'static str {
    match path {
        path if path.starts_with("src") => "unit",
        path if path.starts_with("tests/loopback") => "loopback",
        "tests/io_loop.rs" | "tests/process.rs" => "loopback",
        "tests/it/journal.rs" => "replay",
        _ => "virtual",
    }
}

/// All tests by name, which several modules may use.
fn tests(root: &Path) -> BTreeMap<String, Vec<Test>> {
    let mut paths = Vec::new();
    files(&root.join("src"), &mut paths);
    files(&root.join("tests"), &mut paths);
    let mut tests: BTreeMap<_, Vec<_>> = BTreeMap::new();
    for path in paths {
        let source = fs::read_to_string(&path).unwrap();
        let world = world_of(path.strip_prefix(root).unwrap().to_str().unwrap());
        for part in source.split("#[test]").skip(1) {
            let Some((_, rest)) = part.split_once("fn ") else { continue };
            let name = rest.split('(').next().unwrap_or_default().to_owned();
            // The function ends with a brace that is indented like its first line.
            let first = part.lines().nth(1).unwrap_or_default();
            let indent = first.len() - first.trim_start().len();
            let end = rest.find(&format!("\n{}}}", " ".repeat(indent))).unwrap_or(rest.len());
            let text = rest[..end].to_owned();
            tests.entry(name).or_default().push(Test { world, text });
        }
    }
    tests
}

/// The assertions of a test; all of its text where a function that it calls makes them.
fn assertions(text: &str) -> String {
    let made: Vec<_> =
        text.split("assert").skip(1).filter_map(|rest| rest.split(";\n").next()).collect();
    if made.is_empty() {
        return text.to_owned();
    }
    let checks = text.lines().filter(|line| line.contains("check("));
    ["assert", &made.concat(), &checks.collect::<String>()].concat()
}

fn words(text: &str) -> BTreeSet<&str> {
    text.split_ascii_whitespace().collect()
}

#[test]
fn rows_claim_only_asserted_properties() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let tests = tests(root);
    let mut table = csv::Reader::from_path(root.join("tests/it/attacks/rows.csv")).unwrap();
    let columns = ["row", "attack", "tests", "nodes", "worlds", "asserts", "not_covered"];
    assert_eq!(table.headers().unwrap(), columns.as_slice());
    let rows: Vec<_> = table.records().map(Result::unwrap).collect();
    let names: Vec<_> = rows.iter().map(|row| row[0].to_owned()).collect();
    let expected: Vec<_> = GROUPS
        .iter()
        .flat_map(|(group, count)| (1..=*count).map(move |n| format!("{group}{n}")))
        .collect();
    assert_eq!(names, expected);
    for row in &rows {
        let (name, nodes, not_covered) = (&row[0], &row[3], &row[6]);
        let of_row: Vec<_> = words(&row[2])
            .into_iter()
            .flat_map(|test| tests.get(test).unwrap_or_else(|| panic!("{name}: no test {test}")))
            .collect();
        assert!(!of_row.is_empty() || not_covered.len() > 16, "{name}: neither tests nor a reason");
        let worlds: BTreeSet<_> = of_row.iter().map(|test| test.world).collect();
        let runs_on_both =
            of_row.iter().any(|test| BOTH.iter().any(|mark| test.text.contains(mark)));
        assert_eq!(nodes == "both", runs_on_both, "{name}: nodes of its tests");
        let is_explained = nodes == "both" || nodes.len() > 12 && nodes.starts_with("server: ");
        assert!(is_explained || of_row.is_empty(), "{name}: no reason why the relay is left out");
        assert_eq!(words(&row[4]), worlds, "{name}: worlds of its tests");
        let claims = words(&row[5]);
        assert_eq!(claims.is_empty(), of_row.is_empty(), "{name}: nothing is asserted");
        for claim in claims {
            let marks = ASSERTIONS.iter().find(|(kind, _)| *kind == claim);
            let (_, marks) = marks.unwrap_or_else(|| panic!("{name}: unknown assertion {claim}"));
            let shows = |test: &&Test| {
                let text = if claim == "work" { test.text.clone() } else { assertions(&test.text) };
                marks.iter().any(|mark| text.contains(mark))
            };
            assert!(of_row.iter().any(shows), "{name}: no test asserts {claim}");
        }
    }
}
