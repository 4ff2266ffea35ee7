//! Disconnects: drops with a reason, timeouts, slots of abandoned connections, shutdown.
//!
//! Invariant: a client is dropped once; the reason is repeated in snapshots until its slot is freed.
//! Source: Quake III protocol 68, dropping and shutdown.
//! Engine names: `SV_DropClient`, `SV_CheckTimeouts`, `SV_FinalMessage`.

use std::sync::Arc;

use super::{
    Server,
    admission::ABANDONED_AFTER,
    client::{Client, ClientState, Zombie},
    core::Core,
};
use crate::{
    limits::same_host,
    model::{ClientNum, Millis, text},
    observe::Counter,
    settings::key,
    wire::userinfo::Userinfo,
};

/// Timeout of a client that has sent no message since it connected.
const FIRST_MESSAGE_TIMEOUT: Millis = Millis::seconds(5);
/// Consecutive overdue frames before a client is dropped, since time may jump once.
const MAX_OVERDUE_FRAMES: u8 = 5;

impl Server {
    /// Drops a client with a reason. Its slot is a zombie until the client has received the reason.
    pub(super) fn drop_client(&mut self, number: ClientNum, reason: &str) {
        if begin_drop(&mut self.core, number, reason) {
            self.enter_game(|game, host| game.client_disconnect(host, number));
            end_drop(&mut self.core, number, reason);
        }
    }

    /// Drops the clients whose drop was requested while the game ran.
    pub(super) fn process_pending_drops(&mut self) {
        // A drop may cause another, since its print may overflow a queue. Each client is dropped once.
        while let Some((number, reason)) = self.core.pending_drops.pop() {
            self.drop_client(number, &reason);
        }
    }

    /// Drops clients that are silent or do not enter the game in time, and frees the slots of zombies.
    pub(super) fn check_timeouts(&mut self) {
        self.drop_abandoned_clients();
        let now = self.core.now;
        let seconds = |key| Millis::seconds(self.core.settings.int(key).max(0) as u64);
        let (timeout, linger) = (seconds(key::SV_TIMEOUT), seconds(key::SV_ZOMBIETIME));
        let join_limit = Some(seconds(key::SV_JOIN_TIMEOUT)).filter(|&limit| limit > Millis(0));
        for number in self.core.clients.numbers() {
            let Some(client) = self.core.clients.get_mut(number) else { continue };
            let silence = now.since(client.received_at);
            let joining_since = match &client.state {
                ClientState::Zombie(zombie) => {
                    if now.since(zombie.since) >= linger {
                        self.core.clients.free(number);
                    }
                    continue;
                }
                ClientState::Connected(connected) => Some(connected.joining_since),
                ClientState::Primed(primed) => Some(primed.joining_since),
                ClientState::Active(_) => None,
            };
            if client.channel.outgoing_exhausted() {
                self.drop_client(number, "connection too old, please reconnect");
                continue;
            }
            if client.downloads.is_stalled(now) {
                self.drop_client(number, "download stalled");
                continue;
            }
            let never_sent = !client.has_sent_message() && silence >= FIRST_MESSAGE_TIMEOUT;
            let is_silent = silence >= timeout || never_sent;
            let never_joins = joining_since
                .zip(join_limit.map(|limit| limit + client.downloads.allowance()))
                .is_some_and(|(since, limit)| now.since(since) >= limit);
            client.overdue_frames =
                if is_silent || never_joins { client.overdue_frames + 1 } else { 0 };
            if client.overdue_frames > MAX_OVERDUE_FRAMES {
                if !is_silent {
                    self.drop_client(number, "took too long to enter the game");
                    continue;
                }
                if never_sent {
                    self.core.guards.record_silent_client(now, client.remote.address());
                }
                self.drop_client(number, "timed out");
                // The client would not receive the reason.
                self.core.clients.free(number);
            }
        }
        self.process_pending_drops();
    }

    /// Drops abandoned connections of players that have rejoined. Such a client has the same host
    /// and qport as a newer one, or the same host, name and guid. It has been silent since the
    /// newer one connected.
    fn drop_abandoned_clients(&mut self) {
        let now = self.core.now;
        let silent = |client: &Client| now.since(client.received_at) >= ABANDONED_AFTER;
        if !self.core.clients.present().any(|(_, client)| silent(client)) {
            return;
        }
        for number in self.core.clients.numbers() {
            let Some(abandoned) = self.core.clients.get(number) else { continue };
            let is_superseded = !abandoned.is_zombie()
                && silent(abandoned)
                && self.core.clients.iter().any(|(_, client)| is_successor(client, abandoned));
            if is_superseded {
                self.drop_client(number, "reconnected");
                self.core.clients.free(number);
            }
        }
    }

