//! Console of a proxy: `status`, `help`, `quit`.

use std::fmt::Write as _;

use super::{
    counters::ProxyCounter,
    node::Proxy,
    session::{Session, SessionState},
};
use crate::{model::Millis, node::LoopCounters, trace::Direction};

const HELP: &str = "\
status  Show the server, the line and all sessions.
quit    Disconnect all clients and stop.
";

impl Proxy {
    /// Runs a console line.
    pub(super) fn run_command(&mut self, now: Millis, line: &str) {
        let output = match line.trim().to_ascii_lowercase().as_str() {
            "" => return,
            "status" => self.status(now),
            "quit" | "exit" => return self.disconnect_all(now, "Proxy was stopped"),
            "help" | "?" => HELP.to_owned(),
            other => {
                let known = other.escape_debug().to_string();
                format!("unknown command '{known}' (expected status, help or quit)\n")
            }
        };
        self.console.push_back(output);
    }

    /// Server, line and sessions as text.
    fn status(&self, now: Millis) -> String {
        let mut text = String::new();
        let options = &self.options;
        let line = |impairment: crate::impairment::Impairment| match impairment.to_string() {
            clear if clear.is_empty() => "clear".to_owned(),
            impaired => impaired,
        };
        // Writing to a string cannot fail.
        let _ = writeln!(
            text,
            "server {}, up {} s\nuplink {}, downlink {}\nsession addresses {}, rcon {}\n\
             {} of {} sessions, {} undecoded datagrams",
            options.name,
            now.since(self.began).0 / 1000,
            line(options.uplink),
            line(options.downlink),
            options.session_network.map_or_else(|| "off".to_owned(), |network| network.to_string()),
            if options.passes_rcon { "passed on" } else { "refused" },
            self.sessions.len(),
            options.sessions,
            self.counter(ProxyCounter::UndecodedFromClients)
                + self.counter(ProxyCounter::UndecodedFromServer),
        );
        text.push_str(&self.associations());
        text.push_str(&self.dropped());
        if self.sessions.is_empty() {
            return text;
        }
        let _ = writeln!(
            text,
            "{:>4} {:<22} {:<15} {:>5} {:<10} {:<10} {:>7} {:>9} {:>9} {:>6} name",
            "num",
            "address",
            "server sees",
            "qport",
            "protocol",
            "state",
            "seconds",
            "to server",
            "to client",
            "undec",
        );
        for (number, session) in self.sessions.iter() {
            text.push_str(&row(now, number, session));
        }
        text
    }
}

impl Proxy {
    /// Attempts to reach the SOCKS5 server, as a line; empty if there were none.
    fn associations(&self) -> String {
        let LoopCounters { relay_begun, relay_failed, .. } = self.loop_counters;
        match (relay_begun, relay_failed) {
            (0, 0) => String::new(),
            (begun, 0) => format!("SOCKS5 associations: {begun} made\n"),
            (begun, failed) => format!(
                "SOCKS5 associations: {begun} made, {failed} failed; the log names the reasons\n"
            ),
        }
    }

    /// Datagrams that were dropped before they reached a session, as a line; empty if there are none.
    fn dropped(&self) -> String {
        let LoopCounters { relay_header, oversize, bad_source, .. } = self.loop_counters;
        let counts: Vec<String> = [
            (relay_header, "with an SOCKS5 fragments or with an invalid header"),
            (oversize, "too long"),
            (bad_source, "of an invalid source"),
            (self.counter(ProxyCounter::WrongSource), "not of the server"),
        ]
        .into_iter()
        .filter(|&(count, _)| count > 0)
        .map(|(count, what)| format!("{count} {what}"))
        .collect();
        match counts.as_slice() {
            [] => String::new(),
            counts => format!("dropped datagrams: {}\n", counts.join(", ")),
        }
    }
}

fn row(now: Millis, number: usize, session: &Session) -> String {
    let state = match session.state {
        SessionState::Handshake => "handshake",
        SessionState::Connected if session.shadow.is_in_game() => "in game",
        SessionState::Connected => "connected",
        SessionState::Leaving(_) => "leaving",
    };
    let [up, down] = session.traffic;
    debug_assert_eq!(Direction::ToServer as usize, 0, "traffic is indexed by direction");
    let qport = session.qport.map_or_else(|| "-".to_owned(), |qport| qport.to_string());
    format!(
        "{number:>4} {:<22} {:<15} {qport:>5} {:<10} {state:<10} {:>7} {:>9} {:>9} {:>6} {}\n",
        session.client.to_string(),
        session.source.map_or_else(|| "proxy".to_owned(), |source| source.to_string()),
        session.shadow.protocol().unwrap_or_else(|| "-".to_owned()),
        now.since(session.opened).0 / 1000,
        up.datagrams,
        down.datagrams,
        up.undecoded + down.undecoded,
        session.name,
    )
}
