//! Slots of connections, by number and by the qport of a datagram.
//!
//! An array and not a `slab`: on a server a slot number is the client number of the protocol, and is chosen by
//! private slots and by earlier connections of a player. A slab assigns its own keys.
//!
//! Invariants: a connection is found under its host and qport exactly while it is stored; a search touches no
//! connection of another host.

use std::{
    fmt,
    net::{IpAddr, SocketAddr},
};

use super::{Role, state::Connection};
use crate::{
    model::{Challenge, ClientNum, Millis, Qport, prefetch},
    netchan::AddressMatch,
};

/// Number of a slot.
pub(crate) trait SlotKey: Copy + Ord + fmt::Display + fmt::Debug {
    /// Index of the slot.
    fn index(self) -> usize;
    /// Key of the slot with that index.
    fn at(index: usize) -> Self;
}

impl SlotKey for ClientNum {
    fn index(self) -> usize {
        Self::index(self)
    }

    fn at(index: usize) -> Self {
        Self::new(index).expect("a server has as many slots as client numbers")
    }
}

impl SlotKey for usize {
    fn index(self) -> usize {
        self
    }

    fn at(index: usize) -> Self {
        index
    }
}

/// Most slots of a node.
pub(crate) const MAX_SLOTS: usize = 4096;

/// Numbers of slots, one bit each.
#[derive(Clone, Copy, Debug)]
struct SlotBits([u64; MAX_SLOTS / 64]);

impl SlotBits {
    fn set(&mut self, index: usize, is_used: bool) {
        let (word, bit) = (&mut self.0[index / 64], 1 << (index % 64));
        *word = if is_used { *word | bit } else { *word & !bit };
    }

    fn iter(self) -> impl Iterator<Item = usize> {
        self.0.into_iter().enumerate().flat_map(|(at, word)| {
            let nonzero = |word| Some(word).filter(|&word: &u64| word != 0);
            let bits = std::iter::successors(nonzero(word), move |word| nonzero(word & (word - 1)));
            bits.map(move |word| at * 64 + word.trailing_zeros() as usize)
        })
    }
}

/// Groups of slots by qport, a power of two.
const QPORT_GROUPS: usize = 64;

/// Group of a qport.
fn group_of(qport: Qport) -> usize {
    usize::from(qport.0) % QPORT_GROUPS
}

/// Part of an address that datagrams are searched by.
fn host_bits(ip: IpAddr) -> u32 {
    match ip.to_canonical() {
        IpAddr::V4(ip) => ip.to_bits(),
        IpAddr::V6(ip) => {
            let bits = ip.to_bits();
            (bits ^ bits >> 32 ^ bits >> 64 ^ bits >> 96) as u32
        }
    }
}

/// Entry of the search for the connection of a datagram.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct SourceEntry {
    index: u16,
    qport: Qport,
    host: u32,
}

/// All connections of a node.
#[derive(Debug)]
pub(crate) struct Slots<R: Role> {
    slots: Vec<Option<Box<Connection<R>>>>,
    /// Slots in use, by the low bits of the qport and ascending.
    by_qport: [Vec<SourceEntry>; QPORT_GROUPS],
    /// Challenge of the previous client of each slot, if any message was sent to it.
    challenges: Vec<Option<Challenge>>,
    /// Slots in use.
    used: SlotBits,
    count: usize,
}

impl<R: Role> Default for Slots<R> {
    fn default() -> Self {
        Self {
            slots: Vec::new(),
            by_qport: std::array::from_fn(|_| Vec::new()),
            challenges: Vec::new(),
            used: SlotBits([0; MAX_SLOTS / 64]),
            count: 0,
        }
    }
}

impl<R: Role> Slots<R> {
    /// Number of slots in use.
    pub(crate) fn len(&self) -> usize {
        self.count
    }

    /// Whether no slot is in use.
    pub(crate) fn is_empty(&self) -> bool {
        self.count == 0
    }

    pub(crate) fn get(&self, key: R::Key) -> Option<&Connection<R>> {
        self.slots.get(key.index())?.as_deref()
    }

