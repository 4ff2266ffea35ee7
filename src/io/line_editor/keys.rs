//! Keys of a terminal: bytes to keys.
//!
//! Invariant: any bytes are read; unknown sequences are ignored, and none is longer than [`MAX_SEQUENCE`] bytes.
//! Source: control sequences of xterm and the Linux console.

/// Longest control sequence, in bytes. The rest counts as typed.
const MAX_SEQUENCE: usize = 16;

/// A key that edits a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Key {
    Char(char),
    Enter,
    Tab,
    Backspace,
    Delete,
    Left,
    Right,
    WordLeft,
    WordRight,
    Home,
    End,
    Up,
    Down,
    /// Ctrl-K, Ctrl-U, Ctrl-W.
    KillRight,
    KillLeft,
    KillWord,
    /// Ctrl-L.
    ClearScreen,
    /// Ctrl-D: the end of the input on an empty line.
    EndOrDelete,
    /// Ctrl-C, where it is not a signal.
    Cancel,
}

/// Reader of keys.
#[derive(Debug, Default)]
pub(super) struct KeyReader {
    /// Bytes of a key that is not complete.
    bytes: Vec<u8>,
}

impl KeyReader {
    /// Reads a byte. Returns the key that it completes.
    pub(super) fn read(&mut self, byte: u8) -> Option<Key> {
        self.bytes.push(byte);
        let key = match self.bytes[..] {
            [0x1b] | [0x1b, b'[' | b'O'] => return None,
            [0x1b, b'[' | b'O', .., last] if !(0x40..=0x7e).contains(&last) => {
                if self.bytes.len() < MAX_SEQUENCE {
                    return None;
                }
                None
            }
            [0x1b, b'[' | b'O', ref middle @ .., last] => sequence(middle, last),
            [0x1b, b'b'] => Some(Key::WordLeft),
            [0x1b, b'f'] => Some(Key::WordRight),
            [0x1b, 0x7f] => Some(Key::KillWord),
            [0x1b, ..] => None,
            [first, ..] if first >= 0x80 => match std::str::from_utf8(&self.bytes) {
                Ok(text) => text.chars().next().filter(|char| !char.is_control()).map(Key::Char),
                Err(error) if error.error_len().is_none() => return None,
                Err(_) => None,
            },
            [byte, ..] => control(byte),
            [] => None,
        };
        self.bytes.clear();
        key
    }
}

/// Returns the key of a control sequence.
fn sequence(parameters: &[u8], last: u8) -> Option<Key> {
    // Ctrl and Alt with an arrow key.
    let is_word = matches!(parameters, [b'1', b';', b'3' | b'5'] | [b'5']);
    Some(match (last, parameters) {
        (b'A', _) => Key::Up,
        (b'B', _) => Key::Down,
        (b'C', _) if is_word => Key::WordRight,
        (b'D', _) if is_word => Key::WordLeft,
        (b'C', _) => Key::Right,
        (b'D', _) => Key::Left,
        (b'H', _) | (b'~', b"1" | b"7") => Key::Home,
        (b'F', _) | (b'~', b"4" | b"8") => Key::End,
        (b'~', b"3") => Key::Delete,
        _ => return None,
    })
}

/// Returns the key of an ASCII byte.
fn control(byte: u8) -> Option<Key> {
    Some(match byte {
        b'\r' | b'\n' => Key::Enter,
        b'\t' => Key::Tab,
        0x7f | 0x08 => Key::Backspace,
        0x01 => Key::Home,
        0x02 => Key::Left,
        0x03 => Key::Cancel,
        0x04 => Key::EndOrDelete,
        0x05 => Key::End,
        0x06 => Key::Right,
        0x0b => Key::KillRight,
        0x0c => Key::ClearScreen,
        0x0e => Key::Down,
        0x10 => Key::Up,
        0x15 => Key::KillLeft,
        0x17 => Key::KillWord,
        b' '..=b'~' => Key::Char(byte.into()),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn keys(bytes: &[u8]) -> Vec<Key> {
        let mut reader = KeyReader::default();
        bytes.iter().filter_map(|&byte| reader.read(byte)).collect()
    }

    #[test]
    fn bytes_become_keys() {
        assert_eq!(
            keys("a\u{e9}\u{1f600}".as_bytes()),
            ['a', '\u{e9}', '\u{1f600}'].map(Key::Char)
        );
        let arrows = [Key::Up, Key::Down, Key::Right, Key::Left];
        assert_eq!(keys(b"\x1b[A\x1b[B\x1b[C\x1b[D"), arrows);
        assert_eq!(keys(b"\x1bOA\x1bOB\x1bOC\x1bOD"), arrows);
        let words = [Key::WordRight, Key::WordLeft, Key::WordLeft, Key::Home, Key::End];
        assert_eq!(keys(b"\x1b[1;5C\x1b[1;3D\x1bb\x1b[1~\x1b[F"), words);
        assert_eq!(keys(b"\x1b[3~\x7f\r\t"), [Key::Delete, Key::Backspace, Key::Enter, Key::Tab]);
        assert_eq!(keys(b"\x1b[15~\x1b[<0;1;1M\x00\xffa"), [Key::Char('a')]);
    }

    proptest! {
        #[test]
        fn any_bytes_are_read(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            let mut reader = KeyReader::default();
            for byte in bytes {
                if let Some(Key::Char(char)) = reader.read(byte) {
                    prop_assert!(!char.is_control());
                }
                prop_assert!(reader.bytes.len() <= MAX_SEQUENCE);
            }
        }
    }
}
