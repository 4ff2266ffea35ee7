//! Masks of secrets: console lines and command lines for logs, listings and reports.
//!
//! A name is secret if its row is, and for variables of mods if it names a password. Invariant: a masked text holds
//! nothing behind the first secret name, up to the next command.

use super::table::SETTINGS;
use crate::cvar::{Choice as _, Flags, GameFolder};

/// Text in place of a secret.
pub const MASK: &str = "***";

/// Whether a setting or variable of this name holds a secret, in any game.
#[must_use]
pub fn is_secret_name(name: &str) -> bool {
    if let Some(row) = SETTINGS.iter().find(|row| row.name.eq_ignore_ascii_case(name)) {
        return GameFolder::ALL.iter().any(|&game| row.in_game(game).flags.has(Flags::SECRET));
    }
    let lower = name.to_ascii_lowercase();
    lower.contains("password") || lower.contains("passwd") || lower.ends_with("pass")
}

/// Returns a console line without anything behind the first secret name.
#[must_use]
pub fn masked_line(line: &str) -> String {
    let is_part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '-');
    let mut start = None;
    for (at, c) in line.char_indices().chain([(line.len(), ' ')]) {
        match start {
            None if is_part(c) => start = Some(at),
            Some(from) if !is_part(c) => {
                let word = &line[from..at];
                let is_command =
                    ["rcon", "login"].iter().any(|name| name.eq_ignore_ascii_case(word));
                if (is_secret_name(word) || is_command)
                    && !line[at..].trim_matches([' ', '"']).is_empty()
                {
                    return format!("{} {MASK}", &line[..at]);
                }
                start = None;
            }
            _ => {}
        }
    }
    line.to_owned()
}

/// Returns a script without the secrets in its lines, for a reader that is not the operator. UTF-16, which only the
/// console reads, is left out whole.
#[must_use]
pub fn masked_script(script: &[u8]) -> Vec<u8> {
    if matches!(script, [0xff, 0xfe, ..] | [0xfe, 0xff, ..]) || script.contains(&0) {
        return Vec::new();
    }
    let lines = script.split_inclusive(|byte| matches!(byte, b'\n' | b'\r'));
    let masked = lines.flat_map(|line| {
        let text = String::from_utf8_lossy(line);
        let text = text.trim_end_matches(['\n', '\r']);
        let shown = masked_line(text);
        if shown == text { line.to_vec() } else { [shown.as_bytes(), b"\n"].concat() }
    });
    masked.collect()
}

/// Returns the arguments of a command line without secrets.
///
/// The words behind a secret name, up to the next `+` command, are masked.
#[must_use]
pub fn masked_arguments(arguments: &[String]) -> Vec<String> {
    let mut is_masking = false;
    let mut shown = Vec::with_capacity(arguments.len());
    for word in arguments {
        let begins = word.starts_with('+') && !word.contains(char::is_whitespace);
        if is_masking && !begins {
            shown.push(MASK.to_owned());
            continue;
        }
        let bare = word.trim_start_matches('+').trim_matches('"');
        is_masking = !word.starts_with("--") && is_secret_name(bare);
        shown.push(masked_line(word));
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_secret_row_is_masked() {
        for name in ["rconPassword", "RCONPASSWORD", "g_password", "sv_privatePassword"] {
            assert!(is_secret_name(name), "{name}");
        }
        for row in SETTINGS {
            let is_secret = row.in_game(GameFolder::BaseQ3).flags.has(Flags::SECRET);
            assert_eq!(is_secret_name(row.name), is_secret, "{}", row.name);
        }
        assert!(is_secret_name("ref_password") && is_secret_name("g_refPass"));
        assert!(!is_secret_name("g_needpass") && !is_secret_name("map"));
    }

    #[test]
    fn script_is_masked_line_by_line() {
        let script = b"set a 1\r\nset rconPassword \"hunter2\"; set b 2\n// \xe9\nseta g_refPass x";
        let shown = b"set a 1\r\nset rconPassword ***\n// \xe9\nseta g_refPass ***\n";
        assert_eq!(masked_script(script), shown);
        assert_eq!(masked_script(b"\xff\xfea\0"), b"");
        assert_eq!(masked_script(b"r\0c\0o\0n\0"), b"");
    }

    #[test]
    fn arguments_are_masked_up_to_the_next_command() {
        let words = |line: &str| line.split(' ').map(str::to_owned).collect::<Vec<_>>();
        for (line, shown) in [
            ("+set rconPassword a b +map x", "+set rconPassword *** *** +map x"),
            ("--port 1 +SETA G_PASSWORD x", "--port 1 +SETA G_PASSWORD ***"),
            ("+ rconPassword x + status", "+ rconPassword *** + status"),
            ("+rconpassword x", "+rconpassword ***"),
            ("+set \"sv_privatePassword\" x", "+set \"sv_privatePassword\" ***"),
            ("+set d1 x +set e2 y", "+set d1 x +set e2 y"),
        ] {
            assert_eq!(masked_arguments(&words(line)), words(shown), "{line}");
        }
        let nested = ["+set", "d1", "rconPassword hunter2;map x"].map(str::to_owned);
        assert_eq!(masked_arguments(&nested)[2], "rconPassword ***");
    }
}
