//! The loop that drives any node: waits, feeds it, drains it.
//!
//! Invariants: between two looks at the frame's due time lies at most one batch of datagrams, so that a
//! flood costs datagrams and never frames; between two looks at signals and the console lie at most
//! `RECEIVES_PER_WAKE` batches; the node is drained after every call into it; while nothing happens
//! the loop wakes once a frame; a datagram that comes alone is handled at once, one that follows others
//! waits for company as long as the node allows (waking costs more than receiving), but not past a frame. Sockets that still hold something when their turn ends stand in a queue,
//! for the poll reports each arrival once.

use std::{
    collections::VecDeque,
    io::{self, Write},
    time::{Duration, Instant},
};

use mio::{Events, Interest, Poll, Token, Waker};

use super::{
    background::BackgroundWriter,
    batch::{Fill, Inbox, Outgoing},
    clock::Clock,
    complaint::Complaint,
    console::{Console, Input, LINE_BYTES_MAX, LINES_WAITING_MAX, Lines},
    game_log::GameLog,
    kernel_drops::KernelDrops,
    logging,
    signals::{Request, Signals},
    socket::{Sockets, impossible_source},
};
use crate::{
    model::Millis,
    node::{Hosted, LoopCounters, Route},
};

/// Batches received before the loop looks at signals, the console and other sockets again.
const RECEIVES_PER_WAKE: usize = 32;

/// Errors in a row after which a socket is left alone until something arrives.
const ERRORS_IN_A_ROW_MAX: u32 = 16;

/// A frame that begins so long after it was due counts as late.
const LATE: Millis = Millis(10);

/// Events taken from the poll at once.
const EVENTS_PER_WAKE: usize = 1024;

/// How long the last datagrams may wait for room in the kernel's queue.
const FAREWELL: Duration = Duration::from_millis(250);

/// Longest wait for standard output to accept the last text.
const LAST_OUTPUT: Duration = Duration::from_secs(1);

const SIGNALS: Token = Token(usize::MAX - 1);
const CONSOLE: Token = Token(usize::MAX - 2);

/// Why the loop ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// The node finished.
    Finished,
    /// The node was asked to stop and did not finish within the grace time.
    GraceOver,
    /// A second signal came.
    Forced,
}

/// What came of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Summary {
    /// Why it ended.
    pub ending: Ending,
    /// What was counted.
    pub counters: LoopCounters,
}

/// Looks at the node while the loop runs: the node, the time, what was counted so far.
pub type Look<'a, N> = dyn FnMut(&N, Millis, &LoopCounters) + 'a;

/// Something to call while the loop runs.
pub struct Progress<'a, N: ?Sized> {
    /// Least time between two calls.
    pub interval: Millis,
    /// What to call.
    pub call: Box<Look<'a, N>>,
}

/// Destination of the node's text.
#[derive(Default)]
pub enum Output<'a> {
    /// Standard output, written by a thread: text that it does not accept is dropped and counted.
    #[default]
    Stdout,
    /// Any writer, called by the loop: one that waits holds up the node.
    Writer(Box<dyn Write + 'a>),
}

/// What a run may have besides the node. The default has no signals, no console, no deadline.
pub struct Options<'a, N: ?Sized> {
    /// The process's signals, if this run answers them.
    pub signals: Option<Signals>,
    /// Called on SIGHUP: reopen what was opened for writing.
    pub on_hangup: Option<Box<dyn FnMut() + 'a>>,
    /// Where console lines come from.
    pub console: Console,
    /// Where the node's text goes.
    pub output: Output<'a>,
    /// Where the log of the node's game goes; without it, nowhere.
    pub game_log: Option<GameLog>,
    /// Time between two tellings of the loop's counters to the node.
    pub count_interval: Millis,
    /// Called now and then.
    pub progress: Option<Progress<'a, N>>,
    /// When to stop the node.
    pub deadline: Millis,
    /// How long the node may take to finish once asked to stop.
    pub grace: Millis,
}

impl<N: ?Sized> Default for Options<'_, N> {
    fn default() -> Self {
        Self {
            signals: None,
            on_hangup: None,
            console: Console::Off,
            output: Output::default(),
            game_log: None,
            count_interval: Millis::NEVER,
            progress: None,
            deadline: Millis::NEVER,
            grace: Millis(4000),
        }
    }
}

