//! Registry of listed servers: by address, by game and protocol, by host, by due time.
//!
//! Every operation takes constant time: addresses are hashed with a secret key, a game's servers are in one
//! array, and a timer wheel finds what expires. A full list takes places from its largest network. Invariants: an address is listed once, and a public address
//! too; each server is in one list and once in the wheel; strings are cut, so the size is bounded by the number
//! of servers.

use std::{
    collections::HashMap,
    net::{IpAddr, SocketAddr},
};

use crate::{discovery::Family, limits::AddressKey, model::Millis, node::Route};

use super::{games::Tag, hosts::HashKey, wheel::Wheel};

mod entries;
mod shares;

pub(super) use entries::{
    Announcement, Description, Limits, List, ListKey, Listed, MAX_TEXT, NotListed, Room, Slot,
};
use shares::Shares;

/// Life of a server on the list after each valid response.
pub(super) const LISTED_LIFE: Millis = Millis::seconds(900);

/// Least time between two challenges of a listed server's own address and port.
pub(super) const CHALLENGE_PERIOD: Millis = Millis::seconds(2);
/// Divisor of the list's size that gives the places for IPv4 servers only.
const IPV4_SHARE: usize = 4;

/// Index of the shares of servers that proved their address.
const PROVEN: usize = 0;

/// Index of the shares of a family: QuakeWorld servers prove no address.
const fn kind(family: Family) -> usize {
    if matches!(family, Family::QuakeWorld) { 1 } else { PROVEN }
}

/// First bytes of addresses that spell the end mark of a list.
const END_MARK: [u8; 3] = *b"EOT";

/// The registry.
#[derive(Debug)]
pub(super) struct Registry {
    limits: Limits,
    key: HashKey,
    servers: Vec<Option<Listed>>,
    free: Vec<Slot>,
    by_source: HashMap<SocketAddr, Slot, HashKey>,
    /// Servers with a mapped address, by the address that clients get.
    by_public: HashMap<SocketAddr, Slot, HashKey>,
    /// Shares of servers that proved their address, and of the others, which count for themselves.
    shares: [Shares; 2],
    lists: Vec<Option<List>>,
    free_lists: Vec<u32>,
    list_numbers: HashMap<u64, u32, HashKey>,
    wheel: Wheel,
    per_family: [usize; 3],
    /// Servers whose public address spells the end mark.
    end_marks: usize,
    born: u64,
    /// Servers displaced since the start.
    displaced: u64,
    /// Count of changes, for the state file.
    changes: u64,
}

impl Registry {
    /// Creates an empty registry.
    pub(super) fn new(limits: Limits, key: HashKey, now: Millis) -> Self {
        Self {
            limits,
            key,
            servers: Vec::new(),
            free: Vec::new(),
            by_source: HashMap::with_hasher(key),
            by_public: HashMap::with_hasher(key),
            shares: [Shares::new(key), Shares::new(key)],
            lists: Vec::new(),
            free_lists: Vec::new(),
            list_numbers: HashMap::with_hasher(key),
            wheel: Wheel::new(now),
            per_family: [0; 3],
            end_marks: 0,
            born: 0,
            displaced: 0,
            changes: 0,
        }
    }

    /// Number of listed servers.
    pub(super) fn len(&self) -> usize {
        self.by_source.len()
    }

    /// Number of servers displaced since the start.
    pub(super) const fn displaced(&self) -> u64 {
        self.displaced
    }

    /// Count of changes since the start.
    pub(super) const fn changes(&self) -> u64 {
        self.changes
    }

    /// Number of a source address's entry.
    pub(super) fn find(&self, source: SocketAddr) -> Option<Slot> {
        self.by_source.get(&source).copied()
    }

    /// A listed server.
    pub(super) fn get(&self, slot: Slot) -> Option<&Listed> {
        self.servers.get(slot as usize)?.as_ref()
    }

    /// Whether a host has a listed server that proved its address.
    pub(super) fn has_host(&self, ip: IpAddr) -> bool {
        self.shares[PROVEN].has_host(ip)
    }

    /// Whether the own limit of a listed server's address and port admits a challenge, which is recorded then.
    pub(super) fn admits_challenge(&mut self, now: Millis, source: SocketAddr) -> bool {
        let Some(slot) = self.find(source) else { return false };
        let Some(server) = &mut self.servers[slot as usize] else { return false };
        let is_due = server.challenged.is_none_or(|last| now.since(last) >= CHALLENGE_PERIOD);
        if is_due {
            server.challenged = Some(now);
        }
        is_due
    }

