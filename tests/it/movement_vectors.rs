//! Pmove of scripted usercmds against the games' own results, bit for bit.
//!
//! On maps in both precisions, and without a map for moves that need none.

use std::fmt::Write as _;

use fragd::{
    game::movement::{
        Arithmetic, OpenSpace, PmoveInput, PmoveResult, PmoveRules, PmoveSettings, PmoveVariant,
        PmoveWorld, move_player,
    },
    model::{Buttons, PlayerState, Trace, UserCmd, Vec3},
    world::collision::{CollisionMap, TracePrecision, TraceQuery},
};

use crate::{
    installed_maps,
    vectors::{Line, Table, maps_with},
};

/// One run: the state before it, and what holds during all of it.
struct Run {
    name: String,
    state: PlayerState,
    rules: PmoveRules,
    conditions: PmoveInput,
}

impl Run {
    fn read(line: &Line<'_>, variant: &'static PmoveVariant) -> Self {
        let int = |column: &str| line.number::<i32>(column);
        let list = |name: &str| std::array::from_fn(|at| int(&format!("{name}{at}")));
        let vec3 = |name: &str| Vec3([0, 1, 2].map(|axis| line.float(&format!("{name}{axis}"))));
        let state = PlayerState {
            command_time: int("commandTime"),
            pm_type: int("pm_type"),
            bob_cycle: int("bobCycle"),
            pm_flags: int("pm_flags"),
            pm_time: int("pm_time"),
            origin: vec3("origin"),
            velocity: vec3("velocity"),
            weapon_time: int("weaponTime"),
            gravity: int("gravity"),
            speed: int("speed"),
            delta_angles: [0, 1, 2].map(|axis| int(&format!("delta_angles{axis}"))),
            ground_entity_num: int("groundEntityNum"),
            legs_timer: int("legsTimer"),
            legs_anim: int("legsAnim"),
            torso_timer: int("torsoTimer"),
            torso_anim: int("torsoAnim"),
            movement_dir: int("movementDir"),
            grapple_point: vec3("grapplePoint"),
            e_flags: int("eFlags"),
            event_sequence: int("eventSequence"),
            client_num: int("clientNum"),
            weapon: int("weapon"),
            weaponstate: int("weaponstate"),
            viewheight: int("viewheight"),
            stats: list("stats"),
            persistant: list("persistant"),
            powerups: list("powerups"),
            ammo: list("ammo"),
            pmove_framecount: int("pmove_framecount"),
            ..PlayerState::default()
        };
        let settings = PmoveSettings {
            fixed: int("pmove_fixed") != 0,
            fixed_step_ms: int("pmove_msec"),
            float: true,
            dmflags: if int("noFootsteps") != 0 { 32 } else { 0 },
            arithmetic: Arithmetic::Bytecode,
        };
        Self {
            name: line.text("name").to_owned(),
            state,
            rules: PmoveRules::new(variant, settings),
            conditions: PmoveInput { mask: int("tracemask"), gauntlet_hit: false },
        }
    }
}

fn command(line: &Line<'_>) -> UserCmd {
    UserCmd {
        server_time: line.number("serverTime"),
        angles: [0, 1, 2].map(|axis| line.number(&format!("ang{axis}"))),
        buttons: Buttons(line.number("buttons")),
        weapon: line.number("cmdWeapon"),
        forwardmove: line.number("forward"),
        rightmove: line.number("right"),
        upmove: line.number("up"),
    }
}

/// Event before a command: a hit, a jump pad, a plat.
fn inject(line: &Line<'_>, state: &mut PlayerState) {
    if line.text("inj_vx").is_empty() {
        return;
    }
    state.velocity = line.vec3(["inj_vx", "inj_vy", "inj_vz"]);
    state.pm_flags |= line.number::<i32>("inj_pm_flags_or");
    match line.number("inj_pm_time") {
        0 => {}
        time => state.pm_time = time,
    }
    if line.number::<i32>("inj_has_origin") != 0 {
        state.origin = line.vec3(["inj_ox", "inj_oy", "inj_oz"]);
    }
}

