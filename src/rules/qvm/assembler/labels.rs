//! Labels of an assembled image, and their `.map` form.
//!
//! A line of a `.map` file is `segment value name`, the value in hexadecimal.

use super::Assembly;

/// Part of an image that a line adds to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Section {
    /// Instructions.
    Code,
    /// Initialized words.
    Data,
    /// Strings and other bytes.
    Literals,
    /// Bytes that start as zero.
    Zero,
    /// Targets of computed jumps.
    Jumps,
}

/// A label and its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Label {
    /// Section of the label.
    pub section: Section,
    /// Instruction number, or address in the memory block.
    pub value: u32,
    /// Name.
    pub name: String,
}

/// Parses symbols in the `.map` format of the usual tools. Lines of other forms are skipped.
#[must_use]
pub fn parse_symbol_map(text: &str) -> Vec<Label> {
    let parse = |line: &str| {
        let mut words = line.split_whitespace();
        let section = match words.next()? {
            "0" => Section::Code,
            "1" => Section::Data,
            "2" => Section::Literals,
            "3" => Section::Zero,
            _ => return None,
        };
        let value = u32::from_str_radix(words.next()?, 16).ok()?;
        Some(Label { section, value, name: words.next()?.to_owned() })
    };
    text.lines().filter_map(parse).collect()
}

impl Assembly {
    /// Writes the symbols in the `.map` format of the usual tools.
    #[must_use]
    pub fn symbol_map(&self) -> String {
        let mut text = String::new();
        for (name, target) in &self.services {
            text += &format!("0 {target:8x} {name}\n");
        }
        for label in &self.labels {
            let segment = match label.section {
                Section::Code => 0,
                Section::Data => 1,
                Section::Literals => 2,
                Section::Zero => 3,
                Section::Jumps => continue,
            };
            text += &format!("{segment} {:8x} {}\n", label.value, label.name);
        }
        text
    }
}
