//! Intermission: scoreboard between the end of a match and the next map.
//!
//! Players do not move and see the level from its camera, or else from a spawn point. The next map follows when a player
//! presses a button, after [`MIN_TIME`], or by itself after [`MAX_TIME`].
//! Source: QuakeWorld protocol 28, `intermission`. Engine names: `info_intermission`.

use super::{QwServer, rotation::map_behind_current};
use crate::{
    model::Millis,
    quakeworld::{
        ServerMessage, Usercmd,
        bytes::{Angle, Coord},
        usercmd::button,
    },
};

/// Shortest time of the scoreboard.
const MIN_TIME: Millis = Millis::seconds(5);
/// Longest time of the scoreboard.
const MAX_TIME: Millis = Millis::seconds(15);

/// Begins the intermission.
pub(super) fn begin(server: &mut QwServer, now: Millis) {
    server.level.is_over = true;
    server.level.over_at = now;
    log::info!("match on {} ended", server.level.name);
    let message = message(server);
    server.broadcast(&message);
}

/// Shows the intermission to a client that enters the game.
pub(super) fn show(server: &mut QwServer, slot: usize) {
    if server.level.is_over {
        let message = message(server);
        server.queue_message(slot, &message);
    }
}

fn message(server: &QwServer) -> ServerMessage<'static> {
    let (origin, angles) = server.level.game.camera();
    ServerMessage::Intermission {
        origin: origin.0.map(Coord),
        angles: angles.0.map(Angle::from_degrees),
    }
}

/// Takes a usercmd during the intermission.
pub(super) fn take_usercmd(server: &mut QwServer, now: Millis, command: &Usercmd) {
    let presses = command.buttons & (button::ATTACK | button::JUMP) != 0;
    if presses && now >= server.level.over_at + MIN_TIME {
        leave(server);
    }
}

/// Ends the intermission when its time is over.
pub(super) fn check(server: &mut QwServer, now: Millis) {
    if server.level.is_over && now >= server.level.over_at + MAX_TIME {
        leave(server);
    }
}

fn leave(server: &mut QwServer) {
    // A server that drains ends behind the scores.
    if server.next_map.is_none() && !server.drain.is_on() {
        server.next_map = Some(map_behind_current(server));
    }
}
