//! Passwords in traces of QuakeWorld: values of info strings and of `setinfo` are masked.

use crate::quakeworld::{bytes::Text, info};

/// Text in place of a password.
const MASK: &str = "***";

/// Whether the value of a key is a password. A password of spectators is the value of `spectator`.
fn is_secret(key: &[u8], value: &[u8]) -> bool {
    key.eq_ignore_ascii_case(b"password")
        || key.eq_ignore_ascii_case(b"rcon_password")
        || key.eq_ignore_ascii_case(b"spectator") && !matches!(value, b"" | b"0" | b"1")
}

/// Appends bytes, one character per byte.
pub(super) fn push_bytes(bytes: &[u8], out: &mut String) {
    out.extend(bytes.iter().map(|&byte| char::from(byte)));
}

/// Appends an info string without passwords.
pub(super) fn push_info(info: &[u8], out: &mut String) {
    if !info::pairs(info).any(|(key, value)| is_secret(key, value)) {
        return push_bytes(info, out);
    }
    for (key, value) in info::pairs(info) {
        out.push('\\');
        push_bytes(key, out);
        out.push('\\');
        if is_secret(key, value) { out.push_str(MASK) } else { push_bytes(value, out) }
    }
}

/// Appends a string command of a client without passwords.
pub(super) fn push_command(text: Text<'_>, out: &mut String) {
    let mut words = text.words();
    let name = words.next().unwrap_or_default();
    if name == "rcon" {
        return out.push_str("rcon ***");
    }
    let (key, value) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    if name == "setinfo" && is_secret(key.bytes(), value.bytes()) {
        out.push_str("setinfo \"");
        push_bytes(key.bytes(), out);
        return out.push_str("\" \"***\"");
    }
    push_bytes(text.bytes(), out);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passwords_of_infos_and_commands_are_masked() {
        for (info, shown) in [
            ("\\name\\a\\spectator\\1", "\\name\\a\\spectator\\1"),
            ("\\Password\\x y\\name\\a", "\\Password\\***\\name\\a"),
            ("\\spectator\\word\\name\\a", "\\spectator\\***\\name\\a"),
        ] {
            let mut out = String::new();
            push_info(info.as_bytes(), &mut out);
            assert_eq!(out, shown);
        }
        for (command, shown) in [
            ("say password x", "say password x"),
            ("setinfo \"password\" \"x\"", "setinfo \"password\" \"***\""),
            ("setinfo name x", "setinfo name x"),
            ("rcon word status", "rcon ***"),
        ] {
            let mut out = String::new();
            push_command(command.into(), &mut out);
            assert_eq!(out, shown);
        }
    }
}
