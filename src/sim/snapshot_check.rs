//! Checker for snapshots: what a client decoded equals the server's record of that message.

use super::{Network, NodeId, Player};
use crate::{
    model::{EntityState, PlayerState},
    server::Server,
    wire::{
        Protocol,
        bits::{BitReader, BitWriter},
        entity, player,
    },
};

/// Compares new snapshots of the player on `node` with the server's record of each.
///
/// Removes them from the player's list and returns the number that could be compared.
///
/// # Errors
/// The first difference.
pub fn check_snapshots(server: &Server, node: NodeId, player: &mut Player) -> Result<u64, String> {
    let mut compared = 0;
    let known = player.client().client_num().filter(|number| {
        // The slot may belong to another client by now, without the player's knowledge.
        let from = Network::address(node, player.port());
        server.peer(*number).is_some_and(|(address, _)| address.ip() == from.ip())
    });
    let Player { client, writer, seen, .. } = player;
    let protocol = client.protocol();
    for sequence in seen.drain(..) {
        let Some(number) = known else { continue };
        let Some(sent) = server.sent_view(number, sequence) else { continue };
        let Some((seen, mut entities)) = client.view(sequence) else { continue };
        let place = || format!("client {number}, snapshot {sequence}");
        if seen.player.words() != travelled(writer, protocol, sent.player).words() {
            return Err(format!("{}: playerstate differs from the one sent", place()));
        }
        for sent in sent.entities {
            match entities.next() {
                Some(seen) if arrived(writer, protocol, seen, sent) => {}
                Some(seen) if seen.number == sent.number => {
                    let mut words = seen.words().iter().zip(sent.words()).zip(0..);
                    let other = words.find(|((seen, sent), _)| seen != sent);
                    let other =
                        other.map(|((seen, sent), at)| format!("{at}: {seen:#x} for {sent:#x}"));
                    let (number, other) = (sent.number, other.unwrap_or_default());
                    return Err(format!(
                        "{}: entity {number} differs from the one sent, word {other}",
                        place()
                    ));
                }
                Some(seen) => {
                    let (seen, sent) = (seen.number, sent.number);
                    return Err(format!("{}: entity {seen} where {sent} was sent", place()));
                }
                None => {
                    return Err(format!("{}: entity {} is missing", place(), sent.number));
                }
            }
        }
        if let Some(more) = entities.next() {
            return Err(format!("{}: entity {} was not sent", place(), more.number));
        }
        compared += 1;
    }
    Ok(compared)
}

/// Whether an entity equals the one sent, within the precision of the wire format.
///
/// The wire format drops the sign of zero and truncates each field to its width. Other numbers of the game are
/// translated in both directions.
fn arrived(
    writer: &mut BitWriter,
    protocol: &Protocol,
    seen: &EntityState,
    sent: &EntityState,
) -> bool {
    let numbers = protocol.numbers;
    numbers.is_current() && seen.words() == sent.words() || {
        let nothing = EntityState::default();
        writer.begin(protocol.encoding);
        entity::write_delta(writer, &nothing, &numbers.sent_base(sent), true);
        let mut reader = BitReader::with_encoding(protocol.encoding, writer.message());
        let number = entity::read_number(&mut reader);
        let travelled = number.and_then(|number| entity::read_delta(&mut reader, &nothing, number));
        travelled.is_ok_and(|travelled| {
            let shown = travelled.map(|state| numbers.received_entity(&state));
            shown.is_some_and(|shown| shown.words() == seen.words())
        })
    }
}

/// Returns a playerstate after encoding and decoding, with fields truncated to their widths.
fn travelled(writer: &mut BitWriter, protocol: &Protocol, player: &PlayerState) -> PlayerState {
    let numbers = protocol.numbers;
    writer.begin(protocol.encoding);
    let nothing = PlayerState::default();
    player::write_delta(writer, &nothing, &numbers.sent_player(player));
    let mut reader = BitReader::with_encoding(protocol.encoding, writer.message());
    let travelled = player::read_delta(&mut reader, &nothing).unwrap_or(nothing);
    numbers.received_player(&travelled)
}
