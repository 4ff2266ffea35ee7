//! Host of the game: the parts that a call of the game may reach.
//!
//! Invariant: no [`Host`] call enters the game, which is in a call already; drops and console lines that it
//! requests are processed after that call. A nested drop runs the game's own closure.

use std::{net::IpAddr, sync::Arc};

use super::{
    audience::Audience,
    bots::{self, userinfo_of},
    client::{slot_count, store_userinfo},
    console::{output::ConsoleStreams, run_settings_now},
    core::Core,
    current_level::Level,
    game_log::GameLogBuffer,
    info_strings,
};
use crate::{
    game::{BotLink, ConsoleTiming, GameFiles, Host},
    model::{
        ClientNum, ClientSet, ConfigIndex, EntityNum, EntityShared, EntityState, Millis,
        UnixMillis, UserCmd,
        limits::{MAX_INFO_LEN, MAX_SERVER_COMMAND_LEN},
        text,
    },
    observe::LogEvent,
    settings::{
        ChangeSource, Flags, MAX_NAME_LEN as MAX_SETTING_NAME_LEN, SetCommand, SettingError,
        Settings, Values, key,
    },
    wire::info::InfoString,
    world::{World, links},
};

/// Parts that a call of the game may reach.
pub(super) struct GameHost<'a> {
    settings: &'a mut Settings,
    audience: Audience<'a>,
    level: &'a mut Level,
    console: &'a mut ConsoleStreams,
    game_log: &'a mut GameLogBuffer,
    files: &'a mut GameFiles,
    map_names: &'a [String],
    epoch: Option<UnixMillis>,
}

impl Core {
    /// The parts that a call of the game may reach.
    pub(super) fn host(&mut self) -> GameHost<'_> {
        GameHost {
            settings: &mut self.settings,
            audience: Audience {
                clients: &mut self.clients,
                bots: &mut self.bots,
                recordings: &mut self.recordings,
                stats: &mut self.stats,
                drops: &mut self.pending_drops,
                dropping: &mut self.dropping,
                now: self.now,
            },
            level: &mut self.level,
            console: &mut self.console,
            game_log: &mut self.game_log,
            files: &mut self.files,
            map_names: &self.map_names,
            epoch: self.epoch,
        }
    }
}

/// Logs a setting of the game that was refused.
fn log_setting(to: &mut Audience<'_>, what: &str, name: &str, error: &SettingError) {
    if let Some(suppressed) = to.stats.allows_log(LogEvent::GameSetting, to.now) {
        let name = text::truncated(name, MAX_SETTING_NAME_LEN);
        log::warn!("setting {name} {what}: {error}{suppressed}");
    }
}

