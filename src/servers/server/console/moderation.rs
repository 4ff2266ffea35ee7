//! Console commands `ban`, `unban`, `mute` and `unmute`.
//!
//! They are about a player, an address, a network, a GUID or names, with time and reason.

use super::{
    bans::{add, draft, remove},
    players::find_player,
};
use crate::{
    bans::{Client as Looked, EntryKind, NamePattern, Span, Subject},
    model::{ClientNum, CommandArgs, text},
    server::{moderation, state::Server},
    wire::userinfo::Userinfo,
};

/// Adds a ban or mute, and drops or tells the players that it is about.
pub(super) fn add_entry(server: &mut Server, words: &CommandArgs, kind: EntryKind) {
    let (subject, at) = match target_of(server, words) {
        Ok(target) => target,
        Err(error) => return server.core.console.print(error),
    };
    let now = moderation::calendar(&server.core);
    let span = Span::parse(words.get(at));
    let is_number = |word: &str| !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_digit());
    if span.is_none() && is_number(words.get(at)) {
        let error =
            format!("time without unit: {} (expected e.g. 30m, 2h or 7d)", shown(words.get(at)));
        return server.core.console.print(error);
    }
    let reason = words.rest(at + usize::from(span.is_some()));
    let expires = span.map(|Span(seconds)| now.saturating_add(seconds));
    let content = draft(server, kind, subject, expires, &reason);
    if !add(server, content) {
        return;
    }
    match kind {
        EntryKind::Mute => moderation::tell_muted(&mut server.core),
        EntryKind::Ban | EntryKind::Exception => moderation::drop_banned(server),
    }
}

/// Removes bans or mutes: by number, by subject, or those of a player in the game.
pub(super) fn remove_entry(server: &mut Server, words: &CommandArgs, kind: EntryKind) {
    let wanted = words.get(1);
    let list = server.core.bans.list();
    let by_id =
        wanted.parse().ok().filter(|&id| list.get(id).is_some_and(|known| known.kind == kind));
    let id = match (by_id, target_of(server, words)) {
        (Some(id), _) if words.len() == 2 => Some(id),
        (_, Ok((subject, _))) => {
            let applied = || applied_to(server, kind, find_player(&server.core, wanted).ok()?);
            list.id_of(kind, &subject).or_else(applied)
        }
        (_, Err(error)) if words.len() < 2 => return server.core.console.print(error),
        (_, Err(_)) => None,
    };
    match id {
        Some(id) => remove(server, id),
        None => {
            let (kind, wanted) = (kind.word(), shown(&words.rest(1)));
            server.core.console.print(format!("no {kind} found: {wanted} (listbans lists them)"));
        }
    }
}

/// Number of the mute or ban that applies to a player in the game.
pub(super) fn applied_to(server: &Server, kind: EntryKind, number: ClientNum) -> Option<u32> {
    let client = server.core.clients.get(number)?;
    let guid = Userinfo(&client.userinfo).guid();
    let looked = Looked { address: client.remote.address().ip(), guid, name: &client.name };
    let now = moderation::calendar(&server.core);
    let list = server.core.bans.list();
    let applied = match kind {
        EntryKind::Mute => list.mute_of(looked, now),
        EntryKind::Ban | EntryKind::Exception => list.ban_of(looked, now),
    };
    list.id_of(kind, &applied?.subject)
}

/// Subject that the first words name, and the place of the next word.
///
/// `address`, `guid` and `name` before a word tell what it is; else an address, a network or a GUID of 32 digits is
/// recognized, and a player's address is used.
fn target_of(server: &Server, words: &CommandArgs) -> Result<(Subject, usize), String> {
    let is = |known: &str| words.len() > 2 && words.get(1).eq_ignore_ascii_case(known);
    let invalid = |word: &str, error: &dyn std::fmt::Display| format!("{}: {error}", shown(word));
    let second = words.get(2);
    if is("guid") {
        let subject = match (Subject::recognized(second), find_player(&server.core, second)) {
            (Some(subject @ Subject::Guid(_)), _) => subject,
            (_, Ok(number)) => guid_of(server, number)?,
            _ => Subject::guid(second).map_err(|error| invalid(second, &error))?,
        };
        return Ok((subject, 3));
    }
    if is("name") {
        let subject = match find_player(&server.core, second) {
            Ok(number) => name_of(server, number)?,
            Err(_) => Subject::name(second).map_err(|error| invalid(second, &error))?,
        };
        return Ok((subject, 3));
    }
    let at = if is("address") { 2 } else { 1 };
    let word = words.get(at);
    if word.is_empty() {
        let name = words.command();
        return Err(format!(
            "Usage: {name} [address, guid or name] <player, address, network, GUID or name> [time] [reason]\n\
             e.g. {name} 3 2h spam, {name} 192.0.2.0/24, {name} guid 3 7d, {name} name \"bad*\""
        ));
    }
    let recognized = Subject::recognized(word).filter(|subject| at == 1 || is_network(subject));
    let subject = match recognized {
        Some(subject) => subject,
        None => address_of(server, word)?,
    };
    Ok((subject, at + 1))
}

const fn is_network(subject: &Subject) -> bool {
    matches!(subject, Subject::Network(_))
}

fn address_of(server: &Server, wanted: &str) -> Result<Subject, String> {
    let number = find_player(&server.core, wanted).map_err(|error| {
        format!("{} (expected a player, address, network or GUID)", shown(&error.to_string()))
    })?;
    let client =
        server.core.clients.get(number).ok_or_else(|| format!("client {number} is a bot"))?;
    Ok(Subject::address(client.remote.address().ip()))
}

fn guid_of(server: &Server, number: ClientNum) -> Result<Subject, String> {
    let client =
        server.core.clients.get(number).ok_or_else(|| format!("client {number} is a bot"))?;
    let guid = Userinfo(&client.userinfo).guid();
    Subject::guid(guid).map_err(|_| {
        format!("client {number} has no GUID, as clients of old protocols (use its address)")
    })
}

fn name_of(server: &Server, number: ClientNum) -> Result<Subject, String> {
    let client =
        server.core.clients.get(number).ok_or_else(|| format!("client {number} is a bot"))?;
    NamePattern::of_name(&client.name)
        .map(Subject::Name)
        .ok_or_else(|| format!("client {number} has a name without letters (use its address)"))
}

fn shown(word: &str) -> String {
    text::shown_name(word.as_bytes())
}