/// Runs `node` on `sockets` until it finishes, and sends what it says last.
///
/// `sockets` must have as many ports as the node. An error is the system's, and about the loop itself: a
/// peer's fault never ends it.
pub fn run<N: Hosted + ?Sized>(
    node: &mut N,
    sockets: Sockets,
    clock: &Clock,
    options: Options<'_, N>,
) -> io::Result<Summary> {
    if sockets.len() < usize::from(node.local_ports()) {
        return Err(io::Error::new(
            io::ErrorKind::InvalidInput,
            format!("{} ports for a node of {}", sockets.len(), node.local_ports()),
        ));
    }
    let poll = Poll::new()?;
    let mut signals = options.signals;
    if let Some(signals) = &mut signals {
        signals.register(poll.registry(), SIGNALS)?;
    }
    let (output, stdout): (Box<dyn Write + '_>, _) = match options.output {
        Output::Writer(writer) => (writer, None),
        Output::Stdout => {
            let report =
                Box::new(|total| log::warn!("standard output was not read: {total} texts dropped"));
            let writer = BackgroundWriter::start("output", io::stdout(), report)?;
            (Box::new(writer.clone()), Some(writer))
        }
    };
    let lines = Lines::start(options.console, || Waker::new(poll.registry(), CONSOLE))?;
    let mut engine = Loop {
        kernel_drops: KernelDrops::watch(&sockets.sockets, options.count_interval)?,
        inbox: Inbox::new(sockets.batching),
        outgoing: Outgoing::new(),
        readable: VecDeque::with_capacity(sockets.sockets.len()),
        sockets,
        poll,
        clock,
        node,
        output: Some(output),
        stdout,
        game_log: options.game_log,
        counters: LoopCounters::default(),
        complaint: Complaint::default(),
        gather_until: Millis(0),
    };
    for (number, socket) in engine.sockets.sockets.iter_mut().enumerate() {
        engine.poll.registry().register(&mut socket.udp, Token(number), Interest::READABLE)?;
    }
    let mut guests = Guests {
        signals,
        on_hangup: options.on_hangup,
        lines,
        lines_left: false,
        next_progress: options
            .progress
            .as_ref()
            .map_or(Millis::NEVER, |progress| clock.now() + progress.interval),
        progress: options.progress,
        count_interval: options.count_interval,
        next_count: clock.now() + options.count_interval,
        deadline: options.deadline,
        grace: options.grace,
        stopping: None,
    };
    let mut events = Events::with_capacity(EVENTS_PER_WAKE);
    engine.drain();
    let ending = loop {
        if engine.node.is_finished() {
            break Ending::Finished;
        }
        if guests.stopping.is_some_and(|end| end <= clock.now()) {
            log::warn!("the node did not finish in time");
            break Ending::GraceOver;
        }
        let busy = guests.lines_left || !engine.readable.is_empty();
        engine.wait(&mut events, busy, guests.due())?;
        if let Some(ending) = guests.attend(&mut engine, &events) {
            break ending;
        }
        // What came in time belongs to the frame; what came while the loop was held up belongs to the time
        // after it, or players would be ahead of the level's clock.
        if engine.is_held_up() {
            engine.run_frame();
        }
        engine.receive();
        engine.run_frame();
    };
    engine.farewell(&mut events);
    if let Some(stdout) = &engine.stdout {
        stdout.wait(LAST_OUTPUT);
    }
    // The one that reopens the log goes first: it holds the log open.
    drop(guests);
    if let Some(log) = engine.game_log.take() {
        log.finish();
    }
    Ok(Summary { ending, counters: engine.counters })
}

/// The node between its sockets and its clock.
struct Loop<'a, N: ?Sized> {
    node: &'a mut N,
    clock: &'a Clock,
    poll: Poll,
    sockets: Sockets,
    inbox: Inbox,
    outgoing: Outgoing,
    /// Sockets that may hold something, in the order of their turns.
    readable: VecDeque<usize>,
    /// Gone once it failed.
    output: Option<Box<dyn Write + 'a>>,
    /// The same, if it is standard output.
    stdout: Option<BackgroundWriter>,
    game_log: Option<GameLog>,
    counters: LoopCounters,
    complaint: Complaint,
    /// Until when datagrams may wait, for others were received just now.
    gather_until: Millis,
    kernel_drops: KernelDrops,
}

