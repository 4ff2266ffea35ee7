//! The text of `config/fragd.toml`: every setting explained, and commented out at its default.

use std::fmt::Write as _;

use super::{
    setting::{Flags, GameProfile},
    show::{other_default, written},
    table::SETTINGS,
};

const HEAD: &str = "\
# The settings of a fragd server, each with its default. Take away a leading # to change one.
#
#     fragd --config fragd.toml
#
# Text stands in quotes, numbers do not. What is given on the command line (fragd +set NAME VALUE)
# wins over this file. A name that is misspelt or a value that cannot be is an error, and nothing
# starts. `fragd settings NAME` explains one setting.
";

const TAIL: &str = "
# ---- Your own keys ----
#
# Lines in [serverinfo] are shown to server browsers beside the settings, for instance:
#
#     [serverinfo]
#     Admin = \"Kim <kim@example.org>\"
#
# Lines in [variables] are kept for the console and the game and shown to nobody.
";

/// Longest line of prose, in characters.
const WIDTH: usize = 100;

/// The config file with every setting that an operator may change, at the defaults of the game that
/// is played when nobody chooses.
#[must_use]
pub fn config_template() -> String {
    let game = GameProfile::BaseOa;
    let mut text = HEAD.to_owned();
    let mut title = "";
    for setting in SETTINGS {
        let column = setting.column(game);
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

/// Appends prose as comment lines.
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
