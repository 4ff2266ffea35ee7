//! Registry of listed servers: by address, by game and protocol, by host, by due time.
//!
//! Every operation takes constant time: addresses are hashed with a secret key, a game's servers are in one
//! array, and a timer wheel finds what expires. Invariants: an address is listed once, and a public address
//! too; each server is in one list and once in the wheel; strings are cut, so the size is bounded by the number
//! of servers.

use std::{
    collections::HashMap,
    net::{IpAddr, SocketAddr},
};

use crate::{
    discovery::Family,
    model::Millis,
    node::{LocalPort, Route},
};

use super::{
    games::Tag,
    hosts::{HashKey, Host},
    wheel::Wheel,
};

/// Life of a server on the list after each valid response.
pub(super) const LISTED_LIFE: Millis = Millis::seconds(900);

/// First bytes of addresses that spell the end mark of a list.
const END_MARK: [u8; 3] = *b"EOT";

/// Number of a server's entry.
pub(super) type Slot = u32;

/// Longest text of a server that is kept, in bytes.
pub(super) const MAX_TEXT: usize = 63;

/// Values of a server's own response.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Description {
    /// Host name.
    pub(super) name: Box<str>,
    /// Map.
    pub(super) map: Box<str>,
    /// Game type, as sent; compared as text.
    pub(super) game_type: Box<str>,
    /// Modification, e.g. `fs_game`.
    pub(super) modification: Box<str>,
    /// Clients.
    pub(super) clients: u16,
    /// Places for clients.
    pub(super) max_clients: u16,
    /// Whether a password is needed.
    pub(super) needs_password: bool,
}

/// Game and protocol of a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct ListKey<'a> {
    /// Packet format.
    pub(super) family: Family,
    /// Name of the game.
    pub(super) name: &'a [u8],
    /// Protocol number.
    pub(super) protocol: i32,
}

/// A server to list, or news of a listed one.
#[derive(Clone, Copy, Debug)]
pub(super) struct Announcement<'a> {
    /// Source address.
    pub(super) source: SocketAddr,
    /// Address that clients get.
    pub(super) public: SocketAddr,
    /// Our port that it uses.
    pub(super) local: LocalPort,
    /// Our address that it uses, if it matters.
    pub(super) local_ip: Option<IpAddr>,
    /// Heartbeat.
    pub(super) tag: Tag,
    /// Whether the game may be found by its protocol alone.
    pub(super) is_anonymous: bool,
    /// Game and protocol.
    pub(super) list: ListKey<'a>,
}

/// A listed server.
#[derive(Clone, Debug)]
pub(super) struct Listed {
    /// Source address.
    pub(super) source: SocketAddr,
    /// Address that clients get.
    pub(super) public: SocketAddr,
    /// Our port that it uses.
    pub(super) local: LocalPort,
    /// Our address that it uses, if it matters.
    pub(super) local_ip: Option<IpAddr>,
    /// Heartbeat.
    pub(super) tag: Tag,
    is_anonymous: bool,
    list: u32,
    /// Place in its list.
    place: u32,
    /// End of its life.
    pub(super) expires: Millis,
    /// Time of the next probe.
    pub(super) next_probe: Millis,
    /// Values of its last response.
    pub(super) description: Description,
}

impl Listed {
    /// Whether no client plays.
    pub(super) const fn is_empty(&self) -> bool {
        self.description.clients == 0
    }

    /// Whether no client fits.
    pub(super) const fn is_full(&self) -> bool {
        self.description.clients >= self.description.max_clients
    }

    fn due(&self) -> Millis {
        self.expires.min(self.next_probe)
    }
}

/// Servers of one game and protocol.
#[derive(Debug)]
pub(super) struct List {
    /// Packet format.
    pub(super) family: Family,
    /// Name of the game.
    pub(super) name: Box<str>,
    /// Protocol number.
    pub(super) protocol: i32,
    /// Its servers.
    pub(super) members: Vec<Slot>,
    /// Members that are found by the protocol alone.
    pub(super) anonymous: u32,
    /// Age rank among all lists.
    pub(super) born: u64,
}

/// Reason why a server is not listed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NotListed {
    /// The list is full.
    Full,
    /// Its host has as many servers as allowed.
    HostFull,
    /// Another server has its public address.
    AddressTaken,
}

/// Limits of the registry.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limits {
    /// Servers in all.
    pub(super) servers: usize,
    /// Servers per host; 0 means no limit.
    pub(super) per_host: usize,
}

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
    per_host: HashMap<Host, u32, HashKey>,
    lists: Vec<Option<List>>,
    free_lists: Vec<u32>,
    list_numbers: HashMap<u64, u32, HashKey>,
    wheel: Wheel,
    per_family: [usize; 3],
    /// Servers whose public address spells the end mark.
    end_marks: usize,
    born: u64,
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
            per_host: HashMap::with_hasher(key),
            lists: Vec::new(),
            free_lists: Vec::new(),
            list_numbers: HashMap::with_hasher(key),
            wheel: Wheel::new(now),
            per_family: [0; 3],
            end_marks: 0,
            born: 0,
            changes: 0,
        }
    }

    /// Number of listed servers.
    pub(super) fn len(&self) -> usize {
        self.by_source.len()
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

    /// Whether a host has a listed server.
    pub(super) fn has_host(&self, ip: IpAddr) -> bool {
        self.per_host.contains_key(&Host::of(ip))
    }

    /// Whether a server of `ip` has a place, besides reserved ones.
    pub(super) fn check_room(
        &self,
        ip: IpAddr,
        reserved: usize,
        reserved_of_host: usize,
    ) -> Result<(), NotListed> {
        if self.len() + reserved >= self.limits.servers {
            return Err(NotListed::Full);
        }
        let of_host = self.per_host.get(&Host::of(ip)).copied().unwrap_or(0) as usize;
        if self.limits.per_host > 0 && of_host + reserved_of_host >= self.limits.per_host {
            return Err(NotListed::HostFull);
        }
        Ok(())
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
        if known.is_none() {
            self.check_room(announced.source.ip(), 0, 0)?;
        }
        if self.holder(announced.public).is_some_and(|holder| Some(holder) != known) {
            return Err(NotListed::AddressTaken);
        }
        self.changes += 1;
        let slot = match known {
            Some(slot) => {
                self.leave_list(slot);
                slot
            }
            None => self.insert(&announced),
        };
        let (list, place) = self.join_list(slot, announced);
        if announced.public != announced.source {
            self.by_public.insert(announced.public, slot);
        }
        let server = Listed {
            source: announced.source,
            public: announced.public,
            local: announced.local,
            local_ip: announced.local_ip,
            tag: announced.tag,
            is_anonymous: announced.is_anonymous,
            list,
            place,
            expires,
            next_probe,
            description,
        };
        let due = server.due();
        self.servers[slot as usize] = Some(server);
        if known.is_none() {
            self.wheel.add(slot, due);
        }
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
        let due = server.due();
        self.wheel.add(slot, due);
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
        *self.per_host.entry(Host::of(announced.source.ip())).or_insert(0) += 1;
        slot
    }

    /// Removes a server. The wheel no longer holds it.
    fn remove(&mut self, slot: Slot) {
        self.leave_list(slot);
        let Some(server) = self.servers[slot as usize].take() else { return };
        self.changes += 1;
        self.by_source.remove(&server.source);
        self.free.push(slot);
        let host = Host::of(server.source.ip());
        if let Some(count) = self.per_host.get_mut(&host) {
            *count -= 1;
            if *count == 0 {
                self.per_host.remove(&host);
            }
        }
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
