//! Assembler of QVM images: text form to image and symbols.
//!
//! A line holds labels, one instruction or directive, and a comment. `docs/modules.md` describes the text
//! form. Forward references are resolved at the end, so one pass over the text suffices.
//!
//! Invariants: any text is accepted or rejected with line and reason. Memory is bounded by [`MAX_TEXT_LEN`]
//! and [`MAX_SECTION_LEN`]. The assembler does not verify the program.
//!
//! Source: Quake III QVM format.

mod expression;
mod labels;
mod line;

#[cfg(test)]
mod tests;

use std::collections::HashMap;

use expression::Expression;
pub use labels::{Label, Section, parse_symbol_map};
use line::{Cursor, Name};

pub(super) use line::is_global_name;

use super::{
    image::{Image, MAX_BLOCK, MAX_FILE},
    opcode::Opcode,
};

/// Maximum length of the text in bytes.
pub const MAX_TEXT_LEN: usize = 64 << 20;

/// Maximum length of one section of the file in bytes. Zeroed space is limited by [`MAX_BLOCK`].
pub const MAX_SECTION_LEN: usize = MAX_FILE;

/// Maximum names, and maximum references to names.
const MAX_NAMES: usize = 1 << 21;

/// Bytes of program stack that are reserved without a `.stack` directive.
pub const DEFAULT_STACK_LEN: u32 = 65_536;

/// Error in the text, with its line.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {reason}")]
pub struct AssembleError {
    /// Line number, from 1.
    pub line: usize,
    /// Reason with the offending text.
    pub reason: String,
}

/// Result of the assembler.
#[derive(Clone, Debug)]
pub struct Assembly {
    /// The image, not verified.
    pub image: Image,
    /// Global labels in the order of the text.
    pub labels: Vec<Label>,
    /// Named service numbers, each as the negative call target.
    pub services: Vec<(String, i32)>,
}

/// Value of a name, relative to its section until all lengths are known.
#[derive(Clone, Copy, Debug)]
enum Symbol {
    Label(Section, u32),
    Constant(i64),
}

/// A number that is written into a section at the end.
#[derive(Debug)]
struct Fixup<'a> {
    section: Section,
    offset: usize,
    width: usize,
    expression: Expression<'a>,
    line: usize,
}

/// Assembles a text.
///
/// # Errors
/// The first error in the text, with its line.
pub fn assemble(text: &str) -> Result<Assembly, AssembleError> {
    if text.len() > MAX_TEXT_LEN {
        let reason = format!("text too long: {} bytes (max {MAX_TEXT_LEN})", text.len());
        return Err(AssembleError { line: 1, reason });
    }
    let mut state = Assembler::default();
    for (number, line) in text.lines().enumerate() {
        state.line = number + 1;
        state.read(line).map_err(|reason| AssembleError { line: number + 1, reason })?;
    }
    state.finish()
}

/// State between two lines.
struct Assembler<'a> {
    /// Number of the line that is read.
    line: usize,
    section: Section,
    code: Vec<u8>,
    instructions: u32,
    data: Vec<u8>,
    literals: Vec<u8>,
    zero_len: usize,
    stack_len: u32,
    jumps: Vec<u8>,
    version_2: bool,
    /// Number of global code labels so far; local labels belong to the last one.
    scope: u32,
    symbols: HashMap<(u32, &'a str), Symbol>,
    labels: Vec<(Section, u32, &'a str)>,
    services: Vec<(String, i32)>,
    fixups: Vec<Fixup<'a>>,
}

impl Default for Assembler<'_> {
    fn default() -> Self {
        Self {
            line: 0,
            section: Section::Code,
            code: Vec::new(),
            instructions: 0,
            data: Vec::new(),
            literals: Vec::new(),
            zero_len: 0,
            stack_len: DEFAULT_STACK_LEN,
            jumps: Vec::new(),
            version_2: false,
            scope: 0,
            symbols: HashMap::new(),
            labels: Vec::new(),
            services: Vec::new(),
            fixups: Vec::new(),
        }
    }
}

/// Scope of global names.
const GLOBAL: u32 = u32::MAX;

impl<'a> Assembler<'a> {
    fn read(&mut self, line: &'a str) -> Result<(), String> {
        let mut cursor = Cursor::new(line);
        while let Some(name) = cursor.label() {
            self.label(name)?;
        }
        if let Some(directive) = cursor.directive() {
            self.directive(directive, &mut cursor)?;
        } else if let Some(word) = cursor.word() {
            self.instruction(word, &mut cursor)?;
        }
        cursor.end()
    }

    fn label(&mut self, name: Name<'a>) -> Result<(), String> {
        let place = match self.section {
            Section::Code => self.instructions,
            Section::Data => self.data.len() as u32,
            Section::Literals => self.literals.len() as u32,
            Section::Zero => self.zero_len as u32,
            Section::Jumps => return Err("label in section .jumps".to_owned()),
        };
        let symbol = Symbol::Label(self.section, place);
        match name {
            Name::Local(name) if self.section != Section::Code => {
                Err(format!("local label outside .code: @{name}"))
            }
            Name::Local(name) => self.define((self.scope, name), symbol),
            Name::Global(name) => {
                self.define((GLOBAL, name), symbol)?;
                self.labels.push((self.section, place, name));
                if self.section == Section::Code {
                    self.scope += 1;
                }
                Ok(())
            }
        }
    }

