//! What flags stand on: seen by all, touched by nobody.
//!
//! Source: OpenArena's base stands.

use crate::model::{EntityNum, Vec3};
use crate::world::entity_string::MapEntity;
use crate::{
    bg::{EntityType, Team, contents},
    game::{
        Host,
        deathmatch::{Deathmatch, things::What},
    },
};

/// Spawn flag of a stand that stays in the air.
const FLOATS: i32 = 1;
/// How far down a floor is looked for.
const DEPTH: f32 = 4096.0;
/// A stand's box.
const MINS: Vec3 = Vec3::new(-15.0, -15.0, 0.0);
const MAXS: Vec3 = Vec3::new(15.0, 15.0, 87.0);

/// `team_redobelisk`.
pub(in crate::game::deathmatch) fn red(
    game: &mut Deathmatch,
    host: &mut dyn Host,
    entity: &MapEntity,
) {
    game.add_stand(host, entity, Team::Red);
}

/// `team_blueobelisk`.
pub(in crate::game::deathmatch) fn blue(
    game: &mut Deathmatch,
    host: &mut dyn Host,
    entity: &MapEntity,
) {
    game.add_stand(host, entity, Team::Blue);
}

impl Deathmatch {
    fn add_stand(&mut self, host: &mut dyn Host, entity: &MapEntity, team: Team) {
        if !self.people.game_type.has_flags() {
            return;
        }
        let Some(number) = self.add(entity, What::Scenery) else { return };
        let from = entity.origin() + Vec3::new(0.0, 0.0, 1.0);
        let below = entity.origin() - Vec3::new(0.0, 0.0, DEPTH);
        let floor = host.world().map(|world| {
            world.scene(&*self, EntityNum::NONE).trace(from, MINS, MAXS, below, contents::SOLID)
        });
        let Some(thing) = self.things.get_mut(number) else { return };
        thing.state.e_type = EntityType::Team as i32;
        thing.state.modelindex = team as i32;
        (thing.shared.mins, thing.shared.maxs) = (MINS, MAXS);
        let stands = floor.filter(|trace| !trace.startsolid && thing.spawnflags & FLOATS == 0);
        thing.put(stands.map_or(entity.origin(), |trace| trace.endpos));
        self.things.link(host, number);
    }
}
