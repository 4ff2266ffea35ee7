//! The wires between nodes, and the clock they share.

use std::{
    cmp::Reverse,
    collections::BinaryHeap,
    net::{Ipv4Addr, SocketAddr},
};

use rand_pcg::{Pcg32, rand_core::Rng as _};

use crate::{
    model::Millis,
    node::{LocalPort, Node, Route},
};

/// Largest datagram that a network carries whole, without its own headers.
const MAX_DATAGRAM_LEN: usize = 1400;
/// Port 0 of a node.
const FIRST_PORT: u16 = 27960;

/// A node's place in the list that [`Network::run_until`] is given.
pub type NodeId = usize;

/// What happens to datagrams on their way. Shares are in thousandths.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Faults {
    /// Least time on the way.
    pub latency: Millis,
    /// Up to this much is added, each time anew: later ones overtake earlier ones.
    pub jitter: Millis,
    /// How many are lost.
    pub loss: u32,
    /// How many arrive twice.
    pub duplication: u32,
    /// How many have a bit flipped.
    pub corruption: u32,
    /// How many are cut short.
    pub truncation: u32,
}

impl Faults {
    /// A network that only takes time.
    #[must_use]
    pub const fn latency(latency: Millis) -> Self {
        Self { latency, jitter: Millis(0), loss: 0, duplication: 0, corruption: 0, truncation: 0 }
    }
}

/// A datagram under way. Ordered by arrival, then by sending.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Flight {
    arrival: Millis,
    number: u64,
    to: NodeId,
    port: LocalPort,
    from: SocketAddr,
    bytes: Vec<u8>,
}

/// The network.
#[derive(Debug)]
pub struct Network {
    now: Millis,
    random: Pcg32,
    faults: Faults,
    flights: BinaryHeap<Reverse<Flight>>,
    sent: u64,
    longest: usize,
    packet: Vec<u8>,
}

impl Network {
    /// A network at time `now` whose chance is drawn from `seed`.
    #[must_use]
    pub fn new(seed: u64, faults: Faults, now: Millis) -> Self {
        Self {
            now,
            random: Pcg32::new(seed, 0x5eed),
            faults,
            flights: BinaryHeap::new(),
            sent: 0,
            longest: 0,
            packet: Vec::new(),
        }
    }

    /// The virtual time.
    #[must_use]
    pub fn now(&self) -> Millis {
        self.now
    }

    /// Datagrams sent so far.
    #[must_use]
    pub fn sent(&self) -> u64 {
        self.sent
    }

    /// Changes what happens to datagrams from now on.
    pub fn set_faults(&mut self, faults: Faults) {
        self.faults = faults;
    }

    /// The address of a node's port, public and one per node.
    #[must_use]
    pub fn address(node: NodeId, port: LocalPort) -> SocketAddr {
        // 198.18.0.0/15 is set aside for tests and counts as far away.
        let ip = Ipv4Addr::from_bits(0xc612_0000 + node as u32 + 1);
        SocketAddr::new(ip.into(), FIRST_PORT.wrapping_add(port.0))
    }

    /// Sends a datagram from outside the nodes, from whatever address.
    pub fn inject(&mut self, from: SocketAddr, to: NodeId, bytes: &[u8]) {
        let arrival = self.now + self.faults.latency;
        self.launch(arrival, to, LocalPort(0), from, bytes.to_vec());
    }

    /// Lets the nodes run until `end`. After each step `check` sees the time and the nodes.
    ///
    /// # Panics
    /// When a node sends a datagram that no network carries whole, or asks for frames without end.
    pub fn run_until<N: Node>(
        &mut self,
        nodes: &mut [N],
        end: Millis,
        mut check: impl FnMut(Millis, &mut [N]),
    ) {
        let mut idle_steps = 0;
        loop {
            self.collect(nodes);
            let frame = nodes
                .iter()
                .filter(|node| !node.is_finished())
                .map(|node| node.next_frame())
                .min()
                .unwrap_or(Millis::NEVER);
            let arrival = self.flights.peek().map_or(Millis::NEVER, |Reverse(next)| next.arrival);
            let next = frame.min(arrival);
            if next > end {
                self.now = self.now.max(end);
                return;
            }
            idle_steps = if next > self.now { 0 } else { idle_steps + 1 };
            assert!(
                idle_steps < 1_000_000,
                "time does not pass: a node asks for frames without end"
            );
            self.now = self.now.max(next);
            self.deliver(nodes);
            for node in nodes.iter_mut().filter(|node| !node.is_finished()) {
                if node.next_frame() <= self.now {
                    node.frame(self.now);
                }
            }
            self.collect(nodes);
            check(self.now, nodes);
        }
    }

    /// Hands out what has arrived.
    fn deliver(&mut self, nodes: &mut [impl Node]) {
        while let Some(next) = self.flights.peek_mut() {
            if next.0.arrival > self.now {
                break;
            }
            let Reverse(flight) = std::collections::binary_heap::PeekMut::pop(next);
            if let Some(node) = nodes.get_mut(flight.to) {
                let route = Route { local: flight.port, remote: flight.from };
                node.handle_datagram(self.now, route, &flight.bytes);
            }
        }
    }

