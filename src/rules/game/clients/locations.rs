//! Locations: named positions of a level, sent in team chat and the team overlay.
//!
//! The overlay sends the number, chat the colored name. Invariant: a location number is at most 63,
//! the number of location configstrings. Source: the base game's location entities.

use super::Clients;
use crate::game::{Host, userinfo::clean_text};
use crate::model::{ClientNum, Vec3};

/// Maximum locations of a level; number 0 means no location.
const MAX_LOCATIONS: usize = 63;
/// Maximum length of a name, in bytes.
const MAX_NAME_LEN: usize = 48;
/// Highest color number of a name.
const MAX_COLOR: i32 = 7;

/// A location: position and name.
#[derive(Clone, Debug)]
struct Location {
    at: Vec3,
    name: String,
}

/// Locations of a level in the order of its entities; the first has number 1.
#[derive(Clone, Debug, Default)]
pub(in crate::game) struct Locations(Vec<Location>);

impl Locations {
    /// Adds a location with a color; 0 means none. Locations beyond the maximum are dropped.
    pub(in crate::game) fn add(&mut self, at: Vec3, name: &str, color: i32) {
        let name = clean_text(name, MAX_NAME_LEN);
        let name = match color.min(MAX_COLOR) {
            color @ 1.. => format!("^{color}{name}^7"),
            _ => name,
        };
        if self.0.len() < MAX_LOCATIONS {
            self.0.push(Location { at, name });
        }
    }

    /// Removes all locations.
    pub(in crate::game) fn clear(&mut self) {
        self.0.clear();
    }

    /// Returns the number of the nearest location in the PVS of a point; 0 without one.
    fn nearest(&self, host: &dyn Host, from: Vec3) -> usize {
        let visible = |location: &Location| {
            host.world()
                .is_none_or(|world| world.bsp().sees(from, location.at, Some(world.areas())))
        };
        let mut best = (f32::INFINITY, 0);
        for (number, location) in self.0.iter().enumerate() {
            let distance = (location.at - from).length();
            if distance < best.0 && visible(location) {
                best = (distance, number + 1);
            }
        }
        best.1
    }
}

impl Clients {
    /// Returns the location number of a client; 0 for none.
    pub(super) fn location_number(&self, host: &dyn Host, client: ClientNum) -> usize {
        let player = self.player(client);
        player.map_or(0, |player| self.locations.nearest(host, player.state.origin))
    }

    /// Returns the location name of a client.
    pub(super) fn location_name(&self, host: &dyn Host, client: ClientNum) -> Option<&str> {
        let number = self.location_number(host, client).checked_sub(1)?;
        self.locations.0.get(number).map(|location| location.name.as_str())
    }
}
