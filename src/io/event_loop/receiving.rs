//! Input of a node: waiting for datagrams, reading them in batches, their time of arrival.
//!
//! Invariants:
//! - A datagram belongs to the frame that follows its arrival, also after a stall. Otherwise clients would run
//!   ahead of the server time.
//! - Reading delays a due frame by at most [`FRAME_DELAY_MAX`] and one batch, so a flood costs datagrams and
//!   never frames.
//! - At most `RECEIVES_PER_WAKE` batches are handled between two calls of the housekeeping.
//! - A single datagram is handled at once. Datagrams that follow it may be coalesced for as long as the node
//!   allows, because a wake-up costs more than a receive, but never past a frame.
//! - Where connectionless packets have a socket of their own, a node may let those of connections wait for a
//!   frame. The poll does not report them; each wake-up reads them, too.
//! - A datagram has the time at which the kernel received it, unless the node already knows a later time.
//! - Sockets with unread data stay queued, because the poll reports each arrival once.

use std::{collections::VecDeque, io, time::Duration};

use mio::{Events, Token};

use super::{LATE, Loop, output::collect};
use crate::{
    io::{
        association::RelayFault,
        batch::{BATCH, Datagram, ReceiveBatch, ReceiveStatus},
        local_addresses::LocalAddresses,
        on_demand::association_of,
        read_schedule::ReadSchedule,
        socket::{Content, Socket, Sockets, invalid_source},
    },
    model::Millis,
    node::{Hosted, Input, Route},
};

/// Batches received between two calls of the housekeeping.
const RECEIVES_PER_WAKE: usize = 32;

/// Longest delay of a due frame by reading. A full server's datagrams of one frame take less.
const FRAME_DELAY_MAX: Millis = Millis(2);

/// Consecutive errors after which a socket is skipped until the next arrival.
const ERRORS_IN_A_ROW_MAX: u32 = 16;

/// Longest coalescing of a socket that receives connectionless packets and others.
const SHARED_WAIT_MAX: Millis = Millis(10);

/// Longest coalescing of connectionless packets while those of connections wait for a frame.
const CONNECTIONLESS_WAIT_MAX: Millis = Millis(2);

/// Unread datagrams of the sockets.
pub(super) struct Receiving {
    batch: ReceiveBatch,
    /// Sockets that may have unread data, in the order of their turns.
    readable: VecDeque<usize>,
    /// End of the current receive coalescing.
    coalesce_until: Millis,
    addresses: LocalAddresses,
    /// `None` if no port has a socket of its own for connectionless packets.
    deferral: Option<Deferral>,
}

/// State of the sockets whose datagrams may wait for a frame.
struct Deferral {
    /// Their numbers. They are open as long as the node runs.
    sockets: Vec<usize>,
    /// Whether they wait.
    is_active: bool,
    schedule: ReadSchedule,
    /// Datagrams since the last record of the schedule.
    count: u64,
}

impl Receiving {
    pub(super) fn new(sockets: &Sockets) -> Self {
        let connections =
            sockets.sockets.iter().filter(|(_, socket)| socket.content == Content::Connections);
        let deferral = connections.clone().map(|(_, socket)| socket.receive_queue()).min();
        let deferral = deferral.map(|queue_bytes| Deferral {
            sockets: connections.map(|(number, _)| number).collect(),
            is_active: false,
            schedule: ReadSchedule::new(queue_bytes),
            count: 0,
        });
        Self {
            batch: ReceiveBatch::new(sockets.batching),
            readable: VecDeque::with_capacity(sockets.sockets.len()),
            coalesce_until: Millis(0),
            addresses: LocalAddresses::default(),
            deferral,
        }
    }

    fn active_deferral(&mut self) -> Option<&mut Deferral> {
        self.deferral.as_mut().filter(|deferral| deferral.is_active)
    }

    /// Time at which waiting datagrams must be read, because their queue could overflow.
    fn read_due(&mut self) -> Millis {
        self.active_deferral().map_or(Millis::NEVER, |deferral| deferral.schedule.due())
    }
}

