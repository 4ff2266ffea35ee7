//! Console commands, typed by the operator or sent through the remote console.
//!
//! One table names them, explains them and runs them; `cmdlist` and `help` print it. A line that names
//! no command is a setting to show or change, or else the game's.
//! Source: console commands of Quake III servers and the replies that tools match on.

mod output;
mod table;

use std::fmt::Write as _;

pub(super) use self::output::ConsoleStreams;
use self::table::{COMMANDS, Command};
use super::{
    Server,
    client::ClientState,
    core::Core,
    level::is_map_name,
    rate,
    status::{self, StatusRow, StatusState},
};
use crate::{
    model::{ClientNum, Words, text},
    settings::{ChangeSource, SetCommand, key, name_matches},
};

/// How deep variables may lead to variables, and how many commands one line may lead to: `vstr` of a
/// variable that names itself, or twice the next one, must end.
const MAX_NESTING: u8 = 16;
const MAX_COMMANDS: u32 = 512;
/// Seconds that `map_restart` waits unless it is told, and at most.
const RESTART_DELAY_S: i32 = 5;
const MAX_RESTART_DELAY_S: i32 = 3600;

/// Why no player was found.
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
        self.commands_left = MAX_COMMANDS;
        self.run_nested(line, 0);
    }

    fn run_nested(&mut self, line: &str, depth: u8) {
        if depth >= MAX_NESTING {
            self.core.print_line("a variable leads back to itself, or too deep: nothing is run");
            return;
        }
        for command in split_commands(line) {
            let words = Words::parse(command);
            if words.is_empty() {
                continue;
            }
            let Some(left) = self.commands_left.checked_sub(1) else {
                // Said by the one that met the end, not by all that led there.
                return;
            };
            self.commands_left = left;
            if left == 0 {
                self.core.print_line("the line leads to too many commands: the rest is not run");
                return;
            }
            self.run_command(&words, depth);
        }
    }

    fn run_command(&mut self, words: &Words, depth: u8) {
        // A slash in front is a habit from the players' console.
        let name = words.command().trim_start_matches(['/', '\\']);
        if let Some(command) = COMMANDS.iter().find(|c| c.name.eq_ignore_ascii_case(name)) {
            (command.run)(self, words, depth);
        } else if self.core.settings.get(name).is_some() {
            if words.len() == 1 {
                self.core.show_setting(name);
            } else {
                let value = words.from(1);
                self.core.change_setting(SetCommand::Set, name, &value);
            }
        } else if self.game.console_command(&mut self.core, words) {
            self.process_pending_drops();
        } else {
            self.core.print_line(format!("unknown command: {name}"));
        }
    }

    fn run_variable(&mut self, words: &Words, depth: u8) {
        let line = self.core.settings.get(words.get(1)).unwrap_or("").to_owned();
        self.run_nested(&line, depth + 1);
    }

    fn explain(&mut self, words: &Words) {
        let wanted = words.get(1);
        let mut out = String::new();
        for command in COMMANDS {
            if wanted.is_empty() || command.name.eq_ignore_ascii_case(wanted) {
                let head = format!("{} {}", command.name, command.usage);
                let _ = writeln!(out, "{head:<30} {}", command.help);
            }
        }
        if out.is_empty() {
            out = format!("there is no command {wanted}; cmdlist lists them");
        }
        self.core.print_line(out);
    }

    fn list_commands(&mut self, words: &Words) {
        let named = |command: &&Command| name_matches(words.get(1), command.name);
        let names: Vec<_> = COMMANDS.iter().filter(named).map(|command| command.name).collect();
        for name in &names {
            self.core.print_line(*name);
        }
        self.core.print_line(format!("{} commands", names.len()));
    }

    fn list_settings(&mut self, words: &Words) {
        let list = self.core.settings.cvarlist(words.get(1));
        self.core.print_lines(&list);
    }

    fn list_counters(&mut self, words: &Words) {
        let lines: Vec<_> = self
            .samples()
            .filter(|sample| name_matches(words.get(1), sample.name))
            .map(|sample| format!("{:<52} {}", sample.name, sample.value))
            .collect();
        lines.into_iter().for_each(|line| self.core.print_line(line));
    }

    fn set(&mut self, words: &Words, command: SetCommand) {
        if words.len() < 2 {
            self.core.print_line(format!("Usage: {} <name> <value>", words.command()));
        } else if words.len() == 2 {
            self.core.show_setting(words.get(1));
        } else {
            self.core.change_setting(command, words.get(1), &words.from(2));
        }
    }

    fn change_map(&mut self, words: &Words, cheats: bool) {
        let map = words.get(1).to_owned();
        if !is_map_name(&map) {
            self.core
                .print_line(format!("Can't find map maps/{}.bsp", text::escaped(map.as_bytes())));
            return;
        }
        if self.play(&map) {
            // The server's own setting takes what it writes.
            let _ = self.core.settings.write(key::SV_CHEATS, i32::from(cheats));
            self.publish_settings();
        }
    }

    /// Plays a map, or says why it can't be played. True when it is played.
    fn play(&mut self, map: &str) -> bool {
        let loaded = self.load_level(map);
        if let Err(error) = &loaded {
            self.core.print_line(error.to_string());
        }
        loaded.is_ok()
    }

    /// Restarts the level at once, or after a countdown that the game shows to clients.
    pub(super) fn restart_in(&mut self, words: &Words) {
        let asked = words.get(1);
        let seconds = if asked.is_empty() { RESTART_DELAY_S } else { text::leading_int(asked) };
        let at = self.core.level.time + seconds.min(MAX_RESTART_DELAY_S) * 1000;
        if seconds > 0 && self.game.show_restart_countdown(&mut self.core, at) {
            self.core.level.restart_at = Some(at);
        } else {
            self.restart_or_reload();
        }
    }

    /// Begins the level anew, once a frame; from the map's file when what waits for that asks for it.
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

    fn quit(&mut self, words: &Words) {
        let reason = words.from(1);
        let now = self.core.now;
        crate::node::Hosted::stop(
            self,
            now,
            if reason.is_empty() { "Server quit" } else { &reason },
        );
    }

    fn say(&mut self, words: &Words) {
        let said = sanitize_chat(&words.from(1));
        self.core.send_reliable_to_all(&format!("chat \"console: {said}\"\n"));
        self.core.print_line(format!("console: {said}"));
    }

    fn tell_player(&mut self, words: &Words) {
        if words.len() < 3 {
            self.core.print_line("Usage: tell <name or slot> <text>");
            return;
        }
        match self.core.find_player(words.get(1)) {
            Ok(number) => {
                let said = sanitize_chat(&words.from(2));
                let command = format!("chat \"console_tell: {said}\"\n");
                self.core.send_reliable(number, &command.into());
                self.core.print_line(format!("console_tell: {said}"));
            }
            Err(error) => self.core.print_line(error.to_string()),
        }
    }

    fn kick(&mut self, words: &Words) {
        let wanted = words.from(1);
        if wanted.is_empty() {
            self.core.print_line(
                "Usage: kick <player name>\nkick all = kick everyone\nkick allbots = kick all bots",
            );
        } else if wanted.eq_ignore_ascii_case("all") {
            for number in self.core.clients.numbers() {
                self.drop_client(number, "was kicked");
            }
        } else if !wanted.eq_ignore_ascii_case("allbots") {
            match self.core.find_player(&wanted) {
                Ok(number) => self.drop_client(number, "was kicked"),
                Err(error) => self.core.print_line(error.to_string()),
            }
        }
        self.process_pending_drops();
    }

    fn client_kick(&mut self, words: &Words) {
        let slot = words.get(1);
        if words.len() != 2 {
            self.core.print_line(format!("Usage: {} <client number>", words.command()));
        } else if slot.is_empty() || !slot.bytes().all(|byte| byte.is_ascii_digit()) {
            self.core.print_line(format!("Bad slot number: {slot}"));
        } else {
            let slot = usize::try_from(text::leading_int(slot)).unwrap_or(usize::MAX);
            match self.core.player_in(slot) {
                Ok(number) => self.drop_client(number, "was kicked"),
                Err(error) => self.core.print_line(error.to_string()),
            }
        }
        self.process_pending_drops();
    }

    fn dump_user(&mut self, words: &Words) {
        match self.core.find_player(words.get(1)) {
            Ok(number) => {
                let info = self.core.clients.get(number).map(|c| c.userinfo.clone());
                self.core.print_line("userinfo\n--------");
                let info = info.unwrap_or_default();
                self.core.print_pairs(info.iter().filter(|(name, _)| *name != "password"));
            }
            Err(error) => self.core.print_line(error.to_string()),
        }
    }

    fn show_status(&mut self) {
        let game = &self.game;
        let core = &self.core;
        let rows: Vec<_> = core
            .clients
            .iter()
            .map(|(number, client)| StatusRow {
                slot: number.index(),
                score: game.score(number),
                state: match client.state {
                    ClientState::Connected(_) => StatusState::Connecting,
                    ClientState::Primed(_) => StatusState::Primed { ping_ms: client.ping_ms() },
                    ClientState::Active(_) => StatusState::Active { ping_ms: client.ping_ms() },
                    ClientState::Zombie(_) => StatusState::Zombie,
                },
                name: if client.is_zombie() { String::new() } else { client.name.clone() },
                last_packet_ms: core.now.since(client.received_at).0,
                address: client.remote.address().to_string(),
                qport: client.remote.qport().0,
                rate: rate::granted(&core.settings, client.send_rate, client.remote.address()),
            })
            .collect();
        let style = core.settings.choice(key::SV_STATUS_STYLE);
        let table = status::table(style, &core.level.map, &rows);
        self.core.print_lines(&table);
    }
}

