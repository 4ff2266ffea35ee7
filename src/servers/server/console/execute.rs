//! Execution of console texts: their commands in order, settings, and levels.
//!
//! Source: console of Quake III servers. Engine names: `Cbuf_Execute`, `Cmd_ExecuteString`.

use super::{
    archive, audit, authority,
    changes::{ChangeOutcome, SettingChanges},
    problems::Cause,
    scripts, startup,
    table::COMMANDS,
    texts::{TextStep, command_name},
};
use crate::{
    model::CommandArgs,
    server::{core::Core, level, state::Server},
    serving::connection::Service as _,
    settings::{
        ChangeSource, SETTINGS, SetCommand, ignored_named, ignored_value, is_ignored, nearest_of,
    },
};

/// Maximum length of a command, in bytes: twice that of a value.
const MAX_COMMAND_LEN: usize = 2048;
/// Commands in scripts of other servers that have no effect here, with the reasons.
pub(super) const WITHOUT_EFFECT: [(&str, &str); 5] = [
    ("addbot", "the rules of the program have no bots; a game module adds them"),
    ("bind", "keys are those of clients"),
    (
        "killserver",
        "a server always has a level; kickall disconnects all clients, quit ends the server",
    ),
    ("unbind", "keys are those of clients"),
    ("unbindall", "keys are those of clients"),
];

/// Runs the open texts to their ends.
pub(super) fn run_texts(server: &mut Server) {
    let is_outermost = server.core.console.begin_problems();
    loop {
        if server.texts.begins_line() {
            server.console_budget.begin_line();
        }
        match server.texts.next() {
            None => break,
            Some(TextStep::End(text)) => startup::end_text(server, &text),
            Some(TextStep::Command(command, depth)) => run_step(server, &command, depth),
        }
        if server.startup.is_over() {
            server.texts.exchange(Vec::new());
        }
    }
    server.core.console.clear_place();
    if is_outermost {
        server.core.console.end_problems();
    }
}

/// Reports a problem of the command that runs, and counts it for its script.
pub(super) fn report(server: &mut Server, cause: Cause, text: impl AsRef<str>) {
    if let Some(counts) = server.texts.counts_mut() {
        counts.problems.add(cause);
    }
    server.core.console.report(cause, text);
}

/// Runs a command of the innermost text.
fn run_step(server: &mut Server, command: &str, depth: u8) {
    if let Some((place, ignored)) = server.texts.take_open_comment() {
        server.core.console.set_place(place);
        report(server, Cause::Comment, format!("comment /* not closed: {ignored} (expected */)"));
    }
    let words = CommandArgs::parse(command);
    if words.is_empty() {
        return;
    }
    server.core.console.set_place(server.texts.place());
    let last = words.get(words.len() - 1);
    if words.len() > 1 && last.ends_with(':') && server.texts.cuts_word() {
        // The value may be a secret.
        report(server, Cause::Changed, "value ends at the comment // (expected a URL in quotes)");
    }
    if server.texts.has_open_quote() {
        report(
            server,
            Cause::Changed,
            "quote not closed: the text ends with its line (expected \")",
        );
    }
    if let Err(message) = server.console_budget.take_command() {
        if let Some(message) = message {
            if server.startup.is_command_line {
                server.startup.fail(server.core.console.placed(&message));
            }
            report(server, Cause::Failed, message);
        }
        server.texts.end_line();
        return;
    }
    // A comment may be longer.
    if command.len() > MAX_COMMAND_LEN && words.rest(0).len() > MAX_COMMAND_LEN {
        report(server, Cause::Failed, format!("command ignored: over {MAX_COMMAND_LEN} bytes"));
    } else if startup::has_no_level(server)
        && !scripts::is_early(&server.core, command_name(&words))
    {
        startup::run_before_level(server, command, &words, depth);
    } else {
        run_command(server, &words, depth);
    }
}

/// Runs a command of the console or of the game, or shows or changes a setting.
pub(super) fn run_command(server: &mut Server, words: &CommandArgs, depth: u8) {
    let name = command_name(words);
    if is_refused(server, name) {
        return;
    }
    audit::recorded(server, words, |server| run_known(server, words, depth));
}

/// Runs a command that the author may run.
fn run_known(server: &mut Server, words: &CommandArgs, depth: u8) {
    let name = command_name(words);
    if let Some(command) = COMMANDS.iter().find(|c| c.name.eq_ignore_ascii_case(name)) {
        (command.run)(server, words, depth);
    } else if server.core.settings.get(name).is_some() || is_ignored(name) {
        if words.len() == 1 {
            show_setting(&mut server.core, name);
        } else {
            let value = words.rest(1);
            change_setting(server, SetCommand::Set, name, &value);
        }
    } else {
        run_in_game(server, words);
    }
}

