//! Game modules behind the game interface: a `qagame.qvm` in a virtual machine.
//!
//! ```text
//! server ── Game ──► GameModule ── entry ──► Machine (qvm)
//!                        ▲                      │ service
//! server ◄── Host ── Session ◄──────────────────┘
//! ```
//!
//! Entities and playerstates are read in place, in the memory of the module. Invariants: every address of the module
//! is checked against its memory before use; an error of the module or of its arguments is a fault, which ends the
//! level and nothing else. Source: the game interface, version 8. Engine names: `SV_InitGameProgs`,
//! `SV_GameSystemCalls`.

mod bot_library;
#[cfg(test)]
mod budget_tests;
mod cvars;
#[cfg(test)]
mod file_tests;
mod files;
mod located;
mod script;
mod services;
#[cfg(test)]
mod tests;
mod trace_result;

use crate::{
    cvar::GameCode,
    game::{
        ConnectError, EntityView, Game, GameFault, Host, LevelStart, has_spawn_point,
        show_restart_countdown,
    },
    model::{
        ClientNum, CommandArgs, EntityNum, LevelTime, PlayerState, UserCmd, limits::MAX_CLIENTS,
        text::atoi,
    },
    qvm::{ENTRY_ARGUMENTS, Engine, Executable, Fault, FaultKind, Machine},
    world::MapEntities,
};
use bot_library::BotLibrary;
use cvars::Cvars;
use files::OpenFiles;
use located::{Located, Views};
use services::Session;

/// Index of the score in the persistent values of a player.
const SCORE: usize = 0;
/// Longest refusal of a client, in bytes.
const MAX_REFUSAL_LEN: usize = 1023;

/// Entries of a game module, by number.
#[derive(Clone, Copy, Debug)]
#[repr(i32)]
enum Entry {
    Init = 0,
    Shutdown = 1,
    ClientConnect = 2,
    ClientBegin = 3,
    ClientUserinfoChanged = 4,
    ClientDisconnect = 5,
    ClientCommand = 6,
    ClientThink = 7,
    RunFrame = 8,
    ConsoleCommand = 9,
    BotFrame = 10,
}

/// State of a module besides its memory.
#[derive(Debug)]
struct State {
    /// Addresses and sizes of entities and playerstates.
    located: Located,
    cvars: Cvars,
    files: OpenFiles,
    /// Words of the command that is being handled.
    words: CommandArgs,
    /// Console text whose line has not ended.
    line: String,
    /// Client that thinks, and its usercmd.
    thinker: Option<(ClientNum, UserCmd)>,
    library: BotLibrary,
    /// Server commands sent in this entry, by client.
    commands_sent: [u16; MAX_CLIENTS],
}

impl Default for State {
    fn default() -> Self {
        Self {
            located: Located::default(),
            cvars: Cvars::default(),
            files: OpenFiles::default(),
            words: CommandArgs::default(),
            line: String::new(),
            thinker: None,
            library: BotLibrary::default(),
            commands_sent: [0; MAX_CLIENTS],
        }
    }
}

/// A game module as the rules of a server.
#[derive(Debug)]
pub struct GameModule {
    machine: Machine,
    state: State,
    /// Playerstate of a client whose own is not in the module's memory.
    nobody: PlayerState,
}

impl GameModule {
    /// Creates the game of a module.
    #[must_use]
    pub fn new(executable: Executable) -> Self {
        let machine = Machine::of(executable);
        Self { machine, state: State::default(), nobody: PlayerState::default() }
    }

    /// Calls an entry.
    fn enter(
        &mut self,
        host: &mut dyn Host,
        entry: Entry,
        arguments: &[i32],
    ) -> Result<i32, GameFault> {
        // A panic of a service has left its entry open, and the module half-changed.
        if self.machine.entry_depth() != 0 {
            return Err(GameFault::new("game module not usable: an entry did not end"));
        }
        self.state.commands_sent = [0; MAX_CLIENTS];
        let mut session = Session { host, state: &mut self.state };
        let words = entry_words(entry, arguments);
        let result = self.machine.enter(&mut session, &words);
        result.map_err(|fault| game_fault(&fault, entry, arguments))
    }

    fn enter_for(
        &mut self,
        host: &mut dyn Host,
        entry: Entry,
        client: ClientNum,
    ) -> Result<i32, GameFault> {
        self.enter(host, entry, &[client.index() as i32])
    }

    /// Calls an entry that reads the words of a command.
    fn enter_with_words(
        &mut self,
        host: &mut dyn Host,
        entry: Entry,
        arguments: &[i32],
        words: &CommandArgs,
    ) -> Result<i32, GameFault> {
        let outer = std::mem::replace(&mut self.state.words, words.clone());
        let result = self.enter(host, entry, arguments);
        self.state.words = outer;
        result
    }

    fn views(&self) -> Views<'_> {
        Views { memory: self.machine.memory(), located: &self.state.located }
    }
}

/// Words of an entry: its number and its arguments, the rest zero.
fn entry_words(entry: Entry, arguments: &[i32]) -> [i32; ENTRY_ARGUMENTS] {
    let mut words = [0; ENTRY_ARGUMENTS];
    words[0] = entry as i32;
    words[1..].iter_mut().zip(arguments).for_each(|(word, argument)| *word = *argument);
    words
}

