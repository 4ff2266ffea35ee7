//! Tests of loader, verifier, memory, faults and the interpreter.

mod faults;
mod library;
mod random;
mod verifier;

use super::*;

/// An instruction of a test program.
pub(super) type Row = (Opcode, i32);

pub(super) fn image(rows: &[Row]) -> Image {
    let mut code = Vec::new();
    for (opcode, operand) in rows {
        code.push(*opcode as u8);
        let bytes = operand.to_le_bytes();
        code.extend_from_slice(&bytes[..opcode.operation().operand.length()]);
    }
    Image {
        instruction_count: rows.len() as u32,
        code,
        data: (0..64_i32).flat_map(|word| (word * 0x0101_0101).to_le_bytes()).collect(),
        zero_length: STACK_SIZE,
        ..Image::default()
    }
}

pub(super) fn machine(rows: &[Row]) -> Machine {
    let program = Program::verify(image(rows)).unwrap();
    Machine::new(program, Engine::Interpreter).unwrap()
}

fn plain_machine(rows: &[Row]) -> Machine {
    Machine::plain(Program::verify(image(rows)).unwrap())
}

pub(super) fn no_services(_: &mut Machine, call: ServiceCall) -> Result<i32, FaultKind> {
    Err(FaultKind::UnknownService(call.number))
}

/// Enters a program in the interpreter and in the oracle. Both must agree.
pub(super) fn run(rows: &[Row]) -> Result<i32, Fault> {
    let mut fast = machine(rows);
    let mut plain = plain_machine(rows);
    fast.set_budget(100_000);
    plain.set_budget(100_000);
    let arguments = [7; ENTRY_ARGUMENTS];
    let result = fast.enter(&mut no_services, &arguments);
    assert_eq!(result, plain.enter(&mut no_services, &arguments));
    assert_eq!(fast.remaining_budget(), plain.remaining_budget());
    assert!(fast.memory().block() == plain.memory().block());
    assert_eq!(fast.stack_pointer, fast.memory().size());
    result
}

/// Result of `a op b`, from constants and from memory.
fn binary(opcode: Opcode, a: i32, b: i32) -> i32 {
    use Opcode::*;
    let enter = (Enter, 24);
    let leave = (Leave, 24);
    let constants = run(&[enter, (Const, a), (Const, b), (opcode, 0), leave]).unwrap();
    let locals = [
        enter,
        (Local, 16),
        (Const, a),
        (Store4, 0),
        (Const, 1024),
        (Const, b),
        (Store4, 0),
        (Local, 16),
        (Load4, 0),
        (Const, 1024),
        (Load4, 0),
        (opcode, 0),
        leave,
    ];
    assert_eq!(run(&locals).unwrap(), constants);
    constants
}

fn unary(opcode: Opcode, a: i32) -> i32 {
    run(&[(Opcode::Enter, 8), (Opcode::Const, a), (opcode, 0), (Opcode::Leave, 8)]).unwrap()
}

fn branches(opcode: Opcode, a: i32, b: i32) -> bool {
    use Opcode::*;
    let rows = [
        (Enter, 8),
        (Const, a),
        (Const, b),
        (opcode, 6),
        (Const, 0),
        (Leave, 8),
        (Const, 1),
        (Leave, 8),
    ];
    run(&rows).unwrap() == 1
}

fn bits(value: f32) -> i32 {
    value.to_bits() as i32
}

#[test]
fn integer_operations_follow_reference() {
    use Opcode::*;
    for (opcode, a, b, result) in [
        (Add, i32::MAX, 1, i32::MIN),
        (Sub, 3, 5, -2),
        (Divi, -7, 2, -3),
        (Divi, i32::MIN, -1, i32::MIN),
        (Divu, -1, 2, i32::MAX),
        (Modi, -7, 2, -1),
        (Modi, i32::MIN, -1, 0),
        (Modu, -1, 10, 5),
        (Muli, 0x10001, 0x10001, 0x20001),
        (Mulu, -1, -1, 1),
        (Band, 12, 10, 8),
        (Bor, 12, 10, 14),
        (Bxor, 12, 10, 6),
        (Lsh, 1, 33, 2),
        (Rshi, -8, 1, -4),
        (Rshu, -8, 28, 15),
    ] {
        assert_eq!(binary(opcode, a, b), result, "{opcode:?} {a} {b}");
    }
    for (opcode, a, result) in [
        (Sex8, 0x1ff, -1),
        (Sex8, 0x17f, 127),
        (Sex16, 0x1_8000, -32768),
        (Negi, i32::MIN, i32::MIN),
        (Bcom, 0, -1),
        (Cvif, -3, bits(-3.0)),
        (Cvif, i32::MAX, bits(2_147_483_648.0)),
    ] {
        assert_eq!(unary(opcode, a), result, "{opcode:?} {a}");
    }
}

