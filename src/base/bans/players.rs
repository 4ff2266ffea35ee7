//! Console commands `ban`, `unban`, `mute` and `unmute`.
//!
//! They are about a player, an address, a network, a GUID or names, with time and reason.

use std::net::IpAddr;

use super::{
    commands::{Moderated, Named, add, draft, remove},
    entry::EntryKind,
    name_pattern::NamePattern,
    span::{Span, is_time_like},
    subject::Subject,
};
use crate::model::{CommandArgs, text};

/// Adds a ban or mute, and drops or tells the players that it is about.
pub(super) fn add_entry(host: &mut dyn Moderated, words: &CommandArgs, kind: EntryKind) {
    let (subject, at) = match target_of(&*host, words) {
        Ok(target) => target,
        Err(error) => return host.print(error),
    };
    let now = host.calendar();
    let span = Span::parse(words.get(at));
    if span.is_none() && is_time_like(words.get(at)) {
        let word = shown(words.get(at));
        return host.print(format!(
            "invalid time: {word} (expected e.g. 30m, 2h, 7d or 4w, or a reason that begins with a letter)"
        ));
    }
    let reason = words.rest(at + usize::from(span.is_some()));
    let expires = span.map(|Span(seconds)| now.saturating_add(seconds));
    if kind == EntryKind::Ban
        && let Err(error) = host.bans().check_lockout(&subject, now)
    {
        return host.print(format!("Error: {error}"));
    }
    let content = draft(&*host, kind, subject, expires, &reason);
    if !add(host, content) {
        return;
    }
    host.apply(kind);
}

/// Removes bans or mutes: by number, by subject, or those of a player in the game.
pub(super) fn remove_entry(host: &mut dyn Moderated, words: &CommandArgs, kind: EntryKind) {
    let wanted = words.get(1);
    let list = host.bans().list();
    let by_id =
        wanted.parse().ok().filter(|&id| list.get(id).is_some_and(|known| known.kind == kind));
    let id = match (by_id, target_of(&*host, words)) {
        (Some(id), _) if words.len() == 2 => Some(id),
        (_, Ok((subject, _))) => {
            list.id_of(kind, &subject).or_else(|| applied_to(&*host, kind, wanted))
        }
        (_, Err(error)) if words.len() < 2 => return host.print(error),
        (_, Err(_)) => None,
    };
    match id {
        Some(id) => remove(host, id),
        None => {
            let (kind, wanted) = (kind.word(), shown(&words.rest(1)));
            host.print(format!("no {kind} found: {wanted} (listbans lists them)"));
        }
    }
}

/// Number of the mute or ban that applies to a player in the game.
fn applied_to(host: &dyn Moderated, kind: EntryKind, wanted: &str) -> Option<u32> {
    let found = host.find(wanted).ok()?;
    host.bans().list().applied_to(kind, found.client().ok()?, host.calendar())
}

/// Subject that the first words name, and the place of the next word.
///
/// `address`, `guid` and `name` before a word tell what it is; else an address, a network or a GUID of 32 digits is
/// recognized, and a player's address is used.
fn target_of(host: &dyn Moderated, words: &CommandArgs) -> Result<(Subject, usize), String> {
    let is = |known: &str| words.len() > 2 && words.get(1).eq_ignore_ascii_case(known);
    let invalid = |word: &str, error: &dyn std::fmt::Display| format!("{}: {error}", shown(word));
    let second = words.get(2);
    if is("guid") {
        let subject = match (Subject::recognized(second), host.find(second)) {
            (Some(subject @ Subject::Guid(_)), _) => subject,
            (_, Ok(found)) => guid_of(&found)?,
            _ => Subject::guid(second).map_err(|error| invalid(second, &error))?,
        };
        return Ok((subject, 3));
    }
    if is("name") {
        let subject = match host.find(second) {
            Ok(found) => name_of(&found)?,
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
    let is_network_like = |(address, _): (&str, _)| address.parse::<IpAddr>().is_ok();
    if word.split_once('/').is_some_and(is_network_like) {
        let subject = Subject::network(word).map_err(|error| invalid(word, &error))?;
        return Ok((subject, at + 1));
    }
    let recognized = Subject::recognized(word).filter(|subject| at == 1 || is_network(subject));
    let subject = match recognized {
        Some(subject) => subject,
        None => address_of(host, word)?,
    };
    Ok((subject, at + 1))
}

const fn is_network(subject: &Subject) -> bool {
    matches!(subject, Subject::Network(_))
}

fn address_of(host: &dyn Moderated, wanted: &str) -> Result<Subject, String> {
    let found = host.find(wanted).map_err(|error| {
        format!("{} (expected a player, address, network or GUID)", shown(&error))
    })?;
    Ok(Subject::address(found.client()?.address))
}

fn guid_of(found: &Named) -> Result<Subject, String> {
    Subject::guid(found.client()?.guid).map_err(|_| {
        format!("client {} has no GUID, as clients of old protocols (use its address)", found.slot)
    })
}

fn name_of(found: &Named) -> Result<Subject, String> {
    NamePattern::of_name(found.client()?.name).map(Subject::Name).ok_or_else(|| {
        format!("client {} has a name without letters (use its address)", found.slot)
    })
}

fn shown(word: &str) -> String {
    text::shown_name(word.as_bytes())
}
