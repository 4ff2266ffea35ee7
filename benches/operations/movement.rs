//! Pmove of players who run, turn, strafe, jump and duck on a map.
//!
//! Without the map's data there is nothing to measure.

use std::hint::black_box;

use fragd::{
    game::movement::{
        Arithmetic, PmoveInput, PmoveRules, PmoveSettings, PmoveVariant, PmoveWorld, angles,
        move_player,
    },
    model::{PlayerState, Trace, UserCmd, Vec3, contents::mask},
    world::{
        Bsp, TraceQuery,
        collision::{CollisionMap, TraceCache, TracePrecision},
    },
};
use rand_pcg::{
    Pcg64Mcg,
    rand_core::{Rng as _, SeedableRng as _},
};

use super::{Operation, installed_maps};

pub(super) const MAPS: [&str; 2] = ["oa_dm1", "oa_dm4"];
/// Commands of each map.
const INPUTS: usize = 4096;
/// Commands of one player before another spawns.
const LIFE: usize = 256;
const CONDITIONS: PmoveInput = PmoveInput { mask: mask::PLAYER_SOLID, gauntlet_hit: false };

/// A map with the cache of the moving player, as on a server.
pub(super) struct World(pub(super) CollisionMap, TraceCache);

impl World {
    pub(super) fn new(map: CollisionMap) -> Self {
        Self(map, TraceCache::default())
    }
}

impl PmoveWorld for World {
    fn trace(&mut self, query: &TraceQuery) -> Trace {
        self.0.trace_cached(&mut self.1, query)
    }

    fn point_contents(&mut self, point: Vec3) -> i32 {
        self.0.point_contents(point)
    }

    fn has_contents(&mut self, point: Vec3, mask: i32) -> bool {
        self.0.has_contents_cached(&mut self.1, point, mask)
    }
}

pub(crate) fn operations() -> Vec<Operation> {
    let rules = rules();
    let measured = |map: &str| {
        let bsp = installed_maps::load(map)?;
        let collision = CollisionMap::new(&bsp, TracePrecision::Single).expect("a sound map");
        let mut world = World::new(collision);
        let inputs = commands(&bsp, &rules, &mut world);
        let size = "8-50 ms".to_owned();
        Some(Operation::over(
            format!("player move, {map}"),
            size,
            inputs,
            move |(state, command)| {
                let mut state = *state;
                black_box(move_player(&mut state, command, &rules, CONDITIONS, &mut world));
                black_box(&state);
            },
        ))
    };
    MAPS.into_iter().filter_map(measured).collect()
}

pub(super) fn rules() -> PmoveRules {
    let settings = PmoveSettings {
        fixed: false,
        fixed_step_ms: 8,
        float: false,
        dmflags: 0,
        arithmetic: Arithmetic::Bytecode,
    };
    PmoveRules::new(PmoveVariant::QUAKE3, settings)
}

/// States of players on their way, each with the command that follows.
pub(super) fn commands(
    bsp: &Bsp,
    rules: &PmoveRules,
    world: &mut impl PmoveWorld,
) -> Vec<(PlayerState, UserCmd)> {
    let mut random = Pcg64Mcg::seed_from_u64(0x0dd_ba11);
    let mut below = |limit: u64| (random.next_u64() % limit) as i32;
    let spots = spawn_points(bsp);
    assert!(!spots.is_empty(), "a map without spawn points");
    let mut inputs = Vec::with_capacity(INPUTS);
    while inputs.len() < INPUTS {
        let mut state = spawned(spots[below(spots.len() as u64) as usize]);
        let mut command = UserCmd { server_time: state.command_time, ..UserCmd::default() };
        angles::look(&mut state, Vec3::new(0.0, below(360) as f32, 0.0), &command);
        for _ in 0..LIFE {
            command.server_time += [8, 16, 16, 33, 50][below(5) as usize];
            command.angles[0] = (below(4000) - 2000) & 0xffff;
            command.angles[1] = (command.angles[1] + below(2400) - 1200) & 0xffff;
            if below(12) == 0 {
                command.forwardmove = [127, 127, 127, -127, 0][below(5) as usize];
                command.rightmove = [0, 0, 127, -127][below(4) as usize];
                command.upmove = [0, 0, 0, 127, -127][below(5) as usize];
            }
            inputs.push((state, command));
            move_player(&mut state, &command, rules, CONDITIONS, world);
        }
    }
    inputs
}

fn spawned(origin: Vec3) -> PlayerState {
    let mut state = PlayerState {
        command_time: 1000,
        origin: origin + Vec3::new(0.0, 0.0, 9.0),
        gravity: 800,
        speed: 320,
        weapon: 2,
        viewheight: 26,
        ..PlayerState::default()
    };
    state.stats[0] = 125;
    state.ammo[2] = 100;
    state
}

/// Origins of the places where players begin.
fn spawn_points(bsp: &Bsp) -> Vec<Vec3> {
    String::from_utf8_lossy(&bsp.entity_text)
        .split('}')
        .filter(|entity| entity.contains("info_player_deathmatch"))
        .filter_map(|entity| {
            let value = entity.split_once("\"origin\"")?.1.split('"').nth(1)?;
            let parts: Vec<f32> = value.split(' ').filter_map(|part| part.parse().ok()).collect();
            Some(Vec3(parts.try_into().ok()?))
        })
        .collect()
}
