//! Shadow of a connection of either family: decoder and writer of a last message.
//!
//! Invariant: datagrams are passed on as they are, decoded or not.

mod quake3;
mod quakeworld;

use std::net::SocketAddr;

use super::family::Family;
use crate::{
    model::{Challenge, Millis, Qport},
    trace::{Direction, quakeworld::is_netquake},
};

/// Meaning of a decoded datagram for its session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Seen {
    /// Nothing that the session acts on.
    Nothing,
    /// A complete message of the connection, so its sender is genuine.
    Message,
    /// The server accepted the connection.
    Accepted,
    /// One side disconnects.
    Disconnect,
    /// Not decoded.
    Undecoded,
}

/// Shadow of one session's connection.
#[derive(Debug)]
pub(super) enum Shadow {
    Quake3(Box<quake3::Shadow>),
    QuakeWorld(Box<quakeworld::Shadow>),
}

/// Calls a method of the shadow of either family.
macro_rules! of {
    ($self:ident, $shadow:ident => $call:expr) => {
        match $self {
            Self::Quake3($shadow) => $call,
            Self::QuakeWorld($shadow) => $call,
        }
    };
}

impl Shadow {
    pub(super) fn new(family: Family, server: SocketAddr, client: SocketAddr) -> Self {
        match family {
            Family::Quake3 => Self::Quake3(Box::new(quake3::Shadow::new(server, client))),
            Family::QuakeWorld => {
                Self::QuakeWorld(Box::new(quakeworld::Shadow::new(server, client)))
            }
        }
    }

    pub(super) const fn family(&self) -> Family {
        match self {
            Self::Quake3(_) => Family::Quake3,
            Self::QuakeWorld(_) => Family::QuakeWorld,
        }
    }

    /// Starts a connection. Returns whether it is another one than before.
    pub(super) fn connect(&mut self, challenge: Challenge, qport: Qport) -> bool {
        of!(self, shadow => shadow.connect(challenge, qport))
    }

    /// Name of the protocol of the connection, once known.
    pub(super) fn protocol(&self) -> Option<String> {
        of!(self, shadow => shadow.protocol())
    }

    /// Whether the client is in the game, as far as the server's messages tell.
    pub(super) fn is_in_game(&self) -> bool {
        of!(self, shadow => shadow.is_in_game())
    }

    /// Reason why the last datagram was not decoded.
    pub(super) fn fault(&self) -> Option<String> {
        match self {
            Self::Quake3(shadow) => shadow.record().fault.as_ref().map(ToString::to_string),
            Self::QuakeWorld(shadow) => shadow.record().fault.as_ref().map(ToString::to_string),
        }
    }

    /// Decodes a datagram.
    pub(super) fn decode(&mut self, now: Millis, direction: Direction, datagram: &[u8]) -> Seen {
        if is_netquake(datagram) {
            // A client of several games sends it beside its requests.
            return Seen::Nothing;
        }
        of!(self, shadow => shadow.decode(now, direction, datagram))
    }

    /// Whether a datagram from another port is a complete, new message of the client.
    pub(super) fn proves(&mut self, now: Millis, datagram: &[u8]) -> bool {
        of!(self, shadow => shadow.proves(now, datagram))
    }

    /// Passes datagrams that leave the server in the client's place to `push`.
    pub(super) fn leave(&self, push: impl FnMut(&[u8])) {
        of!(self, shadow => shadow.leave(push));
    }

    /// Passes datagrams that disconnect the client to `push`. Returns whether the client executes them.
    pub(super) fn disconnect(
        &mut self,
        now: Millis,
        reason: &str,
        push: impl FnMut(&[u8]),
    ) -> bool {
        of!(self, shadow => shadow.disconnect(now, reason, push))
    }
}
