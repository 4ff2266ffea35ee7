//! Random programs that the verifier accepts: nested statements over random expressions.

use super::{DATA_WORDS, ENTER, FAIL, WRITE, image};
use crate::qvm::{Image, Opcode};

/// Generator of random numbers, the same on every machine.
pub(super) struct Source(u64);

impl Source {
    pub(super) fn new(seed: u64) -> Self {
        Self((seed + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15))
    }

    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 16
    }

    fn below(&mut self, limit: usize) -> usize {
        (self.next() % limit as u64) as usize
    }

    /// A word: often small, often the bits of a float, sometimes anything.
    pub(super) fn word(&mut self) -> i32 {
        match self.below(5) {
            0 => self.next() as i32,
            1 => (self.below(4000) as f32 / 8.0 - 250.0).to_bits() as i32,
            2 => [i32::MIN, i32::MAX, -1, 0, 0x7f80_0000, 0x7fc0_1234][self.below(6)],
            _ => self.below(40) as i32 - 8,
        }
    }
}

/// Functions of a program.
const FUNCTIONS: usize = 4;

struct Writer<'a> {
    source: &'a mut Source,
    code: Vec<(Opcode, i32)>,
    frame: i32,
    /// Functions that exist when a call is generated, by start.
    starts: Vec<i32>,
    /// Calls whose function does not exist yet: instruction and index.
    calls: Vec<(usize, usize)>,
    /// Targets of computed jumps.
    jumps: Vec<u32>,
    /// Initialized data; the second half holds jump targets.
    data: Vec<i32>,
}

/// Makes the image of a random program.
pub(super) fn program(source: &mut Source) -> Image {
    let data = (0..DATA_WORDS).map(|_| source.word()).collect();
    let mut writer = Writer {
        source,
        code: Vec::new(),
        frame: 0,
        starts: Vec::new(),
        calls: Vec::new(),
        jumps: Vec::new(),
        data,
    };
    for _ in 0..FUNCTIONS {
        writer.function();
    }
    for (instruction, index) in std::mem::take(&mut writer.calls) {
        writer.code[instruction].1 = writer.starts[index];
    }
    image(&writer.code, &writer.data, &writer.jumps)
}

