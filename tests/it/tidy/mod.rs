//! Wording rules for every text of the repository.
//!
//! | rule | rejects |
//! |---|---|
//! | T1 | a file without a header, or a header that opens with a pronoun or has a first sentence of over 16 words |
//! | T2 | item documentation that opens with a pronoun or has a first sentence of over 20 words |
//! | T3 | retired words and phrases, in prose and operator texts |
//! | T4 | `who` without a noun in front |
//! | T5 | Markdown sentences of over 30 words; README of over 120 lines, ARCHITECTURE of over 136 |
//! | T6 | test names that open with a pronoun or have over 9 words after attack numbers |
//! | T7 | British spelling; in Markdown also `5 %` and `10 000` |
//! | T8 | retired type names |
//! | T9 | log lines with a capital or a period; errors of the form "X is no Y" |
//!
//! One line is exempted by `// tidy: allow WORD: REASON` in it or above it.

mod prose;
mod words;

use prose::{Block, Gap, Role};
use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};
use words::Phrase;

const HEADER_WORDS: usize = 16;
const ITEM_WORDS: usize = 20;
const SENTENCE_WORDS: usize = 30;
const TEST_NAME_WORDS: usize = 9;
const README_LINES: usize = 120;
const ARCHITECTURE_LINES: usize = 136;
const MAX_EXEMPTIONS: usize = 20;

/// Folders and files that are scanned.
const SCANNED: &[&str] = &[
    "src",
    "tests",
    "benches",
    "examples",
    "fuzz",
    "config",
    "docs",
    ".ci",
    "build.rs",
    "Cargo.toml",
    "Dockerfile",
    "README.md",
    "ARCHITECTURE.md",
    "CONTRIBUTING.md",
    "CHANGELOG.md",
];

/// Texts of others, generated lists, and the lists of retired words themselves.
const EXCLUDED: &[&str] = &[
    "tests/vectors",
    "tests/it/tidy",
    "fuzz/target",
    "fuzz/seeds",
    "fuzz/corpus",
    "fuzz/artifacts",
];

/// Files in which every literal with a space is an operator text.
const OPERATOR_TEXTS: &[&str] = &[
    "src/cli",
    "src/servers/settings",
    "src/base/observe",
    "src/roles",
    "src/base/node",
    "src/servers/server/console/table.rs",
];

/// One violation.
struct Finding {
    rule: &'static str,
    place: String,
    word: String,
    suggestion: String,
}

impl std::fmt::Display for Finding {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: {}: {} -> {}", self.place, self.rule, self.word, self.suggestion)
    }
}

/// A file under scan.
struct File<'a> {
    path: &'a str,
    text: &'a str,
    exemptions: usize,
    findings: Vec<Finding>,
}

