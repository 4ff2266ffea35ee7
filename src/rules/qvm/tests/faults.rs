//! Tests of faults: kind, place, call stack, and the machine after them.

use Opcode::*;

use super::*;

fn fault(rows: &[Row]) -> Fault {
    run(rows).unwrap_err()
}

#[test]
fn division_by_zero_is_fault() {
    for opcode in [Divi, Divu, Modi, Modu] {
        let fault = fault(&[(Enter, 8), (Const, 1), (Const, 0), (opcode, 0), (Leave, 8)]);
        assert_eq!((fault.kind, fault.place.instruction), (FaultKind::DivisionByZero, 3));
    }
}

#[test]
fn endless_loop_exhausts_budget() {
    let mut machine = machine(&[(Enter, 8), (Const, 1), (Jump, 0)]);
    machine.set_budget(1000);
    let fault = machine.enter(&mut no_services, &[0; 13]).unwrap_err();
    assert_eq!((fault.kind, fault.place.instruction), (FaultKind::Budget, 2));
    // 3 for the function, 2 for each round.
    assert_eq!(machine.remaining_budget(), 1);
    assert_eq!(fault_of_loop(&[(Const, 0), (Const, 0), (Eq, 1)]), FaultKind::Budget);
    assert_eq!(fault_of_loop(&[(Push, 0), (Const, 0), (Const, 0), (Eq, 2)]), FaultKind::Budget);
}

fn fault_of_loop(body: &[Row]) -> FaultKind {
    let rows = [&[(Enter, 8)], body, &[(Push, 0), (Leave, 8)]].concat();
    let rows =
        if body[0].0 == Push { [&rows[..rows.len() - 2], &[(Leave, 8)]].concat() } else { rows };
    fault(&rows).kind
}

#[test]
fn endless_recursion_is_fault_with_bounded_trace() {
    let small = fault(&[(Enter, 0), (Const, 0), (Call, 0), (Leave, 0)]);
    assert_eq!(small.kind, FaultKind::CallDepth(MAX_CALLS));
    assert_eq!(small.callers.len(), MAX_TRACE);
    assert_eq!(small.omitted, MAX_CALLS - MAX_TRACE as u32);
    assert_eq!(small.trace().count(), MAX_TRACE + 1);
    let large = fault(&[(Enter, 4096), (Const, 0), (Call, 0), (Leave, 4096)]);
    assert_eq!((large.kind, large.place.instruction), (FaultKind::StackOverflow, 0));
    // The stack has the block of 131,072 bytes without 256 bytes of data and the frame of the entry.
    assert_eq!(large.callers.len(), 31);
}

#[test]
fn invalid_call_target_is_fault() {
    for target in [1, 5, i32::MAX] {
        let rows = [(Enter, 8), (Const, target), (Ignore, 0), (Call, 0), (Leave, 8)];
        let fault = fault(&rows);
        assert_eq!((fault.kind, fault.place.instruction), (FaultKind::CallTarget(target), 3));
    }
}

#[test]
fn computed_jump_reaches_listed_targets_only() {
    let rows = |target| {
        [
            (Enter, 8),
            (Const, target),
            (Ignore, 0),
            (Jump, 0),
            (Const, 44),
            (Leave, 8),
            (Const, 66),
            (Leave, 8),
            (Enter, 8),
            (Const, 9),
            (Ignore, 0),
            (Leave, 8),
        ]
    };
    let enter = |target, table: &[u32]| {
        let mut image = image(&rows(target));
        image.jump_table = Some(table.to_vec());
        let program = Program::verify(image).unwrap();
        Machine::new(program, Engine::Interpreter).unwrap().enter(&mut no_services, &[0; 13])
    };
    assert_eq!(enter(6, &[4, 6]), Ok(66));
    for target in [4, 5, 7, 0, 8, 9, -1, i32::MIN, 1000] {
        let fault = enter(target, &[0, 5, 6, 9, 1000]).unwrap_err();
        assert_eq!(fault.kind, FaultKind::JumpTarget(target));
    }
    // Without a table, words of the data segment list the targets: all of its words but 0 are larger.
    assert_eq!(fault(&rows(6)).kind, FaultKind::JumpTarget(6));
    let mut image = image(&rows(6));
    image.data.extend_from_slice(&6_i32.to_le_bytes());
    let program = Program::verify(image).unwrap();
    let mut machine = Machine::new(program, Engine::Interpreter).unwrap();
    assert_eq!(machine.enter(&mut no_services, &[0; 13]), Ok(66));
}

