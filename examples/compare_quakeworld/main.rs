//! Comparison of QuakeWorld servers: same usercmds, own players of all answers.
//!
//! ```text
//! compare_quakeworld [--seed N] [--moves N] [--loss THOUSANDTHS] [--ktjump 0|1] SERVER...
//! compare_quakeworld --write-map FILE
//! ```
//!
//! The servers host `fragqw1`, each without another client. The script is written by steering a player of fragd's own rules over
//! stairs, ramp, water, ledges, door, jump pad, lift and teleporter. Loss is drawn once, so that each server misses
//! the same packets. Answers are compared with the rules and with each other. The frame of the model depends on the
//! clock of the server, and is left out. Exit code 1: a difference, or too few answers.

mod script;
mod walker;

use std::{env, error::Error, fs, net::SocketAddr, process::ExitCode, thread, time::Duration};

use fragd::{
    bsp29::{Bsp29, compiler::fragqw1},
    impairment::Impairment,
    io::Clock,
    quakeworld::{
        bytes::round_coord,
        players::{MoveType, PlayerInfo, flag},
    },
    qwgame::movement::{MoveState, MoveVars},
};

use script::{Script, ScriptStep};
use walker::Walker;

struct Arguments {
    seed: u64,
    moves: usize,
    loss: u32,
    kt_jump: f32,
    servers: Vec<SocketAddr>,
}

fn main() -> ExitCode {
    match run() {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("compare_quakeworld: {error}");
            ExitCode::from(2)
        }
    }
}

fn arguments() -> Result<Option<Arguments>, Box<dyn Error>> {
    let mut all = Arguments { seed: 1, moves: 2400, loss: 0, kt_jump: 0.0, servers: Vec::new() };
    let mut words = env::args().skip(1);
    while let Some(word) = words.next() {
        let mut value = || words.next().ok_or(format!("{word}: value missing"));
        match word.as_str() {
            "--seed" => all.seed = value()?.parse()?,
            "--moves" => all.moves = value()?.parse()?,
            "--loss" => all.loss = value()?.parse()?,
            "--ktjump" => all.kt_jump = value()?.parse()?,
            "--write-map" => {
                fs::write(value()?, fragqw1())?;
                return Ok(None);
            }
            server => all.servers.push(server.parse()?),
        }
    }
    Ok(Some(all))
}

fn run() -> Result<bool, Box<dyn Error>> {
    let Some(all) = arguments()? else { return Ok(true) };
    let mut vars = MoveVars::default();
    vars.variants.kt_jump = all.kt_jump;
    let loss = Impairment { loss: all.loss, ..Impairment::default() };
    let script = Script::new(all.seed, all.moves, &loss, vars);
    let clock = Clock::start();
    let checksum = Bsp29::load(&fragqw1())?.checksums().second;
    let servers = (400..).zip(&all.servers);
    let mut walkers = servers
        .map(|(qport, server)| Walker::new(*server, qport, checksum, clock.now()))
        .collect::<Result<Vec<_>, _>>()?;
    while !walkers.iter().all(|walker| walker.is_done(&script)) {
        for walker in &mut walkers {
            if !walker.is_done(&script) {
                walker.tick(clock.now(), &script);
            }
        }
        thread::sleep(Duration::from_millis(1));
    }
    // The last answers.
    thread::sleep(Duration::from_millis(100));
    for walker in &mut walkers {
        walker.tick(clock.now(), &script);
        walker.leave(clock.now());
    }
    Ok(report(&script, &walkers))
}

/// Prints the result. Returns whether all is equal.
fn report(script: &Script, walkers: &[Walker]) -> bool {
    let moves: Vec<_> = script.steps.iter().enumerate().filter_map(of_move).collect();
    let lost = |step: &&(usize, &MoveState, bool, bool)| step.2;
    println!(
        "script: {} usercmds, {:.0} units, {} waypoints, missed: {:?}",
        moves.len(),
        script.distance,
        script.waypoints,
        script.missed
    );
    let reference = &script.reference;
    println!(
        "network: {} packets lost; {} usercmds run late, {} never, {} repetitions",
        moves.iter().filter(lost).count(),
        reference.late,
        reference.missing,
        reference.repeated
    );
    let mut is_good = script.missed.is_empty();
    let expected: Vec<usize> =
        moves.iter().filter(|(.., up, down)| !up && !down).map(|step| step.0).collect();
    for walker in walkers {
        let mut result = Comparison::default();
        for (step, state, ..) in &moves {
            if let Some(info) = walker.answers.get(step) {
                result.add(*step, shown(info), of_rules(state));
            }
        }
        let answered = expected.iter().filter(|step| walker.answers.contains_key(step)).count();
        is_good &= result.different == 0 && answered * 10 > expected.len() * 9;
        println!(
            "{}: {answered} of {} answers, with the rules: {result}",
            walker.server,
            expected.len()
        );
        let mut riding: Vec<_> = walker.riding.iter().collect();
        riding.sort();
        println!("{}: eighths above the moving lift, times: {riding:?}", walker.server);
        if let Some(fault) = &walker.fault {
            println!("{}: {fault}", walker.server);
            is_good = false;
        }
    }
    for (number, walker) in walkers.iter().enumerate() {
        for other in &walkers[number + 1..] {
            let mut result = Comparison::default();
            for (step, ..) in &moves {
                if let (Some(a), Some(b)) = (walker.answers.get(step), other.answers.get(step)) {
                    result.add(*step, whole(a), whole(b));
                }
            }
            is_good &= result.different == 0 && result.equal * 10 > expected.len() * 9;
            println!("{} and {}: {result}", walker.server, other.server);
        }
    }
    is_good
}

fn of_move((at, step): (usize, &ScriptStep)) -> Option<(usize, &MoveState, bool, bool)> {
    match step {
        ScriptStep::Move { is_lost, is_answer_lost, expected, .. } => {
            Some((at, expected, *is_lost, *is_answer_lost))
        }
        ScriptStep::Gate(_) => None,
    }
}

/// A player as an answer shows it, without the frame of its model.
fn whole(info: &PlayerInfo) -> PlayerInfo {
    PlayerInfo { frame: 0, player: 0, ..*info }
}

/// The part of a player that the rules determine.
fn shown(info: &PlayerInfo) -> Shown {
    Shown {
        origin: info.origin,
        velocity: info.velocity,
        on_ground: info.has(flag::ON_GROUND),
        jump_held: info.move_type() == MoveType::JumpHeld,
    }
}

fn of_rules(state: &MoveState) -> Shown {
    Shown {
        origin: state.origin.0.map(round_coord),
        velocity: state.velocity.0.map(|speed| speed as i16),
        on_ground: state.on_ground,
        jump_held: state.jump_held,
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
struct Shown {
    origin: [f32; 3],
    velocity: [i16; 3],
    on_ground: bool,
    jump_held: bool,
}

/// Counts of compared answers, and the first difference.
#[derive(Default)]
struct Comparison {
    equal: usize,
    different: usize,
    first: Option<String>,
}

impl Comparison {
    fn add<T: PartialEq + std::fmt::Debug>(&mut self, step: usize, left: T, right: T) {
        if left == right {
            self.equal += 1;
        } else {
            self.different += 1;
            self.first.get_or_insert_with(|| format!("step {step}: {left:?}, not {right:?}"));
        }
    }
}

impl std::fmt::Display for Comparison {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} equal, {} different", self.equal, self.different)?;
        self.first.iter().try_for_each(|first| write!(f, "; first at {first}"))
    }
}
