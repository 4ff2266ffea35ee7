//! PVS of 64 players: one player's visible set, and the index update per frame.
//!
//! Without the map's data there is nothing to measure.

use std::hint::black_box;

use fragd::{
    model::{EntityNum, EntityShared, EntityState, Vec3},
    world::{Bsp, World as Level},
};

use super::{
    Operation, installed_maps,
    movement::{MAPS, World, commands, rules},
};
use fragd::world::collision::{CollisionMap, TracePrecision};

/// Players on the map.
const PLAYERS: usize = 64;
/// Distance in the list between commands of different players; those of one life are adjacent.
const STRIDE: usize = 64;
/// A player's box.
const MINS: Vec3 = Vec3::new(-15.0, -15.0, -24.0);
const MAXS: Vec3 = Vec3::new(15.0, 15.0, 32.0);

pub(crate) fn operations() -> Vec<Operation> {
    MAPS.into_iter().filter_map(measured).flatten().collect()
}

fn measured(map: &str) -> Option<[Operation; 2]> {
    let bsp = installed_maps::load(map)?;
    let origins = origins(&bsp);
    let eyes: Vec<_> = origins.iter().map(|&origin| origin + Vec3::new(0.0, 0.0, 26.0)).collect();
    let mut world = Level::new(bsp, TracePrecision::Single).expect("a sound map");
    place(&mut world, &origins);
    let seen_from = move |eye: Vec3| world.visible_from(&world.bsp().viewpoint(eye)).iter().count();
    let size = super::average(&eyes, "seen", |&eye| seen_from(eye));
    let culled = Operation::over(format!("64 players culled, {map}"), size, eyes, move |&eye| {
        black_box(seen_from(eye));
    });

    let mut world =
        Level::new(installed_maps::load(map)?, TracePrecision::Single).expect("a sound map");
    let starts: Vec<_> = (0..STRIDE).map(|start| origins[start..].to_vec()).collect();
    let size = format!("{PLAYERS} moved");
    let placed =
        Operation::over(format!("64 players placed, {map}"), size, starts, move |origins| {
            place(&mut world, origins);
        });
    Some([culled, placed])
}

/// Links a player at equidistant positions.
fn place(world: &mut Level, origins: &[Vec3]) {
    let places = origins.iter().step_by(STRIDE).take(PLAYERS);
    let numbers = EntityNum::all().zip(places).map(|(number, &origin)| {
        let mut state = EntityState::numbered(number);
        let mut shared =
            EntityShared { current_origin: origin, mins: MINS, maxs: MAXS, ..Default::default() };
        world.link(number, &mut state, &mut shared);
    });
    assert_eq!(numbers.count(), PLAYERS, "as many as a server holds");
    world.update_pvs_index();
}

/// Positions of players along their paths.
fn origins(bsp: &Bsp) -> Vec<Vec3> {
    let mut world =
        World::new(CollisionMap::new(bsp, TracePrecision::Single).expect("a sound map"));
    commands(bsp, &rules(), &mut world).iter().map(|(state, _)| state.origin).collect()
}
