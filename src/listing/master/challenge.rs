//! Challenges of heartbeats, and the reservations of unproven servers.
//!
//! A challenge is a keyed hash of address, heartbeat and time, so a flood of forged heartbeats takes no
//! memory and evicts no honest server. A fixed table remembers recent challenges for two purposes: a second
//! heartbeat gets the same challenge again, and in calm times an unproven server holds its place on the
//! list. In a flood nothing is reserved. A heartbeat for which only reservations leave no place is deferred,
//! and gets its challenge when they expire.
//!
//! Invariants: a challenge has 11 printable characters and is valid for [`CHALLENGE_LIFE`]; the table and the
//! queue never grow.

use std::{collections::VecDeque, net::SocketAddr};

use crate::{limits::AddressKey, model::Millis, node::Route};

use super::{games::Tag, hosts::HashKey};

/// Time in which a challenge must be echoed.
pub(super) const CHALLENGE_LIFE: Millis = Millis(2000);

/// Length of a tick, as a power of two in ms.
const TICK: u32 = 4;
/// Bits of a challenge that hold the time in ticks; they repeat every 70 minutes.
const TICK_BITS: u32 = 18;
/// Bits of a challenge that hold the heartbeat's game.
const TAG_BITS: u32 = 8;
/// Length of a challenge: 64 bits in characters of 6.
pub(super) const CHALLENGE_LEN: usize = 11;
/// Characters of a challenge. Neither info strings nor command lines treat one of them specially.
const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

/// Sets of the table, and entries of a set.
const SETS: usize = 1024;
const WAYS: usize = 4;
/// Unproven servers above which nothing is reserved.
const CALM: usize = 64;
/// Longest queue of deferred heartbeats.
const DEFERRED_MAX: usize = 64;

/// Text of a challenge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ChallengeText([u8; CHALLENGE_LEN]);

impl ChallengeText {
    fn new(bits: u64) -> Self {
        let mut text = [0; CHALLENGE_LEN];
        for (at, byte) in text.iter_mut().enumerate() {
            *byte = ALPHABET[(bits.rotate_right(6 * at as u32) & 63) as usize];
        }
        // The last character holds the four bits that are left.
        text[CHALLENGE_LEN - 1] = ALPHABET[(bits >> 60) as usize];
        Self(text)
    }

    fn bits(text: &[u8]) -> Option<u64> {
        let text: &[u8; CHALLENGE_LEN] = text.try_into().ok()?;
        let mut bits = 0u64;
        for (at, byte) in text.iter().enumerate() {
            let value = ALPHABET.iter().position(|known| known == byte)? as u64;
            if at == CHALLENGE_LEN - 1 && value > 15 {
                return None;
            }
            bits |= value << (6 * at);
        }
        Some(bits)
    }

    /// Returns the characters.
    pub(super) const fn as_bytes(&self) -> &[u8; CHALLENGE_LEN] {
        &self.0
    }
}

/// Issued challenge of an unproven server.
#[derive(Clone, Copy, Debug)]
struct Issued {
    /// Hash of the address; 0 for an empty entry.
    address: u64,
    host: AddressKey,
    tag: Tag,
    at: Millis,
    /// Whether it counts as a reservation.
    reserves: bool,
}

const EMPTY: Issued =
    Issued { address: 0, host: AddressKey::NONE, tag: Tag(0), at: Millis(0), reserves: false };

/// A heartbeat that waits for reservations to expire.
#[derive(Clone, Copy, Debug)]
pub(super) struct Deferred {
    /// Port and address of its sender.
    pub(super) route: Route,
    /// Game of the heartbeat.
    pub(super) tag: Tag,
    due: Millis,
}

/// Issued challenges, reservations and deferred heartbeats.
#[derive(Debug)]
pub(super) struct Challenges {
    key: HashKey,
    issued: Box<[[Issued; WAYS]]>,
    /// Reservations, oldest first: set, way and time. Expired ones are removed from the front.
    reserved: VecDeque<(u16, u8, Millis)>,
    deferred: VecDeque<Deferred>,
}

impl Challenges {
    /// Creates an empty table. `key` must be secret.
    pub(super) fn new(key: HashKey) -> Self {
        Self {
            key,
            issued: vec![[EMPTY; WAYS]; SETS].into_boxed_slice(),
            reserved: VecDeque::with_capacity(CALM + 1),
            deferred: VecDeque::with_capacity(DEFERRED_MAX),
        }
    }