    fn define(&mut self, key: (u32, &'a str), symbol: Symbol) -> Result<(), String> {
        if self.symbols.len() == MAX_NAMES {
            return Err(format!("too many names (max {MAX_NAMES})"));
        }
        match self.symbols.insert(key, symbol) {
            Some(_) => Err(format!("name defined twice: {}", key.1)),
            None => Ok(()),
        }
    }

    fn instruction(&mut self, word: &'a str, cursor: &mut Cursor<'a>) -> Result<(), String> {
        let Some(opcode) = Opcode::from_mnemonic(word) else {
            return Err(format!("unknown instruction: {word}"));
        };
        if self.section != Section::Code {
            return Err(format!("instruction outside .code: {word}"));
        }
        self.room(self.code.len(), 5)?;
        self.code.push(opcode as u8);
        self.instructions += 1;
        let width = opcode.operation().operand.length();
        if width == 0 {
            return Ok(());
        }
        if cursor.at_end() {
            return Err(format!("operand of {word} missing"));
        }
        let expression = Expression::parse(cursor)?;
        self.emit(Section::Code, width, expression)
    }

    /// Appends a number to a section, now or at the end.
    fn emit(
        &mut self,
        section: Section,
        width: usize,
        expression: Expression<'a>,
    ) -> Result<(), String> {
        let line = self.line;
        let known = expression.constant();
        let bytes = self.bytes(section);
        let offset = bytes.len();
        if let Some(value) = known {
            bytes.extend(&narrow(value, width)?[..width]);
            return self.room(offset, width);
        }
        bytes.resize(offset + width, 0);
        if self.fixups.len() == MAX_NAMES {
            return Err(format!("too many references (max {MAX_NAMES})"));
        }
        let expression = expression.in_scope(self.scope);
        self.fixups.push(Fixup { section, offset, width, expression, line });
        self.room(offset, width)
    }

    fn bytes(&mut self, section: Section) -> &mut Vec<u8> {
        match section {
            Section::Code => &mut self.code,
            Section::Data => &mut self.data,
            Section::Jumps => &mut self.jumps,
            Section::Literals | Section::Zero => &mut self.literals,
        }
    }

    fn room(&self, len: usize, more: usize) -> Result<(), String> {
        if len.saturating_add(more) > MAX_SECTION_LEN {
            return Err(format!("section too long (max {MAX_SECTION_LEN} bytes)"));
        }
        Ok(())
    }

    fn directive(&mut self, name: &'a str, cursor: &mut Cursor<'a>) -> Result<(), String> {
        match name {
            "code" => self.section = Section::Code,
            "data" => self.section = Section::Data,
            "lit" => self.section = Section::Literals,
            "bss" => self.section = Section::Zero,
            "jumps" => (self.section, self.version_2) = (Section::Jumps, true),
            "version" => match self.number(cursor, 2)? {
                0 => return Err("unknown version: 0 (expected 1 or 2)".to_owned()),
                version => self.version_2 = version == 2,
            },
            "stack" => self.stack_len = self.number(cursor, i64::from(MAX_BLOCK))? as u32,
            "equ" => {
                let name = cursor.word().ok_or("name of .equ missing")?;
                let value = self.value(cursor)?;
                self.define((GLOBAL, name), Symbol::Constant(value))?;
            }
            "service" => {
                let name = cursor.word().ok_or("name of .service missing")?;
                let target = -1 - self.number(cursor, i64::from(i32::MAX))?;
                self.define((GLOBAL, name), Symbol::Constant(target))?;
                self.services.push((name.to_owned(), target as i32));
            }
            "word" => self.numbers(name, 4, cursor)?,
            "byte" => self.numbers(name, 1, cursor)?,
            "text" | "string" => self.text(name, cursor)?,
            "space" => {
                let len = self.number(cursor, i64::from(MAX_BLOCK))? as usize;
                self.space(name, len)?;
            }
            "align" => {
                let unit = self.number(cursor, 65_536)? as usize;
                let len = match self.section {
                    Section::Zero => self.zero_len,
                    section => self.bytes(section).len(),
                };
                if !unit.is_power_of_two() {
                    return Err(format!("invalid alignment: {unit} (expected a power of two)"));
                }
                self.space(name, len.next_multiple_of(unit) - len)?;
            }
            _ => return Err(format!("unknown directive: .{name}")),
        }
        Ok(())
    }

    /// Returns the section if a directive may add bytes there.
    fn holds(&self, directive: &str, sections: &[Section]) -> Result<Section, String> {
        match sections.contains(&self.section) {
            true => Ok(self.section),
            false => Err(format!(".{directive} not allowed in this section")),
        }
    }

    fn numbers(&mut self, name: &str, width: usize, cursor: &mut Cursor<'a>) -> Result<(), String> {
        let allowed = [Section::Data, Section::Literals, Section::Jumps];
        let section = self.holds(name, &allowed[..if width == 4 { 3 } else { 2 }])?;
        loop {
            let expression = Expression::parse(cursor)?;
            self.emit(section, width, expression)?;
            if !cursor.comma() {
                return Ok(());
            }
        }
    }

    fn text(&mut self, name: &str, cursor: &mut Cursor<'a>) -> Result<(), String> {
        let section = self.holds(name, &[Section::Data, Section::Literals])?;
        let text = cursor.string()?.ok_or_else(|| format!("text of .{name} missing"))?;
        let bytes = self.bytes(section);
        let len = bytes.len();
        bytes.extend(&text);
        if name == "string" {
            bytes.push(0);
        }
        self.room(len, text.len() + 1)
    }

    fn space(&mut self, name: &str, len: usize) -> Result<(), String> {
        match self.holds(name, &[Section::Data, Section::Literals, Section::Zero])? {
            Section::Zero => {
                let sum = self.zero_len + len;
                if sum > MAX_BLOCK as usize {
                    return Err(format!("section too long (max {MAX_BLOCK} bytes)"));
                }
                self.zero_len = sum;
            }
            section => {
                let now = self.bytes(section).len();
                self.room(now, len)?;
                self.bytes(section).resize(now + len, 0);
            }
        }
        Ok(())
    }

    /// Parses an expression of constants that are defined already.
    fn value(&self, cursor: &mut Cursor<'a>) -> Result<i64, String> {
        let expression = Expression::parse(cursor)?;
        expression.evaluate(|term| match term {
            Name::Global(name) => match self.symbols.get(&(GLOBAL, name)) {
                Some(Symbol::Constant(value)) => Ok(*value),
                _ => Err(format!("not a constant defined above: {name}")),
            },
            Name::Local(name) => Err(format!("not a constant: @{name}")),
        })
    }

    /// Parses a constant from 0 to a limit.
    fn number(&self, cursor: &mut Cursor<'a>, max: i64) -> Result<i64, String> {
        let value = self.value(cursor)?;
        if (0..=max).contains(&value) {
            return Ok(value);
        }
        Err(format!("number out of range: {value} (expected 0 to {max})"))
    }

    /// Address of a section in the memory block.
    fn base(&self, section: Section) -> usize {
        match section {
            Section::Code | Section::Jumps | Section::Data => 0,
            Section::Literals => self.data.len(),
            Section::Zero => self.data.len() + self.literals.len(),
        }
    }

    fn finish(mut self) -> Result<Assembly, AssembleError> {
        for fixup in std::mem::take(&mut self.fixups) {
            let scope = fixup.expression.scope;
            let value = fixup.expression.evaluate(|name| self.resolve(scope, name));
            let value = value.and_then(|value| narrow(value, fixup.width));
            let bytes = value.map_err(|reason| AssembleError { line: fixup.line, reason })?;
            let (start, end) = (fixup.offset, fixup.offset + fixup.width);
            self.bytes(fixup.section)[start..end].copy_from_slice(&bytes[..fixup.width]);
        }
        let labels = self.labels.iter().map(|&(section, offset, name)| Label {
            section,
            value: offset + self.base(section) as u32,
            name: name.to_owned(),
        });
        let labels = labels.collect();
        let zero_len = self.zero_len + self.stack_len as usize;
        let image = Image {
            instruction_count: self.instructions,
            code: self.code,
            data: self.data,
            literals: self.literals,
            zero_length: zero_len as u32,
            code_offset: 0,
            jump_table: self.version_2.then(|| words(&self.jumps)),
        };
        Ok(Assembly { image, labels, services: self.services })
    }

    fn resolve(&self, scope: u32, name: Name<'_>) -> Result<i64, String> {
        let (key, shown) = match name {
            Name::Global(name) => ((GLOBAL, name), name.to_owned()),
            Name::Local(name) => ((scope, name), format!("@{name}")),
        };
        match self.symbols.get(&key) {
            Some(Symbol::Constant(value)) => Ok(*value),
            Some(&Symbol::Label(section, offset)) => {
                Ok(i64::from(offset) + self.base(section) as i64)
            }
            None => Err(format!("name not defined: {shown}")),
        }
    }
}

/// Bytes of a number, if it fits signed or unsigned.
fn narrow(value: i64, width: usize) -> Result<[u8; 4], String> {
    let (min, max) = if width == 1 { (-128, 255) } else { (-(1 << 31), (1 << 32) - 1) };
    if (min..=max).contains(&value) {
        return Ok((value as u32).to_le_bytes());
    }
    Err(format!("number out of range: {value} (expected {min} to {max})"))
}

fn words(bytes: &[u8]) -> Vec<u32> {
    let (words, _) = bytes.as_chunks::<4>();
    words.iter().map(|word| u32::from_le_bytes(*word)).collect()
}