    /// Takes what the nodes send.
    fn collect(&mut self, nodes: &mut [impl Node]) {
        let mut packet = std::mem::take(&mut self.packet);
        for (id, node) in nodes.iter_mut().enumerate() {
            while let Some(route) = node.poll_transmit(&mut packet) {
                assert!(packet.len() <= MAX_DATAGRAM_LEN, "{} bytes in a datagram", packet.len());
                self.longest = self.longest.max(packet.len());
                self.send(Self::address(id, route.local), route.remote, &packet);
            }
            while node.poll_output().is_some() {}
        }
        self.packet = packet;
    }

    fn send(&mut self, from: SocketAddr, to: SocketAddr, bytes: &[u8]) {
        self.sent += 1;
        let Some((node, port)) = Self::owner(to) else { return };
        if self.chance(self.faults.loss) {
            return;
        }
        let copies = if self.chance(self.faults.duplication) { 2 } else { 1 };
        for _ in 0..copies {
            let mut bytes = bytes.to_vec();
            if self.chance(self.faults.corruption) && !bytes.is_empty() {
                let at = self.below(bytes.len() as u64) as usize;
                bytes[at] ^= 1 << self.below(8);
            }
            if self.chance(self.faults.truncation) {
                bytes.truncate(self.below(bytes.len() as u64 + 1) as usize);
            }
            let jitter = self.below(self.faults.jitter.0 + 1);
            let arrival = self.now + self.faults.latency + Millis(jitter);
            self.launch(arrival, node, port, from, bytes);
        }
    }

    fn launch(
        &mut self,
        arrival: Millis,
        to: NodeId,
        port: LocalPort,
        from: SocketAddr,
        bytes: Vec<u8>,
    ) {
        let number = self.sent;
        self.sent += 1;
        self.flights.push(Reverse(Flight { arrival, number, to, port, from, bytes }));
    }

    /// Which node's port an address is.
    fn owner(address: SocketAddr) -> Option<(NodeId, LocalPort)> {
        let SocketAddr::V4(address) = address else { return None };
        let node = address.ip().to_bits().checked_sub(0xc612_0001)?;
        Some((node as NodeId, LocalPort(address.port().wrapping_sub(FIRST_PORT))))
    }

    fn below(&mut self, limit: u64) -> u64 {
        self.random.next_u64() % limit.max(1)
    }

    fn chance(&mut self, thousandths: u32) -> bool {
        thousandths > 0 && self.below(1000) < u64::from(thousandths)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::node::Outbox;

    /// Sends a numbered datagram every 10 ms and remembers what it receives.
    struct Ticker {
        peer: SocketAddr,
        next: Millis,
        sent: u8,
        outbox: Outbox,
        received: Vec<(Millis, u8)>,
    }

    impl Ticker {
        fn new(peer: NodeId) -> Self {
            Self {
                peer: Network::address(peer, LocalPort(0)),
                next: Millis(0),
                sent: 0,
                outbox: Outbox::default(),
                received: Vec::new(),
            }
        }
    }

    impl Node for Ticker {
        fn handle_datagram(&mut self, now: Millis, route: Route, bytes: &[u8]) {
            assert_eq!(route.remote, self.peer);
            self.received.push((now, bytes[0]));
        }

        fn frame(&mut self, now: Millis) {
            self.next = now + Millis(10);
            self.outbox.push(Route { local: LocalPort(0), remote: self.peer }, &[self.sent]);
            self.sent = self.sent.wrapping_add(1);
        }

        fn next_frame(&self) -> Millis {
            self.next
        }

        fn poll_transmit(&mut self, packet: &mut Vec<u8>) -> Option<Route> {
            self.outbox.pop(packet)
        }

        fn stop(&mut self, _: Millis, _: &str) {}

        fn is_finished(&self) -> bool {
            false
        }
    }

    fn run(seed: u64, faults: Faults) -> [Vec<(Millis, u8)>; 2] {
        let mut nodes = [Ticker::new(1), Ticker::new(0)];
        let mut network = Network::new(seed, faults, Millis(0));
        network.run_until(&mut nodes, Millis(2000), |_, _| {});
        nodes.map(|node| node.received)
    }

    #[test]
    fn a_good_network_delivers_all_in_order_and_time() {
        let [a, b] = run(1, Faults::latency(Millis(25)));
        assert_eq!(a, b);
        let expected = (0..=197).map(|i| (Millis(i * 10 + 25), i as u8)).collect::<Vec<_>>();
        assert_eq!(a, expected);
    }

    #[test]
    fn a_bad_one_is_as_bad_as_it_was_told_and_the_same_again() {
        let faults = Faults {
            jitter: Millis(40),
            loss: 200,
            duplication: 100,
            ..Faults::latency(Millis(10))
        };
        let [received, _] = run(7, faults);
        assert_eq!(received, run(7, faults)[0]);
        assert_ne!(received, run(8, faults)[0]);
        assert!((140..200).contains(&received.len()), "{}", received.len());
        assert!(received.windows(2).any(|pair| pair[0].1 > pair[1].1), "some overtake");
        assert!(received.iter().any(|(_, n)| received.iter().filter(|(_, m)| n == m).count() > 1));
    }
}