    /// Returns the open challenge of an address and game, or a new one.
    ///
    /// With `reserve`, the new one holds a place on the list.
    pub(super) fn issue(
        &mut self,
        now: Millis,
        from: SocketAddr,
        tag: Tag,
        reserve: bool,
    ) -> ChallengeText {
        let address = self.key.hash(from) | 1;
        let number = (address >> 1) as usize % SETS;
        let set = &mut self.issued[number];
        let is_open = |one: &Issued| one.address == address && now.since(one.at) < CHALLENGE_LIFE;
        if let Some(open) = set.iter().find(|one| is_open(one) && one.tag == tag) {
            let at = open.at;
            return self.text(from, tag, at);
        }
        let way = set
            .iter()
            .position(|one| one.address == address)
            .or_else(|| (0..WAYS).min_by_key(|&way| set[way].at))
            .unwrap_or(0);
        set[way] =
            Issued { address, host: AddressKey::host(from.ip()), tag, at: now, reserves: reserve };
        if reserve && self.reserved.len() <= CALM {
            self.reserved.push_back((number as u16, way as u8, now));
        }
        self.text(from, tag, now)
    }

    /// Returns the game of a valid challenge of an address.
    pub(super) fn verify(&self, now: Millis, from: SocketAddr, text: &[u8]) -> Option<Tag> {
        let bits = ChallengeText::bits(text)?;
        let tag = Tag((bits >> TICK_BITS & ((1 << TAG_BITS) - 1)) as u8);
        let age = (now.0 >> TICK).wrapping_sub(bits) & ((1 << TICK_BITS) - 1);
        let issued = Millis(((now.0 >> TICK).wrapping_sub(age)) << TICK);
        // The time of a challenge is rounded down to a tick.
        (now.since(issued) <= CHALLENGE_LIFE + Millis(1 << TICK)
            && self.bits(from, tag, issued) == bits)
            .then_some(tag)
    }

    /// Number that a Quake 4 server repeats: a hash of address and time.
    pub(super) fn number(&self, now: Millis, from: SocketAddr) -> u32 {
        self.number_of_slot(now.0 / CHALLENGE_LIFE.0, from)
    }

    /// Whether a number was issued to an address less than two lives of a challenge ago.
    pub(super) fn verify_number(&self, now: Millis, from: SocketAddr, number: u32) -> bool {
        let slot = now.0 / CHALLENGE_LIFE.0;
        [slot, slot.saturating_sub(1)].iter().any(|&slot| self.number_of_slot(slot, from) == number)
    }

    fn number_of_slot(&self, slot: u64, from: SocketAddr) -> u32 {
        self.key.hash((slot, from)) as u32
    }

    /// Whether a query of an address waits for its response.
    pub(super) fn is_open(&self, now: Millis, from: SocketAddr, tag: Tag) -> bool {
        let address = self.key.hash(from) | 1;
        self.issued[(address >> 1) as usize % SETS].iter().any(|one| {
            one.address == address && one.tag == tag && now.since(one.at) <= CHALLENGE_LIFE
        })
    }

    /// Ends the reservation of an address, which is proven now.
    pub(super) fn settle(&mut self, from: SocketAddr) {
        let address = self.key.hash(from) | 1;
        let set = &mut self.issued[(address >> 1) as usize % SETS];
        for one in set.iter_mut().filter(|one| one.address == address) {
            one.reserves = false;
        }
    }

    /// Number of reservations, in all and of one host. At most [`CALM`] are counted.
    /// The reservation of `from` itself is not counted.
    pub(super) fn reservations(
        &mut self,
        now: Millis,
        from: SocketAddr,
        host: AddressKey,
    ) -> Reservations {
        let own = self.key.hash(from) | 1;
        while self.reserved.front().is_some_and(|&(.., at)| now.since(at) > CHALLENGE_LIFE) {
            self.reserved.pop_front();
        }
        let mut found = Reservations { all: 0, of_host: 0, is_calm: self.reserved.len() < CALM };
        for &(set, way, at) in &self.reserved {
            let one = &self.issued[usize::from(set)][usize::from(way)];
            if one.reserves && one.at == at && one.address != own {
                found.all += 1;
                found.of_host += usize::from(one.host == host);
            }
        }
        found
    }

    /// Queues a heartbeat until the present reservations have expired. False if the queue is full.
    pub(super) fn defer(&mut self, now: Millis, route: Route, tag: Tag) -> bool {
        if self.deferred.iter().any(|one| one.route == route) {
            return true;
        }
        let has_room = self.deferred.len() < DEFERRED_MAX;
        if has_room {
            let due = now + CHALLENGE_LIFE + Millis(1);
            self.deferred.push_back(Deferred { route, tag, due });
        }
        has_room
    }

