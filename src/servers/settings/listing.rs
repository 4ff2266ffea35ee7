//! Listings of settings: console replies and `fragd settings`.
//!
//! Invariant: no listing shows the value of a secret. Source of the console formats: ioquake3.

use std::fmt::Write as _;

use serde_json::{Value as Json, json as object};

use super::{
    ignored::{IGNORED, Ignored, ignored_named},
    secrets::{MASK, is_secret_name},
    store::Settings,
    suggestion::nearest_setting,
    table::{SETTINGS, key, row_named},
};
use crate::cvar::{Choice, Flags, GameFolder, Setting, SettingKind, quoted};

impl Settings {
    /// Console reply to the bare name of a setting: lines ended by `\n`, or `None` for an unknown name.
    #[must_use]
    pub fn describe(&self, name: &str) -> Option<String> {
        let Some(row) = row_named(name) else {
            let (name, value, _) =
                self.variables().find(|(own, ..)| own.eq_ignore_ascii_case(name))?;
            let value = public_value(name, value);
            let mut answer = format!("\"{name}\" is:\"{value}^7\"\n");
            if let Some(latched) = self.latched(name) {
                let _ = writeln!(answer, "latched: \"{latched}\"");
            }
            return Some(answer);
        };
        let setting = &SETTINGS[row];
        let name = setting.name;
        if self.row_flags(row).has(Flags::SECRET) {
            let state = if self.row_text(row).is_empty() { "empty" } else { "set" };
            return Some(format!("\"{name}\" is secret, and {state}\n"));
        }
        let (value, default) = (self.row_text(row), setting.in_game(self.game()).default);
        let mut answer = if value == default {
            format!("\"{name}\" is:\"{value}^7\", the default\n")
        } else {
            format!("\"{name}\" is:\"{value}^7\" default:\"{default}^7\"\n")
        };
        if row == key::VM_GAME.row() && !self.is_chosen(key::VM_GAME) {
            answer.push_str("not set: the folder of fs_game selects it with the next map\n");
        }
        if let Some(latched) = self.latched(name) {
            let _ = writeln!(answer, "latched: \"{latched}\"");
        }
        Some(answer)
    }

    /// Console reply to `cvarlist`: one line per setting and variable that `pattern` matches, then the
    /// total. Columns: S serverinfo, s systeminfo, U userinfo, R read only, I startup only, A archived,
    /// L latched, C cheat, ? variable.
    #[must_use]
    pub fn cvarlist(&self, pattern: &str) -> String {
        let mut list = String::new();
        for (row, setting) in SETTINGS.iter().enumerate() {
            if name_matches(pattern, setting.name) {
                let columns = columns(self.row_flags(row), false);
                let _ = writeln!(list, "{columns} {} \"{}\"", setting.name, public_text(self, row));
            }
        }
        for (name, value, flags) in self.variables() {
            if name_matches(pattern, name) {
                let value = public_value(name, value);
                let _ = writeln!(list, "{} {name} \"{value}\"", columns(flags, true));
            }
        }
        let total = SETTINGS.len() + self.variables().count();
        let _ = writeln!(list, "\n{total} total cvars\n{total} cvar indexes");
        list
    }
}

/// A value of the table for display; secrets are masked.
fn public_text(settings: &Settings, row: usize) -> &str {
    let text = settings.row_text(row);
    if settings.row_flags(row).has(Flags::SECRET) && !text.is_empty() { MASK } else { text }
}

/// The value of a variable for display; passwords of mods are masked.
fn public_value<'a>(name: &str, value: &'a str) -> &'a str {
    if !value.is_empty() && is_secret_name(name) { MASK } else { value }
}

