//! What players are told of their team mates once a second: where they are and how they do.
//!
//! Source: the base game's team overlay.

use super::{People, Role};
use crate::game::Host;
use crate::model::ClientNum;

use std::fmt::Write as _;

/// How often, in milliseconds.
pub(super) const OVERLAY_MS: i32 = 1000;
/// Team mates that clients have room for.
const MAX_SHOWN: usize = 8;

impl People {
    /// Tells everybody who wants to know of the team mates, when it is time.
    pub(super) fn tell_overlays(&mut self, host: &mut dyn Host) {
        if !self.game_type.has_teams() || self.now.distance(self.overlay_at) < 0 {
            return;
        }
        self.overlay_at = self.now + OVERLAY_MS;
        let places: Vec<usize> = ClientNum::all()
            .map(|client| match self.role(client).colour() {
                Some(_) => self.place_number(&*host, client),
                None => 0,
            })
            .collect();
        for client in ClientNum::all() {
            let Some(player) = self.active(client).filter(|player| player.team_overlay) else {
                continue;
            };
            if player.is_bot {
                continue;
            }
            let seen = match self.role(client) {
                Role::Following(target) if self.profile.overlay_for_followers => target,
                Role::Playing(_) => client,
                _ => continue,
            };
            if let Some(text) = self.overlay(seen, &places) {
                host.send_command(Some(client), &text);
            }
        }
    }

    /// The overlay of a client's team.
    fn overlay(&self, of: ClientNum, places: &[usize]) -> Option<String> {
        let colour = self.role(of).colour()?;
        let stats = self.profile.stats;
        let mut entries = String::new();
        let mut count = 0;
        let mates = self.team_of(colour).filter_map(|mate| Some((mate, self.active(mate)?)));
        for (mate, player) in mates.take(MAX_SHOWN) {
            let place = places[mate.index()];
            let [health, armor] =
                [stats.health, stats.armor].map(|stat| player.state.stats[stat].max(0));
            let (weapon, powerups) = (player.state.weapon, player.entity.powerups);
            let _ = write!(entries, " {mate} {place} {health} {armor} {weapon} {powerups}");
            count += 1;
        }
        Some(format!("tinfo {count} {entries}"))
    }
}