impl File<'_> {
    fn add(&mut self, rule: &'static str, line: usize, word: &str, suggestion: &str) {
        let mark = format!("tidy: allow {word}:");
        let near = self.text.lines().skip(line.saturating_sub(2)).take(2);
        if near.into_iter().any(|line| line.contains(&mark)) {
            self.exemptions += 1;
            return;
        }
        self.findings.push(Finding {
            rule,
            place: format!("{}:{line}", self.path),
            word: word.to_owned(),
            suggestion: suggestion.to_owned(),
        });
    }

    fn check_words(&mut self, block: &Block, phrases: &BTreeMap<char, Vec<&Phrase>>) {
        for at in 0..block.words.len() {
            let word = &block.words[at];
            let first = word.text.chars().next().unwrap_or_default();
            let candidates = [first, '*'].into_iter().filter_map(|key| phrases.get(&key)).flatten();
            for phrase in candidates {
                let Some(matched) = block.words.get(at..at + phrase.words.len()) else { continue };
                let same = matched
                    .iter()
                    .zip(&phrase.words)
                    .all(|(word, pattern)| words::matches(pattern, &word.text));
                let apart = matched[1..].iter().any(|word| word.gap != Gap::Space);
                let following: Vec<_> = block.words[at + phrase.words.len()..]
                    .iter()
                    .take(2)
                    .map(|word| word.text.as_str())
                    .collect();
                let following = following.join(" ") + " ";
                let exempt =
                    phrase.exempt.iter().any(|words| following.starts_with(&format!("{words} ")));
                if !same || apart || exempt || (phrase.opens && word.gap < Gap::Colon) {
                    continue;
                }
                let found: Vec<_> = matched.iter().map(|word| word.text.as_str()).collect();
                self.add(phrase.rule, word.line, &found.join(" "), phrase.suggestion);
            }
        }
    }

    /// First word and first sentence of documentation.
    fn check_opening(&mut self, block: &Block, rule: &'static str, openers: &[&str], limit: usize) {
        let Some(first) = block.words.first() else { return };
        if openers.contains(&first.text.as_str()) {
            self.add(rule, first.line, &first.text, "a noun phrase with the term");
        }
        let length = block.sentences()[0].0;
        if length > limit {
            let length = format!("{length} words");
            self.add(rule, first.line, &length, &format!("a first sentence of {limit} at most"));
        }
    }

    fn check_message(&mut self, block: &Block) {
        let text = block.raw.as_str();
        if block.role == Role::Log {
            let capital = text.chars().next().is_some_and(char::is_uppercase);
            // Names such as UDP and SIGHUP keep their capitals.
            if capital && !text.chars().nth(1).is_some_and(char::is_uppercase) {
                self.add("T9", block.line, text, "lower case");
            }
            if text.ends_with('.') && !text.ends_with("..") {
                self.add("T9", block.line, text, "no period");
            }
        } else if let Some(phrase) =
            words::ERROR_PHRASES.iter().find(|phrase| text.contains(**phrase))
        {
            self.add("T9", block.line, phrase.trim(), "not a X, unknown X, X not found");
        }
    }

    fn check_test_names(&mut self, code: &str) {
        let lines: Vec<_> = code.lines().collect();
        for (at, _) in lines.iter().enumerate().filter(|(_, line)| line.trim() == "#[test]") {
            let Some(named) = lines[at..].iter().position(|line| line.trim().starts_with("fn "))
            else {
                continue;
            };
            let name = lines[at + named].trim().trim_start_matches("fn ");
            let name = name.split('(').next().unwrap_or_default();
            let subject = without_attack_numbers(name);
            let opens = |word: &&&str| subject.starts_with(&format!("{word}_"));
            let line = at + named + 1;
            if words::TEST_OPENERS.iter().any(|word| opens(&word)) {
                self.add("T6", line, name, "subject_does_when, subject a noun of the glossary");
            }
            if subject.split('_').count() > TEST_NAME_WORDS {
                self.add("T6", line, name, "at most 9 words");
            }
        }
    }

    fn check_types(&mut self, code: &str) {
        for (number, line) in code.lines().enumerate() {
            let mut words = line.split(|c: char| !c.is_alphanumeric() && c != '_');
            if !words.any(|word| ["struct", "enum", "type", "trait"].contains(&word)) {
                continue;
            }
            let Some(name) = words.next() else { continue };
            if let Some((_, new)) = words::RETIRED_TYPES.iter().find(|(old, _)| *old == name) {
                self.add("T8", number + 1, name, new);
            }
        }
    }

    fn check_numbers(&mut self) {
        let mut fenced = false;
        for (number, line) in self.text.lines().enumerate() {
            let fence = line.trim_start().starts_with("```");
            fenced ^= fence;
            if fenced || fence || line.starts_with("    ") {
                continue;
            }
            let line: String = line.split('`').step_by(2).collect();
            let bytes: Vec<_> = line.chars().collect();
            for at in 1..bytes.len().saturating_sub(1) {
                if bytes[at] != ' ' || !bytes[at - 1].is_ascii_digit() {
                    continue;
                }
                let behind = &bytes[at + 1..];
                let digits = behind.iter().take_while(|c| c.is_ascii_digit()).count();
                let stands_alone = !behind.get(3).is_some_and(|c| c.is_alphanumeric());
                if behind[0] == '%' {
                    self.add("T7", number + 1, "5 %", "5%");
                } else if digits == 3 && stands_alone {
                    self.add("T7", number + 1, "10 000", "10,000");
                }
            }
        }
    }

    fn check_markdown_sizes(&mut self, blocks: &[Block]) {
        let lines = self.text.lines().count();
        for (path, limit) in [("README.md", README_LINES), ("ARCHITECTURE.md", ARCHITECTURE_LINES)]
        {
            if self.path == path && lines > limit {
                self.add("T5", 1, &format!("{lines} lines"), &format!("{limit} at most"));
            }
        }
        for block in blocks.iter().filter(|block| block.role == Role::Paragraph) {
            for (length, line) in block.sentences() {
                if length > SENTENCE_WORDS {
                    let limit = format!("{SENTENCE_WORDS} at most");
                    self.add("T5", line, &format!("{length} words"), &limit);
                }
            }
        }
    }
}

