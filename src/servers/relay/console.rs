//! Console of a broadcast: commands of the operator, completion.

use super::{
    commands,
    source::{Control, Source},
    state::{RelayState, harmless},
    viewer::{Viewer, ViewerKey},
};
use crate::{
    bans,
    model::{ClientNum, CommandArgs, TypedLine, text},
    node::{Completion, DrainRequest, DrainStep, NodeState},
};

/// Longest command that is repeated, in bytes.
const MAX_SHOWN_COMMAND: usize = 64;
/// Commands and their help.
const HELP: [(&str, &str); 12] = [
    ("status", "show source, level and viewers"),
    ("say TEXT", "send a chat line to all viewers"),
    ("kick VIEWER", "disconnect a viewer, by number or name of status"),
    ("follow N", "follow player N, for a source with one view"),
    ("follownext", "follow the next player, for a source with one view"),
    ("pause", "stop or continue a demo"),
    ("speed X", "play a demo at this speed, 0.1 to 20"),
    ("seek TIME|+S|-S", "go to a position of a demo: seconds, m:ss, or relative"),
    (
        "drain [SECONDS] [TEXT]",
        "refuse viewers and end after the match, when empty or after a time",
    ),
    ("help", "list the commands"),
    ("quit", "disconnect all viewers and stop"),
    ("undrain", "end a drain"),
];

/// Runs a console line. Returns whether the broadcast is to stop.
pub(super) fn run(state: &mut RelayState, source: &dyn Source, line: &str) -> bool {
    let words = CommandArgs::parse(line);
    match words.command() {
        "" => {}
        "quit" | "killserver" => return true,
        "status" => status(state, source),
        "drain" => begin_drain(state, &words),
        "undrain" => end_drain(state),
        "say" => {
            let chat = format!("chat \"^7[server]: ^2{}\"", harmless(&words.rest(1)));
            state.send_command_to(&chat.into(), |_| true);
        }
        "kick" => {
            let wanted = words.rest(1);
            match find_viewer(state, &wanted) {
                Some(key) => state.drop_viewer(key, "was kicked"),
                None if wanted.is_empty() => explain(state, "kick"),
                None => {
                    let shown =
                        text::escaped(text::truncated(&wanted, MAX_SHOWN_COMMAND).as_bytes());
                    state.print_line(format!(
                        "kick: no viewer \"{shown}\" (expected a number or name of status)"
                    ));
                }
            }
        }
        "follow" => match (words.get(1), commands::find_player(state, words.get(1))) {
            ("", _) => state.print_line(commands::players_line(state)),
            (_, Some(player)) => state.request(None, Control::Follow(player)),
            (wanted, None) => {
                let shown = text::escaped(text::truncated(wanted, MAX_SHOWN_COMMAND).as_bytes());
                let players = commands::players_line(state);
                state.print_line(format!("follow: no player \"{shown}\"; {players}"));
            }
        },
        "follownext" => state.request(None, Control::FollowNext),
        _ if bans::run(state, &words) => {}
        _ => match commands::control(&words) {
            Some(control) => state.request(None, control),
            None => explain(state, words.command()),
        },
    }
    false
}

/// Begins a drain, or ends it.
fn begin_drain(state: &mut RelayState, words: &CommandArgs) {
    match DrainRequest::parse(words, state.options.drain_time) {
        Ok(DrainRequest::Begin { time, text }) => {
            let announcement = state.drain.begin(state.now, time, &text);
            state.proclaim(&announcement);
            if let Some(line) = state.drain.line(state.now) {
                log::info!("{}", text::escaped(line.as_bytes()));
                state.print_line(line);
            }
        }
        Ok(DrainRequest::Cancel) => end_drain(state),
        Err(error) => state.print_line(error),
    }
}

fn end_drain(state: &mut RelayState) {
    if !state.drain.cancel() {
        return state.print_line("undrain: the relay does not drain");
    }
    state.proclaim("Server does not stop");
    log::info!("drain canceled: the relay is open");
    state.print_line("drain canceled: the relay is open");
}

/// Takes the step of a drain that is due. Returns the reason for which the broadcast is to stop.
pub(super) fn step_drain(state: &mut RelayState) -> Option<String> {
    let is_empty = state.viewers.present().next().is_none();
    let is_intermission = state.is_intermission();
    match state.drain.poll(state.now, is_empty, is_intermission)? {
        DrainStep::Announce(line) => {
            state.proclaim(&line);
            None
        }
        DrainStep::End(reason) => {
            log::info!("drain complete");
            Some(reason)
        }
    }
}

