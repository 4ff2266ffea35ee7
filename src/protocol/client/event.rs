//! Client events: state changes, protocol errors, disconnect reasons.
//!
//! Invariant of [`Events`]: at most [`MAX_EVENTS`] are queued. If the owner does not poll, the
//! oldest are lost.

use std::{collections::VecDeque, fmt};

use thiserror::Error;

use crate::{
    model::{CommandNum, ConfigIndex, LevelTime, Sequence},
    netchan::{AckError, UnscrambleError},
    wire::{Protocol, WireError},
};

use super::download::DownloadEvent;

/// Maximum number of queued events.
const MAX_EVENTS: usize = 1024;

/// Event of a client.
#[derive(Clone, Debug, PartialEq)]
pub enum ClientEvent {
    /// Connection rejected by the server, with its message. The client retries every 3 seconds
    /// unless the owner disconnects it.
    Refused(String),
    /// Slot granted by the server.
    Connected,
    /// Gamestate received: new configstrings and baselines, no snapshots yet. The client's first
    /// usercmd makes the server put it into the game.
    Gamestate,
    /// The server is pure and [`ClientOptions::packs`](super::ClientOptions::packs) is not set. Its owner sends `cp`, or
    /// the server runs no usercmd.
    ProofRequired,
    /// First snapshot of the level with the client in the game. A pure server has accepted the proof then.
    Entered,
    /// Snapshot accepted.
    Snapshot,
    /// Configstring changed.
    Configstring(ConfigIndex),
    /// Level restarted without a gamestate.
    MapRestart,
    /// Reliable command for the game: print, chat, scores and the like.
    ServerCommand(String),
    /// Text of a connectionless packet, e.g. rcon output.
    Print(String),
    /// Protocol error at which an unmodified client would disconnect. This client drops the message
    /// and continues; a strict owner disconnects.
    ProtocolError(ProtocolError),
    /// The row of the protocol whose scrambling the server's messages have, where the number does not tell it.
    Scrambling(&'static Protocol),
    /// Download finished or failed.
    Download(DownloadEvent),
    /// Connection ended. No event follows.
    Disconnected(DisconnectReason),
}

/// Reasons for the end of a connection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DisconnectReason {
    /// Disconnected by the client.
    Left,
    /// Disconnected by the server; its reason may be empty.
    ServerSaid(String),
    /// Archives of a pure server not proven, by this client or by the server's check: a sentence with the reason.
    Unpure(String),
    /// Unknown to the server.
    Forgotten,
    /// No packets from the server for the timeout.
    TimedOut,
    /// Too many reliable commands without acknowledgement.
    CommandOverflow,
    /// Message numbers of the connection used up.
    Exhausted,
}

impl fmt::Display for DisconnectReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Left => "left",
            Self::ServerSaid(reason) if reason.is_empty() => "disconnected by the server",
            Self::ServerSaid(reason) | Self::Unpure(reason) => reason,
            Self::Forgotten => "the server knows of no connection",
            Self::TimedOut => "timed out",
            Self::CommandOverflow => "client command overflow",
            Self::Exhausted => "no message numbers left",
        })
    }
}

/// Protocol error of a server message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("server message {sequence}: {kind}")]
pub struct ProtocolError {
    /// Message number.
    pub sequence: Sequence,
    /// Kind of error.
    pub kind: ProtocolErrorKind,
}

/// Kinds of protocol errors.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum ProtocolErrorKind {
    /// Scrambled with a command that the client never sent, or without a header.
    #[error(transparent)]
    Unscramble(#[from] UnscrambleError),
    /// Acknowledgement of a command that the client never sent.
    #[error(transparent)]
    Acknowledge(AckError),
    /// Message that cannot be decoded.
    #[error("at bit {at_bit}: {error}")]
    Unreadable {
        /// Position in the message, in bits.
        at_bit: usize,
        /// Decoding error.
        error: WireError,
    },
    /// Several gamestates or snapshots in one message.
    #[error("a second gamestate or snapshot in one message")]
    RepeatedPart,
    /// Missing reliable command.
    #[error("command {got} after command {last}")]
    CommandGap {
        /// Newest command that the client has.
        last: CommandNum,
        /// Number of the received command.
        got: CommandNum,
    },
    /// Gamestate without a server id.
    #[error("systeminfo without sv_serverid")]
    NoServerId,
    /// Configstring index out of range.
    #[error("configstring {0} out of range")]
    ConfigIndex(i32),
    /// More configstring text than a client can hold.
    #[error("configstrings exceed the memory of a client")]
    ConfigOverflow,
    /// Invalid or overlong parts of a long configstring.
    #[error("invalid parts of a long configstring")]
    BigConfigstring,
    /// Server time that decreases.
    #[error("server time {after} after {before}")]
    TimeBackwards {
        /// Server time of the previous snapshot.
        before: LevelTime,
        /// Server time of this snapshot.
        after: LevelTime,
    },
}

/// Event queue.
#[derive(Debug, Default)]
pub(super) struct Events(VecDeque<ClientEvent>);

impl Events {
    pub(super) fn push(&mut self, event: ClientEvent) {
        if self.0.len() == MAX_EVENTS {
            self.0.pop_front();
        }
        self.0.push_back(event);
    }

    pub(super) fn pop(&mut self) -> Option<ClientEvent> {
        self.0.pop_front()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn full_event_queue_drops_the_oldest() {
        let mut events = Events::default();
        for number in 0..MAX_EVENTS + 2 {
            events.push(ClientEvent::Print(number.to_string()));
        }
        assert_eq!(events.0.len(), MAX_EVENTS);
        assert_eq!(events.pop(), Some(ClientEvent::Print("2".to_owned())));
    }
}
