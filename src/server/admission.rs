//! Admission limits of the settings: challenges, protocols, private slots.
//!
//! Source: Quake III protocol 68, connect; ioquake3's texts. Engine names: `SV_GetChallenge`.

use std::net::SocketAddr;

use super::{Server, authorization::Admission, core::Core, game_faults::LEVEL_ENDED, lan::is_lan};
use crate::{
    model::{Challenge, ClientNum, Millis},
    node::Route,
    observe::Counter,
    serving::connection::AdmissionLimits,
    settings::key,
    wire::{Protocol, connectionless::GetChallenge, info::InfoString, userinfo::Userinfo},
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
    fn ping_limits(&self) -> (u64, u64) {
        let limit = |key| u64::from(self.settings.int(key).unsigned_abs());
        (limit(key::SV_MIN_PING), limit(key::SV_MAX_PING))
    }

    /// Returns the protocol with that number, and whether the number alone tells it. `None` if the
    /// number is not accepted.
    pub(super) fn protocol_with(&self, number: i32) -> Option<(&'static Protocol, bool)> {
        let newest = self.settings.int(key::COM_PROTOCOL);
        let legacy = self.settings.int(key::COM_LEGACYPROTOCOL);
        if number != newest && (number != legacy || legacy == 0) {
            return None;
        }
        // A number without a row, such as OpenArena's former 69 and 70, has the framing of a 71.
        let known = Protocol::with_number(number).next().map_or(71, |_| number);
        let guess = Protocol::with_number(known).next()?;
        if guess.next_with_number() == guess {
            return Some((guess, true));
        }
        let chosen = Protocol::named(&self.settings.choice(key::SV_WIRE71).to_string());
        Some(chosen.map_or((guess, false), |chosen| (chosen, true)))
    }

    /// Slots that a client with this userinfo may use.
    pub(super) fn slots_open_to(
        &self,
        info: &InfoString,
    ) -> impl Iterator<Item = ClientNum> + use<> {
        let password = self.settings.text(key::SV_PRIVATE_PASSWORD);
        let private = self.settings.int(key::SV_PRIVATE_CLIENTS).unsigned_abs() as usize;
        let may_be_private = !password.is_empty() && Userinfo(info).password() == password;
        let first = if may_be_private { 0 } else { private };
        ClientNum::all().take(self.slots()).skip(first)
    }
}

impl Server {
    /// Limits of connects from an address by the settings.
    pub(super) fn admission_limits_of(&self, from: SocketAddr) -> AdmissionLimits {
        let settings = &self.core.settings;
        let limit = |key| settings.int(key).unsigned_abs();
        let subnet = if from.ip().to_canonical().is_ipv6() {
            key::SV_MAXCLIENTS_PER_SUBNET6
        } else {
            key::SV_MAXCLIENTS_PER_SUBNET
        };
        let per_host = limit(key::SV_MAXCLIENTS_PER_IP);
        AdmissionLimits {
            closed: self.faults.has_ended_level().then_some(LEVEL_ENDED),
            protocol: settings.int(key::PROTOCOL),
            ping_ms: self.core.ping_limits(),
            reconnect_interval: Millis::seconds(settings.int(key::SV_RECONNECTLIMIT).max(0) as u64),
            per_host: per_host as usize,
            per_subnet: limit(subnet) as usize,
            per_site: if per_host == 0 { self.core.slots() as u32 } else { per_host },
            is_exempt: is_lan(settings, from),
        }
    }
}
