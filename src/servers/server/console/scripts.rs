//! Console scripts: `exec`, and the limits of commands and scripts.
//!
//! Invariants: a script comes from the game data, never from the own files of a module; only the command line names a
//! script by the path of its file, never rcon, a module or another script; a script of an archive has the right of a mod; scripts between two frames, commands of a
//! line and depth are bounded.
//! Source: config files of Quake III servers. Engine name: `Cmd_Exec_f`.

use super::{
    archive,
    budget::MAX_SCRIPTS,
    execute,
    problems::Cause,
    table::COMMANDS,
    texts::{OpenText, Script},
};
use crate::{
    model::{
        CommandArgs,
        assets::{AssetError, ScriptPlace},
        near_files::script_suggestion,
        text,
    },
    server::{core::Core, state::Server},
    settings::{Author, SetCommand, is_ignored},
};

/// Maximum depth of nested `vstr` and `exec`.
const MAX_NESTING: u8 = 16;
/// Maximum length of a script, in bytes.
const MAX_SCRIPT_LEN: u64 = 1 << 20;
/// Commands that run before the first level, beside the commands that change settings.
const EARLY_COMMANDS: [&str; 12] = [
    "cmdlist", "cvarlist", "dir", "echo", "exec", "execq", "help", "path", "reset", "toggle",
    "unset", "vstr",
];

/// Whether a command runs before the first level.
pub(super) fn is_early(core: &Core, name: &str) -> bool {
    let is_named = |known: &str| known.eq_ignore_ascii_case(name);
    SetCommand::named(name).is_some()
        || is_ignored(name)
        || EARLY_COMMANDS.iter().any(|early| is_named(early))
        || core.settings.get(name).is_some() && !COMMANDS.iter().any(|row| is_named(row.name))
}

/// Whether a command may run a text one level deeper. If not, it prints why.
pub(super) fn may_nest(server: &mut Server, command: &str, depth: u8) -> bool {
    let may = depth + 1 < MAX_NESTING;
    if !may {
        let what = format!("{command}: recursion limit reached ({MAX_NESTING})");
        execute::report(server, Cause::Nesting, what);
    }
    may
}

/// Runs the script of a command, quietly or with its name.
pub(super) fn exec(server: &mut Server, words: &CommandArgs, depth: u8, is_quiet: bool) {
    let is_named_by_operator = depth == 0 && server.startup.is_command_line;
    if words.len() != 2 {
        let usage = format!("Usage: {} <file>", words.command());
        if is_named_by_operator {
            server.startup.fail(format!("+{}: script name missing; {usage}", words.command()));
        }
        return server.core.console.print(usage);
    }
    let mut name = words.get(1).to_owned();
    if !name.rsplit(['/', '\\']).next().unwrap_or_default().contains('.') {
        name.push_str(".cfg");
    }
    if !may_nest(server, words.command(), depth) {
        return;
    }
    let place = if is_named_by_operator { ScriptPlace::CommandLine } else { ScriptPlace::GameData };
    match read(server, &name, place) {
        Ok(script) => {
            if !is_quiet {
                server.core.console.print(format!("execing {name}"));
            }
            let is_packed = server.maps.assets().find(&name).is_some_and(|at| at.pack.is_some());
            let author = if is_packed { Author::Mod } else { Author::Operator };
            open(server, &name, &script, (author, depth + 1));
        }
        Err(reason) => {
            let shown = text::escaped(name.as_bytes());
            let error = format!("couldn't exec {shown}: {reason}");
            if is_named_by_operator {
                server.startup.fail(format!("+{}: {error}", words.command()));
            }
            if !server.startup.is_over() {
                execute::report(server, Cause::Script, error);
            }
        }
    }
}

/// Opens the text of a script, with its author and depth.
pub(super) fn open(server: &mut Server, name: &str, text: &str, (author, depth): (Author, u8)) {
    let is_of_start = server.core.console.is_start() || server.texts.is_of_start();
    let script = Script::new(name, is_of_start);
    server.texts.open(OpenText::new(text, author, depth, Some(script)));
}

