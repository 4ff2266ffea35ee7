//! Game driver: applies random inputs to a level and checks it after each.

use super::{host::TestHost, inputs::Input};
use crate::{
    bg::configstring,
    game::{Game, Host as _, LevelStart},
    model::{ClientNum, EntityNum, LevelTime, Words, limits::MAX_CLIENTS},
};

/// What a run showed.
#[derive(PartialEq)]
pub(super) struct Transcript {
    /// All states and entities at the end.
    words: Vec<u32>,
    /// Everything that clients were told, in order.
    told: Vec<String>,
}

/// A level with clients in it, and the rules of the order in which a server calls.
pub(super) struct Drive {
    pub(super) game: Box<dyn Game>,
    host: TestHost,
    pub(super) now: LevelTime,
    /// By client: connected, and in the game.
    stages: Vec<(bool, bool)>,
    bots: Vec<bool>,
}

impl Drive {
    pub(super) fn new(game: Box<dyn Game>, seed: u32, mut host: TestHost) -> Self {
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
        let asked = std::mem::take(&mut self.host.queued);
        // Here every line that ends a level leads to its restart.
        if asked.iter().any(|line| line.starts_with("map_restart") || line.starts_with("vstr")) {
            self.again(9, true);
        }
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
    pub(super) fn run(&mut self, input: &Input) {
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
    pub(super) fn transcript(&self) -> Transcript {
        let mut words = Vec::new();
        for client in ClientNum::all() {
            words.extend(self.game.player(client).words());
        }
        for number in (0..self.game.entity_count()).filter_map(EntityNum::new) {
            if let Some(entity) = self.game.entity(number) {
                words.extend(entity.state.words());
            }
        }
        Transcript { words, told: self.host.told.clone() }
    }
}
