//! Event loop: drives a node with real sockets and a real clock.
//!
//! Invariants:
//! - The node is drained after every call into it, and its time never goes back.
//! - An idle loop wakes once per frame.

mod output;
mod receiving;
#[cfg(test)]
mod tests;

use std::{
    io::{self, IsTerminal as _, Write},
    time::{Duration, Instant},
};

use mio::{Events, Interest, Poll, Token};

use self::receiving::Receiving;
#[cfg(unix)]
use super::stop_watch::StopWatch;
use super::{
    background::BackgroundWriter,
    batch::SendBatch,
    clock::Clock,
    game_folder::GameFolder,
    game_log::GameLog,
    housekeeping::Housekeeping,
    kernel_drops::KernelDrops,
    logging,
    rate_limited_warning::RateLimitedWarning,
    recordings::Recordings,
    run_options::{ConsoleOutput, ExitReason, Options, RunSummary},
    screen::Screen,
    slow_runs::{self, SlowRuns},
    socket::Sockets,
};
use crate::{
    model::Millis,
    node::{Hosted, Input, Lookup, LoopCounters, Output, OutputKind},
};

/// Delay after which a frame counts as late.
const LATE: Millis = Millis(10);

/// Poll events handled at once.
const EVENTS_PER_WAKE: usize = 1024;

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
    (engine.game_log, engine.audit_log) = (options.game_log.take(), options.audit_log.take());
    engine.recordings = options.recordings.take();
    engine.game_folder = options.game_folder.take();
    #[cfg(feature = "server")]
    {
        engine.live = options.live.take();
    }
    #[cfg(unix)]
    if options.signals.is_some() {
        engine.stop_watch.end(engine.node.runs_foreign_code(), engine.node.drain_line().is_some());
        engine.stop_watch.start()?;
    }
    let mut housekeeping = Housekeeping::start(options, &engine.poll, clock.now())?;
    let mut events = Events::with_capacity(EVENTS_PER_WAKE);
    engine.drain();
    // A script that waits for the first answer then reads the log of the start.
    logging::end_gathering();
    housekeeping.begin(&engine, clock.now());
    let reason = loop {
        if engine.node.is_finished() {
            break ExitReason::Finished;
        }
        if housekeeping.is_grace_over(clock.now()) {
            log::warn!("node not finished within the grace time: stopped");
            break ExitReason::GraceOver;
        }
        engine.wait(&mut events, housekeeping.is_busy(), housekeeping.due())?;
        let begun = engine.begin_wakeup();
        // First, because later calls into the node are later than the arrivals.
        engine.receive();
        if let Some(reason) = housekeeping.poll(&mut engine, &events) {
            engine.end_wakeup(begun);
            break reason;
        }
        engine.run_frame();
        engine.end_wakeup(begun);
    };
    engine.flush_on_exit(&mut events);
    // The reopener holds a sender of the game log, which ends with its last sender.
    housekeeping.finish();
    Ok(engine.finish(reason))
}

/// A node, its sockets and its clock.
pub(super) struct Loop<'a, N: ?Sized> {
    pub(super) node: &'a mut N,
    pub(super) clock: &'a Clock,
    poll: Poll,
    sockets: Sockets,
    receiving: Receiving,
    outgoing: SendBatch,
    /// `None` after it failed.
    output: Option<Box<dyn Write + 'a>>,
    /// The writer of `output` if it is standard output.
    stdout: Option<BackgroundWriter>,
    game_log: Option<GameLog>,
    audit_log: Option<GameLog>,
    recordings: Option<Recordings>,
    game_folder: Option<GameFolder>,
    #[cfg(feature = "server")]
    live: Option<super::live::LiveListener>,
    /// Names that the node asked for.
    pub(super) asked: Vec<Lookup>,
    pub(super) counters: LoopCounters,
    rate_limited_warning: RateLimitedWarning,
    /// Time of the last call into the node.
    latest: Millis,
    kernel_drops: KernelDrops,
    slow_runs: SlowRuns,
    #[cfg(unix)]
    stop_watch: StopWatch,
}

