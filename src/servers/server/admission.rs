//! Challenges: requests of clients and masters, with the checks that the settings name.
//!
//! Source: Quake III protocol 68, connect; ioquake3's texts. Engine names: `SV_GetChallenge`.

use super::{authorization::Admission, core::Core};
use crate::{
    model::Challenge, node::Route, observe::Counter, settings::key,
    wire::connectionless::GetChallenge,
};

impl Core {
    /// Answers a request for a challenge.
    pub(super) fn handle_get_challenge(
        &mut self,
        route: Route,
        request: GetChallenge<'_>,
        is_probe: bool,
    ) {
        let ours = self.settings.text(key::COM_GAMENAME);
        // Clients of protocol 68 send no game name.
        if !request.gamename.is_empty() && request.gamename != *ours {
            let text = format!("Game mismatch: This is a {ours} server\n");
            self.connections().send_rejection(route, &text);
            return;
        }
        // A master asks for a challenge and never joins.
        match if is_probe { Admission::Now } else { self.authorize(route, request) } {
            Admission::Now => self.send_challenge(route, request.client_challenge, is_probe),
            Admission::Deferred => {}
            Admission::Limited => self.stats.bump(Counter::ChallengesLimited),
        }
    }

    /// Sends a challenge. `is_probe`: without a limit.
    pub(super) fn send_challenge(
        &mut self,
        route: Route,
        client_challenge: Option<Challenge>,
        is_probe: bool,
    ) {
        let is_timed = self.ping_limits() != (0, 0);
        let protocol = self.settings.int(key::COM_PROTOCOL);
        let form = (is_timed, is_probe);
        self.connections().send_challenge(route, client_challenge, protocol, form);
    }

    /// Least and most ping in ms; 0 for no limit.
    pub(super) fn ping_limits(&self) -> (u64, u64) {
        let limit = |key| u64::from(self.settings.int(key).unsigned_abs());
        (limit(key::SV_MIN_PING), limit(key::SV_MAX_PING))
    }
}
