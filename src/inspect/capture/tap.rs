//! Tap: observer that traces and captures the datagrams of a node.
//!
//! Timestamps are the calendar time of the node's clock. Output is collected per frame, because each
//! piece costs the background writer a wake-up.

use std::{
    collections::HashMap,
    fmt::Write as _,
    net::{Ipv4Addr, SocketAddr},
};

use super::pcapng;
use crate::{
    model::{Millis, UnixMillis},
    node::{LocalPort, NodeEvent, Observer, Route},
    trace::{Lines, Role},
};

/// Receiver of a file's bytes, in order.
pub type CaptureSink = Box<dyn FnMut(&[u8])>;

/// Bytes after which collected output is written within a frame.
const PIECE_LEN: usize = 1 << 16;

/// Options of a tap.
pub struct TapOptions {
    /// Bound addresses of the node.
    pub locals: Vec<(LocalPort, SocketAddr)>,
    /// Calendar time at the zero of the node's clock.
    pub started_at: UnixMillis,
    /// Role of the node: sender of its own datagrams.
    pub role: Role,
    /// Maximum number of traced connections.
    pub max_lines: usize,
    /// Receiver of JSON lines.
    pub trace: Option<CaptureSink>,
    /// Receiver of a packet capture.
    pub pcap: Option<CaptureSink>,
}

/// One output with its collected bytes.
struct Output {
    sink: CaptureSink,
    bytes: Vec<u8>,
}

impl Output {
    fn new(sink: CaptureSink) -> Self {
        Self { sink, bytes: Vec::new() }
    }

    fn flush(&mut self, min_len: usize) {
        if self.bytes.len() >= min_len.max(1) {
            (self.sink)(&self.bytes);
            self.bytes.clear();
        }
    }
}

/// Observer of a node's datagrams.
pub struct Tap {
    locals: HashMap<(LocalPort, bool), SocketAddr>,
    started_at: UnixMillis,
    role: Role,
    lines: Lines,
    trace: Option<Output>,
    pcap: Option<Output>,
    comment: String,
}

impl Tap {
    /// Starts a tap.
    #[must_use]
    pub fn new(options: TapOptions) -> Self {
        let TapOptions { locals, started_at, role, max_lines, trace, pcap } = options;
        let locals = locals.into_iter().map(|(port, at)| ((port, at.is_ipv4()), at)).collect();
        let mut pcap = pcap.map(Output::new);
        if let Some(output) = &mut pcap {
            pcapng::write_head(&mut output.bytes);
            output.flush(0);
        }
        Self {
            locals,
            started_at,
            role,
            lines: Lines::new(max_lines),
            trace: trace.map(Output::new),
            pcap,
            comment: String::new(),
        }
    }

    /// Handles a datagram at `now`.
    pub fn datagram(
        &mut self,
        now: Millis,
        from: SocketAddr,
        to: SocketAddr,
        sender: Role,
        bytes: &[u8],
    ) {
        let time_us = self.started_at.0.saturating_add(now.0).saturating_mul(1000);
        let record = self.lines.decode(time_us, from, to, sender, bytes);
        if let Some(output) = &mut self.trace {
            record.write_json(&mut output.bytes);
            output.flush(PIECE_LEN);
        }
        if let Some(output) = &mut self.pcap {
            self.comment.clear();
            let _ = write!(self.comment, "{record}");
            pcapng::write_datagram(&mut output.bytes, time_us, from, to, bytes, &self.comment);
            output.flush(PIECE_LEN);
        }
    }

    /// Writes all collected output.
    pub fn flush(&mut self) {
        for output in [&mut self.trace, &mut self.pcap].into_iter().flatten() {
            output.flush(0);
        }
    }

    /// Returns the bound address for a route.
    fn local(&self, route: Route) -> SocketAddr {
        let known = self.locals.get(&(route.local, route.remote.is_ipv4()));
        known.copied().unwrap_or_else(|| (Ipv4Addr::UNSPECIFIED, 0).into())
    }
}

impl Observer for Tap {
    fn observe(&mut self, event: &NodeEvent<'_>) {
        match *event {
            NodeEvent::Received(now, route, bytes) => {
                let sender = match self.role {
                    Role::Server => Role::Client,
                    Role::Client => Role::Server,
                    Role::Unknown => Role::Unknown,
                };
                self.datagram(now, route.remote, self.local(route), sender, bytes);
            }
            NodeEvent::Sent(now, route, bytes) => {
                self.datagram(now, self.local(route), route.remote, self.role, bytes);
            }
            NodeEvent::Frame(_) => self.flush(),
            NodeEvent::Input(..) => {}
        }
    }
}

impl Drop for Tap {
    fn drop(&mut self) {
        self.flush();
    }
}