    pub(crate) fn get_mut(&mut self, key: R::Key) -> Option<&mut Connection<R>> {
        self.slots.get_mut(key.index())?.as_deref_mut()
    }

    /// Stores a connection in a slot.
    pub(crate) fn put(&mut self, key: R::Key, client: Connection<R>) {
        self.free(key);
        let index = key.index();
        if index >= self.slots.len() {
            self.slots.resize_with(index + 1, || None);
            self.challenges.resize(index + 1, None);
        }
        let qport = client.remote.qport();
        let host = host_bits(client.remote.address().ip());
        let group = &mut self.by_qport[group_of(qport)];
        let index = index as u16;
        let at = group.partition_point(|entry| entry.index < index);
        group.insert(at, SourceEntry { index, qport, host });
        self.slots[key.index()] = Some(Box::new(client));
        self.used.set(key.index(), true);
        self.count += 1;
    }

    /// Frees a slot.
    pub(crate) fn free(&mut self, key: R::Key) {
        let Some(client) = self.slots.get_mut(key.index()).and_then(Option::take) else { return };
        let index = key.index() as u16;
        self.by_qport[group_of(client.remote.qport())].retain(|entry| entry.index != index);
        if client.has_sent_message() {
            self.challenges[key.index()] = Some(client.channel.challenge());
        }
        self.used.set(key.index(), false);
        self.count -= 1;
    }

    /// Whether datagrams with a challenge may be on the network, because a current or former client
    /// has it. Nothing was sent yet to a client that has sent no message.
    pub(crate) fn has_used(&self, challenge: Challenge) -> bool {
        self.challenges.contains(&Some(challenge))
            || self.iter().any(|(_, client)| {
                client.has_sent_message() && client.channel.challenge() == challenge
            })
    }

