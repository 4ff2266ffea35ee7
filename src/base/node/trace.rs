//! Trace observer: one log line at level `trace` per event.

use super::{Input, NodeEvent, Observer};
use crate::model::Millis;

/// Logs every event of a node. Costs a comparison per event while the level is disabled.
#[derive(Clone, Copy, Debug, Default)]
pub struct Trace;

impl Trace {
    /// Whether the log accepts these lines, e.g. with `RUST_LOG=fragd::node=trace`.
    #[must_use]
    pub fn is_enabled() -> bool {
        log::log_enabled!(log::Level::Trace)
    }
}

impl Observer for Trace {
    fn observe(&mut self, event: &NodeEvent<'_>) {
        match event {
            NodeEvent::Received(now, route, bytes) => {
                let kind = kind(bytes);
                log::trace!("{} received: {} bytes, {kind}, at {now}", route.remote, bytes.len());
            }
            NodeEvent::Sent(now, route, bytes) => {
                let kind = kind(bytes);
                log::trace!("{} sent: {} bytes, {kind}, at {now}", route.remote, bytes.len());
            }
            NodeEvent::Frame(now) => log::trace!("frame began at {now}"),
            NodeEvent::Input(now, input) => trace_input(*now, *input),
        }
    }
}

fn trace_input(now: Millis, input: Input<'_>) {
    match input {
        Input::ConsoleLine(line) => log::trace!("console line at {now}: {line}"),
        Input::LoopCounters(counters) => {
            log::trace!("loop counters updated at {now}: {} frames", counters.frames);
        }
        Input::Calendar(at) => log::trace!("calendar set to {} ms at {now}", at.0),
        Input::Lookup(answer) => {
            log::trace!("lookup of {} answered at {now}", answer.lookup.name);
        }
        Input::PortFailed(port) => log::trace!("port {} not opened at {now}", port.0),
        Input::Oversize(route) => {
            log::trace!("{} received: too many bytes, at {now}", route.remote);
        }
        Input::Stop(reason) => log::trace!("stop requested at {now}: {reason}"),
    }
}

/// Returns how a datagram is addressed.
fn kind(bytes: &[u8]) -> &'static str {
    if bytes.starts_with(&[255; 4]) { "connectionless" } else { "sequenced" }
}