impl<N: Hosted + ?Sized> Loop<'_, N> {
    /// Sleeps until an event or the due time, and queues the sockets that are readable.
    pub(super) fn wait(&mut self, events: &mut Events, busy: bool, due: Millis) -> io::Result<()> {
        let now = self.clock.now();
        self.sockets.run_associations(now, self.poll.registry(), &mut self.counters);
        self.set_deferral();
        let next = self.node.next_frame().min(due).min(self.sockets.associations_due());
        let next = next.min(self.receiving.read_due());
        let coalesce_until = self.receiving.coalesce_until;
        let timeout = if busy || !self.receiving.readable.is_empty() {
            Some(Duration::ZERO)
        } else if coalesce_until > self.clock.now() {
            if let Some(rest) = self.clock.until(next.min(coalesce_until)) {
                std::thread::sleep(rest);
            }
            Some(Duration::ZERO)
        } else {
            // The poll rounds up to whole milliseconds where necessary, so it never wakes early and never spins.
            self.clock.until(next)
        };
        match self.poll.poll(events, timeout) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            result => result?,
        }
        self.counters.wakeups += 1;
        for event in events.iter() {
            if let Some(number) = association_of(event.token()) {
                let (now, registry) = (self.clock.now(), self.poll.registry());
                self.sockets.handle_association(number, now, registry, &mut self.counters);
                continue;
            }
            let Token(number) = event.token();
            let Some(socket) = self.sockets.sockets.get_mut(number) else { continue };
            if event.is_writable() {
                let poll = (self.poll.registry(), event.token());
                socket.send_waiting(poll, &mut self.counters);
            }
            // Receiving reports errors, too.
            if (event.is_readable() || event.is_error())
                && !std::mem::replace(&mut socket.is_queued, true)
            {
                self.receiving.readable.push_back(number);
            }
        }
        Ok(())
    }

    /// Lets datagrams of connections wait for a frame, or ends that, as the node allows.
    fn set_deferral(&mut self) {
        let Some(deferral) = &mut self.receiving.deferral else { return };
        let is_active = self.node.receive_coalescing() > SHARED_WAIT_MAX;
        if std::mem::replace(&mut deferral.is_active, is_active) == is_active {
            return;
        }
        for &number in &deferral.sockets {
            let poll = (self.poll.registry(), Token(number));
            self.sockets.sockets[number].set_polled(!is_active, poll);
        }
        self.queue_connections();
    }

    /// Queues the sockets that the poll does not report.
    fn queue_connections(&mut self) {
        let Receiving { readable, deferral, .. } = &mut self.receiving;
        for &number in deferral.iter().flat_map(|deferral| &deferral.sockets) {
            let socket = &mut self.sockets.sockets[number];
            socket.send_waiting((self.poll.registry(), Token(number)), &mut self.counters);
            if !std::mem::replace(&mut socket.is_queued, true) {
                readable.push_back(number);
            }
        }
    }

    /// Receives from sockets in turn, and runs a due frame where reading takes long.
    pub(super) fn receive(&mut self) {
        let begun = self.clock.now();
        if self.receiving.active_deferral().is_some() {
            self.queue_connections();
        }
        for _ in 0..RECEIVES_PER_WAKE {
            if self.node.is_finished() || self.receiving.readable.is_empty() {
                break;
            }
            self.fill_batch();
            self.handle_batch();
            self.drain();
            if self.clock.now().since(begun) >= FRAME_DELAY_MAX {
                self.run_frame();
            }
        }
        let now = self.clock.now();
        if let Some(deferral) = self.receiving.active_deferral() {
            deferral.schedule.record(now, std::mem::take(&mut deferral.count));
        }
    }

    /// Fills the batch from sockets in turn.
    fn fill_batch(&mut self) {
        let Receiving { batch, readable, .. } = &mut self.receiving;
        batch.clear();
        while batch.len() < BATCH {
            let Some(number) = readable.pop_front() else { break };
            // A closed port may still be in the queue.
            let Some(socket) = self.sockets.sockets.get_mut(number) else { continue };
            socket.has_been_read = true;
            let stays = match batch.fill(number, &socket.udp, socket.family) {
                Ok(fill) => {
                    socket.errors_in_a_row = 0;
                    fill == ReceiveStatus::More
                }
                // Usually the error of an unreachable peer, which does not affect the next datagram.
                Err(error) => {
                    self.counters.receive_errors += 1;
                    socket.errors_in_a_row += 1;
                    log::debug!("port {} receive failed: {error}", socket.local.0);
                    socket.errors_in_a_row < ERRORS_IN_A_ROW_MAX
                }
            };
            socket.is_queued = stays;
            if stays {
                readable.push_back(number);
            } else {
                socket.errors_in_a_row = 0;
            }
        }
        batch.order_by_arrival();
    }

    /// Hands the datagrams of the batch to the node.
    fn handle_batch(&mut self) {
        let (now, arrivals) = (self.clock.now(), self.clock.arrivals());
        let wait = self.node.receive_coalescing();
        // Not asked for each datagram, since the answer depends on the state of all clients.
        let mut due = self.node.next_frame();
        for index in 0..self.receiving.batch.len() {
            let arrival = arrivals.at(self.receiving.batch.datagram(index).stamp);
            if arrival.since(due) > LATE {
                self.drain();
                self.run_frame();
                due = self.node.next_frame();
            }
            self.latest = arrival.max(self.latest);
            if index + 1 < self.receiving.batch.len()
                && let Some(bytes) = self.receiving.batch.datagram(index + 1).bytes
            {
                self.node.expect_datagram(bytes);
            }
            self.handle_one(index, now, wait);
        }
    }

    /// Hands a datagram of the batch to the node, at the time of its arrival.
    fn handle_one(&mut self, index: usize, now: Millis, wait: Millis) {
        let Self { node, sockets, outgoing, poll, counters, latest, .. } = self;
        let Receiving { batch, deferral, coalesce_until, addresses, .. } = &mut self.receiving;
        let Datagram { socket: number, from, local_ip, bytes, .. } = batch.datagram(index);
        // The node may have closed the port, and opened another one in its place.
        let socket = sockets.sockets.get(number).filter(|socket| socket.has_been_read);
        let Some(&Socket { local, content, .. }) = socket else { return };
        match deferral.as_mut().filter(|deferral| deferral.is_active) {
            Some(deferral) if content == Content::Connections => deferral.count += 1,
            Some(_) => *coalesce_until = now + wait.min(CONNECTIONLESS_WAIT_MAX),
            None => *coalesce_until = now + wait.min(SHARED_WAIT_MAX),
        }
        let (remote, bytes) = match sockets.unwrap_datagram(number, from, bytes) {
            Ok(unwrapped) => unwrapped,
            Err(fault) => {
                match fault {
                    RelayFault::Source => counters.bad_source += 1,
                    RelayFault::Header | RelayFault::Fragment => counters.relay_header += 1,
                }
                self.rate_limited_warning.about(now, from, fault.reason());
                return;
            }
        };
        let reason = match (invalid_source(remote), bytes) {
            (None, Some(bytes)) => {
                counters.received += 1;
                counters.received_bytes += bytes.len() as u64;
                let local_ip = local_ip.and_then(|ip| addresses.needed(*latest, ip, remote.ip()));
                node.handle_datagram(*latest, Route { local, local_ip, remote }, bytes);
                collect(*node, sockets, outgoing, poll, counters);
                return;
            }
            (Some(reason), _) => {
                counters.bad_source += 1;
                reason
            }
            (None, None) => {
                counters.oversize += 1;
                node.handle_input(*latest, Input::Oversize(Route::new(local, remote)));
                collect(*node, sockets, outgoing, poll, counters);
                "longer than any message of the protocol"
            }
        };
        self.rate_limited_warning.about(now, remote, reason);
    }
}