impl Writer<'_> {
    fn put(&mut self, opcode: Opcode, operand: i32) {
        self.code.push((opcode, operand));
    }

    fn function(&mut self) {
        self.starts.push(self.code.len() as i32);
        self.frame = 4 * self.source.below(40) as i32;
        self.put(Opcode::Enter, self.frame);
        for _ in 0..2 + self.source.below(5) {
            self.statement(0, 3);
        }
        self.expression(3);
        self.put(Opcode::Leave, self.frame);
    }

    /// Writes a statement at a depth of the operand stack: it leaves the depth unchanged.
    fn statement(&mut self, depth: usize, nested: usize) {
        match self.source.below(if nested == 0 { 6 } else { 10 }) {
            0 | 1 => {
                self.address();
                self.expression(3);
                let stores = [Opcode::Store1, Opcode::Store2, Opcode::Store4, Opcode::Store4];
                let store = stores[self.source.below(4)];
                self.put(store, 0);
            }
            2 => {
                self.address();
                self.address();
                let length = [1, 4, 12, 20, 64, 100, 300][self.source.below(7)];
                self.put(Opcode::BlockCopy, length);
            }
            3 => {
                self.expression(2);
                let offset = 4 * self.source.below(20) as i32;
                self.put(Opcode::Arg, offset);
            }
            4 => {
                self.call();
                self.put(Opcode::Pop, 0);
            }
            5 => {
                let opcode = [Opcode::Ignore, Opcode::Break][self.source.below(2)];
                self.put(opcode, 0);
            }
            6 | 7 => self.branch(depth, nested),
            8 if depth == 0 => self.computed_jump(nested),
            8 => {
                // Statements below a cell in use.
                self.expression(2);
                self.statement(depth + 1, nested - 1);
                self.put(Opcode::Pop, 0);
            }
            _ => self.repeat(depth, nested),
        }
    }

    fn branch(&mut self, depth: usize, nested: usize) {
        let kept = self.source.below(3) == 0 && depth < 4;
        if kept {
            self.expression(2);
        }
        let depth = depth + usize::from(kept);
        self.expression(2);
        self.expression(2);
        let at = self.code.len();
        let comparison = Opcode::Eq as u8 + self.source.below(16) as u8;
        self.put(Opcode::from_number(comparison).expect("a comparison"), 0);
        self.statement(depth, nested - 1);
        if self.source.below(2) == 0 {
            let skip = self.code.len();
            self.put(Opcode::Const, 0);
            self.put(Opcode::Jump, 0);
            self.code[at].1 = self.code.len() as i32;
            self.statement(depth, nested - 1);
            self.code[skip].1 = self.code.len() as i32;
        } else {
            self.code[at].1 = self.code.len() as i32;
        }
        if kept {
            self.put(Opcode::Pop, 0);
        }
    }

    /// Writes a loop. Its counter lives in memory, where other statements may change it.
    fn repeat(&mut self, depth: usize, nested: usize) {
        let head = self.code.len() as i32;
        self.statement(depth, nested - 1);
        let counter = 4 * self.source.below(4) as i32;
        self.put(Opcode::Local, counter);
        self.put(Opcode::Local, counter);
        self.put(Opcode::Load4, 0);
        self.put(Opcode::Const, 1);
        self.put(Opcode::Add, 0);
        self.put(Opcode::Store4, 0);
        self.put(Opcode::Local, counter);
        self.put(Opcode::Load4, 0);
        self.put(Opcode::Const, 5);
        self.put(Opcode::Ltu, head);
    }

    /// Writes a switch: its table is in the data.
    fn computed_jump(&mut self, nested: usize) {
        let slot = DATA_WORDS / 2 + self.source.below(DATA_WORDS / 2 - 2);
        self.expression(1);
        self.put(Opcode::Const, 1);
        self.put(Opcode::Band, 0);
        self.put(Opcode::Const, 2);
        self.put(Opcode::Lsh, 0);
        self.put(Opcode::Const, 4 * slot as i32);
        self.put(Opcode::Add, 0);
        self.put(Opcode::Load4, 0);
        self.put(Opcode::Jump, 0);
        for index in 0..2 {
            let target = self.code.len() as i32;
            self.jumps.push(target as u32);
            self.data[slot + index] = target;
            self.statement(0, nested - 1);
        }
    }

    fn address(&mut self) {
        match self.source.below(8) {
            0 => self.expression(0),
            1 => {
                let address = self.source.word();
                self.put(Opcode::Const, address);
            }
            2 | 3 => {
                let address = self.source.below(DATA_WORDS * 2) as i32;
                self.put(Opcode::Const, address);
            }
            4 => {
                let offset = self.source.word();
                self.put(Opcode::Local, offset);
            }
            _ => {
                let offset = self.source.below(self.frame as usize + 60) as i32;
                self.put(Opcode::Local, offset);
            }
        }
    }

    fn call(&mut self) {
        match self.source.below(6) {
            0 => {
                // A constant before a call is a constant target, unless they are apart.
                self.expression(1);
                self.put(Opcode::Ignore, 0);
            }
            1 | 2 => {
                let numbers = [0, 1, ENTER, FAIL, WRITE, WRITE, 7, 8];
                let number = numbers[self.source.below(numbers.len())];
                self.put(Opcode::Const, !(number as i32));
            }
            _ => {
                self.calls.push((self.code.len(), self.source.below(FUNCTIONS)));
                self.put(Opcode::Const, 0);
            }
        }
        self.put(Opcode::Call, 0);
    }

    /// Writes an expression: it adds one cell.
    fn expression(&mut self, nested: usize) {
        let kind = self.source.below(if nested == 0 { 3 } else { 9 });
        match kind {
            0 => {
                let word = self.source.word();
                self.put(Opcode::Const, word);
            }
            1 if nested > 0 => self.address(),
            1 | 2 => self.put(Opcode::Push, 0),
            3 if self.source.below(3) == 0 => self.call(),
            3 | 4 => {
                self.address();
                let loads = [Opcode::Load1, Opcode::Load2, Opcode::Load4, Opcode::Load4];
                let load = loads[self.source.below(4)];
                self.put(load, 0);
            }
            _ => {
                let number = Opcode::Sex8 as u8 + self.source.below(25) as u8;
                let opcode = Opcode::from_number(number).expect("an operation");
                for _ in 0..opcode.operation().pops {
                    self.expression(nested - 1);
                }
                self.put(opcode, 0);
            }
        }
    }
}
