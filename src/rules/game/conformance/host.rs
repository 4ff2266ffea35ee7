//! Fake host of game tests, with or without a world.

use std::collections::BTreeMap;

use crate::{
    cvar::{Choice as _, GameFolder, Values},
    game::{ConsoleTiming, GameEvent, GameFiles, Host, Ruleset, World, settings},
    model::{
        ClientNum, CommandArgs, ConfigIndex, EntityNum, EntityShared, EntityState, UserCmd, Vec3,
        limits::{MAX_CLIENTS, MAX_CONFIGSTRINGS, MAX_SERVER_COMMAND_LEN},
    },
    testing::sample_maps::{TestMap, YARD},
    world::{Bsp, TracePrecision},
};

/// Host that records the calls of a game.
pub(crate) struct TestHost {
    /// Map, or `None` for open space.
    pub(in crate::game) world: Option<World>,
    settings: Values,
    variables: BTreeMap<String, String>,
    configstrings: Vec<String>,
    pub(in crate::game) userinfos: Vec<String>,
    pub(in crate::game) usercmds: Vec<UserCmd>,
    pub(in crate::game) local: bool,
    /// Reliable commands, in order.
    pub(in crate::game) sent: Vec<(Option<ClientNum>, String)>,
    /// Configstring changes and reliable commands in order, as a client gets them.
    pub(in crate::game) told: Vec<String>,
    pub(in crate::game) dropped: Vec<(ClientNum, String)>,
    /// Queued console lines, in order.
    pub(in crate::game) queued: Vec<String>,
    /// Lines printed to the console.
    pub(in crate::game) printed: Vec<String>,
    /// Answers to console lines.
    pub(in crate::game) replies: Vec<String>,
    pub(in crate::game) maps: Vec<String>,
    /// Game log lines with their clocks, in order.
    pub(in crate::game) logged: Vec<(i32, String)>,
    /// Events of the match, in order.
    pub(in crate::game) events: Vec<String>,
    /// Text that the game appended to the game log.
    pub(crate) game_log: String,
    pub(crate) files: Option<GameFiles>,
}

/// Returns the defaults of a game, without match limits and with all votes allowed.
fn test_values(game: GameFolder) -> Values {
    let mut values = Values::new(settings::SETTINGS, game);
    for (name, value) in [("fraglimit", "0"), ("capturelimit", "0"), ("voteflags", "1023")] {
        assert_eq!(values.set(name, value), Ok(true));
    }
    values
}

impl Default for TestHost {
    fn default() -> Self {
        Self {
            world: None,
            settings: test_values(GameFolder::BaseOa),
            variables: BTreeMap::new(),
            configstrings: vec![String::new(); MAX_CONFIGSTRINGS],
            userinfos: vec![String::new(); MAX_CLIENTS],
            usercmds: vec![UserCmd::default(); MAX_CLIENTS],
            local: false,
            sent: Vec::new(),
            told: Vec::new(),
            dropped: Vec::new(),
            queued: Vec::new(),
            printed: Vec::new(),
            replies: Vec::new(),
            maps: Vec::new(),
            logged: Vec::new(),
            events: Vec::new(),
            game_log: String::new(),
            files: None,
        }
    }
}

impl TestHost {
    /// Creates a host with the test map.
    pub(super) fn with_map() -> Self {
        Self::on(&TestMap::test_yard(YARD))
    }

    /// Creates a host with a map.
    pub(crate) fn on(map: &TestMap) -> Self {
        let bsp = Bsp::load(&map.file()).expect("a sound map");
        let world = World::new(bsp, TracePrecision::Single).expect("a sound map");
        Self { world: Some(world), ..Self::default() }
    }

    /// Creates a host with the settings of a ruleset.
    pub(in crate::game) fn of_ruleset(ruleset: &Ruleset) -> Self {
        let game = GameFolder::named(ruleset.folder).expect("a game");
        Self { settings: test_values(game), ..Self::default() }
    }

    pub(in crate::game) fn sent_to_all(&self) -> Vec<&str> {
        let to_all = self.sent.iter().filter(|(to, _)| to.is_none());
        to_all.map(|(_, text)| text.as_str()).collect()
    }

    pub(in crate::game) fn sent_to(&self, client: ClientNum) -> Vec<&str> {
        let to_one = self.sent.iter().filter(|&&(to, _)| to == Some(client));
        to_one.map(|(_, text)| text.as_str()).collect()
    }

    /// Clears the state that a new level resets.
    pub(in crate::game) fn clear_level(&mut self) {
        if let Some(world) = &mut self.world {
            world.clear();
        }
        self.configstrings.iter_mut().for_each(String::clear);
    }
}

impl Host for TestHost {
    fn log_text(&mut self, text: &str) {
        self.game_log.push_str(text);
    }

    fn handle_event(&mut self, event: &GameEvent<'_>) {
        self.events.push(format!("{event:?}"));
    }

