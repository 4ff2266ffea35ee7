//! What a client is told before it begins: whom to join, over which wire, as whom.

use std::{fmt, net::SocketAddr, str::FromStr};

use thiserror::Error;

use crate::{
    model::{Dialect, Millis, Qport},
    wire::info::Info,
};

/// Protocol number and dialect together: which family of servers the client speaks to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ClientWire {
    /// Number 68: the original game, and what most engines still serve.
    Protocol68,
    /// Number 71 on the wire of 68: OpenArena.
    Compat71,
    /// Number 71 with clear messages and checksums: ioquake3.
    Native71,
}

/// Wires by the names that operators use.
const WIRES: [(&str, ClientWire); 3] = [
    ("68", ClientWire::Protocol68),
    ("compat", ClientWire::Compat71),
    ("native", ClientWire::Native71),
];

impl ClientWire {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Protocol68, Self::Compat71, Self::Native71];

    /// The number in userinfo.
    #[must_use]
    pub const fn protocol(self) -> i32 {
        match self {
            Self::Protocol68 => 68,
            Self::Compat71 | Self::Native71 => 71,
        }
    }

    /// How messages are framed and hidden.
    #[must_use]
    pub const fn dialect(self) -> Dialect {
        match self {
            Self::Protocol68 | Self::Compat71 => Dialect::Compat,
            Self::Native71 => Dialect::Native,
        }
    }
}

impl fmt::Display for ClientWire {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let named = WIRES.iter().find(|(_, wire)| wire == self);
        f.write_str(named.map_or("", |(name, _)| name))
    }
}

/// A wire that nobody speaks.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("no wire '{0}': 68, compat (71 as OpenArena speaks it) or native (71 of ioquake3)")]
pub struct UnknownWire(String);

impl FromStr for ClientWire {
    type Err = UnknownWire;

    fn from_str(name: &str) -> Result<Self, UnknownWire> {
        let named = WIRES.iter().find(|(known, _)| *known == name);
        named.map(|(_, wire)| *wire).ok_or_else(|| UnknownWire(name.to_owned()))
    }
}

/// Whom to join, and as whom. [`ClientOptions::new`] has the values that players use.
#[derive(Clone, Debug)]
pub struct ClientOptions {
    /// The server.
    pub server: SocketAddr,
    /// What to speak with it.
    pub wire: ClientWire,
    /// Whether a client of [`ClientWire::Native71`] goes over to [`ClientWire::Protocol68`] when the
    /// server turns out not to know 71.
    pub falls_back: bool,
    /// Who the player is; the keys of the handshake are added.
    pub userinfo: Info,
    /// Number that stays when a router gives the client another port. Any, but one's own.
    pub qport: Qport,
    /// What everything drawn at random grows from.
    pub seed: u64,
    /// The game's name, which some servers compare with theirs.
    pub gamename: String,
    /// Packets a second while in a level, 15 to 125.
    pub packets_per_second: u32,
    /// How many earlier packets' usercmds each packet repeats, 0 to 5.
    pub packet_dup: u32,
    /// Silence after which the server counts as gone.
    pub timeout: Millis,
}

impl ClientOptions {
    /// Joins `server` as the player of `userinfo`.
    #[must_use]
    pub fn new(
        server: SocketAddr,
        wire: ClientWire,
        userinfo: Info,
        qport: Qport,
        seed: u64,
    ) -> Self {
        Self {
            server,
            wire,
            falls_back: true,
            userinfo,
            qport,
            seed,
            gamename: "Quake3Arena".to_owned(),
            packets_per_second: 30,
            packet_dup: 1,
            timeout: Millis::seconds(200),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_wire_has_one_name() {
        for wire in ClientWire::ALL {
            assert_eq!(wire.to_string().parse(), Ok(wire));
        }
        assert_eq!("71".parse::<ClientWire>(), Err(UnknownWire("71".to_owned())));
    }
}
