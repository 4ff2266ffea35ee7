//! Console commands: one function each, called through the command table.
//!
//! Source: console commands of Quake III servers and the replies that tools match on.

use super::{
    chat::sanitize_chat,
    execute,
    players::{find_player, player_in},
    problems::Cause,
    rotation,
    scripts::may_nest,
    startup::end_text,
    table::COMMANDS,
    texts::OpenText,
};
use crate::{
    bans::{MAX_REASON_LEN, bounded_text},
    model::{CommandArgs, text},
    server::{
        bots::userinfo_of,
        client::{Client, ClientState},
        current_level::is_map_name,
        heartbeat,
        info_strings::publish_settings,
        level, rate,
        state::Server,
        status::{self, StatusRow, StatusState},
    },
    serving::connection::Service as _,
    settings::{
        SetCommand, author_of, is_secret_name, key, name_matches, nearest_of, setting_named,
        write_back,
    },
    wire::info::InfoString,
};

/// Default and longest delay of `map_restart`, in seconds.
const RESTART_DELAY_S: i32 = 5;
const MAX_RESTART_DELAY_S: i32 = 3600;

pub(super) fn run_variable(server: &mut Server, words: &CommandArgs, depth: u8) {
    let name = words.get(1);
    if words.len() != 2 {
        return server.core.console.print("Usage: vstr <name>");
    }
    server.startup.use_variable(name);
    let shown = text::escaped(name.as_bytes());
    let Some(line) = server.core.settings.get(name).map(str::to_owned) else {
        let settings = &server.core.settings;
        let near = nearest_of(name, settings.variables().map(|(name, ..)| name));
        let near = near.map(|near| format!("; did you mean {near}?")).unwrap_or_default();
        let error = format!("vstr: variable {shown} not set{near}");
        return execute::report(server, Cause::Failed, error);
    };
    if is_secret_name(name) {
        return execute::report(server, Cause::Failed, format!("vstr: {shown} is secret"));
    }
    if may_nest(server, words.command(), depth) {
        rotation::note_step(server, name, &line);
        let author = author_of(&server.core.settings, name).unwrap_or_default();
        server.texts.open(OpenText::new(&line, author, depth + 1, None));
    }
}

/// Puts off the rest of the line, and of the scripts around it, for some frames.
pub(super) fn wait(server: &mut Server, words: &CommandArgs) {
    let frames = if words.len() > 1 { text::atoi(words.get(1)) } else { 1 };
    match server.texts.wait(frames) {
        Some(over) => over.iter().for_each(|text| end_text(server, text)),
        None => execute::report(server, Cause::Failed, "wait ignored: too many lines wait"),
    }
}

/// Name, usage and help of the commands of the console and the game, by name.
pub(super) fn known_commands(server: &Server) -> Vec<[&'static str; 3]> {
    let own = COMMANDS.iter().map(|command| [command.name, command.usage, command.help]);
    let of_game = server.game.console_commands().iter();
    let of_game = of_game.map(|command| [command.name, command.usage, command.help]);
    let mut all: Vec<_> = own.chain(of_game).collect();
    // Commands of the console win over those of the game.
    all.sort_by_key(|row| row[0]);
    all.dedup_by_key(|row| row[0]);
    all
}

pub(super) fn explain(server: &mut Server, words: &CommandArgs) {
    let wanted = words.get(1);
    let known = known_commands(server);
    let is_wanted = |row: &&[&str; 3]| wanted.is_empty() || row[0].eq_ignore_ascii_case(wanted);
    let mut is_found = false;
    for [name, usage, help] in known.iter().filter(is_wanted) {
        let head = format!("{name} {usage}");
        server.core.console.print(format!("{head:<30} {help}"));
        is_found = true;
    }
    if is_found {
        return;
    }
    let shown = text::escaped(wanted.as_bytes());
    if let Some(setting) = setting_named(wanted) {
        let name = setting.name;
        return server.core.console.print(format!("{name} is a setting: {}", setting.help));
    }
    let near = nearest_of(wanted, known.iter().map(|row| row[0]));
    let near = near.map(|near| format!("; did you mean {near}?")).unwrap_or_default();
    server.core.console.print(format!("unknown command {shown}{near}; cmdlist lists all"));
}

pub(super) fn list_commands(server: &mut Server, words: &CommandArgs) {
    let known = known_commands(server);
    let names = known.iter().map(|row| row[0]).filter(|name| name_matches(words.get(1), name));
    let names: Vec<_> = names.collect();
    for name in &names {
        server.core.console.print(*name);
    }
    server.core.console.print(format!("{} commands", names.len()));
}

pub(super) fn list_settings(server: &mut Server, words: &CommandArgs) {
    let list = server.core.settings.cvarlist(words.get(1));
    server.core.console.print_lines(&list);
}

pub(super) fn list_counters(server: &mut Server, words: &CommandArgs) {
    let lines: Vec<_> = server
        .samples()
        .filter(|sample| name_matches(words.get(1), &sample.name))
        .map(|sample| format!("{:<52} {}", sample.name, sample.value))
        .collect();
    lines.into_iter().for_each(|line| server.core.console.print(line));
}

