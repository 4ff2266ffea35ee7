//! Flag bases: visible entities without collision.
//!
//! Source: OpenArena's base stands.

use crate::bg::{EntityType, Team, contents};
use crate::game::deathmatch::{context::Context, entity_kinds::EntityKind, targets::Targets};
use crate::model::{EntityNum, Vec3};
use crate::world::{TraceQuery, entity_string::MapEntity};

/// Spawn flag of a stand that floats.
const FLOATS: i32 = 1;
/// Length of the trace to the floor, in units.
const DEPTH: f32 = 4096.0;
/// Bounding box of a stand.
const MINS: Vec3 = Vec3::new(-15.0, -15.0, 0.0);
const MAXS: Vec3 = Vec3::new(15.0, 15.0, 87.0);

/// Spawn function of `team_redobelisk`.
pub(crate) fn red(cx: &mut Context<'_>, targets: &mut Targets, map_entity: &MapEntity) {
    targets.add_stand(cx, map_entity, Team::Red);
}

/// Spawn function of `team_blueobelisk`.
pub(crate) fn blue(cx: &mut Context<'_>, targets: &mut Targets, map_entity: &MapEntity) {
    targets.add_stand(cx, map_entity, Team::Blue);
}

impl Targets {
    fn add_stand(&mut self, cx: &mut Context<'_>, map_entity: &MapEntity, team: Team) {
        if !cx.clients.game_type.has_flags() {
            return;
        }
        let Some(number) = self.add(cx, map_entity, EntityKind::Static) else { return };
        let from = map_entity.origin() + Vec3::new(0.0, 0.0, 1.0);
        let below = map_entity.origin() - Vec3::new(0.0, 0.0, DEPTH);
        let fall = TraceQuery::line(from, below, contents::SOLID).with_box(MINS, MAXS);
        let world = cx.host.world();
        let floor = world.map(|world| world.scene(&*cx, EntityNum::NONE).trace(&fall));
        let Some(entity) = cx.entities.get_mut(number) else { return };
        entity.state.e_type = EntityType::Team as i32;
        entity.state.modelindex = team as i32;
        (entity.shared.mins, entity.shared.maxs) = (MINS, MAXS);
        let stands = floor.filter(|trace| !trace.startsolid && entity.spawnflags & FLOATS == 0);
        entity.set_origin(stands.map_or(map_entity.origin(), |trace| trace.endpos));
        cx.entities.link(cx.host, number);
    }
}
