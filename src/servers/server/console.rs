//! Console: parses lines of the operator, of rcon and of the game, and runs their commands.
//!
//! One table holds name, help and function of each command; `cmdlist` and `help` print it. A line
//! that names no command is a setting to show or change, or a command of the game.
//! Source: console commands of Quake III servers and the replies that tools match on.
//! Engine names: `Cbuf_ExecuteText`, `Cmd_ExecuteString`, `vstr`.

mod commands;
mod execute;
mod output;
mod players;
mod problems;
mod recording;
mod scripts;
mod startup;
mod table;
mod texts;
mod variables;

pub(super) use self::{
    output::ConsoleStreams,
    problems::Cause,
    scripts::ConsoleBudget,
    startup::{Startup, run as run_start},
    texts::ConsoleTexts,
};
use self::{table::COMMANDS, texts::OpenText};
use super::{
    Server,
    core::{Core, log_refused_files},
};
use crate::{
    model::{CommandArgs, ConsoleCommands, text},
    settings::{Change, ChangeSource, Note, SetCommand, SettingError, ignored_named, key},
};

/// Maximum depth of nested `vstr` and `exec`.
const MAX_NESTING: u8 = 16;
/// Maximum length of a command, in bytes: twice that of a value.
const MAX_COMMAND_LEN: usize = 2048;
/// Maximum number of commands of a line that the game runs at once.
const MAX_COMMANDS_NOW: usize = 512;
/// Default and longest delay of `map_restart`, in seconds.
const RESTART_DELAY_S: i32 = 5;
const MAX_RESTART_DELAY_S: i32 = 3600;

/// Result of a change by a console line.
#[derive(Debug, Default)]
struct ChangeOutcome {
    /// Cause of a refusal.
    refusal: Option<Cause>,
    /// Whether the value waits for a level.
    is_latched: bool,
    /// Values that were taken in another form.
    notes: u32,
    /// Undeclared names that are near a setting.
    hints: Vec<Note>,
}

/// Name of a command. A leading slash is a habit from the console of clients.
fn command_name(words: &CommandArgs) -> &str {
    words.command().trim_start_matches(['/', '\\'])
}

impl Server {
    /// Runs a console line: one or more commands separated by `;` outside quotes.
    pub(super) fn run_line(&mut self, line: &str) {
        let outer = self.texts.exchange(vec![OpenText::new(line, 0, None)]);
        execute::run_texts(self);
        self.texts.exchange(outer);
    }
}

impl Core {
    /// Runs the commands of a line up to the first that does not set a setting. The rest is inserted
    /// before the queued lines.
    pub(super) fn run_settings_now(&mut self, line: &str) {
        let mut commands = ConsoleCommands::new(line).take(MAX_COMMANDS_NOW);
        let first = commands.find(|command| !set_now(self, command));
        let rest: Vec<&str> = first.into_iter().chain(commands).collect();
        if !rest.is_empty() {
            self.console.insert(&rest.join("\n"));
        }
    }

    fn change_setting(
        &mut self,
        source: ChangeSource,
        command: SetCommand,
        name: &str,
        value: &str,
    ) -> ChangeOutcome {
        let result = self.settings.set_with(command, source, name, value);
        self.finish_change(name, result)
    }

    fn reset_setting(&mut self, source: ChangeSource, name: &str) -> ChangeOutcome {
        let result = self.settings.reset(source, name);
        self.finish_change(name, result)
    }

    /// Prints the result of a change and its notes.
    fn finish_change(&mut self, name: &str, result: Result<Change, SettingError>) -> ChangeOutcome {
        let mut outcome = ChangeOutcome::default();
        match result {
            Ok(Change::Latched) => {
                outcome.is_latched = true;
                // Before the first level it takes effect with that.
                if !self.level.map.is_empty() {
                    self.print_line(format!("{name} will be changed upon restarting."));
                }
            }
            Ok(_) => {}
            Err(error) => {
                let cause = match error {
                    SettingError::TooMany { .. } => Cause::Full,
                    _ => Cause::Refused,
                };
                outcome.refusal = Some(cause);
                self.console.report(cause, error.to_string());
            }
        }
        while let Some(note) = self.settings.take_note() {
            if note.undeclared.is_some() {
                outcome.hints.push(note);
            } else {
                outcome.notes += 1;
                self.console.report(Cause::Changed, note.text);
            }
        }
        outcome
    }

