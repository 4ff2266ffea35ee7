//! Bot slots: clients without a channel, which a game module creates and moves.
//!
//! Invariants: a slot is held by a client or a bot, never both; the queue of a bot is bounded, and its oldest
//! command is discarded; a new game starts without bots. Source: the game interface, version 8.
//! Engine names: `SV_BotAllocateClient`, `SV_BotFreeClient`, `SV_BotGetConsoleMessage`,
//! `SV_BotGetSnapshotEntity`, `NA_BOT`.

use std::{collections::VecDeque, sync::Arc};

use super::{Server, core::Core};
use crate::{
    game::ConnectError,
    model::{
        ClientNum, ConfigIndex, EntityNum, EntitySet, UserCmd,
        limits::{MAX_CLIENTS, MAX_NAME_LEN, MAX_SERVER_COMMAND_LEN, MAX_SNAPSHOT_ENTITIES},
        text,
    },
    wire::info::InfoString,
};

/// Server commands that wait for a bot. Engines keep as many for a client.
const MAX_WAITING: usize = 64;

/// A bot slot in use.
#[derive(Debug, Default)]
pub(super) struct Bot {
    pub(super) userinfo: InfoString,
    pub(super) name: String,
    pub(super) last_usercmd: UserCmd,
    commands: VecDeque<Arc<str>>,
    /// Entities of the last snapshot.
    seen: EntitySet,
}

impl Bot {
    /// Queues a server command.
    pub(super) fn queue(&mut self, command: Arc<str>) {
        if self.commands.len() == MAX_WAITING {
            self.commands.pop_front();
        }
        self.commands.push_back(command);
    }

    /// Stores the userinfo and the name in it.
    pub(super) fn set_userinfo(&mut self, info: InfoString) {
        self.name = text::truncated(info.get("name").unwrap_or(""), MAX_NAME_LEN).to_owned();
        self.userinfo = info;
    }

    /// Removes and returns the oldest server command.
    pub(super) fn next_command(&mut self) -> Option<Arc<str>> {
        self.commands.pop_front()
    }

    /// Entity of the last snapshot by its place in it.
    pub(super) fn seen(&self, index: usize) -> Option<EntityNum> {
        self.seen.iter().nth(index)
    }
}

/// Bot slots by client number.
#[derive(Debug)]
pub(super) struct BotSlots([Option<Box<Bot>>; MAX_CLIENTS]);

impl Default for BotSlots {
    fn default() -> Self {
        Self(std::array::from_fn(|_| None))
    }
}

impl BotSlots {
    pub(super) fn get(&self, number: ClientNum) -> Option<&Bot> {
        self.0[number.index()].as_deref()
    }

    pub(super) fn get_mut(&mut self, number: ClientNum) -> Option<&mut Bot> {
        self.0[number.index()].as_deref_mut()
    }

    /// Frees a slot. Returns whether it was in use.
    pub(super) fn free(&mut self, number: ClientNum) -> bool {
        self.0[number.index()].take().is_some()
    }

    pub(super) fn clear(&mut self) {
        *self = Self::default();
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.iter().all(Option::is_none)
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (ClientNum, &Bot)> {
        ClientNum::all().filter_map(|number| Some((number, self.get(number)?)))
    }

    pub(super) fn iter_mut(&mut self) -> impl Iterator<Item = &mut Bot> {
        self.0.iter_mut().filter_map(Option::as_deref_mut)
    }

    /// Numbers of the slots in use when called.
    pub(super) fn numbers(&self) -> Vec<ClientNum> {
        self.iter().map(|(number, _)| number).collect()
    }
}

impl Core {
    /// Takes the first free slot for a bot.
    pub(super) fn create_bot(&mut self) -> Option<ClientNum> {
        let mut slots = ClientNum::all().take(self.slots());
        let number = slots.find(|&number| self.is_free(number))?;
        self.bots.0[number.index()] = Some(Box::default());
        Some(number)
    }

    /// Whether neither a client nor a bot holds a slot.
    pub(super) fn is_free(&self, number: ClientNum) -> bool {
        self.clients.get(number).is_none() && self.bots.get(number).is_none()
    }

    /// Queues a changed configstring for bots, if it fits a server command.
    pub(super) fn tell_bots(&mut self, index: ConfigIndex) {
        if self.bots.is_empty() {
            return;
        }
        let command = format!("cs {index} \"{}\"\n", self.level.configstrings.get(index));
        if command.len() <= MAX_SERVER_COMMAND_LEN {
            let command: Arc<str> = command.into();
            self.bots.iter_mut().for_each(|bot| bot.queue(Arc::clone(&command)));
        }
    }
}

/// Connects bots that stay over a level change, and enters them.
pub(super) fn reconnect(server: &mut Server) {
    for number in server.core.bots.numbers() {
        if number.index() >= server.core.slots() {
            server.drop_client(number, "the server has fewer slots now");
            continue;
        }
        let answer =
            server.enter_game(|game, host| match game.client_connect(host, number, false, true) {
                Ok(()) => Ok(None),
                Err(ConnectError::Refused(reason)) => Ok(Some(reason)),
                Err(ConnectError::Fault(fault)) => Err(fault),
            });
        match answer {
            Some(Some(reason)) => server.drop_client(number, &reason),
            // The game may have freed the slot.
            Some(None) if server.core.bots.get(number).is_some() => {
                server.enter_game(|game, host| game.client_begin(host, number));
            }
            Some(None) | None => {}
        }
    }
}

/// Records the entities that each bot sees in the newest frame.
pub(super) fn record_views(server: &mut Server) {
    let Server { core, game, .. } = server;
    for number in core.bots.numbers() {
        let player = game.player(number);
        let sanitized = player.sanitized();
        let player = sanitized.as_ref().unwrap_or(player);
        let world = core.level.world.as_ref();
        let (seen, _) = core.frames.visible_to(player, world, MAX_SNAPSHOT_ENTITIES);
        if let Some(bot) = core.bots.get_mut(number) {
            bot.seen = seen;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waiting_commands_are_bounded() {
        let mut bot = Bot::default();
        (0..70).for_each(|number| bot.queue(number.to_string().into()));
        assert_eq!(bot.next_command().as_deref(), Some("6"));
        assert_eq!(std::iter::from_fn(|| bot.next_command()).count(), MAX_WAITING - 1);
    }
}
