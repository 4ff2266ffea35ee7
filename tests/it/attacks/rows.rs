//! The list of known attacks: every row has a test that exists, or says what is not covered, or both.

use std::{fs, path::Path};

/// Rows of each group.
const GROUPS: [(char, u32); 4] = [('C', 31), ('N', 12), ('M', 37), ('F', 14)];

/// All source text under a folder.
fn sources(folder: &Path, all: &mut String) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sources(&path, all);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            all.push_str(&fs::read_to_string(path).unwrap());
        }
    }
}

#[test]
fn every_known_attack_has_a_test_or_a_reason() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut all = String::new();
    sources(&root.join("src"), &mut all);
    sources(&root.join("tests"), &mut all);
    let mut table = csv::Reader::from_path(root.join("tests/it/attacks/rows.csv")).unwrap();
    let rows: Vec<_> = table.records().map(Result::unwrap).collect();
    let names: Vec<_> = rows.iter().map(|row| row[0].to_owned()).collect();
    let expected: Vec<_> = GROUPS
        .iter()
        .flat_map(|(group, count)| (1..=*count).map(move |n| format!("{group}{n}")))
        .collect();
    assert_eq!(names, expected);
    for row in rows {
        assert!(!row[2].is_empty() || !row[3].is_empty(), "{row:?}");
        for test in row[2].split(' ').filter(|test| !test.is_empty()) {
            assert!(all.contains(&format!("fn {test}(")), "{}: there is no {test}", &row[0]);
        }
    }
}
