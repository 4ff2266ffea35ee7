//! Client commands of administrators: `login`, `logout`, `whoami`, and commands in chat.
//!
//! Invariant: no other client, log line or recording is given a secret.

use super::{
    admin_acts::{record, tell_client},
    chat_commands,
};
use crate::{
    bg::chat::CHAT_COMMANDS,
    model::{ClientNum, CommandArgs, text::counted},
    server::{
        admins::{Level, LoginResult},
        state::Server,
    },
    settings::GameCode,
    wire::login::{LOGIN, is_login_text},
};

/// Runs a command of a client if it is one of administrators. Returns false for others, which the game receives.
pub(in crate::server) fn take_command(
    server: &mut Server,
    number: ClientNum,
    words: &CommandArgs,
) -> bool {
    let is = |known: &str| words.command().eq_ignore_ascii_case(known);
    let is_enabled = server.core.admins.is_enabled();
    if is(LOGIN) && is_enabled {
        log_in(server, number, words);
    } else if is(LOGIN) && server.game.code() == GameCode::Native {
        // The rules would send it to all players as a chat line while they show the scores.
        tell_client(&mut server.core, number, ["This server has no logins."]);
    } else if !is_enabled {
        return false;
    } else if is("logout") {
        log_out(server, number);
    } else if is("whoami") {
        show_role(server, number);
    } else if CHAT_COMMANDS.iter().any(|known| is(known)) {
        // Those about a player or a voice have one more word before the text.
        let (said, behind) = (words.rest(1), words.rest(2));
        if is_login_text(&said) || is_login_text(&behind) {
            let answer = "Not sent to other players. Log in by the console: /login SECRET";
            tell_client(&mut server.core, number, [answer]);
            return true;
        }
        let is_line = is("say") || is("say_team");
        return is_line && chat_commands::take_text(server, number, &said);
    } else {
        return false;
    }
    true
}

/// Runs `login SECRET`.
fn log_in(server: &mut Server, number: ClientNum, words: &CommandArgs) {
    let core = &mut server.core;
    if words.len() != 2 {
        return tell_client(core, number, ["Usage: /login SECRET"]);
    }
    let Some(client) = core.clients.get_mut(number) else { return };
    let from = client.remote.address().ip();
    let answer = match core.admins.log_in(core.now, from, words.get(1)) {
        LoginResult::Granted(login) => {
            client.own.login = Some(login);
            record(core, number, LOGIN, "accepted");
            return show_role(server, number);
        }
        LoginResult::Wrong(left) => {
            record(core, number, LOGIN, "wrong secret");
            format!("Wrong secret. {} left.", counted(left, "try"))
        }
        LoginResult::Refused(time) => {
            format!("Too many tries. Wait {} s.", time.0.div_ceil(1000))
        }
    };
    tell_client(core, number, [&*answer]);
}

fn log_out(server: &mut Server, number: ClientNum) {
    let core = &mut server.core;
    if core.clients.get(number).is_none_or(|client| client.own.login.is_none()) {
        return tell_client(core, number, ["You are not logged in."]);
    }
    record(core, number, "logout", "done");
    if let Some(client) = core.clients.get_mut(number) {
        client.own.login = None;
    }
    tell_client(core, number, ["You are logged out."]);
}

/// Runs `whoami`.
fn show_role(server: &mut Server, number: ClientNum) {
    let core = &mut server.core;
    let login = core.clients.get(number).and_then(|client| client.own.login.as_deref());
    let role = login.and_then(|login| Some((login, core.admins.role(login)?)));
    let lines = match role {
        None => vec!["You are not logged in.".to_owned()],
        Some((login, role)) => {
            let Level { name, commands, max_time } = role.level;
            let mut lines = vec![format!("You are {login}, level {name}. Say !help for help.")];
            lines.push(commands.iter().map(|name| format!("!{name} ")).collect());
            lines.extend(max_time.as_ref().map(|time| format!("Longest ban and mute: {time}")));
            lines
        }
    };
    tell_client(core, number, lines.iter().map(String::as_str));
}
