//! Random verified programs: the interpreter and the oracle agree.

use Opcode::*;

use super::*;

/// Generator of numbers: multiply and xor-shift.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) as usize) % limit
    }

    fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len())]
    }

    fn value(&mut self) -> i32 {
        match self.below(6) {
            0 => self.pick(&[0, 1, -1, i32::MIN, i32::MAX, 0x3f80_0000, 0x7fc0_0001]),
            1 => self.below(1 << 31) as i32,
            2 => -(self.below(5000) as i32),
            _ => self.below(64) as i32 * 4,
        }
    }
}

/// Pushes one value: a random expression.
fn expression(random: &mut Random, rows: &mut Vec<Row>, depth: usize) {
    const UNARY: [Opcode; 10] = [Sex8, Sex16, Negi, Bcom, Negf, Cvif, Cvfi, Load1, Load2, Load4];
    match random.below(if depth > 5 { 4 } else { 10 }) {
        0 => rows.push((Const, random.value())),
        1 => rows.extend([(Const, random.value()), (Load4, 0)]),
        2 => rows.push((Local, random.below(12) as i32 * 4)),
        3 => rows.extend([(Local, random.below(12) as i32 * 4), (Load4, 0)]),
        4 => {
            expression(random, rows, depth + 1);
            rows.push((random.pick(&UNARY), 0));
        }
        5 => {
            expression(random, rows, depth + 1);
            rows.extend([(Const, random.value()), (random.pick(&[Add, Sub]), 0)]);
        }
        6 => {
            rows.push((Const, random.pick(&[-1, -1, -2, -3, 0, 1, 2, 2])));
            rows.push((Call, 0));
        }
        _ => {
            expression(random, rows, depth + 1);
            expression(random, rows, depth + 2);
            let number = random.below(20) as u8 + Add as u8;
            let opcode = Opcode::from_number(number).unwrap();
            let is_division = matches!(opcode, Divi | Divu | Modi | Modu) && random.below(8) != 0;
            let is_binary = opcode.operation().pops == 2 && !is_division;
            let opcode = if is_binary { opcode } else { Mulf };
            rows.push((opcode, 0));
        }
    }
}

/// Appends a function. Branches name statements until the end, calls name functions.
fn function(random: &mut Random, rows: &mut Vec<Row>) {
    let start = rows.len();
    let frame = random.below(8) as i32 * 4 + 16;
    rows.push((Enter, frame));
    let count = random.below(12) + 2;
    let mut starts = Vec::new();
    let mut branches = Vec::new();
    for statement in 0..count {
        starts.push(rows.len());
        let kept = random.below(4) == 0;
        if kept {
            expression(random, rows, 0);
        }
        let later = statement + 1 + random.below(count - statement);
        let target = if random.below(6) == 0 { random.below(count) } else { later.min(count - 1) };
        match random.below(6) {
            0 => {
                expression(random, rows, 1);
                rows.push((Arg, random.below(8) as i32 * 4 + 8));
            }
            1 if !kept => {
                expression(random, rows, 0);
                expression(random, rows, 1);
                branches.push((rows.len(), target));
                rows.push((Opcode::from_number(random.below(16) as u8 + 11).unwrap(), 0));
            }
            2 if kept => {
                // A branch over a statement, with a cell on the operand stack.
                expression(random, rows, 1);
                expression(random, rows, 2);
                let branch = rows.len();
                rows.push((random.pick(&[Eq, Lti, Gtf]), 0));
                expression(random, rows, 1);
                rows.push((random.pick(&[Add, Bxor]), 0));
                rows[branch].1 = rows.len() as i32;
            }
            3 => {
                expression(random, rows, 1);
                expression(random, rows, 2);
                if random.below(6) == 0 {
                    rows.push((BlockCopy, random.below(64) as i32));
                } else {
                    rows.push((Store4, 0));
                }
            }
            _ => {
                expression(random, rows, 1);
                expression(random, rows, 2);
                rows.push((random.pick(&[Store1, Store2, Store4]), 0));
            }
        }
        if kept {
            rows.push((Pop, 0));
        } else if random.below(10) == 0 {
            branches.push((rows.len(), target));
            rows.extend([(Const, 0), (Jump, 0)]);
        }
    }
    for (branch, target) in branches {
        rows[branch].1 = starts[target] as i32;
    }
    debug_assert!(start < rows.len());
    expression(random, rows, 0);
    rows.push((Leave, frame));
}

/// A random program of three functions.
fn program(random: &mut Random) -> Vec<Row> {
    let mut rows = Vec::new();
    let mut starts = Vec::new();
    for _ in 0..3 {
        starts.push(rows.len() as i32);
        function(random, &mut rows);
    }
    for at in 1..rows.len() {
        if rows[at].0 == Call && rows[at - 1].1 >= 0 {
            let callee = starts[rows[at - 1].1 as usize];
            // Calls of earlier functions recurse; most programs make none.
            let is_kept = callee > at as i32 || random.below(20) == 0;
            rows[at - 1].1 = if is_kept { callee } else { -1 };
        }
    }
    rows
}

#[test]
fn interpreter_agrees_with_oracle_on_random_programs() {
    let mut random = Random(1);
    let (mut results, mut faults) = (0, 0);
    for _ in 0..2000 {
        let rows = program(&mut random);
        let program = Program::verify(image(&rows)).unwrap();
        let outcome = |plain: bool| {
            let mut machine = match plain {
                true => Machine::plain(program.clone()),
                false => Machine::new(program.clone(), Engine::Interpreter).unwrap(),
            };
            machine.set_budget(5000);
            let mut seen = 0_i32;
            let mut services = |machine: &mut Machine, call: ServiceCall| {
                seen = call.arguments.iter().fold(seen, |sum, word| sum.rotate_left(5) ^ word);
                if call.number == 1 && machine.entry_depth() < 3 {
                    return Ok(machine.enter(&mut no_services, &[seen; ENTRY_ARGUMENTS])?);
                }
                Ok(seen)
            };
            let result = machine.enter(&mut services, &[3; ENTRY_ARGUMENTS]);
            (result, seen, machine.remaining_budget(), machine.memory().block().to_vec())
        };
        let fast = outcome(false);
        assert!(fast == outcome(true), "{:?}\n{rows:?}", fast.0);
        if fast.0.is_ok() { results += 1 } else { faults += 1 }
    }
    assert!(results > 300 && faults > 300, "{results} results, {faults} faults");
}
