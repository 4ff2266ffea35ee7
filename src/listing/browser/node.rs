//! Browser node: rounds of lists and queries.

use std::net::SocketAddr;

use crate::{
    discovery::ListPacket,
    model::Millis,
    node::{Hosted, Input, LocalPort, Node, Outbox, Output, OutputKind, Route},
};

use super::{
    lan::LanScan,
    masters::Master,
    options::BrowserOptions,
    packets::{Reply, write_question},
    queries::{MAX_ATTEMPTS, Queries, QueryKind, QueryLimits},
    server::{Origin, ServerState},
    table::{ServerIndex, ServerTable},
};

/// Maximum number of addresses read from the lists of one master in a round.
const MAX_LISTED: u64 = 1 << 20;

/// Counters of a browser.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BrowserCounters {
    /// Answers of servers that counted.
    pub answers: u64,
    /// Datagrams that answered no request.
    pub unrequested: u64,
    /// Datagrams that were neither list nor answer.
    pub invalid: u64,
}

/// Node that lists servers. It owns one port.
#[derive(Debug)]
pub struct Browser {
    masters: Vec<Master>,
    table: ServerTable,
    queries: Queries,
    lan: LanScan,
    watch: Option<Millis>,
    round_limit: Millis,
    round_start: Millis,
    rounds: u32,
    /// Whether a round runs.
    running: bool,
    /// Whether the last round ended at its limit.
    cut: bool,
    finished: bool,
    counters: BrowserCounters,
    outbox: Outbox,
}

impl Browser {
    /// Creates a browser whose first round starts at `now`.
    #[must_use]
    pub fn new(options: BrowserOptions, now: Millis) -> Self {
        let limits = QueryLimits {
            outstanding: options.outstanding.max(1),
            timeout: options.timeout,
            attempts: (options.retries + 1).min(MAX_ATTEMPTS),
            players: options.players,
        };
        let mut table = ServerTable::new(options.max_servers);
        for (game, address) in options.favorites {
            table.add(game, address, Origin::Favorite);
        }
        let mut browser = Self {
            masters: options.masters.into_iter().map(Master::new).collect(),
            table,
            queries: Queries::new(limits, options.seed),
            lan: LanScan::new(options.lan),
            watch: options.watch,
            round_limit: options.round_limit,
            round_start: now,
            rounds: 0,
            running: false,
            cut: false,
            finished: false,
            counters: BrowserCounters::default(),
            outbox: Outbox::default(),
        };
        browser.begin_round(now);
        browser
    }

    /// Returns the table of servers.
    #[must_use]
    pub const fn table(&self) -> &ServerTable {
        &self.table
    }

    /// Returns the masters.
    #[must_use]
    pub fn masters(&self) -> &[Master] {
        &self.masters
    }

    /// Returns the number of rounds that ended.
    #[must_use]
    pub const fn rounds(&self) -> u32 {
        self.rounds
    }

    /// Returns the start of the current round.
    #[must_use]
    pub const fn round_start(&self) -> Millis {
        self.round_start
    }

    /// Whether a round runs.
    #[must_use]
    pub const fn is_running(&self) -> bool {
        self.running
    }

    /// Whether the last round ended at its time limit with servers unasked.
    #[must_use]
    pub const fn was_cut(&self) -> bool {
        self.cut
    }

    /// Returns the number of servers to ask and the number of servers asked.
    #[must_use]
    pub fn query_counts(&self) -> (usize, usize) {
        self.queries.counts()
    }

    /// Returns the counters.
    #[must_use]
    pub const fn counters(&self) -> BrowserCounters {
        self.counters
    }

    /// Starts a round now, unless one runs.
    pub fn refresh(&mut self, now: Millis) {
        if !self.running {
            self.finished = false;
            self.begin_round(now);
        }
    }

    fn begin_round(&mut self, now: Millis) {
        self.running = true;
        self.cut = false;
        self.round_start = now;
        self.table.expire();
        for master in &mut self.masters {
            master.begin_round(now);
        }
        self.lan.begin_round(now);
        self.queries.clear();
        for (index, server) in self.table.iter_mut().enumerate() {
            server.begin_round();
            self.queries.push(index);
        }
    }

    fn end_round(&mut self) {
        self.running = false;
        self.rounds += 1;
        self.cut = !self.queries.is_idle() || !self.masters.iter().all(Master::is_done);
        self.queries.clear();
        let start = self.round_start;
        for server in self.table.iter_mut() {
            if server.state == ServerState::Asked {
                server.state = ServerState::Silent;
            }
            server.end_round(start);
        }
        self.finished |= self.watch.is_none();
    }

    fn is_round_over(&self, now: Millis) -> bool {
        let idle = self.queries.is_idle() && self.lan.is_done();
        idle && self.masters.iter().all(Master::is_done)
            || now.since(self.round_start) >= self.round_limit
    }

