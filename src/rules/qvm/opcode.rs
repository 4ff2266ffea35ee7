//! Table of QVM operations: number, mnemonic, operand, effect on the operand stack.
//!
//! Invariants: the row of an operation stands at its number. Loader, verifier, assembler and disassembler
//! read this table and have no list of their own. Source: Quake III QVM format.

/// Bits of every NaN result of a float operation.
pub(super) const NAN: u32 = 0x7fc0_0000;

/// Operand that follows the operation byte in the code segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OperandKind {
    /// No operand.
    None,
    /// One unsigned byte.
    Byte,
    /// Four bytes, little-endian.
    Word,
}

impl OperandKind {
    /// Length of the operand in the code segment, in bytes.
    pub const fn length(self) -> usize {
        match self {
            Self::None => 0,
            Self::Byte => 1,
            Self::Word => 4,
        }
    }
}

/// A row of the operation table.
#[derive(Clone, Copy, Debug)]
pub struct Operation {
    /// The operation.
    pub opcode: Opcode,
    /// Name in assembler text.
    pub mnemonic: &'static str,
    /// Operand in the code segment.
    pub operand: OperandKind,
    /// Cells taken from the operand stack.
    pub pops: u8,
    /// Cells put on the operand stack.
    pub pushes: u8,
}

