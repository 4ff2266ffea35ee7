//! Housekeeping of the event loop: signals, console lines, name lookups, timers, shutdown.
//!
//! Invariant: one call handles a bounded number of signals and console lines.

use std::{io, sync::Arc};

use mio::{Events, Poll, Token, Waker};

#[cfg(unix)]
use super::service_manager::ServiceManager;
use super::{
    calendar_watch::CalendarWatch,
    console::{ConsoleInput, ConsoleRequest, LINE_BYTES_MAX, LINES_WAITING_MAX, Lines},
    event_loop::Loop,
    lookups::Lookups,
    run_options::{ExitReason, Options, Progress},
    signals::{Request, Signals},
};
use crate::{
    model::Millis,
    node::{Hosted, Input},
};

const SIGNALS: Token = Token(usize::MAX - 1);
/// Threads of the console and of name lookups. A poll has one waker.
const THREADS: Token = Token(usize::MAX - 2);

/// Signals, console, timers and shutdown of a run.
pub(super) struct Housekeeping<'a, N: ?Sized> {
    signals: Option<Signals>,
    on_hangup: Option<Box<dyn FnMut() -> Vec<String> + 'a>>,
    lines: Option<Lines>,
    lookups: Lookups,
    /// Kept alive: dropping it with a thread would lose pending wake-ups.
    _waker: Arc<Waker>,
    /// Whether lines may be queued for which no event will arrive.
    lines_left: bool,
    progress: Option<Progress<'a, N>>,
    next_progress: Millis,
    count_interval: Millis,
    next_count: Millis,
    calendar: CalendarWatch,
    deadline: Millis,
    grace: Millis,
    /// End of the grace time once a stop was requested.
    stopping: Option<Millis>,
    #[cfg(unix)]
    service_manager: Option<ServiceManager>,
}

impl<'a, N: Hosted + ?Sized> Housekeeping<'a, N> {
    /// Registers signals and console.
    pub(super) fn start(options: Options<'a, N>, poll: &Poll, now: Millis) -> io::Result<Self> {
        let mut signals = options.signals;
        if let Some(signals) = &mut signals {
            signals.register(poll.registry(), SIGNALS)?;
        }
        let waker = Arc::new(Waker::new(poll.registry(), THREADS)?);
        let lines = Lines::start(options.console, options.console_socket, &waker)?;
        let progress = options.progress;
        #[cfg(unix)]
        let service_manager = if signals.is_some() { ServiceManager::start()? } else { None };
        Ok(Self {
            #[cfg(unix)]
            service_manager,
            signals,
            on_hangup: options.on_hangup,
            lines,
            lookups: Lookups::new(Arc::clone(&waker)),
            _waker: waker,
            lines_left: false,
            next_progress: progress.as_ref().map_or(Millis::NEVER, |one| now + one.first),
            progress,
            count_interval: options.count_interval,
            next_count: now + options.count_interval,
            calendar: CalendarWatch::start(now),
            deadline: options.deadline,
            grace: options.grace,
            stopping: None,
        })
    }

    /// Tells monitors and the service manager that the node serves.
    pub(super) fn begin(&mut self, engine: &Loop<'_, N>, now: Millis) {
        self.report_progress(engine, now);
        #[cfg(unix)]
        self.service_manager.iter().for_each(ServiceManager::ready);
    }

    /// Tells the service manager that the node has ended.
    pub(super) fn finish(self) {
        #[cfg(unix)]
        self.service_manager.into_iter().for_each(ServiceManager::finish);
    }

    /// Time at which the service manager is told the state.
    fn report_due(&self) -> Millis {
        #[cfg(unix)]
        return self.service_manager.as_ref().map_or(Millis::NEVER, ServiceManager::due);
        #[cfg(not(unix))]
        Millis::NEVER
    }

    /// Whether console lines may be waiting.
    pub(super) const fn is_busy(&self) -> bool {
        self.lines_left
    }

    /// Whether a stop was requested and its grace time is over.
    pub(super) fn is_grace_over(&self, now: Millis) -> bool {
        self.stopping.is_some_and(|end| end <= now)
    }

    /// Returns the due time of the next timer.
    pub(super) fn due(&self) -> Millis {
        let end = self.stopping.unwrap_or(self.deadline);
        self.next_progress.min(self.next_count).min(self.report_due()).min(end)
    }