fn columns(flags: Flags, own: bool) -> String {
    [
        (flags.has(Flags::SERVERINFO), 'S'),
        (flags.has(Flags::SYSTEMINFO), 's'),
        (flags.has(Flags::USERINFO), 'U'),
        (flags.has(Flags::READ_ONLY), 'R'),
        (flags.has(Flags::INIT.and(Flags::EARLY)), 'I'),
        (flags.has(Flags::ARCHIVE), 'A'),
        (flags.has(Flags::LATCHED), 'L'),
        (flags.has(Flags::CHEAT), 'C'),
        (own, '?'),
    ]
    .iter()
    .map(|&(is, letter)| if is { letter } else { ' ' })
    .collect()
}

/// Whether `name` contains `pattern`, case-insensitive. With a `*` (any text) or `?` (any character), whether a prefix
/// of `name` matches.
#[must_use]
pub fn name_matches(pattern: &str, name: &str) -> bool {
    let (pattern, name) = (pattern.as_bytes(), name.as_bytes());
    if !pattern.is_empty() && !pattern.iter().any(|byte| b"*?".contains(byte)) {
        return name.windows(pattern.len()).any(|part| part.eq_ignore_ascii_case(pattern));
    }
    let (mut at, mut read) = (0, 0);
    // Backtracking point: position of the last star, and end of the text that it matched.
    let mut star: Option<(usize, usize)> = None;
    while at < pattern.len() {
        if pattern[at] == b'*' {
            star = Some((at, read));
            at += 1;
        } else if name
            .get(read)
            .is_some_and(|byte| pattern[at] == b'?' || pattern[at].eq_ignore_ascii_case(byte))
        {
            at += 1;
            read += 1;
        } else if let Some((star_at, matched)) = star.filter(|&(_, matched)| matched < name.len()) {
            star = Some((star_at, matched + 1));
            at = star_at + 1;
            read = matched + 1;
        } else {
            return false;
        }
    }
    true
}

/// Text listing of `fragd settings`: all settings, one, or those that a part of a name matches.
///
/// # Errors
/// An error message for an unknown name.
pub fn listing(settings: &Settings, name: Option<&str>) -> Result<String, String> {
    let Some(name) = name else {
        let mut text = String::new();
        let mut title = "";
        for (row, setting) in SETTINGS.iter().enumerate() {
            if setting.group.title != title {
                title = setting.group.title;
                let gap = if row == 0 { "" } else { "\n" };
                let _ = writeln!(text, "{gap}{title}\n");
            }
            text.push_str(&entry(settings, row, "  "));
        }
        text.push_str("\nAccepted and ignored\n\n");
        text.extend(IGNORED.iter().map(|row| ignored_entry(row, "  ")));
        return Ok(text);
    };
    if let Some(row) = row_named(name) {
        return Ok(entry(settings, row, ""));
    }
    if let Some(row) = ignored_named(name) {
        return Ok(ignored_entry(row, ""));
    }
    let rows = (0..SETTINGS.len()).filter(|&row| name_matches(name, SETTINGS[row].name));
    let ignored = IGNORED.iter().filter(|row| name_matches(name, row.name));
    let text: String = rows
        .map(|row| entry(settings, row, ""))
        .chain(ignored.map(|row| ignored_entry(row, "")))
        .collect();
    if text.is_empty() { Err(unknown(name)) } else { Ok(text) }
}

/// JSON listing of `fragd settings --json`: an array of objects, or one object. A part of a name gives an array.
///
/// # Errors
/// An error message for an unknown name.
pub fn json(settings: &Settings, name: Option<&str>) -> Result<Json, String> {
    let of_ignored =
        |row: &Ignored| object!({ "name": row.name, "ignored": true, "reason": row.reason });
    let matching = |name: &str| -> Json {
        let rows = (0..SETTINGS.len()).filter(|&row| name_matches(name, SETTINGS[row].name));
        let ignored = IGNORED.iter().filter(|row| name_matches(name, row.name)).map(of_ignored);
        rows.map(|row| json_entry(settings, row)).chain(ignored).collect()
    };
    let Some(name) = name else { return Ok(matching("")) };
    if let Some(row) = row_named(name) {
        return Ok(json_entry(settings, row));
    }
    if let Some(row) = ignored_named(name) {
        return Ok(of_ignored(row));
    }
    match matching(name) {
        Json::Array(found) if found.is_empty() => Err(unknown(name)),
        found => Ok(found),
    }
}