#[test]
fn float_operations_follow_reference() {
    use Opcode::*;
    for (opcode, a, b, result) in [
        (Addf, 1.5, 2.25, 3.75),
        (Subf, 1.0, 2.5, -1.5),
        (Divf, 1.0, 4.0, 0.25),
        (Divf, 1.0, 0.0, f32::INFINITY),
        (Mulf, 3.0, -2.0, -6.0),
        (Mulf, 16_777_217.0, 3.0, 50_331_648.0),
    ] {
        assert_eq!(binary(opcode, bits(a), bits(b)), bits(result), "{opcode:?} {a} {b}");
    }
    for (a, b) in [(0.0, 0.0), (f32::NAN, 1.0), (-f32::NAN, 1.0)] {
        assert_eq!(binary(Divf, bits(a), bits(b)), 0x7fc0_0000);
    }
    for (a, result) in [
        (-1.9, -1),
        (2_147_483_520.0, 2_147_483_520),
        (2_147_483_648.0, i32::MIN),
        (-2_147_483_648.0, i32::MIN),
        (-3e9, i32::MIN),
        (f32::NAN, i32::MIN),
        (f32::INFINITY, i32::MIN),
    ] {
        assert_eq!(unary(Cvfi, bits(a)), result, "{a}");
    }
    assert_eq!(unary(Negf, bits(0.0)), i32::MIN);
}

#[test]
fn branches_follow_reference() {
    use Opcode::*;
    let values = [0, 1, -1, i32::MIN, i32::MAX, bits(1.0), bits(-0.0), bits(f32::NAN)];
    for a in values {
        for b in values {
            let (ua, ub) = (a as u32, b as u32);
            let (fa, fb) = (f32::from_bits(ua), f32::from_bits(ub));
            for (opcode, expected) in [
                (Eq, a == b),
                (Ne, a != b),
                (Lti, a < b),
                (Lei, a <= b),
                (Gti, a > b),
                (Gei, a >= b),
                (Ltu, ua < ub),
                (Leu, ua <= ub),
                (Gtu, ua > ub),
                (Geu, ua >= ub),
                (Eqf, fa == fb),
                (Nef, fa != fb),
                (Ltf, fa < fb),
                (Lef, fa <= fb),
                (Gtf, fa > fb),
                (Gef, fa >= fb),
            ] {
                assert_eq!(branches(opcode, a, b), expected, "{opcode:?} {a:#x} {b:#x}");
            }
        }
    }
}

#[test]
fn wild_address_wraps_at_block_size() {
    use Opcode::*;
    let size = machine(&[(Enter, 8), (Push, 0), (Leave, 8)]).memory().size() as i32;
    for (load, address, result) in [
        (Load4, 8, 0x0202_0202),
        (Load2, 9, 0x0202),
        (Load1, 12, 3),
        (Load4, size + 8, 0x0202_0202),
        (Load4, i32::MIN + 12, 0x0303_0303),
        (Load4, 6, 0x0202_0101),
        (Load4, size - 1, 0),
    ] {
        let rows = [(Enter, 8), (Const, address), (load, 0), (Leave, 8)];
        assert_eq!(run(&rows).unwrap(), result, "{load:?} {address}");
    }
    for (store, value) in [(Store1, 0x0101_0177), (Store2, 0x0101_5577), (Store4, 0x3333_5577)] {
        let rows = [
            (Enter, 8),
            (Const, size.wrapping_mul(-3) + 4),
            (Const, 0x3333_5577),
            (store, 0),
            (Const, 4),
            (Load4, 0),
            (Leave, 8),
        ];
        assert_eq!(run(&rows).unwrap(), value, "{store:?}");
    }
}

