//! What one of 64 players sees of the others: clusters and areas, as a snapshot is made by them.
//! Without the map's data there is nothing to measure.

use std::hint::black_box;

use fragd::{
    model::Vec3,
    world::{Areas, Bsp, Occupancy},
};

use super::{
    Operation, maps,
    movement::{MAPS, World, commands, rules},
};
use fragd::world::collision::{CollisionMap, Family};

/// Players on the map.
const PLAYERS: usize = 64;
/// Commands of one life are neighbours: who is this far apart in the list is somebody else.
const STRIDE: usize = 64;
/// A player's box, grown as linking does.
const MINS: Vec3 = Vec3::new(-16.0, -16.0, -25.0);
const MAXS: Vec3 = Vec3::new(16.0, 16.0, 33.0);

pub(crate) fn operations() -> Vec<Operation> {
    MAPS.into_iter().filter_map(measured).collect()
}

fn measured(map: &str) -> Option<Operation> {
    let bsp = maps::load(map)?;
    let origins = origins(&bsp);
    let areas = Areas::new(bsp.area_count);
    let eyes: Vec<_> = origins.iter().map(|&origin| origin + Vec3::new(0.0, 0.0, 26.0)).collect();
    let players: Vec<_> = origins
        .iter()
        .step_by(STRIDE)
        .take(PLAYERS)
        .map(|&origin| Occupancy::of_box(&bsp, origin + MINS, origin + MAXS))
        .collect();
    assert_eq!(players.len(), PLAYERS, "as many as a server holds");
    let seen_from = move |eye: Vec3| {
        let viewpoint = bsp.viewpoint(eye);
        players.iter().filter(|player| player.is_seen(&viewpoint, &areas)).count()
    };
    let size = super::average(&eyes, "seen", |&eye| seen_from(eye));
    Some(Operation::over(format!("64 players culled, {map}"), size, eyes, move |&eye| {
        black_box(seen_from(eye));
    }))
}

/// Where players are on their way.
fn origins(bsp: &Bsp) -> Vec<Vec3> {
    let mut world = World(CollisionMap::new(bsp, Family::Single).expect("a sound map"));
    commands(bsp, &rules(), &mut world).iter().map(|(state, _)| state.origin).collect()
}
