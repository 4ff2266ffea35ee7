//! Boxed nodes: a driver of nodes of several kinds.

use super::{Completion, Hosted, Input, Node, NodeState, Output, OutputKind, Route};
use crate::model::Millis;

impl<N: Node + ?Sized> Node for Box<N> {
    fn handle_datagram(&mut self, now: Millis, route: Route, bytes: &[u8]) {
        (**self).handle_datagram(now, route, bytes);
    }

    fn expect_datagram(&self, bytes: &[u8]) {
        (**self).expect_datagram(bytes);
    }

    fn frame(&mut self, now: Millis) {
        (**self).frame(now);
    }

    fn next_frame(&self) -> Millis {
        (**self).next_frame()
    }

    fn poll_transmit(&mut self, packet: &mut Vec<u8>) -> Option<Route> {
        (**self).poll_transmit(packet)
    }

    fn is_finished(&self) -> bool {
        (**self).is_finished()
    }
}

impl<N: Hosted + ?Sized> Hosted for Box<N> {
    fn handle_input(&mut self, now: Millis, input: Input<'_>) {
        (**self).handle_input(now, input);
    }

    fn poll_output(&mut self, kind: OutputKind) -> Option<Output> {
        (**self).poll_output(kind)
    }

    fn local_ports(&self) -> u16 {
        (**self).local_ports()
    }

    fn receive_coalescing(&self) -> Millis {
        (**self).receive_coalescing()
    }

    fn runs_foreign_code(&self) -> bool {
        (**self).runs_foreign_code()
    }

    fn state(&self) -> NodeState {
        (**self).state()
    }

    fn drain_line(&self) -> Option<&'static str> {
        (**self).drain_line()
    }

    fn complete(&self, line: &str) -> Completion {
        (**self).complete(line)
    }
}
