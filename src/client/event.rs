//! What a client tells its owner: what happened, what the server did wrong, how it ended.
//!
//! Invariant of [`Events`]: never more than [`MAX_EVENTS`] wait. An owner that does not listen loses
//! the oldest, but no memory.

use std::{collections::VecDeque, fmt};

use thiserror::Error;

use crate::{
    model::{CommandNum, ConfigIndex, LevelTime, Sequence},
    netchan::{AckError, UnscrambleError},
    wire::WireError,
};

/// Events kept for an owner that does not ask.
const MAX_EVENTS: usize = 1024;

/// Something that happened to a client.
#[derive(Clone, Debug, PartialEq)]
pub enum ClientEvent {
    /// The server refuses to let the client in, and says why. The client asks again every 3 seconds;
    /// who does not want that disconnects.
    Refused(String),
    /// The server gave the client a place.
    Connected,
    /// A new level is known: configstrings and baselines are there, snapshots begin anew. UsercmdHistory are
    /// due: the first one lets the client into the game.
    Gamestate,
    /// The first snapshot of the level that shows the client in the game.
    Entered,
    /// A snapshot was accepted.
    Snapshot,
    /// A configstring has changed.
    Configstring(ConfigIndex),
    /// The level began anew, without a gamestate.
    MapRestart,
    /// A reliable command that is the game's: print, chat, scores and the like.
    ServerCommand(String),
    /// Text from outside the connection, for instance what a remote console answers.
    Print(String),
    /// The server sent what a game's client would end at. The message did not count, and this client
    /// goes on; who wants it strict disconnects.
    ProtocolError(ProtocolError),
    /// The connection has ended. Nothing follows.
    Disconnected(DisconnectReason),
}

/// Why a connection ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DisconnectReason {
    /// The client left.
    Left,
    /// The server said so; its reason may be empty.
    ServerSaid(String),
    /// The server knows of no such connection.
    Forgotten,
    /// The server was silent for too long.
    TimedOut,
    /// The server acknowledged no command for so long that there is no room for another.
    CommandOverflow,
    /// The connection has used up its message numbers.
    Exhausted,
}

impl fmt::Display for DisconnectReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Left => "left",
            Self::ServerSaid(reason) if reason.is_empty() => "disconnected by the server",
            Self::ServerSaid(reason) => reason,
            Self::Forgotten => "the server knows of no connection",
            Self::TimedOut => "timed out",
            Self::CommandOverflow => "client command overflow",
            Self::Exhausted => "no message numbers left",
        })
    }
}

/// Something a server may not send, and where.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("server message {sequence}: {kind}")]
pub struct ProtocolError {
    /// The message.
    pub sequence: Sequence,
    /// What is wrong with it.
    pub kind: ProtocolErrorKind,
}

/// What a server did wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum ProtocolErrorKind {
    /// The message is keyed by a command that the client never sent, or has no beginning.
    #[error(transparent)]
    Opening(#[from] UnscrambleError),
    /// It acknowledges what the client never sent.
    #[error(transparent)]
    Acknowledge(AckError),
    /// It cannot be read.
    #[error("at bit {at_bit}: {error}")]
    Unreadable {
        /// Where.
        at_bit: usize,
        /// Why.
        error: WireError,
    },
    /// More than one gamestate or snapshot in one message.
    #[error("a second gamestate or snapshot in one message")]
    SecondPart,
    /// A reliable command is missing.
    #[error("command {got} after command {last}")]
    CommandGap {
        /// The newest the client has.
        last: CommandNum,
        /// The one that came.
        got: CommandNum,
    },
    /// A gamestate that does not say which level it is.
    #[error("systeminfo without sv_serverid")]
    NoServerId,
    /// A configstring that has no place.
    #[error("configstring {0} does not exist")]
    ConfigIndex(i32),
    /// More configstring text than a client holds.
    #[error("more configstring text than a client can hold")]
    ConfigOverflow,
    /// Pieces of a long configstring that do not belong together, or are too much.
    #[error("pieces of a configstring that do not fit together")]
    ConfigPieces,
    /// The level's clock went back.
    #[error("level time {after} after {before}")]
    TimeBackwards {
        /// Time of the snapshot before.
        before: LevelTime,
        /// Time of this one.
        after: LevelTime,
    },
}

/// Events that wait for the owner.
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
    fn an_owner_that_does_not_listen_loses_the_oldest() {
        let mut events = Events::default();
        for number in 0..MAX_EVENTS + 2 {
            events.push(ClientEvent::Print(number.to_string()));
        }
        assert_eq!(events.0.len(), MAX_EVENTS);
        assert_eq!(events.pop(), Some(ClientEvent::Print("2".to_owned())));
    }
}
