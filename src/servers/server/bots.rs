//! Bot slots: clients without a channel, which a game module creates and moves.
//!
//! Invariants: a slot is held by a client or a bot, never both; a new game starts without bots. Source: the game interface, version 8.
//! Engine names: `SV_BotAllocateClient`, `SV_BotFreeClient`, `NA_BOT`.

use std::sync::Arc;

use super::{Server, core::Core};
use crate::{
    game::{BotLink, ConnectError},
    model::{
        ClientNum, ConfigIndex,
        limits::{MAX_CLIENTS, MAX_NAME_LEN, MAX_SERVER_COMMAND_LEN, MAX_SNAPSHOT_ENTITIES},
        text,
    },
    wire::info::InfoString,
};

/// A bot slot in use.
#[derive(Debug, Default)]
pub(super) struct Bot {
    pub(super) userinfo: InfoString,
    pub(super) name: String,
    pub(super) link: BotLink,
}

impl Bot {
    /// Stores the userinfo and the name in it.
    pub(super) fn set_userinfo(&mut self, info: InfoString) {
        self.name = text::truncated(info.get("name").unwrap_or(""), MAX_NAME_LEN).to_owned();
        self.userinfo = info;
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

/// Takes the first free slot for a bot.
pub(super) fn allocate(core: &mut Core) -> Option<ClientNum> {
    let mut slots = ClientNum::all().take(core.slots());
    let number = slots.find(|&number| is_free(core, number))?;
    core.bots.0[number.index()] = Some(Box::default());
    Some(number)
}

/// Whether neither a client nor a bot holds a slot.
pub(super) fn is_free(core: &Core, number: ClientNum) -> bool {
    core.clients.get(number).is_none() && core.bots.get(number).is_none()
}

/// Queues a changed configstring for bots, if it fits a server command.
pub(super) fn publish(core: &mut Core, index: ConfigIndex) {
    if core.bots.is_empty() {
        return;
    }
    let command = format!("cs {index} \"{}\"\n", core.level.configstrings.get(index));
    if command.len() <= MAX_SERVER_COMMAND_LEN {
        let command: Arc<str> = command.into();
        core.bots.iter_mut().for_each(|bot| bot.link.queue(Arc::clone(&command)));
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
            bot.link.seen = seen;
        }
    }
}