    fn files(&mut self) -> Option<&mut GameFiles> {
        self.files.as_mut()
    }

    fn print(&mut self, text: &str) {
        assert!(!text.contains(|c: char| c.is_control()), "console line {text:?}");
        self.printed.push(text.to_owned());
    }
    fn log_line(&mut self, clock_ms: i32, text: &str) {
        self.print(text);
        self.logged.push((clock_ms, text.to_owned()));
    }
    fn reply(&mut self, text: &str) {
        self.print(text);
        self.replies.push(text.to_owned());
    }
    fn map_names(&self) -> &[String] {
        &self.maps
    }
    fn settings(&self) -> &Values {
        &self.settings
    }
    fn setting(&self, name: &str) -> &str {
        let variable = || self.variables.get(name).map(String::as_str);
        self.settings.get(name).or_else(variable).unwrap_or("")
    }
    fn set_setting(&mut self, name: &str, value: &str) {
        // A server logs a rejected value and keeps the old one.
        if self.settings.set(name, value) == Ok(false) {
            self.variables.insert(name.to_owned(), value.to_owned());
        }
    }
    fn send_command(&mut self, to: Option<ClientNum>, text: &str) {
        check_command(text);
        self.sent.push((to, text.to_owned()));
        self.told.push(text.to_owned());
    }
    fn set_configstring(&mut self, index: ConfigIndex, text: &str) {
        assert!(index.index() > 1, "the engine's own configstring");
        assert!(!text.contains(['"', '\n']), "configstring {index} {text:?}");
        if self.configstrings[index.index()] != text {
            self.configstrings[index.index()] = text.to_owned();
            self.told.push(format!("cs {index} \"{text}\""));
        }
    }
    fn configstring(&self, index: ConfigIndex) -> &str {
        &self.configstrings[index.index()]
    }
    fn userinfo(&self, client: ClientNum) -> &str {
        &self.userinfos[client.index()]
    }
    fn usercmd(&self, client: ClientNum) -> UserCmd {
        self.usercmds[client.index()]
    }
    fn set_userinfo(&mut self, client: ClientNum, text: &str) {
        self.userinfos[client.index()] = text.to_owned();
    }
    fn drop_client(&mut self, client: ClientNum, reason: &str) {
        self.dropped.push((client, reason.to_owned()));
    }
    fn drop_client_now(
        &mut self,
        _client: ClientNum,
        _reason: &str,
        disconnect: &mut dyn FnMut(&mut dyn Host),
    ) {
        disconnect(self);
    }
    fn run_console(&mut self, _when: ConsoleTiming, line: &str) {
        assert!(!line.contains(['\n', '\r', ';']), "{line:?}");
        self.queued.push(line.to_owned());
    }
    fn is_local(&self, _client: ClientNum) -> bool {
        self.local
    }
    fn world(&self) -> Option<&World> {
        self.world.as_ref()
    }

    fn world_mut(&mut self) -> Option<&mut World> {
        self.world.as_mut()
    }

    fn link_entity(&mut self, state: &mut EntityState, shared: &mut EntityShared) {
        if let Some(world) = &mut self.world {
            world.link(state.entity_num().expect("an entity's number"), state, shared);
            return;
        }
        let one = Vec3::new(1.0, 1.0, 1.0);
        shared.absmin = shared.current_origin + shared.mins - one;
        shared.absmax = shared.current_origin + shared.maxs + one;
        state.solid = 0x40_180f;
        shared.linked = 1;
        shared.linkcount += 1;
    }
    fn unlink_entity(&mut self, number: EntityNum, shared: &mut EntityShared) {
        if let Some(world) = &mut self.world {
            world.unlink(number, shared);
        }
        shared.linked = 0;
    }
}

/// Reliable commands that clients know.
const KNOWN_TO_CLIENTS: [&str; 19] = [
    "print",
    "cp",
    "chat",
    "tchat",
    "vchat",
    "vtchat",
    "vtell",
    "scores",
    "tinfo",
    "respawn",
    "team",
    "accs",
    "ch",
    "mappage",
    "customvotes",
    "elimination",
    "clientLevelShot",
    "map_restart",
    "accs",
];

fn check_command(text: &str) {
    assert!(text.len() <= MAX_SERVER_COMMAND_LEN, "{} bytes: {text}", text.len());
    assert_eq!(text.matches('"').count() % 2, 0, "broken quotes: {text:?}");
    let allowed = |c: char| (' '..='~').contains(&c) || c == '\n' || c == '\x19';
    assert!(text.chars().all(allowed), "{text:?}");
    let inside = text.trim_end_matches(['"', '\n']);
    let command = CommandArgs::parse(text);
    // Center prints of maps may have several lines.
    let one_line = command.command() != "cp";
    assert!(!(one_line && inside.contains('\n')), "a line break inside: {text:?}");
    assert!(KNOWN_TO_CLIENTS.contains(&command.command()), "{text:?}");
}
