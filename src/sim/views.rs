//! What a client took from a snapshot against what the server meant to send.

use super::{Network, NodeId, Player};
use crate::{
    model::PlayerState,
    server::Server,
    wire::{
        bits::{BitReader, BitWriter},
        player,
    },
};

/// Compares the snapshots that the player on `node` has taken since the last time with what the server
/// remembers of them, and forgets them. How many could be compared.
///
/// # Errors
/// The first difference.
pub fn compare_views(server: &Server, node: NodeId, player: &mut Player) -> Result<u64, String> {
    let mut compared = 0;
    let mut seen = std::mem::take(&mut player.seen);
    let known = player.client().client_num().filter(|number| {
        // A slot may be somebody else's by now, without the player knowing.
        let from = Network::address(node, player.port());
        server.peer(*number).is_some_and(|(address, _)| address.ip() == from.ip())
    });
    for seen in seen.drain(..) {
        let Some(number) = known else { continue };
        let Some(sent) = server.sent_view(number, seen.sequence) else { continue };
        let place = format!("client {number}, snapshot {}", seen.sequence);
        if seen.player.words() != travelled(sent.player).words() {
            return Err(format!("{place}: the player is not what was sent"));
        }
        let mut entities = seen.entities.iter();
        for sent in sent.entities {
            match entities.next() {
                Some(seen) if seen.words() == sent.words() => {}
                Some(seen) if seen.number == sent.number => {
                    return Err(format!("{place}: entity {} is not what was sent", sent.number));
                }
                Some(seen) => {
                    let (seen, sent) = (seen.number, sent.number);
                    return Err(format!("{place}: entity {seen} where {sent} was sent"));
                }
                None => return Err(format!("{place}: entity {} is not there", sent.number)),
            }
        }
        if let Some(more) = entities.next() {
            return Err(format!("{place}: entity {} was not sent", more.number));
        }
        compared += 1;
    }
    // The memory is used again.
    player.seen = seen;
    Ok(compared)
}

/// A playerstate as it arrives: without what never travels, numbers cut to what travels of them.
fn travelled(player: &PlayerState) -> PlayerState {
    let mut writer = BitWriter::new();
    let nothing = PlayerState::default();
    player::write_delta(&mut writer, &nothing, player);
    player::read_delta(&mut BitReader::new(writer.message()), &nothing).unwrap_or(nothing)
}
