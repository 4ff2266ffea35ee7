//! Event loop: drives a node with real sockets and a real clock.
//!
//! Invariants:
//! - At most one batch of datagrams is handled between two checks of the frame's due time, so a flood costs
//!   datagrams and never frames.
//! - At most `RECEIVES_PER_WAKE` batches are handled between two calls of the housekeeping.
//! - The node is drained after every call into it.
//! - An idle loop wakes once per frame.
//! - A single datagram is handled at once. Datagrams that follow it may be coalesced for as long as the node
//!   allows, because a wake-up costs more than a receive, but never past a frame.
//! - Sockets with unread data stay queued, because the poll reports each arrival once.

use std::{
    collections::VecDeque,
    io::{self, Write},
    time::{Duration, Instant},
};

use mio::{Events, Interest, Poll, Token};

use super::{
    background::BackgroundWriter,
    batch::{ReceiveBatch, ReceiveStatus, SendBatch},
    clock::Clock,
    game_folder::GameFolder,
    game_log::GameLog,
    housekeeping::Housekeeping,
    kernel_drops::KernelDrops,
    logging,
    on_demand::{NotSent, association_of},
    rate_limited_warning::RateLimitedWarning,
    recordings::Recordings,
    run_options::{ExitReason, Options, Output, RunSummary},
    socket::{Sockets, invalid_source},
};
use crate::{
    model::Millis,
    node::{Hosted, LoopCounters, Route},
};

/// Batches received between two calls of the housekeeping.
const RECEIVES_PER_WAKE: usize = 32;

/// Consecutive errors after which a socket is skipped until the next arrival.
const ERRORS_IN_A_ROW_MAX: u32 = 16;

/// Delay after which a frame counts as late.
const LATE: Millis = Millis(10);

/// Poll events handled at once.
const EVENTS_PER_WAKE: usize = 1024;

/// Maximum wait for room in the kernel's send queue on exit.
const EXIT_FLUSH: Duration = Duration::from_millis(250);

/// Maximum wait for standard output on exit.
const LAST_OUTPUT: Duration = Duration::from_secs(1);

/// Runs `node` on `sockets` until it finishes, and sends its last datagrams.
///
/// `sockets` must have at least as many ports as the node.
///
/// # Errors
/// System errors of the loop itself. An error of one peer never ends the loop.
pub fn run<N: Hosted + ?Sized>(
    node: &mut N,
    sockets: Sockets,
    clock: &Clock,
    mut options: Options<'_, N>,
) -> io::Result<RunSummary> {
    if sockets.len() < usize::from(node.local_ports()) {
        return Err(io::Error::new(
            io::ErrorKind::InvalidInput,
            format!("too few ports: {} (expected {})", sockets.len(), node.local_ports()),
        ));
    }
    let output = std::mem::take(&mut options.output);
    let mut engine = Loop::new(node, sockets, clock, output, options.count_interval)?;
    (engine.game_log, engine.recordings) = (options.game_log.take(), options.recordings.take());
    engine.game_folder = options.game_folder.take();
    #[cfg(feature = "server")]
    {
        engine.live = options.live.take();
    }
    let mut housekeeping = Housekeeping::start(options, &engine.poll, clock.now())?;
    let mut events = Events::with_capacity(EVENTS_PER_WAKE);
    engine.drain();
    let reason = loop {
        if engine.node.is_finished() {
            break ExitReason::Finished;
        }
        if housekeeping.is_grace_over(clock.now()) {
            log::warn!("node not finished within the grace time: stopped");
            break ExitReason::GraceOver;
        }
        let busy = housekeeping.is_busy() || !engine.readable.is_empty();
        engine.wait(&mut events, busy, housekeeping.due())?;
        if let Some(reason) = housekeeping.poll(&mut engine, &events) {
            break reason;
        }
        // Run overdue frames before receiving. Usercmds that arrived during a stall belong after it;
        // otherwise clients run ahead of the server time.
        if engine.is_behind_schedule() {
            engine.run_frame();
        }
        engine.receive();
        engine.run_frame();
    };
    engine.flush_on_exit(&mut events);
    // The reopener holds a sender of the game log, which ends with its last sender.
    drop(housekeeping);
    Ok(engine.finish(reason))
}

