//! Conformance tests of the game interface, in open space and in the world of a map.
//!
//! [`check`] calls a game in legal orders with hostile inputs and validates its output: states must be
//! finite and legal, commands short and quoted, and the same seed with the same calls must give the
//! same states.

mod drive;
mod host;
mod inputs;

use proptest::{
    prelude::*,
    test_runner::{Config, TestRunner},
};

pub(crate) use self::host::TestHost;
use self::{
    drive::GameDriver,
    inputs::{Input, inputs},
};
use super::Game;
use crate::model::{ClientNum, UserCmd, limits::MAX_CLIENTS};

/// Checks a game in open space and on a map.
pub(super) fn check(make: impl Fn() -> Box<dyn Game>) {
    for host in [TestHost::default, TestHost::with_map] {
        fill_and_empty_all_slots(make(), host());
        let mut runner =
            TestRunner::new(Config { cases: 256, failure_persistence: None, ..Config::default() });
        let run = |inputs: &[Input]| {
            let mut drive = GameDriver::new(make(), 42, host());
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
}

/// Connects 64 clients, restarts, changes the level, and disconnects them in another order.
fn fill_and_empty_all_slots(game: Box<dyn Game>, host: TestHost) {
    let mut drive = GameDriver::new(game, 1, host);
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