/// Reads a script.
///
/// # Errors
/// The reason, for the operator.
fn read(server: &mut Server, name: &str, place: ScriptPlace) -> Result<String, String> {
    if !server.console_budget.take_script() {
        return Err(format!("script limit reached ({MAX_SCRIPTS} in a frame)"));
    }
    let read = read_text(server, name, place);
    if matches!(read, Err(AssetError::Missing { .. }))
        && let Some(folder) = server.core.archive.folder()
        && let Some(text) = archive::state_script(folder, name, MAX_SCRIPT_LEN)
    {
        return text;
    }
    let text = read.map_err(|error| {
        let is_missing = matches!(error, AssetError::Missing { .. });
        let suggestion = is_missing.then(|| script_suggestion(server.maps.assets(), name));
        format!("{error}{}", suggestion.unwrap_or_default())
    });
    text?.map_err(|what| format!("not a text file: {what}"))
}

/// Reads the text of a script, or the reason why it is not a text.
pub(super) fn read_text(
    server: &Server,
    name: &str,
    place: ScriptPlace,
) -> Result<Result<String, String>, AssetError> {
    server.maps.assets().read_script(name, MAX_SCRIPT_LEN, place).map(|bytes| script_text(&bytes))
}

/// Text of a script: UTF-8, Latin-1 as older editors write it, or UTF-16 with its mark. Lines end as on any system.
///
/// # Errors
/// The bytes are not a text.
pub fn script_text(bytes: &[u8]) -> Result<String, String> {
    let utf16 = |bytes: &[u8], unit: fn([u8; 2]) -> u16| {
        let units = bytes.chunks_exact(2).map(|pair| unit([pair[0], pair[1]]));
        String::from_utf16_lossy(&units.collect::<Vec<_>>())
    };
    let is_utf16 = matches!(bytes, [0xff, 0xfe, ..] | [0xfe, 0xff, ..]);
    let text = match bytes {
        [0xff, 0xfe, text @ ..] => utf16(text, u16::from_le_bytes),
        [0xfe, 0xff, text @ ..] => utf16(text, u16::from_be_bytes),
        [0xef, 0xbb, 0xbf, text @ ..] | text => match std::str::from_utf8(text) {
            Ok(text) => text.to_owned(),
            Err(_) => text.iter().map(|&byte| char::from(byte)).collect(),
        },
    };
    if let Some(at) = text.find('\0') {
        let line = 1 + text[..at].matches('\n').count();
        return Err(if is_utf16 {
            format!("zero character in line {line} (expected text)")
        } else {
            zero_byte(bytes, line)
        });
    }
    Ok(if text.contains('\r') { text.replace("\r\n", "\n").replace('\r', "\n") } else { text })
}

/// Describes the first zero byte of a file, in a line.
fn zero_byte(bytes: &[u8], line: usize) -> String {
    let zeros = |first| bytes.iter().skip(first).step_by(2).filter(|byte| **byte == 0).count();
    let (even, odd) = (zeros(0), zeros(1));
    // Letters of UTF-16 have a zero byte each.
    if even.max(odd) * 4 > bytes.len() && even.min(odd) * 8 < even.max(odd) {
        return "UTF-16 without a byte order mark, by its zero bytes (expected UTF-8)".to_owned();
    }
    let at = bytes.iter().position(|byte| *byte == 0).unwrap_or(0);
    format!("zero byte in line {line}, at byte {at} (expected text in UTF-8)")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scripts_are_utf8_latin1_or_utf16() {
        assert_eq!(script_text(b"\xef\xbb\xbfset a \xc3\xa9").as_deref(), Ok("set a é"));
        assert_eq!(script_text(b"\xef\xbb\xbfset a \xe9").as_deref(), Ok("set a é"));
        assert_eq!(script_text(b"set a \xe9").as_deref(), Ok("set a é"));
        assert_eq!(script_text(b"\xff\xfea\0\xe9\0").as_deref(), Ok("aé"));
        assert_eq!(script_text(b"\xfe\xff\0a\0\r\0\n").as_deref(), Ok("a\n"));
        assert_eq!(script_text(b"a\r\nb\rc\n").as_deref(), Ok("a\nb\nc\n"));
        let error = |bytes: &[u8]| script_text(bytes).unwrap_err();
        assert!(error(b"\xff\xfea\0\n\0\0\0").starts_with("zero character in line 2"));
        assert!(error(b"IBSP\n.\0").starts_with("zero byte in line 2, at byte 6"));
        for text in [b"s\0e\0t\0 \0a\0\n\0", b"\0s\0e\0t\0 \0a\0\n"] {
            assert!(error(text).starts_with("UTF-16 without a byte order mark"));
        }
    }
}
