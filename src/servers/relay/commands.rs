//! Commands of viewers: following, scoreboard, chat, and control of the source.
//!
//! A viewer types them in its console, or says them with `!` in front. Unknown commands are ignored, as
//! clients of mods send their own. Invariant: every command is rate limited.

use std::sync::Arc;

use super::{
    bans,
    source::Control,
    state::{RelayState, harmless},
    viewer::ViewerKey,
};
use crate::{
    limits::{AddressKey, BucketLimit},
    model::{ClientNum, CommandArgs, Millis, text},
    observe::Counter,
    serving::connection::{LEFT, Service as _},
    wire::userinfo::check_userinfo,
};

/// Commands of one viewer.
const COMMANDS: BucketLimit = BucketLimit { burst: 10, period: Millis(250) };
/// Chat lines of the viewers of one address: what one says, all are sent.
const CHAT: BucketLimit = BucketLimit { burst: 4, period: Millis(1000) };
/// Longest chat line in bytes.
const MAX_CHAT_LEN: usize = 150;
/// Longest position in seconds.
const MAX_SEEK_SECONDS: f64 = 1e6;
/// Time between two changes of the source by viewers, while several watch.
const CONTROL_INTERVAL: Millis = Millis::seconds(3);
/// The same after a jump. Backwards it sends the level to every viewer.
const JUMP_INTERVAL: Millis = Millis::seconds(10);

/// Commands that every viewer has, in one line.
pub(super) const HELP: &str =
    "Attack or /follownext: next player; /follow NAME or NUMBER; /score; say: chat.";
/// Commands of a source with a timeline, in one line.
pub(super) const CONTROL_HELP: &str = " Say !pause, !speed 2, !seek 1:30, !seek +30 or !seek -30.";

/// Runs a command of a viewer. Returns false if the viewer must resend it.
pub(super) fn run(state: &mut RelayState, key: ViewerKey, line: &str) -> bool {
    let words = CommandArgs::parse(line);
    let now = state.now;
    let Some(viewer) = state.viewers.get_mut(key) else { return true };
    let is_allowed = match words.command() {
        "disconnect" => {
            state.drop_viewer(key, LEFT);
            return true;
        }
        "userinfo" => viewer.allows_userinfo(now),
        _ => viewer.own.commands.allows(now, COMMANDS),
    };
    state.stats.bump(if is_allowed { Counter::ClientCommands } else { Counter::CommandsOverLimit });
    if !is_allowed {
        return words.command() != "userinfo";
    }
    match words.command() {
        "userinfo" => match check_userinfo(words.get(1)) {
            Ok(info) => {
                state.set_userinfo(key, info);
                bans::drop_banned_viewer(state, key);
            }
            // The old userinfo stays.
            Err(fault) => {
                state.connections().log_client_error(key, Counter::BadUserinfo, fault);
            }
        },
        "say" | "say_team" => say(state, key, &words.rest(1)),
        "score" => state.answer_score(key),
        "follow" => follow(state, key, &words.rest(1)),
        "follownext" => follow_next(state, key, 1, false),
        "followprev" => follow_next(state, key, -1, false),
        _ => {
            if let Some(control) = control(&words) {
                request(state, key, control);
            }
        }
    }
    true
}

/// Sends a chat line to all viewers, or runs it if it begins with `!`.
fn say(state: &mut RelayState, key: ViewerKey, said: &str) {
    let said = text::truncated(said.trim(), MAX_CHAT_LEN);
    if let Some(command) = said.strip_prefix('!') {
        let words = CommandArgs::parse(command);
        match words.command() {
            "follow" => follow(state, key, &words.rest(1)),
            "follownext" => follow_next(state, key, 1, false),
            "followprev" => follow_next(state, key, -1, false),
            _ => match control(&words) {
                Some(control) => request(state, key, control),
                None => state.tell(key, &format!("{HELP}{CONTROL_HELP}")),
            },
        }
        return;
    }
    if let Some(text) = bans::mute_notice(state, key) {
        return state.tell(key, &text);
    }
    let now = state.now;
    if said.is_empty() || !may_chat(state, key, now) {
        return;
    }
    let Some(viewer) = state.viewers.get(key) else { return };
    let name = &viewer.name;
    log::info!(target: "chat", "{}: {}", text::escaped(name.as_bytes()), text::escaped(said.as_bytes()));
    let line = format!("chat \"^7[viewer] {}^7: ^2{}\"", harmless(name), harmless(said));
    state.send_command_to(&Arc::from(line), |_| true);
}

/// Whether one more chat line of a viewer's address is allowed. The lines of each viewer count for all viewers of its address.
fn may_chat(state: &mut RelayState, key: ViewerKey, now: Millis) -> bool {
    let Some(viewer) = state.viewers.get(key) else { return false };
    let site = AddressKey::site(viewer.remote.address().ip());
    let mut is_allowed = true;
    for (_, other) in state.viewers.iter_mut() {
        if AddressKey::site(other.remote.address().ip()) == site {
            is_allowed &= other.own.chat.allows(now, CHAT);
        }
    }
    if !is_allowed {
        state.stats.bump(Counter::CommandsOverLimit);
    }
    is_allowed
}

/// Follows the player with this number or name.
fn follow(state: &mut RelayState, key: ViewerKey, wanted: &str) {
    let Some(player) = find_player(state, wanted) else {
        state.tell(key, &format!("No player \"{wanted}\". {}", players_line(state)));
        return;
    };
    if state.current.current_views().iter().any(|view| view.player == player) {
        choose(state, key, player, false);
    } else {
        request(state, key, Control::Follow(player));
    }
}

