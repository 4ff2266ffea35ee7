//! Symbol files (`.map`): names of functions and variables of a module.
//!
//! A line is `segment value name`, the value in hexadecimal. Segment 0 is code, its values are instruction
//! numbers; other segments are addresses. Negative code values name services.
//!
//! Invariants: lines that do not parse are skipped; names are printable and at most 64 bytes long; at
//! most 100,000 lines are read. Source: Quake III QVM format.

/// Longest name of a symbol, in bytes; longer ones are truncated.
const MAX_NAME: usize = 64;
/// Most symbols of a file.
const MAX_SYMBOLS: usize = 100_000;

/// Names of a module's functions and variables.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Symbols {
    /// Instruction number and name, sorted.
    code: Vec<(u32, String)>,
    /// Address and name, sorted.
    data: Vec<(u32, String)>,
}

impl Symbols {
    /// Parses a symbol file.
    pub fn parse(text: &str) -> Self {
        let mut symbols = Self::default();
        for line in text.lines().take(MAX_SYMBOLS) {
            let mut words = line.split_whitespace();
            let (Some(segment), Some(value), Some(name)) =
                (words.next(), words.next(), words.next())
            else {
                continue;
            };
            let (Ok(segment), Ok(value)) = (segment.parse::<u8>(), u32::from_str_radix(value, 16))
            else {
                continue;
            };
            let name = name.chars().filter(char::is_ascii_graphic).take(MAX_NAME).collect();
            if segment == 0 { &mut symbols.code } else { &mut symbols.data }.push((value, name));
        }
        symbols.code.sort();
        symbols.data.sort();
        symbols
    }

    /// Returns the name of the function that starts at an instruction.
    pub fn function(&self, start: u32) -> Option<&str> {
        exact(&self.code, start)
    }

    /// Returns the name of a service, from its number.
    pub fn service(&self, number: u32) -> Option<&str> {
        exact(&self.code, !number)
    }

    /// Returns the first name at an address.
    pub fn variable(&self, address: u32) -> Option<&str> {
        exact(&self.data, address)
    }

    /// Returns the instruction number of a function by its name.
    pub fn find_function(&self, name: &str) -> Option<u32> {
        self.code.iter().find(|(_, known)| known == name).map(|(value, _)| *value)
    }
}

fn exact(table: &[(u32, String)], value: u32) -> Option<&str> {
    let at = table.partition_point(|(known, _)| *known < value);
    table.get(at).filter(|(known, _)| *known == value).map(|(_, name)| name.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn symbol_file_names_functions_services_and_variables() {
        let text =
            "0 fffffffe trap_Error\n0       2f helper\n0 0 vmMain\n3   174280 com_lines\nx y z\n0";
        let symbols = Symbols::parse(text);
        assert_eq!(symbols.function(0), Some("vmMain"));
        assert_eq!(symbols.function(0x2f), Some("helper"));
        assert_eq!(symbols.function(0x30), None);
        assert_eq!(symbols.service(1), Some("trap_Error"));
        assert_eq!(symbols.variable(0x17_4280), Some("com_lines"));
        assert_eq!(symbols.find_function("helper"), Some(0x2f));
    }
}
