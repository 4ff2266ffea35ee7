//! Start of a server: configuration of a mod, command line and scripts, first level.
//!
//! Commands run in order around the first level. A `map` chooses it, and the first command that needs a level loads it, or
//! the end of the command line, so that a level that is replaced at once is not loaded. After a `map` in a script, latched
//! settings wait for the next level, as behind a level that runs. After a `map` of the command line they still apply.
//! Before any `map`, commands that need a level wait for the first frame.
//! Source: command lines and config files of Quake III servers. Engine names: `Com_AddStartupCommands`, `autoexec.cfg`.

use super::{
    admin_file, execute, password_file,
    problems::{Cause, counted},
    rotation, scripts,
    start_state::FirstLevel,
    table::COMMANDS,
    texts::{OpenText, ScriptCounts, command_name},
};
use crate::{
    model::{
        CommandArgs,
        assets::{AssetError, ScriptPlace},
        text,
    },
    node::Node as _,
    server::{
        current_level::{NEXT, is_map_name},
        level,
        start::announce_http,
        state::Server,
    },
    settings::{Author, SetCommand, check_first_level, ignored_values, key},
};

/// Script of a mod that runs before the first level.
const MOD_CONFIG: &str = "autoexec.cfg";
/// Runs the start: the configuration of a mod, the changes that override it, and console lines; loads the first level.
pub(in crate::server) fn run(
    server: &mut Server,
    overrides: &[(SetCommand, String, String)],
    lines: &[String],
) {
    server.core.console.begin_start();
    let step = rotation::saved_step(server);
    server.startup.is_command_line = true;
    let has_mod = !server.core.settings.text(key::FS_GAME).is_empty();
    if has_mod && run_mod_config(server) {
        for (command, name, value) in overrides {
            execute::change_setting(server, *command, name, value);
        }
    } else if let Some(script) = server.maps.assets().find(MOD_CONFIG) {
        let place = script.place;
        log::info!(
            "{MOD_CONFIG} of {place} not run: only a file in the mod's folder is (+exec {MOD_CONFIG} runs it)"
        );
    }
    let stack =
        lines.iter().rev().map(|line| OpenText::new(line, Author::Operator, 0, None)).collect();
    server.texts.exchange(stack);
    execute::run_texts(server);
    let map = key::MAP.setting().name;
    let is_map_set = overrides.iter().any(|(_, name, _)| name.eq_ignore_ascii_case(map));
    if let Some(line) =
        step.filter(|_| !is_map_set).and_then(|step| rotation::resume(server, &step))
    {
        server.texts.exchange(vec![OpenText::new(&line, Author::Operator, 0, None)]);
        execute::run_texts(server);
    }
    rotation::keep_step(server);
    server.startup.is_command_line = false;
    if has_no_level(server) && !server.startup.is_over() {
        begin_first_level(server);
    }
    if !server.startup.is_over() {
        report_hints(server);
        for line in ignored_values(&server.core.settings) {
            server.core.console.warn(line);
        }
        for line in server.core.archive.settings().replaced(&server.core.settings) {
            server.core.console.print(line);
        }
    }
    server.core.console.end_start();
}

/// Whether a command of the start has ended the server, or ends it in the first frame.
#[must_use]
pub fn ends_with_start(server: &Server) -> bool {
    server.is_finished() || server.texts.puts_off("quit")
}

/// Whether the first level has not begun.
pub(super) fn has_no_level(server: &Server) -> bool {
    server.core.level.map.is_empty()
}

/// Runs a command before the first level: it chooses the level, begins it, or waits for the first frame.
pub(super) fn run_before_level(server: &mut Server, command: &str, words: &CommandArgs, depth: u8) {
    let name = command_name(words);
    let is = |known: &str| known.eq_ignore_ascii_case(name);
    if execute::is_refused(server, name) {
        return;
    }
    if is("map") || is("devmap") {
        return choose(server, words.get(1), is("devmap"), depth == 0);
    }
    if !is_known(server, name) {
        return execute::report_unknown(server, name);
    }
    if server.startup.chosen.is_some() {
        begin_first_level(server);
        if !has_no_level(server) {
            execute::run_command(server, words, depth);
        }
    } else if is("wait") {
        execute::report(server, Cause::Wait, "wait skipped: no level has begun");
    } else if !server.texts.put_off(command) {
        let what = format!("too many commands wait for the first level: {name} ignored");
        execute::report(server, Cause::Failed, what);
    }
}

/// Whether a command may be one of the console or of the game.
fn is_known(server: &Server, name: &str) -> bool {
    COMMANDS.iter().any(|row| row.name.eq_ignore_ascii_case(name))
        || server.game.console_commands().iter().any(|row| row.name.eq_ignore_ascii_case(name))
        || server.core.settings.hosts_module()
}

/// Chooses the first level. `is_direct`: by the command line itself.
fn choose(server: &mut Server, map: &str, has_cheats: bool, is_direct: bool) {
    if !is_map_name(map) || !server.maps.can_be_first(map) {
        let suggestion = server.maps.suggestion(map);
        let shown = text::escaped(map.as_bytes());
        let error = match map {
            "" => "map: name missing (expected map <name>)".to_owned(),
            _ => format!("Can't find map maps/{shown}.bsp{suggestion}"),
        };
        let placed = server.core.console.placed(&error);
        if is_direct && server.startup.is_strict {
            return server.startup.fail(placed);
        }
        server.startup.missing_map.get_or_insert(placed);
        return execute::report(server, Cause::Map, error);
    }
    let settings = &mut server.core.settings;
    let origin = server.core.console.placed("");
    let next = FirstLevel { map: map.to_owned(), origin, has_begun: !is_direct };
    let previous = server.startup.chosen.replace(next);
    // The level that this one replaces took latched values and the rotation.
    if previous.is_some_and(|level| level.has_begun) {
        let _ = settings.write(key::NEXTMAP, NEXT);
        settings.apply_latched();
    }
    if !is_direct {
        settings.apply_latched();
    }
    let _ = settings.write(key::SV_CHEATS, i32::from(has_cheats));
}

