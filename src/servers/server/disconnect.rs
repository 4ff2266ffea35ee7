//! Disconnects: drops of clients from the game, shutdown.
//!
//! Invariant: a client is dropped once.
//! Source: Quake III protocol 68, dropping and shutdown. Engine names: `SV_DropClient`, `SV_Shutdown`.

use super::{
    Server,
    client::{Client, ServerRole},
    core::Core,
};
use crate::{
    model::ClientNum,
    observe::Counter,
    serving::connection::{Service, disconnect_all, log_disconnect, sanitize_reason},
};

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
        Service::process_pending_drops(self);
    }
}

/// Disconnects all clients with `reason` and ends.
pub(super) fn stop(server: &mut Server, reason: &str) {
    if server.finished {
        return;
    }
    server.core.recordings.end_all();
    disconnect_all(server, reason);
    server.core.announce_shutdown();
    server.enter_game(|game, host| game.shutdown(host, false));
    server.finished = true;
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
    log_disconnect::<ServerRole>(number, &name, reason);
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
        client.end(&level.configstrings, reason, since);
    }
}
