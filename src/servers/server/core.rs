//! Server state apart from the game: settings, client slots, level, guards, sender, console and
//! statistics.
//!
//! [`super::Server`] holds the game and this core side by side, so that a call of the game is
//! passed the core as its [`Host`]. Each part owns its data. Invariant: no [`Host`] call enters the game,
//! which is in a call already; drops and console lines that it requests are processed after that
//! call. A nested drop runs the game's own closure.

use std::{collections::BTreeSet, net::IpAddr, sync::Arc};

use super::{
    authorization::Authorizer,
    bots::{self, BotSlots},
    client::ClientSlots,
    console::ConsoleStreams,
    disconnect::{begin_drop, end_drop},
    downloads::Downloads,
    frames::ServerFrames,
    game_log::GameLogBuffer,
    heartbeat::Announcer,
    level::Level,
    pure::PureLevel,
    rcon::RconGuard,
    recording::Recordings,
    send::Sender,
};
use crate::{
    game::{BotLink, ConsoleTiming, GameFiles, Host},
    model::{
        ClientNum, ClientSet, ConfigIndex, EntityNum, EntityShared, EntityState, Millis,
        UnixMillis, UserCmd,
        limits::{MAX_INFO_LEN, MAX_NAME_LEN, MAX_SERVER_COMMAND_LEN},
        text,
    },
    node::Route,
    observe::{Counter, LogEvent},
    serving::{
        configstrings::SetOutcome,
        guards::{GuardKeys, Guards},
        stats::Stats,
    },
    settings::{
        ChangeSource, Flags, MAX_NAME_LEN as MAX_SETTING_NAME_LEN, SetCommand, SettingError,
        Settings, Values, key,
    },
    wire::info::InfoString,
    world::{World, links},
};

/// Keys of a server, from the operating system's random source.
pub(super) struct ServerKeys {
    pub(super) guards: GuardKeys,
    /// Seed of the address tables of rcon.
    pub(super) rcon: u64,
}

impl ServerKeys {
    /// Key of the numbers that the authorization service repeats.
    fn authorization(&self) -> u64 {
        // Another value than those of the address tables, from which nothing is published.
        self.rcon.rotate_left(32) ^ self.guards.limits.swap_bytes()
    }
}

/// Everything but the game.
#[derive(Debug)]
pub(super) struct Core {
    pub(super) settings: Settings,
    pub(super) clients: ClientSlots,
    pub(super) bots: BotSlots,
    pub(super) level: Level,
    pub(super) frames: ServerFrames,
    pub(super) downloads: Downloads,
    /// Proof that clients owe on a pure server.
    pub(super) pure: Option<PureLevel>,
    pub(super) guards: Guards,
    pub(super) rcon: RconGuard,
    pub(super) announcer: Announcer,
    pub(super) authorizer: Authorizer,
    pub(super) sender: Sender,
    pub(super) stats: Stats,
    pub(super) console: ConsoleStreams,
    pub(super) game_log: GameLogBuffer,
    pub(super) recordings: Recordings,
    /// Files of the game.
    pub(super) files: GameFiles,
    /// Time of the call that is processed.
    pub(super) now: Millis,
    /// Calendar time at the zero of the clock, if known.
    pub(super) epoch: Option<UnixMillis>,
    /// Time in whole frames since the start, which snapshot intervals are measured by.
    pub(super) frame_time: Millis,
    /// Names of the maps that can be loaded, in alphabetical order.
    pub(super) map_names: Vec<String>,
    /// Clients that the game disconnects at the moment.
    pub(super) dropping: BTreeSet<ClientNum>,
    /// Drops requested while the game ran or a message was sent, with their reasons.
    pub(super) pending_drops: Vec<(ClientNum, String)>,
}

impl Core {
    pub(super) fn new(settings: Settings, map_names: Vec<String>, keys: ServerKeys) -> Self {
        Self {
            settings,
            clients: ClientSlots::default(),
            bots: BotSlots::default(),
            level: Level::none(),
            frames: ServerFrames::new(),
            downloads: Downloads::default(),
            pure: None,
            announcer: Announcer::default(),
            authorizer: Authorizer::new(keys.authorization()),
            guards: Guards::new(keys.guards),
            rcon: RconGuard::new(keys.rcon),
            sender: Sender::default(),
            stats: Stats::default(),
            console: ConsoleStreams::default(),
            game_log: GameLogBuffer::default(),
            recordings: Recordings::default(),
            files: GameFiles::default(),
            now: Millis(0),
            epoch: None,
            frame_time: Millis(0),
            map_names,
            dropping: BTreeSet::new(),
            pending_drops: Vec::new(),
        }
    }

