//! What every implementation of the game interface must hold to, and a server made of paper to hold it
//! against.
//!
//! [`check`] drives a game through legal orders of calls with hostile inputs and looks at everything
//! the game shows: states must be finite and legal, commands short and well quoted, and the same seed
//! with the same calls must give the same states.

use std::collections::BTreeMap;

use proptest::{
    prelude::*,
    test_runner::{Config, TestRunner},
};

use super::{Game, Host, LevelStart, World, configstring};
use crate::model::{
    Buttons, ClientNum, ConfigIndex, EntityNum, EntityShared, EntityState, LevelTime, UserCmd,
    Vec3, Words,
    limits::{MAX_CLIENTS, MAX_CONFIGSTRINGS, MAX_SERVER_COMMAND_LEN},
};

/// A server made of paper: remembers what the rules asked for.
#[derive(Clone, Debug)]
pub(super) struct TestHost {
    settings: BTreeMap<String, String>,
    configstrings: Vec<String>,
    pub(super) userinfos: Vec<String>,
    pub(super) usercmds: Vec<UserCmd>,
    pub(super) local: bool,
    /// Reliable commands, in order.
    pub(super) sent: Vec<(Option<ClientNum>, String)>,
    /// Configstring changes and reliable commands, in order, as a client would get them.
    pub(super) told: Vec<String>,
    pub(super) dropped: Vec<(ClientNum, String)>,
    /// Console lines, in order.
    pub(super) queued: Vec<String>,
}

impl Default for TestHost {
    fn default() -> Self {
        Self {
            settings: BTreeMap::new(),
            configstrings: vec![String::new(); MAX_CONFIGSTRINGS],
            userinfos: vec![String::new(); MAX_CLIENTS],
            usercmds: vec![UserCmd::default(); MAX_CLIENTS],
            local: false,
            sent: Vec::new(),
            told: Vec::new(),
            dropped: Vec::new(),
            queued: Vec::new(),
        }
    }
}

impl TestHost {
    pub(super) fn sent_to_all(&self) -> Vec<&str> {
        let to_all = self.sent.iter().filter(|(to, _)| to.is_none());
        to_all.map(|(_, text)| text.as_str()).collect()
    }

    pub(super) fn sent_to(&self, client: ClientNum) -> Vec<&str> {
        let to_one = self.sent.iter().filter(|&&(to, _)| to == Some(client));
        to_one.map(|(_, text)| text.as_str()).collect()
    }

    /// Clears what a new level begins without.
    fn clear_level(&mut self) {
        self.configstrings.iter_mut().for_each(String::clear);
    }
}

impl Host for TestHost {
    fn print(&mut self, text: &str) {
        assert!(!text.contains(|c: char| c.is_control()), "console line {text:?}");
    }
    fn setting(&self, name: &str) -> &str {
        self.settings.get(name).map_or("", String::as_str)
    }
    fn set_setting(&mut self, name: &str, value: &str) {
        self.settings.insert(name.to_owned(), value.to_owned());
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
    fn queue_console(&mut self, line: &str) {
        assert!(!line.contains(['\n', '\r', ';']), "{line:?}");
        self.queued.push(line.to_owned());
    }
    fn is_local(&self, _client: ClientNum) -> bool {
        self.local
    }
    fn world(&self) -> Option<&World> {
        None
    }

    fn world_mut(&mut self) -> Option<&mut World> {
        None
    }

    fn link_entity(&mut self, state: &mut EntityState, shared: &mut EntityShared) {
        let one = Vec3::new(1.0, 1.0, 1.0);
        shared.absmin = shared.current_origin + shared.mins - one;
        shared.absmax = shared.current_origin + shared.maxs + one;
        state.solid = 0x40_180f;
        shared.linked = 1;
        shared.linkcount += 1;
    }
    fn unlink_entity(&mut self, _number: EntityNum, shared: &mut EntityShared) {
        shared.linked = 0;
    }
}

/// Reliable commands that clients' games know.
const KNOWN_TO_CLIENTS: [&str; 17] = [
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
    "clientLevelShot",
    "map_restart",
];

fn check_command(text: &str) {
    assert!(text.len() <= MAX_SERVER_COMMAND_LEN, "{} bytes: {text}", text.len());
    assert_eq!(text.matches('"').count() % 2, 0, "broken quotes: {text:?}");
    let allowed = |c: char| (' '..='~').contains(&c) || c == '\n' || c == '\x19';
    assert!(text.chars().all(allowed), "{text:?}");
    let inside = text.trim_end_matches(['"', '\n']);
    assert!(!inside.contains('\n'), "a line break inside: {text:?}");
    let command = Words::parse(text);
    assert!(KNOWN_TO_CLIENTS.contains(&command.command()), "{text:?}");
}

/// What happens to a game.
#[derive(Clone, Debug)]
enum Input {
    Connect { client: usize, userinfo: String, bot: bool },
    Begin(usize),
    Userinfo(usize, String),
    Think(usize, UserCmd),
    Command(usize, String),
    Disconnect(usize),
    Frame(i32),
    Ping(usize, i32),
    Set(&'static str, String),
    Restart,
    NewLevel,
}

/// What a run showed.
#[derive(PartialEq)]
struct Transcript {
    /// All states and entities at the end.
    words: Vec<u32>,
    /// Everything that clients were told, in order.
    told: Vec<String>,
}

/// A level with clients in it, and the rules of the order in which a server calls.
struct Drive {
    game: Box<dyn Game>,
    host: TestHost,
    now: LevelTime,
    /// By client: connected, and in the game.
    stages: Vec<(bool, bool)>,
    bots: Vec<bool>,
}

impl Drive {
    fn new(game: Box<dyn Game>, seed: u32) -> Self {
        let mut host = TestHost::default();
        host.set_setting("mapname", "oa_dm1");
        let mut drive = Self {
            game,
            host,
            now: LevelTime(0),
            stages: vec![(false, false); MAX_CLIENTS],
            bots: vec![false; MAX_CLIENTS],
        };
        drive.start(seed, false);
        drive
    }

