//! Acts of administrators among the players: author, result, log, and answers to the player alone.

use super::chat::sanitize_chat;
use crate::{
    model::{ClientNum, text},
    server::{audit::Actor, core::Core, moderation::calendar},
};

/// Longest answer in one command, in bytes.
const MAX_ANSWER_LEN: usize = 900;
/// Most lines of an answer. A list of bans may have thousands.
const MAX_ANSWER_LINES: usize = 40;
/// Longest act in the log, in bytes.
const MAX_ACT_LEN: usize = 200;

/// Author of the acts of a client that has logged in, e.g. `Anna (anna)`.
pub(super) fn author(core: &Core, number: ClientNum) -> Option<String> {
    let client = core.clients.get(number)?;
    let login = client.own.login.as_deref()?;
    Some(format!("{} ({login})", text::strip_colors(&client.name)))
}

/// Records an act with its author and result. Every login and command of an administrator passes here.
pub(super) fn record(core: &mut Core, number: ClientNum, act: &str, result: &str) {
    let Some(client) = core.clients.get(number) else { return };
    let author = author(core, number).unwrap_or_else(|| text::strip_colors(&client.name));
    let actor = Actor::Player {
        name: author.clone(),
        slot: number.index(),
        address: client.remote.address(),
    };
    core.audit.record(calendar(core), &actor, act, result);
    let [author, act, result] = [&*author, act, result]
        .map(|part| text::escaped(text::truncated(part, MAX_ACT_LEN).as_bytes()));
    log::info!("client {number} \"{author}\" admin: {act}: {result}");
}

/// Prints lines to one client.
pub(super) fn tell_client<'a>(
    core: &mut Core,
    number: ClientNum,
    lines: impl IntoIterator<Item = &'a str>,
) {
    let mut lines = lines.into_iter();
    let shown: Vec<String> = lines.by_ref().take(MAX_ANSWER_LINES).map(sanitize_chat).collect();
    let left_out = lines.count();
    let last = (left_out > 0).then(|| format!("... {left_out} more lines"));
    let mut answer = String::new();
    for line in shown.into_iter().chain(last) {
        if !answer.is_empty() && answer.len() + line.len() >= MAX_ANSWER_LEN {
            print(core, number, &std::mem::take(&mut answer));
        }
        answer.push_str(&line);
        answer.push('\n');
    }
    if !answer.is_empty() {
        print(core, number, &answer);
    }
}

fn print(core: &mut Core, number: ClientNum, answer: &str) {
    core.audience().send(number, &format!("print \"{answer}\"").into());
}