/// Describes a fault: innermost error and its place, then the entry and the open calls, innermost first.
fn game_fault(fault: &Fault, entry: Entry, arguments: &[i32]) -> GameFault {
    let nested = std::iter::successors(Some(fault), |outer| match &outer.kind {
        FaultKind::Nested(inner) => Some(inner),
        _ => None,
    });
    let chain: Vec<_> = nested.collect();
    let words: String = arguments.iter().map(|word| format!(" {word}")).collect();
    let mut details = vec![format!("entry {entry:?}{words}")];
    for (depth, part) in chain.iter().rev().enumerate() {
        if depth > 0 {
            details.push(format!("nested entry made by {}", part.place));
        }
        details.extend(part.trace());
    }
    GameFault { summary: chain.last().copied().unwrap_or(fault).to_string(), details }
}

impl Game for GameModule {
    fn init(&mut self, host: &mut dyn Host, start: LevelStart) -> Result<(), GameFault> {
        self.machine.reset();
        self.state = State { library: self.state.library.next_level(), ..State::default() };
        let arguments = [start.time.0, start.seed as i32, i32::from(start.restart)];
        self.enter(host, Entry::Init, &arguments).map(drop)
    }

    fn code(&self) -> GameCode {
        match self.machine.executable().engine() {
            Engine::Interpreter => GameCode::Interpreted,
            Engine::Compiled => GameCode::Compiled,
        }
    }

    fn shutdown(&mut self, host: &mut dyn Host, restart: bool) -> Result<(), GameFault> {
        self.enter(host, Entry::Shutdown, &[i32::from(restart)]).map(drop)
    }

    fn client_connect(
        &mut self,
        host: &mut dyn Host,
        client: ClientNum,
        first_time: bool,
        is_bot: bool,
    ) -> Result<(), ConnectError> {
        let arguments = [client.index() as i32, i32::from(first_time), i32::from(is_bot)];
        match self.enter(host, Entry::ClientConnect, &arguments)? {
            0 => Ok(()),
            address => {
                let text = self.machine.memory().text(address, MAX_REFUSAL_LEN);
                let text = text.map_err(|kind| GameFault::new(format!("refusal text: {kind}")))?;
                Err(ConnectError::Refused(String::from_utf8_lossy(text).into_owned()))
            }
        }
    }

    fn client_begin(&mut self, host: &mut dyn Host, client: ClientNum) -> Result<(), GameFault> {
        self.enter_for(host, Entry::ClientBegin, client).map(drop)
    }

    fn client_userinfo_changed(
        &mut self,
        host: &mut dyn Host,
        client: ClientNum,
    ) -> Result<(), GameFault> {
        self.enter_for(host, Entry::ClientUserinfoChanged, client).map(drop)
    }

    fn client_disconnect(
        &mut self,
        host: &mut dyn Host,
        client: ClientNum,
    ) -> Result<(), GameFault> {
        self.enter_for(host, Entry::ClientDisconnect, client).map(drop)
    }

    fn client_command(
        &mut self,
        host: &mut dyn Host,
        client: ClientNum,
        words: &CommandArgs,
    ) -> Result<(), GameFault> {
        let arguments = [client.index() as i32];
        self.enter_with_words(host, Entry::ClientCommand, &arguments, words).map(drop)
    }

    fn client_think(
        &mut self,
        host: &mut dyn Host,
        client: ClientNum,
        command: &UserCmd,
    ) -> Result<(), GameFault> {
        self.state.thinker = Some((client, *command));
        let result = self.enter_for(host, Entry::ClientThink, client);
        self.state.thinker = None;
        result.map(drop)
    }

    fn run_bot_frame(&mut self, host: &mut dyn Host, time: LevelTime) -> Result<(), GameFault> {
        // A module that has not set up its bots would read settings that it has not registered.
        if !self.state.library.is_set_up() || atoi(host.setting("bot_enable")) == 0 {
            return Ok(());
        }
        self.enter(host, Entry::BotFrame, &[time.0]).map(drop)
    }

    fn run_frame(&mut self, host: &mut dyn Host, time: LevelTime) -> Result<(), GameFault> {
        self.enter(host, Entry::RunFrame, &[time.0]).map(drop)
    }

    fn console_command(
        &mut self,
        host: &mut dyn Host,
        words: &CommandArgs,
    ) -> Result<bool, GameFault> {
        self.enter_with_words(host, Entry::ConsoleCommand, &[], words).map(|known| known != 0)
    }

    fn load_note(&self) -> Option<String> {
        let used = self.machine.used_budget_percent();
        Some(format!("the last entry used {used}% of its instructions"))
    }

    fn entity_count(&self) -> usize {
        self.state.located.entity_count()
    }

    fn entity(&self, number: EntityNum) -> Option<EntityView<'_>> {
        let (state, shared) = self.views().entity(number)?;
        // A number of its own is what the module announces; anything else is not an entity in use.
        (state.number == number.index() as i32).then_some(EntityView { state, shared })
    }

    fn player(&self, client: ClientNum) -> &PlayerState {
        self.views().player(client).unwrap_or(&self.nobody)
    }

    fn set_ping(&mut self, client: ClientNum, ping_ms: i32) {
        let Self { machine, state, .. } = self;
        state.located.set_ping(machine.memory_mut(), client, ping_ms);
    }

    fn score(&self, client: ClientNum) -> i32 {
        self.player(client).persistant[SCORE]
    }

    fn has_spawn_point(&self, entities: &MapEntities) -> bool {
        has_spawn_point(entities)
    }

    fn show_restart_countdown(&mut self, host: &mut dyn Host, at: LevelTime) -> bool {
        show_restart_countdown(host, at)
    }
}
