//! Console of a broadcast: commands of the operator.

use super::{
    commands,
    source::{Control, Source},
    state::{RelayState, harmless},
    viewer::{Viewer, ViewerKey},
};
use crate::model::{CommandArgs, text};

/// Longest command that is repeated, in bytes.
const MAX_SHOWN_COMMAND: usize = 64;
/// Commands and their help.
const HELP: [(&str, &str); 9] = [
    ("status", "show source, level and viewers"),
    ("say TEXT", "send a chat line to all viewers"),
    ("kick VIEWER", "disconnect a viewer, by number or name of status"),
    ("follow N", "follow player N, for a source with one view"),
    ("follownext", "follow the next player, for a source with one view"),
    ("pause", "stop or continue a demo"),
    ("speed X", "play a demo at this speed, 0.1 to 20"),
    ("seek TIME|+S|-S", "go to a position of a demo: seconds, m:ss, or relative"),
    ("quit", "disconnect all viewers and stop"),
];

/// Runs a console line. Returns whether the broadcast is to stop.
pub(super) fn run(state: &mut RelayState, source: &dyn Source, line: &str) -> bool {
    let words = CommandArgs::parse(line);
    match words.command() {
        "" => {}
        "quit" | "killserver" => return true,
        "status" => status(state, source),
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
        _ => match commands::control(&words) {
            Some(control) => state.request(None, control),
            None => explain(state, words.command()),
        },
    }
    false
}

/// Viewer with this number, or else this name without colors and case.
fn find_viewer(state: &RelayState, wanted: &str) -> Option<ViewerKey> {
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
        Some(usage) => {
            return state.print_line(format!("{command}: invalid arguments (expected {usage})"));
        }
        None if ["help", "?"].contains(&command) => {}
        None => {
            let command = text::escaped(text::truncated(command, MAX_SHOWN_COMMAND).as_bytes());
            state.print_line(format!("unknown command: {command}"));
        }
    }
    for (usage, help) in HELP {
        state.print_line(format!("{usage:16} {help}"));
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
    if !lines.is_empty() {
        state.print_line(" num ping address               proto   name -> follows");
    }
    lines.into_iter().for_each(|line| state.print_line(line));
}
