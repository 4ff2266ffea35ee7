//! String commands of clients: table and effects.
//!
//! Source: QuakeWorld protocol 28, string commands.

use super::{
    MAX_CLIENTS, QwServer,
    admission::{is_password, set_rate},
    client::{Client, MAX_USERINFO_LEN},
    drop::{DropReason, PRINT_HIGH},
    names::plain,
    settings::{Z_JOIN_OBSERVE, key},
    signon::is_told,
};
use crate::{
    model::Millis,
    observe::LogEvent,
    quakeworld::{
        ServerMessage,
        bytes::Text,
        info::{Info, MAX_WORD_LEN},
    },
};

/// Command of a client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Command {
    New,
    SoundList,
    ModelList,
    PreSpawn,
    Spawn,
    Begin,
    Drop,
    Say,
    SayTeam,
    SetInfo,
    Pings,
    Kill,
    ServerInfo,
    MessageLevel,
    Rate,
    Follow,
    Join,
    Observe,
    Download,
    NextDownload,
    StopDownload,
    Users,
    Pause,
    /// Known and without effect.
    Nothing,
}

/// Commands by their names.
const COMMANDS: [(&str, Command); 30] = [
    ("new", Command::New),
    ("soundlist", Command::SoundList),
    ("modellist", Command::ModelList),
    ("prespawn", Command::PreSpawn),
    ("spawn", Command::Spawn),
    ("begin", Command::Begin),
    ("drop", Command::Drop),
    ("disconnect", Command::Drop),
    ("say", Command::Say),
    ("say_team", Command::SayTeam),
    ("setinfo", Command::SetInfo),
    ("pings", Command::Pings),
    ("kill", Command::Kill),
    ("serverinfo", Command::ServerInfo),
    ("msg", Command::MessageLevel),
    ("rate", Command::Rate),
    ("ptrack", Command::Follow),
    ("join", Command::Join),
    ("observe", Command::Observe),
    ("download", Command::Download),
    ("nextdl", Command::NextDownload),
    ("stopdownload", Command::StopDownload),
    ("stopdl", Command::StopDownload),
    ("users", Command::Users),
    ("pext", Command::Nothing),
    ("pause", Command::Pause),
    ("noaim", Command::Nothing),
    ("snap", Command::Nothing),
    ("enables", Command::Nothing),
    ("god", Command::Nothing),
];

/// Runs a string command of a client.
pub(super) fn run_command(server: &mut QwServer, now: Millis, slot: usize, text: Text<'_>) {
    let mut words = text.words();
    let name = words.next().unwrap_or_default();
    let known = COMMANDS.iter().find(|(known, _)| name == *known);
    let Some((_, command)) = known else {
        if server.clients[slot].as_deref().is_some_and(Client::is_playing) {
            let shown: Vec<u8> = super::names::printable(name.bytes()).take(64).collect();
            let text = [b"Unknown command \"", &shown[..], b"\"\n"].concat();
            super::chat::print_client(server, slot, PRINT_HIGH, &text);
        }
        return;
    };
    match command {
        Command::New => super::signon::send_level(server, slot),
        Command::SoundList => super::signon::send_list(server, slot, false, words),
        Command::ModelList => super::signon::send_list(server, slot, true, words),
        Command::PreSpawn => super::signon::send_signon(server, now, slot, words),
        Command::Spawn => super::signon::send_players(server, now, slot, words),
        Command::Begin => super::signon::begin(server, now, slot, words),
        Command::Drop => super::drop::drop_client(server, now, slot, DropReason::Left),
        Command::Say => super::chat::say(server, now, slot, rest(text), false),
        Command::SayTeam => super::chat::say(server, now, slot, rest(text), true),
        Command::SetInfo => {
            let (key, value) = (words.next(), words.next());
            set_info(server, now, slot, key.unwrap_or_default(), value.unwrap_or_default());
        }
        Command::Pings => send_pings(server, slot),
        Command::Kill => kill(server, now, slot),
        Command::ServerInfo => send_serverinfo(server, slot),
        Command::MessageLevel => set_message_level(server, slot, words.next()),
        Command::Rate => set_client_rate(server, slot, words.next()),
        Command::Follow => follow(server, slot, words.next()),
        Command::Join => change_side(server, now, slot, false),
        Command::Observe => change_side(server, now, slot, true),
        Command::Download => {
            super::download::start_download(server, now, slot, words.next().unwrap_or_default())
        }
        Command::NextDownload => super::download::continue_download(server, slot),
        Command::StopDownload => {
            if let Some(client) = &mut server.clients[slot] {
                client.transfer = None;
            }
        }
        Command::Users => send_users(server, slot),
        Command::Pause => super::pause::pause_by_client(server, now, slot),
        Command::Nothing => {}
    }
}

