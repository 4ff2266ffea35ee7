//! Broadcast node: drives source, delay and relay state.
//!
//! Local port 0 is that of the viewers, port 1 that of the source if it has one.

use std::rc::Rc;

use super::{
    console,
    delay::DelayLine,
    options::BroadcastOptions,
    send::{BUSY_TICK, TICK},
    source::{Control, Sink, Source},
    state::{BroadcastCounts, RelayState},
};
use crate::{
    bans::Moderated as _,
    model::{ConfigIndex, Millis, UnixMillis, state_folder::StateFolder, text},
    node::{Completion, Hosted, Input, LocalPort, Node, NodeState, Output, OutputKind, Route},
    observe::Counters,
    serving::{
        connection::{Service as _, check_timeouts, disconnect_all, receive},
        guards::GuardKeys,
    },
};

/// Port of the source.
const SOURCE_PORT: LocalPort = LocalPort(1);
/// Longest server name of a source, in bytes.
const MAX_SOURCE_NAME_LEN: usize = 72;
/// Node that shows one source to many viewers.
pub struct Broadcast<'a> {
    source: Box<dyn Source + 'a>,
    state: RelayState,
    delay: Option<DelayLine>,
    /// Time of the next tick: timeouts, budgets, name.
    tick_due: Millis,
    /// Time of the next send pass.
    send_due: Millis,
    finished: bool,
}

impl<'a> Broadcast<'a> {
    /// Creates the node. `entropy` are bytes of the operating system's random source.
    ///
    /// # Panics
    /// Never: the keys are parts of fixed length.
    #[must_use]
    pub fn new(source: Box<dyn Source + 'a>, options: BroadcastOptions, entropy: [u8; 32]) -> Self {
        let (key, rest) = entropy.split_at(16);
        let (limits, feed) = rest.split_at(8);
        let challenges = key.try_into().expect("sixteen bytes");
        let limits = u64::from_le_bytes(limits.try_into().expect("eight bytes"));
        let feed = i32::from_le_bytes(feed[..4].try_into().expect("four bytes"));
        let delay = (options.delay > Millis(0)).then(|| DelayLine::new(options.delay));
        Self {
            source,
            state: RelayState::new(options, GuardKeys { challenges, limits }, feed),
            delay,
            tick_due: Millis(0),
            send_due: Millis(0),
            finished: false,
        }
    }

    /// Reads bans and mutes from a folder, which takes their changes from now on. `began` is the calendar time at the zero of
    /// the clock.
    pub fn keep_bans(&mut self, folder: Option<Rc<dyn StateFolder>>, began: UnixMillis) {
        self.state.began = began;
        let now = self.state.calendar();
        self.state.bans.attach(folder, now);
    }

    /// Counters since the start.
    #[must_use]
    pub fn counts(&self) -> BroadcastCounts {
        self.state.counts()
    }

    /// Counters of connections since the start, as a server has them.
    #[must_use]
    pub fn counters(&self) -> &Counters {
        self.state.stats.counters()
    }

    /// Number of connected viewers.
    #[must_use]
    pub fn viewers(&self) -> usize {
        self.state.viewers.present().count()
    }

    /// Source of the broadcast.
    #[must_use]
    pub fn source(&self) -> &(dyn Source + 'a) {
        &*self.source
    }

    /// Checks the internal consistency, for simulations.
    ///
    /// # Errors
    /// A sentence with the violated invariant.
    pub fn check_invariants(&self) -> Result<(), String> {
        self.state.viewers.check_invariants()?;
        self.state.current.ring().check_invariants()
    }

    /// Calls `run` with the source and the sink of its output.
    fn with_sink(&mut self, now: Millis, run: impl FnOnce(&mut dyn Source, &mut dyn Sink)) {
        let Self { source, state, delay, .. } = self;
        let frames = state.counts.frames;
        match delay {
            None => run(&mut **source, state),
            Some(delay) => {
                delay.set_now(now);
                run(&mut **source, delay);
                delay.release(state);
            }
        }
        if state.counts.frames != frames {
            self.send_due = now;
        }
    }

    /// Passes requests of viewers and operator to the source.
    fn run_requests(&mut self) {
        let now = self.state.now;
        self.state.continue_without_pauser();
        for (key, control) in std::mem::take(&mut self.state.requests) {
            let answer = self.source.control(now, control);
            let Self { state, source, .. } = self;
            match (answer, key) {
                (Ok(done), _) => {
                    if let Some(timeline) = source.timeline()
                        && matches!(control, Control::Speed(_))
                        && state.current.set_timescale(timeline.speed)
                    {
                        state.send_configstring(ConfigIndex::SYSTEMINFO);
                    }
                    if control == Control::Pause {
                        let is_paused = source.timeline().is_some_and(|time| time.is_paused);
                        let pauser = key.filter(|_| is_paused);
                        let by = state.entered().find(|(_, viewer)| Some(*viewer) == pauser);
                        state.paused_by = by;
                    }
                    log::info!("{}", text::escaped(done.as_bytes()));
                    state.proclaim(&done);
                }
                (Err(reason), Some(key)) => state.tell(key, &reason),
                (Err(reason), None) => state.print_line(reason),
            }
        }
        let Self { state, source, .. } = self;
        if std::mem::take(&mut state.scores_wanted) && !source.request_scores(now) {
            state.send_known_scores();
        }
    }

