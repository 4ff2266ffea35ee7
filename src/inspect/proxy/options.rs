//! Options of a proxy.

use std::net::SocketAddr;

use super::{family::Family, session_address::SessionNetwork};
use crate::{impairment::Impairment, model::Millis};

/// Default for sessions of all clients.
pub const SESSIONS: u16 = 128;
/// Default for sessions of one address.
pub const SESSIONS_PER_ADDRESS: u16 = 16;
/// Maximum number of sessions.
pub const MAX_SESSIONS: u16 = 4096;
/// Default silence of a client after which its session ends. Servers wait for 200 seconds.
pub const IDLE: Millis = Millis::seconds(240);
/// Default silence of a server after which its clients are disconnected. Loading a map takes less.
pub const SERVER_TIMEOUT: Millis = Millis::seconds(20);

/// Options of a proxy.
#[derive(Clone, Debug)]
pub struct ProxyOptions {
    /// Server.
    pub server: SocketAddr,
    /// Name of the server in messages to clients.
    pub name: String,
    /// Family of all clients; none if the requests of each tell.
    pub family: Option<Family>,
    /// Impairment from clients to the server.
    pub uplink: Impairment,
    /// Impairment from the server to clients.
    pub downlink: Impairment,
    /// Seed of the impairment.
    pub seed: u64,
    /// Sessions of all clients, at most [`MAX_SESSIONS`].
    pub sessions: u16,
    /// Sessions of one IPv4 address or IPv6 /64.
    pub sessions_per_address: u16,
    /// Silence of a client after which its session ends.
    pub idle: Millis,
    /// Silence of the server after which its clients are disconnected.
    pub server_timeout: Millis,
    /// Whether rcon and unknown connectionless commands are passed on.
    pub passes_rcon: bool,
    /// Network of the addresses that sessions have towards the server; none for that of the system.
    pub session_network: Option<SessionNetwork>,
    /// Key of session addresses; none for a random one.
    pub session_key: Option<u64>,
}

impl ProxyOptions {
    /// Returns the defaults for a server, without impairment.
    #[must_use]
    pub fn new(server: SocketAddr) -> Self {
        Self {
            server,
            name: server.to_string(),
            family: None,
            uplink: Impairment::default(),
            downlink: Impairment::default(),
            seed: 1,
            sessions: SESSIONS,
            sessions_per_address: SESSIONS_PER_ADDRESS,
            idle: IDLE,
            server_timeout: SERVER_TIMEOUT,
            passes_rcon: false,
            session_network: None,
            session_key: None,
        }
    }
}