impl Host for GameHost<'_> {
    fn print(&mut self, text: &str) {
        // The log shows control characters as escapes; a backslash is a separator here and stays.
        log::info!(target: "game", "{}", text.trim_end_matches('\n'));
    }

    fn warn(&mut self, text: &str) {
        log::warn!(target: "game", "{}", text.trim_end_matches('\n'));
    }

    fn log_line(&mut self, clock_ms: i32, text: &str) {
        if self.settings.text(key::G_LOG).is_empty() {
            self.print(text);
        } else {
            log::debug!(target: "game", "{}", text.trim_end_matches('\n'));
        }
        self.game_log.push(clock_ms, text);
    }

    fn log_text(&mut self, text: &str) {
        self.game_log.push_text(text);
    }

    fn files(&mut self) -> Option<&mut GameFiles> {
        Some(&mut *self.files)
    }

    fn serverinfo(&self) -> String {
        info_strings::serverinfo(self.settings).as_str().to_owned()
    }

    fn clock(&self) -> Millis {
        self.audience.now
    }

    fn calendar_time(&self) -> Option<UnixMillis> {
        self.epoch.map(|epoch| epoch + self.audience.now)
    }

    fn reply(&mut self, text: &str) {
        self.console.print(text);
    }

    fn map_names(&self) -> &[String] {
        self.map_names
    }

    fn settings(&self) -> &Values {
        self.settings.values()
    }

    fn setting(&self, name: &str) -> &str {
        self.settings.get(name).unwrap_or("")
    }

    fn settings_version(&self) -> Option<u64> {
        Some(self.settings.version())
    }

    fn set_setting(&mut self, name: &str, value: &str) {
        if let Err(error) = self.settings.set_with(SetCommand::Set, ChangeSource::Game, name, value)
        {
            log_setting(&mut self.audience, "rejected", name, &error);
        }
    }

    fn register_setting(&mut self, name: &str, default: &str, flags: Flags) {
        if let Err(error) = self.settings.register(name, default, flags) {
            log_setting(&mut self.audience, "not registered", name, &error);
        }
    }

    fn setting_changes(&self, name: &str) -> u32 {
        self.settings.change_count(name).unwrap_or(0)
    }

    fn send_command(&mut self, to: Option<ClientNum>, text: &str) {
        if text.len() > MAX_SERVER_COMMAND_LEN || text.contains('\0') {
            log::debug!("server command of {} bytes discarded", text.len());
            return;
        }
        match to {
            Some(number) => self.audience.send(number, &Arc::from(text)),
            None => self.audience.send_to_all(text),
        }
    }

    fn set_configstring(&mut self, index: ConfigIndex, text: &str) {
        self.audience.publish(self.level, index, text);
    }

    fn has_room(&self, index: ConfigIndex, text: &str) -> bool {
        self.level.configstrings.is_fair(index, text)
    }

    fn configstring(&self, index: ConfigIndex) -> &str {
        self.level.configstrings.get(index)
    }

    fn userinfo(&self, client: ClientNum) -> &str {
        userinfo_of(self.audience.clients, self.audience.bots, client)
    }

    fn usercmd(&self, client: ClientNum) -> UserCmd {
        let Audience { clients, bots, .. } = &self.audience;
        let of_bot = || bots.get(client).map(|bot| bot.link.last_usercmd);
        let command = clients.get(client).map(|client| client.last_usercmd).or_else(of_bot);
        command.unwrap_or_default()
    }

    fn address(&self, client: ClientNum) -> Option<IpAddr> {
        Some(self.audience.clients.get(client)?.remote.address().ip().to_canonical())
    }

    fn set_userinfo(&mut self, client: ClientNum, text: &str) {
        if let Some(bot) = self.audience.bots.get_mut(client).filter(|_| text.len() <= MAX_INFO_LEN)
        {
            bot.set_userinfo(InfoString::parse(text));
        }
        let Some(address) = self.address(client) else { return };
        let mut info = InfoString::parse(text);
        // Text that is cut may lose any key.
        if text.len() > MAX_INFO_LEN || info.set("ip", &address.to_string()).is_err() {
            log::debug!("client {client}: userinfo of {} bytes discarded", text.len());
            return;
        }
        store_userinfo(self.audience.clients, self.settings, client, info);
    }

    fn drop_client(&mut self, client: ClientNum, reason: &str) {
        self.audience.drops.push((client, reason.to_owned()));
    }

    fn drop_client_now(
        &mut self,
        client: ClientNum,
        reason: &str,
        disconnect: &mut dyn FnMut(&mut dyn Host),
    ) {
        if self.audience.begin_drop(client, reason) {
            disconnect(self);
            self.audience.end_drop(&self.level.configstrings, client, reason);
        }
    }

    fn allocate_bot(&mut self) -> Option<ClientNum> {
        bots::allocate(self.audience.clients, self.audience.bots, slot_count(self.settings))
    }

    fn free_bot(&mut self, client: ClientNum) {
        self.audience.bots.free(client);
    }

    fn bot(&mut self, client: ClientNum) -> Option<&mut BotLink> {
        self.audience.bots.get_mut(client).map(|bot| &mut bot.link)
    }

    fn run_console(&mut self, when: ConsoleTiming, line: &str) {
        match when {
            ConsoleTiming::Now => {
                let has_level = !self.level.map.is_empty();
                run_settings_now(self.settings, self.console, has_level, line);
            }
            ConsoleTiming::Insert => self.console.insert(line),
            ConsoleTiming::Append => self.console.queue(line),
        }
    }

    fn is_local(&self, client: ClientNum) -> bool {
        // A client on this machine connects over loopback like any other, so every client is
        // remote.
        let _ = client;
        false
    }

    fn world(&self) -> Option<&World> {
        self.level.world.as_ref()
    }

    fn world_mut(&mut self) -> Option<&mut World> {
        self.level.world.as_mut()
    }

    fn link_entity(&mut self, state: &mut EntityState, shared: &mut EntityShared) {
        match self.level.world.as_mut().zip(state.entity_num()) {
            Some((world, number)) => world.link(number, state, shared),
            None => links::measure(state, shared),
        }
    }

    fn relink_settled(&mut self, clients: ClientSet) {
        if let Some(world) = &mut self.level.world {
            world.relink_settled(clients);
        }
    }

    fn unlink_entity(&mut self, number: EntityNum, shared: &mut EntityShared) {
        match &mut self.level.world {
            Some(world) => world.unlink(number, shared),
            None => shared.linked = 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        model::{Challenge, Qport},
        netchan::PeerAddress,
        server::{client::Client, core::ServerKeys},
        serving::guards::GuardKeys,
        wire::Protocol,
    };

    #[test]
    fn m9_server_commands_over_1022_bytes_are_discarded() {
        let keys = ServerKeys { guards: GuardKeys { challenges: [0; 16], limits: 0 }, rcon: 0 };
        let mut core = Core::new(Settings::default(), Vec::new(), keys);
        let number = ClientNum::new(3).expect("a slot");
        let address = "192.0.2.1:27960".parse().expect("an address");
        let mut client = Client::new(
            PeerAddress::new(address, Qport(1)),
            Challenge(1),
            Protocol::OA_71,
            false,
            Millis(0),
        );
        client.prime(Millis(0));
        client.enter(UserCmd::default());
        core.clients.put(number, client);
        for (len, queued) in [(1021, 1), (1022, 2), (1023, 2), (1024, 2)] {
            core.host().send_command(Some(number), &"x".repeat(len));
            let waiting = core.clients.get(number).expect("the client").queue.pending();
            assert_eq!(waiting, queued, "{len} bytes");
        }
        assert!(core.pending_drops.is_empty(), "no client is dropped for it");
    }

    #[test]
    fn refused_settings_are_logged_once_a_second() {
        let keys = ServerKeys { guards: GuardKeys { challenges: [0; 16], limits: 0 }, rcon: 0 };
        let mut core = Core::new(Settings::default(), Vec::new(), keys);
        for _ in 0..100 {
            core.host().set_setting("bad\tname", "1");
            core.host().register_setting("bad;name", "1", Flags::PLAIN);
            core.host().set_setting("sv_fps", "never");
        }
        let allows = |core: &mut Core, at| core.stats.allows_log(LogEvent::GameSetting, at);
        assert_eq!(allows(&mut core, Millis(999)), None);
        let suppressed = allows(&mut core, Millis(1000)).map(|count| count.to_string());
        assert_eq!(suppressed.as_deref(), Some(" (+300 suppressed)"));
    }
}