#[test]
fn load_before_store_keeps_old_value() {
    use Opcode::*;
    let rows = [
        (Enter, 16),
        (Const, 4),
        (Load4, 0),
        (Const, 4),
        (Const, 99),
        (Store4, 0),
        (Const, 4),
        (Load4, 0),
        (Sub, 0),
        (Leave, 16),
    ];
    assert_eq!(run(&rows).unwrap(), 0x0101_0101 - 99);
}

#[test]
fn caller_keeps_cells_over_call() {
    use Opcode::*;
    let rows = [
        (Enter, 16),
        (Const, 100),
        (Const, 4),
        (Load4, 0),
        (Const, 20),
        (Arg, 8),
        (Const, 11),
        (Call, 0),
        (Add, 0),
        (Sub, 0),
        (Leave, 16),
        (Enter, 8),
        (Const, 4),
        (Const, 0),
        (Store4, 0),
        (Local, 16),
        (Load4, 0),
        (Const, 1),
        (Add, 0),
        (Leave, 8),
    ];
    assert_eq!(run(&rows).unwrap(), 100 - (0x0101_0101 + 21));
}

#[test]
fn service_sees_arguments_and_enters_again() {
    use Opcode::*;
    // Entry 7 calls service 4 with (3, 5); the service enters with entry 1, which returns its argument.
    let rows = [
        (Enter, 24),
        (Local, 32),
        (Load4, 0),
        (Const, 7),
        (Eq, 8),
        (Local, 36),
        (Load4, 0),
        (Leave, 24),
        (Const, 3),
        (Arg, 8),
        (Const, 5),
        (Arg, 12),
        (Const, -5),
        (Call, 0),
        (Const, 1000),
        (Add, 0),
        (Leave, 24),
    ];
    for plain in [false, true] {
        let mut machine = if plain { plain_machine(&rows) } else { machine(&rows) };
        let mut services = |machine: &mut Machine, call: ServiceCall| {
            assert_eq!((call.number, &call.arguments[..2]), (4, &[3, 5][..]));
            assert_eq!(machine.entry_depth(), 1);
            let mut arguments = [1; ENTRY_ARGUMENTS];
            arguments[1] = 77;
            Ok(machine.enter(&mut no_services, &arguments)? + call.arguments[1])
        };
        assert_eq!(machine.enter(&mut services, &[7; ENTRY_ARGUMENTS]), Ok(1082));
        assert_eq!(machine.entry_depth(), 0);
    }
}

#[test]
fn reset_restores_data() {
    use Opcode::*;
    let mut machine =
        machine(&[(Enter, 8), (Const, 4), (Const, 9), (Store4, 0), (Push, 0), (Leave, 8)]);
    let before = machine.memory().block().to_vec();
    machine.enter(&mut no_services, &[0; ENTRY_ARGUMENTS]).unwrap();
    assert_eq!(machine.memory().load4(4), 9);
    machine.reset();
    assert!(machine.memory().block() == before);
}

#[test]
fn windows_end_at_block_end() {
    let mut machine = machine(&[(Opcode::Enter, 8), (Opcode::Push, 0), (Opcode::Leave, 8)]);
    let memory = machine.memory_mut();
    let size = memory.size() as i32;
    assert!(memory.bytes(size - 4, 4).is_ok());
    assert!(memory.bytes(size, 4).is_ok(), "the first address is masked");
    assert!(memory.bytes(size - 3, 4).is_err());
    assert!(memory.bytes(0, usize::MAX / 2).is_err());
    memory.write_text(1024, 4, b"abcdef").unwrap();
    assert_eq!(memory.text(1024, 100).unwrap(), b"abc");
    assert_eq!(memory.text(1024, 2).unwrap(), b"ab");
    memory.write_text(1024, 0, b"x").unwrap();
    memory.write_text(1024, -5, b"x").unwrap();
    assert_eq!(memory.text(1024, 100).unwrap(), b"abc");
    assert!(memory.write_text(size - 2, 10, b"ab").is_err());
    memory.write_text(size - 3, 1000, b"ab").unwrap();
    memory.bytes_mut(size - 3, 3).unwrap().fill(b'x');
    assert!(memory.text(size - 3, 100).is_err());
    memory.set_vec3(1024, [1.0, 2.0, 3.0]).unwrap();
    assert_eq!(memory.vec3_at(1024).unwrap(), [1.0, 2.0, 3.0]);
    assert_eq!(memory.f32_at(1028).unwrap(), 2.0);
}