impl<N: Hosted + ?Sized> Loop<'_, N> {
    /// Sleeps until something happens or is due, and notes which sockets it happened to.
    fn wait(&mut self, events: &mut Events, busy: bool, due: Millis) -> io::Result<()> {
        let next = self.node.next_frame().min(due);
        let timeout = if busy {
            Some(Duration::ZERO)
        } else if self.gather_until > self.clock.now() {
            if let Some(rest) = self.clock.until(next.min(self.gather_until)) {
                std::thread::sleep(rest);
            }
            Some(Duration::ZERO)
        } else {
            // The poll rounds up to whole milliseconds where it must, so it is never early, and the
            // last millisecond is slept, not spun.
            self.clock.until(next)
        };
        match self.poll.poll(events, timeout) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            result => result?,
        }
        self.counters.wakes += 1;
        for event in events.iter() {
            let Token(number) = event.token();
            let Some(socket) = self.sockets.sockets.get_mut(number) else { continue };
            if event.is_writable() {
                let poll = (self.poll.registry(), event.token());
                socket.send_waiting(poll, &mut self.counters);
            }
            // An error is taken up by reading, too.
            if (event.is_readable() || event.is_error()) && !socket.is_queued {
                socket.is_queued = true;
                self.readable.push_back(number);
            }
        }
        Ok(())
    }

    /// Whether a frame should have begun a while ago.
    fn is_held_up(&self) -> bool {
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
            // The first frame is due since the beginning of time.
            self.counters.late_frames += u64::from(due > Millis(0) && now.since(due) > LATE);
            let took = u64::try_from(begun.elapsed().as_micros()).unwrap_or(u64::MAX);
            self.counters.note_frame(took);
        }
    }

    /// Reads from sockets in turn, a batch each, with a look at the frame after each.
    fn receive(&mut self) {
        for _ in 0..RECEIVES_PER_WAKE {
            if self.node.is_finished() {
                return;
            }
            let Some(number) = self.readable.pop_front() else { return };
            let socket = &mut self.sockets.sockets[number];
            let local = socket.local;
            let stays = match self.inbox.fill(&socket.udp, socket.family) {
                Ok(fill) => {
                    socket.errors_in_a_row = 0;
                    fill == Fill::More
                }
                // An unreachable peer's error, usually, which says nothing about the next datagram.
                Err(error) => {
                    self.counters.receive_errors += 1;
                    socket.errors_in_a_row += 1;
                    log::debug!("receiving on port {}: {error}", local.0);
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
            self.gather_until = now + self.node.receive_coalescing();
            for (remote, bytes) in self.inbox.datagrams() {
                let reason = match (impossible_source(remote), bytes) {
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
                        "longer than any message"
                    }
                };
                self.complaint.about(now, remote, reason);
            }
            self.drain();
            self.run_frame();
        }
    }

    /// Tells the node what was counted.
    fn tell_counters(&mut self, now: Millis) {
        self.counters.kernel = self.kernel_drops.count();
        self.counters.log_dropped = logging::dropped_lines();
        self.counters.output_dropped = self.stdout.as_ref().map_or(0, BackgroundWriter::dropped);
        self.counters.game_log_dropped = self.game_log.as_ref().map_or(0, GameLog::dropped);
        self.node.set_loop_counters(now, &self.counters);
        self.drain();
    }

    /// Sends and prints all that the node has.
    fn drain(&mut self) {
        collect(self.node, &mut self.sockets, &mut self.outgoing, &self.poll, &mut self.counters);
        flush(&mut self.sockets, &mut self.outgoing, &self.poll, &mut self.counters);
        while let Some(lines) = self.node.poll_game_log() {
            if let Some(log) = &mut self.game_log {
                log.add(lines);
            }
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

    /// Sends the last words, waiting a little for room.
    fn farewell(&mut self, events: &mut Events) {
        self.drain();
        let end = self.clock.now() + Millis(u64::try_from(FAREWELL.as_millis()).unwrap_or(0));
        while self.clock.now() < end
            && self.sockets.sockets.iter().any(|socket| socket.is_waiting())
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

/// Takes the node's datagrams into batches, and sends those that are full or for another socket.
fn collect<N: Hosted + ?Sized>(
    node: &mut N,
    sockets: &mut Sockets,
    outgoing: &mut Outgoing,
    poll: &Poll,
    counters: &mut LoopCounters,
) {
    while let Some(route) = node.poll_transmit(outgoing.next_slot()) {
        let Some((number, remote)) = sockets.way(route) else {
            counters.no_way += 1;
            continue;
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

/// Sends the batch.
fn flush(sockets: &mut Sockets, outgoing: &mut Outgoing, poll: &Poll, counters: &mut LoopCounters) {
    if outgoing.len() == 0 {
        return;
    }
    let (datagrams, to) = outgoing.datagrams();
    let batching = sockets.batching;
    let poll = (poll.registry(), Token(outgoing.socket));
    sockets.sockets[outgoing.socket].send(datagrams, to, batching, poll, counters);
    outgoing.sent();
}

/// Everybody but the peers who may want something of the loop.
struct Guests<'a, N: ?Sized> {
    signals: Option<Signals>,
    on_hangup: Option<Box<dyn FnMut() + 'a>>,
    lines: Option<Lines>,
    /// Whether lines may wait that no event will tell of.
    lines_left: bool,
    progress: Option<Progress<'a, N>>,
    next_progress: Millis,
    count_interval: Millis,
    next_count: Millis,
    deadline: Millis,
    grace: Millis,
    /// Once asked to stop: when patience ends.
    stopping: Option<Millis>,
}

impl<N: Hosted + ?Sized> Guests<'_, N> {
    /// When the first of them is due.
    fn due(&self) -> Millis {
        let end = self.stopping.unwrap_or(self.deadline);
        self.next_progress.min(self.next_count).min(end)
    }

    /// Does what they want; how the loop ends, if at once.
    fn attend(&mut self, engine: &mut Loop<'_, N>, events: &Events) -> Option<Ending> {
        let mut requests = [None; 4];
        for event in events.iter() {
            match event.token() {
                SIGNALS => {
                    let pending = self.signals.iter_mut().flat_map(Signals::pending);
                    requests.iter_mut().zip(pending).for_each(|(to, from)| *to = Some(from));
                }
                CONSOLE => self.lines_left = true,
                _ => {}
            }
        }
        for request in requests.into_iter().flatten() {
            if let Some(ending) = self.answer(engine, request) {
                return Some(ending);
            }
        }
        if self.lines_left {
            self.read_lines(engine);
        }
        let now = engine.clock.now();
        if self.stopping.is_none() && self.deadline <= now {
            self.stop(engine, "Time is up");
        }
        if self.next_count <= now {
            engine.tell_counters(now);
            self.next_count = now + self.count_interval;
        }
        if self.next_progress <= now
            && let Some(progress) = &mut self.progress
        {
            (progress.call)(engine.node, now, &engine.counters);
            self.next_progress = now + progress.interval.max(Millis(1));
        }
        None
    }

    fn answer(&mut self, engine: &mut Loop<'_, N>, request: Request) -> Option<Ending> {
        match request {
            Request::Stop(_) if self.stopping.is_some() => return Some(Ending::Forced),
            Request::Stop(signal) => {
                log::info!("received signal {signal}");
                self.stop(engine, &format!("Received signal {signal}"));
            }
            Request::Hangup => match &mut self.on_hangup {
                Some(call) => call(),
                None => log::info!("received SIGHUP: no file to reopen"),
            },
        }
        None
    }

    fn stop(&mut self, engine: &mut Loop<'_, N>, reason: &str) {
        let now = engine.clock.now();
        self.stopping = Some(now + self.grace);
        engine.node.stop(now, reason);
        engine.drain();
    }

    fn read_lines(&mut self, engine: &mut Loop<'_, N>) {
        for _ in 0..LINES_WAITING_MAX {
            let Some(input) = self.lines.as_ref().and_then(Lines::next) else {
                self.lines_left = false;
                return;
            };
            match input {
                Input::Line(line) => engine.node.handle_console_line(engine.clock.now(), &line),
                Input::TooLong => {
                    log::warn!("a console line of more than {LINE_BYTES_MAX} bytes was not run");
                }
            }
            engine.drain();
        }
    }
}
