//! Console commands that show: status, users, settings, maps, help.

use super::{COMMANDS, QwServer};
use crate::{
    bsp29::compiler::FRAGQW1,
    model::{CommandArgs, Millis},
    quakeworld::info,
    qwserver::{
        QwCounter,
        client::{Client, Stage},
        names::plain,
        settings::ROWS,
    },
};

impl QwServer {
    pub(super) fn echo(&mut self, args: &CommandArgs) {
        let text = format!("{}\n", args.rest(1));
        self.console.print(&text);
    }

    pub(super) fn show_status(&mut self, now: Millis) {
        let values = self.settings.values();
        let (players, spectators) = self.population();
        let (accepted, answered) =
            (self.counters.get(QwCounter::Accepted), self.counters.get(QwCounter::Answered));
        let mut text = format!(
            "hostname : {}\nmap      : {}, {} min\nclients  : {players} players, {spectators} spectators\n\
             packets  : {accepted} accepted, {answered} answered\n\
             userid frags ping loss min  state     address               name\n",
            values.text(crate::qwserver::settings::key::HOSTNAME),
            self.level.name,
            now.since(self.level.started).0 / 60_000,
        );
        for client in self.clients.iter().flatten() {
            let state = match client.stage {
                Stage::Connected => "connected",
                Stage::Spawning => "spawning",
                Stage::Playing if client.is_spectator => "spectator",
                Stage::Playing => "playing",
                Stage::Zombie => "zombie",
            };
            text.push_str(&format!(
                "{:6} {:5} {:4} {:4} {:3}  {state:9} {:21} {}\n",
                client.user_id,
                client.frags,
                client.timing.ping(),
                client.loss,
                now.since(client.connected_at).0 / 60_000,
                client.address().to_string(),
                plain(client.name()),
            ));
        }
        self.console.print(&text);
    }

    pub(super) fn list_users(&mut self) {
        let mut text = String::from("userid name\n------ ----\n");
        for client in self.clients.iter().flatten().filter(|client| client.is_connected()) {
            text.push_str(&format!("{:6} {}\n", client.user_id, plain(client.name())));
        }
        self.console.print(&text);
    }

    /// Slot of a client by its user id or its name.
    pub(super) fn find_user(&self, word: &str) -> Option<usize> {
        let number = word.parse::<i32>().ok();
        let is_it = |client: &Client| {
            client.is_connected()
                && (number == Some(client.user_id)
                    || plain(client.name()).eq_ignore_ascii_case(word))
        };
        self.clients.iter().position(|one| one.as_deref().is_some_and(is_it))
    }

    pub(super) fn dump_user(&mut self, args: &CommandArgs) {
        let client = self.find_user(args.get(1)).and_then(|slot| self.clients[slot].as_deref());
        let text = match client {
            Some(client) => pairs(client.info.as_bytes()),
            None => {
                format!("no client {}\n", crate::model::text::shown_name(args.get(1).as_bytes()))
            }
        };
        self.console.print(&text);
    }

    pub(super) fn list_commands(&mut self, _: &CommandArgs) {
        let mut text = String::new();
        for row in COMMANDS {
            text.push_str(&format!("{:10} {:14} {}\n", row.name, row.usage, row.help));
        }
        self.console.print(&text);
    }

    pub(super) fn list_settings(&mut self, args: &CommandArgs) {
        let part = args.get(1).to_ascii_lowercase();
        let mut text = String::new();
        for row in ROWS.iter().filter(|row| row.name.to_ascii_lowercase().contains(&part)) {
            if let Ok((row, value)) = self.settings.shown(row.name) {
                text.push_str(&format!("{:24} \"{value}\"\n", row.name));
            }
        }
        self.console.print(&text);
    }

    pub(super) fn help(&mut self, args: &CommandArgs) {
        let name = args.get(1);
        if name.is_empty() {
            return self.list_commands(args);
        }
        let command = COMMANDS.iter().find(|row| row.name.eq_ignore_ascii_case(name));
        let text = match (command, self.settings.shown(name)) {
            (Some(row), _) => format!("{} {}\n{}\n", row.name, row.usage, row.help),
            (None, Ok((row, value))) => {
                format!("{} \"{value}\" (expected {})\n{}\n", row.name, row.kind, row.help)
            }
            (None, Err(error)) => format!("{error}\n"),
        };
        self.console.print(&text);
    }

    pub(super) fn list_maps(&mut self) {
        let mut names: Vec<String> = self
            .assets
            .list("maps", "bsp")
            .iter()
            .filter_map(|path| {
                Some(path.as_str().strip_prefix("maps/")?.strip_suffix(".bsp")?.to_owned())
            })
            // Boxes of ammunition are models of the same form.
            .filter(|name| !name.starts_with("b_"))
            .collect();
        if !names.iter().any(|name| name == FRAGQW1) {
            names.push(FRAGQW1.to_owned());
        }
        self.console.print(&format!("{}\n", names.join("\n")));
    }

    pub(super) fn show_info(&mut self, info: &[u8]) {
        let text = pairs(info);
        self.console.print(&text);
    }
}

/// Lists an info string, one pair a line.
fn pairs(info: &[u8]) -> String {
    info::pairs(info).map(|(key, value)| format!("{:20} {}\n", plain(key), plain(value))).collect()
}
