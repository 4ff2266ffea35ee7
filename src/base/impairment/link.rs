//! Impaired link: one direction of a simulated network path.
//!
//! The rate limit precedes the delay: a datagram that would wait longer than [`MAX_BACKLOG`] is dropped, as in
//! a router. Datagrams arrive in order unless the impairment asks for reordering. Buffers are reused.

use std::{cmp::Reverse, collections::BinaryHeap};

use crate::model::Millis;

use super::{Corruption, Impairment, SeededRng};

/// Maximum queued datagrams. Further ones are dropped.
pub const MAX_WAITING: usize = 4096;
/// Maximum queueing delay of the rate limit.
const MAX_BACKLOG: Millis = Millis(500);

/// A datagram in flight. Ordered by arrival, then by sending.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Flight {
    arrival: Millis,
    number: u64,
    is_damaged: bool,
    bytes: Vec<u8>,
}

/// One direction of an impaired link.
#[derive(Debug)]
pub struct ImpairedLink {
    impairment: Impairment,
    rng: SeededRng,
    flights: BinaryHeap<Reverse<Flight>>,
    sent: u64,
    /// Time when the rate limit admits the next datagram, in microseconds.
    free_at_us: u64,
    /// Latest arrival of the datagrams in flight. Without reordering none arrives before it.
    latest: Millis,
    /// Whether the datagram delivered last was corrupted or truncated.
    has_damaged: bool,
    /// Buffers of delivered datagrams, for reuse.
    spare: Vec<Vec<u8>>,
}

impl ImpairedLink {
    /// Creates a link. `seed` determines the delivery of each datagram.
    #[must_use]
    pub fn new(impairment: Impairment, seed: u64) -> Self {
        Self {
            impairment,
            rng: SeededRng::new(seed),
            flights: BinaryHeap::new(),
            sent: 0,
            free_at_us: 0,
            latest: Millis(0),
            has_damaged: false,
            spare: Vec::new(),
        }
    }

    /// Sets the impairment of datagrams from now on.
    pub fn set_impairment(&mut self, impairment: Impairment) {
        self.impairment = impairment;
    }

    /// Sends a datagram.
    pub fn send(&mut self, now: Millis, bytes: &[u8]) {
        let delivery = self.impairment.decide(&mut self.rng);
        for delay in delivery.delays.into_iter().flatten() {
            let Some(through) = self.queue_delay(now, bytes.len()) else { continue };
            if self.flights.len() >= MAX_WAITING {
                continue;
            }
            let mut buffer = self.spare.pop().unwrap_or_default();
            buffer.clear();
            buffer.extend_from_slice(bytes);
            let is_damaged =
                self.impairment.corrupt(&mut self.rng, &mut buffer) != Corruption::default();
            let number = self.sent;
            self.sent += 1;
            let mut arrival = through + delay;
            if self.impairment.reordering == 0 {
                arrival = arrival.max(self.latest);
            }
            self.latest = self.latest.max(arrival);
            self.flights.push(Reverse(Flight { arrival, number, is_damaged, bytes: buffer }));
        }
    }

    /// Returns the time when a datagram has passed the rate limit. `None` when the queue is full.
    fn queue_delay(&mut self, now: Millis, len: usize) -> Option<Millis> {
        let rate = u64::from(self.impairment.rate_bytes_per_sec);
        if rate == 0 {
            return Some(now);
        }
        let now_us = now.0.saturating_mul(1000);
        let begins = self.free_at_us.max(now_us);
        if begins - now_us > MAX_BACKLOG.0 * 1000 {
            return None;
        }
        self.free_at_us = begins.saturating_add(len as u64 * 1_000_000 / rate);
        Some(Millis(self.free_at_us.div_ceil(1000)))
    }

    /// Returns the time of the next arrival, or [`Millis::NEVER`].
    #[must_use]
    pub fn next_arrival(&self) -> Millis {
        self.flights.peek().map_or(Millis::NEVER, |Reverse(flight)| flight.arrival)
    }

