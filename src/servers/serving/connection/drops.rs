//! Drops: reasons, timeouts, slots of abandoned connections, the last message of a stop.
//!
//! Invariant: a client is dropped once; the reason is repeated in messages until its slot is freed.
//! Source: Quake III protocol 68, dropping and shutdown.
//! Engine names: `SV_DropClient`, `SV_CheckTimeouts`, `SV_FinalMessage`.

use std::sync::Arc;

use super::{
    Role, RoleData as _, Slots,
    reconnect::{ABANDONED_AFTER, is_successor},
    service::Service,
    state::{Connection, ConnectionState, Zombie},
};
use crate::{
    model::{Millis, limits::MAX_SERVER_COMMAND_LEN, text},
    serving::configstrings::Configstrings,
};

/// Timeout of a client that has sent no message since it connected.
const FIRST_MESSAGE_TIMEOUT: Millis = Millis::seconds(5);
/// Consecutive overdue checks before a client is dropped, since time may jump once.
const MAX_OVERDUE_CHECKS: u8 = 5;
/// Silent clients of one check that are compared with newer ones, since each comparison reads all clients.
const MAX_COMPARED: usize = 64;
/// Interval of the checks, at least.
const CHECK_INTERVAL_MS: u64 = 50;

/// Longest command around a reason, in bytes: `disconnect ""` or `print ""` with its line end.
const MAX_COMMAND_FRAME: usize = 16;

/// Reason of a client that left by itself, as players read it.
pub(crate) const LEFT: &str = "disconnected";

/// Times after which clients are dropped and freed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Timeouts {
    /// Silence after which a client is dropped.
    pub(crate) silence: Millis,
    /// Time in which a client has to enter the level; `None` without limit.
    pub(crate) join: Option<Millis>,
    /// Time for which a dropped client holds its slot.
    pub(crate) zombie: Millis,
}

impl<R: Role> Connection<R> {
    /// Makes a client a zombie that is sent the reason. Commands that wait for room are sent before it while there is
    /// room.
    pub(crate) fn end(&mut self, configstrings: &Configstrings, reason: &str, now: Millis) {
        self.queue.fill_last(configstrings);
        let disconnect = format!("disconnect \"{}\"", sanitize_reason(reason));
        self.queue_last(&[disconnect.into()]);
        self.state = ConnectionState::Zombie(Zombie { since: now, last_at: None });
    }

    /// Queues the last commands of a connection in place of all that wait.
    pub(crate) fn queue_last(&mut self, commands: &[Arc<str>]) {
        self.queue.clear_pending();
        for command in commands {
            self.queue.push_last(command);
        }
    }
}

/// Logs that a client was dropped. No reason is logged for a client that left by itself.
pub(crate) fn log_disconnect<R: Role>(key: R::Key, name: &str, reason: &str) {
    let detail = match reason {
        LEFT => String::new(),
        _ => format!(": {}", text::escaped(reason.as_bytes())),
    };
    let (noun, name) = (R::NOUN, text::escaped(name.as_bytes()));
    log::info!("{noun} {key} \"{name}\" disconnected{detail}");
}

/// Sanitizes a reason for a quoted argument of a command, whose longest form it fits.
pub(crate) fn sanitize_reason(reason: &str) -> String {
    let reason = text::truncated(reason, MAX_SERVER_COMMAND_LEN - MAX_COMMAND_FRAME);
    reason.chars().map(|c| if c == '"' || c.is_control() { '\'' } else { c }).collect()
}

