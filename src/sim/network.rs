//! Simulated network and its virtual clock.
//!
//! A node may stall: its datagrams wait as in a socket buffer. A node's clock may jump ahead of the network's.
//! No clock goes back.

use std::{
    cmp::Reverse,
    collections::{BinaryHeap, HashMap},
    net::{IpAddr, Ipv4Addr, SocketAddr},
};

use super::faults::{Fault, FaultCounts};

use crate::{
    impairment::{Impairment, SeededRng},
    model::Millis,
    node::{Hosted, LocalPort, Node, OutputKind, Route},
};

/// Maximum datagram payload, in bytes, below the usual MTU.
const MAX_DATAGRAM_LEN: usize = 1400;
/// Port 0 of a node.
const FIRST_PORT: u16 = 27960;
/// Address of node 0, 198.18.0.1.
const FIRST_ADDRESS: u32 = 0xc612_0001;
/// Number of nodes that have addresses. The second addresses follow the first ones.
const MAX_NODES: usize = 1 << 16;

/// Index of a node in the list passed to [`Network::run_until`].
pub type NodeId = usize;

/// A datagram in flight. Ordered by arrival, then by sending.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Flight {
    arrival: Millis,
    number: u64,
    to: NodeId,
    port: LocalPort,
    /// Second address of the node, if it was sent there.
    local_ip: Option<IpAddr>,
    from: SocketAddr,
    bytes: Vec<u8>,
}

/// Clock state of a node: stall and offset.
#[derive(Clone, Copy, Debug, Default)]
struct NodeClock {
    /// End of the stall. The node does not run before.
    stalled_until: Millis,
    /// Offset of its clock, ahead of the network's.
    ahead: Millis,
}

/// A datagram of the traced node, returned by [`Network::take_traced`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SentDatagram {
    /// Time of sending.
    pub at: Millis,
    /// Sending node.
    pub from: NodeId,
    /// Destination address.
    pub to: SocketAddr,
    /// Length in bytes.
    pub len: usize,
    /// Whether it is a connectionless packet.
    pub is_connectionless: bool,
}

/// Simulated network between nodes.
#[derive(Debug)]
pub struct Network {
    now: Millis,
    clocks: Vec<NodeClock>,
    /// Traced node, and its datagrams since the last call of [`Self::take_traced`].
    traced: Option<(NodeId, Vec<SentDatagram>)>,
    /// Checksum over every datagram sent.
    transcript: u32,
    bytes_sent: u64,
    /// Injected faults.
    faults: FaultCounts,
    /// Newest datagram number that arrived, by source and destination node.
    newest: HashMap<(NodeId, NodeId), u64>,
    rng: SeededRng,
    impairment: Impairment,
    flights: BinaryHeap<Reverse<Flight>>,
    sent: u64,
    longest: usize,
    packet: Vec<u8>,
    /// Datagrams to addresses without a node, once [`Self::take_outside`] was called.
    outside: Option<Vec<(SocketAddr, Vec<u8>)>>,
}

impl Network {
    /// Creates a network at time `now`. `seed` determines the impairment of each datagram.
    #[must_use]
    pub fn new(seed: u64, impairment: Impairment, now: Millis) -> Self {
        Self {
            now,
            clocks: Vec::new(),
            traced: None,
            transcript: 0,
            bytes_sent: 0,
            faults: FaultCounts::default(),
            newest: HashMap::new(),
            rng: SeededRng::new(seed),
            impairment,
            flights: BinaryHeap::new(),
            sent: 0,
            longest: 0,
            packet: Vec::new(),
            outside: None,
        }
    }

    /// Current virtual time.
    #[must_use]
    pub fn now(&self) -> Millis {
        self.now
    }

    /// Number of datagrams sent so far.
    #[must_use]
    pub fn sent(&self) -> u64 {
        self.sent
    }

    /// Bytes sent so far, without UDP and IP headers.
    #[must_use]
    pub fn bytes_sent(&self) -> u64 {
        self.bytes_sent
    }

    /// Faults injected so far.
    #[must_use]
    pub fn faults(&self) -> FaultCounts {
        self.faults
    }

    /// Length of the longest datagram so far, in bytes.
    #[must_use]
    pub fn longest(&self) -> usize {
        self.longest
    }