/// A node, its sockets and its clock.
pub(super) struct Loop<'a, N: ?Sized> {
    pub(super) node: &'a mut N,
    pub(super) clock: &'a Clock,
    poll: Poll,
    sockets: Sockets,
    received: ReceiveBatch,
    outgoing: SendBatch,
    /// Sockets that may have unread data, in the order of their turns.
    readable: VecDeque<usize>,
    /// `None` after it failed.
    output: Option<Box<dyn Write + 'a>>,
    /// The writer of `output` if it is standard output.
    stdout: Option<BackgroundWriter>,
    game_log: Option<GameLog>,
    recordings: Option<Recordings>,
    game_folder: Option<GameFolder>,
    #[cfg(feature = "server")]
    live: Option<super::live::LiveListener>,
    pub(super) counters: LoopCounters,
    rate_limited_warning: RateLimitedWarning,
    /// End of the current receive coalescing.
    coalesce_until: Millis,
    kernel_drops: KernelDrops,
}

impl<'a, N: Hosted + ?Sized> Loop<'a, N> {
    fn new(
        node: &'a mut N,
        sockets: Sockets,
        clock: &'a Clock,
        output: Output<'a>,
        count_interval: Millis,
    ) -> io::Result<Self> {
        let (output, stdout): (Box<dyn Write + 'a>, _) = match output {
            Output::Writer(writer) => (writer, None),
            Output::Stdout => {
                let report =
                    Box::new(|total| log::warn!("standard output blocked: {total} texts dropped"));
                let writer = BackgroundWriter::text("output", io::stdout(), report)?;
                (Box::new(writer.clone()), Some(writer))
            }
        };
        let mut this = Self {
            kernel_drops: KernelDrops::watch(&sockets.sockets, count_interval)?,
            received: ReceiveBatch::new(sockets.batching),
            outgoing: SendBatch::new(),
            readable: VecDeque::with_capacity(sockets.sockets.len()),
            sockets,
            poll: Poll::new()?,
            clock,
            node,
            output: Some(output),
            stdout,
            game_log: None,
            recordings: None,
            game_folder: None,
            #[cfg(feature = "server")]
            live: None,
            counters: LoopCounters::default(),
            rate_limited_warning: RateLimitedWarning::default(),
            coalesce_until: Millis(0),
        };
        for (number, socket) in &mut this.sockets.sockets {
            this.poll.registry().register(&mut socket.udp, Token(number), Interest::READABLE)?;
        }
        Ok(this)
    }

    /// Flushes the texts and ends the run.
    fn finish(mut self, reason: ExitReason) -> RunSummary {
        if let Some(stdout) = &self.stdout {
            stdout.wait(LAST_OUTPUT);
        }
        if let Some(log) = self.game_log.take() {
            log.finish();
        }
        if let Some(recordings) = self.recordings.take() {
            recordings.finish();
        }
        if let Some(mut folder) = self.game_folder.take() {
            while let Some(write) = self.node.poll_file_write() {
                folder.add(write);
            }
            folder.finish();
        }
        RunSummary { reason, counters: self.counters }
    }