/// Follows the next player, or the one before. `is_silent`: without an answer.
pub(super) fn follow_next(state: &mut RelayState, key: ViewerKey, step: isize, is_silent: bool) {
    let Some(viewer) = state.viewers.get(key) else { return };
    let (at, count) = (state.view_of(viewer), state.current.current_views().len());
    if count < 2 {
        if !is_silent {
            request(state, key, Control::FollowNext);
        }
        return;
    }
    let next = (at as isize + step).rem_euclid(count as isize) as usize;
    let Some(player) = state.current.current_views().get(next).map(|view| view.player) else {
        return;
    };
    choose(state, key, player, is_silent);
}

fn choose(state: &mut RelayState, key: ViewerKey, player: ClientNum, is_silent: bool) {
    if let Some(viewer) = state.viewers.get_mut(key) {
        viewer.own.choice = Some(player);
    }
    if !is_silent {
        let name = state.current.player_name(player).to_owned();
        state.tell(key, &format!("following {name}"));
    }
}

/// Player with this number, exact name, or else a name that contains the text.
pub(super) fn find_player(state: &RelayState, wanted: &str) -> Option<ClientNum> {
    let named = |number: &ClientNum| !state.current.player_name(*number).is_empty();
    if let Some(number) = wanted.parse().ok().and_then(ClientNum::new).filter(named) {
        return Some(number);
    }
    let wanted = text::strip_colors(wanted).to_ascii_lowercase();
    if wanted.is_empty() {
        return None;
    }
    let plain = |number: ClientNum| {
        text::strip_colors(state.current.player_name(number)).to_ascii_lowercase()
    };
    ClientNum::all()
        .find(|&number| plain(number) == wanted)
        .or_else(|| ClientNum::all().find(|&number| plain(number).contains(&wanted)))
}

/// Names and numbers of the players that can be followed.
pub(super) fn players_line(state: &RelayState) -> String {
    let views = state.current.current_views();
    let names = views
        .iter()
        .map(|view| format!("{} {}^7", view.player, state.current.player_name(view.player)));
    format!("Players: {}", names.collect::<Vec<_>>().join(", "))
}

/// Passes a request of a viewer to the source, if viewers may. What one does there, all see: while several watch, the
/// first viewer controls the source, a few times a minute.
fn request(state: &mut RelayState, key: ViewerKey, control: Control) {
    if !state.options.viewers_control {
        return state.tell(key, "Only the operator of this server controls the source.");
    }
    if state.entered().nth(1).is_some() {
        let wait = state.controls_from.since(state.now);
        let refusal = if state.entered().min().is_none_or(|(_, first)| first != key) {
            Some("While several watch, only the first viewer controls the source.".to_owned())
        } else {
            (wait > Millis(0)).then(|| format!("Again in {} s, please.", wait.0.div_ceil(1000)))
        };
        if let Some(refusal) = refusal {
            state.stats.bump(Counter::CommandsOverLimit);
            return state.tell(key, &refusal);
        }
        let is_jump = matches!(control, Control::Seek(_) | Control::Skip(_));
        state.controls_from = state.now + if is_jump { JUMP_INTERVAL } else { CONTROL_INTERVAL };
    }
    state.request(Some(key), control);
}

/// Parses a request to the source: `pause`, `speed X`, `seek TIME|+S|-S`.
pub(super) fn control(words: &CommandArgs) -> Option<Control> {
    match words.command() {
        "pause" => Some(Control::Pause),
        "speed" => {
            let speed: f32 = words.get(1).parse().ok()?;
            speed.is_finite().then_some(Control::Speed(speed))
        }
        "seek" => {
            let text = words.get(1);
            let sign = match text.as_bytes().first()? {
                b'+' => Some(1.0),
                b'-' => Some(-1.0),
                _ => None,
            };
            match sign {
                Some(sign) => Some(Control::Skip((seconds(&text[1..])? * 1000.0 * sign) as i64)),
                None => Some(Control::Seek((seconds(text)? * 1000.0) as u64)),
            }
        }
        _ => None,
    }
}

/// Parses seconds, `m:ss` or `h:mm:ss`. Only the first part may exceed 59.
fn seconds(text: &str) -> Option<f64> {
    if text.split(':').count() > 3 {
        return None;
    }
    let mut total = 0.0;
    for (at, part) in text.split(':').enumerate() {
        let value: f64 = part.parse().ok()?;
        let is_in_range = (0.0..=MAX_SEEK_SECONDS).contains(&value);
        if !is_in_range || at > 0 && value >= 60.0 {
            return None;
        }
        total = total * 60.0 + value;
    }
    (total <= MAX_SEEK_SECONDS).then_some(total)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_to_the_source_are_parsed() {
        for (line, expected) in [
            ("pause", Some(Control::Pause)),
            ("speed 2", Some(Control::Speed(2.0))),
            ("speed 0.25", Some(Control::Speed(0.25))),
            ("speed nan", None),
            ("speed", None),
            ("seek 90", Some(Control::Seek(90_000))),
            ("seek 1:30", Some(Control::Seek(90_000))),
            ("seek 1:01:00.5", Some(Control::Seek(3_660_500))),
            ("seek +30", Some(Control::Skip(30_000))),
            ("seek -0.5", Some(Control::Skip(-500))),
            ("seek", None),
            ("seek +", None),
            ("seek é", None),
            ("seek -é", None),
            ("seek 1e9", None),
            ("seek inf", None),
            ("seek 99999:99999", None),
            ("seek 99:59", Some(Control::Seek(5_999_000))),
            ("seek 99:99", None),
            ("seek 0:60", None),
            ("seek +0:75", None),
            ("seek 1:60:00", None),
            ("seek 0:0:0:1", None),
            ("kill", None),
        ] {
            assert_eq!(control(&CommandArgs::parse(line)), expected, "{line}");
        }
    }
}
