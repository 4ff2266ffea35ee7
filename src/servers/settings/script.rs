//! Settings of a console script, without its commands: for checks and reloads.
//!
//! Source: config files of Quake III servers.

use super::{
    change::{ChangeSource, SetCommand},
    store::Settings,
};
use crate::model::{CommandArgs, ConsoleCommands};

/// Findings of a script.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ScriptFindings {
    /// Number of settings and variables that were set.
    pub set: u32,
    /// Refused settings, as `file:line: error`.
    pub errors: Vec<String>,
    /// Names of the refused settings.
    pub refused: Vec<String>,
    /// Values that were read in another form, and names near a setting, as `file:line: note`.
    pub notes: Vec<String>,
}

/// Maximum number of errors, and of notes, of a script.
const MAX_FINDINGS: usize = 64;

/// Sets what a script sets. Its other commands are passed to `command` in order, with their lines, and not run; it returns
/// false for the name of a setting.
///
/// `name` only names the script in findings.
pub fn read_script(
    settings: &mut Settings,
    name: &str,
    text: &str,
    mut command: impl FnMut(&mut Settings, u32, &CommandArgs) -> bool,
) -> ScriptFindings {
    let mut findings = ScriptFindings::default();
    let mut commands = ConsoleCommands::new(text);
    let (mut line, mut seen) = (1_u32, 0);
    loop {
        let begin = text.len() - commands.rest().len();
        let Some(next) = commands.next() else { break };
        // The line of the command, behind separators and empty lines.
        let at = begin + (next.len() - next.trim_start().len());
        line += text[seen..at].bytes().filter(|&byte| byte == b'\n').count() as u32;
        seen = at;
        let words = CommandArgs::parse(next);
        let first = words.command().trim_start_matches(['/', '\\']);
        let (set, setting, value) = match SetCommand::named(first) {
            Some(set) if words.len() > 2 => (set, words.get(1), words.rest(2)),
            Some(_) => continue,
            None if words.is_empty() || command(settings, line, &words) || words.len() < 2 => {
                continue;
            }
            None => (SetCommand::Set, first, words.rest(1)),
        };
        settings.set_place(Some(format!("{name}:{line}")));
        match settings.set_with(set, ChangeSource::Script, setting, &value) {
            Ok(_) => findings.set += 1,
            Err(error) if findings.errors.len() < MAX_FINDINGS => {
                findings.errors.push(format!("{name}:{line}: {error}"));
                findings.refused.push(setting.to_owned());
            }
            Err(_) => {}
        }
        settings.set_place(None);
        while let Some(note) = settings.poll_note() {
            if findings.notes.len() < MAX_FINDINGS {
                findings.notes.push(format!("{name}:{line}: {note}"));
            }
        }
    }
    if let Some(at) = commands.open_comment() {
        let line = 1 + text[..at].bytes().filter(|&byte| byte == b'\n').count();
        findings.notes.push(format!(
            "{name}:{line}: comment /* not closed: the rest is ignored (expected */)"
        ));
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn script_sets_settings_and_names_lines_of_commands() {
        let text = "// head\nset sv_hostname \"a, b\"\n\ntimelimit 15; map q3dm1\n/* x\n*/ seta sv_fps fast\n\
                    /sets Admin me\nexec more\nsv_fps\nset d1 \"map a\"\nset sv_hostnam x\nset sv_fps 300";
        let mut settings = Settings::default();
        let mut commands = Vec::new();
        let findings = read_script(&mut settings, "s.cfg", text, |settings, line, words| {
            let name = words.command();
            if name != "map" && settings.get(name).is_some() {
                return false;
            }
            commands.push((line, name.to_owned()));
            true
        });
        assert_eq!(commands, [(4, "map".to_owned()), (8, "exec".to_owned())]);
        assert_eq!(settings.get("sv_hostname"), Some("a, b"));
        assert_eq!(settings.get("timelimit"), Some("15"));
        assert_eq!(settings.get("d1"), Some("map a"));
        assert_eq!(settings.get("sv_fps"), Some("125"), "read as scripts are");
        let notes = findings.notes.join("\n");
        assert!(notes.contains("s.cfg:11: ") && notes.contains("sv_hostname"), "{notes}");
        assert!(notes.contains("s.cfg:12: sv_fps: \"300\" read as 125"), "{notes}");
        let errors = findings.errors.join("\n");
        assert!(
            errors.starts_with("s.cfg:5: sv_fps: ") || notes.contains("s.cfg:5: sv_fps"),
            "{errors}"
        );
        assert_eq!(findings.set, 7 - findings.errors.len() as u32);
    }

    #[test]
    fn refused_settings_and_open_comments_are_named() {
        let mut settings = Settings::default();
        settings.start().expect("defaults");
        let text = "set timelimit abc\nset net_port 5\nset fraglimit 9\n/* set fraglimit 8";
        let findings = read_script(&mut settings, "s.cfg", text, |_, _, _| false);
        assert_eq!(findings.refused, ["timelimit", "net_port"]);
        assert!(findings.errors[1].starts_with("s.cfg:2: net_port is write protected"));
        assert_eq!(
            findings.notes,
            ["s.cfg:4: comment /* not closed: the rest is ignored (expected */)"]
        );
        assert_eq!(settings.get("fraglimit"), Some("9"));
    }

    #[test]
    fn any_text_is_read() {
        for text in [
            "",
            ";;;",
            "\"",
            "/*",
            "set",
            "set a",
            "//",
            "\n\n\n",
            "set \" \" x",
            "a\n\"b\nset é é",
        ] {
            let mut settings = Settings::default();
            read_script(&mut settings, "s", text, |_, _, words| words.len() > 3);
        }
    }
}
