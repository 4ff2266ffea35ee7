//! Cells of the operand stack during translation, and accesses to the memory of the module.
//!
//! A cell stays in the form in which it was made until it is used. A loaded word is not loaded before its
//! use is known, because floats and integers live in different registers.
//!
//! Invariants: a pending load is done before the next store or call; each address that is not known to be
//! in the frame is masked. Source: Quake III QVM format.

use cranelift_codegen::ir::{InstBuilder, MemFlags, Value, types};

use super::{entry::FRAME_ABOVE, function::Translator};
use crate::qvm::opcode::Opcode;

/// A cell of the operand stack.
#[derive(Clone, Copy, Debug)]
pub(super) enum Cell {
    /// A constant.
    Constant(i32),
    /// The program stack pointer plus an offset.
    Local(i32),
    /// An integer, or bits of unknown meaning.
    Integer(Value),
    /// A float.
    Float(Value),
    /// Memory that is not loaded yet.
    Memory(Width, Address),
}

/// Width of a load.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Width {
    Byte,
    Half,
    Word,
}

/// An address in the block, checked: a native pointer and an offset in bytes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Address {
    pointer: Value,
    offset: i32,
}

/// Flags of accesses to the block: they do not trap, since their address is inside it.
pub(super) fn flags() -> MemFlags {
    MemFlags::new().with_notrap()
}

impl Translator<'_, '_> {
    /// Takes the top cell. A verified function never underflows.
    pub(super) fn pop(&mut self) -> Cell {
        self.cells.pop().unwrap_or(Cell::Constant(0))
    }

    /// Takes the top cell as an integer.
    pub(super) fn pop_integer(&mut self) -> Value {
        let cell = self.pop();
        self.integer(cell)
    }

    /// Takes the top cell as a float.
    pub(super) fn pop_float(&mut self) -> Value {
        let cell = self.pop();
        self.float(cell)
    }

    pub(super) fn push(&mut self, value: Value) {
        self.cells.push(Cell::Integer(value));
    }

    pub(super) fn push_float(&mut self, value: Value) {
        self.cells.push(Cell::Float(value));
    }

    /// Bits of a cell as an integer.
    pub(super) fn integer(&mut self, cell: Cell) -> Value {
        let frame = self.values.frame;
        match cell {
            Cell::Constant(value) => self.constant(value),
            Cell::Local(0) => frame,
            Cell::Local(offset) => self.ins().iadd_imm(frame, i64::from(offset)),
            Cell::Integer(value) => value,
            Cell::Float(value) => self.ins().bitcast(types::I32, MemFlags::new(), value),
            Cell::Memory(width, Address { pointer, offset }) => match width {
                Width::Byte => self.ins().uload8(types::I32, flags(), pointer, offset),
                Width::Half => self.ins().uload16(types::I32, flags(), pointer, offset),
                Width::Word => self.ins().load(types::I32, flags(), pointer, offset),
            },
        }
    }

    /// Bits of a cell as a float.
    pub(super) fn float(&mut self, cell: Cell) -> Value {
        match cell {
            Cell::Float(value) => value,
            Cell::Constant(bits) => self.ins().f32const(f32::from_bits(bits as u32)),
            Cell::Memory(Width::Word, Address { pointer, offset }) => {
                self.ins().load(types::F32, flags(), pointer, offset)
            }
            cell => {
                let bits = self.integer(cell);
                self.ins().bitcast(types::F32, MemFlags::new(), bits)
            }
        }
    }

    /// Loads all pending cells, because what follows may store.
    pub(super) fn load_pending(&mut self) {
        for index in 0..self.cells.len() {
            if let Cell::Memory(..) = self.cells[index] {
                self.cells[index] = Cell::Integer(self.integer(self.cells[index]));
            }
        }
    }

    /// Combines an address with the mask, unless the frame check of *enter* covers it.
    fn address(&mut self, cell: Cell) -> Address {
        let mask = self.mask;
        match cell {
            Cell::Constant(address) => {
                let offset = (address as u32 & mask) as i32;
                Address { pointer: self.values.block, offset }
            }
            // The frame is in the block, and at least the frame of an entry is above it.
            Cell::Local(offset) if (0..=self.reach()).contains(&offset) => {
                Address { pointer: self.values.frame_pointer, offset }
            }
            cell => {
                let address = self.integer(cell);
                let masked = self.ins().band_imm(address, i64::from(mask));
                let wide = self.ins().uextend(types::I64, masked);
                let block = self.values.block;
                Address { pointer: self.ins().iadd(block, wide), offset: 0 }
            }
        }
    }

    /// Largest offset to the program stack pointer at which a word is certainly in the block.
    fn reach(&self) -> i32 {
        (self.function.frame + FRAME_ABOVE) as i32 - 4
    }

    /// Translates a load: the cell stays pending until its use.
    pub(super) fn load(&mut self, width: Width) {
        let cell = self.pop();
        let address = self.address(cell);
        self.cells.push(Cell::Memory(width, address));
    }

    /// Translates a store.
    pub(super) fn store(&mut self, opcode: Opcode) {
        let (value, target) = (self.pop(), self.pop());
        self.load_pending();
        let address = self.address(target);
        self.store_at(opcode, address, value);
    }

    /// Translates the store of an argument.
    pub(super) fn store_argument(&mut self, offset: i32) {
        let value = self.pop();
        self.load_pending();
        let address = self.address(Cell::Local(offset));
        self.store_at(Opcode::Store4, address, value);
    }

    fn store_at(&mut self, opcode: Opcode, address: Address, value: Cell) {
        let Address { pointer, offset } = address;
        let value = match (opcode, value) {
            (Opcode::Store4, Cell::Float(value)) => value,
            (_, value) => self.integer(value),
        };
        match opcode {
            Opcode::Store1 => self.ins().istore8(flags(), value, pointer, offset),
            Opcode::Store2 => self.ins().istore16(flags(), value, pointer, offset),
            _ => self.ins().store(flags(), value, pointer, offset),
        };
    }

    /// Translates a sign extension; of a pending load together with it.
    pub(super) fn sign_extend(&mut self, bits: i64) {
        let cell = self.pop();
        let value = match (cell, bits) {
            (Cell::Memory(Width::Byte, Address { pointer, offset }), 8) => {
                self.ins().sload8(types::I32, flags(), pointer, offset)
            }
            (Cell::Memory(Width::Half, Address { pointer, offset }), 16) => {
                self.ins().sload16(types::I32, flags(), pointer, offset)
            }
            (cell, _) => {
                let value = self.integer(cell);
                let narrow = if bits == 8 { types::I8 } else { types::I16 };
                let low = self.ins().ireduce(narrow, value);
                self.ins().sextend(types::I32, low)
            }
        };
        self.push(value);
    }
}
