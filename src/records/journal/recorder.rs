//! Journal recorder: encodes records and passes them to a sink in pieces.
//!
//! Invariants: each piece ends with a whole record; at most [`MAX_WAITING`] bytes and one record are
//! buffered; nothing is written after the end record.

use std::{cell::RefCell, collections::HashMap, fmt, rc::Rc};

use super::{
    asset_answer::AssetAnswer,
    encoding::{put_address, put_bytes, put_number, put_route, put_text},
    format::{
        FORMAT_VERSION, JournalEnd, MAGIC, MAX_BODY_LEN, MAX_ROUTES, Sent, Start, checksum, kind,
    },
};
use crate::{
    model::{Millis, UnixMillis},
    node::{LocalPort, LookupAnswer, LoopCounters, Route},
};

/// Buffered bytes that are passed on without waiting for the frame.
const MAX_WAITING: usize = 64 << 10;

/// A recorder that a node and its game files share.
pub type SharedRecorder = Rc<RefCell<Recorder>>;

/// Receiver of journal bytes, in order.
pub type Sink = Box<dyn FnMut(&[u8])>;

/// The writer of a journal.
pub struct Recorder {
    sink: Sink,
    waiting: Vec<u8>,
    body: Vec<u8>,
    running: u32,
    now: Millis,
    /// Slot of each route, and the route of each slot.
    slots: HashMap<Route, u16>,
    routes: Vec<Route>,
    next_slot: usize,
    /// Datagrams sent since the last input.
    sent: Vec<Sent>,
    written: u64,
    limit: u64,
    ended: bool,
}

impl fmt::Debug for Recorder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Recorder").field("written", &self.written).finish_non_exhaustive()
    }
}

impl Recorder {
    /// Starts a journal that goes to `sink`.
    #[must_use]
    pub fn new(start: &Start, sink: Sink) -> Self {
        let mut this = Self {
            sink,
            waiting: Vec::with_capacity(MAX_WAITING + 4096),
            body: Vec::new(),
            running: 0,
            now: Millis(0),
            slots: HashMap::with_capacity(MAX_ROUTES),
            routes: Vec::new(),
            next_slot: 0,
            sent: Vec::new(),
            written: 0,
            limit: u64::MAX,
            ended: false,
        };
        this.waiting.extend_from_slice(&MAGIC);
        this.waiting.extend_from_slice(&FORMAT_VERSION.to_le_bytes());
        this.record(kind::START, |body| start.write(body));
        this.hand_on();
        this
    }

    /// Limits the journal: it ends at the first input after this many bytes.
    #[must_use]
    pub fn limited(mut self, bytes: u64) -> Self {
        self.limit = bytes;
        self
    }

    /// Starts a journal with a shared recorder.
    #[must_use]
    pub fn shared(start: &Start, sink: Sink) -> SharedRecorder {
        Rc::new(RefCell::new(Self::new(start, sink)))
    }

    /// Returns the bytes written.
    #[must_use]
    pub fn written(&self) -> u64 {
        self.written + self.waiting.len() as u64
    }

    /// Records a datagram.
    pub(super) fn datagram(&mut self, now: Millis, route: Route, bytes: &[u8]) {
        if !self.takes_input() {
            return;
        }
        let slot = self.slot(route);
        let passed = self.passed(now);
        self.record(kind::DATAGRAM, |body| {
            put_number(body, passed);
            put_number(body, u64::from(slot));
            body.extend_from_slice(bytes);
        });
    }

    /// Records a frame.
    pub(super) fn frame(&mut self, now: Millis) {
        if !self.takes_input() {
            return;
        }
        self.hand_on();
        let passed = self.passed(now);
        self.record(kind::FRAME, |body| put_number(body, passed));
    }

    /// Records a console line.
    pub(super) fn line(&mut self, now: Millis, line: &str) {
        if !self.takes_input() {
            return;
        }
        let passed = self.passed(now);
        self.record(kind::LINE, |body| {
            put_number(body, passed);
            put_text(body, line);
        });
    }

    /// Records a stop request.
    pub(super) fn stop(&mut self, now: Millis, reason: &str) {
        if !self.takes_input() {
            return;
        }
        let passed = self.passed(now);
        self.record(kind::STOP, |body| {
            put_number(body, passed);
            put_text(body, reason);
        });
    }

    /// Records the answer to a name lookup.
    pub(super) fn lookup(&mut self, now: Millis, answer: &LookupAnswer) {
        if !self.takes_input() {
            return;
        }
        let passed = self.passed(now);
        self.record(kind::LOOKUP, |body| {
            put_number(body, passed);
            put_text(body, &answer.lookup.name);
            put_number(body, answer.lookup.default_port.into());
            match &answer.found {
                Ok(addresses) => {
                    put_number(body, addresses.len() as u64 + 1);
                    addresses.iter().for_each(|&address| put_address(body, address));
                }
                Err(error) => {
                    put_number(body, 0);
                    put_text(body, error);
                }
            }
        });
    }

    /// Records the failure to open a port.
    pub(super) fn port_failed(&mut self, now: Millis, port: LocalPort) {
        if !self.takes_input() {
            return;
        }
        let passed = self.passed(now);
        self.record(kind::PORT_FAILED, |body| {
            put_number(body, passed);
            put_number(body, port.0.into());
        });
    }