    /// Finds a place for a server of `ip`, besides reserved ones.
    pub(super) fn check_room(
        &self,
        ip: IpAddr,
        family: Family,
        reserved: usize,
        reserved_of_host: usize,
    ) -> Result<Room, NotListed> {
        let limits = self.limits;
        let shares = &self.shares[kind(family)];
        shares.check(ip, limits, reserved_of_host)?;
        let ipv6 = self.shares.iter().map(Shares::ipv6).sum::<usize>();
        let is_ipv6 = !AddressKey::network(ip).is_ipv4();
        let most_ipv6 = limits.servers - limits.servers / IPV4_SHARE;
        let is_full_of_ipv6 = is_ipv6 && ipv6 + reserved >= most_ipv6;
        if self.len() + reserved < limits.servers && !is_full_of_ipv6 {
            return Ok(Room::Free);
        }
        // Forged servers of a family without proof displace no other.
        let yielding =
            if kind(family) == PROVEN { shares.yielding(ip, is_full_of_ipv6) } else { None };
        yielding.map(Room::Of).ok_or(NotListed::Full)
    }

    /// Lists a server, or updates a listed one, until `expires`.
    pub(super) fn announce(
        &mut self,
        announced: Announcement<'_>,
        description: Description,
        expires: Millis,
        next_probe: Millis,
    ) -> Result<Slot, NotListed> {
        let known = self.find(announced.source);
        if self.holder(announced.public).is_some_and(|holder| Some(holder) != known) {
            return Err(NotListed::AddressTaken);
        }
        let (ip, kind) = (announced.source.ip(), kind(announced.list.family));
        match known.and_then(|slot| self.get(slot)).map(|server| server.kind) {
            Some(earlier) if earlier == kind => {}
            // A forged response does not change a server that proved its address.
            Some(PROVEN) => return Err(NotListed::AddressTaken),
            Some(_) => self.shares[kind].check(ip, self.limits, 0)?,
            None => {
                if let Room::Of(slot) = self.check_room(ip, announced.list.family, 0, 0)? {
                    self.displace(slot);
                }
            }
        }
        self.changes += 1;
        let slot = match known {
            Some(slot) => {
                self.leave_list(slot);
                slot
            }
            None => self.insert(&announced),
        };
        let earlier = self.servers[slot as usize].as_ref();
        let earlier =
            earlier.map(|server| (server.kind, server.born, server.timer, server.challenged));
        let (list, place) = self.join_list(slot, announced);
        if announced.public != announced.source {
            self.by_public.insert(announced.public, slot);
        }
        let due = expires.min(next_probe);
        let (born, timer, challenged) = match earlier {
            Some((earlier, born, timer, challenged)) => {
                self.shares[earlier].remove(ip, born, slot);
                (born, timer, challenged)
            }
            None => {
                self.born += 1;
                (self.born, self.wheel.add(slot, due), None)
            }
        };
        self.shares[kind].add(ip, born, slot);
        let server = Listed {
            source: announced.source,
            public: announced.public,
            local: announced.local,
            local_ip: announced.local_ip,
            tag: announced.tag,
            is_anonymous: announced.is_anonymous,
            kind,
            list,
            place,
            born,
            timer,
            challenged,
            expires,
            next_probe,
            description,
        };
        self.servers[slot as usize] = Some(server);
        Ok(slot)
    }

    /// Returns the list of a game and protocol.
    pub(super) fn list(&self, key: ListKey<'_>) -> Option<&List> {
        let number = *self.list_numbers.get(&self.key.hash(key))?;
        let list = self.lists[number as usize].as_ref()?;
        let same = (list.family, list.name.as_bytes(), list.protocol);
        (same == (key.family, key.name, key.protocol)).then_some(list)
    }

    /// Returns the list that holds a server.
    pub(super) fn list_of(&self, server: &Listed) -> Option<&List> {
        self.lists.get(server.list as usize)?.as_ref()
    }

    /// Whether the public address of a listed server spells the end mark.
    pub(super) const fn has_end_marks(&self) -> bool {
        self.end_marks > 0
    }

    /// Number of listed servers of a family.
    pub(super) const fn len_of(&self, family: Family) -> usize {
        self.per_family[family as usize]
    }

    /// Iterates over all listed servers and their lists.
    pub(super) fn iter(&self) -> impl Iterator<Item = (&Listed, &List)> {
        self.servers.iter().flatten().filter_map(|server| Some((server, self.list_of(server)?)))
    }

