//! Settings as people and tools read them: the console's answers and `fragd settings`.
//!
//! Invariant: the value of a secret is shown by none of these. Source of the console's formats:
//! ioquake3's console.

use std::fmt::Write as _;

use serde_json::{Value as Json, json as object};

use super::{
    error::quoted,
    nearest::nearest_setting,
    setting::{Choice, Flags, GameProfile, Kind, Setting},
    store::Settings,
    table::{SETTINGS, is_ignored, key, row_named},
};

impl Settings {
    /// A console line as it may be logged: what follows the name of a secret setting is left out.
    #[must_use]
    pub fn without_secrets(&self, line: &str) -> String {
        let lower = line.to_ascii_lowercase();
        let secrets = (0..SETTINGS.len()).filter(|&row| self.row_flags(row).has(Flags::SECRET));
        let behind = |row: usize| {
            let name = SETTINGS[row].name;
            lower.find(&name.to_ascii_lowercase()).map(|at| at + name.len())
        };
        match secrets.filter_map(behind).min() {
            Some(end) if end < line.len() => format!("{} ***", &line[..end]),
            _ => line.to_owned(),
        }
    }

    /// The console's answer to a setting's bare name: lines ended by `\n`, or `None` for an unknown name.
    #[must_use]
    pub fn describe(&self, name: &str) -> Option<String> {
        let Some(row) = row_named(name) else {
            let (name, value, _) =
                self.variables().find(|(own, ..)| own.eq_ignore_ascii_case(name))?;
            return Some(format!("\"{name}\" is:\"{value}^7\"\n"));
        };
        let setting = &SETTINGS[row];
        let name = setting.name;
        if self.row_flags(row).has(Flags::SECRET) {
            let state = if self.row_text(row).is_empty() { "empty" } else { "set" };
            return Some(format!("\"{name}\" is secret, and {state}\n"));
        }
        let (value, default) = (self.row_text(row), setting.column(self.game()).default);
        let mut answer = if value == default {
            format!("\"{name}\" is:\"{value}^7\", the default\n")
        } else {
            format!("\"{name}\" is:\"{value}^7\" default:\"{default}^7\"\n")
        };
        if let Some(waiting) = self.latched(name) {
            let _ = writeln!(answer, "latched: \"{waiting}\"");
        }
        Some(answer)
    }

    /// The console's `cvarlist`: one line each for the settings and variables that `pattern` matches,
    /// then the count of all. Columns: S serverinfo, s systeminfo, U userinfo, R read only, I at start
    /// only, A archived, L latched, C cheat, ? the operator's own.
    #[must_use]
    pub fn cvarlist(&self, pattern: &str) -> String {
        let mut list = String::new();
        for (row, setting) in SETTINGS.iter().enumerate() {
            if name_matches(pattern, setting.name) {
                let columns = columns(self.row_flags(row), false);
                let _ = writeln!(list, "{columns} {} \"{}\"", setting.name, self.public_text(row));
            }
        }
        for (name, value, shown) in self.variables() {
            if name_matches(pattern, name) {
                let flags = if shown { Flags::SERVERINFO } else { Flags::PLAIN };
                let _ = writeln!(list, "{} {name} \"{value}\"", columns(flags, true));
            }
        }
        let total = SETTINGS.len() + self.variables().count();
        let _ = writeln!(list, "\n{total} total cvars\n{total} cvar indexes");
        list
    }

    /// A value for everybody's eyes.
    fn public_text(&self, row: usize) -> &str {
        let text = self.row_text(row);
        if self.row_flags(row).has(Flags::SECRET) && !text.is_empty() { "***" } else { text }
    }
}

fn columns(flags: Flags, own: bool) -> String {
    [
        (flags.has(Flags::SERVERINFO), 'S'),
        (flags.has(Flags::SYSTEMINFO), 's'),
        (false, 'U'),
        (flags.has(Flags::READ_ONLY), 'R'),
        (flags.has(Flags::INIT), 'I'),
        (false, 'A'),
        (flags.has(Flags::LATCHED), 'L'),
        (flags.has(Flags::CHEAT), 'C'),
        (own, '?'),
    ]
    .iter()
    .map(|&(is, letter)| if is { letter } else { ' ' })
    .collect()
}

/// Whether `name` begins as `pattern` says: `*` is any text, `?` any character, case does not count.
#[must_use]
pub fn name_matches(pattern: &str, name: &str) -> bool {
    let (pattern, name) = (pattern.as_bytes(), name.as_bytes());
    let (mut at, mut read) = (0, 0);
    // Where to go on when the text after the last star does not fit: the star, and what it swallowed.
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
        } else if let Some((star_at, swallowed)) =
            star.filter(|&(_, swallowed)| swallowed < name.len())
        {
            star = Some((star_at, swallowed + 1));
            at = star_at + 1;
            read = swallowed + 1;
        } else {
            return false;
        }
    }
    true
}

/// The listing of `fragd settings` for people: everything, or one setting.
///
/// # Errors
/// A sentence when there is no such setting.
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
        return Ok(text);
    };
    match row_named(name) {
        Some(row) => Ok(entry(settings, row, "")),
        None if is_ignored(name) => {
            Ok(format!("{name}\n    Accepted and ignored: it means nothing to this server.\n"))
        }
        None => Err(no_such(name)),
    }
}