/// Runs a command of the game.
pub(super) fn run_in_game(server: &mut Server, words: &CommandArgs) {
    let bans = archive::ban_changes(server);
    if server.enter_game(|game, host| game.console_command(host, words)) == Some(true) {
        archive::note_bans(server, bans);
        server.process_pending_drops();
    } else {
        report_unknown(server, command_name(words));
    }
}

/// Whether the author of the running text may not run a command. The refusal is reported.
pub(super) fn is_refused(server: &mut Server, name: &str) -> bool {
    let refusal = authority::refusal(&server.core.settings, server.texts.author(), name);
    if let Some(refusal) = &refusal {
        if let Some(counts) = server.texts.counts_mut() {
            counts.problems.add(Cause::Refused);
        }
        let Core { console, stats, now, .. } = &mut server.core;
        authority::report_refusal(console, (stats, *now), refusal);
    }
    refusal.is_some()
}

/// Reports an unknown command, and counts it for its script.
pub(super) fn report_unknown(server: &mut Server, name: &str) {
    let ignored = WITHOUT_EFFECT.iter().find(|(known, _)| known.eq_ignore_ascii_case(name));
    if let Some((known, reason)) = ignored {
        return report(server, Cause::Ignored, format!("{known} ignored: {reason}"));
    }
    let known = COMMANDS.iter().map(|row| row.name);
    let known = known.chain(server.game.console_commands().iter().map(|row| row.name));
    // A bare setting is a command, too.
    let near = nearest_of(name, known.chain(SETTINGS.iter().map(|setting| setting.name)));
    let near = near.map(|near| format!("; did you mean {near}?")).unwrap_or_default();
    report(server, Cause::Refused, format!("unknown command: {name}{near}"));
}

/// Prints a setting.
pub(super) fn show_setting(core: &mut Core, name: &str) {
    let shown = core.settings.describe(name).unwrap_or_else(|| match ignored_named(name) {
        Some(ignored) => {
            format!("{} is accepted and ignored: {}\n", ignored.name, ignored.reason)
        }
        None => format!("unknown setting {name}\n"),
    });
    core.console.print_lines(&shown);
}

/// Changes a setting for the line that runs, and counts the change for its script.
pub(super) fn change_setting(server: &mut Server, command: SetCommand, name: &str, value: &str) {
    if run_change(server, name, |changes, source| changes.set(source, command, name, value)) {
        archive::note(server, command, name);
    }
}

/// Sets a setting to its default for the line that runs, and counts the change for its script.
pub(super) fn reset_setting(server: &mut Server, name: &str) {
    if run_change(server, name, |changes, source| changes.reset(source, name)) {
        archive::forget(server, name);
    }
}

/// Changes a setting for the line that runs. Returns whether the change was accepted.
fn run_change(
    server: &mut Server,
    name: &str,
    change: impl FnOnce(&mut SettingChanges<'_>, ChangeSource) -> ChangeOutcome,
) -> bool {
    let is_script = server.texts.place().is_some()
        || server.startup.is_command_line
        || server.core.console.runs_game_lines();
    let source = if is_script { ChangeSource::Script } else { ChangeSource::Console };
    server.core.settings.set_place(server.texts.place());
    let Core { settings, console, level, stats, now, .. } = &mut server.core;
    let (has_level, author, now) = (!level.map.is_empty(), server.texts.author(), *now);
    let mut changes = SettingChanges { settings, console, has_level, author, stats, now };
    let outcome = change(&mut changes, source);
    server.core.settings.set_place(None);
    if outcome.is_latched && server.startup.has_begun_level() {
        server.core.console.print(format!("{name} will be changed upon restarting."));
    }
    let place = server.texts.place();
    // A step of a rotation has any name.
    for note in outcome.hints {
        if server.core.console.is_start() {
            server.startup.add_hint(place.clone(), note);
        } else {
            server.core.console.warn(note.text);
        }
    }
    // The start names them at its end.
    if !server.core.console.is_start()
        && let Some(line) = ignored_value(&server.core.settings, name)
    {
        let line = server.core.console.placed(&line);
        server.core.console.warn(line);
    }
    let is_accepted = outcome.refusal.is_none();
    if let Some(counts) = server.texts.counts_mut() {
        let is_setting = server.core.settings.flags(name).is_some();
        outcome.refusal.into_iter().for_each(|cause| counts.problems.add(cause));
        (0..outcome.notes).for_each(|_| counts.problems.add(Cause::Changed));
        counts.set += u32::from(is_accepted && is_setting);
        counts.variables += u32::from(is_accepted && !is_setting);
    }
    is_accepted
}

/// Loads a map, or prints why it cannot be loaded. Returns whether it runs.
pub(super) fn play(server: &mut Server, map: &str) -> bool {
    let loaded = level::load(server, map);
    if let Err(error) = &loaded {
        report(server, Cause::Map, error.to_string());
    }
    startup::report_notes(server);
    loaded.is_ok()
}
