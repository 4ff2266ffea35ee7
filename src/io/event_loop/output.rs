//! Output of a node: datagrams in batches, game log, recordings, live stream, console.
//!
//! Invariant: the node is drained completely; ports that it opens are open before its datagrams are sent.

use std::{io::Write as _, time::Duration};

use mio::{Events, Poll, Token};

use super::Loop;
use crate::{
    io::{batch::SendBatch, on_demand::NotSent, socket::Sockets},
    model::Millis,
    node::{Hosted, LoopCounters},
};

/// Maximum wait for room in the kernel's send queue on exit.
const EXIT_FLUSH: Duration = Duration::from_millis(250);

impl<N: Hosted + ?Sized> Loop<'_, N> {
    /// Drains the node: datagrams, game log, recordings, live stream, console output.
    pub(in crate::io) fn drain(&mut self) {
        collect(self.node, &mut self.sockets, &mut self.outgoing, &self.poll, &mut self.counters);
        flush(&mut self.sockets, &mut self.outgoing, &self.poll, &mut self.counters);
        while let Some(port) = self.sockets.next_failed_port() {
            let now = self.now();
            self.node.handle_port_failure(now, port);
        }
        while let Some(lines) = self.node.poll_game_log() {
            if let Some(log) = &mut self.game_log {
                log.add(lines);
            }
        }
        while let Some(piece) = self.node.poll_recording() {
            if let Some(recordings) = &mut self.recordings {
                recordings.add(piece);
            }
        }
        while let Some(folder) = &mut self.game_folder
            && folder.has_room()
            && let Some(write) = self.node.poll_file_write()
        {
            folder.add(write);
        }
        while let Some(pieces) = self.node.poll_stream() {
            #[cfg(feature = "server")]
            if let Some(live) = &mut self.live {
                live.write(pieces);
            }
            #[cfg(not(feature = "server"))]
            drop(pieces);
        }
        let mut printed = false;
        while let Some(text) = self.node.poll_console() {
            printed = true;
            if let Some(output) = &mut self.output
                && output.write_all(text.as_bytes()).is_err()
            {
                self.output = None;
            }
        }
        if printed
            && let Some(output) = &mut self.output
            && output.flush().is_err()
        {
            self.output = None;
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

/// Moves the node's datagrams into batches and sends each batch that is full or for another socket.
///
/// Ports that the node opens are open before its datagrams are sent.
pub(super) fn collect<N: Hosted + ?Sized>(
    node: &mut N,
    sockets: &mut Sockets,
    outgoing: &mut SendBatch,
    poll: &Poll,
    counters: &mut LoopCounters,
) {
    while let Some(change) = node.poll_port_change() {
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
        if outgoing.socket != number {
            flush(sockets, outgoing, poll, counters);
            outgoing.socket = number;
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
    let batching = sockets.batching;
    let poll = (poll.registry(), Token(outgoing.socket));
    sockets.sockets[outgoing.socket].send(datagrams, to, batching, poll, counters);
    outgoing.sent();
}