    /// Moves a datagram that has arrived into `packet`. Returns whether there was one.
    pub fn receive(&mut self, now: Millis, packet: &mut Vec<u8>) -> bool {
        if self.next_arrival() > now {
            return false;
        }
        let Some(Reverse(flight)) = self.flights.pop() else { return false };
        self.has_damaged = flight.is_damaged;
        let old = std::mem::replace(packet, flight.bytes);
        self.spare.push(old);
        true
    }

    /// Whether the datagram that [`Self::receive`] delivered last was corrupted or truncated.
    #[must_use]
    pub fn has_damaged(&self) -> bool {
        self.has_damaged
    }

    /// Number of datagrams in flight.
    #[must_use]
    pub fn waiting(&self) -> usize {
        self.flights.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Sends a numbered datagram of `len` bytes every 10 ms, and returns what arrives when.
    fn run(impairment: Impairment, count: u8, len: usize) -> Vec<(u64, u8)> {
        let mut link = ImpairedLink::new(impairment, 3);
        let (mut packet, mut arrived) = (Vec::new(), Vec::new());
        for ms in 0..20_000 {
            let now = Millis(ms);
            if ms % 10 == 0 && ms / 10 < u64::from(count) {
                link.send(now, &vec![(ms / 10) as u8; len]);
            }
            while link.receive(now, &mut packet) {
                arrived.push((ms, packet[0]));
            }
        }
        assert_eq!(link.waiting(), 0);
        arrived
    }

    #[test]
    fn link_delivers_after_its_latency() {
        assert_eq!(run(Impairment::default(), 3, 10), [(0, 0), (10, 1), (20, 2)]);
        assert_eq!(run(Impairment::latency(Millis(35)), 3, 10), [(35, 0), (45, 1), (55, 2)]);
    }

    #[test]
    fn rate_limit_delays_and_drops_datagrams() {
        // 100 bytes every 10 ms are 10,000 per second. Half of it passes.
        let narrow = Impairment { rate_bytes_per_sec: 5000, ..Impairment::default() };
        let arrived = run(narrow, 200, 100);
        assert_eq!(arrived[..3], [(20, 0), (40, 1), (60, 2)]);
        let longest = arrived.iter().map(|(at, n)| at - u64::from(*n) * 10).max();
        assert!((500..=540).contains(&longest.unwrap()), "{longest:?}");
        assert!((120..=130).contains(&arrived.len()), "{}", arrived.len());
    }

    #[test]
    fn reordered_datagrams_overtake() {
        let impairment = Impairment { reordering: 100, ..Impairment::latency(Millis(50)) };
        let arrived = run(impairment, 200, 10);
        assert_eq!(arrived.len(), 200);
        let overtaken = arrived.windows(2).filter(|pair| pair[0].1 > pair[1].1).count();
        assert!((8..40).contains(&overtaken), "{overtaken}");
    }

    #[test]
    fn jitter_keeps_the_order_without_reordering() {
        let jitter = Impairment { jitter: Millis(40), ..Impairment::latency(Millis(20)) };
        let overtaken = |impairment| {
            let arrived = run(impairment, 200, 10);
            assert_eq!(arrived.len(), 200);
            let delays = arrived.iter().map(|(at, n)| at - u64::from(*n) * 10);
            assert!(delays.clone().all(|delay| delay <= 60), "no delay exceeds latency and jitter");
            assert!(delays.max() >= Some(55), "jitter is present");
            arrived.windows(2).filter(|pair| pair[0].1 > pair[1].1).count()
        };
        assert_eq!(overtaken(jitter), 0);
        assert!(overtaken(Impairment { reordering: 1, ..jitter }) > 30);
    }

    #[test]
    fn link_queue_is_bounded() {
        let mut link = ImpairedLink::new(Impairment::latency(Millis(5)), 1);
        for _ in 0..MAX_WAITING + 10 {
            link.send(Millis(0), b"x");
        }
        assert_eq!(link.waiting(), MAX_WAITING);
    }
}
