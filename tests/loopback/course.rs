//! Scripted moves on the test course over sockets: the places and times of the virtual course.
//!
//! Each leg has a server and a client of its own, and all run at once. Usercmds and their times are those of the
//! virtual course. When a usercmd runs depends on the machine: a leg may begin one usercmd of running beside its
//! place, movers are some frames ahead or behind, and damage of a zone comes earlier or later.

use std::{
    net::{SocketAddr, UdpSocket},
    thread,
    time::{Duration, Instant},
};

use fragd::{
    io::{Clock, Console, ConsoleOutput, ExitReason, Options, run},
    model::Millis,
    node::LocalPort,
    testing::course::{LEGS, Leg, Line, STEP_MS, Sample, Walker, join_virtual, server},
};

use super::fixture::{listen, mail, socket_at};

/// Tolerance of places: one usercmd of running.
const TOLERANCE: f32 = 12.8;
/// Tolerance of times: two usercmds.
const LATE_MS: i32 = 2 * STEP_MS as i32;
/// Tolerance on movers: four server frames of running.
const MOVER_TOLERANCE: f32 = 26.0;
/// Legs on movers.
const ON_MOVERS: [&str; 3] = ["lift", "turning platform", "door"];
/// Legs in zones that hurt at intervals.
const HURTING: [&str; 3] = ["slime", "lava", "hurting zone"];
/// Longest lead of usercmds: the server cuts it at 200 ms.
const MAX_LEAD_MS: i32 = 120;

/// A socket, paced by the clock.
struct SocketLine {
    socket: UdpSocket,
    server: SocketAddr,
    begun: Instant,
    /// End of the current step.
    due: Millis,
}

impl SocketLine {
    fn exchange(&mut self, walker: &mut Walker) {
        let now = self.now();
        for datagram in mail(&self.socket) {
            walker.client.handle_datagram(now, self.server, &datagram);
        }
        walker.client.frame(now);
        let mut packet = Vec::new();
        while walker.client.poll_transmit(&mut packet).is_some() {
            let _ = self.socket.send_to(&packet, self.server);
        }
    }
}

impl Line for SocketLine {
    fn pass(&mut self, walker: &mut Walker) {
        self.due.0 += STEP_MS;
        loop {
            self.exchange(walker);
            // After a stall of the machine, the server catches up first.
            if self.now() >= self.due && walker.lead_ms() <= MAX_LEAD_MS {
                break;
            }
            thread::sleep(Duration::from_millis(4));
        }
        self.due = self.due.max(Millis(self.now().0.saturating_sub(STEP_MS)));
    }

    fn now(&self) -> Millis {
        Millis(self.begun.elapsed().as_millis() as u64)
    }
}

/// Runs a leg on a server of its own.
fn run_leg(number: u8, leg: &Leg) -> Vec<Sample> {
    let sockets = listen();
    let address = sockets.addresses(LocalPort(0)).next().unwrap();
    let (lines, mut console) = std::io::pipe().unwrap();
    let host = thread::spawn(move || {
        let mut server = server("course", Millis(0));
        let options = Options {
            console: Console::Reader(Box::new(lines)),
            output: ConsoleOutput::Writer(Box::new(std::io::sink())),
            ..Options::default()
        };
        run(&mut server, sockets, &Clock::start(), options).unwrap()
    });
    let socket = socket_at(13, 1 + number);
    let mut line = SocketLine { socket, server: address, begun: Instant::now(), due: Millis(0) };
    let mut walker = Walker::new(address, 100 + u16::from(number), Millis(0));
    walker.join(&mut line);
    let samples = walker.run(&mut line, leg);
    std::io::Write::write_all(&mut console, b"quit\n").unwrap();
    assert_eq!(host.join().unwrap().reason, ExitReason::Finished);
    samples
}

/// Compares a leg with the virtual course. Returns the first difference.
fn difference(leg: &Leg, samples: &[Sample], expected: &[Sample]) -> Option<String> {
    // Two usercmds may run in one frame, and a snapshot shows only the second.
    if samples.len() * 2 < expected.len() {
        return Some(format!("{}: {} samples of {}", leg.name, samples.len(), expected.len()));
    }
    let tolerance = if ON_MOVERS.contains(&leg.name) { MOVER_TOLERANCE } else { TOLERANCE };
    let hurts = HURTING.contains(&leg.name);
    let matches = |sample: &Sample, want: &Sample| {
        (sample.time_ms - want.time_ms).abs() <= LATE_MS
            && (0..3).all(|axis| (sample.place[axis] - want.place[axis]).abs() <= tolerance)
            && (hurts || sample.health == want.health)
    };
    let differs = |sample: &&Sample| !expected.iter().any(|want| matches(sample, want));
    let sample = samples.iter().find(differs)?;
    let near = expected.iter().min_by_key(|want| (want.time_ms - sample.time_ms).abs())?;
    Some(format!("{}:\n{sample}, expected\n{near}", leg.name))
}

#[test]
fn course_gives_same_places_over_sockets() {
    let (mut walker, mut line) = join_virtual("course");
    let threads: Vec<_> = LEGS
        .iter()
        .enumerate()
        .map(|(number, leg)| {
            let expected = walker.run(&mut line, leg);
            thread::spawn(move || difference(leg, &run_leg(number as u8, leg), &expected))
        })
        .collect();
    let differences: Vec<_> =
        threads.into_iter().filter_map(|thread| thread.join().unwrap()).collect();
    assert!(differences.is_empty(), "{}", differences.join("\n"));
}