    fn start(&mut self, seed: u32, restart: bool) {
        self.game.init(&mut self.host, LevelStart { time: self.now, seed, restart });
        for _ in 0..3 {
            self.frame(100);
        }
    }

    fn frame(&mut self, ms: i32) {
        self.now = self.now + ms;
        self.game.run_frame(&mut self.host, self.now);
    }

    fn again(&mut self, seed: u32, restart: bool) {
        self.game.shutdown(&mut self.host, restart);
        if !restart {
            self.host.clear_level();
        }
        self.start(seed, restart);
        for client in ClientNum::all() {
            if !self.stages[client.index()].0 {
                continue;
            }
            let bot = self.bots[client.index()];
            if let Err(reason) = self.game.client_connect(&mut self.host, client, false, bot) {
                self.host.dropped.push((client, reason));
            } else if restart {
                self.game.client_begin(&mut self.host, client);
            }
            self.stages[client.index()].1 = restart;
        }
    }

    /// Does what the input says where it is legal, then looks at everything.
    fn run(&mut self, input: &Input) {
        let at = |client: &usize| ClientNum::new(*client).expect("inputs name client numbers");
        match input {
            Input::Connect { client, userinfo, bot } if !self.stages[*client].0 => {
                self.host.userinfos[*client].clone_from(userinfo);
                let joined = self.game.client_connect(&mut self.host, at(client), true, *bot);
                self.stages[*client] = (joined.is_ok(), false);
                self.bots[*client] = *bot;
            }
            Input::Begin(client) if self.stages[*client] == (true, false) => {
                self.game.client_begin(&mut self.host, at(client));
                self.stages[*client].1 = true;
            }
            Input::Userinfo(client, text) if self.stages[*client].0 => {
                self.host.userinfos[*client].clone_from(text);
                self.game.client_userinfo_changed(&mut self.host, at(client));
            }
            Input::Think(client, command) if self.stages[*client].1 => {
                self.host.usercmds[*client] = *command;
                self.game.client_think(&mut self.host, at(client), command);
            }
            Input::Command(client, line) if self.stages[*client].0 => {
                self.game.client_command(&mut self.host, at(client), &Words::parse(line));
            }
            Input::Disconnect(client) if self.stages[*client].0 => self.disconnect(at(client)),
            Input::Frame(ms) => self.frame(*ms),
            Input::Ping(client, ping) if self.stages[*client].0 => {
                self.game.set_ping(at(client), *ping);
            }
            Input::Set(name, value) => self.host.set_setting(name, value),
            Input::Restart => self.again(7, true),
            Input::NewLevel => self.again(8, false),
            // What a server would not call in this stage.
            Input::Connect { .. }
            | Input::Begin(_)
            | Input::Userinfo(..)
            | Input::Think(..)
            | Input::Command(..)
            | Input::Disconnect(_)
            | Input::Ping(..) => {}
        }
        for (client, _) in std::mem::take(&mut self.host.dropped) {
            if self.stages[client.index()].0 {
                self.disconnect(client);
            }
        }
        self.look();
    }