/// The listing of `fragd settings --json`: an array of objects, or one object.
///
/// # Errors
/// A sentence when there is no such setting.
pub fn json(settings: &Settings, name: Option<&str>) -> Result<Json, String> {
    match name {
        None => Ok((0..SETTINGS.len()).map(|row| json_entry(settings, row)).collect()),
        Some(name) => match row_named(name) {
            Some(row) => Ok(json_entry(settings, row)),
            None if is_ignored(name) => Ok(object!({ "name": name, "ignored": true })),
            None => Err(no_such(name)),
        },
    }
}

fn no_such(name: &str) -> String {
    let shown = quoted(name);
    match nearest_setting(name) {
        Some(near) => format!("no setting is named {shown}; did you mean {near}?"),
        None => format!("no setting is named {shown}; fragd settings lists them all"),
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
        written(&setting.kind, settings.public_text(row)),
        setting.help,
        facts.join("; "),
    )
}

/// The default in the game that is not played, where it is another one.
pub(super) fn other_default(setting: &Setting, game: GameProfile) -> Option<String> {
    if setting.name == key::GAME.setting().name {
        return None;
    }
    let ours = setting.column(game).default;
    let other = GameProfile::ALL.iter().find(|&&other| setting.column(other).default != ours)?;
    let default = written(&setting.kind, setting.column(*other).default);
    Some(format!("default in {other}: {default}"))
}

/// A value as the config file writes it.
pub(super) fn written(kind: &Kind, text: &str) -> String {
    match kind {
        Kind::Flag | Kind::Int { .. } | Kind::IntOrOff { .. } | Kind::Float { .. } => {
            text.to_owned()
        }
        Kind::Text { .. }
        | Kind::Name { .. }
        | Kind::Ipv4
        | Kind::Ipv6
        | Kind::Networks
        | Kind::Choice(_) => format!("\"{}\"", text.replace('\\', "\\\\")),
    }
}

fn json_entry(settings: &Settings, row: usize) -> Json {
    let setting = &SETTINGS[row];
    let number = |text: &str| text.parse::<serde_json::Number>().map_or(Json::Null, Json::Number);
    let typed = |text: &str| match setting.kind {
        Kind::Flag => Json::Bool(text == "1"),
        Kind::Int { .. } | Kind::IntOrOff { .. } | Kind::Float { .. } => number(text),
        Kind::Text { .. }
        | Kind::Name { .. }
        | Kind::Ipv4
        | Kind::Ipv6
        | Kind::Networks
        | Kind::Choice(_) => Json::from(text),
    };
    let flags = settings.row_flags(row);
    let value = if flags.has(Flags::SECRET) { Json::Null } else { typed(settings.row_text(row)) };
    object!({
        "name": setting.name,
        "group": setting.group.name,
        "value": value,
        "default": typed(setting.column(settings.game()).default),
        "takes": setting.kind.to_string(),
        "flags": flags.words().collect::<Vec<_>>(),
        "help": setting.help,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bare_name_is_answered_as_tools_expect() {
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
        assert_eq!(settings.describe("nobody"), None);
    }

    #[test]
    fn secrets_are_left_out_of_lines() {
        let settings = Settings::default();
        for (line, shown) in [
            ("status", "status"),
            ("set rconPassword hunter22", "set rconPassword ***"),
            ("set RCONPASSWORD \"a b\"; status", "set RCONPASSWORD ***"),
            ("echo é;sv_privatePassword x;set rconPassword y", "echo é;sv_privatePassword ***"),
            ("rconPassword", "rconPassword"),
        ] {
            assert_eq!(settings.without_secrets(line), shown);
        }
    }

    #[test]
    fn secrets_are_shown_nowhere() {
        let mut settings = Settings::default();
        for (setting, word) in SETTINGS.iter().zip(0..) {
            if setting.column(settings.game()).flags.has(Flags::SECRET) {
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
    fn cvarlist_has_its_nine_columns() {
        let mut settings = Settings::default();
        settings
            .set_with(
                super::super::SetCommand::Sets,
                super::super::Writer::Operator,
                "Admin",
                "Kim",
            )
            .unwrap();
        let list = settings.cvarlist("");
        for line in [
            "S     L   sv_maxclients \"8\"",
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
        assert_eq!(settings.cvarlist("admin").lines().count(), 4);
    }

    #[test]
    fn patterns_match_as_globs_do() {
        for (pattern, name, matches) in [
            ("", "x", true),
            ("sv_", "sv_fps", true),
            ("SV_*S", "sv_fps", true),
            ("sv_?ps", "sv_fps", true),
            ("fps", "sv_fps", false),
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
    fn one_setting_is_listed_alone() {
        let settings = Settings::default();
        let text = listing(&settings, Some("PMOVE_MSEC")).unwrap();
        assert_eq!(
            text,
            "pmove_msec = 11\n    Milliseconds of a fixed movement step.\n    (takes a whole number from 8 to 33; default in baseq3: 8; systeminfo)\n"
        );
        let object = json(&settings, Some("sv_fps")).unwrap();
        assert_eq!(object["value"], 20);
        assert_eq!(object["takes"], "a whole number from 10 to 125");
        assert!(listing(&settings, Some("vm_game")).unwrap().contains("Accepted and ignored"));
        assert_eq!(
            listing(&settings, Some("sv_hostnam")),
            Err("no setting is named \"sv_hostnam\"; did you mean sv_hostname?".to_owned())
        );
    }
}
