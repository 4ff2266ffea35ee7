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

    /// The one of number 71 with this framing.
    pub(super) const fn of_71(dialect: Dialect) -> Self {
        match dialect {
            Dialect::Compat => Self::Compat71,
            Dialect::Native => Self::Native71,
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

/// Choice of a client's protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ProtocolChoice {
    /// The one that the server turns out to speak.
    Auto,
    /// This one, whatever the server speaks.
    Fixed(ClientWire),
}

impl ProtocolChoice {
    /// Name of [`ProtocolChoice::Auto`].
    const AUTO: &str = "auto";
}

impl From<ClientWire> for ProtocolChoice {
    fn from(wire: ClientWire) -> Self {
        Self::Fixed(wire)
    }
}

impl fmt::Display for ProtocolChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Auto => f.write_str(Self::AUTO),
            Self::Fixed(wire) => fmt::Display::fmt(wire, f),
        }
    }
}

impl FromStr for ProtocolChoice {
    type Err = UnknownWire;

    fn from_str(name: &str) -> Result<Self, UnknownWire> {
        if name == Self::AUTO { Ok(Self::Auto) } else { name.parse().map(Self::Fixed) }
    }
}

/// A name that is not a protocol's.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("unknown protocol '{0}' (expected auto, 68, compat or native)")]
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
    /// Whether `wire` is only the first guess: the client takes the protocol number that the server names
    /// and, for 71, the framing that the server's messages have.
    pub detects_wire: bool,
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
            detects_wire: false,
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
        assert_eq!("auto".parse(), Ok(ProtocolChoice::Auto));
        assert_eq!("68".parse(), Ok(ProtocolChoice::Fixed(ClientWire::Protocol68)));
        assert_eq!(ProtocolChoice::Auto.to_string(), "auto");
        let error = "auto71".parse::<ProtocolChoice>().unwrap_err().to_string();
        assert_eq!(error, "unknown protocol 'auto71' (expected auto, 68, compat or native)");
    }
}
