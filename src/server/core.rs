//! What the server holds besides the game: everything the rules may ask for, and the tools of sending.
//!
//! The game and this core stand side by side in [`super::Server`], so that a game's entry can be handed
//! the core as its [`Host`]. Invariant: no [`Host`] call reaches back into the game; drops and console
//! lines that the game asks for are carried out after its entry has returned.

use std::{collections::VecDeque, net::IpAddr, sync::Arc};

use rand_pcg::Pcg32;

use super::{
    challenge::Challenges,
    client::{Client, Clients},
    configstrings::Outcome,
    connect_budget::ConnectBudget,
    deltas::Deltas,
    journal::Journal,
    level::Level,
    limits::Limits,
    rcon::RconGuard,
    sight::Sight,
    strikes::Strikes,
    workload::Workload,
};
use crate::{
    game::Host,
    model::{
        ClientNum, ConfigIndex, EntityNum, EntityShared, EntityState, FrameNum, FrameRing, Millis,
        UnixMillis, UserCmd,
        limits::{MAX_INFO_LEN, MAX_NAME_LEN, MAX_SERVER_COMMAND_LEN},
        text,
    },
    node::{LocalPort, LoopCounters, Outbox, Route},
    observe::{Counter, Counters, LogLimiter},
    settings::{ChangeSource, SetCommand, Settings, Values, key},
    wire::{bits::BitWriter, info::Info},
    world::{World, links},
};

/// Server frames whose entities are kept. A client's base is at most 28 snapshots old; at the slowest
/// usual pace of 20 in a second and 125 frames a second that is 175 frames.
const FRAMES_KEPT: usize = 256;

/// Number of the first server frame. Nothing depends on it, so numbers soon wrap in every run: what would
/// be wrong about that shows after ten seconds and not after seven years.
const FIRST_FRAME: FrameNum = FrameNum::MAX - 200;

/// Everything but the game.
#[derive(Debug)]
pub(super) struct Core {
    pub(super) settings: Settings,
    pub(super) clients: Clients,
    pub(super) level: Level,
    /// The level's map, when its file is at hand.
    pub(super) world: Option<World>,
    /// What is seen from where in the newest frame.
    pub(super) sight: Sight,
    pub(super) challenges: Challenges,
    pub(super) limits: Limits,
    pub(super) connect_budget: ConnectBudget,
    pub(super) strikes: Strikes,
    pub(super) workload: Workload,
    pub(super) rcon: RconGuard,
    pub(super) counters: Counters,
    /// What the loop has counted, as it told last.
    pub(super) loop_counters: LoopCounters,
    pub(super) log_limiter: LogLimiter,
    /// All chance of the engine. The game gets a seed of its own.
    pub(super) random: Pcg32,

    /// Calendar time at the zero of [`Core::now`], if the server was told.
    pub(super) began: Option<UnixMillis>,
    /// Time of the call being served.
    pub(super) now: Millis,
    /// Time as frames count it: grows by a whole frame with each.
    pub(super) frame_clock: Millis,
    pub(super) frames: FrameRing,
    pub(super) frame_num: FrameNum,
    /// What leads to the newest frame, encoded.
    pub(super) deltas: Deltas,

    pub(super) outbox: Outbox,
    /// The message being written, and the one being read: memory used again and again.
    pub(super) writer: BitWriter,
    pub(super) message: Vec<u8>,

    /// Text for the operator.
    pub(super) output: VecDeque<String>,
    /// Lines of the game's log that nobody has taken yet.
    pub(super) journal: Journal,
    /// Collects what commands print while a remote console waits for it.
    pub(super) redirect: Option<Vec<String>>,
    /// Maps that can be played, in alphabetical order.
    pub(super) map_names: Vec<String>,
    /// Asked for by the game, done when its entry has returned.
    pub(super) drops: Vec<(ClientNum, String)>,
    pub(super) console: VecDeque<String>,
}

