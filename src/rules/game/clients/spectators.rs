//! Spectators: following another player.
//!
//! Source: the base game's spectator rules; OpenArena's.

use super::{ClientContext, Clients, Role};
use crate::model::{Buttons, ClientNum, PlayerState, limits::MAX_CLIENTS};

impl ClientContext<'_> {
    /// Makes a client follow `target`, if that is a player. A player becomes a spectator first.
    pub(in crate::game) fn follow(&mut self, client: ClientNum, target: ClientNum) {
        if target == client || !self.clients.plays(target) {
            return;
        }
        if self.clients.role(client).plays() {
            self.give_up(client, Role::Spectating);
            self.change_role(client, Role::Spectating);
        }
        self.clients.set_role(client, Role::Following(target));
        self.refresh_follower(client);
    }

    /// Follows the next player in slot order; `step` is 1 or -1. A camera switches between its two players.
    pub(in crate::game) fn follow_next(&mut self, client: ClientNum, step: i32) {
        if let Role::AutoFollowing(place) = self.clients.role(client) {
            // A camera of the first player switches to the second and back.
            self.clients.set_role(client, Role::AutoFollowing(1 - place.min(1)));
            return self.refresh_follower(client);
        }
        let slots = MAX_CLIENTS as i32;
        let from = self.clients.target(client).unwrap_or(client).index() as i32;
        let next = (1..slots)
            .filter_map(|n| ClientNum::new((from + n * step).rem_euclid(slots) as usize))
            .find(|&other| other != client && self.clients.plays(other));
        if let Some(next) = next {
            self.follow(client, next);
        }
    }

    /// Makes a client a free spectator at the origin of the followed player.
    pub(in crate::game) fn stop_following(&mut self, client: ClientNum) {
        if self.clients.target(client).is_none() {
            return;
        }
        let clients = &mut *self.clients;
        clients.sessions[client.index()].role = Role::Spectating;
        let now = clients.now;
        if let Some(player) = clients.players[client.index()].as_mut() {
            player.stop_following(now);
        }
    }

    /// Handles the newly pressed buttons of a spectator.
    pub(in crate::game) fn spectator_buttons(&mut self, client: ClientNum, pressed: i32) {
        let pressed = Buttons(pressed);
        if pressed.contains(Buttons::ATTACK) {
            self.follow_next(client, 1);
        } else if pressed.contains(Buttons::USE_HOLDABLE)
            && self.clients.ruleset.teams.use_stops_following
        {
            self.stop_following(client);
        }
    }

    /// Copies the player states of this frame to the clients that follow.
    pub(in crate::game) fn refresh_followers(&mut self) {
        for client in ClientNum::all() {
            if self.clients.active(client).is_some() {
                self.refresh_follower(client);
            }
        }
    }

    pub(super) fn refresh_follower(&mut self, client: ClientNum) {
        let clients = &mut *self.clients;
        let role = clients.role(client);
        if !matches!(role, Role::Following(_) | Role::AutoFollowing(_)) {
            return;
        }
        let seen: Option<PlayerState> = clients
            .target(client)
            .and_then(|target| clients.player(target))
            .map(|other| other.state);
        match (seen, clients.players[client.index()].as_mut()) {
            (Some(seen), Some(player)) => player.follow(&seen),
            (None, Some(player)) if matches!(role, Role::AutoFollowing(_)) => {
                // Another player may join later.
                player.stop_following(clients.now);
            }
            (None, Some(_)) => {
                clients.sessions[client.index()].role = Role::Spectating;
                self.rules.begin(self.clients, self.host, client);
            }
            (_, None) => {}
        }
    }

    /// Makes the followers of a client that disconnects free spectators at its place.
    pub(in crate::game) fn release_followers_of(&mut self, gone: ClientNum) {
        for client in ClientNum::all() {
            if self.clients.role(client) == Role::Following(gone) {
                let clients = &mut *self.clients;
                clients.sessions[client.index()].role = Role::Spectating;
                let now = clients.now;
                if let Some(player) = clients.players[client.index()].as_mut() {
                    player.stop_following(now);
                }
            }
        }
    }

    /// Makes the followers of a client that stopped playing free spectators.
    pub(in crate::game) fn stop_followers_of(&mut self, gone: ClientNum) {
        for client in ClientNum::all() {
            let clients = &mut *self.clients;
            if clients.role(client) == Role::Following(gone) && clients.active(client).is_some() {
                clients.sessions[client.index()].role = Role::Spectating;
                self.rules.begin(self.clients, self.host, client);
            }
        }
    }
}

impl Clients {
    /// Returns the player that a client follows.
    fn target(&self, client: ClientNum) -> Option<ClientNum> {
        let target = match self.role(client) {
            Role::Following(target) => Some(target),
            Role::AutoFollowing(place) => ClientNum::all()
                .filter(|&other| other != client && self.plays(other))
                .nth(usize::from(place)),
            Role::Playing(_) | Role::Spectating | Role::Scoreboard => None,
        };
        target.filter(|&target| self.plays(target))
    }
}
