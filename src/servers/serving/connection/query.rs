//! Query responses: getinfo and getstatus of server browsers.
//!
//! Source: Quake III protocol 68, getinfo and getstatus; the keys are ioquake3's.
//! Engine names: `SVC_Info`, `SVC_Status`.

use super::service::Service;
use crate::{
    limits::{QueryLimits, QueryShare, same_host},
    node::{LocalPort, Route},
    observe::Counter,
    wire::{
        Protocol,
        connectionless::{Echo, Message, Query, write_status_response},
        info::InfoString,
    },
};

/// Longest response in bytes: one datagram that is not fragmented by IP.
const MAX_REPLY_LEN: usize = 1400;

/// Local port of a server whose responses tell protocol 43.
const PORT_43: LocalPort = LocalPort(1);

/// Form of a query.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum QueryForm {
    /// `getinfo`.
    Info,
    /// `getstatus`.
    Status,
}

/// Decides about a query: `None` if it is dropped, else the share that its answer is charged to. Answers to masters are not
/// charged.
fn admit_query<S: Service>(
    service: &mut S,
    route: Route,
    is_probe: bool,
) -> Option<Option<(QueryLimits, QueryShare)>> {
    let limits = service.query_limits();
    let connections = service.connections();
    let is_client =
        connections.slots.iter().any(|(_, c)| same_host(c.remote.address(), route.remote));
    let (guards, now) = (connections.guards, connections.now);
    let share = limits.and_then(|limits| {
        if is_probe {
            return Some(None);
        }
        let share = guards.queries().admit(limits, now, route.remote, is_client);
        share.map(|share| Some((limits, share)))
    });
    if share.is_some() {
        connections.stats.bump(Counter::QueriesAnswered);
    } else {
        connections.stats.record_limit(Counter::QueriesLimited, now, "queries");
    }
    share
}

/// Answers a query. `is_probe`: it is the question of a master, without a limit.
pub(super) fn answer_query<S: Service>(
    service: &mut S,
    route: Route,
    query: Query<'_>,
    form: QueryForm,
    is_probe: bool,
) {
    let challenge = match query.echo() {
        Echo::Silence => return,
        Echo::Send(challenge) => Some(challenge),
        Echo::Omit => None,
    };
    let Some(share) = admit_query(service, route, is_probe) else { return };
    let mut response = Vec::new();
    let announce = |info: &mut InfoString| {
        if route.local == PORT_43 {
            // Replaces a number, so there is room.
            let _ = info.set("protocol", &Protocol::Q3_43.number.to_string());
            info.remove("sv_allowDownload");
        }
    };
    match form {
        QueryForm::Info => {
            let mut info = service.info_response(challenge);
            announce(&mut info);
            Message::InfoResponse(info.as_str().into()).write(&mut response);
        }
        QueryForm::Status => {
            let (mut info, players) = service.status_response();
            announce(&mut info);
            if let Some(challenge) = challenge {
                let _ = info.set("challenge", &challenge.to_string());
            }
            write_status_response(&mut response, &info, players, MAX_REPLY_LEN);
        }
    }
    let mut connections = service.connections();
    let len = connections.answer(route, |out| out.extend_from_slice(&response));
    if let Some((limits, share)) = share {
        connections.guards.queries().charge(limits, share, len);
    }
}
