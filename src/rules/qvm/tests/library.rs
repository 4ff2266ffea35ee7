//! Tests of the C library. Expected values are those of the functions in the C standard.

use super::*;

/// Result of a service with up to four arguments, and the machine after it.
fn served(number: i32, arguments: &[i32]) -> (Result<i32, FaultKind>, Machine) {
    use Opcode::{Arg, Call, Const, Enter, Leave};
    let mut rows = vec![(Enter, 64)];
    for (word, at) in arguments.iter().zip((8..).step_by(4)) {
        rows.extend([(Const, *word), (Arg, at)]);
    }
    rows.extend([(Const, !number), (Call, 0), (Leave, 64)]);
    let mut machine = machine(&rows);
    let result = machine.enter(&mut no_services, &[0; ENTRY_ARGUMENTS]);
    (result.map_err(|fault| fault.kind), machine)
}

fn float(number: i32, x: f32, y: f32) -> f32 {
    let (result, _) = served(number, &[x, y].map(|value| value.to_bits() as i32));
    f32::from_bits(result.unwrap() as u32)
}

#[test]
fn functions_of_floats() {
    assert_eq!(float(103, 1.0, 0.0), 0.841_470_96);
    assert_eq!(float(104, 1.0, 0.0), 0.540_302_3);
    assert_eq!(float(105, 1.0, -1.0), 2.356_194_5);
    assert_eq!(float(106, 3.0, 0.0), 1.732_050_8);
    assert_eq!(float(110, -1.5, 0.0), -2.0);
    assert_eq!(float(111, -1.5, 0.0), -1.0);
    for number in [103, 104, 106] {
        let result = float(number, f32::NEG_INFINITY, 0.0);
        assert_eq!(result.to_bits(), 0x7fc0_0000, "service {number}");
    }
}

#[test]
fn functions_of_memory() {
    const TARGET: i32 = 1024;
    // The data of the image: word n is n times 0x01010101.
    let (result, machine) = served(101, &[TARGET, 4, 8]);
    assert_eq!(result, Ok(0));
    assert_eq!(machine.memory().bytes(TARGET, 9).unwrap(), [1, 1, 1, 1, 2, 2, 2, 2, 0]);
    let (result, machine) = served(100, &[TARGET, 0x17f, 3]);
    assert_eq!(result, Ok(0));
    assert_eq!(machine.memory().bytes(TARGET, 4).unwrap(), [0x7f, 0x7f, 0x7f, 0]);
    // A text that fills its room has no zero; a shorter one is followed by zeros.
    let (result, machine) = served(102, &[4, 20, 6]);
    assert_eq!(result, Ok(4));
    assert_eq!(machine.memory().bytes(4, 7).unwrap(), [5, 5, 5, 5, 6, 6, 2]);
    let (_, machine) = served(102, &[4, 252, 8]);
    assert_eq!(machine.memory().bytes(4, 9).unwrap(), [63, 63, 63, 63, 0, 0, 0, 0, 3]);
}

#[test]
fn range_outside_of_the_block_is_a_fault() {
    let (_, machine) = served(106, &[0]);
    let size = machine.memory().size() as i32;
    for arguments in [[size - 4, 4, 8], [4, size - 4, 8]] {
        let (result, _) = served(101, &arguments);
        assert!(matches!(result, Err(FaultKind::Window { length: 8, .. })), "{result:?}");
    }
    for number in 100..=102 {
        let (result, _) = served(number, &[4, 4, -1]);
        assert!(matches!(result, Err(FaultKind::Service { .. })), "{number}: {result:?}");
    }
    for (number, arguments) in [(107, [4, 4, size - 32, 0]), (108, [4, size - 8, 0, 0])] {
        let (result, _) = served(number, &arguments);
        assert!(matches!(result, Err(FaultKind::Window { .. })), "{number}: {result:?}");
    }
}

#[test]
fn length_is_charged() {
    use Opcode::{Arg, Call, Const, Enter, Leave};
    let rows = [
        (Enter, 64),
        (Const, 64),
        (Arg, 8),
        (Const, 48),
        (Arg, 16),
        (Const, !100),
        (Call, 0),
        (Leave, 64),
    ];
    let mut machine = machine(&rows);
    machine.set_budget(100);
    machine.enter(&mut no_services, &[0; ENTRY_ARGUMENTS]).unwrap();
    assert_eq!(machine.remaining_budget(), 100 - rows.len() as u64 - 48 / 16);
}

#[test]
fn axes_of_angles() {
    const AXES: i32 = 1024;
    use Opcode::{Arg, Call, Const, Enter, Leave, Store4};
    let mut rows = vec![(Enter, 64)];
    for (at, angle) in [(512, 0.0_f32), (516, 90.0), (520, 0.0)] {
        rows.extend([(Const, at), (Const, angle.to_bits() as i32), (Store4, 0)]);
    }
    for (at, address) in [(8, 512), (12, AXES), (16, AXES + 12), (20, AXES + 24)] {
        rows.extend([(Const, address), (Arg, at)]);
    }
    rows.extend([(Const, !108), (Call, 0), (Leave, 64)]);
    let mut machine = machine(&rows);
    machine.enter(&mut no_services, &[0; ENTRY_ARGUMENTS]).unwrap();
    let axis = |n: i32| machine.memory().vec3_at(AXES + 12 * n).unwrap().map(f32::round);
    assert_eq!([axis(0), axis(1), axis(2)], [[0., 1., 0.], [1., 0., 0.], [0., 0., 1.]]);
}
