//! Timers of a proxy: arrivals on links, a silent server, ended sessions, shutdown.
//!
//! A silent server is told to clients in their own terms: by `print` packets, which they show while they connect
//! and in the console, and at last by the `disconnect` of a server. Invariant: work of a frame is
//! proportional to the sessions and to the datagrams that arrive.

use super::{
    counters::ProxyCounter,
    family::Family,
    node::Proxy,
    session::{Session, SessionState},
};
use crate::{model::Millis, node::Route, trace::Direction, wire::connectionless::Message};

/// Interval of the checks of all sessions.
pub(super) const CHECK_INTERVAL: Millis = Millis(250);
/// Silence before the first notice to a client that connects, and between notices. A request is repeated every
/// 3 seconds.
const CONNECTING_NOTICE: Millis = Millis(2500);
/// Silence before the first notice to a connected client, and between notices.
const CONNECTED_NOTICE: Millis = Millis::seconds(5);
/// Age of the client's last datagram beyond which it does not wait for the server.
const WAITS_FOR: Millis = Millis::seconds(4);
/// Time for datagrams on their way when the proxy stops, besides the latency of the line.
const STOP_TIME: Millis = Millis(300);

impl Proxy {
    /// Runs everything that is due.
    pub(super) fn run_timers(&mut self, now: Millis) {
        // Checks come first: the port of an ended session is closed before anything waits for it.
        if now >= self.next_check {
            self.next_check = now + CHECK_INTERVAL;
            let numbers: Vec<_> = self.sessions.iter().map(|(number, _)| number).collect();
            for number in numbers {
                self.check(now, number);
            }
        }
        self.deliver_arrived(now);
        if self.stopping.is_some_and(|end| now >= end) {
            self.finished = true;
        }
        self.schedule(now);
    }

    /// Sets the time of the next frame.
    pub(super) fn schedule(&mut self, now: Millis) {
        let arrival = self.sessions.iter().map(|(_, session)| session.next_arrival()).min();
        let check = if self.sessions.is_empty() {
            Millis::NEVER
        } else {
            self.next_check.min(now + CHECK_INTERVAL)
        };
        let end = self.stopping.unwrap_or(Millis::NEVER);
        self.due = arrival.unwrap_or(Millis::NEVER).min(check).min(end);
    }

    /// Sends the datagrams that have arrived at the end of their links.
    fn deliver_arrived(&mut self, now: Millis) {
        let mut packet = std::mem::take(&mut self.packet);
        let mut arrived = std::mem::take(&mut self.arrived);
        let due = self.sessions.iter().filter(|(_, session)| session.next_arrival() <= now);
        arrived.extend(due.map(|(number, _)| number));
        for number in arrived.drain(..) {
            for direction in [Direction::ToServer, Direction::ToClient] {
                while let Some(session) = self.sessions.get_mut(number)
                    && session.link(direction).is_some_and(|link| link.receive(now, &mut packet))
                {
                    self.deliver(now, number, direction, &packet);
                }
            }
        }
        self.packet = packet;
        self.arrived = arrived;
    }

    /// Ends a session whose time is over, or tells its client about a silent server.
    fn check(&mut self, now: Millis, number: usize) {
        let Some(session) = self.sessions.get_mut(number) else { return };
        if session.has_ended(now, self.options.idle) {
            if session.is_connected() && session.family() == Family::QuakeWorld {
                self.leave(now, number);
            } else {
                self.close(number);
            }
            return;
        }
        let silence = session.silence(now);
        let waits = now.since(session.last_from_client) < WAITS_FOR;
        let interval = match session.state {
            SessionState::Leaving(_) => return,
            SessionState::Handshake => CONNECTING_NOTICE,
            SessionState::Connected => CONNECTED_NOTICE,
        };
        if session.is_connected() && silence >= self.options.server_timeout {
            let reason = format!("{} does not answer", self.options.name);
            log::warn!("{} disconnected: server silent for {silence}", session.title());
            self.disconnect(now, number, &reason);
        } else if waits && silence.0 / interval.0 > session.notices {
            session.notices = silence.0 / interval.0;
            let (client, family) = (session.client_route(), session.family());
            let text = format!("Server {} does not answer this client.\n", self.options.name);
            self.counters.bump(ProxyCounter::ClientsTold);
            self.print(client, family, &text);
        }
    }

    /// Leaves the server in the place of a client that fell silent.
    fn leave(&mut self, now: Millis, number: usize) {
        let Some(session) = self.sessions.get_mut(number) else { return };
        let upstream = Route::new(session.port, session.server);
        let outbox = &mut self.outbox;
        session.shadow.leave(|datagram| outbox.push(upstream, datagram));
        session.state = SessionState::Leaving(now);
        log::info!("{} left the server: client silent", session.title());
    }

    /// Disconnects a client in the server's place, and leaves the server in the client's.
    fn disconnect(&mut self, now: Millis, number: usize, reason: &str) {
        let Some(session) = self.sessions.get_mut(number) else { return };
        let (route, family) = (session.client_route(), session.family());
        let Session { server, port, shadow, .. } = session;
        let upstream = Route::new(*port, *server);
        let outbox = &mut self.outbox;
        shadow.leave(|datagram| outbox.push(upstream, datagram));
        let is_in_game = shadow.disconnect(now, reason, |datagram| outbox.push(route, datagram));
        session.state = SessionState::Leaving(now);
        self.counters.bump(ProxyCounter::ClientsDisconnected);
        if !is_in_game {
            // Without a snapshot no command is executed, so the text must do.
            self.print(route, family, &format!("Disconnected: {reason}.\n"));
        }
        if family == Family::Quake3 {
            // Clients of 1.32 obey this one after a silence.
            self.outbox.push_with(route, |out| Message::Disconnect.write(out));
        }
    }

    /// Disconnects all clients and finishes.
    pub(super) fn disconnect_all(&mut self, now: Millis, reason: &str) {
        if self.stopping.is_some() {
            return;
        }
        let connected: Vec<_> = self
            .sessions
            .iter()
            .filter(|(_, session)| session.is_connected())
            .map(|(number, _)| number)
            .collect();
        let latency = self.options.uplink.latency + self.options.uplink.jitter;
        let time = if connected.is_empty() { Millis(0) } else { STOP_TIME + latency };
        for number in connected {
            self.disconnect(now, number, reason);
        }
        self.stopping = Some(now + time);
        self.finished = time == Millis(0);
        self.schedule(now);
    }
}
