//! Console scripts: `exec`, and what runs before the first level.
//!
//! Before the first level only settings change: other commands wait for the first frame, in order. Invariants: a script
//! comes from the game data, never from the own files of a module; scripts between two frames, commands of a line
//! and depth are bounded.
//! Source: config files of Quake III servers. Engine names: `Cmd_Exec_f`, `autoexec.cfg`.

use super::{MAX_NESTING, Server, table::COMMANDS};
use crate::{
    model::{
        CommandArgs,
        assets::{AssetError, ScriptPlace},
        text,
    },
    server::core::Core,
    settings::{SetCommand, key},
};

/// Maximum number of commands that one line runs, without and with a script. A variable that runs itself, or the next
/// one twice, must end.
const MAX_COMMANDS: u32 = 512;
const MAX_SCRIPTED_COMMANDS: u32 = 8192;
/// Maximum number of scripts that are read from one frame to the next, since each is a file.
const MAX_SCRIPTS: u32 = 32;
/// Maximum length of a script, in bytes.
const MAX_SCRIPT_LEN: u64 = 1 << 20;
/// Script of a mod that runs before the first level.
const MOD_CONFIG: &str = "autoexec.cfg";
/// Commands that run before the first level, beside the commands that change settings.
const EARLY_COMMANDS: [&str; 4] = ["echo", "exec", "execq", "vstr"];

/// Commands and scripts that console lines may still run.
#[derive(Debug)]
pub(in crate::server) struct ConsoleBudget {
    /// Commands that the line may run, and how many of them are left.
    commands: u32,
    commands_left: u32,
    /// Scripts that may be read until the next frame.
    scripts_left: u32,
}

impl Default for ConsoleBudget {
    fn default() -> Self {
        Self { commands: 0, commands_left: 0, scripts_left: MAX_SCRIPTS }
    }
}

impl ConsoleBudget {
    pub(in crate::server) fn begin_frame(&mut self) {
        self.scripts_left = MAX_SCRIPTS;
    }

    pub(super) fn begin_line(&mut self) {
        self.commands = MAX_COMMANDS;
        self.commands_left = MAX_COMMANDS;
    }

    /// Takes a command. The one that reaches the limit is an error with a message, later ones have none.
    pub(super) fn take_command(&mut self) -> Result<(), Option<String>> {
        self.commands_left = self.commands_left.checked_sub(1).ok_or(None)?;
        if self.commands_left > 0 {
            return Ok(());
        }
        Err(Some(format!("command limit reached ({}): rest of line ignored", self.commands)))
    }

    /// Takes a script. Returns whether it may be read.
    fn take_script(&mut self) -> bool {
        let Some(left) = self.scripts_left.checked_sub(1) else { return false };
        self.scripts_left = left;
        self.commands_left += MAX_SCRIPTED_COMMANDS - self.commands;
        self.commands = MAX_SCRIPTED_COMMANDS;
        true
    }
}

/// Whether a command runs before the first level.
pub(super) fn is_early(core: &Core, name: &str) -> bool {
    let is_named = |known: &str| known.eq_ignore_ascii_case(name);
    SetCommand::named(name).is_some()
        || EARLY_COMMANDS.iter().any(|early| is_named(early))
        || core.settings.get(name).is_some() && !COMMANDS.iter().any(|row| is_named(row.name))
}

/// Whether a command may run a text one level deeper. If not, it prints why.
pub(super) fn may_nest(core: &mut Core, command: &str, depth: u8) -> bool {
    let may = depth + 1 < MAX_NESTING;
    if !may {
        core.print_line(format!("{command}: recursion limit reached ({MAX_NESTING})"));
    }
    may
}