pub(super) fn set(server: &mut Server, words: &CommandArgs, command: SetCommand) {
    if words.len() < 2 {
        server.core.console.print(format!("Usage: {} <name> <value>", words.command()));
    } else if words.len() == 2 {
        execute::show_setting(&mut server.core, words.get(1));
    } else {
        execute::change_setting(server, command, words.get(1), &words.rest(2));
    }
}

pub(super) fn change_map(server: &mut Server, words: &CommandArgs, cheats: bool) {
    let map = words.get(1).to_owned();
    if map.is_empty() {
        return server.core.console.print(format!("Usage: {} <name>", words.command()));
    }
    if !is_map_name(&map) {
        let suggestion = server.maps.suggestion(&map);
        let shown = text::escaped(map.as_bytes());
        let error = format!("Can't find map maps/{shown}.bsp{suggestion}");
        return execute::report(server, Cause::Map, error);
    }
    if execute::play(server, &map) {
        // The server's own setting takes what it writes.
        let _ = server.core.settings.write(key::SV_CHEATS, i32::from(cheats));
        publish_settings(&mut server.core);
    }
}

/// Restarts the level at once, or after a countdown that the game shows to clients.
pub(super) fn restart_in(server: &mut Server, words: &CommandArgs) {
    // An empty word is an argument: 0 seconds.
    let seconds = if words.len() < 2 { RESTART_DELAY_S } else { text::atoi(words.get(1)) };
    let at = server.core.level.time + seconds.min(MAX_RESTART_DELAY_S) * 1000;
    if seconds > 0
        && !server.faults.has_ended_level()
        && server.game.show_restart_countdown(&mut server.core.host(server.game.code()), at)
    {
        server.core.level.restart_at = Some(at);
    } else {
        restart_or_reload(server);
    }
}

/// Restarts the level, at most once at a time: a vote and a limit may ask for it together. Reloads the map if a latched
/// setting requires it.
pub(in crate::server) fn restart_or_reload(server: &mut Server) {
    let now = server.core.now;
    if server.restarted_at.replace(now) == Some(now) {
        server.core.console.print("map_restart ignored: the level has just restarted");
        return;
    }
    let latched = |name| server.core.settings.latched(name).is_some();
    if latched("sv_maxclients") || latched("g_gametype") {
        server.core.console.print("variable change -- restarting.");
        // The rotation continues: the operator chose no other map.
        let settings = &server.core.settings;
        let next = settings.text(key::NEXTMAP).to_owned();
        let author = author_of(settings, key::NEXTMAP.setting().name).unwrap_or_default();
        let map = server.core.level.map.clone();
        execute::play(server, &map);
        let _ = write_back(&mut server.core.settings, key::NEXTMAP, &next, author);
    } else {
        level::restart_level(server);
    }
}

pub(super) fn quit(server: &mut Server, words: &CommandArgs) {
    let reason = words.rest(1);
    server.stop(if reason.is_empty() { "Server quit" } else { &reason });
}

pub(super) fn say(server: &mut Server, words: &CommandArgs) {
    let said = sanitize_chat(&words.rest(1));
    server.core.audience().send_to_all(&format!("chat \"console: {said}\"\n"));
    server.core.console.print(format!("console: {said}"));
}

/// Shows text in the middle of the screens of all clients.
pub(super) fn show_center_text(server: &mut Server, words: &CommandArgs) {
    if words.len() < 2 {
        return server.core.console.print("Usage: cp <text>");
    }
    let said = sanitize_chat(&words.rest(1));
    server.core.audience().send_to_all(&format!("cp \"{said}\"\n"));
}

pub(super) fn tell_player(server: &mut Server, words: &CommandArgs) {
    if words.len() < 3 {
        server.core.console.print("Usage: tell <name or slot> <text>");
        return;
    }
    match find_player(&server.core, words.get(1)) {
        Ok(number) => {
            let said = sanitize_chat(&words.rest(2));
            let command = format!("chat \"console_tell: {said}\"\n");
            server.core.audience().send(number, &command.into());
            server.core.console.print(format!("console_tell: {said}"));
        }
        Err(error) => server.core.console.print(error.to_string()),
    }
}

pub(super) fn kick(server: &mut Server, words: &CommandArgs) {
    let wanted = words.rest(1);
    if wanted.is_empty() {
        server.core.console.print(
            "Usage: kick <player name>\nkick all = kick everyone\nkick allbots = kick all bots",
        );
    } else if wanted.eq_ignore_ascii_case("all") {
        kick_all(server);
    } else if wanted.eq_ignore_ascii_case("allbots") {
        kick_bots(server);
    } else {
        // A name may have spaces. Else the first word is the player, and the rest is the reason.
        let whole = find_player(&server.core, &wanted).map(|number| (number, String::new()));
        let first = || find_player(&server.core, words.get(1));
        match whole
            .or_else(|error| first().map_err(|_| error).map(|number| (number, words.rest(2))))
        {
            Ok((number, reason)) => server.drop_client(number, &kick_text(&reason)),
            Err(error) => server.core.console.print(error.to_string()),
        }
    }
    server.process_pending_drops();
}

