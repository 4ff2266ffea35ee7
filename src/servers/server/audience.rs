//! Audience: the clients, bots and recordings that commands and configstrings go to.
//!
//! Invariant: a client is dropped once. Source: Quake III protocol 68, dropping. Engine names: `SV_SendServerCommand`,
//! `SV_SetConfigstring`, `SV_DropClient`.

use std::{collections::BTreeSet, sync::Arc};

use super::{
    bots::BotSlots,
    client::{Client, ClientSlots, ServerRole},
    current_level::Level,
    recording::Recordings,
};
use crate::{
    model::{ClientNum, ConfigIndex, Millis},
    observe::{Counter, LogEvent},
    serving::{
        configstrings::{Configstrings, SetOutcome},
        connection::{log_disconnect, sanitize_reason},
        stats::Stats,
    },
};

/// Receivers of reliable commands and configstrings.
pub(super) struct Audience<'a> {
    pub(super) clients: &'a mut ClientSlots,
    pub(super) bots: &'a mut BotSlots,
    pub(super) recordings: &'a mut Recordings,
    pub(super) stats: &'a mut Stats,
    /// Drops to process, with their reasons.
    pub(super) drops: &'a mut Vec<(ClientNum, String)>,
    /// Clients that the game disconnects at the moment.
    pub(super) dropping: &'a mut BTreeSet<ClientNum>,
    pub(super) now: Millis,
}

impl Audience<'_> {
    /// Queues a reliable command for one client, if it has the level, or for a bot.
    pub(super) fn send(&mut self, number: ClientNum, text: &Arc<str>) {
        if let Some(bot) = self.bots.get_mut(number) {
            bot.link.queue(Arc::clone(text));
            return;
        }
        let Some(client) = self.clients.get_mut(number).filter(|client| client.has_level()) else {
            return;
        };
        if client.queue.push_text(Arc::clone(text)).is_err() {
            self.stats.bump(Counter::ReliableOverflows);
            self.drops.push((number, "Server command overflow".to_owned()));
        }
    }

    /// Queues a reliable command for every client that has the level.
    pub(super) fn send_to_all(&mut self, text: &str) {
        let text = Arc::from(text);
        self.recordings.published(&text);
        for number in ClientNum::all() {
            self.send(number, &text);
        }
    }

    /// Replaces a configstring and queues the change for clients that have the level.
    pub(super) fn publish(&mut self, level: &mut Level, index: ConfigIndex, value: &str) {
        match level.configstrings.set(index, value) {
            SetOutcome::Unchanged => {}
            SetOutcome::Rejected => {
                if let Some(suppressed) =
                    self.stats.allows_log(LogEvent::GameConfigstring, self.now)
                {
                    let len = value.len();
                    log::warn!(
                        "configstring {index} rejected: {len} bytes do not fit the gamestate{suppressed}"
                    );
                }
            }
            SetOutcome::Changed if level.starting => {}
            SetOutcome::Changed => {
                let value = level.configstrings.get(index);
                self.recordings.configstring(index, value);
                for (_, client) in self.clients.iter_mut().filter(|(_, c)| c.has_level()) {
                    client.queue.push_configstring(index);
                }
                self.bots.publish(index, value);
            }
        }
    }

    /// Announces the drop of a client, before the game disconnects it. Returns false for a free slot
    /// and for a zombie.
    pub(super) fn begin_drop(&mut self, number: ClientNum, reason: &str) -> bool {
        let is_present = |client: &&Client| !client.is_zombie();
        let name = match (self.clients.get(number).filter(is_present), self.bots.get(number)) {
            (Some(client), _) => client.name.clone(),
            (None, Some(bot)) => bot.name.clone(),
            (None, None) => return false,
        };
        // The game may drop a client again while it disconnects it.
        if !self.dropping.insert(number) {
            return false;
        }
        log_disconnect::<ServerRole>(number, &name, reason);
        let announcement = format!("print \"{name}^7 {}\n\"", sanitize_reason(reason));
        // Pending commands are of no use to a dropped client. Only the reason is sent.
        if let Some(client) = self.clients.get_mut(number) {
            client.queue.clear_pending();
        }
        self.stats.bump(Counter::ClientsDropped);
        self.send_to_all(&announcement);
        true
    }

    /// Makes a client that the game has disconnected a zombie, and frees the slot of a bot.
    pub(super) fn end_drop(
        &mut self,
        configstrings: &Configstrings,
        number: ClientNum,
        reason: &str,
    ) {
        self.dropping.remove(&number);
        self.recordings.leave(number);
        if self.bots.free(number) {
            return;
        }
        if let Some(client) = self.clients.get_mut(number) {
            client.end(configstrings, reason, self.now);
        }
    }
}
