//! Commands of administrators in chat, such as `!kick`: right, target, and the console command that runs.
//!
//! Invariants: a command acts on the player that the rights were checked for; the words of a client never form a second
//! command; no other player is sent the line.

use super::{
    admin_acts::{author, record, tell_client},
    execute,
    moderation::applied_to,
    players::find_player,
};
use crate::{
    bans::{CommandAuthor, EntryKind, Span, is_time_like},
    model::{ClientNum, CommandArgs, text},
    server::{
        admins::{AdminCommand, HELP, command_named},
        core::Core,
        state::Server,
    },
    serving::connection::Service as _,
    settings::{Author, key, nearest_of},
};

/// Most words of the name of a player.
const MAX_NAME_WORDS: usize = 8;

/// Effect of a command that may run.
enum AdminStep {
    /// A console command of words that are checked.
    Run(String),
    /// A console line that changes the level, which runs behind the frame.
    Queue(String),
    /// An answer alone.
    Show(Vec<String>),
}

/// Runs the command in a chat text. Returns false for any other text.
pub(super) fn take_text(server: &mut Server, number: ClientNum, said: &str) -> bool {
    let Some(line) = said.trim_start().strip_prefix('!') else { return false };
    let words = CommandArgs::parse(line);
    let command = command_named(words.command());
    let is_help = words.command().eq_ignore_ascii_case(HELP);
    if command.is_none() && !is_help {
        return false;
    }
    let step = match command {
        Some(command) => step_of(server, number, command, &words),
        None => help(&server.core, number).map(AdminStep::Show),
    };
    let is_act = !is_help && author(&server.core, number).is_some();
    let lines = match step {
        Ok(step) => take_step(server, number, step),
        Err(refusal) => vec![refusal],
    };
    if is_act {
        let result = lines.first().map_or("done", |line| line.trim_end());
        record(&mut server.core, number, &words.rest(0), result);
    }
    let lines = lines.iter().flat_map(|text| text.lines());
    tell_client(&mut server.core, number, lines);
    server.process_pending_drops();
    true
}

/// Takes a step. Returns what it prints.
fn take_step(server: &mut Server, number: ClientNum, step: AdminStep) -> Vec<String> {
    match step {
        AdminStep::Show(lines) => lines,
        AdminStep::Queue(line) => {
            let answer = format!("{line}: runs now");
            server.core.console.queue(Author::Operator, &line);
            server.core.audit.recorded_line = Some(line.clone());
            vec![answer]
        }
        AdminStep::Run(line) => {
            let author = author(&server.core, number);
            server.core.bans.set_author(author.map(CommandAuthor::Player));
            server.core.console.redirect();
            execute::run_command(server, &CommandArgs::parse(&line), 0);
            server.core.bans.set_author(None);
            server.core.console.end_redirect()
        }
    }
}

/// Checks a command and its words.
///
/// # Errors
/// The refusal.
fn step_of(
    server: &Server,
    number: ClientNum,
    command: &AdminCommand,
    words: &CommandArgs,
) -> Result<AdminStep, String> {
    let core = &server.core;
    let (name, usage) = (command.name, command.usage);
    let login = core.clients.get(number).and_then(|client| client.own.login.as_deref());
    let role = login.and_then(|login| core.admins.role(login));
    let role =
        role.ok_or_else(|| format!("!{name}: log in first, by the console: /login SECRET"))?;
    let level = role.level;
    if !level.commands.contains(&name) {
        return Err(format!(
            "!{name} is not a command of level {} (!{HELP} lists them)",
            level.name
        ));
    }
    if command.is_about_player {
        if words.len() < 2 {
            return Err(format!("Usage: !{name} {usage}"));
        }
        let (target, at) = target_of(core, words)?;
        check_levels(core, target, role.rank, matches!(name, "ban" | "mute"))?;
        return about_player(server, name, (target, at), words, level.max_time.as_deref());
    }
    let argument = words.get(1);
    Ok(match name {
        "listplayers" => AdminStep::Show(list_players(core)),
        "map" => AdminStep::Queue(format!("map {}", map_named(core, argument)?)),
        "map_restart" if argument.is_empty() => AdminStep::Queue("map_restart".to_owned()),
        "map_restart" => {
            let seconds: u16 = argument.parse().map_err(|_| {
                format!("!map_restart: invalid time '{argument}' (expected seconds)")
            })?;
            AdminStep::Queue(format!("map_restart {seconds}"))
        }
        "nextmap" if core.settings.text(key::NEXTMAP).is_empty() => {
            return Err("nextmap not set".to_owned());
        }
        "nextmap" => AdminStep::Queue("vstr nextmap".to_owned()),
        "unban" => {
            let id: u32 = argument
                .parse()
                .map_err(|_| "Usage: !unban ID (!listbans lists them)".to_owned())?;
            AdminStep::Run(format!("unban {id}"))
        }
        _ => AdminStep::Run(name.to_owned()),
    })
}

