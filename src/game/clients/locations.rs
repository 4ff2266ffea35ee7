//! Locations: named points of a level that team mates are told.
//!
//! Clients know the plain names by number; what is said shows them in their colors. Invariant: a place's
//! number is at most 63, as many names have configstrings. Source: the base game's
//! location entities.

use super::Clients;
use crate::game::{Host, userinfo::clean_text};
use crate::model::{ClientNum, Vec3};

/// Locations that have a number; 0 is nowhere.
const MAX_PLACES: usize = 63;
/// Longest name, in bytes.
const MAX_NAME_LEN: usize = 48;
/// Most colors that a name may have.
const MAX_COLOUR: i32 = 7;

/// One place.
#[derive(Clone, Debug)]
struct Place {
    at: Vec3,
    name: String,
}

/// The places of a level, in the order of its entities: the first one has number 1.
#[derive(Clone, Debug, Default)]
pub(in crate::game) struct Locations(Vec<Place>);

impl Locations {
    /// Adds a place with a name and a color, 0 for none. What is beyond the last number is left out.
    pub(in crate::game) fn add(&mut self, at: Vec3, name: &str, color: i32) {
        let name = clean_text(name, MAX_NAME_LEN);
        let name = match color.min(MAX_COLOUR) {
            color @ 1.. => format!("^{color}{name}^7"),
            _ => name,
        };
        if self.0.len() < MAX_PLACES {
            self.0.push(Place { at, name });
        }
    }

    /// Forgets all.
    pub(in crate::game) fn clear(&mut self) {
        self.0.clear();
    }

    /// The number of the nearest place that may be seen from a point; 0 without one.
    fn nearest(&self, host: &dyn Host, from: Vec3) -> usize {
        let visible = |place: &Place| {
            host.world().is_none_or(|world| world.bsp().sees(from, place.at, Some(world.areas())))
        };
        let mut best = (f32::INFINITY, 0);
        for (number, place) in self.0.iter().enumerate() {
            let distance = (place.at - from).length();
            if distance < best.0 && visible(place) {
                best = (distance, number + 1);
            }
        }
        best.1
    }
}

impl Clients {
    /// The number of the place that a client is at; 0 for none.
    pub(super) fn place_number(&self, host: &dyn Host, client: ClientNum) -> usize {
        let player = self.player(client);
        player.map_or(0, |player| self.locations.nearest(host, player.state.origin))
    }

    /// The name of the place that a client is at.
    pub(super) fn place_of(&self, host: &dyn Host, client: ClientNum) -> Option<&str> {
        let number = self.place_number(host, client).checked_sub(1)?;
        self.locations.0.get(number).map(|place| place.name.as_str())
    }
}
