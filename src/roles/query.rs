//! Query role (`fragd query`).

use std::net::SocketAddr;

use fragd::{
    cli::{ExitStatus, QueryOptions, ServerAddress},
    client::query::{self, Query, QueryResult, Rejected},
    discovery::Family,
    io::{self, Clock, Options, Sockets},
    model::Millis,
};

/// Queries a server and prints the result.
pub(crate) fn run(options: &QueryOptions) -> ExitStatus {
    match ask(options) {
        Ok(text) => super::output::show(&text, ExitStatus::Done),
        Err(what) => {
            eprintln!("fragd: {what}");
            ExitStatus::Failed
        }
    }
}

fn ask(options: &QueryOptions) -> Result<String, String> {
    let result = match (&options.server, options.pid) {
        (Some(server), _) => ask_address(options, server)?,
        (None, Some(pid)) => ask_process(options, pid)?,
        (None, None) => return Err("no server to query".to_owned()),
    };
    if options.json {
        return Ok(result.to_json() + "\n");
    }
    let settings =
        if options.settings { format!("\n{}", result.settings()) } else { String::new() };
    Ok(format!("{result}{settings}"))
}

/// Asks the server that a process runs: the first of its UDP sockets that answers.
fn ask_process(options: &QueryOptions, pid: u32) -> Result<QueryResult, String> {
    let listeners = io::udp_listeners(pid)
        .map_err(|error| format!("UDP sockets of process {pid} not readable: {error}"))?;
    let mut failed = format!("process {pid} has no UDP socket");
    for listener in listeners {
        let server = ServerAddress::from(listener);
        match ask_address(options, &server) {
            Ok(result) => return Ok(result),
            Err(what) => failed = what,
        }
    }
    Err(failed)
}

fn ask_address(options: &QueryOptions, asked: &ServerAddress) -> Result<QueryResult, String> {
    let server = io::resolve(&asked.to_string(), asked.port)?;
    let entropy =
        io::random_bytes().map_err(|error| format!("random numbers not available: {error}"))?;
    let timeout = Millis(u64::from(options.timeout_ms));
    let at = |family| options.port(asked, family).map(|port| SocketAddr::new(server.ip(), port));
    let clock = Clock::start();
    let query_options = query::QueryOptions {
        timeout,
        retry: Millis(timeout.0.clamp(1, 1000)),
        quake3: at(Family::Quake3),
        quake4: at(Family::Quake4),
        quakeworld: at(Family::QuakeWorld),
        ..query::QueryOptions::new(server, u64::from_le_bytes(entropy))
    };
    let mut query = Query::new(query_options, clock.now());
    let sockets = Sockets::ephemeral(1, server.ip()).map_err(|error| error.to_string())?;
    io::run(&mut query, sockets, &clock, Options::default())
        .map_err(|error| format!("event loop failed: {error}"))?;
    query.result().cloned().ok_or_else(|| {
        let shown = if asked.has_port { server.to_string() } else { server.ip().to_string() };
        no_result(&shown, timeout, query.rejected())
    })
}

/// Returns the reason for which a query has no result.
fn no_result(server: &str, timeout: Millis, rejected: Rejected) -> String {
    let Rejected { oversize, invalid } = rejected;
    let counts: Vec<String> = [(invalid, "invalid"), (oversize, "too long")]
        .into_iter()
        .filter(|&(count, _)| count > 0)
        .map(|(count, what)| format!("{count} {what}"))
        .collect();
    if counts.is_empty() {
        return format!(
            "no answer from {server} within {timeout}: is a server running there, and does a firewall let \
             UDP through?"
        );
    }
    format!(
        "invalid answers from {server} within {timeout}: datagrams {} (expected infoResponse and statusResponse \
         of a game server, with the challenge of the request)",
        counts.join(", ")
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn invalid_answers_are_told_from_silence() {
        let text = |oversize, invalid| {
            no_result("192.0.2.1:27960", Millis(500), Rejected { oversize, invalid })
        };
        assert!(text(0, 0).starts_with("no answer from 192.0.2.1:27960 within 500 ms"));
        assert!(text(1, 0).contains("datagrams 1 too long ("), "{}", text(1, 0));
        assert!(text(1, 2).contains("datagrams 2 invalid, 1 too long ("), "{}", text(1, 2));
        assert!(text(0, 2).starts_with("invalid answers from 192.0.2.1:27960"));
    }
}
