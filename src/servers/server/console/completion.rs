//! Completion of console lines: commands, settings, maps, scripts, players.

use super::commands::known_commands;
use crate::{
    model::{TypedLine, text::strip_colors},
    node::Completion,
    server::state::Server,
    settings::SETTINGS,
};

/// Names that complete the arguments of a command.
#[derive(Clone, Copy, Debug)]
enum Names {
    /// Commands and settings.
    Commands,
    Maps,
    Scripts,
    Settings,
    Teams,
    Players,
    Nothing,
}

/// Arguments of commands, by number. Those of commands that are not listed are players.
const ARGUMENTS: &[(&[&str], &[Names])] = &[
    (&["map", "devmap"], &[Names::Maps]),
    (&["exec", "execq"], &[Names::Scripts]),
    (
        &["set", "seta", "sets", "setu", "reset", "toggle", "unset", "vstr", "cvarlist"],
        &[Names::Settings],
    ),
    (&["help", "cmdlist"], &[Names::Commands]),
    (&["forceteam"], &[Names::Players, Names::Teams]),
    (&["say_team"], &[Names::Teams]),
];

/// Returns the candidates for the last word of a line.
pub(in crate::server) fn complete(server: &Server, line: &str) -> Completion {
    let typed = TypedLine::parse(line);
    let of = |names: Vec<String>| Completion::of(&typed, names);
    match names_for(server, &typed) {
        Names::Commands => {
            let commands = known_commands(server).into_iter().map(|[name, ..]| name.to_owned());
            of(commands.chain(settings(server)).collect())
        }
        Names::Maps => of(server.maps.names_for_hint()),
        Names::Scripts => {
            let scripts = server.maps.assets().list_for_hint("", "cfg");
            Completion::of(&typed, scripts.iter().map(|path| path.as_str()))
        }
        Names::Settings => of(settings(server).collect()),
        Names::Teams => Completion::of(&typed, ["red", "blue", "free", "spectator"]),
        Names::Players => of(players(server)),
        Names::Nothing => Completion::default(),
    }
}

fn names_for(server: &Server, typed: &TypedLine<'_>) -> Names {
    let Some(argument) = typed.index.checked_sub(1) else { return Names::Commands };
    let is_it = |names: &&[&str]| names.iter().any(|name| name.eq_ignore_ascii_case(typed.command));
    match ARGUMENTS.iter().find(|(commands, _)| is_it(commands)) {
        Some((_, arguments)) => arguments.get(argument).copied().unwrap_or(Names::Nothing),
        None if server.core.settings.get(typed.command).is_some() => Names::Nothing,
        None => Names::Players,
    }
}

/// Names of settings and variables.
fn settings(server: &Server) -> impl Iterator<Item = String> {
    let rows = SETTINGS.iter().map(|row| row.name.to_owned());
    rows.chain(server.core.settings.variables().map(|(name, ..)| name.to_owned()))
}

/// Names of players without color codes, as the commands find them.
fn players(server: &Server) -> Vec<String> {
    let core = &server.core;
    let clients = core.clients.iter().filter(|(_, client)| !client.is_zombie());
    let clients = clients.map(|(_, client)| strip_colors(&client.name));
    clients.chain(core.bots.iter().map(|(_, bot)| strip_colors(&bot.name))).collect()
}