    /// Queues a connectionless packet.
    pub(super) fn answer(&mut self, route: Route, write: impl FnOnce(&mut Vec<u8>)) {
        self.connections().answer(route, write);
    }

    /// Prints to the operator, or to the remote console whose command runs.
    pub(super) fn print_line(&mut self, text: impl Into<String>) {
        self.console.print(text);
    }

    /// Queues a reliable command for one client, if it has the level, or for a bot.
    pub(super) fn send_reliable(&mut self, number: ClientNum, text: &Arc<str>) {
        if let Some(bot) = self.bots.get_mut(number) {
            bot.link.queue(Arc::clone(text));
            return;
        }
        let Some(client) = self.clients.get_mut(number).filter(|client| client.has_level()) else {
            return;
        };
        if client.queue.push_text(Arc::clone(text)).is_err() {
            self.stats.bump(Counter::ReliableOverflows);
            self.pending_drops.push((number, "Server command overflow".to_owned()));
        }
    }

    /// Queues a reliable command for every client that has the level.
    pub(super) fn send_reliable_to_all(&mut self, text: &str) {
        let text = Arc::from(text);
        for recording in self.recordings.matches_mut() {
            recording.broadcast(&text);
        }
        for number in ClientNum::all() {
            self.send_reliable(number, &text);
        }
    }

    /// Replaces a configstring and queues the change for clients that have the level.
    pub(super) fn publish(&mut self, index: ConfigIndex, value: &str) {
        match self.level.configstrings.set(index, value) {
            SetOutcome::Unchanged => {}
            SetOutcome::Rejected => {
                if let Some(suppressed) =
                    self.stats.allows_log(LogEvent::GameConfigstring, self.now)
                {
                    let len = value.len();
                    log::warn!(
                        "configstring {index} rejected: {len} bytes do not fit the gamestate{suppressed}"
                    );
                }
            }
            SetOutcome::Changed if self.level.starting => {}
            SetOutcome::Changed => {
                for recording in self.recordings.matches_mut() {
                    recording.configstring(index, self.level.configstrings.get(index));
                }
                for (_, client) in self.clients.iter_mut().filter(|(_, c)| c.has_level()) {
                    client.queue.push_configstring(index);
                }
                bots::publish(self, index);
            }
        }
    }

    /// Stores the userinfo of a client, with the name and send rate in it.
    pub(super) fn store_userinfo(&mut self, number: ClientNum, info: InfoString) {
        let Some(client) = self.clients.get_mut(number) else { return };
        let name = info.get("name").unwrap_or("");
        client.name = text::truncated(name, MAX_NAME_LEN).to_owned();
        client.send_rate = super::rate::send_rate(&self.settings, &info);
        client.userinfo = info;
    }

    /// Number of client slots.
    pub(super) fn slots(&self) -> usize {
        self.settings.int(key::SV_MAXCLIENTS).max(1).unsigned_abs() as usize
    }
}

/// Logs a setting of the game that was refused.
fn log_setting(core: &mut Core, what: &str, name: &str, error: &SettingError) {
    if let Some(suppressed) = core.stats.allows_log(LogEvent::GameSetting, core.now) {
        let name = text::truncated(name, MAX_SETTING_NAME_LEN);
        log::warn!("setting {name} {what}: {error}{suppressed}");
    }
}

/// Logs the files that the game could not write.
pub(super) fn log_refused_files(core: &mut Core) {
    if let Some(refusal) = core.files.take_refusal()
        && let Some(suppressed) = core.stats.allows_log(LogEvent::GameFile, core.now)
    {
        log::warn!("{refusal}{suppressed}");
    }
}

