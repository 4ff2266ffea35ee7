//! Position in a map rotation, which outlasts the server.
//!
//! A rotation is a chain of variables, each of which starts a map and names the next one: `map A ; set nextmap vstr d2`.
//! Such a variable is a step. The last step that ran is kept, and runs again at the start, if the chain still has it.
//! Source: config files of Quake III servers.

use std::collections::BTreeSet;

use crate::{
    model::{CommandArgs, ConsoleCommands},
    server::{current_level::NEXT, state::Server},
    settings::{Settings, key},
};

/// Name of the step among the values that outlast the server.
const STEP: &str = "rotation";
/// First step of a rotation that no text names.
const FIRST: &str = "d1";
/// Maximum number of variables of a chain that are read.
const MAX_STEPS: usize = 512;

/// Notes that a variable runs, if it is a step of a rotation.
pub(super) fn note_step(server: &mut Server, name: &str, text: &str) {
    let starts_map = |command: &str| {
        let words = CommandArgs::parse(command);
        ["map", "devmap"].iter().any(|known| words.command().eq_ignore_ascii_case(known))
    };
    if !server.texts.author().is_operator() || !ConsoleCommands::new(text).any(starts_map) {
        return;
    }
    if server.core.console.is_start() {
        server.startup.step = Some(name.to_owned());
    } else {
        server.core.values.set(STEP, name);
    }
}

/// Step that ran last before the start.
pub(super) fn saved_step(server: &Server) -> Option<String> {
    Some(server.core.values.get(STEP).to_owned()).filter(|step| !step.is_empty())
}

/// Returns the line that continues a rotation, if the start has begun one that has the step. The command line may have
/// chosen a map instead.
pub(super) fn resume(server: &mut Server, step: &str) -> Option<String> {
    let is_map_chosen = server.startup.chosen.as_ref().is_some_and(|level| !level.has_begun);
    let is_there = server.startup.step.as_deref() == Some(step);
    if is_map_chosen || is_there || server.startup.is_over() {
        return None;
    }
    if !has_step(&server.core.settings, step) {
        return None;
    }
    server.core.console.print(format!("map rotation continues with {step}"));
    Some(format!("vstr \"{step}\""))
}

/// Keeps the step that the start has run.
pub(super) fn keep_step(server: &mut Server) {
    let step = server.startup.step.take().unwrap_or_default();
    server.core.values.set(STEP, &step);
}

/// Whether the rotation that comes next reaches a variable.
fn has_step(settings: &Settings, step: &str) -> bool {
    let next = settings.text(key::NEXTMAP);
    let first =
        if next.is_empty() || next == NEXT { format!("vstr {FIRST}") } else { next.to_owned() };
    let mut open = vec![first];
    let mut seen = BTreeSet::new();
    while let Some(text) = open.pop() {
        let words = CommandArgs::parse(&text.replace([';', '"'], " "));
        let all = [words.command()].into_iter().chain(words.arguments().iter().map(String::as_str));
        let all: Vec<_> = all.collect();
        for pair in all.windows(2).filter(|pair| pair[0].eq_ignore_ascii_case("vstr")) {
            let Some(value) = settings.get(pair[1]) else { continue };
            if pair[1].eq_ignore_ascii_case(step) {
                return true;
            }
            if seen.len() < MAX_STEPS && seen.insert(pair[1].to_ascii_lowercase()) {
                open.push(value.to_owned());
            }
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_of_a_chain_are_reached() {
        let mut settings = Settings::default();
        for (name, value) in [
            ("d1", "map a ; set nextmap vstr d2"),
            ("d2", "map b;set nextmap vstr d3"),
            ("d3", "map c ; set nextmap vstr d1"),
            ("other", "map d"),
        ] {
            settings.set(name, value).unwrap();
        }
        assert!(["d1", "D2", "d3"].iter().all(|step| has_step(&settings, step)));
        assert!(!has_step(&settings, "other") && !has_step(&settings, "d4"));
        settings.set("nextmap", "vstr other").unwrap();
        assert!(has_step(&settings, "other") && !has_step(&settings, "d2"));
    }
}