/// Calls `visit` with each state column of a row, its offset in the state, and whether it is a
/// float.
fn each_word<'a>(
    state: &'a mut PlayerState,
    holdable: usize,
    mut visit: impl FnMut(&str, Slot<'a>),
) {
    let PlayerState { stats, ammo, .. } = state;
    visit("stat_holdable", Slot::Int(&mut stats[holdable]));
    for (number, slot) in ammo.iter_mut().enumerate().skip(1).take(9) {
        visit(&format!("ammo{number}"), Slot::Int(slot));
    }
    let vectors = [
        ("origin", &mut state.origin),
        ("velocity", &mut state.velocity),
        ("viewangles", &mut state.viewangles),
    ];
    for (name, Vec3(parts)) in vectors {
        for (axis, part) in parts.iter_mut().enumerate() {
            visit(&format!("{name}{axis}"), Slot::Float(part));
        }
    }
    let lists = [
        ("delta_angles", &mut state.delta_angles[..]),
        ("events", &mut state.events[..]),
        ("eventParms", &mut state.event_parms[..]),
    ];
    for (name, list) in lists {
        for (at, slot) in list.iter_mut().enumerate() {
            visit(&format!("{name}{at}"), Slot::Int(slot));
        }
    }
    for (name, slot) in [
        ("commandTime", &mut state.command_time),
        ("pm_type", &mut state.pm_type),
        ("bobCycle", &mut state.bob_cycle),
        ("pm_flags", &mut state.pm_flags),
        ("pm_time", &mut state.pm_time),
        ("weaponTime", &mut state.weapon_time),
        ("groundEntityNum", &mut state.ground_entity_num),
        ("legsTimer", &mut state.legs_timer),
        ("legsAnim", &mut state.legs_anim),
        ("torsoTimer", &mut state.torso_timer),
        ("torsoAnim", &mut state.torso_anim),
        ("movementDir", &mut state.movement_dir),
        ("eFlags", &mut state.e_flags),
        ("eventSequence", &mut state.event_sequence),
        ("weapon", &mut state.weapon),
        ("weaponstate", &mut state.weaponstate),
        ("viewheight", &mut state.viewheight),
        ("pmove_framecount", &mut state.pmove_framecount),
    ] {
        visit(name, Slot::Int(slot));
    }
}