    fn disconnect(&mut self, client: ClientNum) {
        self.game.client_disconnect(&mut self.host, client);
        self.stages[client.index()] = (false, false);
        assert_eq!(self.host.configstring(configstring::player(client)), "");
    }

    /// Everything that a server would send must be legal.
    fn look(&self) {
        let count = self.game.entity_count();
        for number in (0..count).filter_map(EntityNum::new) {
            let Some(entity) = self.game.entity(number) else { continue };
            assert_eq!(entity.state.number, number.index() as i32);
            let state = entity.state;
            // The count of an event's occurrences goes with its type, and is lost on the way.
            assert!((0..=89).contains(&(state.e_type & 0xff)), "entity type {}", state.e_type);
            assert!(state.e_type < 0x400, "entity type {}", state.e_type);
            assert!((0..32).contains(&state.weapon));
            for v in [state.pos.base, state.pos.delta, state.apos.base, state.origin] {
                assert!(v.0.iter().all(|f| f.is_finite()), "{state:?}");
            }
        }
        for client in ClientNum::all() {
            let (connected, active) = self.stages[client.index()];
            let own = EntityNum::from(client);
            let linked = self.game.entity(own).is_some_and(|entity| entity.shared.is_linked());
            assert!(connected || self.game.entity(own).is_none(), "a free slot has an entity");
            assert!(active || !linked, "an entity of somebody who is not there is linked");
            let entry = self.host.configstring(configstring::player(client));
            assert_eq!(connected, !entry.is_empty(), "player entry of {client}: {entry:?}");
            if active {
                self.look_at_player(client);
            }
        }
    }

    fn look_at_player(&self, client: ClientNum) {
        let state = self.game.player(client);
        for v in [state.origin, state.velocity, state.viewangles] {
            assert!(v.0.iter().all(|f| f.is_finite()), "{state:?}");
        }
        assert!((0..=6).contains(&state.pm_type));
        assert!((0..32).contains(&state.weapon));
        assert!((0..=0xffff).contains(&state.speed));
        assert!((0..=0xffff).contains(&state.pm_flags));
        assert!((0..MAX_CLIENTS as i32).contains(&state.client_num));
        assert!((0..=1023).contains(&state.ground_entity_num));
        // Commands run at most 200 ms ahead, and a fixed step more.
        assert!(LevelTime(state.command_time).distance(self.now) <= 200 + 33, "{state:?}");
        for value in state.stats.iter().chain(&state.persistant) {
            assert!(i16::try_from(*value).is_ok(), "{value} does not travel");
        }
    }

