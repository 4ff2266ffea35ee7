//! Console commands of recordings: `record` and `stoprecord`.
//!
//! Engine names: `record`, `stoprecord`, `sv_record`.

use super::players::find_player;
use crate::{
    model::CommandArgs,
    server::{core::Core, recording::is_recording_name, state::Server},
};

/// Records one client or all. A file name replaces the time in the names of the files.
pub(super) fn record(server: &mut Server, words: &CommandArgs) {
    let core = &mut server.core;
    let name = Some(words.get(2)).filter(|name| !name.is_empty());
    if words.len() > 3 {
        core.console.print("Usage: record [name, slot, all or match] [file name]");
    } else if let Some(name) = name.filter(|name| !is_recording_name(name)) {
        core.console.print(format!(
            "record: invalid file name: {name} (expected up to 40 letters, digits, '.', '_' and '-')"
        ));
    } else if names_match(words.get(1)) {
        let started = core.recordings.start_match(name);
        core.console.print(if started { "recording the match" } else { "match already recorded" });
    } else if names_all(words.get(1)) {
        let count = core.recordings.start_all(&core.clients, name);
        core.console.print(format!("recording {count} more clients, and those that enter later"));
    } else {
        match find_player(core, words.get(1)) {
            Ok(number) => {
                let started = core.recordings.start_one(number, name);
                let state = if started { "recording" } else { "already recorded:" };
                core.console.print(format!("{state} {}", name_of(core, number)));
            }
            Err(error) => core.console.print(error.to_string()),
        }
    }
}

/// Stops one recording or all.
pub(super) fn stop_record(server: &mut Server, words: &CommandArgs) {
    let core = &mut server.core;
    if words.len() > 2 {
        core.console.print("Usage: stoprecord [name, slot, all or match]");
    } else if names_match(words.get(1)) {
        let stopped = core.recordings.stop_match();
        let state = if stopped { "stopped recording of the match" } else { "match not recorded" };
        core.console.print(state);
    } else if names_all(words.get(1)) {
        let count = core.recordings.stop_all(&core.clients);
        core.console.print(format!("stopped {count} recordings"));
    } else {
        match find_player(core, words.get(1)) {
            Ok(number) => {
                let stopped = core.recordings.stop_one(number);
                let state = if stopped { "stopped recording of" } else { "not recorded:" };
                core.console.print(format!("{state} {}", name_of(core, number)));
            }
            Err(error) => core.console.print(error.to_string()),
        }
    }
}

fn names_match(word: &str) -> bool {
    word.eq_ignore_ascii_case("match")
}

fn names_all(word: &str) -> bool {
    word.is_empty() || word.eq_ignore_ascii_case("all")
}

fn name_of(core: &Core, number: crate::model::ClientNum) -> String {
    let name = core.clients.get(number).map_or("", |client| &client.name);
    format!("client {number} \"{name}\"")
}
