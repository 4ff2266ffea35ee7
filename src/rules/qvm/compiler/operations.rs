//! Arithmetic and comparisons, with the results that [`crate::qvm`] fixes for what the format leaves open.
//!
//! Invariants: no instruction of the processor traps; each float operation rounds to single precision.
//! Source: Quake III QVM format.

use cranelift_codegen::ir::{
    InstBuilder, Value,
    condcodes::{FloatCC, IntCC},
    types,
};

use super::{cells::Cell, entry::reason, function::Translator};
use crate::qvm::opcode::{NAN, Opcode};

/// Comparison of a branch.
#[derive(Clone, Copy)]
enum Comparison {
    Integer(IntCC),
    Float(FloatCC),
}

fn comparison(opcode: Opcode) -> Comparison {
    use Comparison::{Float, Integer};
    match opcode {
        Opcode::Eq => Integer(IntCC::Equal),
        Opcode::Ne => Integer(IntCC::NotEqual),
        Opcode::Lti => Integer(IntCC::SignedLessThan),
        Opcode::Lei => Integer(IntCC::SignedLessThanOrEqual),
        Opcode::Gti => Integer(IntCC::SignedGreaterThan),
        Opcode::Gei => Integer(IntCC::SignedGreaterThanOrEqual),
        Opcode::Ltu => Integer(IntCC::UnsignedLessThan),
        Opcode::Leu => Integer(IntCC::UnsignedLessThanOrEqual),
        Opcode::Gtu => Integer(IntCC::UnsignedGreaterThan),
        Opcode::Geu => Integer(IntCC::UnsignedGreaterThanOrEqual),
        Opcode::Eqf => Float(FloatCC::Equal),
        Opcode::Nef => Float(FloatCC::NotEqual),
        Opcode::Ltf => Float(FloatCC::LessThan),
        Opcode::Lef => Float(FloatCC::LessThanOrEqual),
        Opcode::Gtf => Float(FloatCC::GreaterThan),
        _ => Float(FloatCC::GreaterThanOrEqual),
    }
}

impl Translator<'_, '_> {
    /// Condition of a compare-and-branch.
    pub(super) fn compare(&mut self, opcode: Opcode) -> Value {
        let (top, next) = (self.pop(), self.pop());
        match comparison(opcode) {
            Comparison::Integer(condition) => {
                let next = self.integer(next);
                if let Cell::Constant(value) = top {
                    return self.ins().icmp_imm(condition, next, i64::from(value));
                }
                let top = self.integer(top);
                self.ins().icmp(condition, next, top)
            }
            Comparison::Float(condition) => {
                let (next, top) = (self.float(next), self.float(top));
                self.ins().fcmp(condition, next, top)
            }
        }
    }

    /// Translates an operation with one result that reads no memory.
    pub(super) fn compute(&mut self, opcode: Opcode) {
        match opcode {
            Opcode::Sex8 => self.sign_extend(8),
            Opcode::Sex16 => self.sign_extend(16),
            Opcode::Negi | Opcode::Bcom => {
                let top = self.pop_integer();
                let negate = opcode == Opcode::Negi;
                let value = if negate { self.ins().ineg(top) } else { self.ins().bnot(top) };
                self.push(value);
            }
            Opcode::Negf => {
                let top = self.pop_float();
                let value = self.ins().fneg(top);
                self.push_float(value);
            }
            Opcode::Cvif => {
                let top = self.pop_integer();
                let value = self.ins().fcvt_from_sint(types::F32, top);
                self.push_float(value);
            }
            Opcode::Cvfi => self.truncate(),
            Opcode::Addf | Opcode::Subf | Opcode::Divf | Opcode::Mulf => self.float_binary(opcode),
            Opcode::Divi | Opcode::Divu | Opcode::Modi | Opcode::Modu => self.divide(opcode),
            _ => self.integer_binary(opcode),
        }
    }

    fn integer_binary(&mut self, opcode: Opcode) {
        let (top, next) = (self.pop(), self.pop());
        match (opcode, next, top) {
            (Opcode::Add, Cell::Local(offset), Cell::Constant(value))
            | (Opcode::Add, Cell::Constant(value), Cell::Local(offset)) => {
                self.cells.push(Cell::Local(offset.wrapping_add(value)));
                return;
            }
            (_, next, Cell::Constant(value)) => {
                let next = self.integer(next);
                if let Some(result) = self.with_immediate(opcode, next, value) {
                    self.push(result);
                    return;
                }
                let top = self.constant(value);
                let result = self.with_value(opcode, next, top);
                self.push(result);
                return;
            }
            _ => {}
        }
        let (next, top) = (self.integer(next), self.integer(top));
        let result = self.with_value(opcode, next, top);
        self.push(result);
    }

    fn float_binary(&mut self, opcode: Opcode) {
        let top = self.pop_float();
        let next = self.pop_float();
        let result = match opcode {
            Opcode::Addf => self.ins().fadd(next, top),
            Opcode::Subf => self.ins().fsub(next, top),
            Opcode::Divf => self.ins().fdiv(next, top),
            _ => self.ins().fmul(next, top),
        };
        let result = self.one_nan(result);
        self.push_float(result);
    }

    /// Replaces a NaN: processors differ in the one that they produce.
    pub(super) fn one_nan(&mut self, value: Value) -> Value {
        let ordered = self.ins().fcmp(FloatCC::Ordered, value, value);
        let nan = self.ins().f32const(f32::from_bits(NAN));
        self.ins().select(ordered, value, nan)
    }

    /// Converts toward zero. The instruction of x86-64 gives 0x80000000 for what does not fit.
    fn truncate(&mut self) {
        let top = self.pop_float();
        let vector = self.ins().scalar_to_vector(types::F32X4, top);
        let vector = self.ins().x86_cvtt2dq(types::I32X4, vector);
        let result = self.ins().extractlane(vector, 0);
        self.push(result);
    }

    /// Divides, or takes the remainder, with no operands for which the processor traps.
    fn divide(&mut self, opcode: Opcode) {
        let (divisor, next) = (self.pop(), self.pop_integer());
        let signed = matches!(opcode, Opcode::Divi | Opcode::Modi);
        match divisor {
            Cell::Constant(-1) if signed => {
                let zero = self.constant(0);
                let negated = self.ins().ineg(next);
                self.push(if opcode == Opcode::Divi { negated } else { zero });
            }
            Cell::Constant(value) if value != 0 => {
                let divisor = self.constant(value);
                let result = self.quotient(opcode, next, divisor);
                self.push(result);
            }
            divisor => {
                let divisor = self.integer(divisor);
                let is_zero = self.ins().icmp_imm(IntCC::Equal, divisor, 0);
                self.fault_if(is_zero, reason::DIVISION, None);
                if !signed {
                    let result = self.quotient(opcode, next, divisor);
                    self.push(result);
                    return;
                }
                // A division by -1 overflows for the least integer. It is replaced by one by 1.
                let is_minus_one = self.ins().icmp_imm(IntCC::Equal, divisor, -1);
                let one = self.constant(1);
                let divisor = self.ins().select(is_minus_one, one, divisor);
                let mut result = self.quotient(opcode, next, divisor);
                if opcode == Opcode::Divi {
                    let negated = self.ins().ineg(next);
                    result = self.ins().select(is_minus_one, negated, result);
                }
                self.push(result);
            }
        }
    }
}