impl<'a, N: Hosted + ?Sized> Loop<'a, N> {
    fn new(
        node: &'a mut N,
        sockets: Sockets,
        clock: &'a Clock,
        output: ConsoleOutput<'a>,
        count_interval: Millis,
    ) -> io::Result<Self> {
        let (output, stdout): (Box<dyn Write + 'a>, _) = match output {
            ConsoleOutput::Writer(writer) => (writer, None),
            ConsoleOutput::Stdout => {
                let report =
                    Box::new(|total| log::warn!("standard output blocked: {total} texts dropped"));
                let screen = Screen::output(io::stdout(), io::stdout().is_terminal());
                let writer = BackgroundWriter::text("output", screen, None, report)?;
                (Box::new(writer.clone()), Some(writer))
            }
        };
        let mut this = Self {
            kernel_drops: KernelDrops::watch(&sockets.sockets, count_interval)?,
            receiving: Receiving::new(&sockets),
            outgoing: SendBatch::new(),
            sockets,
            poll: Poll::new()?,
            clock,
            node,
            output: Some(output),
            stdout,
            game_log: None,
            audit_log: None,
            recordings: None,
            game_folder: None,
            #[cfg(feature = "server")]
            live: None,
            asked: Vec::new(),
            counters: LoopCounters::default(),
            rate_limited_warning: RateLimitedWarning::default(),
            latest: Millis(0),
            slow_runs: SlowRuns::default(),
            #[cfg(unix)]
            stop_watch: StopWatch::default(),
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
        for log in [self.game_log.take(), self.audit_log.take()].into_iter().flatten() {
            log.finish();
        }
        if let Some(recordings) = self.recordings.take() {
            recordings.finish();
        }
        if let Some(mut folder) = self.game_folder.take() {
            while let Some(Output::FileWrite(write)) = self.node.poll_output(OutputKind::FileWrite)
            {
                folder.add(write);
            }
            folder.finish();
        }
        RunSummary { reason, counters: self.counters }
    }

    /// Returns the time of a call into the node, which no later call precedes.
    pub(super) fn now(&mut self) -> Millis {
        self.latest = self.latest.max(self.clock.now());
        self.latest
    }

    /// Runs a frame if one is due.
    fn run_frame(&mut self) {
        let now = self.now();
        let due = self.node.next_frame();
        if due <= now && !self.node.is_finished() {
            let begun = Instant::now();
            self.node.frame(now);
            self.drain();
            // The first frame is due at time 0 and never late.
            let late = if due > Millis(0) { now.since(due) } else { Millis(0) };
            self.counters.late_frames += u64::from(late > LATE);
            self.counters.record_lateness(late.0);
            let took = u64::try_from(begun.elapsed().as_micros()).unwrap_or(u64::MAX);
            self.counters.record_frame(took);
        }
    }

    /// Records that calls into the node begin. Returns the time.
    fn begin_wakeup(&self) -> slow_runs::Begin {
        #[cfg(unix)]
        self.stop_watch.begin();
        slow_runs::Begin::now()
    }

    /// Records the duration of a wake-up, and whether the node may hold the next one.
    fn end_wakeup(&mut self, begun: slow_runs::Begin) {
        self.counters.slow_runs += u64::from(self.slow_runs.record(begun));
        #[cfg(unix)]
        self.stop_watch.end(self.node.runs_foreign_code(), self.node.drain_line().is_some());
    }

    /// Updates the counters and hands them to the node.
    pub(super) fn update_counters(&mut self) {
        self.counters.kernel = self.kernel_drops.count();
        self.counters.log_dropped = logging::dropped_lines();
        self.counters.output_dropped = self.stdout.as_ref().map_or(0, BackgroundWriter::dropped);
        self.counters.game_log_dropped = self.game_log.as_ref().map_or(0, GameLog::dropped);
        let now = self.now();
        self.node.handle_input(now, Input::LoopCounters(&self.counters));
        self.drain();
    }
}