macro_rules! operations {
    ($($opcode:ident $mnemonic:literal $operand:ident $pops:literal $pushes:literal $doc:literal;)*) => {
        /// A QVM operation; its discriminant is its number in the code segment.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[repr(u8)]
        pub enum Opcode {
            $(#[doc = $doc] $opcode,)*
        }

        /// Every operation, at the index of its number.
        pub const OPERATIONS: &[Operation] = &[
            $(Operation {
                opcode: Opcode::$opcode,
                mnemonic: $mnemonic,
                operand: OperandKind::$operand,
                pops: $pops,
                pushes: $pushes,
            },)*
        ];
    };
}

operations! {
    Undefined "undefined" None 0 0 "Not an operation; the verifier rejects it.";
    Ignore "ignore" None 0 0 "No effect.";
    Break "break" None 0 0 "No effect; a counter of debuggers.";
    Enter "enter" Word 0 0 "Start of a function: subtracts the frame size from the program stack pointer.";
    Leave "leave" Word 1 0 "Return: adds the frame size to the program stack pointer; top is the result.";
    Call "call" None 1 1 "Calls function top, or service -1 - top if top is negative.";
    Push "push" None 0 1 "Adds a cell; its content is 0 here.";
    Pop "pop" None 1 0 "Drops top.";
    Const "const" Word 0 1 "Pushes the operand.";
    Local "local" Word 0 1 "Pushes the program stack pointer plus the operand.";
    Jump "jump" None 1 0 "Continues at instruction number top.";
    Eq "eq" Word 2 0 "Branches if next = top.";
    Ne "ne" Word 2 0 "Branches if next differs from top.";
    Lti "lti" Word 2 0 "Branches if next < top, signed.";
    Lei "lei" Word 2 0 "Branches if next <= top, signed.";
    Gti "gti" Word 2 0 "Branches if next > top, signed.";
    Gei "gei" Word 2 0 "Branches if next >= top, signed.";
    Ltu "ltu" Word 2 0 "Branches if next < top, unsigned.";
    Leu "leu" Word 2 0 "Branches if next <= top, unsigned.";
    Gtu "gtu" Word 2 0 "Branches if next > top, unsigned.";
    Geu "geu" Word 2 0 "Branches if next >= top, unsigned.";
    Eqf "eqf" Word 2 0 "Branches if next = top, as floats.";
    Nef "nef" Word 2 0 "Branches if next differs from top, as floats; NaN differs from everything.";
    Ltf "ltf" Word 2 0 "Branches if next < top, as floats.";
    Lef "lef" Word 2 0 "Branches if next <= top, as floats.";
    Gtf "gtf" Word 2 0 "Branches if next > top, as floats.";
    Gef "gef" Word 2 0 "Branches if next >= top, as floats.";
    Load1 "load1" None 1 1 "Replaces the address top by the byte there, zero-extended.";
    Load2 "load2" None 1 1 "Replaces the address top by the 2 bytes there, zero-extended.";
    Load4 "load4" None 1 1 "Replaces the address top by the word there.";
    Store1 "store1" None 2 0 "Stores the low byte of top at address next.";
    Store2 "store2" None 2 0 "Stores the low 2 bytes of top at address next.";
    Store4 "store4" None 2 0 "Stores top at address next.";
    Arg "arg" Byte 1 0 "Stores top at the program stack pointer plus the operand.";
    BlockCopy "block_copy" Word 2 0 "Copies as many bytes as the operand says from address top to address next.";
    Sex8 "sex8" None 1 1 "Sign-extends the low 8 bits of top.";
    Sex16 "sex16" None 1 1 "Sign-extends the low 16 bits of top.";
    Negi "negi" None 1 1 "Negates the integer top.";
    Add "add" None 2 1 "next + top.";
    Sub "sub" None 2 1 "next - top.";
    Divi "divi" None 2 1 "next / top, signed, toward zero. Division by 0 is a fault; the least / -1 is the least.";
    Divu "divu" None 2 1 "next / top, unsigned. Division by 0 is a fault.";
    Modi "modi" None 2 1 "Remainder of next / top, with the sign of next. Division by 0 is a fault.";
    Modu "modu" None 2 1 "Remainder of next / top, unsigned. Division by 0 is a fault.";
    Muli "muli" None 2 1 "next * top, low 32 bits.";
    Mulu "mulu" None 2 1 "next * top, low 32 bits.";
    Band "band" None 2 1 "next and top, bitwise.";
    Bor "bor" None 2 1 "next or top, bitwise.";
    Bxor "bxor" None 2 1 "next exclusive-or top, bitwise.";
    Bcom "bcom" None 1 1 "Complement of top, bitwise.";
    Lsh "lsh" None 2 1 "next shifted left by the low 5 bits of top.";
    Rshi "rshi" None 2 1 "next shifted right by the low 5 bits of top, with sign.";
    Rshu "rshu" None 2 1 "next shifted right by the low 5 bits of top, with zeros.";
    Negf "negf" None 1 1 "Flips the sign bit of the float top.";
    Addf "addf" None 2 1 "next + top, as floats. A NaN result of float arithmetic is 0x7fc00000.";
    Subf "subf" None 2 1 "next - top, as floats.";
    Divf "divf" None 2 1 "next / top, as floats.";
    Mulf "mulf" None 2 1 "next * top, as floats.";
    Cvif "cvif" None 1 1 "Integer top as a float.";
    Cvfi "cvfi" None 1 1 "Float top as an integer, toward zero. NaN and values out of range give 0x80000000.";
}

impl Opcode {
    /// Returns the operation with a number, if it exists.
    pub fn from_number(number: u8) -> Option<Self> {
        OPERATIONS.get(usize::from(number)).map(|row| row.opcode)
    }

    /// Returns the operation with a mnemonic, if it exists.
    pub fn from_mnemonic(mnemonic: &str) -> Option<Self> {
        OPERATIONS.iter().find(|row| row.mnemonic == mnemonic).map(|row| row.opcode)
    }

    /// Returns the row of the operation.
    pub const fn operation(self) -> &'static Operation {
        &OPERATIONS[self as usize]
    }

    /// Returns whether the operation compares two cells and branches to its operand.
    pub const fn is_branch(self) -> bool {
        self as u8 >= Self::Eq as u8 && self as u8 <= Self::Gef as u8
    }

    /// Returns whether execution never continues at the following instruction.
    pub const fn ends_path(self) -> bool {
        matches!(self, Self::Leave | Self::Jump)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operation_row_stands_at_its_number() {
        assert_eq!(OPERATIONS.len(), 60);
        for (number, row) in OPERATIONS.iter().enumerate() {
            assert_eq!(row.opcode as usize, number);
            assert_eq!(Opcode::from_number(number as u8), Some(row.opcode));
            assert_eq!(Opcode::from_mnemonic(row.mnemonic), Some(row.opcode));
        }
        assert_eq!(Opcode::from_number(60), None);
        assert_eq!((Opcode::Divf as u8, Opcode::Mulf as u8), (56, 57));
    }
}
