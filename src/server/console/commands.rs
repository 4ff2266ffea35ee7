//! Console commands: one function each, called through the command table.
//!
//! Source: console commands of Quake III servers and the replies that tools match on.

use std::fmt::Write as _;

use super::{
    MAX_RESTART_DELAY_S, RESTART_DELAY_S, sanitize_chat,
    scripts::may_nest,
    table::{COMMANDS, CommandRow},
};
use crate::{
    game::Host as _,
    model::{CommandArgs, text},
    node::Hosted as _,
    server::{
        Server,
        client::{Client, ClientState},
        level::is_map_name,
        rate,
        status::{self, StatusRow, StatusState},
    },
    settings::{SetCommand, key, name_matches},
    wire::info::InfoString,
};

pub(super) fn run_variable(server: &mut Server, words: &CommandArgs, depth: u8) {
    let line = server.core.settings.get(words.get(1)).unwrap_or("").to_owned();
    if may_nest(&mut server.core, words.command(), depth) {
        server.run_nested(&line, depth + 1);
    }
}

pub(super) fn explain(server: &mut Server, words: &CommandArgs) {
    let wanted = words.get(1);
    let mut out = String::new();
    for command in COMMANDS {
        if wanted.is_empty() || command.name.eq_ignore_ascii_case(wanted) {
            let head = format!("{} {}", command.name, command.usage);
            let _ = writeln!(out, "{head:<30} {}", command.help);
        }
    }
    if out.is_empty() {
        out = format!("unknown command {wanted}; cmdlist lists all");
    }
    server.core.print_line(out);
}

pub(super) fn list_commands(server: &mut Server, words: &CommandArgs) {
    let named = |command: &&CommandRow| name_matches(words.get(1), command.name);
    let names: Vec<_> = COMMANDS.iter().filter(named).map(|command| command.name).collect();
    for name in &names {
        server.core.print_line(*name);
    }
    server.core.print_line(format!("{} commands", names.len()));
}

pub(super) fn list_settings(server: &mut Server, words: &CommandArgs) {
    let list = server.core.settings.cvarlist(words.get(1));
    server.core.print_lines(&list);
}

pub(super) fn list_counters(server: &mut Server, words: &CommandArgs) {
    let lines: Vec<_> = server
        .samples()
        .filter(|sample| name_matches(words.get(1), sample.name))
        .map(|sample| format!("{:<52} {}", sample.name, sample.value))
        .collect();
    lines.into_iter().for_each(|line| server.core.print_line(line));
}

pub(super) fn set(server: &mut Server, words: &CommandArgs, command: SetCommand) {
    if words.len() < 2 {
        server.core.print_line(format!("Usage: {} <name> <value>", words.command()));
    } else if words.len() == 2 {
        server.core.show_setting(words.get(1));
    } else {
        server.core.change_setting(command, words.get(1), &words.rest(2));
    }
}

pub(super) fn change_map(server: &mut Server, words: &CommandArgs, cheats: bool) {
    let map = words.get(1).to_owned();
    if !is_map_name(&map) {
        server
            .core
            .print_line(format!("Can't find map maps/{}.bsp", text::escaped(map.as_bytes())));
        return;
    }
    if server.play(&map) {
        // The server's own setting takes what it writes.
        let _ = server.core.settings.write(key::SV_CHEATS, i32::from(cheats));
        server.publish_settings();
    }
}

/// Restarts the level at once, or after a countdown that the game shows to clients.
pub(super) fn restart_in(server: &mut Server, words: &CommandArgs) {
    let asked = words.get(1);
    let seconds = if asked.is_empty() { RESTART_DELAY_S } else { text::atoi(asked) };
    let at = server.core.level.time + seconds.min(MAX_RESTART_DELAY_S) * 1000;
    if seconds > 0
        && !server.faults.has_ended_level()
        && server.game.show_restart_countdown(&mut server.core, at)
    {
        server.core.level.restart_at = Some(at);
    } else {
        server.restart_or_reload();
    }
}

pub(super) fn quit(server: &mut Server, words: &CommandArgs) {
    let reason = words.rest(1);
    let now = server.core.now;
    server.stop(now, if reason.is_empty() { "Server quit" } else { &reason });
}

pub(super) fn say(server: &mut Server, words: &CommandArgs) {
    let said = sanitize_chat(&words.rest(1));
    server.core.send_reliable_to_all(&format!("chat \"console: {said}\"\n"));
    server.core.print_line(format!("console: {said}"));
}

pub(super) fn tell_player(server: &mut Server, words: &CommandArgs) {
    if words.len() < 3 {
        server.core.print_line("Usage: tell <name or slot> <text>");
        return;
    }
    match server.core.find_player(words.get(1)) {
        Ok(number) => {
            let said = sanitize_chat(&words.rest(2));
            let command = format!("chat \"console_tell: {said}\"\n");
            server.core.send_reliable(number, &command.into());
            server.core.print_line(format!("console_tell: {said}"));
        }
        Err(error) => server.core.print_line(error.to_string()),
    }
}

pub(super) fn kick(server: &mut Server, words: &CommandArgs) {
    let wanted = words.rest(1);
    if wanted.is_empty() {
        server.core.print_line(
            "Usage: kick <player name>\nkick all = kick everyone\nkick allbots = kick all bots",
        );
    } else if wanted.eq_ignore_ascii_case("all") {
        for number in server.core.clients.numbers().chain(server.core.bots.numbers()) {
            server.drop_client(number, "was kicked");
        }
    } else if wanted.eq_ignore_ascii_case("allbots") {
        for number in server.core.bots.numbers() {
            server.drop_client(number, "was kicked");
        }
    } else {
        match server.core.find_player(&wanted) {
            Ok(number) => server.drop_client(number, "was kicked"),
            Err(error) => server.core.print_line(error.to_string()),
        }
    }
    server.process_pending_drops();
}

pub(super) fn client_kick(server: &mut Server, words: &CommandArgs) {
    let slot = words.get(1);
    if words.len() != 2 {
        server.core.print_line(format!("Usage: {} <client number>", words.command()));
    } else if slot.is_empty() || !slot.bytes().all(|byte| byte.is_ascii_digit()) {
        server.core.print_line(format!("Bad slot number: {slot}"));
    } else {
        let slot = usize::try_from(text::atoi(slot)).unwrap_or(usize::MAX);
        match server.core.player_in(slot) {
            Ok(number) => server.drop_client(number, "was kicked"),
            Err(error) => server.core.print_line(error.to_string()),
        }
    }
    server.process_pending_drops();
}

pub(super) fn dump_user(server: &mut Server, words: &CommandArgs) {
    match server.core.find_player(words.get(1)) {
        Ok(number) => {
            let info = InfoString::parse(server.core.userinfo(number));
            server.core.print_line("userinfo\n--------");
            server.core.print_pairs(info.iter().filter(|(name, _)| *name != "password"));
        }
        Err(error) => server.core.print_line(error.to_string()),
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
    server.core.print_lines(&table);
    show_downloads(server);
    server.core.show_masters();
}

/// Prints a line for each download, behind the table that tools read.
fn show_downloads(server: &mut Server) {
    let line = |(number, client): (_, &Client)| {
        let (name, done, len) = client.downloads.progress()?;
        let percent = done * 100 / len.max(1);
        Some(format!("client {number} downloads {name}: {percent}% of {} KiB", len.div_ceil(1024)))
    };
    let lines: Vec<_> = server.core.clients.iter().filter_map(line).collect();
    for line in lines {
        server.core.print_line(line);
    }
}