/// AdminStep of a command about a player, whose words begin behind the target.
fn about_player(
    server: &Server,
    name: &str,
    (target, at): (ClientNum, usize),
    words: &CommandArgs,
    max_time: Option<&str>,
) -> Result<AdminStep, String> {
    let rest = words.rest(at);
    Ok(AdminStep::Run(match name {
        "ban" | "mute" => {
            let time = Span::parse(words.get(at));
            let longest = max_time.and_then(Span::parse);
            match (time, max_time, longest) {
                (Some(time), Some(word), Some(longest)) if time > longest => {
                    return Err(format!("!{name}: longest time of your level: {word}"));
                }
                // The console refuses a time that is not valid.
                (None, Some(word), _) if !is_time_like(words.get(at)) => {
                    format!("{name} {target} {word} {rest}")
                }
                _ => format!("{name} {target} {rest}"),
            }
        }
        "kick" => format!("clientkick {target} {rest}"),
        "unmute" => match applied_to(server, EntryKind::Mute, target) {
            Some(id) => format!("unmute {id}"),
            None => return Err(format!("client {target} is not muted")),
        },
        _ => format!("{name} {target} {rest}"),
    }))
}

/// Player that the first words name, and the place of the next word. Names may have spaces.
fn target_of(core: &Core, words: &CommandArgs) -> Result<(ClientNum, usize), String> {
    let first = find_player(core, words.get(1)).map_err(|error| error.to_string());
    if let Ok(number) = first {
        return Ok((number, 2));
    }
    let names = (3..=words.len().min(MAX_NAME_WORDS + 1)).map(|end| {
        let name: Vec<_> = words.arguments().iter().take(end - 1).map(String::as_str).collect();
        (name.join(" "), end)
    });
    let mut found = names.filter_map(|(name, end)| Some((find_player(core, &name).ok()?, end)));
    found.next().ok_or_else(|| {
        let error = first.err().unwrap_or_default();
        format!("{error} (!listplayers lists slots and names)")
    })
}

/// Checks that no player of a higher level is hit: the target, and with `by_address` all of its address.
fn check_levels(
    core: &Core,
    target: ClientNum,
    rank: usize,
    by_address: bool,
) -> Result<(), String> {
    let address = core.clients.get(target).map(|client| client.remote.address().ip());
    let is_hit = |number: ClientNum, at| number == target || by_address && Some(at) == address;
    let higher = core.clients.present().find(|(number, client)| {
        let login = client.own.login.as_deref();
        let role = login.and_then(|login| core.admins.role(login));
        is_hit(*number, client.remote.address().ip()) && role.is_some_and(|role| role.rank > rank)
    });
    match higher {
        Some((number, client)) if number == target => {
            Err(format!("{}^7 has a higher level", client.name))
        }
        Some((_, client)) => {
            Err(format!("{}^7 of the same address has a higher level", client.name))
        }
        None => Ok(()),
    }
}

/// Name of a map that can be loaded.
fn map_named<'a>(core: &'a Core, wanted: &str) -> Result<&'a str, String> {
    if wanted.is_empty() {
        return Err("Usage: !map MAP".to_owned());
    }
    let names = || core.map_names.iter().map(String::as_str);
    names().find(|name| name.eq_ignore_ascii_case(wanted)).ok_or_else(|| {
        let near = nearest_of(wanted, names());
        let near = near.map(|near| format!("; did you mean {near}?")).unwrap_or_default();
        format!("map not found: {}{near}", text::shown_name(wanted.as_bytes()))
    })
}

/// Lists slots, names and logins.
fn list_players(core: &Core) -> Vec<String> {
    let clients = core.clients.present().map(|(number, client)| {
        let login = client.own.login.as_ref().map(|login| format!(" ({login})"));
        (number, format!("{:>2} {}^7{}", number.index(), client.name, login.unwrap_or_default()))
    });
    let bots = core
        .bots
        .iter()
        .map(|(number, bot)| (number, format!("{:>2} {}^7 (bot)", number.index(), bot.name)));
    let mut rows: Vec<_> = clients.chain(bots).collect();
    rows.sort_by_key(|(number, _)| *number);
    rows.into_iter().map(|(_, line)| line).collect()
}

/// Lists the commands of a level.
fn help(core: &Core, number: ClientNum) -> Result<Vec<String>, String> {
    let login = core.clients.get(number).and_then(|client| client.own.login.as_deref());
    let role = login.and_then(|login| core.admins.role(login));
    let role = role.ok_or("!help: log in first, by the console: /login SECRET")?;
    let commands = role.level.commands.iter().filter_map(|name| command_named(name));
    let mut lines: Vec<_> =
        commands.map(|command| format!("!{} {}", command.name, command.usage)).collect();
    lines.push("PLAYER is a slot or a name; TIME is e.g. 30m, 2h or 7d".to_owned());
    Ok(lines)
}
