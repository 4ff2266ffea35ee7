//! Browser that prints a report at the end of each round.

use crate::{
    model::Millis,
    node::{Hosted, Input, Node, Output, OutputKind, Route},
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

    fn expect_datagram(&self, _: &[u8]) {}

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
    fn handle_input(&mut self, now: Millis, input: Input<'_>) {
        self.browser.handle_input(now, input);
        self.stopped |= matches!(input, Input::Stop(_));
    }

    fn poll_output(&mut self, kind: OutputKind) -> Option<Output> {
        if kind != OutputKind::Console {
            return self.browser.poll_output(kind);
        }
        // A watch that is stopped amid a round would report servers as gone that were not asked yet.
        if self.browser.rounds() == self.printed_rounds || self.stopped && self.watch {
            return None;
        }
        self.printed_rounds = self.browser.rounds();
        Some(self.report()).filter(|text| !text.is_empty()).map(Output::Console)
    }

    fn local_ports(&self) -> u16 {
        self.browser.local_ports()
    }

    fn receive_coalescing(&self) -> Millis {
        self.browser.receive_coalescing()
    }
}
