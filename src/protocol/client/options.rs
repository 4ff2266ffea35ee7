//! Options of a client: server, protocol, userinfo.

use std::{fmt, net::SocketAddr, str::FromStr, sync::Arc};

use thiserror::Error;

use crate::{
    model::{Millis, Qport, installed_packs::InstalledPacks},
    wire::{info::InfoString, protocol::Protocol},
};

/// Choice of a client's protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ProtocolChoice {
    /// Protocol of the server, detected.
    Auto,
    /// One protocol for any server.
    Fixed(&'static Protocol),
}

impl ProtocolChoice {
    /// Name of [`ProtocolChoice::Auto`].
    const AUTO: &str = "auto";
}

impl From<&'static Protocol> for ProtocolChoice {
    fn from(protocol: &'static Protocol) -> Self {
        Self::Fixed(protocol)
    }
}

impl fmt::Display for ProtocolChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Auto => f.write_str(Self::AUTO),
            Self::Fixed(protocol) => fmt::Display::fmt(protocol, f),
        }
    }
}

impl FromStr for ProtocolChoice {
    type Err = UnknownProtocol;

    fn from_str(name: &str) -> Result<Self, UnknownProtocol> {
        if name == Self::AUTO {
            return Ok(Self::Auto);
        }
        let known = Protocol::named(name).filter(|protocol| protocol.is_live);
        known.map(Self::Fixed).ok_or_else(|| UnknownProtocol(name.to_owned()))
    }
}

/// Error for a name that is not in the table of protocols.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("unknown protocol '{0}' (expected auto, {names})", names = Protocol::live_names())]
pub struct UnknownProtocol(String);

/// Options of a client. [`ClientOptions::new`] has the defaults of players.
#[derive(Clone, Debug)]
pub struct ClientOptions {
    /// Address of the server.
    pub server: SocketAddr,
    /// Protocol of the connection.
    pub protocol: &'static Protocol,
    /// Whether to fall back to an older protocol. A client falls back when a server that should
    /// name its protocol number does not name this one.
    pub falls_back: bool,
    /// Whether `protocol` is only the first guess. The client then uses the protocol number that
    /// the server names and, where several protocols share it, the framing of the server's
    /// messages.
    pub detects_protocol: bool,
    /// Userinfo of the player; the handshake adds its keys.
    pub userinfo: InfoString,
    /// Id that survives NAT rebinding; must differ between clients of one address.
    pub qport: Qport,
    /// Seed of all random values.
    pub seed: u64,
    /// Game name, which some servers compare with their own.
    pub gamename: String,
    /// Packets per second while in a level, 15 to 125.
    pub packets_per_second: u32,
    /// Longest random delay of a packet behind its regular time.
    pub packet_jitter: Millis,
    /// Number of earlier packets whose usercmds each packet repeats, 0 to 5.
    pub packet_dup: u32,
    /// Silence of the server after which the client times out.
    pub timeout: Millis,
    /// Installed archives, which the client proves to pure servers. Without them, the owner sends `cp`.
    pub packs: Option<Arc<dyn InstalledPacks>>,
}

impl ClientOptions {
    /// Creates options to join `server` with `userinfo`.
    #[must_use]
    pub fn new(
        server: SocketAddr,
        protocol: &'static Protocol,
        userinfo: InfoString,
        qport: Qport,
        seed: u64,
    ) -> Self {
        Self {
            server,
            protocol,
            falls_back: true,
            detects_protocol: false,
            userinfo,
            qport,
            seed,
            gamename: "Quake3Arena".to_owned(),
            packets_per_second: 30,
            packet_jitter: Millis(0),
            packet_dup: 1,
            timeout: Millis::seconds(200),
            packs: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn protocol_choices_are_named() {
        for protocol in Protocol::live() {
            assert_eq!(protocol.to_string().parse(), Ok(ProtocolChoice::Fixed(protocol)));
        }
        assert_eq!("auto".parse(), Ok(ProtocolChoice::Auto));
        assert_eq!(ProtocolChoice::Auto.to_string(), "auto");
        for unknown in ["71", "auto71", "48"] {
            let error = unknown.parse::<ProtocolChoice>().unwrap_err().to_string();
            let expected = format!(
                "unknown protocol '{unknown}' (expected auto, 43, 45, 66, 66-clear, 67, 67-clear, 68, compat, native)"
            );
            assert_eq!(error, expected);
        }
    }
}
