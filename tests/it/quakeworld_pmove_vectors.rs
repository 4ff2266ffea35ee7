//! Player moves and hull traces of QuakeWorld: every row of the reference, bit for bit.

use std::{collections::HashMap, fmt::Write};

use fragd::bsp29::{Bsp29, Contents, HullSize};
use fragd::model::Vec3;
use fragd::qwgame::movement::{
    MoveCommand, MoveKind, MoveState, MoveVariants, MoveVars, Scene, SolidEntity, player_move,
};

use crate::vectors;

const MAPS: [&str; 2] = ["fragbox", "fragramps"];
const KINDS: [MoveKind; 6] = [
    MoveKind::Normal,
    MoveKind::OldSpectator,
    MoveKind::Spectator,
    MoveKind::Dead,
    MoveKind::Fly,
    MoveKind::None,
];

#[test]
fn quakeworld_pmove_vectors() {
    let maps: HashMap<&str, Bsp29> = MAPS.into_iter().map(|name| (name, load(name))).collect();
    let text = vectors::read("quakeworld_pmove.csv.gz");
    let mut lines = text.lines();
    let columns: Vec<_> = lines.next().unwrap().split(',').collect();
    let (mut moves, mut traces, mut failures) = (0, 0, Vec::new());
    for line in lines {
        let row = Row { columns: &columns, fields: fields(line) };
        let map = &maps[row.text("map")];
        let (got, expected) = match row.text("kind") {
            "move" => {
                moves += 1;
                run_move(map, &row)
            }
            "trace" => {
                traces += 1;
                run_trace(map, &row)
            }
            other => panic!("unknown kind {other}"),
        };
        if got != expected {
            failures.push(format!("{line}\n  got      {got}\n  expected {expected}"));
        }
    }
    let shown = failures.iter().take(5).cloned().collect::<Vec<_>>().join("\n");
    assert!(failures.is_empty(), "{} of {} rows differ:\n{shown}", failures.len(), moves + traces);
    assert_eq!((moves, traces), (12_000, 1_800));
}

/// A minute on mvdsv 0.35 with `pm_airstep 1`, which sets `pm_pground 1` too: a player jumps up and down stairs.
#[test]
fn quakeworld_air_steps_equal_recorded_session() {
    let map = load("fragramps");
    let scene = Scene { map: &map, entities: &[] };
    let mut vars = MoveVars::default();
    vars.variants.kt_jump = 1.0;
    vars.variants.air_step = true;
    vars.variants.predict_ground = true;
    let mut state = MoveState { origin: Vec3::new(0.0, 0.0, 32.0), ..MoveState::default() };
    let text = vectors::read("quakeworld_airstep.csv.gz");
    let mut compared = 0;
    for line in text.lines().skip(1) {
        let fields: Vec<_> = line.split(',').collect();
        let &[yaw, forward, buttons, msec, origin] = fields.as_slice() else { panic!("{line}") };
        let command = MoveCommand {
            angles: [0, number::<u16>(yaw).cast_signed(), 0],
            moves: [number(forward), 0, 0],
            buttons: number(buttons),
            msec: number(msec),
        };
        state.jump_msec = 0;
        let _ = player_move(&scene, &vars, &mut state, &command);
        // Answers that the recorder missed are empty.
        if !origin.is_empty() {
            compared += 1;
            assert_eq!(hex(state.origin), origin, "row {compared}: {line}");
        }
    }
    assert_eq!(compared, 3116);
}

#[test]
fn quakeworld_map_checksums_equal_reference() {
    let sums = load("fragbox").checksums();
    assert_eq!((sums.first, sums.second), (2_121_758_962, -1_152_969_310));
}

#[test]
fn quakeworld_move_does_not_allocate() {
    let map = load("fragbox");
    let entities =
        [SolidEntity::model(1, Vec3::ZERO), SolidEntity::player(Vec3::new(160.0, 0.0, 24.0))];
    let scene = Scene { map: &map, entities: &entities };
    let mut state = MoveState { origin: Vec3::new(128.0, 64.0, 32.0), ..MoveState::default() };
    let count = allocation_counter::measure(|| {
        for turn in 0..1000_i16 {
            let command = MoveCommand {
                angles: [0, turn.wrapping_mul(300), 0],
                moves: [400, turn % 7, 0],
                buttons: turn as u8 & 2,
                msec: 20,
            };
            let _ = player_move(&scene, &MoveVars::default(), &mut state, &command);
        }
    });
    assert_eq!(count.count_total, 0);
    assert!(state.origin.is_finite());
}

fn load(name: &str) -> Bsp29 {
    let map = Bsp29::load(&vectors::read_packed_bytes(&format!("{name}.bsp.gz"))).unwrap();
    assert_eq!(map.warnings(), [""; 0], "{name}");
    map
}

