//! Session: one client, its port towards the server, and both directions of its line.
//!
//! Invariants: a session has one port, so the server sees one address for the client, also after NAT rebinding
//! on the client's side; a line without impairment holds no datagrams.

use std::net::{IpAddr, SocketAddr};

use super::{family::Family, node::LISTEN, options::ProxyOptions, shadow::Shadow};
use crate::{
    impairment::{ImpairedLink, Impairment},
    model::{Challenge, Millis, Qport},
    node::{LocalPort, Route},
    trace::Direction,
};

/// Silence after which a session without a connection ends. Clients repeat their request every 3 seconds.
const HANDSHAKE_IDLE: Millis = Millis::seconds(15);
/// Time for repeated and late datagrams after a disconnect.
const LEAVING_TIME: Millis = Millis::seconds(3);
/// Longest player name in status and log, in bytes.
pub(super) const MAX_NAME_LEN: usize = 32;

/// State of a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SessionState {
    /// Requests without a connection.
    Handshake,
    /// The server accepted the connection.
    Connected,
    /// One side has disconnected at this time.
    Leaving(Millis),
}

/// Parameters of a `connect` that the server has not accepted yet.
#[derive(Clone, Debug)]
pub(super) struct Attempt {
    pub(super) challenge: Challenge,
    pub(super) qport: Qport,
    pub(super) name: String,
}

/// Datagrams and bytes of one direction.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Traffic {
    pub(super) datagrams: u64,
    pub(super) bytes: u64,
    pub(super) undecoded: u64,
}

/// Session of one client.
#[derive(Debug)]
pub(super) struct Session {
    pub(super) client: SocketAddr,
    /// Local address that the client talks to.
    pub(super) local_ip: Option<IpAddr>,
    pub(super) server: SocketAddr,
    pub(super) port: LocalPort,
    /// Address towards the server; none for that of the system.
    pub(super) source: Option<IpAddr>,
    pub(super) state: SessionState,
    pub(super) shadow: Shadow,
    pub(super) name: String,
    pub(super) qport: Option<Qport>,
    pub(super) attempt: Option<Attempt>,
    /// Number of the client's last challenge request.
    pub(super) asked_with: Option<Challenge>,
    pub(super) opened: Millis,
    pub(super) last_from_client: Millis,
    /// First datagram of the client since the last one of the server.
    pub(super) unanswered_since: Option<Millis>,
    /// Notices about the silence of the server.
    pub(super) notices: u64,
    pub(super) has_warned: bool,
    pub(super) rebound_at: Option<Millis>,
    /// By direction.
    pub(super) traffic: [Traffic; 2],
    up: Option<Box<ImpairedLink>>,
    down: Option<Box<ImpairedLink>>,
}

impl Session {
    /// Opens a session. `seed` determines its impairment.
    pub(super) fn new(
        now: Millis,
        options: &ProxyOptions,
        client: Route,
        port: LocalPort,
        family: Family,
        seed: u64,
    ) -> Self {
        let link = |impairment: Impairment, seed| {
            (!impairment.is_clear()).then(|| Box::new(ImpairedLink::new(impairment, seed)))
        };
        Self {
            client: client.remote,
            local_ip: client.local_ip,
            server: options.server,
            port,
            source: None,
            state: SessionState::Handshake,
            shadow: Shadow::new(family, options.server, client.remote),
            name: String::new(),
            qport: None,
            attempt: None,
            asked_with: None,
            opened: now,
            last_from_client: now,
            unanswered_since: None,
            notices: 0,
            has_warned: false,
            rebound_at: None,
            traffic: [Traffic::default(); 2],
            up: link(options.uplink, seed.wrapping_mul(2)),
            down: link(options.downlink, seed.wrapping_mul(2) + 1),
        }
    }

    /// Route of datagrams to the client.
    pub(super) fn client_route(&self) -> Route {
        Route { local: LISTEN, local_ip: self.local_ip, remote: self.client }
    }

    /// Family of the client.
    pub(super) const fn family(&self) -> Family {
        self.shadow.family()
    }

    /// Link of a direction, if it is impaired.
    pub(super) fn link(&mut self, direction: Direction) -> Option<&mut ImpairedLink> {
        match direction {
            Direction::ToServer => self.up.as_deref_mut(),
            Direction::ToClient => self.down.as_deref_mut(),
        }
    }

    /// Time of the next arrival on the links.
    pub(super) fn next_arrival(&self) -> Millis {
        let next = |link: &Option<Box<ImpairedLink>>| {
            link.as_ref().map_or(Millis::NEVER, |link| link.next_arrival())
        };
        next(&self.up).min(next(&self.down))
    }

    /// Server, and the address that it sees, in log lines.
    pub(super) fn upstream(&self) -> String {
        match self.source {
            None => self.server.to_string(),
            Some(source) => format!("{} from {source}", self.server),
        }
    }

    /// Whether a connection exists.
    pub(super) fn is_connected(&self) -> bool {
        self.state == SessionState::Connected
    }

    /// Returns the time since which the server owes an answer.
    pub(super) fn silence(&self, now: Millis) -> Millis {
        self.unanswered_since.map_or(Millis(0), |since| now.since(since))
    }

    /// Whether the session has ended.
    pub(super) fn has_ended(&self, now: Millis, idle: Millis) -> bool {
        let silent = now.since(self.last_from_client);
        match self.state {
            SessionState::Handshake => silent >= HANDSHAKE_IDLE,
            SessionState::Connected => silent >= idle,
            SessionState::Leaving(since) => {
                now.since(since) >= LEAVING_TIME && silent >= LEAVING_TIME
            }
        }
    }

    /// Name and address in log lines.
    pub(super) fn title(&self) -> String {
        match self.name.as_str() {
            "" => format!("client {}", self.client),
            name => format!("client {} \"{name}\"", self.client),
        }
    }
}