fn without_attack_numbers(name: &str) -> &str {
    let mut rest = name;
    while let Some((first, behind)) = rest.split_once('_')
        && first.len() > 1
        && first.starts_with(|c: char| c.is_ascii_lowercase())
        && first[1..].chars().all(|c| c.is_ascii_digit())
    {
        rest = behind;
    }
    rest
}

fn paths(root: &Path, path: &Path, all: &mut Vec<PathBuf>) {
    let relative = path.strip_prefix(root).unwrap().to_str().unwrap();
    if EXCLUDED.contains(&relative) {
        return;
    }
    match fs::read_dir(path) {
        Ok(entries) => entries.for_each(|entry| paths(root, &entry.unwrap().path(), all)),
        Err(_) if path.is_file() => all.push(path.to_owned()),
        Err(_) => {}
    }
}

fn scan(path: &str, text: &str, phrases: &BTreeMap<char, Vec<&Phrase>>) -> (Vec<Finding>, usize) {
    let mut file = File { path, text, exemptions: 0, findings: Vec::new() };
    let blocks = match path.rsplit('.').next() {
        Some("rs") => {
            let operator = OPERATOR_TEXTS.iter().any(|prefix| path.starts_with(prefix));
            let source = prose::rust(text, operator);
            match source.blocks.first() {
                Some(header) if header.role == Role::Header => {
                    file.check_opening(header, "T1", words::HEADER_OPENERS, HEADER_WORDS);
                }
                _ => file.add("T1", 1, "no header", "//! and a noun phrase"),
            }
            for block in source.blocks.iter().filter(|block| block.role == Role::Item) {
                file.check_opening(block, "T2", words::ITEM_OPENERS, ITEM_WORDS);
            }
            file.check_test_names(&source.code);
            file.check_types(&source.code);
            source.blocks
        }
        Some("md") => {
            let blocks = prose::markdown(text);
            file.check_markdown_sizes(&blocks);
            file.check_numbers();
            blocks
        }
        Some("toml" | "sh" | "py" | "yaml" | "service" | "Dockerfile" | "ci/run") => {
            prose::hash_comments(text)
        }
        _ => return (Vec::new(), 0),
    };
    for block in &blocks {
        // The glossary's tables hold the retired words.
        if path == "docs/glossary.md" && block.role == Role::TableRow {
            continue;
        }
        file.check_words(block, phrases);
        if matches!(block.role, Role::Log | Role::Error) {
            file.check_message(block);
        }
    }
    (file.findings, file.exemptions)
}

/// All findings of the repository, and how many lines are exempted.
fn findings() -> (Vec<Finding>, usize) {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut files = Vec::new();
    SCANNED.iter().for_each(|path| paths(root, &root.join(path), &mut files));
    files.sort();
    let all = words::phrases();
    let mut phrases: BTreeMap<char, Vec<&Phrase>> = BTreeMap::new();
    for phrase in &all {
        phrases.entry(phrase.words[0].chars().next().unwrap()).or_default().push(phrase);
    }
    let (mut findings, mut exemptions) = (Vec::new(), 0);
    for file in files {
        let path = file.strip_prefix(root).unwrap().to_str().unwrap();
        let Ok(text) = fs::read_to_string(&file) else { continue };
        let (found, exempted) = scan(path, &text, &phrases);
        findings.extend(found);
        exemptions += exempted;
    }
    (findings, exemptions)
}

#[test]
fn repository_follows_wording_rules() {
    let (findings, exemptions) = findings();
    assert!(exemptions <= MAX_EXEMPTIONS, "{exemptions} lines are exempted");
    let list: String = findings.iter().map(|finding| format!("{finding}\n")).collect();
    assert!(list.is_empty(), "\n{list}");
}
