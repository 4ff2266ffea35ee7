//! Scripted moves on the test course in virtual time: the same places at the same times.
//!
//! Server and client exchange datagrams without delay, one usercmd every 40 ms and a snapshot after each. A
//! difference is a change of the game that clients would see as a misprediction, or a change of the map. The
//! loopback tests run the same legs over sockets.

use std::fmt::Write as _;

use fragd::{
    client::Protocol,
    game::Ruleset,
    testing::course::{Keys, LEGS, STEP_MS, VirtualLine, Walker, join_virtual, join_virtual_as},
};

/// Time between two places of the vectors.
const RECORD_MS: i32 = 400;

#[test]
fn course_gives_same_places_at_same_times() {
    let (mut walker, mut line) = join_virtual("course");
    let mut text = String::new();
    for leg in LEGS {
        writeln!(text, "{}", leg.name).expect("text");
        for sample in
            walker.run(&mut line, leg).iter().filter(|sample| sample.time_ms % RECORD_MS == 0)
        {
            writeln!(text, "{sample}").expect("text");
        }
    }
    let expected = include_str!("../vectors/course.txt");
    let differs = text.lines().zip(expected.lines()).position(|(got, want)| got != want);
    assert!(text == expected, "differs from line {differs:?} on:\n{text}");
}

#[test]
fn older_protocols_give_the_same_places() {
    let places = |protocol| {
        let (mut walker, mut line) = join_virtual_as("course", Ruleset::BASEQ3, protocol);
        let legs = LEGS.iter().map(|leg| walker.run(&mut line, leg));
        legs.map(|samples| samples.iter().map(ToString::to_string).collect::<Vec<_>>())
            .collect::<Vec<_>>()
    };
    let current = places(Protocol::Q3_68);
    for protocol in [Protocol::Q3_43, Protocol::Q3_45, Protocol::Q3_66, Protocol::Q3_67] {
        assert_eq!(places(protocol), current, "{protocol}");
    }
}

/// Ground entity of a player in the air.
const GROUND_NONE: i32 = 1023;

/// A jump pad: map, center, and the box of the places where a flight without keys lands.
type Pad = (&'static str, [i32; 3], [[f32; 3]; 2]);

/// Jump pads of the arenas.
const PADS: &[Pad] = &[
    // Past the ledge, into the teleporter and out in the workshop.
    ("fragd1", [832, -832, 24], [[-1040.0, -840.0, 24.0], [-880.0, -824.0, 25.0]]),
    ("fragd1", [1040, -320, 24], [[640.0, -384.0, 216.0], [784.0, 384.0, 217.0]]),
    ("fragd1", [-1024, 768, 216], [[-1088.0, 496.0, 408.0], [-928.0, 640.0, 409.0]]),
    ("fragdctf1", [-1472, 384, 24], [[-1040.0, 0.0, 216.0], [-896.0, 400.0, 217.0]]),
    ("fragdctf1", [1472, 384, 24], [[896.0, 0.0, 216.0], [1040.0, 400.0, 217.0]]),
];

#[test]
fn jump_pads_lead_to_their_ledges() {
    let mut course: Option<(&str, Walker, VirtualLine)> = None;
    for &(map, [x, y, z], [low, high]) in PADS {
        if course.as_ref().is_none_or(|(loaded, ..)| *loaded != map) {
            let (walker, line) = join_virtual(map);
            course = Some((map, walker, line));
        }
        let (_, walker, line) = course.as_mut().expect("a course");
        walker.send(line, &format!("setviewpos {x} {y} {z} 180"));
        let (mut highest, mut origin) = (f32::MIN, [0.0; 3]);
        for _ in 0..3200 / STEP_MS {
            walker.step(line, Keys::Still, 0);
            let player = walker.client.player().expect("a snapshot");
            origin = player.origin.0;
            highest = highest.max(origin[2]);
            if highest > z as f32 + 100.0 && player.ground_entity_num != GROUND_NONE {
                break;
            }
        }
        let is_there = (0..3).all(|axis| (low[axis]..=high[axis]).contains(&origin[axis]));
        assert!(is_there, "{map}: pad at {x} {y} {z} leads to {origin:?}, highest {highest}");
    }
}
