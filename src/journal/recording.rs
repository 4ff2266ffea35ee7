//! A node whose inputs are written down.
//!
//! Invariant: an input is in the recorder before the node sees it.

use std::rc::Rc;

use super::recorder::SharedRecorder;
use crate::{
    model::Millis,
    node::{LoopCounters, Node, Route},
};

/// A node, and who writes down what happens to it.
#[derive(Debug)]
pub struct Recording<N> {
    node: N,
    recorder: SharedRecorder,
}

impl<N: Node> Recording<N> {
    /// Records `node`. It was made from what the recorder began with.
    #[must_use]
    pub fn new(node: N, recorder: SharedRecorder) -> Self {
        Self { node, recorder }
    }

    /// The node.
    #[must_use]
    pub fn node(&self) -> &N {
        &self.node
    }

    /// Ends the journal as it should end. Without it, it counts as cut off.
    pub fn finish(self) -> N {
        self.recorder.borrow_mut().end();
        self.node
    }

    /// Bytes of journal so far.
    #[must_use]
    pub fn written(&self) -> u64 {
        Rc::as_ref(&self.recorder).borrow().written()
    }
}

impl<N: Node> Node for Recording<N> {
    fn handle_datagram(&mut self, now: Millis, route: Route, bytes: &[u8]) {
        self.recorder.borrow_mut().datagram(now, route, bytes);
        self.node.handle_datagram(now, route, bytes);
    }

    fn handle_line(&mut self, now: Millis, line: &str) {
        self.recorder.borrow_mut().line(now, line);
        self.node.handle_line(now, line);
    }

    fn note_loop(&mut self, now: Millis, counters: &LoopCounters) {
        self.recorder.borrow_mut().counted(now, counters);
        self.node.note_loop(now, counters);
    }

    fn frame(&mut self, now: Millis) {
        self.recorder.borrow_mut().frame(now);
        self.node.frame(now);
    }

    fn next_frame(&self) -> Millis {
        self.node.next_frame()
    }

    fn patience(&self) -> Millis {
        self.node.patience()
    }

    fn poll_transmit(&mut self, packet: &mut Vec<u8>) -> Option<Route> {
        let route = self.node.poll_transmit(packet)?;
        self.recorder.borrow_mut().sends(route, packet);
        Some(route)
    }

    fn poll_output(&mut self) -> Option<String> {
        self.node.poll_output()
    }

    fn poll_log(&mut self) -> Option<String> {
        self.node.poll_log()
    }

    fn local_ports(&self) -> u16 {
        self.node.local_ports()
    }

    fn stop(&mut self, now: Millis, reason: &str) {
        self.recorder.borrow_mut().stop(now, reason);
        self.node.stop(now, reason);
    }

    fn is_finished(&self) -> bool {
        self.node.is_finished()
    }
}
