//! Admission of viewers: challenge and connect.
//!
//! Nothing is stored for an address before it has returned its challenge. Rejections have the texts that
//! clients know. Source: Quake III protocol 68, connect; ioquake3's texts.

use super::{house::House, viewer::Viewer, viewers::ViewerKey};
use crate::{
    limits::same_host,
    model::{Challenge, Millis, Qport, text},
    netchan::{AddressMatch, PeerAddress},
    node::Route,
    serving::rejection::Rejection,
    wire::{
        Protocol,
        connect::{Claim, Connect},
        connectionless::{ChallengeResponse, ConnectResponse, GetChallenge, Message},
    },
};

/// Newest protocol number that is accepted. Its two framings are told apart by the first packet.
pub(super) const NEWEST_PROTOCOL: i32 = 71;
/// Silence of a viewer after which a connect from its address and port takes over its place.
const REPLACED_AFTER: Millis = Millis::seconds(1);
/// The same for a connect from another port of its host, with its qport.
const ABANDONED_AFTER: Millis = Millis::seconds(5);
/// Least time between two connects of one client.
const RECONNECT_INTERVAL: Millis = Millis::seconds(1);

impl House {
    /// Answers a request for a challenge.
    pub(super) fn answer_challenge(&mut self, route: Route, request: GetChallenge<'_>) {
        let viewers = &self.viewers;
        let is_used = |challenge| viewers.has_used(challenge);
        let issued = self.guards.issue_challenge(self.now, route.remote, (false, false), is_used);
        let Some(challenge) = issued else {
            self.counts.dropped_datagrams += 1;
            return;
        };
        let client_challenge = request.client_challenge;
        let protocol = client_challenge.map(|_| NEWEST_PROTOCOL);
        let response = ChallengeResponse { challenge, client_challenge, protocol };
        self.answer(route, |out| Message::ChallengeResponse(response).write(out));
    }

    /// Handles a `connect`: accepts or rejects it.
    pub(super) fn handle_connect(&mut self, route: Route, request: Connect<'_>) {
        let Err(rejection) = self.admit(route, request) else { return };
        match rejection {
            Rejection::Message(text) => {
                self.counts.rejected += 1;
                if self.guards.allows_rejection(self.now, route.remote) {
                    let text = text + "\n";
                    self.answer(route, |out| Message::Print(text.as_str().into()).write(out));
                }
            }
            Rejection::ResendAccept | Rejection::Unanswered => {}
        }
    }

    fn admit(&mut self, route: Route, request: Connect<'_>) -> Result<(), Rejection> {
        let text = request.text()?;
        let claim = text.claim();
        let qport = claim.qport.unwrap_or_default();
        let challenge = claim.challenge.unwrap_or_default();
        let earlier = self.earlier_viewer(route, qport);
        let protocol = match self.validate_connect(route, &claim, earlier) {
            Err(Rejection::ResendAccept) => {
                if let Some(viewer) = earlier.and_then(|key| self.viewers.get_mut(key)) {
                    // The viewer is not silent: the answer to its connect was lost.
                    viewer.received_at = self.now;
                }
                self.accept(route, challenge);
                return Ok(());
            }
            validated => validated?,
        };
        let info = text.userinfo()?;
        self.check_limits(route, earlier)?;
        if let Some(key) = earlier {
            self.drop_viewer(key, "reconnected");
            self.viewers.remove(key);
        }
        let remote = PeerAddress::new(route.remote, qport).with_local_ip(route.local_ip);
        let viewer = Viewer::new(remote, challenge, protocol, self.now);
        let key = self.viewers.insert(viewer);
        self.store_userinfo(key, &info);
        self.accept(route, challenge);
        self.counts.admitted += 1;
        if let Some(viewer) = self.viewers.get(key) {
            let name = text::escaped(viewer.name.as_bytes());
            log::info!("viewer {key} \"{name}\" connected from {}", route.remote);
        }
        Ok(())
    }

    /// Earlier connection that a connect takes over.
    fn earlier_viewer(&self, route: Route, qport: Qport) -> Option<ViewerKey> {
        let silent_for = |viewer: &Viewer, least| {
            viewer.is_zombie() || self.now.since(viewer.received_at) >= least
        };
        let same_client = self.viewers.find(route.remote, qport).filter(|&key| {
            self.viewers.get(key).is_some_and(|viewer| {
                match viewer.remote.match_source(route.remote, qport) {
                    AddressMatch::Exact => true,
                    AddressMatch::PortChanged => silent_for(viewer, ABANDONED_AFTER),
                    AddressMatch::Mismatch => false,
                }
            })
        });
        same_client.or_else(|| {
            // The challenge proves the address, which no other client can have: the game was restarted.
            let key = self.viewers.at_address(route.remote)?;
            silent_for(self.viewers.get(key)?, REPLACED_AFTER).then_some(key)
        })
    }

    fn validate_connect(
        &self,
        route: Route,
        claim: &Claim,
        earlier: Option<ViewerKey>,
    ) -> Result<(&'static Protocol, bool), Rejection> {
        let number = claim.protocol.unwrap_or(0);
        let guess = Protocol::with_number(number).next().ok_or_else(|| {
            Rejection::Message(format!(
                "Server uses protocol version {NEWEST_PROTOCOL} (yours is {number})."
            ))
        })?;
        let challenge = claim.challenge.unwrap_or_default();
        if let Some(viewer) = earlier.and_then(|key| self.viewers.get(key)) {
            if viewer.channel.challenge() == challenge
                && !viewer.has_sent_message()
                && !viewer.is_zombie()
            {
                return Err(Rejection::ResendAccept);
            }
            if self.now.since(viewer.connected_at) < RECONNECT_INTERVAL {
                return Err(Rejection::message("Reconnecting, please wait 1 second."));
            }
        }
        self.guards
            .check_challenge(self.now, route.remote, challenge, false)
            .ok_or_else(|| Rejection::message("No or bad challenge for your address."))?;
        if self.viewers.at_address(route.remote).is_some_and(|key| Some(key) != earlier) {
            return Err(Rejection::message("Reconnecting, please wait 1 second."));
        }
        if !self.stage.has_level() {
            return Err(Rejection::message("The source of this relay is not there yet."));
        }
        Ok((guess, guess.next_with_number() == guess))
    }

    /// Checks the number of viewers, in all and of one address. Loopback addresses are exempt from the latter.
    fn check_limits(&mut self, route: Route, earlier: Option<ViewerKey>) -> Result<(), Rejection> {
        let others = self.viewers.len() - usize::from(earlier.is_some());
        if others >= self.options.max_viewers as usize {
            return Err(Rejection::message("Server is full"));
        }
        if route.remote.ip().to_canonical().is_loopback() {
            return Ok(());
        }
        let most = self.options.max_per_address;
        let of_host = self.viewers.iter().filter(|(key, viewer)| {
            Some(*key) != earlier && same_host(viewer.remote.address(), route.remote)
        });
        if of_host.count() >= most as usize
            || !self.guards.allows_admission(self.now, route.remote, most)
        {
            return Err(Rejection::message("Too many connections."));
        }
        Ok(())
    }

    fn accept(&mut self, route: Route, challenge: Challenge) {
        let response = ConnectResponse { challenge: Some(challenge), protocol: None };
        self.answer(route, |out| Message::ConnectResponse(response).write(out));
    }
}