    /// Sends every client the reason of the shutdown, twice and without rate delay.
    pub(super) fn disconnect_all(&mut self, reason: &str) {
        let reason = sanitize_reason(reason);
        let words: [Arc<str>; 2] =
            [format!("print \"{reason}\n\"\n").into(), format!("disconnect \"{reason}\"").into()];
        for _ in 0..2 {
            for number in self.core.clients.numbers() {
                let Some(client) = self.core.clients.get_mut(number) else { continue };
                if client.is_zombie() {
                    continue;
                }
                client.queue.clear_pending();
                client.channel.clear_unsent();
                for text in &words {
                    let _ = client.queue.commands.add_disconnect(Arc::clone(text));
                }
                self.send_snapshot(number);
            }
        }
    }
}

/// Reason of a client that left by itself, as players read it.
pub(super) const LEFT: &str = "disconnected";

/// Disconnects all clients with `reason` and ends.
pub(super) fn stop(server: &mut Server, reason: &str) {
    if server.finished {
        return;
    }
    server.core.recordings.end_all();
    server.disconnect_all(reason);
    server.core.announce_shutdown();
    server.enter_game(|game, host| game.shutdown(host, false));
    server.finished = true;
}

/// A reason as the log shows it; nothing for a client that left by itself.
fn reason_detail(reason: &str) -> String {
    match reason {
        LEFT => String::new(),
        _ => format!(": {}", text::escaped(reason.as_bytes())),
    }
}

/// Announces the drop of a client, before the game disconnects it. Returns false for a free slot
/// and for a zombie.
pub(super) fn begin_drop(core: &mut Core, number: ClientNum, reason: &str) -> bool {
    let is_present = |client: &&Client| !client.is_zombie();
    let name = match (core.clients.get(number).filter(is_present), core.bots.get(number)) {
        (Some(client), _) => client.name.clone(),
        (None, Some(bot)) => bot.name.clone(),
        (None, None) => return false,
    };
    // The game may drop a client again while it disconnects it.
    if !core.dropping.insert(number) {
        return false;
    }
    log::info!(
        "client {number} \"{}\" disconnected{}",
        text::escaped(name.as_bytes()),
        reason_detail(reason)
    );
    let announcement = format!("print \"{name}^7 {}\n\"", sanitize_reason(reason));
    // Pending commands are of no use to a dropped client. Only the reason is sent.
    if let Some(client) = core.clients.get_mut(number) {
        client.queue.clear_pending();
    }
    core.stats.bump(Counter::ClientsDropped);
    core.send_reliable_to_all(&announcement);
    true
}

/// Makes a client that the game has disconnected a zombie, and frees the slot of a bot.
pub(super) fn end_drop(core: &mut Core, number: ClientNum, reason: &str) {
    let since = core.now;
    core.dropping.remove(&number);
    core.recordings.leave(number);
    if core.bots.free(number) {
        return;
    }
    let Core { clients, level, .. } = core;
    if let Some(client) = clients.get_mut(number) {
        client.queue.fill_window(&level.configstrings, usize::MAX);
        client.queue.clear_pending();
        let disconnect = format!("disconnect \"{}\"", sanitize_reason(reason));
        let _ = client.queue.commands.add_disconnect(Arc::from(disconnect));
        client.state = ClientState::Zombie(Zombie { since, last_snapshot_at: None });
    }
}

/// Whether a client in the game is the player of an older connection.
fn is_successor(client: &Client, abandoned: &Client) -> bool {
    let (newer, older) = (Userinfo(&client.userinfo), Userinfo(&abandoned.userinfo));
    // A client that loads a level is silent too, and names are not unique.
    let same_name =
        abandoned.is_active() && newer.name() == older.name() && newer.guid() == older.guid();
    client.is_active()
        && client.connected_at >= abandoned.received_at
        && client.connected_at > abandoned.connected_at
        && same_host(client.remote.address(), abandoned.remote.address())
        && (client.remote.qport() == abandoned.remote.qport() || same_name)
}

/// Sanitizes a reason for a quoted argument of a command.
fn sanitize_reason(reason: &str) -> String {
    reason.chars().map(|c| if c == '"' || c.is_control() { '\'' } else { c }).collect()
}
