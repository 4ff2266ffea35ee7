//! Operands of steps: where a value comes from, and what an operation computes.
//!
//! Sources and operations are types without content, so that each combination becomes one handler.
//!
//! Invariants: reading a source changes nothing and cannot fail. Source: Quake III QVM format.

use super::State;
use crate::qvm::{memory, opcode::NAN, program::MAX_DEPTH};

/// Kind of a source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SourceKind {
    /// Cell; the operand is its number.
    Cell,
    /// The operand itself.
    Constant,
    /// Program stack pointer plus operand.
    Frame,
    /// Word at program stack pointer plus operand.
    Local,
    /// Word at the operand.
    Global,
}

/// A source of values.
pub(super) trait Source {
    fn get(state: &State<'_>, operand: u32) -> i32;
}

pub(super) struct Cell;
pub(super) struct Constant;
pub(super) struct Frame;
pub(super) struct Local;
pub(super) struct Global;

impl Source for Cell {
    fn get(state: &State<'_>, operand: u32) -> i32 {
        state.cells[operand as usize % MAX_DEPTH]
    }
}

impl Source for Constant {
    fn get(_: &State<'_>, operand: u32) -> i32 {
        operand as i32
    }
}

impl Source for Frame {
    fn get(state: &State<'_>, operand: u32) -> i32 {
        state.frame.wrapping_add(operand) as i32
    }
}

impl Source for Local {
    fn get(state: &State<'_>, operand: u32) -> i32 {
        state.load4(state.frame.wrapping_add(operand))
    }
}

impl Source for Global {
    fn get(state: &State<'_>, operand: u32) -> i32 {
        state.load4(operand)
    }
}

impl State<'_> {
    pub(super) fn load4(&self, address: u32) -> i32 {
        i32::from_le_bytes(memory::load(self.memory, address & self.mask))
    }

    pub(super) fn set(&mut self, cell: u32, value: i32) {
        self.cells[cell as usize % MAX_DEPTH] = value;
    }
}

/// Width of a load or store.
pub(super) trait Width {
    fn load(memory: &[u8], address: u32) -> i32;
    fn store(memory: &mut [u8], address: u32, value: i32);
}

pub(super) struct Byte;
pub(super) struct Half;
pub(super) struct Word;

impl Width for Byte {
    fn load(memory: &[u8], address: u32) -> i32 {
        i32::from(u8::from_le_bytes(memory::load(memory, address)))
    }

    fn store(memory: &mut [u8], address: u32, value: i32) {
        memory::store(memory, address, (value as u8).to_le_bytes());
    }
}

impl Width for Half {
    fn load(memory: &[u8], address: u32) -> i32 {
        i32::from(u16::from_le_bytes(memory::load(memory, address)))
    }

    fn store(memory: &mut [u8], address: u32, value: i32) {
        memory::store(memory, address, (value as u16).to_le_bytes());
    }
}

impl Width for Word {
    fn load(memory: &[u8], address: u32) -> i32 {
        i32::from_le_bytes(memory::load(memory, address))
    }

    fn store(memory: &mut [u8], address: u32, value: i32) {
        memory::store(memory, address, value.to_le_bytes());
    }
}

/// An operation on two values.
pub(super) trait Binary {
    /// Returns the result, or `None` for a division by zero.
    fn compute(a: i32, b: i32) -> Option<i32>;
}

/// A comparison of two values.
pub(super) trait Compare {
    fn holds(a: i32, b: i32) -> bool;
}

/// An operation on one value.
pub(super) trait Unary {
    fn compute(a: i32) -> i32;
}

/// Canonical bits of a float result.
fn bits(value: f32) -> i32 {
    (if value.is_nan() { NAN } else { value.to_bits() }) as i32
}

fn single(bits: i32) -> f32 {
    f32::from_bits(bits as u32)
}

/// Rounds toward zero; NaN and values out of range give the least integer.
fn integer(value: f32) -> i32 {
    if (-2_147_483_648.0..2_147_483_648.0).contains(&value) { value as i32 } else { i32::MIN }
}

macro_rules! binary {
    ($($name:ident |$a:ident, $b:ident| $result:expr;)*) => {
        $(pub(super) struct $name;
        impl Binary for $name {
            fn compute($a: i32, $b: i32) -> Option<i32> {
                $result
            }
        })*
    };
}

binary! {
    Add |a, b| Some(a.wrapping_add(b));
    Sub |a, b| Some(a.wrapping_sub(b));
    Mul |a, b| Some(a.wrapping_mul(b));
    Divi |a, b| if b == 0 { None } else { Some(a.wrapping_div(b)) };
    Divu |a, b| (a as u32).checked_div(b as u32).map(|value| value as i32);
    Modi |a, b| if b == 0 { None } else { Some(a.wrapping_rem(b)) };
    Modu |a, b| (a as u32).checked_rem(b as u32).map(|value| value as i32);
    Band |a, b| Some(a & b);
    Bor |a, b| Some(a | b);
    Bxor |a, b| Some(a ^ b);
    Lsh |a, b| Some(a.wrapping_shl(b as u32));
    Rshi |a, b| Some(a.wrapping_shr(b as u32));
    Rshu |a, b| Some((a as u32).wrapping_shr(b as u32) as i32);
    Addf |a, b| Some(bits(single(a) + single(b)));
    Subf |a, b| Some(bits(single(a) - single(b)));
    Mulf |a, b| Some(bits(single(a) * single(b)));
    Divf |a, b| Some(bits(single(a) / single(b)));
}

macro_rules! compare {
    ($($name:ident |$a:ident, $b:ident| $result:expr;)*) => {
        $(pub(super) struct $name;
        impl Compare for $name {
            fn holds($a: i32, $b: i32) -> bool {
                $result
            }
        })*
    };
}

compare! {
    Eq |a, b| a == b;
    Ne |a, b| a != b;
    Lti |a, b| a < b;
    Lei |a, b| a <= b;
    Gti |a, b| a > b;
    Gei |a, b| a >= b;
    Ltu |a, b| (a as u32) < b as u32;
    Leu |a, b| a as u32 <= b as u32;
    Gtu |a, b| a as u32 > b as u32;
    Geu |a, b| a as u32 >= b as u32;
    Eqf |a, b| single(a) == single(b);
    Nef |a, b| single(a) != single(b);
    Ltf |a, b| single(a) < single(b);
    Lef |a, b| single(a) <= single(b);
    Gtf |a, b| single(a) > single(b);
    Gef |a, b| single(a) >= single(b);
}

macro_rules! unary {
    ($($name:ident |$a:ident| $result:expr;)*) => {
        $(pub(super) struct $name;
        impl Unary for $name {
            fn compute($a: i32) -> i32 {
                $result
            }
        })*
    };
}

unary! {
    Copy |a| a;
    Sex8 |a| i32::from(a as i8);
    Sex16 |a| i32::from(a as i16);
    Negi |a| a.wrapping_neg();
    Bcom |a| !a;
    Negf |a| a ^ i32::MIN;
    Cvif |a| bits(a as f32);
    Cvfi |a| integer(single(a));
}