/// Text that all players are told about a kicked one.
fn kick_text(reason: &str) -> String {
    let reason = bounded_text(reason, MAX_REASON_LEN);
    if reason.is_empty() { "was kicked".to_owned() } else { format!("was kicked: {reason}") }
}

pub(super) fn kick_all(server: &mut Server) {
    for number in server.core.clients.keys().chain(server.core.bots.numbers()) {
        server.drop_client(number, "was kicked");
    }
    server.process_pending_drops();
}

pub(super) fn kick_bots(server: &mut Server) {
    for number in server.core.bots.numbers() {
        server.drop_client(number, "was kicked");
    }
    server.process_pending_drops();
}

pub(super) fn client_kick(server: &mut Server, words: &CommandArgs) {
    let slot = words.get(1);
    if words.len() < 2 {
        server.core.console.print(format!("Usage: {} <client number>", words.command()));
    } else if slot.is_empty() || !slot.bytes().all(|byte| byte.is_ascii_digit()) {
        server.core.console.print(format!("Bad slot number: {slot}"));
    } else {
        let slot = usize::try_from(text::atoi(slot)).unwrap_or(usize::MAX);
        match player_in(&server.core, slot) {
            Ok(number) => server.drop_client(number, &kick_text(&words.rest(2))),
            Err(error) => server.core.console.print(error.to_string()),
        }
    }
    server.process_pending_drops();
}

pub(super) fn dump_user(server: &mut Server, words: &CommandArgs) {
    match find_player(&server.core, words.get(1)) {
        Ok(number) => {
            let info =
                InfoString::parse(userinfo_of(&server.core.clients, &server.core.bots, number));
            server.core.console.print("userinfo\n--------");
            let shown = info.iter().filter(|(name, _)| *name != "password");
            server.core.console.print_pairs(shown);
        }
        Err(error) => server.core.console.print(error.to_string()),
    }
}

/// Rate of a bot in the status table, as engines show it.
const BOT_RATE: u32 = 16_384;

pub(super) fn show_status(server: &mut Server) {
    let game = &server.game;
    let core = &server.core;
    let mut rows: Vec<_> = core
        .clients
        .iter()
        .map(|(number, client)| StatusRow {
            slot: number.index(),
            score: game.score(number),
            state: match client.state {
                ClientState::Connected(_) => StatusState::Connecting,
                ClientState::Primed(_) => StatusState::Primed { ping_ms: client.ping_ms() },
                ClientState::Active(_) => StatusState::Active { ping_ms: client.ping_ms() },
                ClientState::Zombie(_) => StatusState::Zombie,
            },
            name: if client.is_zombie() { String::new() } else { client.name.clone() },
            last_packet_ms: core.now.since(client.received_at).0,
            address: client.remote.address().to_string(),
            qport: client.remote.qport().0,
            rate: rate::granted(&core.settings, client.send_rate, client.remote.address()),
        })
        .collect();
    rows.extend(core.bots.iter().map(|(number, bot)| StatusRow {
        slot: number.index(),
        score: game.score(number),
        state: StatusState::Active { ping_ms: 0 },
        name: bot.name.clone(),
        last_packet_ms: 0,
        address: "bot".to_owned(),
        qport: 0,
        rate: BOT_RATE,
    }));
    rows.sort_by_key(|row| row.slot);
    let style = core.settings.choice(key::SV_STATUS_STYLE);
    let table = status::table(style, &core.level.map, &rows);
    server.core.console.print_lines(&table);
    if let Some(note) = server.game.status_note() {
        server.core.console.print(note);
    }
    show_downloads(server);
    let core = &mut server.core;
    for line in core.announcer.shown(&core.settings, core.now) {
        core.console.print(line);
    }
    if let Some(line) = core.drain.line(core.now) {
        core.console.print(line);
    }
}

/// Prints a line for each download, behind the table that tools read.
fn show_downloads(server: &mut Server) {
    let line = |(number, client): (_, &Client)| {
        let (name, done, len) = client.own.downloads.progress()?;
        let percent = done * 100 / len.max(1);
        Some(format!("client {number} downloads {name}: {percent}% of {} KiB", len.div_ceil(1024)))
    };
    let lines: Vec<_> = server.core.clients.iter().filter_map(line).collect();
    for line in lines {
        server.core.console.print(line);
    }
}

/// Runs the console command `heartbeat`.
pub(super) fn request_heartbeat(server: &mut Server) {
    let core = &mut server.core;
    match heartbeat::obstacle(&core.settings) {
        Some(obstacle) => core.console.print(obstacle),
        None if core.drain.is_on() => core.console.print("heartbeat: the server drains"),
        None => core.announcer.request_round(),
    }
}