/// Consequence of a check of the timeouts.
enum Overdue {
    Free,
    Drop(&'static str),
    /// The client would not receive the reason.
    DropAndFree {
        never_sent: bool,
    },
}

/// Drops clients that are silent or do not enter the level in time, and frees the slots of zombies.
pub(crate) fn check_timeouts<S: Service>(service: &mut S) {
    drop_abandoned_clients(service);
    let timeouts = service.timeouts();
    for key in service.slots().keys() {
        let connections = service.connections();
        let now = connections.now;
        let Some(client) = connections.slots.get_mut(key) else { continue };
        match client.overdue(timeouts, now) {
            None => {}
            Some(Overdue::Free) => connections.slots.free(key),
            Some(Overdue::Drop(reason)) => service.drop_client(key, reason),
            Some(Overdue::DropAndFree { never_sent }) => {
                if never_sent {
                    connections.guards.record_silent_client(now, client.remote.address());
                }
                service.drop_client(key, "timed out");
                service.connections().slots.free(key);
            }
        }
    }
    service.process_pending_drops();
}

impl<R: Role> Connection<R> {
    /// Checks the time limits of a client.
    fn overdue(&mut self, timeouts: Timeouts, now: Millis) -> Option<Overdue> {
        let silence = self.silence(now);
        let joining_since = match &self.state {
            ConnectionState::Zombie(zombie) => {
                return (now.since(zombie.since) >= timeouts.zombie).then_some(Overdue::Free);
            }
            ConnectionState::Connected(connected) => Some(connected.joining_since),
            ConnectionState::Primed(primed) => Some(primed.joining_since),
            ConnectionState::Active(_) => None,
        };
        if self.channel.outgoing_exhausted() {
            return Some(Overdue::Drop("connection too old, please reconnect"));
        }
        if let Some(reason) = self.own.stalled(now) {
            return Some(Overdue::Drop(reason));
        }
        let never_sent = !self.has_sent_message() && silence >= FIRST_MESSAGE_TIMEOUT;
        let is_silent = silence >= timeouts.silence || never_sent;
        let never_joins = joining_since
            .zip(timeouts.join.map(|limit| limit + self.own.joining_allowance()))
            .is_some_and(|(since, limit)| now.since(since) >= limit);
        self.overdue_checks = if is_silent || never_joins { self.overdue_checks + 1 } else { 0 };
        if self.overdue_checks <= MAX_OVERDUE_CHECKS {
            None
        } else if is_silent {
            Some(Overdue::DropAndFree { never_sent })
        } else {
            Some(Overdue::Drop("took too long to enter the game"))
        }
    }
}

/// Drops abandoned connections of players that have rejoined. Such a client has the same host
/// and qport as a newer one, or the same host, name and guid. It has been silent since the
/// newer one connected.
fn drop_abandoned_clients<S: Service>(service: &mut S) {
    let now = service.connections().now;
    while let Some(key) = abandoned(service.slots(), now) {
        service.drop_client(key, "reconnected");
        service.connections().slots.free(key);
    }
}

/// A connection that a newer one of the same player has replaced.
fn abandoned<R: Role>(slots: &Slots<R>, now: Millis) -> Option<R::Key> {
    let silent = |client: &Connection<R>| client.silence(now) >= ABANDONED_AFTER;
    let all = || slots.present().filter(|(_, client)| silent(client));
    let count = all().count();
    if count == 0 {
        return None;
    }
    // Of many silent clients each check compares others.
    let first = (now.0 / CHECK_INTERVAL_MS) as usize * MAX_COMPARED % count;
    let first = if count <= MAX_COMPARED { 0 } else { first };
    all()
        .skip(first)
        .chain(all())
        .take(count.min(MAX_COMPARED))
        .find(|(_, old)| slots.iter().any(|(_, client)| is_successor(client, old)))
        .map(|(key, _)| key)
}

/// Copies of the last message of a stop.
const LAST_COPIES: usize = 2;

/// Sends every client the reason of the stop, twice and without rate delay. Nothing may be sent to a client of
/// unknown protocol.
pub(crate) fn disconnect_all<S: Service>(service: &mut S, reason: &str) {
    let reason = sanitize_reason(reason);
    let last: [Arc<str>; 2] =
        [format!("print \"{reason}\n\"\n").into(), format!("disconnect \"{reason}\"").into()];
    for _ in 0..LAST_COPIES {
        for key in service.slots().keys() {
            let Some(client) = service.connections().slots.get_mut(key) else { continue };
            if !client.is_zombie() && client.protocol_known {
                client.queue_last(&last);
                client.channel.clear_unsent();
                service.send_last(key);
            }
        }
    }
}