    fn show_setting(&mut self, name: &str) {
        let shown = self.settings.describe(name).unwrap_or_else(|| match ignored_named(name) {
            Some(ignored) => {
                format!("{} is accepted and ignored: {}\n", ignored.name, ignored.reason)
            }
            None => format!("unknown setting {name}\n"),
        });
        self.print_lines(&shown);
    }

    /// Prints line by line, so that rcon packets end at line ends.
    fn print_lines(&mut self, text: &str) {
        for line in text.split_inclusive('\n') {
            self.print_line(line);
        }
    }

    fn print_pairs<'a>(&mut self, pairs: impl Iterator<Item = (&'a str, &'a str)>) {
        for (name, value) in pairs {
            self.print_line(format!("{name:<20} {value}"));
        }
    }
}

/// Restarts the level, at most once at a time: a vote and a limit may ask for it together. Reloads the map if a latched
/// setting requires it.
pub(super) fn restart_or_reload(server: &mut Server) {
    let now = server.core.now;
    if server.restarted_at.replace(now) == Some(now) {
        server.core.print_line("map_restart ignored: the level has just restarted");
        return;
    }
    let latched = |name| server.core.settings.latched(name).is_some();
    if latched("sv_maxclients") || latched("g_gametype") {
        server.core.print_line("variable change -- restarting.");
        // The rotation continues: the operator chose no other map.
        let next = server.core.settings.text(key::NEXTMAP).to_owned();
        let map = server.core.level.map.clone();
        execute::play(server, &map);
        let _ = server.core.settings.write(key::NEXTMAP, next);
    } else {
        server.restart_level();
    }
}

/// Runs a command that sets a setting. Returns false for other commands.
fn set_now(core: &mut Core, command: &str) -> bool {
    let words = CommandArgs::parse(command);
    let name = words.command();
    if let Some(command) = SetCommand::named(name)
        && words.len() > 2
    {
        core.change_setting(ChangeSource::Script, command, words.get(1), &words.rest(2));
        return true;
    }
    let is_command = COMMANDS.iter().any(|row| row.name.eq_ignore_ascii_case(name));
    if !is_command && words.len() > 1 && core.settings.get(name).is_some() {
        core.change_setting(ChangeSource::Script, SetCommand::Set, name, &words.rest(1));
        return true;
    }
    words.is_empty()
}

/// Runs the texts that waited for these frames, then the lines that the game queued. Lines that they queue run in the
/// next frame.
pub(super) fn run_queued_lines(server: &mut Server, frames: u64) {
    server.console_budget.begin_frame();
    log_refused_files(&mut server.core);
    for stack in server.texts.take_due(frames) {
        server.console_budget.begin_line();
        server.texts.exchange(stack);
        execute::run_texts(server);
    }
    server.core.console.begin_game_lines();
    for _ in 0..server.core.console.queued() {
        let Some(line) = server.core.console.next_queued() else { break };
        server.run_line(&line);
    }
    server.core.console.end_game_lines();
}

/// Sanitizes text for a quoted argument of a command.
fn sanitize_chat(said: &str) -> String {
    let safe = |c: char| {
        if c == '"' {
            '\''
        } else if c.is_control() {
            ' '
        } else {
            c
        }
    };
    text::truncated(said, 900).chars().map(safe).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_sorted_unique_and_documented() {
        assert!(COMMANDS.is_sorted_by_key(|command| command.name));
        assert!(COMMANDS.windows(2).all(|pair| pair[0].name != pair[1].name));
        assert!(COMMANDS.iter().all(|command| command.help.ends_with('.')));
    }
}