    /// Handles one due timer: removes an expired server, or returns one to probe.
    ///
    /// The following probe is due after `interval`. `None` once nothing is due.
    pub(super) fn poll_due(&mut self, now: Millis, interval: Millis) -> Option<Due> {
        let slot = self.wheel.poll(now)?;
        let Some(server) = &mut self.servers[slot as usize] else { return Some(Due::Nothing) };
        if server.expires <= now {
            let source = server.source;
            self.remove(slot);
            return Some(Due::Expired(source));
        }
        let mut result = Due::Nothing;
        if server.next_probe <= now {
            server.next_probe = now + interval;
            let (local, local_ip) = (server.local, server.local_ip);
            result = Due::Probe(Route { local, local_ip, remote: server.source }, server.tag);
        }
        server.timer = self.wheel.add(slot, server.due());
        Some(result)
    }

    /// Server that clients get by this address.
    fn holder(&self, public: SocketAddr) -> Option<Slot> {
        if let Some(slot) = self.by_public.get(&public) {
            return Some(*slot);
        }
        let slot = self.find(public)?;
        self.get(slot).filter(|server| server.public == public).map(|_| slot)
    }

    fn insert(&mut self, announced: &Announcement<'_>) -> Slot {
        let slot = self.free.pop().unwrap_or_else(|| {
            self.servers.push(None);
            (self.servers.len() - 1) as Slot
        });
        self.by_source.insert(announced.source, slot);
        slot
    }

    /// Removes a server that gives way to another one.
    fn displace(&mut self, slot: Slot) {
        if let Some(server) = self.get(slot) {
            log::debug!("{} displaced by a server of a smaller network", server.source);
            let timer = server.timer;
            self.wheel.remove(slot, timer);
            self.displaced += 1;
            self.remove(slot);
        }
    }

    /// Removes a server. The wheel no longer holds it.
    fn remove(&mut self, slot: Slot) {
        self.leave_list(slot);
        let Some(server) = self.servers[slot as usize].take() else { return };
        self.changes += 1;
        self.by_source.remove(&server.source);
        self.free.push(slot);
        self.shares[server.kind].remove(server.source.ip(), server.born, slot);
    }

    fn join_list(&mut self, slot: Slot, announced: Announcement<'_>) -> (u32, u32) {
        let hash = self.key.hash(announced.list);
        let number = match self.list_numbers.get(&hash) {
            Some(number) => *number,
            None => {
                let number = self.free_lists.pop().unwrap_or_else(|| {
                    self.lists.push(None);
                    (self.lists.len() - 1) as u32
                });
                self.list_numbers.insert(hash, number);
                number
            }
        };
        let born = &mut self.born;
        let list = self.lists[number as usize].get_or_insert_with(|| {
            *born += 1;
            List {
                family: announced.list.family,
                name: String::from_utf8_lossy(announced.list.name).into(),
                protocol: announced.list.protocol,
                members: Vec::new(),
                anonymous: 0,
                born: *born,
            }
        });
        self.per_family[list.family as usize] += 1;
        self.end_marks += usize::from(spells_end_mark(announced.public));
        list.members.push(slot);
        list.anonymous += u32::from(announced.is_anonymous);
        (number, (list.members.len() - 1) as u32)
    }

    fn leave_list(&mut self, slot: Slot) {
        let Some(server) = &self.servers[slot as usize] else { return };
        let (number, place, anonymous) = (server.list, server.place as usize, server.is_anonymous);
        if server.public != server.source {
            self.by_public.remove(&server.public);
        }
        let Some(list) = &mut self.lists[number as usize] else { return };
        self.per_family[list.family as usize] -= 1;
        self.end_marks -= usize::from(spells_end_mark(server.public));
        list.members.swap_remove(place);
        list.anonymous -= u32::from(anonymous);
        let moved = list.members.get(place).copied();
        if list.members.is_empty() {
            let key = ListKey {
                family: list.family,
                name: list.name.as_bytes(),
                protocol: list.protocol,
            };
            self.list_numbers.remove(&self.key.hash(key));
            self.lists[number as usize] = None;
            self.free_lists.push(number);
        }
        if let Some(moved) = moved
            && let Some(server) = &mut self.servers[moved as usize]
        {
            server.place = place as u32;
        }
    }
}

/// Whether the record of an address looks like the end mark of a list.
pub(super) fn spells_end_mark(address: SocketAddr) -> bool {
    matches!(address.ip(), IpAddr::V4(ip) if ip.octets()[..3] == END_MARK)
}

/// Result of a due timer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Due {
    /// A server left the list.
    Expired(SocketAddr),
    /// A server is to be queried.
    Probe(Route, Tag),
    /// A timer of a server that has been heard since.
    Nothing,
}

#[cfg(test)]
mod tests;
