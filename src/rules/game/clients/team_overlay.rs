//! Team overlay: location, health and weapon of teammates, sent once a second.
//!
//! Source: the base game's team overlay.

use super::{ClientContext, Role};
use crate::model::ClientNum;

use std::fmt::Write as _;

/// Interval between overlays, in ms.
pub(super) const OVERLAY_MS: i32 = 1000;
/// Maximum teammates in an overlay.
const MAX_SHOWN: usize = 8;

impl ClientContext<'_> {
    /// Sends the overlay to every client that requested it, when the interval has passed.
    pub(super) fn send_team_overlays(&mut self) {
        if !self.clients.game_type.has_teams()
            || self.clients.now.distance(self.clients.overlay_at) <= 0
        {
            return;
        }
        self.clients.overlay_at = self.clients.now + OVERLAY_MS;
        let locations: Vec<usize> = ClientNum::all()
            .map(|client| match self.clients.role(client).color() {
                Some(_) => self.clients.location_number(&*self.host, client),
                None => 0,
            })
            .collect();
        for client in ClientNum::all() {
            let Some(player) = self.clients.active(client).filter(|player| player.team_overlay)
            else {
                continue;
            };
            if player.is_bot {
                continue;
            }
            let seen = match self.clients.role(client) {
                Role::Following(target) if self.clients.ruleset.teams.overlay_for_followers => {
                    target
                }
                Role::Playing(_) => client,
                _ => continue,
            };
            if let Some(text) = self.overlay(seen, &locations) {
                self.host.send_command(Some(client), &text);
            }
        }
    }

    /// Returns the overlay command for a client's team.
    fn overlay(&self, of: ClientNum, locations: &[usize]) -> Option<String> {
        let color = self.clients.role(of).color()?;
        let stats = self.clients.ruleset.stats;
        let mut entries = String::new();
        let mut count = 0;
        let mates =
            self.clients.team_of(color).filter_map(|mate| Some((mate, self.clients.active(mate)?)));
        for (mate, player) in mates.take(MAX_SHOWN) {
            let location = locations[mate.index()];
            let [health, armor] =
                [stats.health, stats.armor].map(|stat| player.state.stats[stat].max(0));
            let (weapon, powerups) = (player.state.weapon, player.entity.powerups);
            let _ = write!(entries, " {mate} {location} {health} {armor} {weapon} {powerups}");
            count += 1;
        }
        Some(format!("tinfo {count} {entries}"))
    }
}