/// Candidates for the last word of a line: commands, viewers, players.
pub(super) fn candidates(state: &RelayState, line: &str) -> Completion {
    let typed = TypedLine::parse(line);
    match (typed.index, typed.command) {
        (0, _) => {
            let own = HELP.iter().filter_map(|(usage, _)| usage.split(' ').next());
            Completion::of(&typed, own.chain(bans::COMMANDS.iter().map(|row| row.name)))
        }
        (1, "ban" | "kick" | "mute" | "unban" | "unmute") => {
            let names = state.viewers.present().map(|(_, viewer)| text::strip_colors(&viewer.name));
            Completion::of(&typed, names)
        }
        (1, "follow") => {
            let names = ClientNum::all().map(|player| state.current.player_name(player));
            let names = names.map(text::strip_colors).filter(|name| !name.is_empty());
            Completion::of(&typed, names)
        }
        _ => Completion::default(),
    }
}

/// Viewer with this number, or else this name without colors and case.
pub(super) fn find_viewer(state: &RelayState, wanted: &str) -> Option<ViewerKey> {
    let number = wanted.parse().ok().filter(|&key| state.viewers.get(key).is_some());
    let plain = text::strip_colors(wanted);
    let is_named = |viewer: &Viewer| text::strip_colors(&viewer.name).eq_ignore_ascii_case(&plain);
    let named = || state.viewers.present().find(|(_, viewer)| is_named(viewer));
    number.or_else(|| named().map(|(key, _)| key).filter(|_| !plain.is_empty()))
}

/// Prints the help, after a line about a command that is not known or whose arguments are not.
fn explain(state: &mut RelayState, command: &str) {
    let usage = HELP.iter().map(|(usage, _)| *usage);
    let known = usage.clone().find(|usage| usage.split(' ').next() == Some(command));
    match known {
        _ if ["help", "?"].contains(&command) => {}
        Some(usage) => {
            return state.print_line(format!("{command}: invalid arguments (expected {usage})"));
        }
        None => {
            let command = text::escaped(text::truncated(command, MAX_SHOWN_COMMAND).as_bytes());
            state.print_line(format!("unknown command: {command}"));
        }
    }
    for (usage, help) in HELP {
        state.print_line(format!("{usage:24} {help}"));
    }
    for row in bans::COMMANDS {
        state.print_line(format!(
            "{} {}\n                         {}",
            row.name, row.usage, row.help
        ));
    }
}

fn status(state: &mut RelayState, source: &dyn Source) {
    let counts = state.counts();
    state.print_line(format!("source:  {}", source.status(state.now)));
    let map = state.current.info_value("mapname");
    let views = state.current.current_views().len();
    let lost = state.lost.as_ref().map_or(String::new(), |reason| format!(", lost: {reason}"));
    state.print_line(format!(
        "level:   {} ({views} views, {} frames{lost})",
        text::escaped(map.as_bytes()),
        counts.frames
    ));
    state.print_line(format!(
        "viewers: {} of {} ({} admitted, {} rejected, {} snapshots, {} deltas, {} bodies encoded)",
        state.viewers.present().count(),
        state.options.max_viewers,
        counts.admitted,
        counts.rejected,
        counts.snapshots,
        counts.deltas,
        state.bodies.encoded
    ));
    let mut lines = Vec::new();
    for (key, viewer) in state.viewers.iter() {
        let follows = state.followed(viewer).map(|player| state.current.player_name(player));
        lines.push(format!(
            "{key:>4} {:>4} {:21} {:7} {} -> {}",
            viewer.ping_ms(),
            viewer.remote.address().to_string(),
            viewer.channel.protocol().name,
            text::escaped(viewer.name.as_bytes()),
            text::escaped(follows.unwrap_or_default().as_bytes()),
        ));
    }
    if let Some(line) = state.drain.line(state.now) {
        state.print_line(line);
    }
    if !lines.is_empty() {
        state.print_line(" num ping address               proto   name -> follows");
    }
    lines.into_iter().for_each(|line| state.print_line(line));
}

/// State for service managers.
pub(super) fn node_state(state: &RelayState) -> NodeState {
    let map = text::escaped(state.current.info_value("mapname").as_bytes());
    let level =
        if state.current.has_level() { format!("map {map}") } else { "no level".to_owned() };
    let viewers = state.viewers.present().count();
    let text = state
        .drain
        .line(state.now)
        .unwrap_or_else(|| format!("{level}, {}", text::counted(viewers, "viewer")));
    let obstacles = [(!state.current.has_level(), "no map"), (state.drain.is_on(), "draining")];
    NodeState {
        text,
        obstacles: obstacles.into_iter().filter(|one| one.0).map(|one| one.1).collect(),
        is_draining: state.drain.is_on(),
    }
}
