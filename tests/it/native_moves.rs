//! Usercmds on the test course, run by ioquake3's server with Debian's native module of OpenArena.
//!
//! `vectors/native_moves_course.csv.gz` has a row per pair of snapshots: the playerstate before, the usercmds, origin
//! and velocity after. Movers are not part of the world here; most rows at movers are left out of the table.

use std::array;

use fragd::{
    game::movement::{
        Arithmetic, PmoveInput, PmoveRules, PmoveSettings, PmoveVariant, PmoveWorld, move_player,
    },
    model::{PlayerState, Trace, UserCmd, Vec3},
    testing::course,
    world::{
        Bsp, TraceQuery,
        collision::{CollisionMap, TracePrecision},
    },
};

use crate::vectors;

/// Content bits that stop a player.
const PLAYER_MASK: i32 = 0x0201_0001;

/// Rows of players who touch a mover.
const AT_MOVERS: [usize; 8] = [0, 831, 832, 853, 854, 855, 856, 1358];

struct World(CollisionMap);

impl PmoveWorld for World {
    fn trace(&mut self, query: &TraceQuery) -> Trace {
        self.0.trace(query)
    }

    fn point_contents(&mut self, point: Vec3) -> i32 {
        self.0.point_contents(point)
    }
}

/// A playerstate, usercmds, and origin and velocity after them. The wire has no negative zeros.
struct Row {
    before: PlayerState,
    usercmds: Vec<UserCmd>,
    after: [f32; 6],
}

impl Row {
    fn parse(line: &str) -> Option<Self> {
        let mut words = line.split(',');
        let mut int = || words.next()?.parse::<i32>().ok();
        let mut before = PlayerState {
            command_time: int()?,
            pm_flags: int()?,
            pm_time: int()?,
            ground_entity_num: int()?,
            viewheight: int()?,
            delta_angles: [int()?, int()?, int()?],
            gravity: 800,
            speed: 320,
            weapon: 2,
            ..PlayerState::default()
        };
        before.stats[0] = 100;
        let mut bits = || u32::from_str_radix(words.next()?, 16).ok();
        let place: [u32; 6] = [bits()?, bits()?, bits()?, bits()?, bits()?, bits()?];
        let vector = |at: usize| Vec3(array::from_fn(|axis| f32::from_bits(place[at + axis])));
        (before.origin, before.velocity) = (vector(0), vector(3));
        let usercmds = words.next()?.split(' ').map(usercmd).collect::<Option<_>>()?;
        let mut bits = || u32::from_str_radix(words.next()?, 16).ok();
        Some(Self {
            before,
            usercmds,
            after: [bits()?, bits()?, bits()?, bits()?, bits()?, bits()?].map(f32::from_bits),
        })
    }

    /// Origin and velocity after the usercmds, with an arithmetic.
    fn run(&self, arithmetic: Arithmetic, world: &mut World) -> [f32; 6] {
        let settings =
            PmoveSettings { fixed: false, fixed_step_ms: 8, float: true, dmflags: 0, arithmetic };
        let rules = PmoveRules::new(PmoveVariant::OPENARENA, settings);
        let mut state = self.before;
        for usercmd in &self.usercmds {
            let input = PmoveInput { mask: PLAYER_MASK, gauntlet_hit: false };
            move_player(&mut state, usercmd, &rules, input, world);
        }
        let [[x, y, z], [vx, vy, vz]] = [state.origin, state.velocity].map(|Vec3(parts)| parts);
        [x, y, z, vx, vy, vz]
    }
}

fn usercmd(text: &str) -> Option<UserCmd> {
    let mut words = text.split(':');
    let mut int = || words.next()?.parse::<i32>().ok();
    Some(UserCmd {
        server_time: int()?,
        angles: [int()?, int()?, 0],
        forwardmove: int()? as i8,
        rightmove: int()? as i8,
        upmove: int()? as i8,
        weapon: 2,
        ..UserCmd::default()
    })
}

#[test]
fn native_arithmetic_equals_native_modules() {
    let bsp = Bsp::load(&course::compiled("course")).expect("a map");
    let mut world = World(CollisionMap::new(&bsp, TracePrecision::Single).expect("a map"));
    let text = vectors::read("native_moves_course.csv.gz");
    let rows: Vec<Row> = text.lines().map(|line| Row::parse(line).expect(line)).collect();
    assert!(rows.len() > 2000, "{} rows", rows.len());
    let [bytecode, native] = [Arithmetic::Bytecode, Arithmetic::Native].map(|arithmetic| {
        let differs = |(_, row): &(usize, &Row)| row.run(arithmetic, &mut world) != row.after;
        rows.iter().enumerate().filter(differs).map(|(number, _)| number).collect::<Vec<_>>()
    });
    assert_eq!(native, AT_MOVERS);
    assert!(bytecode.len() * 4 > rows.len(), "{} rows differ in bytecode", bytecode.len());
}