fn run_move(map: &Bsp29, row: &Row<'_>) -> (String, String) {
    let entities: Vec<SolidEntity> = row.text("physents").split(';').filter_map(entity).collect();
    let scene = Scene { map, entities: &entities };
    let before = row.pairs("state_before");
    let mut state = MoveState {
        origin: row.vector("origin"),
        velocity: row.vector("velocity"),
        kind: KINDS[number::<usize>(before["pm_type"])],
        on_ground: before["onground"] == "1",
        jump_held: before["jump_held"] == "1",
        jump_msec: number(before["jump_msec"]),
        water_jump_time: bits(before["waterjumptime"]),
    };
    let command = command(row);
    let outcome = player_move(&scene, &vars(row), &mut state, &command);
    let touched: Vec<_> = outcome.touched.entities().map(|entity| entity.to_string()).collect();
    let got = format!(
        "{} {} onground={} jump_held={} jump_msec={} waterjumptime={:08x} pm_type={} waterlevel={} watertype={} {}",
        hex(state.origin),
        hex(state.velocity),
        u8::from(state.on_ground),
        u8::from(state.jump_held),
        state.jump_msec,
        state.water_jump_time.to_bits(),
        before["pm_type"],
        outcome.water_level,
        outcome.water_type.map_or(0, Contents::number),
        touched.join(" "),
    );
    let after = ["origin_after", "velocity_after", "state_after", "touched"].map(|f| row.text(f));
    let angles = hex(command.degrees());
    (got + " " + &angles, after.join(" ") + " " + row.text("angles"))
}

fn run_trace(map: &Bsp29, row: &Row<'_>) -> (String, String) {
    let size =
        [HullSize::Point, HullSize::Player, HullSize::Large][number::<usize>(row.text("step"))];
    let hull = map.hull(0, size);
    let start = row.vector("origin");
    let trace = hull.trace(start, row.vector("velocity"));
    let got = format!(
        "contents={} allsolid={} startsolid={} inopen={} inwater={} {} fraction={:08x} normal={} dist={:08x}",
        hull.contents_at(start).number(),
        u8::from(trace.all_solid),
        u8::from(trace.start_solid),
        u8::from(trace.in_open),
        u8::from(trace.in_water),
        hex(trace.end),
        trace.fraction.to_bits(),
        hex(trace.normal),
        trace.dist.to_bits(),
    );
    let expected = ["cmd", "state_before", "origin_after", "velocity_after"].map(|f| row.text(f));
    (got, expected.join(" "))
}

fn command(row: &Row<'_>) -> MoveCommand {
    let command = row.pairs("cmd");
    let angle = |key: &str| number::<u16>(command[key]).cast_signed();
    MoveCommand {
        angles: [angle("pitch16"), angle("yaw16"), 0],
        moves: ["forward", "side", "up"].map(|key| number(command[key])),
        buttons: number(command["buttons"]),
        msec: number(command["msec"]),
    }
}

fn vars(row: &Row<'_>) -> MoveVars {
    let text = row.text("movevars");
    let numbers: Vec<f32> = text.split(' ').filter_map(|word| word.parse().ok()).collect();
    let &[
        gravity,
        stop_speed,
        max_speed,
        spectator_max_speed,
        accelerate,
        air_accelerate,
        water_accelerate,
        friction,
        water_friction,
        entity_gravity,
    ] = numbers.as_slice()
    else {
        panic!("movevars {text}")
    };
    let variants = row.pairs("movevars");
    MoveVars {
        gravity,
        stop_speed,
        max_speed,
        spectator_max_speed,
        accelerate,
        air_accelerate,
        water_accelerate,
        friction,
        water_friction,
        entity_gravity,
        variants: MoveVariants {
            bunny_speed_cap: number(variants["bunnyspeedcap"]),
            kt_jump: number(variants["ktjump"]),
            slide_fix: variants["slidefix"] == "1",
            air_step: variants["airstep"] == "1",
            predict_ground: variants["pground"] == "1",
        },
    }
}

/// A entity of the list: `*1@x y z` is a model, `box@x y z` a player.
fn entity(text: &str) -> Option<SolidEntity> {
    let (name, origin) = text.trim().split_once('@')?;
    let parts: Vec<f32> = origin.split(' ').map(number).collect();
    let origin = Vec3::new(parts[0], parts[1], parts[2]);
    Some(match name.strip_prefix('*') {
        Some(model) => SolidEntity::model(number(model), origin),
        None => SolidEntity::player(origin),
    })
}

struct Row<'a> {
    columns: &'a [&'a str],
    fields: Vec<&'a str>,
}

impl<'a> Row<'a> {
    fn text(&self, column: &str) -> &'a str {
        self.fields[self.columns.iter().position(|name| *name == column).unwrap()]
    }

    fn vector(&self, column: &str) -> Vec3 {
        let parts: Vec<f32> = self.text(column).split(' ').map(bits).collect();
        Vec3::new(parts[0], parts[1], parts[2])
    }

    fn pairs(&self, column: &str) -> HashMap<&'a str, &'a str> {
        self.text(column).split(' ').filter_map(|word| word.split_once('=')).collect()
    }
}

/// Splits a line; commas in quotes belong to a field.
fn fields(line: &str) -> Vec<&str> {
    let mut in_quotes = false;
    let fields = line.split(move |c| {
        in_quotes ^= c == '"';
        c == ',' && !in_quotes
    });
    fields.map(|field| field.trim_matches('"')).collect()
}

fn number<T: std::str::FromStr>(text: &str) -> T {
    text.parse().unwrap_or_else(|_| panic!("not a number: {text}"))
}

fn bits(text: &str) -> f32 {
    f32::from_bits(u32::from_str_radix(text, 16).unwrap())
}

fn hex(vector: Vec3) -> String {
    let mut text = String::new();
    for part in vector.0 {
        let gap = if text.is_empty() { "" } else { " " };
        write!(text, "{gap}{:08x}", part.to_bits()).unwrap();
    }
    text
}