    /// Connections in use, ascending by number.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (R::Key, &Connection<R>)> {
        let slots = self.slots.iter().enumerate();
        slots.filter_map(|(index, slot)| Some((R::Key::at(index), slot.as_deref()?)))
    }

    pub(crate) fn iter_mut(&mut self) -> impl Iterator<Item = (R::Key, &mut Connection<R>)> {
        let slots = self.slots.iter_mut().enumerate();
        slots.filter_map(|(index, slot)| Some((R::Key::at(index), slot.as_deref_mut()?)))
    }

    /// Connections that are not zombies.
    pub(crate) fn present(&self) -> impl Iterator<Item = (R::Key, &Connection<R>)> {
        self.iter().filter(|(_, client)| !client.is_zombie())
    }

    /// Keys of the slots in use when called.
    pub(crate) fn keys(&self) -> impl Iterator<Item = R::Key> + use<R> {
        self.used.iter().map(R::Key::at)
    }

    /// Entries with a qport, ascending by slot.
    fn with_qport(&self, qport: Qport) -> impl Iterator<Item = &SourceEntry> {
        self.by_qport[group_of(qport)].iter().filter(move |entry| entry.qport == qport)
    }

    /// Finds the connection of a datagram by address and qport, or else by host and qport. Of several
    /// of the latter it is the one with the last message: the others are abandoned connections of
    /// the same player.
    pub(crate) fn find(&self, from: SocketAddr, qport: Qport) -> Option<R::Key> {
        let host = host_bits(from.ip());
        let mut other_port: Option<(Millis, R::Key)> = None;
        for entry in self.with_qport(qport).filter(|entry| entry.host == host) {
            let key = R::Key::at(usize::from(entry.index));
            let Some(client) = self.get(key) else { continue };
            match client.remote.match_source(from, qport) {
                AddressMatch::Exact => return Some(key),
                AddressMatch::PortChanged => {
                    if other_port.is_none_or(|(received_at, _)| client.received_at > received_at) {
                        other_port = Some((client.received_at, key));
                    }
                }
                AddressMatch::Mismatch => {}
            }
        }
        other_port.map(|(_, key)| key)
    }

    /// Requests the memory of the connection that a datagram with a qport may be from.
    pub(crate) fn expect_datagram(&self, qport: Qport) {
        if let Some(entry) = self.with_qport(qport).next()
            && let Some(client) = self.get(R::Key::at(usize::from(entry.index)))
        {
            prefetch(client);
        }
    }

    /// Checks the index and the channels, for simulations.
    pub(crate) fn check_invariants(&self) -> Result<(), String> {
        for (key, client) in self.iter() {
            let noun = R::NOUN;
            client.channel.check_invariants().map_err(|what| format!("{noun} {key}: {what}"))?;
            let (address, qport) = (client.remote.address(), client.remote.qport());
            let entry =
                SourceEntry { index: key.index() as u16, qport, host: host_bits(address.ip()) };
            if !self.with_qport(qport).any(|known| *known == entry) {
                return Err(format!("{noun} {key} is not found by its address"));
            }
        }
        let indexed: usize = self.by_qport.iter().map(Vec::len).sum();
        if indexed != self.count {
            return Err(format!("{indexed} {}s by address, {} stored", R::NOUN, self.count));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{netchan::PeerAddress, serving::connection::testing::TestRole, wire::Protocol};

    fn put(slots: &mut Slots<TestRole>, index: usize, from: &str, qport: u16) {
        let address = from.parse().expect("an address");
        let remote = PeerAddress::new(address, Qport(qport));
        let (challenge, protocol) = (Challenge(1), Protocol::OA_71);
        slots.put(index, Connection::new(remote, challenge, protocol, true, Millis(0)));
    }

    #[test]
    fn clients_are_found_by_qport_in_order() {
        let mut slots = Slots::<TestRole>::default();
        let numbers = |slots: &Slots<TestRole>, qport| {
            slots.with_qport(Qport(qport)).map(|entry| entry.index).collect::<Vec<_>>()
        };
        for index in (0..64).rev() {
            let qport = if index % 9 == 0 { 7 } else { 1000 + index as u16 };
            put(&mut slots, index, "192.0.2.1:27960", qport);
        }
        assert_eq!(numbers(&slots, 7), [0, 9, 18, 27, 36, 45, 54, 63]);
        for number in (0..64_u16).filter(|number| number % 9 != 0) {
            assert_eq!(numbers(&slots, 1000 + number), [number]);
        }
        assert_eq!(numbers(&slots, 0), [0; 0]);
        slots.free(9);
        assert_eq!(numbers(&slots, 7), [0, 18, 27, 36, 45, 54, 63]);
        let of_same_group = 7 + QPORT_GROUPS as u16;
        put(&mut slots, 9, "192.0.2.1:27960", of_same_group);
        assert_eq!(numbers(&slots, 7), [0, 18, 27, 36, 45, 54, 63]);
        assert_eq!(numbers(&slots, of_same_group), [9]);
        put(&mut slots, 9, "192.0.2.1:27960", 8);
        assert_eq!(numbers(&slots, of_same_group), [0; 0]);
        assert_eq!((slots.len(), slots.keys().count()), (64, 64));
        slots.check_invariants().expect("a complete index");
    }

    #[test]
    fn datagram_finds_the_connection_of_its_host() {
        let mut slots = Slots::<TestRole>::default();
        for (index, from) in
            ["192.0.2.1:27960", "192.0.2.2:27960", "192.0.2.2:5", "[2001:db8::1]:9"]
                .iter()
                .enumerate()
        {
            put(&mut slots, index * 1000, from, 7);
        }
        let find = |from: &str, qport| slots.find(from.parse().expect("an address"), Qport(qport));
        assert_eq!(find("192.0.2.2:5", 7), Some(2000));
        assert_eq!(find("[::ffff:192.0.2.1]:1", 7), Some(0), "another port");
        assert_eq!(find("192.0.2.1:27960", 8), None);
        assert_eq!(find("192.0.2.3:27960", 7), None);
        assert_eq!(find("[2001:db8::1]:9", 7), Some(3000));
        assert_eq!(slots.keys().collect::<Vec<_>>(), [0, 1000, 2000, 3000]);
    }
}
