//! Bot slots: clients without a channel, which a game module creates and moves.
//!
//! Invariants: a slot is held by a client or a bot, never both; a new game starts without bots. Source: the game interface, version 8.
//! Engine names: `SV_BotAllocateClient`, `SV_BotFreeClient`, `NA_BOT`.

use std::sync::Arc;

use super::{client::ClientSlots, frames::ServerFrames};
use crate::{
    game::{BotLink, Game},
    model::{
        ClientNum, ConfigIndex,
        limits::{MAX_CLIENTS, MAX_NAME_LEN, MAX_SERVER_COMMAND_LEN, MAX_SNAPSHOT_ENTITIES},
        text,
    },
    wire::info::InfoString,
    world::World,
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

    /// Queues a changed configstring, if it fits a server command.
    pub(super) fn publish(&mut self, index: ConfigIndex, value: &str) {
        if self.is_empty() {
            return;
        }
        let command = format!("cs {index} \"{value}\"\n");
        if command.len() <= MAX_SERVER_COMMAND_LEN {
            let command: Arc<str> = command.into();
            self.iter_mut().for_each(|bot| bot.link.queue(Arc::clone(&command)));
        }
    }

    /// Numbers of the slots in use when called.
    pub(super) fn numbers(&self) -> Vec<ClientNum> {
        self.iter().map(|(number, _)| number).collect()
    }
}

/// Takes the first of the free slots for a bot.
pub(super) fn allocate(
    clients: &ClientSlots,
    bots: &mut BotSlots,
    slots: usize,
) -> Option<ClientNum> {
    let mut slots = ClientNum::all().take(slots);
    let number = slots.find(|&number| is_free(clients, bots, number))?;
    bots.0[number.index()] = Some(Box::default());
    Some(number)
}

/// Whether neither a client nor a bot holds a slot.
pub(super) fn is_free(clients: &ClientSlots, bots: &BotSlots, number: ClientNum) -> bool {
    clients.get(number).is_none() && bots.get(number).is_none()
}

/// Userinfo of a client or a bot; empty for a free slot.
pub(super) fn userinfo_of<'a>(
    clients: &'a ClientSlots,
    bots: &'a BotSlots,
    number: ClientNum,
) -> &'a str {
    let of_bot = || bots.get(number).map(|bot| &bot.userinfo);
    let info = clients.get(number).map(|client| &client.userinfo).or_else(of_bot);
    info.map_or("", InfoString::as_str)
}

/// Records the entities that each bot sees in the newest frame.
pub(super) fn record_views(
    bots: &mut BotSlots,
    frames: &mut ServerFrames,
    world: Option<&World>,
    game: &dyn Game,
) {
    for number in bots.numbers() {
        let player = game.player(number);
        let sanitized = player.sanitized();
        let player = sanitized.as_ref().unwrap_or(player);
        let (seen, _) = frames.visible_to(player, world, MAX_SNAPSHOT_ENTITIES);
        if let Some(bot) = bots.get_mut(number) {
            bot.link.seen = seen;
        }
    }
}
