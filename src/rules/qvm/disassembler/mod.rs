//! Disassembler of QVM images: image to the text form of the assembler.
//!
//! Assembling the text gives the same sections again, without padding of the code.
//! Comments show the strings, floats and service numbers of constants, and each function's first instruction.
//!
//! Invariants: any parsed image gives a text or the file offset of the first undecodable instruction. Work is
//! linear in the image.
//!
//! Source: Quake III QVM format.

mod data;
mod names;

#[cfg(test)]
mod tests;

use std::fmt::Write as _;

use names::Names;

use super::{
    assembler::Label,
    image::Image,
    opcode::{Opcode, OperandKind},
};

/// Column of comments in a listing.
const COMMENT_COLUMN: usize = 32;

/// Instruction that is not decodable.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DisassembleError {
    /// Operation number above the last one.
    #[error("unknown operation {number} at code offset {offset:#x}, instruction {instruction}")]
    Unknown {
        /// Operation number.
        number: u8,
        /// Bytes from the start of the code.
        offset: usize,
        /// Instruction number.
        instruction: usize,
    },
    /// Code that ends inside an operand.
    #[error("code truncated at code offset {offset:#x}, instruction {instruction}")]
    Truncated {
        /// Bytes from the start of the code.
        offset: usize,
        /// Instruction number.
        instruction: usize,
    },
}

/// Decoded instruction.
#[derive(Clone, Copy, Debug)]
struct Decoded {
    opcode: Opcode,
    operand: u32,
}

/// Writes an image as text.
///
/// With `numbers`, every instruction carries its number as a comment.
///
/// # Errors
/// The first instruction that is not decodable.
pub fn disassemble(
    image: &Image,
    symbols: &[Label],
    numbers: bool,
) -> Result<String, DisassembleError> {
    let (code, behind) = decode(image)?;
    let names = Names::new(image, &code, symbols);
    let mut text = String::new();
    if image.jump_table.is_some() {
        text += ".version 2\n";
    }
    text += ".stack 0\n";
    for (name, target) in names.services() {
        let _ = writeln!(text, ".service {name} {}", -1 - i64::from(target));
    }
    Listing { image, code: &code, names: &names, numbers }.write(&mut text);
    if behind > 0 {
        let _ = writeln!(text, "\n; {behind} bytes behind the last instruction omitted");
    }
    data::write(image, &names, &mut text);
    Ok(text)
}

/// Decodes the instructions, and counts the bytes behind the last one.
fn decode(image: &Image) -> Result<(Vec<Decoded>, usize), DisassembleError> {
    let mut decoded = Vec::new();
    let mut rest = image.code.as_slice();
    for instruction in 0..image.instruction_count as usize {
        let offset = image.code.len() - rest.len();
        let truncated = DisassembleError::Truncated { offset, instruction };
        let (&number, behind) = rest.split_first().ok_or(truncated)?;
        let unknown = DisassembleError::Unknown { number, offset, instruction };
        let opcode = Opcode::from_number(number).ok_or(unknown)?;
        let length = opcode.operation().operand.length();
        let (bytes, behind) = behind.split_at_checked(length).ok_or(truncated)?;
        let operand = bytes.iter().rev().fold(0, |sum, &byte| sum << 8 | u32::from(byte));
        decoded.push(Decoded { opcode, operand });
        rest = behind;
    }
    Ok((decoded, rest.len()))
}

/// Code section in text form.
struct Listing<'a> {
    image: &'a Image,
    code: &'a [Decoded],
    names: &'a Names<'a>,
    numbers: bool,
}

impl Listing<'_> {
    fn write(&self, text: &mut String) {
        text.push_str("\n.code\n");
        for (number, decoded) in self.code.iter().enumerate() {
            if let Some(name) = self.names.function(number) {
                let _ = writeln!(text, "\n{name}:  ; instruction {number}");
            } else if self.names.is_target(number) {
                let _ = writeln!(text, "@{number}:");
            }
            let start = text.len();
            let _ = write!(text, "    {}", decoded.opcode.operation().mnemonic);
            if decoded.opcode.operation().operand != OperandKind::None {
                text.push(' ');
                self.operand(number, decoded, text);
            }
            self.comment(number, decoded, start, text);
            text.push('\n');
        }
    }

    fn operand(&self, number: usize, decoded: &Decoded, text: &mut String) {
        let Decoded { opcode, operand } = *decoded;
        let signed = operand as i32;
        let next = self.code.get(number + 1).map(|next| next.opcode);
        let is_target = opcode.is_branch()
            || opcode == Opcode::Const && next == Some(Opcode::Jump) && signed >= 0;
        let is_callee = opcode == Opcode::Const && next == Some(Opcode::Call);
        let name = if is_callee { self.names.callee(signed) } else { None };
        let _ = if let Some(name) = name {
            write!(text, "{name}")
        } else if is_target && self.names.is_local(number, operand as usize) {
            match self.names.function(operand as usize) {
                Some(name) => write!(text, "{name}"),
                None => write!(text, "@{operand}"),
            }
        } else if signed.unsigned_abs() < 0x1000_0000 {
            write!(text, "{signed}")
        } else {
            write!(text, "{operand:#x}")
        };
    }

    fn comment(&self, number: usize, decoded: &Decoded, start: usize, text: &mut String) {
        let mut comment = String::new();
        if self.numbers {
            let _ = write!(comment, "{number}");
        }
        if decoded.opcode == Opcode::Const {
            let next = self.code.get(number + 1).map(|next| next.opcode);
            let signed = decoded.operand as i32;
            let meaning = match next {
                Some(Opcode::Call) if signed < 0 => {
                    Some(format!("service {}", -1 - i64::from(signed)))
                }
                Some(Opcode::Call | Opcode::Jump) => None,
                _ => self.meaning(decoded.operand),
            };
            if let Some(meaning) = meaning {
                if !comment.is_empty() {
                    comment.push(' ');
                }
                comment += &meaning;
            }
        }
        if !comment.is_empty() {
            let pad = COMMENT_COLUMN.saturating_sub(text.len() - start).max(1);
            let _ = write!(text, "{:pad$}; {comment}", "");
        }
    }

    /// String at an address, or a float of ordinary size.
    fn meaning(&self, value: u32) -> Option<String> {
        if let Some(text) = self.string_at(value) {
            return Some(format!("{text:?}"));
        }
        let float = f32::from_bits(value);
        let is_ordinary = (1e-4..1e6).contains(&float.abs());
        is_ordinary.then(|| format!("{float}f")).filter(|text| text.len() <= 12)
    }

    /// First characters of a string in the literals, if one starts at an address.
    fn string_at(&self, address: u32) -> Option<&str> {
        const SHOWN: usize = 40;
        let offset = (address as usize).checked_sub(self.image.data.len())?;
        let literals = &self.image.literals;
        let is_start = offset == 0 || literals.get(offset - 1) == Some(&0);
        let bytes = literals.get(offset..).filter(|_| is_start)?;
        let bytes = &bytes[..bytes.len().min(SHOWN)];
        let bytes = bytes.split(|&byte| byte == 0).next()?;
        let is_text = bytes.len() > 1 && bytes.iter().all(|&byte| data::is_text(byte));
        is_text.then(|| std::str::from_utf8(bytes).ok()).flatten()
    }
}