fn ignored_entry(row: &Ignored, margin: &str) -> String {
    let name = row.name;
    format!("{margin}{name}\n{margin}    Accepted and ignored: {}.\n", row.reason)
}

fn unknown(name: &str) -> String {
    let shown = quoted(name);
    match nearest_setting(name) {
        Some(near) => format!("unknown setting {shown}; did you mean {near}?"),
        None => format!("unknown setting {shown}; see fragd settings"),
    }
}

fn entry(settings: &Settings, row: usize, margin: &str) -> String {
    let setting = &SETTINGS[row];
    let mut facts = vec![format!("takes {}", setting.kind)];
    facts.extend(other_default(setting, settings.game()));
    facts.extend(settings.row_flags(row).words().map(str::to_owned));
    format!(
        "{margin}{} = {}\n{margin}    {}\n{margin}    ({})\n",
        setting.name,
        written(&setting.kind, public_text(settings, row)),
        setting.help,
        facts.join("; "),
    )
}

/// The default in the other game, if it differs.
pub(super) fn other_default(setting: &Setting, game: GameFolder) -> Option<String> {
    if setting.name == key::GAME.setting().name {
        return None;
    }
    let ours = setting.in_game(game).default;
    let other = GameFolder::ALL.iter().find(|&&other| setting.in_game(other).default != ours)?;
    let default = written(&setting.kind, setting.in_game(*other).default);
    Some(format!("default in {other}: {default}"))
}

/// A value in the notation of the config file.
pub(super) fn written(kind: &SettingKind, text: &str) -> String {
    if kind.is_number() { text.to_owned() } else { format!("\"{}\"", text.replace('\\', "\\\\")) }
}