    fn tick(&mut self) {
        let Self { state, source, .. } = self;
        state.connections().begin_frame(TICK);
        state.has_timeline = source.timeline().is_some();
        let hostname = state
            .options
            .hostname
            .clone()
            .unwrap_or_else(|| text::truncated(&source.name(), MAX_SOURCE_NAME_LEN).to_owned());
        if state.current.set_hostname(&hostname) {
            state.send_configstring(ConfigIndex::SERVERINFO);
        }
        state.connections().resend_connect_responses();
        check_timeouts(state);
        state.bans.save(state.now);
    }

    /// Disconnects all viewers and ends.
    fn stop(&mut self, now: Millis, reason: &str) {
        if self.finished {
            return;
        }
        self.state.now = now;
        self.source.stop(now);
        disconnect_all(&mut self.state, reason);
        for key in self.state.viewers.keys() {
            self.state.drop_viewer(key, reason);
        }
        self.finished = true;
    }
}

impl Node for Broadcast<'_> {
    fn handle_datagram(&mut self, now: Millis, route: Route, bytes: &[u8]) {
        self.state.now = now;
        if route.local == SOURCE_PORT {
            self.with_sink(now, |source, sink| {
                source.handle_datagram(now, route.remote, bytes, sink);
            });
        } else {
            receive(&mut self.state, route, bytes);
        }
    }

    fn expect_datagram(&self, _: &[u8]) {}

    fn frame(&mut self, now: Millis) {
        self.state.now = now;
        if self.finished {
            return;
        }
        self.with_sink(now, |source, sink| source.advance(now, sink));
        self.run_requests();
        if now >= self.tick_due {
            self.tick();
            self.tick_due = now + TICK;
        }
        if now >= self.send_due {
            let is_busy = self.state.send_pass();
            self.send_due = now + if is_busy { BUSY_TICK } else { TICK };
        }
        if let Some(reason) = console::step_drain(&mut self.state) {
            return self.stop(now, &reason);
        }
        if self.source.is_finished() {
            let reason = self.source.failure().unwrap_or("The demo has ended.").to_owned();
            self.stop(now, &reason);
        }
    }

    fn next_frame(&self) -> Millis {
        let has_requests = !self.state.requests.is_empty() || self.state.scores_wanted;
        if self.finished {
            return Millis::NEVER;
        }
        if has_requests {
            return self.state.now;
        }
        let delayed = self.delay.as_ref().map_or(Millis::NEVER, DelayLine::next_due);
        self.source.next_due().min(self.tick_due).min(self.send_due).min(delayed)
    }

    fn poll_transmit(&mut self, packet: &mut Vec<u8>) -> Option<Route> {
        if let Some(remote) = self.source.poll_transmit(packet) {
            return Some(Route::new(SOURCE_PORT, remote));
        }
        self.state.outbox.pop(packet)
    }

    fn is_finished(&self) -> bool {
        self.finished
    }
}

impl Hosted for Broadcast<'_> {
    fn handle_input(&mut self, now: Millis, input: Input<'_>) {
        match input {
            Input::ConsoleLine(line) => {
                self.state.now = now;
                if console::run(&mut self.state, &*self.source, line) {
                    self.stop(now, "Server quit");
                }
            }
            Input::Stop(reason) => self.stop(now, reason),
            // Invalid like an empty one.
            Input::Oversize(route) if route.local == SOURCE_PORT => {
                self.handle_datagram(now, route, &[]);
            }
            Input::Calendar(to) => {
                let state = &mut self.state;
                state.now = now;
                let before = state.calendar();
                state.began = UnixMillis(to.0.saturating_sub(now.0));
                state.bans.set_calendar(before, to.0 / 1000);
            }
            Input::LoopCounters(_)
            | Input::Lookup(_)
            | Input::PortFailed(_)
            | Input::Oversize(_) => {}
        }
    }

    fn poll_output(&mut self, kind: OutputKind) -> Option<Output> {
        if kind == OutputKind::Console {
            self.state.console.pop_front().map(Output::Console)
        } else {
            None
        }
    }

    fn complete(&self, line: &str) -> Completion {
        console::candidates(&self.state, line)
    }

    fn state(&self) -> NodeState {
        console::node_state(&self.state)
    }

    fn drain_line(&self) -> Option<&'static str> {
        let drains = self.state.options.drain_time > Millis(0) && !self.state.drain.is_on();
        drains.then_some("drain")
    }

    fn local_ports(&self) -> u16 {
        1 + u16::from(self.source.has_port())
    }

    fn receive_coalescing(&self) -> Millis {
        // Usercmds of viewers have no effect on what is shown.
        Millis(10)
    }
}