/// Loads the first level: the chosen one, or that of the setting `map`.
fn begin_first_level(server: &mut Server) {
    let chosen = server.startup.chosen.take();
    if chosen.is_none()
        && let Some(error) = server.startup.missing_map.take()
    {
        server.startup.fail(error);
        if server.startup.is_over() {
            return;
        }
    }
    let checked = check_first_level(&server.core.settings);
    let read = checked.and_then(|()| password_file::read(server));
    if let Err(error) = read.and_then(|()| admin_file::read(server).map(drop)) {
        server.startup.fail(error);
        if server.startup.is_over() {
            return;
        }
    }
    let settings = &mut server.core.settings;
    let is_chosen = chosen.is_some() || settings.is_chosen(key::MAP);
    let first = chosen.unwrap_or_else(|| FirstLevel {
        map: settings.text(key::MAP).to_owned(),
        origin: format!("{}map: ", settings.origin_of(key::MAP)),
        has_begun: false,
    });
    let map = server.maps.first_map(&first.map, is_chosen).to_owned();
    let for_next_level = first.has_begun.then(|| settings.take_latched());
    settings.begin_first_level();
    announce_http(settings);
    report_notes(server);
    level::load_first(server, &map, &first.origin);
    report_notes(server);
    if let Some(latched) = for_next_level {
        server.core.settings.restore_latched(latched);
    }
}

/// Reports notes of settings, which name their places.
pub(in crate::server) fn report_notes(server: &mut Server) {
    while let Some(note) = server.core.settings.take_note() {
        if note.undeclared.is_some() && server.core.console.is_start() {
            server.startup.add_hint(None, note);
        } else {
            server.core.console.warn(note.text);
        }
    }
}

/// Ends a text. The counts of a script of the start are reported.
pub(super) fn end_text(server: &mut Server, ended: &OpenText) {
    let Some(script) = ended.script.as_ref().filter(|script| script.is_of_start) else { return };
    let ScriptCounts { set, variables, problems } = script.counts;
    let lines = counted(ended.lines(), ["line", "lines"]);
    let set = counted(set as usize, ["setting set", "settings set"]);
    let mut summary = format!("{}: {lines}, {set}", script.name);
    let words = ["stored as a variable", "stored as variables"];
    let variables = (variables > 0).then(|| counted(variables as usize, words));
    for part in variables.into_iter().chain(problems.parts()) {
        summary.push_str(", ");
        summary.push_str(&part);
    }
    server.core.console.clear_place();
    server.core.console.print(summary);
}

/// Reports names near a setting that no `vstr` runs.
fn report_hints(server: &mut Server) {
    let hints = std::mem::take(&mut server.startup.hints);
    if hints.is_empty() {
        return;
    }
    let settings = &server.core.settings;
    let values = settings.variables().map(|(_, value, _)| value);
    for value in values.chain([settings.text(key::NEXTMAP)]) {
        let words = CommandArgs::parse(&value.replace(';', " "));
        let pairs = words.arguments().iter().zip(words.arguments().iter().skip(1));
        let first = (words.command(), words.get(1));
        let pairs = pairs.map(|(a, b)| (a.as_str(), b.as_str())).chain([first]);
        for (_, name) in pairs.filter(|(command, _)| command.eq_ignore_ascii_case("vstr")) {
            server.startup.used.insert(name.to_ascii_lowercase());
        }
    }
    for (place, note) in hints {
        let name = note.undeclared.unwrap_or_default().to_ascii_lowercase();
        if !server.startup.used.contains(&name) {
            server.core.console.set_place(place);
            let text = server.core.console.placed(&note.text);
            server.core.console.warn(text);
        }
    }
    server.core.console.clear_place();
    let left_out = std::mem::take(&mut server.startup.hints_left_out);
    if left_out > 0 {
        server.core.console.warn(format!("unknown settings (+{left_out} suppressed)"));
    }
}

/// Runs the configuration of the mod. Returns whether the mod has one.
fn run_mod_config(server: &mut Server) -> bool {
    let read = |place| scripts::read_text(server, MOD_CONFIG, place);
    let (author, read) = match read(ScriptPlace::OwnModFolder) {
        Err(AssetError::Missing { .. }) => (Author::Mod, read(ScriptPlace::ModFolder)),
        own => (Author::Operator, own),
    };
    let script = match read {
        Err(AssetError::Missing { .. }) => return false,
        Err(error) => Err(error.to_string()),
        Ok(text) => text,
    };
    match script {
        Ok(script) => {
            log::info!("running {MOD_CONFIG} of the mod");
            server.console_budget.begin_script_line();
            scripts::open(server, MOD_CONFIG, &script, (author, 1));
            execute::run_texts(server);
        }
        Err(reason) => log::warn!("{MOD_CONFIG} of the mod not run: {reason}"),
    }
    true
}
