//! Log of frags for `log` requests: pairs of names, killer and victim.
//!
//! Statistics programs ask with the number of the piece that they have. A piece is complete when the next line does not
//! fit, or when it is [`MAX_AGE`] old. Invariant: two pieces of at most [`MAX_PIECE`] bytes.
//! Source: QuakeWorld protocol 28, `log`. Engine names: `fraglogfile`, `SVC_Log`, `logfrag`.

use super::{QwCounter, QwServer, guards::QUERY_LIMITS, names::printable};
use crate::{model::Millis, node::Route, quakeworld::connectionless::Reply};

/// Longest piece, in bytes.
const MAX_PIECE: usize = 1400;
/// Longest name in a line.
const MAX_NAME: usize = 32;
/// Age at which a piece with lines is complete.
const MAX_AGE: Millis = Millis::seconds(3600);

/// Log of frags.
#[derive(Debug, Default)]
pub(super) struct FragLog {
    is_on: bool,
    /// Number of the newest complete piece; 0 for none.
    number: u32,
    complete: Vec<u8>,
    current: Vec<u8>,
    began: Millis,
}

impl FragLog {
    /// Starts the log, or ends it. Returns whether it is on.
    pub(super) fn toggle(&mut self, now: Millis) -> bool {
        *self = Self { is_on: !self.is_on, number: self.number, began: now, ..Self::default() };
        self.is_on
    }

    /// Adds a line. Names contain no separator afterwards.
    pub(super) fn add(&mut self, now: Millis, killer: &[u8], victim: &[u8]) {
        if !self.is_on {
            return;
        }
        let mut line = Vec::new();
        for name in [killer, victim] {
            line.push(b'\\');
            let shown = printable(name).filter(|byte| *byte != b'\\').take(MAX_NAME);
            line.extend(shown);
        }
        line.extend_from_slice(b"\\\n");
        if self.current.len() + line.len() > MAX_PIECE {
            self.complete_piece(now);
        }
        self.current.extend_from_slice(&line);
    }

    fn complete_piece(&mut self, now: Millis) {
        self.number = self.number % 0x7fff_ffff + 1;
        self.complete = std::mem::take(&mut self.current);
        self.began = now;
    }

    /// Returns number and content of the newest complete piece, unless it is the one that a client has.
    pub(super) fn piece_behind(&mut self, now: Millis, known: Option<u32>) -> Option<(u32, &[u8])> {
        if self.is_on && !self.current.is_empty() && now.since(self.began) >= MAX_AGE {
            self.complete_piece(now);
        }
        let is_new = self.is_on && self.number != 0 && known != Some(self.number);
        is_new.then_some((self.number, self.complete.as_slice()))
    }
}

/// Answers a `log` request. A piece is longer than its request, so that it has the limits of a status.
pub(super) fn send_log(server: &mut QwServer, now: Millis, route: Route, known: Option<u32>) {
    let QwServer { frag_log, guards, outbox, counters, .. } = server;
    let Some((number, piece)) = frag_log.piece_behind(now, known) else {
        outbox.push_with(route, |out| Reply::Nack.write(out));
        return;
    };
    let Some(share) = guards.requests.queries().admit(QUERY_LIMITS, now, route.remote, false)
    else {
        return counters.bump(QwCounter::Limited);
    };
    let len = outbox.push_with(route, |out| {
        out.extend_from_slice(format!("stdlog {number}\n").as_bytes());
        out.extend_from_slice(piece);
    });
    guards.requests.queries().charge(QUERY_LIMITS, share, len);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn full_piece_is_offered_once() {
        let mut log = FragLog::default();
        log.add(Millis(1), b"off", b"off");
        assert!(log.toggle(Millis(1)));
        for _ in 0..100 {
            log.add(Millis(2), b"a\\long name of a killer", b"vic\x01tim");
        }
        let (number, piece) = log.piece_behind(Millis(3), None).unwrap();
        assert!((1000..=MAX_PIECE).contains(&piece.len()));
        assert!(piece.starts_with(b"\\along name of a killer\\victim\\\n"), "{piece:?}");
        assert_eq!(log.piece_behind(Millis(3), Some(number)), None);
        assert!(log.piece_behind(Millis(3), Some(number - 1)).is_some());
    }

    #[test]
    fn piece_is_complete_after_an_hour() {
        let mut log = FragLog::default();
        log.toggle(Millis(0));
        log.add(Millis(1), b"a", b"b");
        assert_eq!(log.piece_behind(Millis(2), None), None);
        assert_eq!(log.piece_behind(MAX_AGE, None), Some((1, &b"\\a\\b\\\n"[..])));
        assert!(!log.toggle(MAX_AGE));
        assert_eq!(log.piece_behind(MAX_AGE, None), None);
    }
}