impl Core {
    fn change_setting(&mut self, command: SetCommand, name: &str, value: &str) {
        match self.settings.set_with(command, ChangeSource::Operator, name, value) {
            Ok(crate::settings::Change::Latched) => {
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
        self.print_lines(&shown.unwrap_or_else(|| format!("there is no setting {name}\n")));
    }

    /// Prints line by line, so that a remote console's packets end where lines end.
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
            _ => Err(PlayerLookupError::NotActive(slot)),
        }
    }

    /// A player by slot, or by name: exactly, or without colours and case.
    fn find_player(&self, wanted: &str) -> Result<ClientNum, PlayerLookupError> {
        if let Ok(slot) = wanted.parse::<usize>()
            && slot < self.slots()
        {
            return self.player_in(slot);
        }
        let plain = text::without_colours(wanted);
        let exact = self.clients.present().find(|(_, client)| client.name == wanted);
        exact
            .or_else(|| {
                self.clients.present().find(|(_, client)| {
                    text::without_colours(&client.name).eq_ignore_ascii_case(&plain)
                })
            })
            .map(|(number, _)| number)
            .ok_or_else(|| PlayerLookupError::NoSuchName(wanted.to_owned()))
    }
}

/// Text as it may stand inside a quoted word.
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

/// The commands of a line: separated by `;` and line ends outside quotes.
fn split_commands(line: &str) -> impl Iterator<Item = &str> {
    let mut quoted = false;
    line.split(move |c| {
        quoted ^= c == '"';
        c == '\n' || c == ';' && !quoted
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_named_once_and_explained() {
        assert!(COMMANDS.is_sorted_by_key(|command| command.name));
        assert!(COMMANDS.windows(2).all(|pair| pair[0].name != pair[1].name));
        assert!(COMMANDS.iter().all(|command| command.help.ends_with('.')));
    }

    #[test]
    fn lines_are_split_outside_quotes() {
        let split = |line| split_commands(line).collect::<Vec<_>>();
        assert_eq!(split("a;b \"c;d\"; e"), ["a", "b \"c;d\"", " e"]);
        assert_eq!(split("a\nb"), ["a", "b"]);
    }
}
