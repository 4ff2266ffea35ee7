//! Gamestate of a level, in the numbers and texts of a client's protocol.
//!
//! Source: Quake III protocol 68, gamestate; protocol 43, gamestate and game numbers.

use super::configstrings::Configstrings;
use crate::{
    model::{Baselines, ClientNum, CommandNum},
    wire::{Protocol, bits::BitWriter, gamestate, server_message::ServerOp},
};

/// Level that a gamestate describes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct GamestateContent<'a> {
    pub(crate) configstrings: &'a Configstrings,
    pub(crate) baselines: &'a Baselines,
    /// Number of the client.
    pub(crate) client: ClientNum,
    /// Checksum feed; `None` for a demo whose protocol leaves it out.
    pub(crate) checksum_feed: Option<i32>,
}

/// Writes a gamestate with its operation byte. `command` is the last command that the client was sent.
pub(crate) fn write_gamestate(
    writer: &mut BitWriter,
    protocol: &Protocol,
    command: CommandNum,
    content: GamestateContent<'_>,
) {
    let GamestateContent { configstrings, baselines, client, checksum_feed } = content;
    writer.byte(ServerOp::Gamestate as u8);
    if !protocol.has_own_texts() {
        let texts = configstrings.iter().map(|(index, text)| (index, text.as_bytes()));
        gamestate::write(writer, command, texts, baselines.all().iter(), client, checksum_feed);
        return;
    }
    let texts: Vec<_> = configstrings
        .iter()
        .filter_map(|(index, text)| protocol.sent_configstring(index, text))
        .collect();
    let sent = baselines.all().iter().filter_map(|state| protocol.numbers.sent_entity(state));
    let sent: Vec<_> = sent.collect();
    let texts = texts.iter().map(|(index, text)| (*index, text.as_bytes()));
    gamestate::write(writer, command, texts, sent.iter(), client, checksum_feed);
}
