//! Console commands that change: kick, bans, info strings, maps, masters.

use super::QwServer;
use crate::{
    model::{CommandArgs, Millis},
    quakeworld::{ServerMessage, bytes::Text, info},
    qwserver::{bans::Mask, drop::DropReason, level::is_map_name, settings::key},
};

impl QwServer {
    pub(super) fn kick(&mut self, now: Millis, args: &CommandArgs) {
        match self.find_user(&args.rest(1)) {
            Some(slot) => self.drop_client(now, slot, DropReason::Kicked),
            None => {
                let shown = crate::model::text::shown_name(args.rest(1).as_bytes());
                self.console.print(&format!("no client {shown}\n"));
            }
        }
    }

    fn mask(&mut self, args: &CommandArgs) -> Option<Mask> {
        let mask = Mask::parse(args.get(1));
        if mask.is_none() {
            let shown = crate::model::text::shown_name(args.get(1).as_bytes());
            self.console.print(&format!(
                "{}: invalid mask {shown} (expected an address, 192.168 or 10.0.0.0/8)\n",
                args.command()
            ));
        }
        mask
    }

    pub(super) fn add_ip(&mut self, args: &CommandArgs) {
        let Some(mask) = self.mask(args) else { return };
        if !self.bans.add(mask) {
            self.console.print("addip: list full\n");
        }
    }

    pub(super) fn remove_ip(&mut self, args: &CommandArgs) {
        let Some(mask) = self.mask(args) else { return };
        let text = if self.bans.remove(mask) { "removed" } else { "not in the list" };
        self.console.print(&format!("{mask} {text}\n"));
    }

    pub(super) fn list_ips(&mut self) {
        let text: String = self.bans.all().iter().map(|mask| format!("{mask}\n")).collect();
        self.console.print(&text);
    }

    pub(super) fn local_info(&mut self, args: &CommandArgs) {
        if args.len() < 3 {
            let info = self.settings.localinfo().to_vec();
            return self.show_info(&info);
        }
        if let Err(error) = self.settings.set_localinfo(args.get(1), &args.rest(2)) {
            self.console.print(&format!("localinfo {error}\n"));
        }
    }

    pub(super) fn server_info(&mut self, args: &CommandArgs) {
        if args.len() < 3 {
            let info = self.settings.serverinfo().to_vec();
            return self.show_info(&info);
        }
        let (key, value) = (args.get(1), args.rest(2));
        if self.settings.shown(key).is_ok() {
            return self.change_setting(key, &value);
        }
        match self.settings.set_serverinfo(key, &value) {
            Ok(()) => self.tell_serverinfo(key),
            Err(error) => self.console.print(&format!("serverinfo {error}\n")),
        }
    }

    pub(super) fn set_command(&mut self, args: &CommandArgs) {
        match args.len() {
            0 | 1 => self.console.print("usage: set NAME VALUE\n"),
            2 => self.show_setting(args.get(1)),
            _ => self.change_setting(args.get(1), &args.rest(2)),
        }
    }

    /// Tells clients the value of a key of the serverinfo.
    pub(super) fn tell_serverinfo(&mut self, key: &str) {
        let value = info::value(self.settings.serverinfo(), key).unwrap_or_default().to_vec();
        self.broadcast(&ServerMessage::ServerInfo {
            key: Text::new(key.as_bytes()),
            value: Text::new(&value),
        });
    }

    /// Tells clients which passwords are needed.
    pub(super) fn tell_needpass(&mut self) {
        self.tell_serverinfo(key::NEEDPASS.setting().name);
    }

    pub(super) fn choose_map(&mut self, args: &CommandArgs) {
        let name = args.get(1).strip_suffix(".bsp").unwrap_or(args.get(1)).to_owned();
        if !is_map_name(&name) {
            let shown = crate::model::text::shown_name(name.as_bytes());
            return self.console.print(&format!("map name invalid: \"{shown}\"\n"));
        }
        self.next_map = Some(name);
    }

    pub(super) fn choose_next_map(&mut self) {
        self.next_map = Some(self.map_behind_current());
    }

    pub(super) fn set_masters(&mut self, now: Millis, args: &CommandArgs) {
        self.masters.set(args.arguments(), now);
        let text: String = self
            .masters
            .list()
            .map(|(name, address)| match address {
                Some(address) => format!("master {name}: {address}\n"),
                None => format!("master {name}\n"),
            })
            .collect();
        self.console.print(&text);
    }

    pub(super) fn beat_now(&mut self, now: Millis) {
        self.masters.beat(now);
    }
}