/// Changes a key of the userinfo.
fn set_info(server: &mut QwServer, now: Millis, slot: usize, key: Text<'_>, value: Text<'_>) {
    let Some(client) = &mut server.clients[slot] else { return };
    let key = key.bytes();
    if matches!(key, b"password" | b"spectator" | b"ip") || key.len() > MAX_WORD_LEN {
        return;
    }
    let free;
    let mut value = value.bytes();
    if key == b"name" {
        let old = client.name().to_vec();
        free = server.free_name(slot, value);
        if free == old {
            return;
        }
        let Some(client) = &mut server.clients[slot] else { return };
        if !client.may_rename(now) {
            let text = b"Wait before you change your name again\n";
            return super::chat::print_client(server, slot, PRINT_HIGH, text);
        }
        value = &free;
        if let Some(suppressed) = server.log.allows(LogEvent::ClientChange, now) {
            let (old, free) = (plain(&old), plain(&free));
            log::info!("client {slot} \"{old}\" name changed to \"{free}\"{suppressed}");
        }
    }
    let Some(client) = &mut server.clients[slot] else { return };
    let old = client.info.as_bytes().to_vec();
    if client.info.set(key, value).is_err() {
        return;
    }
    if key == b"rate" {
        set_rate(client, server.settings.values().int(key::SV_MAXRATE));
    }
    let is_renamed = key == b"name";
    if client.info.as_bytes() == old || !is_told(key) {
        return;
    }
    if client.is_info_due || !client.may_tell_info(now) {
        client.is_info_due = true;
        return;
    }
    server.broadcast(&ServerMessage::SetInfo {
        player: slot as u8,
        key: Text::new(key),
        value: Text::new(value),
    });
    if is_renamed {
        super::bans::drop_if_banned(server, slot);
    }
}

/// Tells of userinfos that changed more often than others are told at once.
pub(super) fn tell_changed_infos(server: &mut QwServer, now: Millis) {
    for slot in 0..MAX_CLIENTS {
        let Some(client) = &mut server.clients[slot] else { continue };
        if client.is_connected() && client.is_info_due && client.may_tell_info(now) {
            client.is_info_due = false;
            super::signon::broadcast_client(server, now, slot);
        }
    }
}

fn send_pings(server: &mut QwServer, slot: usize) {
    let mut message = Vec::new();
    for (other, client) in server.clients.iter().enumerate() {
        let Some(client) = client.as_deref().filter(|client| client.is_connected()) else {
            continue;
        };
        let player = other as u8;
        let ping = client.timing.ping().min(9999) as i16;
        for part in [
            ServerMessage::UpdatePing { player, ping },
            ServerMessage::UpdatePl { player, percent: client.loss },
        ] {
            super::write_message(&mut server.scratch, &part);
            message.extend_from_slice(&server.scratch);
        }
    }
    if let Some(client) = &mut server.clients[slot] {
        client.queue(&message);
    }
}

fn kill(server: &mut QwServer, now: Millis, slot: usize) {
    let is_playing = |client: &&mut Box<Client>| client.is_playing() && !client.is_spectator;
    let Some(client) = server.clients[slot].as_mut().filter(is_playing) else { return };
    if client.may_act(now) {
        server.level.game.kill(slot);
        super::events::handle_events(server, now);
    }
}

fn send_serverinfo(server: &mut QwServer, slot: usize) {
    let mut text = Vec::new();
    for (key, value) in crate::quakeworld::info::pairs(server.settings.serverinfo()) {
        text.extend_from_slice(key);
        text.extend(std::iter::repeat_n(b' ', 20_usize.saturating_sub(key.len()).max(1)));
        text.extend_from_slice(value);
        text.push(b'\n');
    }
    super::chat::print_client(server, slot, PRINT_HIGH, &text);
}

