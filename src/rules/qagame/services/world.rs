//! Services for map and entities: links, traces, visibility, brush models, tokens.
//!
//! Traces read the entities in the module's own memory, so that a change without a link counts at once.

use super::{Answer, QUERY_COST, Session, invalid};
use crate::{
    model::{EntityNum, EntityShared, EntityState, Vec3, limits::MAX_ENTITIES, text::shown_name},
    qagame::{
        located::{ArrayArguments, Located, Views},
        trace_result,
    },
    qvm::{FaultKind, Machine, Memory, ServiceCall},
    world::{Hull, TraceQuery, TraceWork},
};

/// Cost of a node, of the bounds of a brush, and of a plane in a query, in instructions.
const NODE_COST: u64 = 8;
const CONTENT_COST: u64 = 4;
const PLANE_COST: u64 = 4;
/// Contents of a brush model before the module sets them.
const ANY_CONTENTS: i32 = -1;

impl Session<'_, '_> {
    pub(super) fn world(&mut self, machine: &mut Machine, call: &ServiceCall) -> Answer {
        let [first, second, third, fourth, fifth, ..] = call.arguments;
        match call.number {
            15 => {
                let entities = ArrayArguments { address: first, count: second, size: third };
                let located = Located::new(machine.memory(), entities, fourth, fifth);
                self.state.located =
                    located.map_err(|reason| FaultKind::Service { number: call.number, reason })?;
                Ok(0)
            }
            23 => self.set_brush_model(machine, call),
            24 => self.trace(machine, call, Hull::Box),
            43 => self.trace(machine, call, Hull::Capsule),
            25 => {
                let point = vec3(machine.memory(), first)?;
                let views = self.views(machine.memory());
                let (contents, work) = self.host.world().map_or_else(Default::default, |world| {
                    let scene = world.scene(&views, pass(second));
                    (scene.point_contents(point), scene.work())
                });
                charge_query(machine, work)?;
                Ok(contents)
            }
            26 => self.sees(machine, call, true),
            27 => self.sees(machine, call, false),
            28 => {
                let number = self.entity_at(machine, call)?;
                if let Some(world) = self.host.world_mut() {
                    let changed = world.set_area_portal(number, second != 0);
                    changed.map_err(|error| FaultKind::Service {
                        number: call.number,
                        reason: error.to_string(),
                    })?;
                }
                Ok(0)
            }
            29 => {
                let areas = self.host.world().map(|world| world.areas());
                Ok(areas.map_or(1, |areas| {
                    let area = |number: i32| areas.number(usize::try_from(number).ok()?);
                    i32::from(areas.connected(area(first), area(second)))
                }))
            }
            30 => {
                let number = self.entity_at(machine, call)?;
                let (mut state, mut shared) = self.entity(machine, number, call)?;
                self.host.link_entity(&mut state, &mut shared);
                self.store(machine, number, &state, &shared)
            }
            31 => {
                let number = self.entity_at(machine, call)?;
                let (state, mut shared) = self.entity(machine, number, call)?;
                self.host.unlink_entity(number, &mut shared);
                self.store(machine, number, &state, &shared)
            }
            32 => self.entities_in_box(machine, call),
            33 | 44 => self.touches(machine, call),
            37 => self.entity_token(machine, call),
            42 => {
                let memory = machine.memory_mut();
                let vector = memory.vec3_at(first)?.map(f32::round_ties_even);
                memory.set_vec3(first, vector).map(|()| 0)
            }
            number => Err(FaultKind::UnknownService(number)),
        }
    }

    fn views<'a>(&'a self, memory: &'a Memory) -> Views<'a> {
        Views { memory, located: &self.state.located }
    }

    /// Number of the entity at the address of the first argument.
    fn entity_at(&self, machine: &Machine, call: &ServiceCall) -> Result<EntityNum, FaultKind> {
        self.number_at(machine, call, call.arguments[0])
    }

    fn number_at(
        &self,
        machine: &Machine,
        call: &ServiceCall,
        address: i32,
    ) -> Result<EntityNum, FaultKind> {
        let number = self.state.located.entity_at(machine.memory(), address);
        number.ok_or_else(|| invalid(call, "address of an entity", address))
    }

    fn entity(
        &self,
        machine: &Machine,
        number: EntityNum,
        call: &ServiceCall,
    ) -> Result<(EntityState, EntityShared), FaultKind> {
        let copy = self.state.located.copy_entity(machine.memory(), number);
        copy.ok_or_else(|| invalid(call, "entity", number.index() as i32))
    }

    fn store(
        &self,
        machine: &mut Machine,
        number: EntityNum,
        state: &EntityState,
        shared: &EntityShared,
    ) -> Answer {
        let memory = machine.memory_mut();
        self.state.located.store_entity(memory, number, state, shared).map(|()| 0)
    }

