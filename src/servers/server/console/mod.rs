//! Console: parses lines of the operator, of rcon and of the game, and runs their commands.
//!
//! One table holds name, help and function of each command; `cmdlist` and `help` print it. A line
//! that names no command is a setting to show or change, or a command of the game.
//! Source: console commands of Quake III servers and the replies that tools match on.
//! Engine names: `Cbuf_ExecuteText`, `Cmd_ExecuteString`, `vstr`.

mod admin_acts;
mod admin_file;
mod archive;
mod audit;
pub(super) mod authority;
mod bans;
pub(super) mod budget;
mod changes;
mod chat;
mod chat_commands;
pub(super) mod commands;
pub(super) mod completion;
pub(super) mod drain;
mod entity_list;
mod execute;
pub(super) mod logins;
mod moderation;
pub(super) mod output;
mod password_file;
mod players;
mod private_file;
pub(super) mod problems;
mod recording;
pub(super) mod remote;
mod rotation;
mod scripts;
pub(super) mod start_state;
pub(super) mod startup;
mod table;
pub(super) mod texts;
mod variables;
mod warnings;

pub(in crate::server) use self::changes::SettingChanges;
pub use self::{archive::state_script, scripts::script_text, startup::ends_with_start};
use self::{execute::run_texts, table::COMMANDS, texts::OpenText};
use super::state::Server;
use crate::{
    game::GameFiles,
    model::{CommandArgs, ConsoleCommands, Millis},
    observe::LogEvent,
    serving::stats::Stats,
    settings::{Author, ChangeSource, SetCommand},
};

/// Maximum number of commands of a line that the game runs at once.
const MAX_COMMANDS_NOW: usize = 512;

/// Names of the commands of the console, also of those without effect.
pub fn command_names() -> impl Iterator<Item = &'static str> {
    let without_effect = execute::WITHOUT_EFFECT.iter().map(|(name, _)| *name);
    COMMANDS.iter().map(|row| row.name).chain(without_effect)
}

/// Runs a console line of the operator: one or more commands separated by `;` outside quotes.
pub(super) fn run_line(server: &mut Server, line: &str) {
    run_line_of(server, Author::Operator, line);
}

fn run_line_of(server: &mut Server, author: Author, line: &str) {
    let outer = server.texts.exchange(vec![OpenText::new(line, author, 0, None)]);
    run_texts(server);
    server.texts.exchange(outer);
}

/// Runs the commands of a line up to the first that does not set a setting. The rest is inserted
/// before the queued lines.
pub(super) fn run_settings_now(changes: &mut SettingChanges<'_>, line: &str) {
    let mut commands = ConsoleCommands::new(line).take(MAX_COMMANDS_NOW);
    let first = commands.find(|command| !set_now(changes, command));
    let rest: Vec<&str> = first.into_iter().chain(commands).collect();
    if !rest.is_empty() {
        changes.console.insert(changes.author, &rest.join("\n"));
    }
}

/// Runs a command that sets a setting. Returns false for other commands.
fn set_now(changes: &mut SettingChanges<'_>, command: &str) -> bool {
    let words = CommandArgs::parse(command);
    let name = words.command();
    if let Some(command) = SetCommand::named(name)
        && words.len() > 2
    {
        changes.set(ChangeSource::Script, command, words.get(1), &words.rest(2));
        return true;
    }
    let is_command = COMMANDS.iter().any(|row| row.name.eq_ignore_ascii_case(name));
    if !is_command && words.len() > 1 && changes.settings.get(name).is_some() {
        changes.set(ChangeSource::Script, SetCommand::Set, name, &words.rest(1));
        return true;
    }
    words.is_empty()
}

/// Logs the files that the game could not write.
fn log_refused_files(files: &mut GameFiles, stats: &mut Stats, now: Millis) {
    if let Some(refusal) = files.take_refusal()
        && let Some(suppressed) = stats.allows_log(LogEvent::GameFile, now)
    {
        log::warn!("{refusal}{suppressed}");
    }
}

/// Runs the texts that waited for these frames, then the lines that the game queued. Lines that they queue run in the
/// next frame.
pub(super) fn run_queued_lines(server: &mut Server, frames: u64) {
    server.console_budget.begin_frame();
    let core = &mut server.core;
    log_refused_files(&mut core.files, &mut core.stats, core.now);
    for stack in server.texts.take_due(frames) {
        server.console_budget.begin_line();
        server.texts.exchange(stack);
        run_texts(server);
    }
    server.core.console.begin_game_lines();
    for _ in 0..server.core.console.queued() {
        let Some((author, line)) = server.core.console.next_queued() else { break };
        run_line_of(server, author, &line);
    }
    server.core.console.end_game_lines();
}
