//! Settings of a module: records in its memory that mirror settings of the server.
//!
//! A record is written when the module registers it, and on an update if the setting has changed since. Invariants: the
//! number of records is bounded; a handle that was not given out is ignored.
//! Source: the game interface, version 8. Engine names: `vmCvar_t`, `Cvar_Register`, `Cvar_Update`.

use crate::{
    cvar::Flags,
    game::Host,
    model::text::{atoi, truncated},
    qvm::{FaultKind, Memory},
};

/// Size of a record, in bytes.
const RECORD_LEN: usize = 272;
/// Offset of the text in a record, and its size with the zero byte.
const TEXT_OFFSET: usize = 16;
const TEXT_LEN: usize = RECORD_LEN - TEXT_OFFSET;
/// Most records of a module. OpenArena's has 200.
const MAX_CVARS: usize = 2048;
/// Change count of a record that was never written.
const NEVER: i32 = -1;

/// Flags of the interface and those of settings. The others have no meaning for a server.
const FLAGS: [(i32, Flags); 8] = [
    (1, Flags::ARCHIVE),
    (2, Flags::USERINFO),
    (4, Flags::SERVERINFO),
    (8, Flags::SYSTEMINFO),
    (16, Flags::INIT),
    (32, Flags::LATCHED),
    (64, Flags::READ_ONLY),
    (512, Flags::CHEAT),
];

/// Names of the records of a module. Handles start at 1, so that a record that was never registered has none.
#[derive(Debug, Default)]
pub(super) struct Cvars(Vec<String>);

/// Flags of a registered setting.
pub(super) fn flags_of(bits: i32) -> Flags {
    let set = FLAGS.iter().filter(|(bit, _)| bits & bit != 0);
    set.fold(Flags::PLAIN, |flags, (_, flag)| flags.and(*flag))
}

impl Cvars {
    /// Gives a record a handle and writes it.
    ///
    /// # Errors
    /// The record does not lie inside the memory, or there are too many.
    pub(super) fn register(
        &mut self,
        memory: &mut Memory,
        host: &dyn Host,
        name: &str,
        record: i32,
    ) -> Result<(), String> {
        let known = self.0.iter().position(|known| known.eq_ignore_ascii_case(name));
        let handle = match known {
            Some(index) => index + 1,
            None if self.0.len() < MAX_CVARS => {
                self.0.push(name.to_owned());
                self.0.len()
            }
            None => return Err(format!("too many settings (max {MAX_CVARS})")),
        };
        write(memory, host, name, record, handle as i32).map_err(|fault| fault.to_string())
    }

    /// Writes a record again if its setting has changed.
    ///
    /// # Errors
    /// The record does not lie inside the memory.
    pub(super) fn update(
        &self,
        memory: &mut Memory,
        host: &dyn Host,
        record: i32,
    ) -> Result<(), FaultKind> {
        let handle = memory.i32_at(record)?;
        let index = usize::try_from(handle).ok().and_then(|handle| handle.checked_sub(1));
        let Some(name) = index.and_then(|index| self.0.get(index)) else { return Ok(()) };
        if memory.i32_at(record.wrapping_add(4))? == changes(host, name) {
            return Ok(());
        }
        write(memory, host, name, record, handle)
    }
}

fn changes(host: &dyn Host, name: &str) -> i32 {
    let count = (host.setting_changes(name) & i32::MAX as u32) as i32;
    if count == NEVER { 0 } else { count }
}

fn write(
    memory: &mut Memory,
    host: &dyn Host,
    name: &str,
    record: i32,
    handle: i32,
) -> Result<(), FaultKind> {
    let text = host.setting(name);
    let bytes = memory.bytes_mut(record, RECORD_LEN)?;
    let words = [handle, changes(host, name), leading_float(text).to_bits() as i32, atoi(text)];
    for (target, word) in bytes.chunks_exact_mut(4).zip(words) {
        target.copy_from_slice(&word.to_le_bytes());
    }
    let text = truncated(text, TEXT_LEN - 1).as_bytes();
    let (copy, rest) = bytes[TEXT_OFFSET..].split_at_mut(text.len());
    copy.copy_from_slice(text);
    rest.fill(0);
    Ok(())
}

/// Number at the start of a text, as C's `atof` reads decimal numbers; 0 without one.
fn leading_float(text: &str) -> f32 {
    let text = text.trim_start();
    let is_part = |c: char| c.is_ascii_digit() || matches!(c, '+' | '-' | '.' | 'e' | 'E');
    let end = text.find(|c| !is_part(c)).unwrap_or(text.len());
    // The longest prefix that is a number; numbers of settings are short.
    let longest = end.min(40);
    (1..=longest).rev().find_map(|len| text.get(..len)?.parse::<f32>().ok()).unwrap_or(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn leading_numbers_are_read_as_in_c() {
        for (text, value) in [
            ("800", 800.0),
            (" 1.5x", 1.5),
            ("-2e1e", -20.0),
            ("1.", 1.0),
            (".5", 0.5),
            ("", 0.0),
            ("x1", 0.0),
            ("inf", 0.0),
            ("--1", 0.0),
        ] {
            assert_eq!(leading_float(text), value, "{text:?}");
        }
    }

    #[test]
    fn flags_are_those_of_the_interface() {
        assert_eq!(flags_of(0), Flags::PLAIN);
        assert_eq!(flags_of(4 | 32), Flags::SERVERINFO.and(Flags::LATCHED));
        assert_eq!(flags_of(1 | 2 | 1024), Flags::ARCHIVE.and(Flags::USERINFO));
        assert_eq!(flags_of(64 | 8), Flags::READ_ONLY.and(Flags::SYSTEMINFO));
    }
}
