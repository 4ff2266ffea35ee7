//! Browser that prints a report at the end of each round.

use crate::{
    model::Millis,
    node::{Hosted, LoopCounters, Node, Route},
};

use super::{
    node::Browser,
    report::{self, Changes, Selection},
};

/// Form of a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReportFormat {
    /// Plain table; in a watch then the changes.
    Plain,
    /// JSON object, on one line in a watch.
    Json,
    /// CSV rows.
    Csv,
}

/// Browser with a report of each round as its console output.
#[derive(Debug)]
pub struct PrintedBrowser {
    browser: Browser,
    format: ReportFormat,
    selection: Selection,
    watch: bool,
    printed_rounds: u32,
    changes: Changes,
    stopped: bool,
}

impl PrintedBrowser {
    /// Creates a browser that prints the servers of `selection`.
    #[must_use]
    pub fn new(browser: Browser, format: ReportFormat, selection: Selection, watch: bool) -> Self {
        Self {
            browser,
            format,
            selection,
            watch,
            printed_rounds: 0,
            changes: Changes::default(),
            stopped: false,
        }
    }

    /// Returns the browser.
    #[must_use]
    pub const fn browser(&self) -> &Browser {
        &self.browser
    }

    fn report(&mut self) -> String {
        let Self { browser, selection, .. } = self;
        match self.format {
            ReportFormat::Json => report::json(browser, selection, self.watch),
            ReportFormat::Csv => report::csv(browser, selection),
            ReportFormat::Plain => {
                let changes = self.changes.lines(browser, selection, browser.round_start());
                let first = browser.rounds() == 1;
                if first { report::plain(browser, selection) } else { changes }
            }
        }
    }
}

impl Node for PrintedBrowser {
    fn handle_datagram(&mut self, now: Millis, route: Route, bytes: &[u8]) {
        self.browser.handle_datagram(now, route, bytes);
    }

    fn handle_oversize(&mut self, now: Millis, route: Route) {
        self.browser.handle_oversize(now, route);
    }

    fn frame(&mut self, now: Millis) {
        self.browser.frame(now);
    }

    fn next_frame(&self) -> Millis {
        self.browser.next_frame()
    }

    fn poll_transmit(&mut self, packet: &mut Vec<u8>) -> Option<Route> {
        self.browser.poll_transmit(packet)
    }

    fn is_finished(&self) -> bool {
        self.browser.is_finished()
    }
}

impl Hosted for PrintedBrowser {
    fn handle_console_line(&mut self, _: Millis, _: &str) {}

    fn set_loop_counters(&mut self, now: Millis, counters: &LoopCounters) {
        self.browser.set_loop_counters(now, counters);
    }

    fn receive_coalescing(&self) -> Millis {
        self.browser.receive_coalescing()
    }

    fn poll_console(&mut self) -> Option<String> {
        // A watch that is stopped amid a round would report servers as gone that were not asked yet.
        if self.browser.rounds() == self.printed_rounds || self.stopped && self.watch {
            return None;
        }
        self.printed_rounds = self.browser.rounds();
        Some(self.report()).filter(|text| !text.is_empty())
    }

    fn poll_game_log(&mut self) -> Option<String> {
        None
    }

    fn local_ports(&self) -> u16 {
        self.browser.local_ports()
    }

    fn stop(&mut self, now: Millis, reason: &str) {
        self.browser.stop(now, reason);
        self.stopped = true;
    }
}
