//! Journaled nodes: every input and output goes to a [`Recorder`].
//!
//! Invariant: an input is in the recorder before the node sees it.

use super::recorder::{Recorder, SharedRecorder};
use crate::node::{Input, NodeEvent, Observed, Observer};

/// A node whose inputs are recorded. It was made from the start record of its recorder.
pub type Journaled<N> = Observed<N, SharedRecorder>;

impl Observer for Recorder {
    fn observe(&mut self, event: &NodeEvent<'_>) {
        match *event {
            NodeEvent::Received(now, route, bytes) => self.datagram(now, route, bytes),
            NodeEvent::Frame(now) => self.frame(now),
            NodeEvent::Input(now, input) => match input {
                Input::ConsoleLine(line) => self.line(now, line),
                Input::LoopCounters(counters) => self.counted(now, counters),
                Input::Calendar(at) => self.calendar(now, at),
                Input::Lookup(answer) => self.lookup(now, answer),
                Input::PortFailed(port) => self.port_failed(now, port),
                // A server does not use it.
                Input::Oversize(_) => {}
                Input::Stop(reason) => self.stop(now, reason),
            },
            NodeEvent::Sent(_, route, bytes) => self.sends(route, bytes),
        }
    }
}

impl Observer for SharedRecorder {
    fn observe(&mut self, event: &NodeEvent<'_>) {
        self.borrow_mut().observe(event);
    }
}

impl<N> Journaled<N> {
    /// Ends the journal properly and unwraps the node. Without it, the journal counts as cut off.
    pub fn finish(self) -> N {
        self.observer.borrow_mut().end();
        self.node
    }

    /// Returns the length of the journal in bytes.
    #[must_use]
    pub fn written(&self) -> u64 {
        self.observer.borrow().written()
    }
}
