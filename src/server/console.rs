//! Console: parses lines of the operator, of rcon and of the game, and runs their commands.
//!
//! One table holds name, help and function of each command; `cmdlist` and `help` print it. A line
//! that names no command is a setting to show or change, or a command of the game.
//! Source: console commands of Quake III servers and the replies that tools match on.
//! Engine names: `Cbuf_ExecuteText`, `Cmd_ExecuteString`, `vstr`.

mod commands;
mod output;
mod recording;
mod scripts;
mod table;

use self::table::COMMANDS;
pub(super) use self::{
    output::ConsoleStreams,
    scripts::{ConsoleBudget, run_before_first_level},
};
use super::{
    Server,
    core::{Core, log_refused_files},
};
use crate::{
    model::{ClientNum, CommandArgs, ConsoleCommands, text},
    settings::{ChangeSource, SetCommand},
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

/// Why a client was not found.
enum PlayerLookupError {
    BadSlot(usize),
    NotActive(usize),
    NoSuchName(String),
}

impl std::fmt::Display for PlayerLookupError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::BadSlot(slot) => write!(f, "Bad client slot: {slot}"),
            Self::NotActive(slot) => write!(f, "Client {slot} is not active"),
            Self::NoSuchName(name) => write!(f, "Player {name} is not on the server"),
        }
    }
}

impl Server {
    /// Runs a console line: one or more commands separated by `;` outside quotes.
    pub(super) fn run_line(&mut self, line: &str) {
        self.console_budget.begin_line();
        self.run_nested(line, 0);
    }

    fn run_nested(&mut self, text: &str, depth: u8) {
        for command in ConsoleCommands::new(text) {
            let words = CommandArgs::parse(command);
            if words.is_empty() {
                continue;
            }
            if let Err(message) = self.console_budget.take_command() {
                if let Some(message) = message {
                    self.core.print_line(message);
                }
                return;
            }
            // A comment may be longer.
            if command.len() > MAX_COMMAND_LEN && words.rest(0).len() > MAX_COMMAND_LEN {
                self.core.print_line(format!("command ignored: over {MAX_COMMAND_LEN} bytes"));
            } else if self.core.level.map.is_empty()
                && !scripts::is_early(&self.core, words.command())
            {
                self.core.console.queue(command);
            } else {
                self.run_command(&words, depth);
            }
        }
    }

    fn run_command(&mut self, words: &CommandArgs, depth: u8) {
        // A leading slash is a habit from the console of clients.
        let name = words.command().trim_start_matches(['/', '\\']);
        if let Some(command) = COMMANDS.iter().find(|c| c.name.eq_ignore_ascii_case(name)) {
            (command.run)(self, words, depth);
        } else if self.core.settings.get(name).is_some() {
            if words.len() == 1 {
                self.core.show_setting(name);
            } else {
                let value = words.rest(1);
                self.core.change_setting(SetCommand::Set, name, &value);
            }
        } else if self.enter_game(|game, host| game.console_command(host, words)) == Some(true) {
            self.process_pending_drops();
        } else {
            self.core.print_line(format!("unknown command: {name}"));
        }
    }

    /// Loads a map, or prints why it cannot be loaded. Returns whether it runs.
    fn play(&mut self, map: &str) -> bool {
        let loaded = self.load_level(map);
        if let Err(error) = &loaded {
            self.core.print_line(error.to_string());
        }
        loaded.is_ok()
    }

    /// Restarts the level, at most once in a frame. Reloads the map if a latched setting requires it.
    pub(super) fn restart_or_reload(&mut self) {
        if std::mem::replace(&mut self.restarted, true) {
            return;
        }
        let latched = |name| self.core.settings.latched(name).is_some();
        if latched("sv_maxclients") || latched("g_gametype") {
            self.core.print_line("variable change -- restarting.");
            let map = self.core.level.map.clone();
            self.play(&map);
        } else {
            self.restart_level();
        }
    }
}

impl Core {
    /// Runs the commands of a line up to the first that does not set a setting. The rest is inserted
    /// before the queued lines.
    pub(super) fn run_settings_now(&mut self, line: &str) {
        let mut commands = ConsoleCommands::new(line).take(MAX_COMMANDS_NOW);
        let first = commands.find(|command| !self.set_now(command));
        let rest: Vec<&str> = first.into_iter().chain(commands).collect();
        if !rest.is_empty() {
            self.console.insert(&rest.join("\n"));
        }
    }

    /// Runs a command that sets a setting. Returns false for other commands.
    fn set_now(&mut self, command: &str) -> bool {
        let words = CommandArgs::parse(command);
        let name = words.command();
        if let Some(command) = SetCommand::named(name)
            && words.len() > 2
        {
            self.change_setting(command, words.get(1), &words.rest(2));
            return true;
        }
        let is_command = COMMANDS.iter().any(|row| row.name.eq_ignore_ascii_case(name));
        if !is_command && words.len() > 1 && self.settings.get(name).is_some() {
            self.change_setting(SetCommand::Set, name, &words.rest(1));
            return true;
        }
        words.is_empty()
    }

    fn change_setting(&mut self, command: SetCommand, name: &str, value: &str) {
        match self.settings.set_with(command, ChangeSource::Operator, name, value) {
            // Before the first level it takes effect with that.
            Ok(crate::settings::Change::Latched) if !self.level.map.is_empty() => {
                self.print_line(format!("{name} will be changed upon restarting."));
            }
            Ok(_) => {}
            Err(error) => self.print_line(error.to_string()),
        }
        while let Some(note) = self.settings.poll_note() {
            self.print_line(note);
        }
    }

    fn show_setting(&mut self, name: &str) {
        let shown = self.settings.describe(name);
        self.print_lines(&shown.unwrap_or_else(|| format!("unknown setting {name}\n")));
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

    fn player_in(&self, slot: usize) -> Result<ClientNum, PlayerLookupError> {
        let number = ClientNum::new(slot).filter(|number| number.index() < self.slots());
        let number = number.ok_or(PlayerLookupError::BadSlot(slot))?;
        match self.clients.get(number) {
            Some(client) if !client.is_zombie() => Ok(number),
            None if self.bots.get(number).is_some() => Ok(number),
            _ => Err(PlayerLookupError::NotActive(slot)),
        }
    }

    /// Finds a client by slot, or by name: exactly, then without colors and case.
    fn find_player(&self, wanted: &str) -> Result<ClientNum, PlayerLookupError> {
        if let Ok(slot) = wanted.parse::<usize>()
            && slot < self.slots()
        {
            return self.player_in(slot);
        }
        let plain = text::strip_colors(wanted);
        let bots = self.bots.iter().map(|(number, bot)| (number, &bot.name));
        let clients = self.clients.present().map(|(number, client)| (number, &client.name));
        let names: Vec<_> = clients.chain(bots).collect();
        let exact = names.iter().find(|(_, name)| name.as_str() == wanted);
        exact
            .or_else(|| {
                names.iter().find(|(_, name)| text::strip_colors(name).eq_ignore_ascii_case(&plain))
            })
            .map(|&(number, _)| number)
            .ok_or_else(|| PlayerLookupError::NoSuchName(wanted.to_owned()))
    }
}

/// Runs the lines that the game queued. Lines that they queue run in the next frame.
pub(super) fn run_queued_lines(server: &mut Server) {
    server.console_budget.begin_frame();
    log_refused_files(&mut server.core);
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
