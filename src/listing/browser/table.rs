//! Table of servers, indexed by address and family.
//!
//! Invariants: at most `limit` servers; no server twice; at most [`MAX_PER_HOST`] servers of one host
//! that is not the master's own; a server is listed only at an address to which a datagram may be sent.

use std::{
    collections::HashMap,
    net::{IpAddr, SocketAddr},
};

use crate::{
    discovery::{Family, Game},
    limits::AddressKey,
};

use super::server::{Origin, Server};

/// Maximum number of servers that lists may place at one foreign IPv4 address or IPv6 /64.
///
/// A hostile list could otherwise point all browsers at one victim.
const MAX_PER_HOST: u32 = 256;
/// Rounds without an answer after which an unlisted server is removed.
const MAX_SILENT_ROUNDS: u32 = 3;

/// Index of a server in the table.
pub type ServerIndex = usize;

/// Table of servers.
#[derive(Debug)]
pub struct ServerTable {
    servers: Vec<Server>,
    index: HashMap<(SocketAddr, Family), ServerIndex>,
    per_host: HashMap<AddressKey, u32>,
    limit: usize,
    /// Addresses dropped because they are invalid or beyond a limit.
    dropped: u64,
}

impl ServerTable {
    /// Creates an empty table for at most `limit` servers.
    pub(super) fn new(limit: usize) -> Self {
        Self {
            servers: Vec::new(),
            index: HashMap::new(),
            per_host: HashMap::new(),
            limit,
            dropped: 0,
        }
    }

    /// Returns the servers in the order of their arrival.
    #[must_use]
    pub fn servers(&self) -> &[Server] {
        &self.servers
    }

    /// Returns the number of listed addresses that were dropped.
    #[must_use]
    pub const fn dropped(&self) -> u64 {
        self.dropped
    }

    pub(super) fn get_mut(&mut self, index: ServerIndex) -> &mut Server {
        &mut self.servers[index]
    }

    pub(super) fn find(&self, address: SocketAddr, family: Family) -> Option<ServerIndex> {
        self.index.get(&(address, family)).copied()
    }

    /// Adds a server of `master`'s list and returns its index. `None` if it is known or dropped.
    pub(super) fn add_listed(
        &mut self,
        game: &'static Game,
        address: SocketAddr,
        master: IpAddr,
    ) -> Option<ServerIndex> {
        let address = SocketAddr::new(address.ip().to_canonical(), address.port());
        if self.find(address, game.family).is_some() {
            return None;
        }
        let counted = address.ip() != master;
        let host = AddressKey::host(address.ip());
        let count = self.per_host.get(&host).copied().unwrap_or(0);
        if !is_queryable(address, master) || counted && count >= MAX_PER_HOST {
            self.dropped += 1;
            return None;
        }
        let index = self.add(game, address, Origin::Master)?;
        *self.per_host.entry(host).or_default() += 1;
        Some(index)
    }

    /// Adds a server and returns its index. `None` if it is known or the table is full.
    pub(super) fn add(
        &mut self,
        game: &'static Game,
        address: SocketAddr,
        origin: Origin,
    ) -> Option<ServerIndex> {
        if self.find(address, game.family).is_some() {
            return None;
        }
        if self.servers.len() >= self.limit {
            self.dropped += 1;
            return None;
        }
        let index = self.servers.len();
        self.servers.push(Server::new(game, address, origin));
        self.index.insert((address, game.family), index);
        Some(index)
    }

    /// Removes servers that no longer answer, but no favorites.
    pub(super) fn expire(&mut self) {
        let lasting = |server: &Server| {
            server.origin == Origin::Favorite || server.silent_rounds < MAX_SILENT_ROUNDS
        };
        if self.servers.iter().all(lasting) {
            return;
        }
        self.servers.retain(lasting);
        self.index.clear();
        self.per_host.clear();
        for (index, server) in self.servers.iter().enumerate() {
            self.index.insert((server.address, server.game.family), index);
            if server.origin == Origin::Master {
                *self.per_host.entry(AddressKey::host(server.address.ip())).or_default() += 1;
            }
        }
    }

    pub(super) fn iter_mut(&mut self) -> impl Iterator<Item = &mut Server> {
        self.servers.iter_mut()
    }
}

/// Whether a list of `master` may send a browser to `address`.
fn is_queryable(address: SocketAddr, master: IpAddr) -> bool {
    let ip = address.ip();
    let special = match ip {
        IpAddr::V4(ip) => ip.is_broadcast() || ip.octets()[0] == 0,
        IpAddr::V6(_) => false,
    };
    // A loopback address is another machine than the one that a distant master saw.
    let foreign_loopback = ip.is_loopback() && !master.is_loopback();
    address.port() != 0
        && !ip.is_unspecified()
        && !ip.is_multicast()
        && !special
        && !foreign_loopback
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::discovery::GAMES;

    const MASTER: IpAddr = IpAddr::V4(std::net::Ipv4Addr::new(192, 0, 2, 1));

    fn listed(table: &mut ServerTable, address: &str) -> bool {
        table.add_listed(&GAMES[0], address.parse().unwrap(), MASTER).is_some()
    }

    #[test]
    fn unusable_addresses_are_not_listed() {
        let mut table = ServerTable::new(100);
        for address in [
            "0.0.0.0:27960",
            "0.1.2.3:27960",
            "255.255.255.255:27960",
            "224.0.0.1:27960",
            "10.0.0.1:0",
            "127.0.0.1:27960",
            "[::1]:27960",
            "[ff02::1]:27960",
            "[::]:27960",
            "[::ffff:127.0.0.1]:27960",
        ] {
            assert!(!listed(&mut table, address), "{address}");
        }
        assert_eq!(table.dropped(), 10);
        assert!(listed(&mut table, "10.0.0.1:27960"));
        assert!(!listed(&mut table, "[::ffff:10.0.0.1]:27960"), "the same server");
        assert_eq!((table.servers().len(), table.dropped()), (1, 10));
    }

    #[test]
    fn list_cannot_aim_at_one_address() {
        let mut table = ServerTable::new(1000);
        let added =
            (1..=500).filter(|port| listed(&mut table, &format!("10.0.0.9:{port}"))).count();
        assert_eq!(added, 256);
        let own = (1..=500).filter(|port| listed(&mut table, &format!("192.0.2.1:{port}"))).count();
        assert_eq!(own, 500, "servers beside their master");
        let rest = (1..=500).filter(|last| listed(&mut table, &format!("10.1.{}.1:9", last % 250)));
        assert_eq!(rest.count(), 244, "the table is full");
    }
}