    /// Handles signals, console lines and due timers. Returns why the loop ends, if it does.
    pub(super) fn poll(&mut self, engine: &mut Loop<'_, N>, events: &Events) -> Option<ExitReason> {
        let mut requests = [None; 4];
        for event in events.iter() {
            match event.token() {
                SIGNALS => {
                    let pending = self.signals.iter_mut().flat_map(Signals::pending);
                    requests.iter_mut().zip(pending).for_each(|(to, from)| *to = Some(from));
                }
                THREADS => {
                    self.lines_left = self.lines.is_some();
                    self.take_answers(engine);
                }
                _ => {}
            }
        }
        for request in requests.into_iter().flatten() {
            if let Some(reason) = self.handle_signal(engine, request) {
                return Some(reason);
            }
        }
        if self.lines_left {
            self.read_lines(engine);
        }
        for lookup in std::mem::take(&mut engine.asked) {
            self.lookups.ask(lookup);
        }
        let now = engine.clock.now();
        if self.stopping.is_none() && self.deadline <= now {
            self.stop(engine, "Time is up");
        }
        if let Some(at) = self.calendar.poll(now) {
            engine.node.handle_input(now, Input::Calendar(at));
            engine.drain();
        }
        if self.next_count <= now {
            engine.update_counters();
            self.next_count = now + self.count_interval;
        }
        #[cfg(unix)]
        if let Some(manager) = &mut self.service_manager {
            manager.report(now, || engine.node.state());
        }
        self.report_progress(engine, now);
        None
    }

    /// Calls the progress callback if it is due.
    fn report_progress(&mut self, engine: &Loop<'_, N>, now: Millis) {
        if self.next_progress <= now
            && let Some(progress) = &mut self.progress
        {
            (progress.call)(engine.node, now, &engine.counters);
            self.next_progress = now + progress.interval.max(Millis(1));
        }
    }

    fn handle_signal(&mut self, engine: &mut Loop<'_, N>, request: Request) -> Option<ExitReason> {
        match request {
            Request::Stop(_) | Request::Terminate(_) if self.stopping.is_some() => {
                return Some(ExitReason::Forced);
            }
            Request::Terminate(signal) if engine.node.drain_line().is_some() => {
                let line = engine.node.drain_line().unwrap_or_default();
                log::info!("received signal {signal}: {line}");
                if let Some(signals) = &self.signals {
                    signals.rearm();
                }
                run_line(engine, line);
            }
            Request::Stop(signal) | Request::Terminate(signal) => {
                log::info!("received signal {signal}");
                self.stop(engine, &format!("Received signal {signal}"));
            }
            Request::Hangup => {
                #[cfg(unix)]
                self.service_manager.iter().for_each(ServiceManager::reloading);
                match &mut self.on_hangup {
                    Some(call) => call().iter().for_each(|line| run_line(engine, line)),
                    None => log::info!("received SIGHUP: no file to reopen"),
                }
                let now = engine.now();
                self.begin(engine, now);
            }
        }
        None
    }

    fn stop(&mut self, engine: &mut Loop<'_, N>, reason: &str) {
        let now = engine.now();
        self.stopping = Some(now + self.grace);
        engine.node.handle_input(now, Input::Stop(reason));
        engine.drain();
    }

    /// Hands the answers of lookups to the node. A node asks for few names, so there are few answers.
    fn take_answers(&mut self, engine: &mut Loop<'_, N>) {
        while let Some(answer) = self.lookups.next() {
            let now = engine.now();
            engine.node.handle_input(now, Input::Lookup(&answer));
            engine.drain();
        }
    }

    fn read_lines(&mut self, engine: &mut Loop<'_, N>) {
        for _ in 0..LINES_WAITING_MAX {
            let Some(request) = self.lines.as_ref().and_then(Lines::next) else {
                self.lines_left = false;
                return;
            };
            match request {
                ConsoleRequest::Complete(line, reply) => {
                    // The thread may have lost its patience.
                    let _ = reply.try_send(engine.node.complete(&line));
                }
                ConsoleRequest::Input(ConsoleInput::Line(line)) => {
                    run_line(engine, &line);
                }
                ConsoleRequest::Input(ConsoleInput::TooLong) => {
                    log::warn!("console line too long: ignored (max {LINE_BYTES_MAX} bytes)");
                }
            }
        }
    }
}

/// Hands a console line to the node.
fn run_line<N: Hosted + ?Sized>(engine: &mut Loop<'_, N>, line: &str) {
    let now = engine.now();
    engine.node.handle_input(now, Input::ConsoleLine(line));
    engine.drain();
}