    /// Gives an entity a brush model of the map, and links it.
    fn set_brush_model(&mut self, machine: &mut Machine, call: &ServiceCall) -> Answer {
        let number = self.entity_at(machine, call)?;
        let name = super::text(machine, call.arguments[1])?;
        let (mut state, mut shared) = self.entity(machine, number, call)?;
        let known = self
            .host
            .world()
            .is_some_and(|world| world.set_brush_model(&name, &mut state, &mut shared));
        if !known {
            let reason = format!("invalid brush model \"{}\"", shown_name(name.as_bytes()));
            return Err(FaultKind::Service { number: call.number, reason });
        }
        shared.contents = ANY_CONTENTS;
        self.host.link_entity(&mut state, &mut shared);
        self.store(machine, number, &state, &shared)
    }

    fn trace(&mut self, machine: &mut Machine, call: &ServiceCall, hull: Hull) -> Answer {
        let [result, start, mins, maxs, end, passed, mask, ..] = call.arguments;
        let memory = machine.memory();
        let (start, end) = (vec3(memory, start)?, vec3(memory, end)?);
        let (mins, maxs) = (corner(memory, mins)?, corner(memory, maxs)?);
        let views = self.views(memory);
        let (trace, work) = match self.host.world() {
            Some(world) => {
                let scene = world.scene(&views, pass(passed));
                let query = TraceQuery::line(start, end, mask).with_box(mins, maxs);
                (scene.trace_hull(hull, &query), scene.work())
            }
            None => (crate::model::Trace::free(end), TraceWork::default()),
        };
        charge_query(machine, work)?;
        trace_result::write(machine.memory_mut(), result, &trace).map(|()| 0)
    }

    fn sees(&mut self, machine: &Machine, call: &ServiceCall, with_portals: bool) -> Answer {
        let [from, to, ..] = call.arguments;
        let (from, to) = (vec3(machine.memory(), from)?, vec3(machine.memory(), to)?);
        let Some(world) = self.host.world() else { return Ok(1) };
        let areas = with_portals.then(|| world.areas());
        Ok(i32::from(world.bsp().sees(from, to, areas)))
    }

    fn entities_in_box(&mut self, machine: &mut Machine, call: &ServiceCall) -> Answer {
        let [mins, maxs, list, max, ..] = call.arguments;
        let (mins, maxs) = (vec3(machine.memory(), mins)?, vec3(machine.memory(), maxs)?);
        let mut found = [EntityNum::NONE; MAX_ENTITIES];
        let max = usize::try_from(max).unwrap_or(0).min(MAX_ENTITIES);
        let world = self.host.world();
        let count = world.map_or(0, |world| world.bodies_in_box(mins, maxs, &mut found[..max]));
        let bytes = machine.memory_mut().bytes_mut(list, count * 4)?;
        for (target, number) in bytes.chunks_exact_mut(4).zip(found) {
            target.copy_from_slice(&(number.index() as i32).to_le_bytes());
        }
        Ok(count as i32)
    }

    fn touches(&mut self, machine: &mut Machine, call: &ServiceCall) -> Answer {
        let [mins, maxs, entity, ..] = call.arguments;
        let memory = machine.memory();
        let (mins, maxs) = (vec3(memory, mins)?, vec3(memory, maxs)?);
        let number = self.number_at(machine, call, entity)?;
        let views = self.views(memory);
        let (touches, work) = self.host.world().map_or_else(Default::default, |world| {
            let scene = world.scene(&views, EntityNum::NONE);
            (scene.touches(mins, maxs, number), scene.work())
        });
        charge_query(machine, work)?;
        Ok(i32::from(touches))
    }

    /// Writes the next token of the entity string. Returns 0 at its end.
    fn entity_token(&mut self, machine: &mut Machine, call: &ServiceCall) -> Answer {
        let [buffer, size, ..] = call.arguments;
        let token = self.host.world_mut().and_then(|world| world.next_entity_token());
        let known = token.is_some();
        machine.memory_mut().write_text(buffer, size, token.unwrap_or_default())?;
        Ok(i32::from(known))
    }
}

/// Charges the work of a query above the cost of every query. The work of one is bounded by the map.
fn charge_query(machine: &mut Machine, work: TraceWork) -> Result<(), FaultKind> {
    machine.charge(query_cost(work).saturating_sub(QUERY_COST))
}

/// Returns the cost of a query, in instructions of the budget.
fn query_cost(TraceWork { nodes, contents, planes }: TraceWork) -> u64 {
    let of = |count: usize, cost: u64| (count as u64).saturating_mul(cost);
    of(nodes, NODE_COST)
        .saturating_add(of(contents, CONTENT_COST))
        .saturating_add(of(planes, PLANE_COST))
}

/// Entity that a query ignores.
fn pass(number: i32) -> EntityNum {
    usize::try_from(number).ok().and_then(EntityNum::new).unwrap_or(EntityNum::NONE)
}

fn vec3(memory: &Memory, address: i32) -> Result<Vec3, FaultKind> {
    memory.vec3_at(address).map(|vector| Vec3(vector).finite_or_zero())
}

/// Corner of a box; zero for the null pointer.
fn corner(memory: &Memory, address: i32) -> Result<Vec3, FaultKind> {
    if address == 0 { Ok(Vec3::ZERO) } else { vec3(memory, address) }
}