    /// Records a step of the calendar.
    pub(super) fn calendar(&mut self, now: Millis, at: UnixMillis) {
        if !self.takes_input() {
            return;
        }
        let passed = self.passed(now);
        self.record(kind::CALENDAR, |body| {
            put_number(body, passed);
            put_number(body, at.0);
        });
    }

    /// Records the loop counters.
    pub(super) fn counted(&mut self, now: Millis, counters: &LoopCounters) {
        if !self.takes_input() {
            return;
        }
        let passed = self.passed(now);
        self.record(kind::COUNTED, |body| {
            put_number(body, passed);
            counters.values().into_iter().for_each(|value| put_number(body, value));
        });
    }

    /// Records a sent datagram.
    pub(super) fn sends(&mut self, route: Route, bytes: &[u8]) {
        if self.ended {
            return;
        }
        let len = u32::try_from(bytes.len()).unwrap_or(u32::MAX);
        self.sent.push(Sent { route, len, checksum: checksum(bytes) });
    }

    /// Records an answer about game files.
    pub(super) fn asset(&mut self, answer: &AssetAnswer) {
        if !self.ended {
            self.record(kind::ASSET, |body| answer.write(body));
        }
    }

    /// Ends the journal properly. Without it, the journal counts as cut off.
    pub fn end(&mut self) {
        self.end_for(JournalEnd::Run);
    }

    fn end_for(&mut self, end: JournalEnd) {
        if self.ended {
            return;
        }
        self.tell_sent();
        self.record(kind::END, |body| body.extend((end == JournalEnd::Limit).then_some(1)));
        self.hand_on();
        self.ended = true;
    }

    /// Completes the last input. Returns false when the journal has ended.
    fn takes_input(&mut self) -> bool {
        if self.ended {
            return false;
        }
        self.tell_sent();
        if self.written() < self.limit {
            return true;
        }
        self.end_for(JournalEnd::Limit);
        log::warn!(
            "journal size limit reached at {} bytes: recording stopped, server continues",
            self.written
        );
        false
    }

    /// Writes the datagrams sent after the last input.
    fn tell_sent(&mut self) {
        if self.sent.is_empty() {
            return;
        }
        let sent = std::mem::take(&mut self.sent);
        for datagram in &sent {
            self.slot(datagram.route);
        }
        // Naming a route may have taken the slot of one that is named above it; then one by one.
        if sent.iter().all(|datagram| self.slots.contains_key(&datagram.route)) {
            self.record_sent(&sent);
        } else {
            for datagram in &sent {
                self.slot(datagram.route);
                self.record_sent(std::slice::from_ref(datagram));
            }
        }
        self.sent = sent;
        self.sent.clear();
    }

    fn record_sent(&mut self, sent: &[Sent]) {
        let slots = std::mem::take(&mut self.slots);
        self.record(kind::SENT, |body| {
            for datagram in sent {
                put_number(body, u64::from(slots.get(&datagram.route).copied().unwrap_or(0)));
                put_number(body, u64::from(datagram.len));
                body.extend_from_slice(&datagram.checksum.to_le_bytes());
            }
        });
        self.slots = slots;
    }

    /// Returns the slot of a route, and writes a record for a new one.
    fn slot(&mut self, route: Route) -> u16 {
        if let Some(slot) = self.slots.get(&route) {
            return *slot;
        }
        let at = self.next_slot;
        self.next_slot = (at + 1) % MAX_ROUTES;
        let slot = at as u16;
        if at < self.routes.len() {
            self.slots.remove(&self.routes[at]);
            self.routes[at] = route;
        } else {
            self.routes.push(route);
        }
        self.slots.insert(route, slot);
        self.record(kind::ROUTE, |body| {
            put_number(body, u64::from(slot));
            put_route(body, route);
        });
        slot
    }

    fn passed(&mut self, now: Millis) -> u64 {
        let passed = now.since(self.now).0;
        self.now += Millis(passed);
        passed
    }

    fn record(&mut self, kind: u8, write: impl FnOnce(&mut Vec<u8>)) {
        self.body.clear();
        self.body.push(kind);
        write(&mut self.body);
        debug_assert!(self.body.len() <= MAX_BODY_LEN, "a record is bounded");
        let begins = self.waiting.len();
        put_bytes(&mut self.waiting, &self.body);
        let mut hasher = crc32fast::Hasher::new_with_initial(self.running);
        hasher.update(&self.waiting[begins..]);
        self.running = hasher.finalize();
        self.waiting.extend_from_slice(&self.running.to_le_bytes());
        if self.waiting.len() >= MAX_WAITING {
            self.hand_on();
        }
    }

    fn hand_on(&mut self) {
        if !self.waiting.is_empty() {
            (self.sink)(&self.waiting);
            self.written += self.waiting.len() as u64;
            self.waiting.clear();
        }
    }
}

impl Drop for Recorder {
    /// Flushes the last inputs before a panic, which a replay needs to reproduce it.
    fn drop(&mut self) {
        self.hand_on();
    }
}
