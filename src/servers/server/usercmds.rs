//! Usercmds of clients, and the entry into the world by the first one.
//!
//! Invariant: the times of the usercmds of a client that run grow.
//! Source: Quake III protocol 68, client messages. Engine names: `SV_UserMove`, `SV_ClientEnterWorld`.

use super::{client::ClientState, pure, state::Server};
use crate::{
    limits::BucketLimit,
    model::{ClientNum, Millis, UserCmd},
    observe::Counter,
    serving::connection::{Service as _, enter_level},
};

/// Usercmds of one client that run: their times are whole ms and grow.
const USERCMDS: BucketLimit = BucketLimit { burst: 256, period: Millis(1) };

/// Runs the usercmds of a message. The first one of a client that loads the level enters it.
pub(super) fn run(server: &mut Server, number: ClientNum, usercmds: &[UserCmd]) {
    let now = server.core.now;
    if server.faults.has_ended_level() {
        return;
    }
    let Some(last) = usercmds.last() else { return };
    let Some(client) = server.core.clients.get(number) else { return };
    let is_primed = matches!(client.state, ClientState::Primed(_));
    if !pure::allows_usercmds(server.core.pure.as_ref(), client) {
        return;
    }
    if is_primed {
        enter_world(server, number, usercmds[0]);
    }
    let newer = |a: i32, b: i32| a.wrapping_sub(b) > 0;
    let Some(client) = server.core.clients.get(number) else { return };
    let mut newest = client.last_usercmd.server_time;
    for command in usercmds {
        // Later than the last of the packet: from before a restart.
        if newer(command.server_time, last.server_time) || !newer(command.server_time, newest) {
            continue;
        }
        let Some(client) = server.core.clients.get_mut(number).filter(|c| c.is_active()) else {
            return;
        };
        newest = command.server_time;
        if !client.own.buckets.usercmds.allows(now, USERCMDS) {
            server.core.stats.bump(Counter::MovesOverLimit);
            return;
        }
        client.last_usercmd = *command;
        server.core.stats.bump(Counter::Moves);
        server.enter_game(|game, host| game.client_think(host, number, command));
    }
    server.process_pending_drops();
}

/// Enters a client that has loaded the level into the world, with its first usercmd.
pub(super) fn enter_world(server: &mut Server, number: ClientNum, first_usercmd: UserCmd) {
    enter_level(server.core.connections(), number, first_usercmd);
    server.enter_game(|game, host| game.client_begin(host, number));
    server.process_pending_drops();
}
