//! Traces and point contents of moving and shooting players on a map.
//!
//! Without the map's data there is nothing to measure.

use std::hint::black_box;

use fragd::{
    game::movement::{PmoveWorld, angles},
    model::{Trace, Vec3, contents::mask},
    world::collision::{CollisionMap, TracePrecision, TraceQuery},
};

use super::{
    Operation, installed_maps,
    movement::{MAPS, World, commands, rules},
};

/// Range of shots.
const RANGE: f32 = 8192.0;

/// Keeps what movement asks.
struct Recorder {
    world: World,
    traces: Vec<TraceQuery>,
    points: Vec<Vec3>,
}

impl PmoveWorld for Recorder {
    fn trace(&mut self, query: &TraceQuery) -> Trace {
        self.traces.push(*query);
        self.world.trace(query)
    }

    fn point_contents(&mut self, point: Vec3) -> i32 {
        self.points.push(point);
        self.world.point_contents(point)
    }
}

pub(crate) fn operations() -> Vec<Operation> {
    MAPS.into_iter().filter_map(measured).flatten().collect()
}

fn measured(map: &str) -> Option<Vec<Operation>> {
    let bsp = installed_maps::load(map)?;
    let prepared = || CollisionMap::new(&bsp, TracePrecision::Single).expect("a sound map");
    let mut recorder =
        Recorder { world: World::new(prepared()), traces: Vec::new(), points: Vec::new() };
    let players = commands(&bsp, &rules(), &mut recorder);
    // One of several questions that a step asks, so that they differ.
    let boxes: Vec<_> = recorder.traces.into_iter().step_by(3).take(players.len()).collect();
    let shots: Vec<_> = players
        .iter()
        .map(|(state, _)| {
            let eye = state.origin + Vec3::new(0.0, 0.0, state.viewheight as f32);
            let end = eye.add_scaled(angles::axes(state.viewangles).forward, RANGE);
            TraceQuery::line(eye, end, mask::SHOT)
        })
        .collect();
    let points = recorder.points.into_iter().step_by(2).collect();
    let trace = |name: &str, questions: Vec<TraceQuery>| {
        let world = prepared();
        Operation::over(format!("{name}, {map}"), "", questions, move |q| {
            black_box(world.trace(q));
        })
    };
    let world = prepared();
    Some(vec![
        trace("trace of a player's box", boxes),
        trace("trace of a shot", shots),
        Operation::over(format!("point contents, {map}"), "", points, move |&point| {
            black_box(world.point_contents(point));
        }),
    ])
}
