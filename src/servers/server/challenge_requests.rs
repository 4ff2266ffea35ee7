//! Challenges: requests of clients and masters, with the checks that the settings name.
//!
//! Source: Quake III protocol 68, connect; ioquake3's texts. Engine names: `SV_GetChallenge`.

use super::{
    authorization::{Admission, Authorizer},
    client::ServerRole,
};
use crate::{
    model::Challenge,
    node::Route,
    observe::Counter,
    serving::{connection::Connections, guards::ChallengeRequest},
    settings::{Settings, key},
    wire::connectionless::GetChallenge,
};

/// Answers a request for a challenge.
pub(super) fn handle_get_challenge(
    authorizer: &mut Authorizer,
    connections: &mut Connections<'_, ServerRole>,
    route: Route,
    request: GetChallenge<'_>,
    is_probe: bool,
) {
    // A master asks for a challenge and never joins.
    let admission =
        if is_probe { Admission::Now } else { authorizer.authorize(connections, route, request) };
    match admission {
        Admission::Now => issue_challenge(connections, route, request.client_challenge, is_probe),
        Admission::Deferred => {}
        Admission::Limited => {
            let what = "authorization requests";
            connections.stats.record_limit(Counter::ChallengesLimited, connections.now, what);
        }
    }
}

/// Sends a challenge. `is_probe`: without a limit.
pub(super) fn issue_challenge(
    connections: &mut Connections<'_, ServerRole>,
    route: Route,
    client_challenge: Option<Challenge>,
    is_probe: bool,
) {
    let is_timed = ping_limits(connections.rates) != (0, 0);
    let protocol = connections.rates.int(key::COM_PROTOCOL);
    connections.send_challenge(
        route,
        client_challenge,
        protocol,
        ChallengeRequest { is_timed, is_probe },
    );
}

/// Least and most ping in ms; 0 for no limit.
pub(super) fn ping_limits(settings: &Settings) -> (u64, u64) {
    let limit = |key| u64::from(settings.int(key).unsigned_abs());
    (limit(key::SV_MIN_PING), limit(key::SV_MAX_PING))
}