    /// Sleeps until an event or the due time, and queues the sockets that are readable.
    fn wait(&mut self, events: &mut Events, busy: bool, due: Millis) -> io::Result<()> {
        self.sockets.run_associations(self.clock.now(), self.poll.registry());
        let next = self.node.next_frame().min(due).min(self.sockets.associations_due());
        let timeout = if busy {
            Some(Duration::ZERO)
        } else if self.coalesce_until > self.clock.now() {
            if let Some(rest) = self.clock.until(next.min(self.coalesce_until)) {
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
            if (event.is_readable() || event.is_error()) && !socket.is_queued {
                socket.is_queued = true;
                self.readable.push_back(number);
            }
        }
        Ok(())
    }

    /// Whether the next frame is late.
    fn is_behind_schedule(&self) -> bool {
        self.clock.now().since(self.node.next_frame()) > LATE
    }

    /// Runs a frame if one is due.
    fn run_frame(&mut self) {
        let now = self.clock.now();
        let due = self.node.next_frame();
        if due <= now && !self.node.is_finished() {
            let begun = Instant::now();
            self.node.frame(now);
            self.drain();
            // The first frame is due at time 0 and never late.
            self.counters.late_frames += u64::from(due > Millis(0) && now.since(due) > LATE);
            let took = u64::try_from(begun.elapsed().as_micros()).unwrap_or(u64::MAX);
            self.counters.record_frame(took);
        }
    }

    /// Receives from sockets in turn, one batch each, and runs a due frame after each batch.
    fn receive(&mut self) {
        for _ in 0..RECEIVES_PER_WAKE {
            if self.node.is_finished() {
                return;
            }
            let Some(number) = self.readable.pop_front() else { return };
            // A closed port may still be in the queue.
            let Some(socket) = self.sockets.sockets.get_mut(number) else { continue };
            let local = socket.local;
            let stays = match self.received.fill(&socket.udp, socket.family) {
                Ok(fill) => {
                    socket.errors_in_a_row = 0;
                    fill == ReceiveStatus::More
                }
                // Usually the error of an unreachable peer, which does not affect the next datagram.
                Err(error) => {
                    self.counters.receive_errors += 1;
                    socket.errors_in_a_row += 1;
                    log::debug!("port {} receive failed: {error}", local.0);
                    socket.errors_in_a_row < ERRORS_IN_A_ROW_MAX
                }
            };
            socket.is_queued = stays;
            if stays {
                self.readable.push_back(number);
            } else {
                socket.errors_in_a_row = 0;
            }
            let now = self.clock.now();
            self.coalesce_until = now + self.node.receive_coalescing();
            for (remote, bytes) in self.received.datagrams() {
                let Some((remote, bytes)) = self.sockets.unwrap_datagram(number, remote, bytes)
                else {
                    self.counters.bad_source += 1;
                    continue;
                };
                let reason = match (invalid_source(remote), bytes) {
                    (None, Some(bytes)) => {
                        self.counters.received += 1;
                        self.counters.received_bytes += bytes.len() as u64;
                        self.node.handle_datagram(now, Route { local, remote }, bytes);
                        collect(
                            self.node,
                            &mut self.sockets,
                            &mut self.outgoing,
                            &self.poll,
                            &mut self.counters,
                        );
                        continue;
                    }
                    (Some(reason), _) => {
                        self.counters.bad_source += 1;
                        reason
                    }
                    (None, None) => {
                        self.counters.oversize += 1;
                        "longer than any message of the protocol"
                    }
                };
                self.rate_limited_warning.about(now, remote, reason);
            }
            self.drain();
            self.run_frame();
        }
    }

    /// Updates the counters and hands them to the node.
    pub(super) fn update_counters(&mut self, now: Millis) {
        self.counters.kernel = self.kernel_drops.count();
        self.counters.log_dropped = logging::dropped_lines();
        self.counters.output_dropped = self.stdout.as_ref().map_or(0, BackgroundWriter::dropped);
        self.counters.game_log_dropped = self.game_log.as_ref().map_or(0, GameLog::dropped);
        self.node.set_loop_counters(now, &self.counters);
        self.drain();
    }

    /// Drains the node: datagrams, game log, recordings, live stream, console output.
    pub(super) fn drain(&mut self) {
        collect(self.node, &mut self.sockets, &mut self.outgoing, &self.poll, &mut self.counters);
        flush(&mut self.sockets, &mut self.outgoing, &self.poll, &mut self.counters);
        while let Some(port) = self.sockets.next_failed_port() {
            self.node.handle_port_failure(self.clock.now(), port);
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
    fn flush_on_exit(&mut self, events: &mut Events) {
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
fn collect<N: Hosted + ?Sized>(
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