    /// Returns the next deferred heartbeat that is due.
    pub(super) fn poll_deferred(&mut self, now: Millis) -> Option<Deferred> {
        if self.next_due() > now {
            return None;
        }
        self.deferred.pop_front()
    }

    /// Due time of the next deferred heartbeat.
    pub(super) fn next_due(&self) -> Millis {
        self.deferred.front().map_or(Millis::NEVER, |one| one.due)
    }

    fn text(&self, from: SocketAddr, tag: Tag, at: Millis) -> ChallengeText {
        ChallengeText::new(self.bits(from, tag, at))
    }

    fn bits(&self, from: SocketAddr, tag: Tag, at: Millis) -> u64 {
        let tick = at.0 >> TICK;
        let proof = self.key.hash((from, tag.0, tick)) << (TICK_BITS + TAG_BITS);
        proof | u64::from(tag.0) << TICK_BITS | tick & ((1 << TICK_BITS) - 1)
    }
}

/// Number of reservations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Reservations {
    /// Of all hosts.
    pub(super) all: usize,
    /// Of the host in question.
    pub(super) of_host: usize,
    /// Whether there are few enough to count.
    pub(super) is_calm: bool,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::node::LocalPort;

    fn challenges() -> Challenges {
        Challenges::new(HashKey::new([9; 16]))
    }

    fn from(port: u16) -> SocketAddr {
        ([192, 0, 2, 1], port).into()
    }

    #[test]
    fn challenge_proves_its_address_for_two_seconds() {
        let mut table = challenges();
        for at in [0, 15, 16, 1_000_000, (16 << TICK_BITS) - 100, 1 << 40] {
            let text = table.issue(Millis(at), from(1), Tag(7), true);
            let verify =
                |after, address, bytes: &[u8]| table.verify(Millis(at + after), address, bytes);
            assert_eq!(verify(0, from(1), text.as_bytes()), Some(Tag(7)));
            assert_eq!(verify(2000, from(1), text.as_bytes()), Some(Tag(7)));
            assert_eq!(verify(2032, from(1), text.as_bytes()), None, "expired at {at}");
            assert_eq!(verify(0, from(2), text.as_bytes()), None, "another port");
            assert_eq!(verify(0, from(1), b"AAAAAAAAAAA"), None);
            assert_eq!(verify(0, from(1), &text.as_bytes()[..10]), None);
            let mut changed = *text.as_bytes();
            changed[3] = if changed[3] == b'A' { b'B' } else { b'A' };
            assert_eq!(verify(0, from(1), &changed), None);
        }
    }

    #[test]
    fn challenge_is_the_same_until_it_expires() {
        let mut table = challenges();
        let first = table.issue(Millis(5000), from(1), Tag(1), true);
        assert_eq!(table.issue(Millis(6999), from(1), Tag(1), true), first);
        assert_ne!(table.issue(Millis(6999), from(1), Tag(2), true), first, "another game");
        assert_ne!(table.issue(Millis(9100), from(1), Tag(1), true), first, "expired");
        assert!(first.as_bytes().iter().all(|byte| byte.is_ascii_graphic()));
    }

    #[test]
    fn reservations_expire_and_stop_in_a_flood() {
        let mut table = challenges();
        let host = AddressKey::host(from(1).ip());
        for port in 1..=3 {
            table.issue(Millis(100), from(port), Tag(0), true);
            table.issue(Millis(101), from(port), Tag(0), true);
        }
        let counted = table.reservations(Millis(200), from(99), host);
        assert_eq!((counted.all, counted.of_host, counted.is_calm), (3, 3, true));
        assert_eq!(table.reservations(Millis(200), from(99), AddressKey::NONE).of_host, 0);
        table.settle(from(2));
        assert_eq!(table.reservations(Millis(200), from(99), host).all, 2);
        assert_eq!(table.reservations(Millis(2101), from(99), host).all, 0);
        for port in 1..=10_000 {
            table.issue(Millis(3000), from(port), Tag(0), true);
        }
        assert!(!table.reservations(Millis(3000), from(99), host).is_calm);
        assert!(table.reserved.len() <= CALM + 1);
    }

    #[test]
    fn deferred_heartbeats_are_bounded_and_come_back() {
        let mut table = challenges();
        let route = |port| Route::new(LocalPort(0), from(port));
        let taken = (1..=1000).filter(|&port| table.defer(Millis(0), route(port), Tag(1))).count();
        assert_eq!(taken, DEFERRED_MAX);
        assert!(table.poll_deferred(Millis(2000)).is_none());
        assert_eq!(table.next_due(), Millis(2001));
        assert_eq!(table.poll_deferred(Millis(2001)).map(|one| one.route), Some(route(1)));
    }
}
