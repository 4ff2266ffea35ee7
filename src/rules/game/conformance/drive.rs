//! Game driver: applies random inputs to a level and validates it after each.

use super::{host::TestHost, inputs::Input};
use crate::{
    bg::configstring,
    game::{Game, Host as _, LevelStart},
    model::{ClientNum, CommandArgs, EntityNum, LevelTime, limits::MAX_CLIENTS},
};

/// Output of a run.
#[derive(PartialEq)]
pub(super) struct Transcript {
    /// All states and entities at the end.
    words: Vec<u32>,
    /// All text sent to clients, in order.
    told: Vec<String>,
}

/// A level with clients, called in the order of a server.
pub(super) struct GameDriver {
    pub(super) game: Box<dyn Game>,
    host: TestHost,
    pub(super) now: LevelTime,
    /// By client: connected, in the level.
    stages: Vec<(bool, bool)>,
    bots: Vec<bool>,
}

impl GameDriver {
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
        self.game
            .init(&mut self.host, LevelStart { time: self.now, seed, restart })
            .expect("no fault");
        for _ in 0..3 {
            self.frame(100);
        }
    }

    fn frame(&mut self, ms: i32) {
        self.now = self.now + ms;
        self.game.run_frame(&mut self.host, self.now).expect("no fault");
        let asked = std::mem::take(&mut self.host.queued);
        // Every console line that ends a level restarts it here.
        if asked.iter().any(|line| line.starts_with("map_restart") || line.starts_with("vstr")) {
            self.again(9, true);
        }
    }

    fn again(&mut self, seed: u32, restart: bool) {
        self.game.shutdown(&mut self.host, restart).expect("no fault");
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
                self.host.dropped.push((client, reason.to_string()));
            } else if restart {
                self.game.client_begin(&mut self.host, client).expect("no fault");
            }
            self.stages[client.index()].1 = restart;
        }
    }

    /// Applies an input if it is legal, then validates the output.
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
                self.game.client_begin(&mut self.host, at(client)).expect("no fault");
                self.stages[*client].1 = true;
            }
            Input::Userinfo(client, text) if self.stages[*client].0 => {
                self.host.userinfos[*client].clone_from(text);
                self.game.client_userinfo_changed(&mut self.host, at(client)).expect("no fault");
            }
            Input::Think(client, command) if self.stages[*client].1 => {
                self.host.usercmds[*client] = *command;
                self.game.client_think(&mut self.host, at(client), command).expect("no fault");
            }
            Input::Command(client, line) if self.stages[*client].0 => {
                self.game
                    .client_command(&mut self.host, at(client), &CommandArgs::parse(line))
                    .expect("no fault");
            }
            Input::Disconnect(client) if self.stages[*client].0 => self.disconnect(at(client)),
            Input::Frame(ms) => self.frame(*ms),
            Input::Ping(client, ping) if self.stages[*client].0 => {
                self.game.set_ping(at(client), *ping);
            }
            Input::Set(name, value) => self.host.set_setting(name, value),
            Input::Restart => self.again(7, true),
            Input::NewLevel => self.again(8, false),
            // A server would not make the call in this state.
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
        self.check();
    }

    fn disconnect(&mut self, client: ClientNum) {
        self.game.client_disconnect(&mut self.host, client).expect("no fault");
        self.stages[client.index()] = (false, false);
        assert_eq!(self.host.configstring(configstring::player(client)), "");
    }

    /// Checks that all entities and states are legal.
    fn check(&self) {
        let count = self.game.entity_count();
        for number in (0..count).filter_map(EntityNum::new) {
            let Some(entity) = self.game.entity(number) else { continue };
            assert_eq!(entity.state.number, number.index() as i32);
            let state = entity.state;
            // The occurrence count is part of the type and dropped by the wire format.
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
                self.check_player(client);
            }
        }
    }

    fn check_player(&self, client: ClientNum) {
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
        // Usercmds run at most 200 ms ahead, plus a fixed sub-step.
        assert!(LevelTime(state.command_time).distance(self.now) <= 200 + 33, "{state:?}");
        for value in state.stats.iter().chain(&state.persistant) {
            assert!(i16::try_from(*value).is_ok(), "{value} does not travel");
        }
    }

    /// Returns the output, to compare two runs.
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
