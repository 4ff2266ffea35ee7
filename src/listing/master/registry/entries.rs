//! Entries of the registry: servers, lists, announcements, limits.
//!
//! Invariant: texts are cut before they are stored, so the size of an entry is bounded.

use std::net::{IpAddr, SocketAddr};

use crate::{discovery::Family, master::games::Tag, model::Millis, node::LocalPort};

/// Number of a server's entry.
pub(in crate::master) type Slot = u32;

/// Longest text of a server that is kept, in bytes.
pub(in crate::master) const MAX_TEXT: usize = 63;

/// Values of a server's own response.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(in crate::master) struct Description {
    /// Host name.
    pub(in crate::master) name: Box<str>,
    /// Map.
    pub(in crate::master) map: Box<str>,
    /// Game type, as sent; compared as text.
    pub(in crate::master) game_type: Box<str>,
    /// Modification, e.g. `fs_game`.
    pub(in crate::master) modification: Box<str>,
    /// Clients.
    pub(in crate::master) clients: u16,
    /// Places for clients.
    pub(in crate::master) max_clients: u16,
    /// Whether a password is needed.
    pub(in crate::master) needs_password: bool,
}

/// Game and protocol of a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(in crate::master) struct ListKey<'a> {
    /// Packet format.
    pub(in crate::master) family: Family,
    /// Name of the game.
    pub(in crate::master) name: &'a [u8],
    /// Protocol number.
    pub(in crate::master) protocol: i32,
}

/// A server to list, or news of a listed one.
#[derive(Clone, Copy, Debug)]
pub(in crate::master) struct Announcement<'a> {
    /// Source address.
    pub(in crate::master) source: SocketAddr,
    /// Address that clients get.
    pub(in crate::master) public: SocketAddr,
    /// Our port that it uses.
    pub(in crate::master) local: LocalPort,
    /// Our address that it uses, if it matters.
    pub(in crate::master) local_ip: Option<IpAddr>,
    /// Heartbeat.
    pub(in crate::master) tag: Tag,
    /// Whether the game may be found by its protocol alone.
    pub(in crate::master) is_anonymous: bool,
    /// Game and protocol.
    pub(in crate::master) list: ListKey<'a>,
}

/// A listed server.
#[derive(Clone, Debug)]
pub(in crate::master) struct Listed {
    /// Source address.
    pub(in crate::master) source: SocketAddr,
    /// Address that clients get.
    pub(in crate::master) public: SocketAddr,
    /// Our port that it uses.
    pub(in crate::master) local: LocalPort,
    /// Our address that it uses, if it matters.
    pub(in crate::master) local_ip: Option<IpAddr>,
    /// Heartbeat.
    pub(in crate::master) tag: Tag,
    pub(super) is_anonymous: bool,
    /// Index of the shares that it counts for.
    pub(super) kind: usize,
    pub(super) list: u32,
    /// Place in its list.
    pub(super) place: u32,
    /// Rank of its age among all servers.
    pub(super) born: u64,
    /// Tick of its timer in the wheel.
    pub(super) timer: u64,
    /// Time of its last challenge by [`Registry::admits_challenge`].
    pub(super) challenged: Option<Millis>,
    /// End of its life.
    pub(in crate::master) expires: Millis,
    /// Time of the next probe.
    pub(in crate::master) next_probe: Millis,
    /// Values of its last response.
    pub(in crate::master) description: Description,
}

impl Listed {
    /// Whether no client plays.
    pub(in crate::master) const fn is_empty(&self) -> bool {
        self.description.clients == 0
    }

    /// Whether no client fits.
    pub(in crate::master) const fn is_full(&self) -> bool {
        self.description.clients >= self.description.max_clients
    }

    pub(super) fn due(&self) -> Millis {
        self.expires.min(self.next_probe)
    }
}

/// Servers of one game and protocol.
#[derive(Debug)]
pub(in crate::master) struct List {
    /// Packet format.
    pub(in crate::master) family: Family,
    /// Name of the game.
    pub(in crate::master) name: Box<str>,
    /// Protocol number.
    pub(in crate::master) protocol: i32,
    /// Its servers.
    pub(in crate::master) members: Vec<Slot>,
    /// Members that are found by the protocol alone.
    pub(in crate::master) anonymous: u32,
    /// Age rank among all lists.
    pub(in crate::master) born: u64,
}

/// Reason why a server is not listed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::master) enum NotListed {
    /// The list is full.
    Full,
    /// Its host has as many servers as allowed.
    HostFull,
    /// Its IPv6 site or network has as many servers as allowed.
    NetworkFull,
    /// Another server has its public address.
    AddressTaken,
}

/// Place of a new server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::master) enum Room {
    /// A free one.
    Free,
    /// The place of a server of the largest network.
    Of(Slot),
}

/// Limits of the registry.
#[derive(Clone, Copy, Debug)]
pub(in crate::master) struct Limits {
    /// Servers in all.
    pub(in crate::master) servers: usize,
    /// Servers per host; 0 means no limit. IPv6 sites and networks have a multiple of it.
    pub(in crate::master) per_host: usize,
}