    /// Everything that shows, to compare two runs.
    fn transcript(&self) -> Transcript {
        let mut words = Vec::new();
        for client in ClientNum::all() {
            words.extend(self.game.player(client).words());
            if let Some(entity) = self.game.entity(client.into()) {
                words.extend(entity.state.words());
            }
        }
        Transcript { words, told: self.host.told.clone() }
    }
}

fn usercmds() -> impl Strategy<Value = UserCmd> {
    let times = prop_oneof![4 => 0..6000i32, 1 => any::<i32>()];
    let angles = prop::array::uniform3(prop_oneof![0..65_536i32, any::<i32>()]);
    (times, angles, any::<i32>(), any::<u8>(), any::<[i8; 3]>()).prop_map(
        |(server_time, angles, buttons, weapon, [forwardmove, rightmove, upmove])| UserCmd {
            server_time,
            angles,
            buttons: Buttons(buttons),
            weapon,
            forwardmove,
            rightmove,
            upmove,
        },
    )
}

fn userinfos() -> impl Strategy<Value = String> {
    prop_oneof![
        "\\\\name\\\\[ -!#-:<-~]{0,40}\\\\team\\\\[sf]\\\\teampref\\\\[sf]",
        "(\\\\[a-z]{1,8}\\\\[ -~]{0,60}){0,12}",
        "\\PC{0,100}",
        Just("\\name\\^1same\\handicap\\50\\model\\sarge/default\\cl_guid\\x".to_owned()),
    ]
}

fn lines() -> impl Strategy<Value = String> {
    let command = prop::sample::select(vec![
        "say",
        "say_team",
        "tell",
        "team",
        "follow",
        "follownext",
        "followprev",
        "freespectator",
        "score",
        "kill",
        "where",
        "callvote",
        "vote",
        "teamvote",
        "teamtask",
        "give",
        "noclip",
        "stats",
        "gc",
        "vsay",
        "SAY",
    ]);
    let argument = prop_oneof![
        prop::sample::select(vec![
            "0",
            "1",
            "63",
            "64",
            "99999999999",
            "s",
            "free",
            "scoreboard",
            "follow1",
            "follow2",
            "^1same",
            "\"\n",
            "\u{1b}[2J",
            "spectator",
        ])
        .prop_map(str::to_owned),
        "\\PC{0,40}",
        "[a\" \\\\;%\n^]{0,1200}",
    ];
    prop_oneof![
        4 => (command, prop::collection::vec(argument, 0..3))
            .prop_map(|(command, arguments)| format!("{command} {}", arguments.join(" "))),
        1 => "\\PC{0,1100}",
    ]
}

fn inputs() -> impl Strategy<Value = Input> {
    // Few clients meet more often; any number may come.
    let client = || prop_oneof![4 => 0..6usize, 1 => 0..MAX_CLIENTS];
    let settings = prop::sample::select(vec![
        "g_speed",
        "g_gravity",
        "g_inactivity",
        "pmove_fixed",
        "pmove_msec",
        "dmflags",
        "g_synchronousClients",
        "g_maxGameClients",
        "g_password",
        "sv_cheats",
        "g_motd",
        "g_smoothClients",
    ]);
    prop_oneof![
        6 => (client(), userinfos(), any::<bool>())
            .prop_map(|(client, userinfo, bot)| Input::Connect { client, userinfo, bot }),
        6 => client().prop_map(Input::Begin),
        2 => (client(), userinfos()).prop_map(|(client, text)| Input::Userinfo(client, text)),
        16 => (client(), usercmds()).prop_map(|(client, command)| Input::Think(client, command)),
        12 => (client(), lines()).prop_map(|(client, line)| Input::Command(client, line)),
        2 => client().prop_map(Input::Disconnect),
        10 => prop_oneof![Just(50), 1..6000i32].prop_map(Input::Frame),
        1 => (client(), any::<i32>()).prop_map(|(client, ping)| Input::Ping(client, ping)),
        2 => (settings, prop_oneof!["[0-9]{0,5}", "-?[0-9]{1,12}", "\\PC{0,300}"])
            .prop_map(|(name, value)| Input::Set(name, value)),
        1 => Just(Input::Restart),
        1 => Just(Input::NewLevel),
    ]
}

/// Holds an implementation to everything above.
pub(super) fn check(make: impl Fn() -> Box<dyn Game>) {
    everybody_comes_and_goes(make());
    let mut runner =
        TestRunner::new(Config { cases: 256, failure_persistence: None, ..Config::default() });
    let run = |inputs: &[Input]| {
        let mut drive = Drive::new(make(), 42);
        for input in inputs {
            drive.run(input);
        }
        drive.transcript()
    };
    runner
        .run(&prop::collection::vec(inputs(), 1..120), |inputs| {
            prop_assert!(run(&inputs) == run(&inputs), "the second run differs");
            Ok(())
        })
        .unwrap_or_else(|failure| panic!("{failure}"));
}

/// Sixty-four clients in, through a restart and a new level, and out in another order.
fn everybody_comes_and_goes(game: Box<dyn Game>) {
    let mut drive = Drive::new(game, 1);
    for client in 0..MAX_CLIENTS {
        let userinfo = format!("\\name\\player{client}\\model\\sarge");
        drive.run(&Input::Connect { client, userinfo, bot: false });
    }
    for client in (0..MAX_CLIENTS).rev() {
        drive.run(&Input::Begin(client));
    }
    for round in 0..3 {
        for client in 0..MAX_CLIENTS {
            let command = UserCmd {
                server_time: drive.now.0 + 50,
                forwardmove: 127,
                angles: [0, client as i32 * 1024, 0],
                ..UserCmd::default()
            };
            drive.run(&Input::Think(client, command));
            drive.run(&Input::Command(client, "score".to_owned()));
        }
        drive.run(&Input::Frame(50));
        assert!(drive.game.entity_count() >= MAX_CLIENTS);
        match round {
            0 => drive.run(&Input::Restart),
            1 => {
                drive.run(&Input::NewLevel);
                (0..MAX_CLIENTS).for_each(|client| drive.run(&Input::Begin(client)));
            }
            _ => {}
        }
    }
    for client in (0..MAX_CLIENTS).map(|n| n * 29 % MAX_CLIENTS) {
        drive.run(&Input::Disconnect(client));
        drive.run(&Input::Frame(50));
    }
    for client in ClientNum::all() {
        assert!(drive.game.entity(client.into()).is_none());
    }
}
