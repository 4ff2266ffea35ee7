//! Unit tests of client commands and replies, in a deathmatch without a map.

mod admission;
mod chat;
mod cheats;
mod commands;
mod teams;
mod votes;

use crate::game::Host as _;
use crate::game::{Deathmatch, Game, LevelStart, Ruleset, conformance::TestHost};
use crate::model::{Buttons, ClientNum, CommandArgs, LevelTime, PlayerState, UserCmd};

pub(super) fn client(number: usize) -> ClientNum {
    ClientNum::new(number).expect("a client number")
}

/// A level with connected players, on a test host.
pub(super) struct Fixture {
    pub(super) game: Deathmatch,
    pub(super) host: TestHost,
    pub(super) now: LevelTime,
    ruleset: &'static Ruleset,
}

impl Fixture {
    /// Starts a level at time 1000 with these settings.
    pub(super) fn set_up(ruleset: &'static Ruleset, settings: &[(&str, &str)]) -> Self {
        let mut fixture = Self {
            game: Deathmatch::new(ruleset),
            host: TestHost::of_ruleset(ruleset),
            now: LevelTime(1000),
            ruleset,
        };
        for (name, value) in settings {
            fixture.host.set_setting(name, value);
        }
        fixture.start(false);
        fixture
    }

    /// Starts a level as `set_up` does, with the players of `names`.
    pub(super) fn with(
        ruleset: &'static Ruleset,
        settings: &[(&str, &str)],
        names: &[&str],
    ) -> Self {
        let mut fixture = Self::set_up(ruleset, settings);
        for (number, name) in names.iter().enumerate() {
            fixture.enter(number, &format!("\\name\\{name}\\model\\sarge\\headmodel\\sarge"));
        }
        fixture.forget();
        fixture
    }

    pub(super) fn start(&mut self, restart: bool) {
        let start = LevelStart { time: self.now, seed: 1, restart };
        self.game.init(&mut self.host, start).expect("no fault");
    }

    pub(super) fn enter(&mut self, number: usize, userinfo: &str) {
        userinfo.clone_into(&mut self.host.userinfos[number]);
        self.game.client_connect(&mut self.host, client(number), true, false).expect("room");
        self.game.client_begin(&mut self.host, client(number)).expect("no fault");
    }

    pub(super) fn forget(&mut self) {
        self.host.sent.clear();
        self.host.told.clear();
        self.host.queued.clear();
    }

    /// Runs frames of 50 ms for `ms`.
    pub(super) fn wait(&mut self, ms: i32) {
        for _ in 0..ms / 50 {
            self.now = self.now + 50;
            self.game.run_frame(&mut self.host, self.now).expect("no fault");
        }
    }

    pub(super) fn think(&mut self, number: usize, command: UserCmd) {
        let command = UserCmd { server_time: self.now.0, ..command };
        self.host.usercmds[number] = command;
        self.game.client_think(&mut self.host, client(number), &command).expect("no fault");
    }

    pub(super) fn press(&mut self, number: usize, buttons: Buttons) {
        self.think(number, UserCmd { buttons, ..UserCmd::default() });
        self.think(number, UserCmd::default());
    }

    /// Runs a client command and returns all commands sent.
    pub(super) fn say(&mut self, number: usize, line: &str) -> &[(Option<ClientNum>, String)] {
        self.forget();
        self.game
            .client_command(&mut self.host, client(number), &CommandArgs::parse(line))
            .expect("no fault");
        &self.host.sent
    }

    /// Runs a client command whose answer must go to this client only, and returns the answer.
    pub(super) fn ask(&mut self, number: usize, line: &str) -> String {
        self.say(number, line);
        let mut text = String::new();
        for (to, sent) in &self.host.sent {
            assert_eq!(*to, Some(client(number)), "{line:?} told others {sent:?}");
            text.push_str(sent);
        }
        text
    }

    pub(super) fn state(&self, number: usize) -> &PlayerState {
        Game::player(&self.game, client(number))
    }

    pub(super) fn configstring(&self, index: u16) -> &str {
        self.host.configstring(crate::model::ConfigIndex::at(index))
    }

    pub(super) fn stat(&self, number: usize, at: fn(&Ruleset) -> usize) -> i32 {
        self.state(number).stats[at(self.ruleset)]
    }
}