impl Host for Core {
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
        Some(&mut self.files)
    }

    fn serverinfo(&self) -> String {
        Self::serverinfo(self).as_str().to_owned()
    }

    fn clock(&self) -> Millis {
        self.now
    }

    fn calendar_time(&self) -> Option<UnixMillis> {
        self.epoch.map(|epoch| epoch + self.now)
    }

    fn reply(&mut self, text: &str) {
        self.print_line(text);
    }

    fn map_names(&self) -> &[String] {
        &self.map_names
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
            log_setting(self, "rejected", name, &error);
        }
    }

    fn register_setting(&mut self, name: &str, default: &str, flags: Flags) {
        if let Err(error) = self.settings.register(name, default, flags) {
            log_setting(self, "not registered", name, &error);
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
            Some(number) => self.send_reliable(number, &Arc::from(text)),
            None => self.send_reliable_to_all(text),
        }
    }

    fn set_configstring(&mut self, index: ConfigIndex, text: &str) {
        self.publish(index, text);
    }

    fn has_room(&self, index: ConfigIndex, text: &str) -> bool {
        self.level.configstrings.is_fair(index, text)
    }

    fn configstring(&self, index: ConfigIndex) -> &str {
        self.level.configstrings.get(index)
    }

    fn userinfo(&self, client: ClientNum) -> &str {
        let of_bot = || self.bots.get(client).map(|bot| &bot.userinfo);
        let info = self.clients.get(client).map(|client| &client.userinfo).or_else(of_bot);
        info.map_or("", InfoString::as_str)
    }

    fn usercmd(&self, client: ClientNum) -> UserCmd {
        let of_bot = || self.bots.get(client).map(|bot| bot.link.last_usercmd);
        let command = self.clients.get(client).map(|client| client.last_usercmd).or_else(of_bot);
        command.unwrap_or_default()
    }

    fn address(&self, client: ClientNum) -> Option<IpAddr> {
        Some(self.clients.get(client)?.remote.address().ip().to_canonical())
    }

    fn set_userinfo(&mut self, client: ClientNum, text: &str) {
        if let Some(bot) = self.bots.get_mut(client).filter(|_| text.len() <= MAX_INFO_LEN) {
            bot.set_userinfo(InfoString::parse(text));
        }
        let Some(address) = self.address(client) else { return };
        let mut info = InfoString::parse(text);
        // Text that is cut may lose any key.
        if text.len() > MAX_INFO_LEN || info.set("ip", &address.to_string()).is_err() {
            log::debug!("client {client}: userinfo of {} bytes discarded", text.len());
            return;
        }
        self.store_userinfo(client, info);
    }

    fn drop_client(&mut self, client: ClientNum, reason: &str) {
        self.pending_drops.push((client, reason.to_owned()));
    }

    fn drop_client_now(
        &mut self,
        client: ClientNum,
        reason: &str,
        disconnect: &mut dyn FnMut(&mut dyn Host),
    ) {
        if begin_drop(self, client, reason) {
            disconnect(self);
            end_drop(self, client, reason);
        }
    }

    fn allocate_bot(&mut self) -> Option<ClientNum> {
        bots::allocate(self)
    }

    fn free_bot(&mut self, client: ClientNum) {
        self.bots.free(client);
    }

    fn bot(&mut self, client: ClientNum) -> Option<&mut BotLink> {
        self.bots.get_mut(client).map(|bot| &mut bot.link)
    }

    fn run_console(&mut self, when: ConsoleTiming, line: &str) {
        match when {
            ConsoleTiming::Now => self.run_settings_now(line),
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
        server::client::Client,
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
            (Protocol::OA_71, false),
            Millis(0),
        );
        client.prime(Millis(0));
        client.enter(UserCmd::default());
        core.clients.put(number, client);
        for (len, queued) in [(1021, 1), (1022, 2), (1023, 2), (1024, 2)] {
            core.send_command(Some(number), &"x".repeat(len));
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
            core.set_setting("bad\tname", "1");
            core.register_setting("bad;name", "1", Flags::PLAIN);
            core.set_setting("sv_fps", "never");
        }
        let allows = |core: &mut Core, at| core.stats.allows_log(LogEvent::GameSetting, at);
        assert_eq!(allows(&mut core, Millis(999)), None);
        let suppressed = allows(&mut core, Millis(1000)).map(|count| count.to_string());
        assert_eq!(suppressed.as_deref(), Some(" (+300 suppressed)"));
    }
}
