//! Proxy counters: a table of metric names and help texts.

use crate::observe::counter_table;

counter_table! {
    /// Proxy counter.
    pub enum ProxyCounter;
    /// Values of all proxy counters.
    pub(super) struct Counters;

    DatagramsFromClients, "q3_proxy_datagrams_total{from=\"client\"}", "Datagrams received from clients.";
    DatagramsFromServer, "q3_proxy_datagrams_total{from=\"server\"}", "Datagrams received from the server.";
    BytesFromClients, "q3_proxy_bytes_total{from=\"client\"}", "Bytes received from clients.";
    BytesFromServer, "q3_proxy_bytes_total{from=\"server\"}", "Bytes received from the server.";
    UndecodedFromClients, "q3_proxy_undecoded_total{from=\"client\"}",
        "Datagrams of clients passed on without decoding.";
    UndecodedFromServer, "q3_proxy_undecoded_total{from=\"server\"}",
        "Datagrams of the server passed on without decoding.";
    Unmatched, "q3_proxy_dropped_total{reason=\"unmatched\"}", "Datagrams that matched no session.";
    WrongSource, "q3_proxy_dropped_total{reason=\"source\"}",
        "Datagrams at a port of a session that are not of its server.";
    RequestsLimited, "q3_proxy_dropped_total{reason=\"limit\"}",
        "Challenge requests, connects and rcon packets dropped by rate limits.";
    RconRefused, "q3_proxy_dropped_total{reason=\"rcon\"}",
        "Rcon packets dropped, because --rcon is not set.";
    CommandsRefused, "q3_proxy_dropped_total{reason=\"command\"}",
        "Connectionless packets dropped that no client sends to a server.";
    SessionsOpened, "q3_proxy_sessions_total{result=\"opened\"}", "Sessions opened.";
    SessionsRefused, "q3_proxy_sessions_total{result=\"refused\"}",
        "Sessions refused: too many in total or of one address.";
    SessionsEvicted, "q3_proxy_sessions_total{result=\"evicted\"}",
        "Sessions without a connection that gave way to new ones.";
    SessionsFailed, "q3_proxy_sessions_total{result=\"failed\"}", "Sessions whose port could not be opened.";
    Connections, "q3_proxy_connections_total", "Connections that the server accepted.";
    PortsFollowed, "q3_proxy_port_changes_total", "Port changes of clients by NAT rebinding.";
    ServersFollowed, "q3_proxy_redirects_total",
        "Challenge responses from another address of the server.";
    ClientsTold, "q3_proxy_silence_notices_total", "Clients told that the server does not answer.";
    ClientsDisconnected, "q3_proxy_disconnects_total",
        "Clients disconnected because the server fell silent or the proxy stopped.";
    QueriesAnswered, "q3_proxy_queries_total{result=\"answered\"}", "Queries answered.";
    QueriesLimited, "q3_proxy_queries_total{result=\"limited\"}", "Queries dropped by rate limits.";
    QueriesAsked, "q3_proxy_queries_asked_total", "Queries sent to the server.";
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn counter_names_are_unique() {
        let names: HashSet<_> = ProxyCounter::ALL.iter().map(|counter| counter.name()).collect();
        assert_eq!(names.len(), ProxyCounter::ALL.len());
        for counter in ProxyCounter::ALL {
            assert!(counter.name().starts_with("q3_proxy_"), "{}", counter.name());
            assert!(counter.help().ends_with('.'), "{}", counter.name());
        }
    }
}