    /// Takes a list. Returns whether it came from a master that was asked for one.
    fn take_list(&mut self, now: Millis, from: SocketAddr, list: ListPacket<'_>) -> bool {
        let family = list.format().family();
        let asked = |master: &&mut Master| {
            master.options.address == from && master.is_asked_in(family) && !master.is_done()
        };
        let Some(master) = self.masters.iter_mut().find(asked) else { return false };
        let mut questions = master.options.questions.iter().map(|question| question.game);
        let Some(game) = questions.find(|game| game.family == family) else { return false };
        let mut count = 0;
        if master.listed < MAX_LISTED {
            for address in list.servers() {
                count += 1;
                if let Some(index) = self.table.add_listed(game, address, from.ip()) {
                    self.queries.push(index);
                }
            }
        }
        master.add_packet(now, count, list.has_end_mark());
        true
    }

    /// Takes an answer of a server. Returns whether it was asked for.
    fn take_reply(&mut self, now: Millis, from: SocketAddr, reply: &Reply<'_>) -> bool {
        if let Some((index, ping)) = self.queries.take_answered(now, from, reply) {
            self.store(index, ping, reply);
            return true;
        }
        let Some((game, ping)) = self.lan.answered(now, reply) else { return false };
        let index = match self.table.find(from, game.family) {
            Some(index) => index,
            None => match self.table.add(game, from, Origin::Lan) {
                Some(index) => index,
                None => return false,
            },
        };
        if self.table.get_mut(index).state == ServerState::Answered {
            return true;
        }
        self.store(index, ping, reply);
        true
    }

    fn store(&mut self, index: ServerIndex, ping: Millis, reply: &Reply<'_>) {
        self.counters.answers += 1;
        let server = self.table.get_mut(index);
        server.ping = Some(server.ping.map_or(ping, |known| known.min(ping)));
        if reply.kind() == QueryKind::Status {
            if let Some(details) = &mut server.details {
                details.players = reply.players();
            }
            return;
        }
        server.state = ServerState::Answered;
        let (game, details) = reply.details(server.game);
        server.game = game;
        server.details = Some(Box::new(details));
        self.queries.push_status(index, game.family);
    }
}

impl Node for Browser {
    fn handle_datagram(&mut self, now: Millis, route: Route, bytes: &[u8]) {
        if !self.running {
            self.counters.unrequested += 1;
            return;
        }
        let from = SocketAddr::new(route.remote.ip().to_canonical(), route.remote.port());
        let requested = if let Some(list) = ListPacket::parse(bytes) {
            self.take_list(now, from, list)
        } else if let Some(reply) = Reply::parse(bytes) {
            self.take_reply(now, from, &reply)
        } else {
            self.counters.invalid += 1;
            return;
        };
        if !requested {
            self.counters.unrequested += 1;
        }
        self.queries.fill(now, &mut self.table, &mut self.outbox);
    }

    fn expect_datagram(&self, _: &[u8]) {}

    fn frame(&mut self, now: Millis) {
        if self.finished {
            return;
        }
        if !self.running {
            if now >= self.next_frame() {
                self.begin_round(now);
            } else {
                return;
            }
        }
        for master in &mut self.masters {
            if master.frame(now) {
                let route = Route::new(LocalPort(0), master.options.address);
                for question in &master.options.questions {
                    self.outbox.push_with(route, |out| write_question(question, out));
                }
            }
        }
        self.lan.frame(now, &mut self.queries, &mut self.outbox);
        self.queries.frame(now, &mut self.table, &mut self.outbox);
        self.queries.fill(now, &mut self.table, &mut self.outbox);
        if self.is_round_over(now) {
            self.end_round();
        }
    }

    fn next_frame(&self) -> Millis {
        if self.finished {
            return Millis::NEVER;
        }
        if !self.running {
            return self.watch.map_or(Millis::NEVER, |interval| self.round_start + interval);
        }
        if self.is_round_over(Millis(0)) {
            return self.round_start;
        }
        let masters = self.masters.iter().map(Master::next_frame).min();
        (self.round_start + self.round_limit)
            .min(masters.unwrap_or(Millis::NEVER))
            .min(self.lan.next_frame())
            .min(self.queries.next_frame())
    }

    fn poll_transmit(&mut self, packet: &mut Vec<u8>) -> Option<Route> {
        self.outbox.pop(packet)
    }

    fn is_finished(&self) -> bool {
        self.finished
    }
}

impl Hosted for Browser {
    fn handle_input(&mut self, _: Millis, input: Input<'_>) {
        match input {
            Input::Oversize(_) => self.counters.invalid += 1,
            Input::Stop(_) => {
                if self.running {
                    self.end_round();
                }
                self.finished = true;
            }
            Input::ConsoleLine(_)
            | Input::LoopCounters(_)
            | Input::Calendar(_)
            | Input::Lookup(_)
            | Input::PortFailed(_) => {}
        }
    }

    fn poll_output(&mut self, _: OutputKind) -> Option<Output> {
        None
    }

    fn local_ports(&self) -> u16 {
        1
    }

    fn receive_coalescing(&self) -> Millis {
        Millis(0)
    }
}