impl Core {
    pub(super) fn new(settings: Settings, entropy: [u8; 32]) -> Self {
        let (key, rest) = entropy.split_at(16);
        let word = |at: usize| {
            u64::from_le_bytes(rest[at..at + 8].try_into().expect("eight bytes of sixteen"))
        };
        Self {
            settings,
            clients: Clients::new(),
            level: Level::none(),
            world: None,
            sight: Sight::default(),
            challenges: Challenges::new(key.try_into().expect("sixteen bytes")),
            limits: Limits::new(word(0)),
            connect_budget: ConnectBudget::new(word(0) ^ 3),
            strikes: Strikes::default(),
            workload: Workload::default(),
            rcon: RconGuard::new(!word(0)),
            counters: Counters::default(),
            loop_counters: LoopCounters::default(),
            log_limiter: LogLimiter::default(),
            random: Pcg32::new(word(8), 0),
            began: None,
            now: Millis(0),
            frame_clock: Millis(0),
            frames: FrameRing::new(FRAMES_KEPT),
            frame_num: FIRST_FRAME,
            deltas: Deltas::default(),
            outbox: Outbox::default(),
            writer: BitWriter::new(),
            message: Vec::new(),
            output: VecDeque::new(),
            journal: Journal::default(),
            redirect: None,
            map_names: Vec::new(),
            drops: Vec::new(),
            console: VecDeque::new(),
        }
    }

    /// Queues a connectionless answer.
    pub(super) fn answer(&mut self, route: Route, write: impl FnOnce(&mut Vec<u8>)) {
        self.outbox.push_with(route, write);
        self.counters.bump(Counter::PacketsOutConnectionless);
    }

    /// Prints for whoever typed the command: the operator, or a remote console.
    pub(super) fn print_line(&mut self, text: impl Into<String>) {
        let mut text = text.into();
        if !text.ends_with('\n') {
            text.push('\n');
        }
        match &mut self.redirect {
            Some(collected) => collected.push(text),
            None => self.output.push_back(text),
        }
    }

    /// Queues a reliable command for one client, if it has the level.
    pub(super) fn tell(&mut self, number: ClientNum, text: &Arc<str>) {
        let Some(client) = self.clients.get_mut(number).filter(|client| client.has_level()) else {
            return;
        };
        if client.backlog.push_text(Arc::clone(text)).is_err() {
            self.counters.bump(Counter::ReliableOverflows);
            self.drops.push((number, "Server command overflow".to_owned()));
        }
    }

    /// Queues a reliable command for every client that has the level.
    pub(super) fn tell_everybody(&mut self, text: &str) {
        let text = Arc::from(text);
        for number in ClientNum::all() {
            self.tell(number, &text);
        }
    }

    /// Replaces a configstring and queues the change for those who have the level.
    pub(super) fn publish(&mut self, index: ConfigIndex, value: &str) {
        match self.level.configstrings.set(index, value) {
            Outcome::Unchanged => {}
            Outcome::Refused => {
                log::warn!(
                    "configstring {index} of {} bytes refused: the gamestate would be too long",
                    value.len()
                );
            }
            Outcome::Changed if self.level.starting => {}
            Outcome::Changed => {
                for (_, client) in self.clients.iter_mut().filter(|(_, c)| c.has_level()) {
                    client.backlog.push_configstring(index);
                }
            }
        }
    }

    /// Keeps a client's userinfo and what the engine reads in it.
    pub(super) fn store_userinfo(&mut self, number: ClientNum, info: Info) {
        let Some(client) = self.clients.get_mut(number) else { return };
        let name = info.get("name").unwrap_or("");
        client.name = text::truncated(name, MAX_NAME_LEN).to_owned();
        client.pace = super::rate::pace(&self.settings, &info);
        client.userinfo = info;
    }

    /// The way to a client.
    pub(super) fn route(client: &Client) -> Route {
        Route { local: LocalPort(0), remote: client.remote.address() }
    }

    /// How many slots there are.
    pub(super) fn slots(&self) -> usize {
        self.settings.int(key::SV_MAXCLIENTS).max(1).unsigned_abs() as usize
    }
}

