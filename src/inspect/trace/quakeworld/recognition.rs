//! Recognition of QuakeWorld by one datagram: handshake, other connectionless packets, header and messages.
//!
//! Source: QuakeWorld protocol 28, connectionless messages and channel.

use super::{
    connection::{CANDIDATES, sender},
    payload::Content,
};
use crate::{
    quakeworld::{
        channel::header::{CONNECTIONLESS, Header},
        connectionless::{Reply, Request},
    },
    trace::record::Direction,
    wire::connectionless::{CommandKind, Message},
};

/// Largest difference of sequence and acknowledgment in a packet of a server, which answers packets.
const MAX_DISTANCE: u32 = 1024;

/// Whether a datagram is a `connect` of QuakeWorld: its userinfo follows numbers.
fn is_connect(datagram: &[u8]) -> bool {
    datagram
        .strip_prefix(b"\xff\xff\xff\xffconnect ")
        .and_then(|rest| rest.first())
        .is_some_and(u8::is_ascii_digit)
}

/// Whether a datagram is an answer without mark: a letter, or a log of frags.
pub(in crate::trace) fn is_unmarked_reply(datagram: &[u8]) -> bool {
    !datagram.starts_with(CONNECTIONLESS) && Reply::parse(datagram).is_ok()
}

/// Whether a datagram is a request of NetQuake: a mark and the length. Clients of several games send it, too.
#[must_use]
pub fn is_netquake(datagram: &[u8]) -> bool {
    let Some([0x80, 0, high, low]) = datagram.first_chunk::<4>() else { return false };
    usize::from(u16::from_be_bytes([*high, *low])) == datagram.len()
}

/// Whether only QuakeWorld has such a datagram, as far as one datagram tells.
pub(in crate::trace) fn is_likely(direction: Direction, datagram: &[u8]) -> bool {
    if datagram.starts_with(CONNECTIONLESS) {
        return direction_of_packet(datagram) == Some(direction) || is_letter(datagram);
    }
    if is_netquake(datagram) || direction == Direction::ToClient && is_unmarked_reply(datagram) {
        return true;
    }
    let Ok((header, payload)) = Header::parse(datagram, sender(direction)) else { return false };
    if payload.is_empty() || header.sequence.abs_diff(header.acknowledged) > MAX_DISTANCE {
        return false;
    }
    CANDIDATES.into_iter().any(|extensions| {
        let content = Content::read(direction, payload, extensions, header.sequence, 0);
        content.is_ok_and(|content| match direction {
            Direction::ToClient => true,
            Direction::ToServer => content.runs.is_some() && !content.has_bad_checksum,
        })
    })
}

/// Whether a datagram is a request that only clients and browsers of QuakeWorld send.
#[must_use]
pub fn is_request(datagram: &[u8]) -> bool {
    direction_of_packet(datagram) == Some(Direction::ToServer)
}

/// Whether a connectionless packet is one of the letters that both sides send.
fn is_letter(datagram: &[u8]) -> bool {
    matches!(datagram.get(4..), Some(b"k" | b"k\0" | b"k\n" | b"l" | b"l\0" | b"l\n"))
}

/// Returns the direction of a connectionless packet that only QuakeWorld has.
pub(in crate::trace) fn direction_of_packet(datagram: &[u8]) -> Option<Direction> {
    if is_connect(datagram) {
        return Some(Direction::ToServer);
    }
    let body = datagram.strip_prefix(CONNECTIONLESS)?;
    if body == b"getchallenge\n" {
        return Some(Direction::ToServer);
    }
    if Message::parse(datagram).is_ok_and(|message| message.kind() != CommandKind::Unknown)
        || is_letter(datagram)
    {
        return None;
    }
    if Request::parse(datagram).is_ok() {
        return Some(Direction::ToServer);
    }
    match Reply::parse(datagram) {
        // Words of other families begin with these letters.
        Ok(Reply::Accepted | Reply::Nack) if !matches!(body.get(1), None | Some(0 | b'\n')) => None,
        Ok(_) => Some(Direction::ToClient),
        Err(_) => None,
    }
}