fn json_entry(settings: &Settings, row: usize) -> Json {
    let setting = &SETTINGS[row];
    let number = |text: &str| text.parse::<serde_json::Number>().map_or(Json::Null, Json::Number);
    let typed = |text: &str| match setting.kind {
        SettingKind::Flag => Json::Bool(text == "1"),
        _ if setting.kind.is_number() => number(text),
        _ => Json::from(text),
    };
    let flags = settings.row_flags(row);
    let value = if flags.has(Flags::SECRET) { Json::Null } else { typed(settings.row_text(row)) };
    object!({
        "name": setting.name,
        "group": setting.group.name,
        "value": value,
        "default": typed(setting.in_game(settings.game()).default),
        "takes": setting.kind.to_string(),
        "flags": flags.words().collect::<Vec<_>>(),
        "help": setting.help,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::masked_line;

    #[test]
    fn bare_name_prints_value_and_default() {
        let mut settings = Settings::default();
        settings.start().unwrap();
        let described = |settings: &Settings, name| settings.describe(name).unwrap_or_default();
        assert_eq!(described(&settings, "SV_FPS"), "\"sv_fps\" is:\"20^7\", the default\n");
        settings.set("sv_hostname", "x").unwrap();
        assert_eq!(
            described(&settings, "sv_hostname"),
            "\"sv_hostname\" is:\"x^7\" default:\"noname^7\"\n"
        );
        settings.set("g_gametype", "3").unwrap();
        assert_eq!(
            described(&settings, "g_gametype"),
            "\"g_gametype\" is:\"0^7\", the default\nlatched: \"3\"\n"
        );
        settings.set("mine", "m").unwrap();
        assert_eq!(described(&settings, "Mine"), "\"mine\" is:\"m^7\"\n");
        assert_eq!(settings.describe("unknown"), None);
    }

    #[test]
    fn logged_lines_hide_secrets() {
        for (line, shown) in [
            ("status", "status"),
            ("set rconPassword hunter22", "set rconPassword ***"),
            ("set RCONPASSWORD \"a b\"; status", "set RCONPASSWORD ***"),
            ("echo é;sv_privatePassword x;set rconPassword y", "echo é;sv_privatePassword ***"),
            ("rconPassword", "rconPassword"),
        ] {
            assert_eq!(masked_line(line), shown);
        }
    }

    #[test]
    fn listings_hide_secrets() {
        let mut settings = Settings::default();
        for (setting, word) in SETTINGS.iter().zip(0..) {
            if setting.in_game(settings.game()).flags.has(Flags::SECRET) {
                settings.set(setting.name, &format!("hunter2hunter2{word}")).unwrap();
            }
        }
        settings.start().unwrap();
        let mut shown = settings.cvarlist("");
        shown += &listing(&settings, None).unwrap();
        shown += &json(&settings, None).unwrap().to_string();
        for setting in SETTINGS {
            shown += &settings.describe(setting.name).unwrap();
        }
        assert!(!shown.contains("hunter2"));
        assert!(shown.contains("rconPassword \"***\""));
    }

    #[test]
    fn cvarlist_has_nine_columns() {
        let mut settings = Settings::default();
        settings
            .set_with(
                super::super::SetCommand::Sets,
                super::super::ChangeSource::Operator,
                "Admin",
                "Kim",
            )
            .unwrap();
        let list = settings.cvarlist("");
        for line in [
            "S    AL   sv_maxclients \"8\"",
            " s        sv_fps \"20\"",
            "S  R      mapname \"nomap\"",
            " s     C  timescale",
            "S   I     com_gamename \"Quake3Arena\"",
            "S       ? Admin \"Kim\"",
        ] {
            let line = line.replace("timescale", "timescale \"1\"");
            assert!(list.lines().any(|known| known == line), "{line:?} in\n{list}");
        }
        let total = SETTINGS.len() + 1;
        assert!(list.ends_with(&format!("\n\n{total} total cvars\n{total} cvar indexes\n")));
        assert_eq!(settings.cvarlist("*fraglimit").lines().count(), 6);
        assert_eq!(settings.cvarlist("admin").lines().count(), 5);
    }

    #[test]
    fn patterns_match_as_globs() {
        for (pattern, name, matches) in [
            ("", "x", true),
            ("sv_", "sv_fps", true),
            ("SV_*S", "sv_fps", true),
            ("sv_?ps", "sv_fps", true),
            ("fps", "sv_fps", true),
            ("?fps", "sv_fps", false),
            ("*fps", "sv_fps", true),
            ("*f*s", "sv_fps", true),
            ("sv_fpss", "sv_fps", false),
            ("sv_fps?", "sv_fps", false),
            ("sv_fps*", "sv_fps", true),
            ("*ab", "aab", true),
            ("*x*", "sv_fps", false),
        ] {
            assert_eq!(name_matches(pattern, name), matches, "{pattern:?} {name:?}");
        }
        // Many stars take no more than pattern times name.
        assert!(!name_matches(&"*a".repeat(500), &"a".repeat(400)));
    }

    #[test]
    fn single_setting_is_listed() {
        let settings = Settings::default();
        let text = listing(&settings, Some("PMOVE_MSEC")).unwrap();
        assert_eq!(
            text,
            "pmove_msec = 11\n    Fixed pmove step in ms.\n    (takes an integer from 8 to 33; default in baseq3: 8; systeminfo)\n"
        );
        let object = json(&settings, Some("sv_fps")).unwrap();
        assert_eq!(object["value"], 20);
        assert_eq!(object["takes"], "an integer from 10 to 125");
        assert!(listing(&settings, Some("vm_cgame")).unwrap().contains("Accepted and ignored"));
        assert_eq!(
            listing(&settings, Some("sv_hostnaem")),
            Err("unknown setting \"sv_hostnaem\"; did you mean sv_hostname?".to_owned())
        );
    }
}
