//! Query load: `getinfo` and `getstatus` at a fixed rate beside the players.
//!
//! QuakeWorld has one query, `status`, whose bit 1 asks for the settings alone, as `getinfo` does.

use std::net::SocketAddr;

use super::{options::QueryFlood, summary::QuerySummary};
use crate::{
    model::Millis,
    node::{LocalPort, Outbox, Route},
};

/// Maximum queries sent at once after a pause.
const MAX_BURST: u64 = 1000;
/// Queries, and the first bytes of their responses.
const QUERIES: [(&[u8], &[u8]); 2] = [
    (b"\xff\xff\xff\xffgetinfo fragd", b"\xff\xff\xff\xffinfoResponse\n"),
    (b"\xff\xff\xff\xffgetstatus fragd", b"\xff\xff\xff\xffstatusResponse\n"),
];

/// The same in QuakeWorld.
const QUAKEWORLD_QUERIES: [&[u8]; 2] = [b"\xff\xff\xff\xffstatus 1\n", b"\xff\xff\xff\xffstatus\n"];
/// First bytes of the responses there.
const QUAKEWORLD_ANSWER: &[u8] = b"\xff\xff\xff\xffn\\";

/// Query load generator.
#[derive(Debug)]
pub(super) struct Flood {
    servers: Vec<SocketAddr>,
    began: Millis,
    /// Rate of each of [`QUERIES`] per second, and the number sent.
    rates: [u64; QUERIES.len()],
    sent: [u64; QUERIES.len()],
    summary: QuerySummary,
}

impl Flood {
    pub(super) fn new(asked: QueryFlood, servers: Vec<SocketAddr>, now: Millis) -> Self {
        Self {
            servers,
            began: now,
            rates: [asked.info_per_second, asked.status_per_second].map(u64::from),
            sent: [0; QUERIES.len()],
            summary: QuerySummary::default(),
        }
    }

    /// Whether any query is sent.
    pub(super) fn is_on(&self) -> bool {
        self.rates.iter().any(|&rate| rate > 0)
    }

    pub(super) fn summary(&self) -> QuerySummary {
        self.summary
    }

    /// Returns the time of the next query.
    pub(super) fn next_frame(&self) -> Millis {
        let due = |(&rate, &sent): (&u64, &u64)| {
            if rate == 0 {
                Millis::NEVER
            } else {
                self.began + Millis((sent * 1000).div_ceil(rate))
            }
        };
        self.rates.iter().zip(&self.sent).map(due).min().unwrap_or(Millis::NEVER)
    }

    /// Sends the queries that are due. `is_quakeworld` tells the family of a server by its index.
    pub(super) fn frame(
        &mut self,
        now: Millis,
        local: LocalPort,
        is_quakeworld: impl Fn(usize) -> bool,
        outbox: &mut Outbox,
    ) {
        for (place, (query, _)) in QUERIES.iter().enumerate() {
            let rate = self.rates[place];
            if rate == 0 {
                continue;
            }
            let due = now.since(self.began).0 * rate / 1000 + 1;
            let count = due.saturating_sub(self.sent[place]).min(MAX_BURST);
            for number in 0..count {
                let which = (self.sent[place] + number) as usize % self.servers.len().max(1);
                if let Some(&remote) = self.servers.get(which) {
                    let query =
                        if is_quakeworld(which) { QUAKEWORLD_QUERIES[place] } else { query };
                    outbox.push(Route::new(local, remote), query);
                }
            }
            self.sent[place] = due.max(self.sent[place]);
            self.summary.sent += count;
        }
    }

    /// Counts a response.
    pub(super) fn handle_answer(&mut self, from: SocketAddr, bytes: &[u8]) {
        let mut answers = QUERIES.iter().map(|(_, answer)| *answer).chain([QUAKEWORLD_ANSWER]);
        if self.servers.contains(&from) && answers.any(|answer| bytes.starts_with(answer)) {
            self.summary.answered += 1;
            self.summary.bytes_in += bytes.len() as u64;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn query_load_sends_requested_rate_and_counts_answers() {
        let server = ([127, 0, 0, 1], 27_960).into();
        let asked = QueryFlood { info_per_second: 50, status_per_second: 4 };
        let mut flood = Flood::new(asked, vec![server], Millis(1000));
        let mut outbox = Outbox::default();
        while flood.next_frame() < Millis(3000) {
            let now = flood.next_frame();
            flood.frame(now, LocalPort(7), |_| false, &mut outbox);
        }
        assert_eq!((outbox.len(), flood.summary().sent), (108, 108));
        flood.handle_answer(server, b"\xff\xff\xff\xffinfoResponse\n\\a\\b");
        flood.handle_answer(server, b"\xff\xff\xff\xffprint\nno");
        flood.handle_answer(([1, 2, 3, 4], 5).into(), b"\xff\xff\xff\xffstatusResponse\n");
        assert_eq!((flood.summary().answered, flood.summary().bytes_in), (1, 21));
    }

    #[test]
    fn quakeworld_servers_are_asked_for_their_status() {
        let server = ([127, 0, 0, 1], 27_500).into();
        let asked = QueryFlood { info_per_second: 1, status_per_second: 1 };
        let mut flood = Flood::new(asked, vec![server], Millis(0));
        let mut outbox = Outbox::default();
        flood.frame(Millis(0), LocalPort(7), |_| true, &mut outbox);
        let mut packet = Vec::new();
        for query in QUAKEWORLD_QUERIES {
            outbox.pop(&mut packet).unwrap();
            assert_eq!(packet, query);
        }
        flood.handle_answer(server, b"\xff\xff\xff\xffn\\hostname\\x\n\0");
        flood.handle_answer(server, b"\xff\xff\xff\xffnserver is full\n");
        assert_eq!((flood.summary().sent, flood.summary().answered), (2, 1));
    }
}
