//! Datagrams that a master receives.
//!
//! The four packets of lists and registration are recognized by exact bytes, as masters do: a word in other
//! letter case or with another separator is dropped. Everything else is read as the games read it.

use crate::wire::{
    connectionless::{
        ChallengeResponse, ConnectionlessError, ListRequest, Message, OUT_OF_BAND, StatusResponse,
    },
    text::WireText,
};

use super::{
    DiscoveryError, InfoText, Result, quake4, quakeworld,
    services::{GetIpAuthorize, GetKeyAuthorize, GetUpdateInfo, ServicePacket},
};

/// Longest heartbeat, list request or `infoResponse` that masters read, in bytes.
pub const MAX_MASTER_DATAGRAM: usize = 2048;
/// Longest word after `heartbeat`, in bytes.
const MAX_TAG: usize = 63;

/// Exact beginnings of the packets of lists and registration.
const EXACT: [&[u8]; 4] = [b"heartbeat ", b"infoResponse\n", b"getservers ", b"getserversExt "];

/// Datagram to a master.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MasterRequest<'a> {
    /// Sign of life of a Quake III family server, with its tag.
    Heartbeat(WireText<'a>),
    /// Response to `getinfo`.
    InfoResponse(InfoText<'a>),
    /// Response to `getstatus`.
    StatusResponse(StatusResponse<'a>),
    /// Response to `getchallenge`.
    ChallengeResponse(ChallengeResponse),
    /// Result of a map.
    GameComplete(StatusResponse<'a>),
    /// Request for a list: `getservers` and `getserversExt`.
    GetServers(ListRequest<'a>),
    /// Request for the message of the day.
    GetMotd(InfoText<'a>),
    /// Request for a newer release.
    GetUpdateInfo(GetUpdateInfo<'a>),
    /// Request for blocked servers of a protocol.
    GetBlockedServers(i32),
    /// CD key of a client.
    GetKeyAuthorize(GetKeyAuthorize<'a>),
    /// Request of a server about a client.
    GetIpAuthorize(GetIpAuthorize<'a>),
    /// Quake 4 packet: heartbeat, `getServers`, `infoResponse` or `gameAuth`.
    Quake4(quake4::Packet<'a>),
    /// QuakeWorld packet: heartbeat, shutdown, ping, acknowledgment, list request or status.
    QuakeWorld(quakeworld::Packet<'a>),
}

impl<'a> MasterRequest<'a> {
    /// Reads a datagram. Packets that only servers or clients receive are errors.
    ///
    /// # Errors
    /// See [`DiscoveryError`].
    pub fn parse(datagram: &'a [u8]) -> Result<Self> {
        let Some(text) = datagram.strip_prefix(OUT_OF_BAND) else {
            return if datagram.starts_with(quake4::MARK) {
                Self::quake4(datagram)
            } else {
                Self::quakeworld(datagram)
            };
        };
        if text.is_empty() {
            return Err(DiscoveryError::Short(datagram.len()));
        }
        if EXACT.iter().any(|beginning| text.starts_with(beginning)) {
            if datagram.len() > MAX_MASTER_DATAGRAM {
                return Err(DiscoveryError::Long(datagram.len()));
            }
            return Self::exact(datagram);
        }
        match text {
            [b'k' | b'l'] | [b'k' | b'l', b'\n' | 0] | [b'n', b'\\', ..] => {
                Self::quakeworld(datagram)
            }
            _ => Self::other(datagram),
        }
    }

    fn exact(datagram: &'a [u8]) -> Result<Self> {
        match Message::parse(datagram) {
            Ok(Message::Heartbeat(tag)) if tag.len() > MAX_TAG => {
                Err(DiscoveryError::Argument { command: "heartbeat", argument: "tag" })
            }
            Ok(Message::Heartbeat(tag)) => Ok(Self::Heartbeat(tag)),
            Ok(Message::InfoResponse(info)) => Ok(Self::InfoResponse(InfoText::new(info))),
            Ok(Message::GetServers(request)) => Ok(Self::GetServers(request)),
            Err(ConnectionlessError::Argument { command, argument }) => {
                Err(DiscoveryError::Argument { command, argument })
            }
            _ => Err(DiscoveryError::Command),
        }
    }

    /// Reads the packets of Enemy Territory's master and of the services.
    fn other(datagram: &'a [u8]) -> Result<Self> {
        match Message::parse(datagram) {
            Ok(Message::StatusResponse(status)) => return Ok(Self::StatusResponse(status)),
            Ok(Message::ChallengeResponse(response)) => {
                return Ok(Self::ChallengeResponse(response));
            }
            _ => {}
        }
        Ok(match ServicePacket::parse(datagram)? {
            ServicePacket::GetMotd(info) => Self::GetMotd(info),
            ServicePacket::GetUpdateInfo(request) => Self::GetUpdateInfo(request),
            ServicePacket::GetBlockedServers(protocol) => Self::GetBlockedServers(protocol),
            ServicePacket::GetKeyAuthorize(request) => Self::GetKeyAuthorize(request),
            ServicePacket::GetIpAuthorize(request) => Self::GetIpAuthorize(request),
            ServicePacket::GameComplete(status) => Self::GameComplete(status),
            ServicePacket::Motd(_)
            | ServicePacket::UpdateResponse(_)
            | ServicePacket::IpAuthorize(_) => return Err(DiscoveryError::Command),
        })
    }

    fn quake4(datagram: &'a [u8]) -> Result<Self> {
        use quake4::Packet;
        match Packet::parse(datagram)? {
            Packet::GetInfo(_) | Packet::AuthKey(_) => Err(DiscoveryError::Command),
            packet @ (Packet::Heartbeat
            | Packet::GetServers(_)
            | Packet::InfoResponse(_)
            | Packet::GameAuth(_)) => Ok(Self::Quake4(packet)),
        }
    }

    fn quakeworld(datagram: &'a [u8]) -> Result<Self> {
        use quakeworld::Packet;
        match Packet::parse(datagram)? {
            packet @ (Packet::Heartbeat { .. }
            | Packet::Shutdown
            | Packet::Ping { .. }
            | Packet::Ack(_)
            | Packet::ListRequest
            | Packet::Status(_)) => Ok(Self::QuakeWorld(packet)),
            Packet::GetStatus(_)
            | Packet::GetChallenge
            | Packet::Challenge { .. }
            | Packet::Connect { .. }
            | Packet::Accepted => Err(DiscoveryError::Command),
        }
    }
}