enum Slot<'a> {
    Int(&'a mut i32),
    Float(&'a mut f32),
}

/// Differences of a state and its results from a row, in words. Empty if equal.
fn differences(
    line: &Line<'_>,
    state: &mut PlayerState,
    outcome: &PmoveResult,
    holdable: usize,
) -> String {
    let mut found = String::new();
    let int = |found: &mut String, column: &str, ours: i32| {
        let theirs: i32 = line.number(column);
        if ours != theirs {
            write!(found, " {column} {ours} instead of {theirs};").unwrap();
        }
    };
    let float = |found: &mut String, column: &str, ours: f32| {
        let theirs = line.float(column);
        if ours.to_bits() != theirs.to_bits() {
            write!(found, " {column} {ours:?} instead of {theirs:?};").unwrap();
        }
    };
    each_word(state, holdable, |column, slot| match slot {
        Slot::Int(ours) => int(&mut found, column, *ours),
        Slot::Float(ours) => float(&mut found, column, *ours),
    });
    int(&mut found, "waterlevel", outcome.water_level.into());
    int(&mut found, "watertype", outcome.water_type);
    int(&mut found, "numtouch", outcome.touched.as_slice().len() as i32);
    float(&mut found, "xyspeed", outcome.xy_speed);
    for (side, corner) in [("min", outcome.mins), ("max", outcome.maxs)] {
        for (axis, name) in ["x", "y", "z"].into_iter().enumerate() {
            float(&mut found, &format!("{side}{name}"), corner[axis]);
        }
    }
    found
}

/// Makes a state what a row says it is.
fn adopt(line: &Line<'_>, state: &mut PlayerState, holdable: usize) {
    each_word(state, holdable, |column, slot| match slot {
        Slot::Int(ours) => *ours = line.number(column),
        Slot::Float(ours) => *ours = line.float(column),
    });
}

/// Tables of one set of runs.
struct Tables {
    variant: &'static PmoveVariant,
    /// States before the runs.
    starts: Table,
    /// The commands.
    commands: Table,
    /// Results, where they are a separate table.
    results: Option<Table>,
}

impl Tables {
    fn classic(map: &str) -> Self {
        Self {
            variant: PmoveVariant::QUAKE3,
            starts: Table::read(&format!("pmoveinit_{map}.csv.gz")),
            commands: Table::read(&format!("pmove_{map}.csv.gz")),
            results: None,
        }
    }

    fn double(map: &str) -> Self {
        Self { results: Some(Table::read(&format!("pmove_dp_{map}.csv.gz"))), ..Self::classic(map) }
    }

    fn openarena(map: &str) -> Self {
        Self {
            variant: PmoveVariant::OPENARENA,
            starts: Table::read(&format!("pmoveinit_openarena_{map}.csv.gz")),
            results: Some(Table::read(&format!("pmove_openarena_{map}.csv.gz"))),
            ..Self::classic(map)
        }
    }

    /// Runs every command twice: on the state after the previous commands, and on the state of the
    /// previous row. `wanted` selects runs by name. Returns the number of commands.
    fn check<W: PmoveWorld>(&self, world: &mut W, wanted: impl Fn(&str) -> bool) -> usize {
        let runs: Vec<_> = self.starts.rows().map(|line| Run::read(&line, self.variant)).collect();
        let results = self.results.as_ref().unwrap_or(&self.commands);
        let holdable = self.variant.stats.holdable;
        let mut report = String::new();
        let (mut commands, mut wrong) = (0, 0);
        let mut current = None;
        let (mut open, mut stepwise) = (PlayerState::default(), PlayerState::default());
        let mut diverged = false;
        for (line, result) in self.commands.rows().zip(results.rows()) {
            let place: (usize, usize) = (line.number("run"), line.number("i"));
            assert_eq!(place, (result.number("run"), result.number("i")), "{line}, {result}");
            let run = &runs[place.0];
            if !wanted(&run.name) {
                continue;
            }
            if current != Some(place.0) {
                current = Some(place.0);
                (open, stepwise) = (run.state, run.state);
                diverged = false;
            }
            let command = command(&line);
            let mut step = |state: &mut PlayerState| {
                inject(&line, state);
                let outcome = move_player(state, &command, &run.rules, run.conditions, world);
                differences(&result, state, &outcome, holdable)
            };
            let here = step(&mut stepwise);
            commands += 1;
            if !here.is_empty() {
                wrong += 1;
                if wrong <= 5 {
                    writeln!(report, "{result} (run {}), alone:{here}", run.name).unwrap();
                }
            }
            adopt(&result, &mut stepwise, holdable);
            if !diverged {
                let so_far = step(&mut open);
                if !so_far.is_empty() {
                    diverged = true;
                    writeln!(report, "{result} (run {}), first in a row:{so_far}", run.name)
                        .unwrap();
                }
            }
        }
        assert!(commands > 0, "no commands");
        assert!(
            report.is_empty(),
            "{}: {wrong} of {commands} commands alone differ\n{report}",
            self.variant.name
        );
        commands
    }
}

/// Each set of runs: the tables by which its maps are known, and how to read them.
const CLASSIC: (&str, fn(&str) -> Tables) = ("pmoveinit", Tables::classic);
const DOUBLE: (&str, fn(&str) -> Tables) = ("pmove_dp", Tables::double);
const OPENARENA: (&str, fn(&str) -> Tables) = ("pmoveinit_openarena", Tables::openarena);

#[test]
fn noclip_moves_need_no_map() {
    for (kind, tables) in [CLASSIC, DOUBLE, OPENARENA] {
        for map in maps_with(kind) {
            tables(&map).check(&mut OpenSpace, |run| run == "noclip");
        }
    }
}

/// The world of a map and nothing in it.
struct World(CollisionMap);

impl PmoveWorld for World {
    fn trace(&mut self, query: &TraceQuery) -> Trace {
        self.0.trace(query)
    }

    fn point_contents(&mut self, point: Vec3) -> i32 {
        self.0.point_contents(point)
    }
}

/// Runs everything on every map that has tables and is installed.
fn check_on_maps(family: TracePrecision, (kind, tables): (&str, fn(&str) -> Tables)) {
    for map in maps_with(kind) {
        let Some(bsp) = installed_maps::load(&map) else { continue };
        let mut world = World(CollisionMap::new(&bsp, family).unwrap());
        let tables = tables(&map);
        let commands = tables.check(&mut world, |_| true);
        println!("{map}, {}, {family:?}: {commands} commands", tables.variant.name);
    }
}

#[test]
fn pmove_matches_base_game() {
    check_on_maps(TracePrecision::Single, CLASSIC);
}

#[test]
fn pmove_matches_double_precision_engines() {
    check_on_maps(TracePrecision::Double, DOUBLE);
}

#[test]
fn pmove_matches_openarena() {
    check_on_maps(TracePrecision::Single, OPENARENA);
}