#[test]
fn block_copy_outside_block_is_fault() {
    let size = machine(&[(Enter, 8), (Push, 0), (Leave, 8)]).memory().size() as i32;
    let copy = |target, source, length| {
        let rows = [
            (Enter, 8),
            (Const, target),
            (Const, source),
            (BlockCopy, length),
            (Const, target),
            (Load4, 0),
            (Leave, 8),
        ];
        run(&rows)
    };
    assert_eq!(copy(1024, 4, 8), Ok(0x0101_0101));
    assert_eq!(copy(0, 4, 40), Ok(0x0101_0101));
    for (target, source, length) in
        [(size - 4, 4, 8), (4, size - 4, 8), (size, 0, 4), (0, -4, 8), (0, 4, 1 << 20)]
    {
        let fault = copy(target, source, length).unwrap_err();
        assert!(matches!(fault.kind, FaultKind::BlockCopy { .. }), "{fault}");
    }
    let mut machine =
        machine(&[(Enter, 8), (Const, 0), (Const, 0), (BlockCopy, 65_536), (Const, 1), (Jump, 0)]);
    machine.set_budget(10_000);
    let fault = machine.enter(&mut no_services, &[0; 13]).unwrap_err();
    assert_eq!((fault.kind, fault.place.instruction), (FaultKind::Budget, 3));
}

#[test]
fn nested_entries_are_limited() {
    let mut machine = machine(&[(Enter, 8), (Const, -1), (Call, 0), (Leave, 8)]);
    fn again(machine: &mut Machine, _: ServiceCall) -> Result<i32, FaultKind> {
        Ok(machine.enter(&mut again, &[0; ENTRY_ARGUMENTS])?)
    }
    let mut fault = machine.enter(&mut again, &[0; 13]).unwrap_err();
    let mut depth = 0;
    while let FaultKind::Nested(inner) = fault.kind {
        fault = *inner;
        depth += 1;
    }
    assert_eq!((fault.kind, depth), (FaultKind::EntryDepth(MAX_ENTRIES), MAX_ENTRIES));
    assert_eq!(machine.entry_depth(), 0);
    assert_eq!(machine.enter(&mut |_: &mut Machine, _: ServiceCall| Ok(5), &[0; 13]), Ok(5));
}

#[test]
fn small_block_has_no_room_for_entry() {
    let mut image = image(&[(Enter, 8), (Push, 0), (Leave, 8)]);
    image.zero_length = 0;
    let mut machine = Machine::new(Program::verify(image).unwrap(), Engine::Interpreter).unwrap();
    let fault = machine.enter(&mut no_services, &[0; 13]).unwrap_err();
    assert_eq!(fault.kind, FaultKind::StackOverflow);
}

#[test]
fn fault_names_functions_of_symbol_file() {
    let rows = [
        (Enter, 8),
        (Const, 4),
        (Call, 0),
        (Leave, 8),
        (Enter, 8),
        (Const, -3),
        (Call, 0),
        (Leave, 8),
    ];
    let symbols = Symbols::parse("0 0 vmMain\n0 4 G_RunFrame\n");
    let program = Program::verify_with(image(&rows), symbols).unwrap();
    let mut machine = Machine::new(program, Engine::Interpreter).unwrap();
    let fault = machine.enter(&mut no_services, &[0; 13]).unwrap_err();
    assert_eq!(fault.to_string(), "unknown service 2 in G_RunFrame+2 (instruction 6)");
    let trace: Vec<_> = fault.trace().collect();
    assert_eq!(trace, ["called by vmMain+2 (instruction 2)"]);
}
