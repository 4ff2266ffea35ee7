//! Output of a node: datagrams in batches, and other outputs by kind.
//!
//! Invariant: the node is drained completely; ports that it opens are open before its datagrams are sent.

use std::{io::Write as _, time::Duration};

use mio::{Events, Poll, Token};

use super::Loop;
use crate::{
    io::{batch::SendBatch, game_folder::GameFolder, on_demand::NotSent, socket::Sockets},
    model::Millis,
    node::{Hosted, Input, LoopCounters, Output, OutputKind},
};

/// Maximum wait for room in the kernel's send queue on exit.
const EXIT_FLUSH: Duration = Duration::from_millis(250);

impl<N: Hosted + ?Sized> Loop<'_, N> {
    /// Drains the node.
    pub(in crate::io) fn drain(&mut self) {
        collect(self.node, &mut self.sockets, &mut self.outgoing, &self.poll, &mut self.counters);
        flush(&mut self.sockets, &mut self.outgoing, &self.poll, &mut self.counters);
        while let Some(port) = self.sockets.next_failed_port() {
            let now = self.now();
            self.node.handle_input(now, Input::PortFailed(port));
        }
        let mut printed = false;
        for kind in OutputKind::ALL {
            while self.has_room_for(kind)
                && let Some(output) = self.node.poll_output(kind)
            {
                printed |= matches!(output, Output::Console(_));
                self.handle_output(output);
            }
        }
        if printed
            && let Some(output) = &mut self.output
            && output.flush().is_err()
        {
            self.output = None;
        }
    }

    /// Whether an output may be taken now. Others stay with the node.
    fn has_room_for(&self, kind: OutputKind) -> bool {
        kind != OutputKind::FileWrite || self.game_folder.as_ref().is_some_and(GameFolder::has_room)
    }

    fn handle_output(&mut self, output: Output) {
        match output {
            Output::PortChange(change) => self.sockets.change_port(change, self.poll.registry()),
            Output::GameLog(lines) => {
                if let Some(log) = &mut self.game_log {
                    log.add(lines);
                }
            }
            Output::Audit(lines) => {
                if let Some(log) = &mut self.audit_log {
                    log.add(lines);
                }
            }
            Output::Recording(piece) => {
                if let Some(recordings) = &mut self.recordings {
                    recordings.add(piece);
                }
            }
            Output::FileWrite(write) => {
                if let Some(folder) = &mut self.game_folder {
                    folder.add(write);
                }
            }
            Output::Stream(pieces) => {
                #[cfg(feature = "server")]
                if let Some(live) = &mut self.live {
                    live.write(pieces);
                }
                #[cfg(not(feature = "server"))]
                drop(pieces);
            }
            Output::Lookup(lookup) => self.asked.push(lookup),
            Output::Console(text) => {
                if let Some(output) = &mut self.output
                    && output.write_all(text.as_bytes()).is_err()
                {
                    self.output = None;
                }
            }
        }
    }

    /// Sends the last datagrams, waiting up to `EXIT_FLUSH` for room.
    pub(super) fn flush_on_exit(&mut self, events: &mut Events) {
        self.drain();
        let end = self.clock.now() + Millis(u64::try_from(EXIT_FLUSH.as_millis()).unwrap_or(0));
        while self.clock.now() < end
            && self.sockets.sockets.iter().any(|(_, socket)| socket.is_waiting())
            && self.poll.poll(events, self.clock.until(end)).is_ok()
        {
            for event in events.iter().filter(|event| event.is_writable()) {
                if let Some(socket) = self.sockets.sockets.get_mut(event.token().0) {
                    let poll = (self.poll.registry(), event.token());
                    socket.send_waiting(poll, &mut self.counters);
                }
            }
        }
    }
}

/// Moves the node's datagrams into batches and sends each batch that is full.
///
/// A datagram for another socket, or from another address, begins another batch.
///
/// Ports that the node opens are open before its datagrams are sent.
pub(super) fn collect<N: Hosted + ?Sized>(
    node: &mut N,
    sockets: &mut Sockets,
    outgoing: &mut SendBatch,
    poll: &Poll,
    counters: &mut LoopCounters,
) {
    while let Some(Output::PortChange(change)) = node.poll_output(OutputKind::PortChange) {
        flush(sockets, outgoing, poll, counters);
        sockets.change_port(change, poll.registry());
    }
    while let Some(route) = node.poll_transmit(outgoing.next_slot()) {
        let (number, remote) = match sockets.address_datagram(route, outgoing.slot()) {
            Ok(found) => found,
            Err(reason) => {
                counters.no_socket += u64::from(reason == NotSent::NoSocket);
                continue;
            }
        };
        if (outgoing.socket, outgoing.local_ip) != (number, route.local_ip) {
            flush(sockets, outgoing, poll, counters);
            (outgoing.socket, outgoing.local_ip) = (number, route.local_ip);
        }
        outgoing.commit(remote);
        if outgoing.is_full() {
            flush(sockets, outgoing, poll, counters);
        }
    }
}

/// Sends the batch and clears it.
fn flush(
    sockets: &mut Sockets,
    outgoing: &mut SendBatch,
    poll: &Poll,
    counters: &mut LoopCounters,
) {
    if outgoing.len() == 0 {
        return;
    }
    let (datagrams, to) = outgoing.datagrams();
    let to = (to, outgoing.local_ip);
    let batching = sockets.batching;
    let poll = (poll.registry(), Token(outgoing.socket));
    sockets.sockets[outgoing.socket].send(datagrams, to, batching, poll, counters);
    outgoing.sent();
}