fn send_users(server: &mut QwServer, slot: usize) {
    let mut text = b"userid name\n------ ----\n".to_vec();
    for client in server.clients.iter().flatten().filter(|client| client.is_connected()) {
        text.extend_from_slice(format!("{:6} ", client.user_id).as_bytes());
        text.extend_from_slice(client.name());
        text.push(b'\n');
    }
    super::chat::print_client(server, slot, PRINT_HIGH, &text);
}

fn set_message_level(server: &mut QwServer, slot: usize, level: Option<Text<'_>>) {
    let Some(client) = &mut server.clients[slot] else { return };
    if let Some(level) = level.and_then(Text::number) {
        client.message_level = level.clamp(0, 4) as u8;
    }
}

fn set_client_rate(server: &mut QwServer, slot: usize, rate: Option<Text<'_>>) {
    let Some(client) = &mut server.clients[slot] else { return };
    if let Some(rate) = rate.and_then(Text::number)
        && client.info.set(b"rate", rate.to_string().as_bytes()).is_ok()
    {
        set_rate(client, server.settings.values().int(key::SV_MAXRATE));
    }
}

/// Lets a spectator follow a player, or fly freely.
fn follow(server: &mut QwServer, slot: usize, player: Option<Text<'_>>) {
    let player = player.and_then(Text::number).and_then(|number| usize::try_from(number).ok());
    let is_player = |other: &usize| {
        let client = server.clients.get(*other).and_then(Option::as_deref);
        *other != slot && client.is_some_and(|one| one.is_playing() && !one.is_spectator)
    };
    let followed = player.filter(is_player);
    if let Some(client) = server.clients[slot].as_mut().filter(|client| client.is_spectator) {
        client.follows = followed;
    }
}

/// Changes a player to a spectator, or the other way around.
fn change_side(server: &mut QwServer, now: Millis, slot: usize, watches: bool) {
    let (players, spectators) = server.population();
    let values = server.settings.values();
    let Some(client) = server.clients[slot].as_deref_mut().filter(|one| one.is_playing()) else {
        return;
    };
    if client.is_spectator == watches {
        return;
    }
    let (count, max, password) = if watches {
        (spectators, key::MAXSPECTATORS, key::SPECTATOR_PASSWORD)
    } else {
        (players, key::MAXCLIENTS, key::PASSWORD)
    };
    let is_full = count >= values.int(max).unsigned_abs() as usize;
    // The server does not keep the password of the userinfo.
    let is_closed = server.settings.password(password).is_some_and(|word| !is_password(b"", word));
    let refusal: Option<&[u8]> = if client.z_extensions & Z_JOIN_OBSERVE == 0 {
        Some(b"Your client cannot change sides: connect again\n")
    } else if is_full {
        Some(b"No free slot\n")
    } else if is_closed {
        Some(b"A password is needed: connect again\n")
    } else if !client.may_act(now) {
        Some(b"Wait before you change sides again\n")
    } else {
        None
    };
    if let Some(text) = refusal {
        return super::chat::print_client(server, slot, PRINT_HIGH, text);
    }
    client.is_spectator = watches;
    client.follows = None;
    client.frags = 0;
    client.leafs.forget();
    let value: &[u8] = if watches { b"1" } else { b"" };
    let mut info = Info::from_received(client.info.as_bytes(), MAX_USERINFO_LEN);
    if info.set_any(b"*spectator", value).is_ok() {
        client.info = info;
    }
    let mut text = client.name().to_vec();
    text.extend_from_slice(if watches { b" became a spectator\n" } else { b" joined the game\n" });
    log::info!("client {slot} {}", if watches { "became a spectator" } else { "joined the game" });
    server.level.game.leave(slot);
    server.level.game.begin(slot, watches);
    for other in server.clients.iter_mut().flatten().filter(|other| other.follows == Some(slot)) {
        other.follows = None;
    }
    super::signon::broadcast_client(server, now, slot);
    super::chat::print_all(server, PRINT_HIGH, &text);
    super::events::handle_events(server, now);
}

/// Text behind the command, without quotes around it.
fn rest(text: Text<'_>) -> Text<'_> {
    let bytes = text.bytes().trim_ascii_start();
    let end = bytes.iter().position(|byte| *byte <= b' ').unwrap_or(bytes.len());
    let rest = bytes[end..].trim_ascii();
    let quoted = rest.strip_prefix(b"\"").map(|rest| rest.strip_suffix(b"\"").unwrap_or(rest));
    Text::new(quoted.unwrap_or(rest))
}
