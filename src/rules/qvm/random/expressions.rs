//! Random expressions: code that adds one cell to the operand stack.

use super::{Generator, LOCALS};
use crate::qvm::opcode::Opcode;

const UNARY: &[Opcode] = &[
    Opcode::Sex8,
    Opcode::Sex16,
    Opcode::Negi,
    Opcode::Bcom,
    Opcode::Negf,
    Opcode::Cvif,
    Opcode::Cvfi,
    Opcode::Load1,
    Opcode::Load2,
    Opcode::Load4,
];

const BINARY: &[Opcode] = &[
    Opcode::Add,
    Opcode::Sub,
    Opcode::Muli,
    Opcode::Mulu,
    Opcode::Band,
    Opcode::Bor,
    Opcode::Bxor,
    Opcode::Lsh,
    Opcode::Rshi,
    Opcode::Rshu,
    Opcode::Addf,
    Opcode::Subf,
    Opcode::Divf,
    Opcode::Mulf,
];

/// Operations that fault with a divisor of 0.
const DIVISIONS: &[Opcode] = &[Opcode::Divi, Opcode::Divu, Opcode::Modi, Opcode::Modu];

const LOADS: &[Opcode] = &[Opcode::Load1, Opcode::Load2, Opcode::Load4, Opcode::Load4];

/// Constants at the limits of integers, floats and addresses.
const CONSTANTS: &[i32] = &[
    0,
    1,
    2,
    -1,
    7,
    31,
    32,
    0xff,
    0x8000,
    i32::MAX,
    i32::MIN,
    0x3f80_0000,            // 1
    0x3fc0_0000,            // 1.5
    0xbf00_0000_u32 as i32, // -0.5
    0x4f00_0000,            // 2147483648
    0x7f80_0000,            // infinity
    0xff80_0000_u32 as i32,
    0x7fc0_0000, // NaN
    0x7f80_0001, // signaling NaN
    0xffff_ffff_u32 as i32,
    1,           // least subnormal
    0x0080_0000, // least normal
    0x4b80_0001, // 16777218
];

impl Generator<'_, '_> {
    /// Adds code that pushes one cell. `depth` bounds the nesting.
    pub(super) fn expression(&mut self, depth: usize) {
        if depth == 0 || self.code.len() > super::ENOUGH {
            return self.leaf();
        }
        match self.choices.below(16) {
            0..3 => self.leaf(),
            3 | 4 => {
                self.expression(depth - 1);
                let opcode = self.choices.pick(UNARY);
                self.plain(opcode);
            }
            5..9 => {
                self.expression(depth - 1);
                self.expression(depth - 1);
                let opcode = self.choices.pick(BINARY);
                self.plain(opcode);
            }
            9 => self.division(depth - 1),
            10 | 11 => self.call(depth - 1),
            12 => self.service(depth - 1),
            13 => self.conditional(depth - 1),
            14 => self.computed_call(depth - 1),
            _ => {
                self.address(depth - 1);
                let opcode = self.choices.pick(LOADS);
                self.plain(opcode);
            }
        }
    }

    fn leaf(&mut self) {
        match self.choices.below(8) {
            0 | 1 => {
                let constant = self.choices.pick(CONSTANTS);
                self.emit(Opcode::Const, constant);
            }
            2 => {
                let constant = self.choices.word();
                self.emit(Opcode::Const, constant);
            }
            3 => self.plain(Opcode::Push),
            4 => {
                let constant = self.choices.below(256) as i32;
                self.emit(Opcode::Const, constant);
            }
            _ => {
                let offset = self.slot();
                self.emit(Opcode::Local, offset);
                let opcode = self.choices.pick(LOADS);
                self.plain(opcode);
            }
        }
    }

    /// Offset of a local, argument or other word of the frame.
    pub(super) fn slot(&mut self) -> i32 {
        match self.choices.below(6) {
            0 => 8 + self.choices.below(16) as i32,
            1 | 2 => self.frame + 8 + 4 * self.choices.below(5) as i32,
            _ => LOCALS + 4 * self.choices.below(8) as i32,
        }
    }

    /// Adds code that pushes an address, mostly of a variable.
    pub(super) fn address(&mut self, depth: usize) {
        match self.choices.below(8) {
            0..4 => {
                let offset = self.slot();
                self.emit(Opcode::Local, offset);
            }
            4..7 => {
                let address = self.choices.below(1024) as i32;
                self.emit(Opcode::Const, address);
            }
            _ => self.expression(depth),
        }
    }

    fn division(&mut self, depth: usize) {
        self.expression(depth);
        self.expression(depth);
        if self.choices.below(4) > 0 {
            self.emit(Opcode::Const, 1);
            self.plain(Opcode::Bor);
        }
        let opcode = self.choices.pick(DIVISIONS);
        self.plain(opcode);
    }

    fn arguments(&mut self, depth: usize) {
        for argument in 0..self.choices.below(4) as i32 {
            self.expression(depth);
            self.emit(Opcode::Arg, 8 + 4 * argument);
        }
    }

    /// Index of a later function, seldom of any: most programs must end.
    fn callee(&mut self) -> usize {
        let later = self.functions.len() - self.placed;
        if later == 0 || self.choices.below(24) == 0 {
            return self.choices.below(self.functions.len());
        }
        self.placed + self.choices.below(later)
    }

    fn call(&mut self, depth: usize) {
        if self.placed == self.functions.len() && self.choices.below(12) > 0 {
            return self.leaf();
        }
        self.arguments(depth);
        let index = self.callee();
        let function = self.functions[index];
        self.emit_label(Opcode::Const, function);
        self.plain(Opcode::Call);
    }

    fn service(&mut self, depth: usize) {
        self.arguments(depth);
        let number =
            self.choices.pick(&[0, 0, 0, 0, 0, 1, 1, 1, 3, 3, 3, 2, 9, 101, 103, 105, 106, 110]);
        self.emit(Opcode::Const, -1 - number);
        self.plain(Opcode::Call);
    }

    /// Call through a word of the data segment, seldom of any target.
    fn computed_call(&mut self, depth: usize) {
        if self.placed == self.functions.len() && self.choices.below(12) > 0 {
            return self.leaf();
        }
        self.arguments(depth);
        if self.choices.below(24) == 0 {
            self.expression(depth);
            // A constant directly before a call is a constant target.
            self.plain(Opcode::Negi);
        } else {
            let index = self.callee();
            self.emit(Opcode::Const, 4 * (4 + index as i32));
            self.plain(Opcode::Load4);
        }
        self.plain(Opcode::Call);
    }

    /// One of two expressions, with the cells below them on the stack.
    fn conditional(&mut self, depth: usize) {
        let (other, end) = (self.label(), self.label());
        self.comparison(depth, other);
        self.expression(depth);
        if self.choices.below(2) == 0 {
            self.emit_label(Opcode::Const, end);
            self.plain(Opcode::Jump);
        } else {
            self.emit(Opcode::Const, 1);
            self.emit(Opcode::Const, 1);
            self.emit_label(Opcode::Eq, end);
            // Not reached, but the same depth as the other path.
            self.plain(Opcode::Pop);
        }
        self.place(other);
        self.expression(depth);
        self.place(end);
    }

    /// Two expressions, compared with a branch.
    pub(super) fn comparison(&mut self, depth: usize, target: super::Label) {
        self.expression(depth);
        self.expression(depth);
        let first = Opcode::Eq as u8;
        let opcode = Opcode::from_number(first + self.choices.below(16) as u8);
        self.emit_label(opcode.unwrap_or(Opcode::Eq), target);
    }
}
