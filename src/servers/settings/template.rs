//! Config template, the text of `config/fragd.toml`: all settings with help, commented out.

use std::fmt::Write as _;

use super::{
    listing::{other_default, written},
    table::SETTINGS,
};
use crate::cvar::{Flags, GameFolder};

const HEAD: &str = "\
# Settings of a fragd server with their defaults. Remove the leading # to change a setting.
#
#     fragd --config fragd.toml
#
# Text needs quotes, numbers do not. The command line (fragd +set NAME VALUE) overrides this file.
# Unknown names and invalid values are errors; the server does not start.
# `fragd settings NAME` explains one setting.
";

const TAIL: &str = "
# ---- Custom keys ----
#
# Keys in [serverinfo] are shown in server browsers, e.g.:
#
#     [serverinfo]
#     Admin = \"Kim <kim@example.org>\"
#
# Keys in [variables] are stored for the console and the game, and not shown.
";

/// Maximum line length of prose, in characters.
const WIDTH: usize = 100;

/// The config template: all settings that an operator may change, at the defaults of OpenArena.
#[must_use]
pub fn config_template() -> String {
    let game = GameFolder::BaseOa;
    let mut text = HEAD.to_owned();
    let mut title = "";
    for setting in SETTINGS {
        let column = setting.in_game(game);
        if column.flags.has(Flags::READ_ONLY) {
            continue;
        }
        if setting.group.title != title {
            title = setting.group.title;
            let _ = writeln!(text, "\n# ---- {title} ----");
        }
        let mut facts = vec![format!("Takes {}", setting.kind)];
        facts.extend(other_default(setting, game));
        facts.extend(column.flags.words().map(str::to_owned));
        text.push('\n');
        wrap(&mut text, setting.help);
        wrap(&mut text, &format!("({}.)", facts.join("; ")));
        let _ = writeln!(text, "#{} = {}", setting.name, written(&setting.kind, column.default));
    }
    text + TAIL
}

/// Appends prose as wrapped comment lines.
fn wrap(text: &mut String, prose: &str) {
    let mut line = "#".to_owned();
    for word in prose.split(' ') {
        if line.chars().count() + 1 + word.chars().count() > WIDTH {
            let _ = writeln!(text, "{line}");
            line = "#".to_owned();
        }
        line.push(' ');
        line.push_str(word);
    }
    let _ = writeln!(text, "{line}");
}