/// Runs the script of a command, quietly or with its name.
pub(super) fn exec(server: &mut Server, words: &CommandArgs, depth: u8, is_quiet: bool) {
    if words.len() != 2 {
        server.core.print_line(format!("Usage: {} <file>", words.command()));
        return;
    }
    let mut name = words.get(1).to_owned();
    if !name.rsplit(['/', '\\']).next().unwrap_or_default().contains('.') {
        name.push_str(".cfg");
    }
    if !may_nest(&mut server.core, words.command(), depth) {
        return;
    }
    match read(server, &name, ScriptPlace::GameData) {
        Ok(script) => {
            if !is_quiet {
                server.core.print_line(format!("execing {name}"));
            }
            server.run_nested(&script, depth + 1);
        }
        Err(reason) => {
            let name = text::escaped(name.as_bytes());
            server.core.print_line(format!("couldn't exec {name}: {reason}"));
        }
    }
}

/// Reads a script.
///
/// # Errors
/// The reason, for the operator.
fn read(server: &mut Server, name: &str, place: ScriptPlace) -> Result<String, String> {
    if !server.console_budget.take_script() {
        return Err(format!("script limit reached ({MAX_SCRIPTS} in a frame)"));
    }
    let bytes = server.maps.assets().read_script(name, MAX_SCRIPT_LEN, place);
    text_of(bytes.map_err(|error| error.to_string())?)
        .ok_or_else(|| "not a text file: it contains a zero byte".to_owned())
}

/// Text of a script: UTF-8, or Latin-1 as older editors write it.
fn text_of(bytes: Vec<u8>) -> Option<String> {
    if bytes.contains(&0) {
        return None;
    }
    let text = String::from_utf8(bytes)
        .unwrap_or_else(|error| error.as_bytes().iter().map(|&byte| char::from(byte)).collect());
    Some(text.trim_start_matches('\u{feff}').to_owned())
}

/// Runs what precedes the first level: the configuration of a mod, the changes that override it, and console lines.
pub(in crate::server) fn run_before_first_level(
    server: &mut Server,
    overrides: &[(SetCommand, String, String)],
    lines: &[String],
) {
    let has_mod = !server.core.settings.text(key::FS_GAME).is_empty();
    if has_mod && run_mod_config(server) {
        for (command, name, value) in overrides {
            server.core.change_setting(*command, name, value);
        }
    }
    for line in lines {
        server.run_line(line);
    }
}

/// Runs the configuration of the mod. Returns whether the mod has one.
fn run_mod_config(server: &mut Server) -> bool {
    let read = server.maps.assets().read_script(MOD_CONFIG, MAX_SCRIPT_LEN, ScriptPlace::ModFolder);
    let script = match read {
        Err(AssetError::Missing { .. }) => return false,
        Err(error) => Err(error.to_string()),
        Ok(bytes) => text_of(bytes).ok_or_else(|| "it contains a zero byte".to_owned()),
    };
    match script {
        Ok(script) => {
            log::info!("running {MOD_CONFIG} of the mod");
            server.console_budget.begin_line();
            server.console_budget.take_script();
            server.run_nested(&script, 1);
        }
        Err(reason) => log::warn!("{MOD_CONFIG} of the mod not run: {reason}"),
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scripts_raise_the_command_limit_of_their_line() {
        let mut budget = ConsoleBudget::default();
        let commands = |budget: &mut ConsoleBudget| {
            (0..).take_while(|_| budget.take_command().is_ok()).count()
        };
        budget.begin_line();
        assert_eq!(commands(&mut budget), 511);
        assert_eq!(budget.take_command(), Err(None));
        budget.begin_line();
        assert!(budget.take_script() && budget.take_script());
        assert_eq!(commands(&mut budget), 8191);
        for _ in 2..MAX_SCRIPTS {
            assert!(budget.take_script());
        }
        assert!(!budget.take_script());
        budget.begin_line();
        assert!(!budget.take_script(), "a line of the same frame");
        budget.begin_frame();
        assert!(budget.take_script());
    }

    #[test]
    fn scripts_are_utf8_or_latin1() {
        assert_eq!(text_of(b"\xef\xbb\xbfset a \xc3\xa9".to_vec()).as_deref(), Some("set a é"));
        assert_eq!(text_of(b"set a \xe9".to_vec()).as_deref(), Some("set a é"));
        assert_eq!(text_of(b"IBSP\0".to_vec()), None);
    }
}