    /// Checksum over all datagrams so far, with their routes and times. Equal runs have equal checksums.
    #[must_use]
    pub fn transcript(&self) -> u32 {
        self.transcript
    }

    /// Traces the datagrams of a node from now on.
    pub fn trace_node(&mut self, node: NodeId) {
        self.traced = Some((node, Vec::new()));
    }

    /// Returns the datagrams of the traced node since the last call.
    pub fn take_traced(&mut self) -> impl Iterator<Item = SentDatagram> + '_ {
        self.traced.iter_mut().flat_map(|(_, datagrams)| datagrams.drain(..))
    }

    /// Returns the time of a node's clock.
    #[must_use]
    pub fn clock(&self, node: NodeId) -> Millis {
        self.now + self.node_clock(node).ahead
    }

    /// Stalls a node for a time.
    pub fn stall(&mut self, node: NodeId, span: Millis) {
        let until = self.now + span;
        let clock = self.node_clock_mut(node);
        clock.stalled_until = clock.stalled_until.max(until);
    }

    /// Advances a node's clock by a jump.
    pub fn jump_clock(&mut self, node: NodeId, span: Millis) {
        self.node_clock_mut(node).ahead += span;
    }

    fn node_clock(&self, node: NodeId) -> NodeClock {
        self.clocks.get(node).copied().unwrap_or_default()
    }

    fn node_clock_mut(&mut self, node: NodeId) -> &mut NodeClock {
        if self.clocks.len() <= node {
            self.clocks.resize(node + 1, NodeClock::default());
        }
        &mut self.clocks[node]
    }

    /// Returns the time of a node's next frame, by the network's clock.
    fn next_frame<N: Node>(&self, id: NodeId, node: &N) -> Millis {
        if node.is_finished() {
            return Millis::NEVER;
        }
        let clock = self.node_clock(id);
        match node.next_frame() {
            Millis::NEVER => Millis::NEVER,
            next => Millis(next.0.saturating_sub(clock.ahead.0)).max(clock.stalled_until),
        }
    }

    /// Sets the impairment of datagrams from now on.
    pub fn set_impairment(&mut self, impairment: Impairment) {
        self.impairment = impairment;
    }

    /// Returns the address of a node's port. Each node has its own public host address.
    #[must_use]
    pub fn address(node: NodeId, port: LocalPort) -> SocketAddr {
        // 198.18.0.0/15 is reserved for tests and is not a LAN address.
        let ip = Ipv4Addr::from_bits(FIRST_ADDRESS + node as u32);
        SocketAddr::new(ip.into(), FIRST_PORT.wrapping_add(port.0))
    }

    /// Returns the second address of a node's port. Its replies to datagrams that were sent there leave from there.
    #[must_use]
    pub fn second_address(node: NodeId, port: LocalPort) -> SocketAddr {
        Self::address(node + MAX_NODES, port)
    }

    /// Sends a datagram to a node from any address, without loss.
    pub fn inject(&mut self, from: SocketAddr, to: NodeId, bytes: &[u8]) {
        let arrival = self.now + self.impairment.latency;
        self.launch(arrival, to, LocalPort(0), None, from, bytes.to_vec());
    }

    /// Returns the datagrams to addresses without a node since the last call, oldest first.
    ///
    /// With [`Self::inject`] it forms a hand-written peer. Datagrams before the first call are not stored.
    pub fn take_outside(&mut self) -> Vec<(SocketAddr, Vec<u8>)> {
        self.outside.replace(Vec::new()).unwrap_or_default()
    }

    /// Runs the nodes until `end`, and calls `check` after each step.
    ///
    /// # Panics
    /// When a datagram exceeds the maximum payload, or when a node requests frames without end.
    pub fn run_until<N: Hosted>(
        &mut self,
        nodes: &mut [N],
        end: Millis,
        mut check: impl FnMut(&mut Self, &mut [N]),
    ) {
        let mut idle_steps = 0;
        loop {
            self.collect(nodes);
            let frames = nodes.iter().enumerate().map(|(id, node)| self.next_frame(id, node));
            let frame = frames.min().unwrap_or(Millis::NEVER);
            let arrival = self.flights.peek().map_or(Millis::NEVER, |Reverse(next)| next.arrival);
            let next = frame.min(arrival);
            if next > end {
                self.now = self.now.max(end);
                return;
            }
            idle_steps = if next > self.now { 0 } else { idle_steps + 1 };
            assert!(
                idle_steps < 1_000_000,
                "time does not advance: a node requests frames without end"
            );
            self.now = self.now.max(next);
            self.deliver(nodes);
            for (id, node) in nodes.iter_mut().enumerate() {
                if self.next_frame(id, node) <= self.now {
                    node.frame(self.clock(id));
                }
            }
            self.collect(nodes);
            check(self, nodes);
        }
    }

    /// Delivers the datagrams that have arrived.
    fn deliver(&mut self, nodes: &mut [impl Node]) {
        while self.flights.peek().is_some_and(|Reverse(next)| next.arrival <= self.now) {
            let Some(Reverse(mut flight)) = self.flights.pop() else { break };
            let awake = self.node_clock(flight.to).stalled_until;
            if awake > self.now {
                flight.arrival = awake;
                self.flights.push(Reverse(flight));
                continue;
            }
            self.record_order(&flight);
            if let Some(node) = nodes.get_mut(flight.to) {
                let Flight { port, local_ip, from, .. } = flight;
                let route = Route { local: port, local_ip, remote: from };
                node.handle_datagram(self.clock(flight.to), route, &flight.bytes);
            }
        }
    }

    /// Counts a datagram that arrives after one that was sent later.
    fn record_order(&mut self, flight: &Flight) {
        let Some((from, _)) = Self::owner(flight.from) else { return };
        let newest = self.newest.entry((from, flight.to)).or_default();
        if flight.number < *newest {
            self.faults.add(Fault::Reordered);
        } else {
            *newest = flight.number;
        }
    }

    /// Collects the datagrams of the nodes.
    fn collect(&mut self, nodes: &mut [impl Hosted]) {
        let mut packet = std::mem::take(&mut self.packet);
        for (id, node) in nodes.iter_mut().enumerate() {
            while let Some(route) = node.poll_transmit(&mut packet) {
                assert!(packet.len() <= MAX_DATAGRAM_LEN, "{} bytes in a datagram", packet.len());
                self.longest = self.longest.max(packet.len());
                self.record_datagram(id, route, &packet);
                let mut from = Self::address(id, route.local);
                if let Some(ip) = route.local_ip {
                    from.set_ip(ip);
                }
                self.send(from, route.remote, &packet);
            }
            while node.poll_output(OutputKind::Console).is_some() {}
            // Every port of a simulated node is open.
            while node.poll_output(OutputKind::PortChange).is_some() {}
        }
        self.packet = packet;
    }

    fn record_datagram(&mut self, id: NodeId, route: Route, bytes: &[u8]) {
        self.bytes_sent += bytes.len() as u64;
        let mut hasher = crc32fast::Hasher::new_with_initial(self.transcript);
        hasher.update(&self.now.0.to_le_bytes());
        hasher.update(&[id as u8, route.local.0 as u8]);
        hasher.update(&route.remote.port().to_le_bytes());
        hasher.update(bytes);
        self.transcript = hasher.finalize();
        if let Some((traced, datagrams)) = &mut self.traced
            && *traced == id
        {
            let is_connectionless = bytes.starts_with(&[255; 4]);
            let (at, to, len) = (self.now, route.remote, bytes.len());
            datagrams.push(SentDatagram { at, from: id, to, len, is_connectionless });
        }
    }

    fn send(&mut self, from: SocketAddr, to: SocketAddr, bytes: &[u8]) {
        self.sent += 1;
        let Some((node, port)) = Self::owner(to) else {
            if let Some(outside) = &mut self.outside {
                outside.push((to, bytes.to_vec()));
            }
            return;
        };
        let delivery = self.impairment.decide(&mut self.rng);
        match delivery.delays {
            [None, None] => self.faults.add(Fault::Lost),
            [Some(_), Some(_)] => self.faults.add(Fault::Duplicated),
            _ => {}
        }
        for delay in delivery.delays.into_iter().flatten() {
            let mut bytes = bytes.to_vec();
            let corruption = self.impairment.corrupt(&mut self.rng, &mut bytes);
            if corruption.is_cut {
                self.faults.add(Fault::Truncated);
            }
            if corruption.is_flipped {
                self.faults.add(Fault::Flipped);
            }
            let local_ip = (to != Self::address(node, port)).then_some(to.ip());
            self.launch(self.now + delay, node, port, local_ip, from, bytes);
        }
    }

    fn launch(
        &mut self,
        arrival: Millis,
        to: NodeId,
        port: LocalPort,
        local_ip: Option<IpAddr>,
        from: SocketAddr,
        bytes: Vec<u8>,
    ) {
        let number = self.sent;
        self.sent += 1;
        self.flights.push(Reverse(Flight { arrival, number, to, port, local_ip, from, bytes }));
    }

    /// Returns the node and port of an address.
    pub(super) fn owner(address: SocketAddr) -> Option<(NodeId, LocalPort)> {
        let SocketAddr::V4(address) = address else { return None };
        let number = address.ip().to_bits().checked_sub(FIRST_ADDRESS)? as usize;
        let node = Some(number % MAX_NODES).filter(|_| number < 2 * MAX_NODES)?;
        Some((node, LocalPort(address.port().wrapping_sub(FIRST_PORT))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::node::{Input, Outbox, Output};

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

        fn expect_datagram(&self, _: &[u8]) {}

        fn frame(&mut self, now: Millis) {
            self.next = now + Millis(10);
            self.outbox.push(Route::new(LocalPort(0), self.peer), &[self.sent]);
            self.sent = self.sent.wrapping_add(1);
        }

        fn next_frame(&self) -> Millis {
            self.next
        }

        fn poll_transmit(&mut self, packet: &mut Vec<u8>) -> Option<Route> {
            self.outbox.pop(packet)
        }

        fn is_finished(&self) -> bool {
            false
        }
    }

    impl Hosted for Ticker {
        fn handle_input(&mut self, _: Millis, _: Input<'_>) {}

        fn poll_output(&mut self, _: OutputKind) -> Option<Output> {
            None
        }

        fn local_ports(&self) -> u16 {
            1
        }

        fn receive_coalescing(&self) -> Millis {
            Millis(0)
        }
    }

    fn run(seed: u64, impairment: Impairment) -> [Vec<(Millis, u8)>; 2] {
        run_and_count(seed, impairment).0
    }

    fn run_and_count(seed: u64, impairment: Impairment) -> ([Vec<(Millis, u8)>; 2], FaultCounts) {
        let mut nodes = [Ticker::new(1), Ticker::new(0)];
        let mut network = Network::new(seed, impairment, Millis(0));
        network.run_until(&mut nodes, Millis(2000), |_, _| {});
        (nodes.map(|node| node.received), network.faults())
    }

    #[test]
    fn network_counts_injected_faults() {
        let clear = Impairment::latency(Millis(10));
        assert_eq!(run_and_count(3, clear).1, FaultCounts::default());
        let only = |impairment| {
            let faults = run_and_count(3, impairment).1;
            faults.iter().filter(|(_, count)| *count > 0).map(|(name, _)| name).collect::<Vec<_>>()
        };
        assert_eq!(only(Impairment { loss: 100, ..clear }), ["lost"]);
        assert_eq!(only(Impairment { duplication: 100, ..clear }), ["duplicated"]);
        assert_eq!(only(Impairment { jitter: Millis(50), ..clear }), ["reordered"]);
        assert_eq!(
            only(Impairment { latency: Millis(50), reordering: 100, ..clear }),
            ["reordered"]
        );
        assert_eq!(only(Impairment { corruption: 100, ..clear }), ["bits flipped"]);
    }

    #[test]
    fn unimpaired_network_delivers_in_order_and_on_time() {
        let [a, b] = run(1, Impairment::latency(Millis(25)));
        assert_eq!(a, b);
        let expected = (0..=197).map(|i| (Millis(i * 10 + 25), i as u8)).collect::<Vec<_>>();
        assert_eq!(a, expected);
    }

    #[test]
    fn impaired_network_matches_rates_and_seed() {
        let impairment = Impairment {
            jitter: Millis(40),
            loss: 200,
            duplication: 100,
            ..Impairment::latency(Millis(10))
        };
        let [received, _] = run(7, impairment);
        assert_eq!(received, run(7, impairment)[0]);
        assert_ne!(received, run(8, impairment)[0]);
        assert!((140..200).contains(&received.len()), "{}", received.len());
        assert!(received.windows(2).any(|pair| pair[0].1 > pair[1].1), "some overtake");
        assert!(received.iter().any(|(_, n)| received.iter().filter(|(_, m)| n == m).count() > 1));
    }
}