impl Host for Core {
    fn print(&mut self, text: &str) {
        // The log shows control characters as escapes; a backslash is a separator here and stays.
        log::info!(target: "game", "{}", text.trim_end_matches('\n'));
    }

    fn log_line(&mut self, clock_ms: i32, text: &str) {
        if self.settings.text(key::G_LOG).is_empty() {
            self.print(text);
        } else {
            log::debug!(target: "game", "{}", text.trim_end_matches('\n'));
        }
        self.journal.add(clock_ms, text);
    }

    fn serverinfo(&self) -> String {
        Self::serverinfo(self).as_str().to_owned()
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
            log::warn!("the game can't set {name}: {error}");
        }
    }

    fn send_command(&mut self, to: Option<ClientNum>, text: &str) {
        if text.len() > MAX_SERVER_COMMAND_LEN || text.contains('\0') {
            log::debug!("a server command of {} bytes is discarded", text.len());
            return;
        }
        match to {
            Some(number) => self.tell(number, &Arc::from(text)),
            None => self.tell_everybody(text),
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
        self.clients.get(client).map_or("", |client| client.userinfo.as_str())
    }

    fn usercmd(&self, client: ClientNum) -> UserCmd {
        self.clients.get(client).map(|client| client.last_usercmd).unwrap_or_default()
    }

    fn address(&self, client: ClientNum) -> Option<IpAddr> {
        Some(self.clients.get(client)?.remote.address().ip().to_canonical())
    }

    fn set_userinfo(&mut self, client: ClientNum, text: &str) {
        let Some(address) = self.address(client) else { return };
        let mut info = Info::parse(text);
        // Text that is cut may lose any key.
        if text.len() > MAX_INFO_LEN || info.set("ip", &address.to_string()).is_err() {
            log::debug!("client {client}: userinfo of {} bytes is discarded", text.len());
            return;
        }
        self.store_userinfo(client, info);
    }

    fn drop_client(&mut self, client: ClientNum, reason: &str) {
        self.drops.push((client, reason.to_owned()));
    }

    fn queue_console(&mut self, line: &str) {
        self.console.push_back(line.to_owned());
    }

    fn is_local(&self, client: ClientNum) -> bool {
        // A player on this machine connects over loopback like everybody else; the engine's own
        // "local client" does not exist here.
        let _ = client;
        false
    }

    fn world(&self) -> Option<&World> {
        self.world.as_ref()
    }

    fn world_mut(&mut self) -> Option<&mut World> {
        self.world.as_mut()
    }

    fn link_entity(&mut self, state: &mut EntityState, shared: &mut EntityShared) {
        let number = usize::try_from(state.number).ok().and_then(EntityNum::new);
        match self.world.as_mut().zip(number) {
            Some((world, number)) => world.link(number, state, shared),
            None => links::measure(state, shared),
        }
    }

    fn unlink_entity(&mut self, number: EntityNum, shared: &mut EntityShared) {
        match &mut self.world {
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
        wire::Protocol,
    };

    #[test]
    fn m9_server_commands_over_1022_bytes_are_discarded() {
        let mut core = Core::new(Settings::default(), [0; 32]);
        let number = ClientNum::new(3).expect("a slot");
        let address = "192.0.2.1:27960".parse().expect("an address");
        let mut client =
            Client::new(address, Qport(1), Challenge(1), (Protocol::OA_71, false), Millis(0));
        client.prime(Millis(0));
        client.enter(UserCmd::default());
        core.clients.put(number, client);
        for (len, queued) in [(1021, 1), (1022, 2), (1023, 2), (1024, 2)] {
            core.send_command(Some(number), &"x".repeat(len));
            let waiting = core.clients.get(number).expect("the client").backlog.waiting();
            assert_eq!(waiting, queued, "{len} bytes");
        }
        assert!(core.drops.is_empty(), "no client is dropped for it");
    }
}
