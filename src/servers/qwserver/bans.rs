//! Bans and mutes: masks of QuakeWorld on the list, effects on clients.
//!
//! Source: QuakeWorld protocol 28, commands `addip`, `removeip`, `listip`, `filterban`; MVDSV's words behind `addip`.

use std::net::{IpAddr, SocketAddr};

use super::{
    MAX_CLIENTS, QwServer,
    console::information::find_user,
    drop::{DropReason, PRINT_HIGH, drop_with_text},
    names::{plain, printable},
    settings::key,
};
use crate::{
    bans::{
        BanStore, Client as Looked, EntryKind, Moderated, Named, Subject, add, draft, parse_mask,
        remove,
    },
    model::CommandArgs,
    quakeworld::{channel::header::CONNECTIONLESS, connectionless::Request},
};

/// Reads an address, a network such as `10.0.0.0/8`, or the first numbers of an address such as `192.168`.
fn parse(text: &str) -> Option<Subject> {
    // Zeros at the end of an IPv4 address match everything, as in other servers.
    let whole = match text.parse::<IpAddr>().map(|address| address.to_canonical()) {
        Ok(IpAddr::V4(ip)) => format!("{ip}/{}", 32 - ip.to_bits().trailing_zeros() / 8 * 8),
        Ok(IpAddr::V6(_)) | Err(_) => text.trim_end_matches('.').to_owned(),
    };
    parse_mask(&whole).filter(|_| !text.starts_with('*')).map(Subject::Network)
}

/// End that a word of MVDSV names: `+SECONDS`, a time in seconds since 1970, or 0 for never.
fn parse_end(word: &str, now: u64) -> Option<Option<u64>> {
    let number = |digits: &str| digits.parse::<u64>().ok();
    match word.strip_prefix('+') {
        Some(seconds) => Some(Some(now.saturating_add(number(seconds)?))),
        None => Some(number(word)?).map(|end| Some(end).filter(|&end| end > 0)),
    }
}

/// Runs `addip MASK [ban|safe] [+SECONDS]`.
pub(super) fn add_ip(server: &mut QwServer, args: &CommandArgs) {
    let Some(subject) = mask(server, args) else { return };
    let mut words = args.arguments()[1..].iter().map(String::as_str).peekable();
    let kind = match words.next_if(|word| matches!(*word, "ban" | "safe")) {
        Some("safe") => EntryKind::Exception,
        _ => EntryKind::Ban,
    };
    let now = server.calendar();
    let end = words.next().map_or(Some(None), |word| parse_end(word, now));
    let Some(expires) = end.filter(|_| words.next().is_none()) else {
        return server.console.print("usage: addip MASK [ban|safe] [+SECONDS]\n");
    };
    let content = draft(server, kind, subject, expires, "");
    if add(server, content) {
        server.apply(EntryKind::Ban);
    }
}

/// Runs `removeip MASK`.
pub(super) fn remove_ip(server: &mut QwServer, args: &CommandArgs) {
    let Some(subject) = mask(server, args) else { return };
    let list = server.bans.list();
    let ids = [EntryKind::Ban, EntryKind::Exception].map(|kind| list.id_of(kind, &subject));
    if ids == [None, None] {
        return server.console.print(&format!("{subject} not in the list\n"));
    }
    ids.into_iter().flatten().for_each(|id| remove(server, id));
}

/// Runs `listip`.
pub(super) fn list_ips(server: &mut QwServer) {
    let networks = server.bans.list().of_kind(EntryKind::Ban);
    let networks = networks.filter(|(_, content)| matches!(content.subject, Subject::Network(_)));
    let text: String = networks.map(|(_, content)| format!("{}\n", content.subject)).collect();
    server.console.print(&text);
}

fn mask(server: &mut QwServer, args: &CommandArgs) -> Option<Subject> {
    let mask = parse(args.get(1));
    if mask.is_none() {
        let shown = crate::model::text::shown_name(args.get(1).as_bytes());
        server.console.print(&format!(
            "{}: invalid mask {shown} (expected an address, 192.168 or 10.0.0.0/8)\n",
            args.command()
        ));
    }
    mask
}

/// Whether a datagram is refused for its address. A banned client is refused only when it connects, and is told why then;
/// one in the game reads in the answer to its packet that it is dropped.
pub(super) fn refuses(server: &QwServer, from: SocketAddr, bytes: &[u8]) -> bool {
    let is_filter = server.settings.values().flag(key::FILTERBAN);
    let is_listed = server.bans.ban_of(Looked::at(from.ip()), server.calendar()).is_some();
    let is_told = || {
        let is_client = || server.clients.iter().flatten().any(|client| client.address() == from);
        match bytes.starts_with(CONNECTIONLESS) {
            true => {
                matches!(Request::parse(bytes), Ok(Request::GetChallenge | Request::Connect(_)))
            }
            false => is_client(),
        }
    };
    is_listed == is_filter && !(is_filter && is_told())
}

/// Refusal of a client that is banned.
pub(super) fn refusal(server: &QwServer, address: IpAddr, name: &[u8]) -> Option<String> {
    if !server.settings.values().flag(key::FILTERBAN) {
        return None;
    }
    let (now, name) = (server.calendar(), plain(name));
    server.bans.refusal(Looked { address, guid: "", name: &name }, now)
}

/// Drops a client that is banned, e.g. by its new name.
pub(super) fn drop_if_banned(server: &mut QwServer, slot: usize) {
    let client = server.clients[slot].as_deref().filter(|client| client.is_connected());
    let text = client.and_then(|one| refusal(server, one.address().ip(), one.name()));
    if let Some(text) = text {
        let text: Vec<u8> = printable(text.as_bytes()).chain(*b"\n").collect();
        drop_with_text(server, server.now, slot, DropReason::Banned, &text);
    }
}

/// Text for a client that may not chat.
pub(super) fn mute_text(server: &QwServer, slot: usize) -> Option<Vec<u8>> {
    // Most servers have no entry, and a name costs an allocation.
    if server.bans.list().is_empty() {
        return None;
    }
    let client = server.clients[slot].as_deref()?;
    let (now, name) = (server.calendar(), plain(client.name()));
    let looked = Looked { address: client.address().ip(), guid: "", name: &name };
    let notice = server.bans.mute_notice(looked, now)?;
    Some(printable(notice.as_bytes()).chain(*b"\n").collect())
}

impl Moderated for QwServer {
    fn bans(&self) -> &BanStore {
        &self.bans
    }

    fn bans_mut(&mut self) -> &mut BanStore {
        &mut self.bans
    }

    fn calendar(&self) -> u64 {
        self.unix(self.now).0 / 1000
    }

    fn author(&self) -> String {
        self.bans.author(None)
    }

    fn print(&mut self, line: String) {
        self.console.print(&(line + "\n"));
    }

    fn in_slot(&self, slot: usize) -> Result<Named, String> {
        self.find(&slot.to_string())
    }

    fn find(&self, wanted: &str) -> Result<Named, String> {
        let client = find_user(self, wanted).and_then(|slot| self.clients[slot].as_deref());
        let client = client.ok_or_else(|| {
            format!("no client {}", crate::model::text::shown_name(wanted.as_bytes()))
        })?;
        Ok(Named {
            slot: usize::try_from(client.user_id).unwrap_or(0),
            address: Some(client.address().ip()),
            guid: String::new(),
            name: plain(client.name()),
        })
    }

    fn apply(&mut self, kind: EntryKind) {
        for slot in 0..MAX_CLIENTS {
            match kind {
                EntryKind::Mute => {
                    if let Some(text) = mute_text(self, slot) {
                        super::chat::print_client(self, slot, PRINT_HIGH, &text);
                    }
                }
                EntryKind::Ban | EntryKind::Exception => drop_if_banned(self, slot),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn masks_are_addresses_and_networks() {
        for (mask, network) in [
            ("192.0.2.7", "192.0.2.7/32"),
            ("192.0.2", "192.0.2.0/24"),
            ("192.0.*", "192.0.0.0/16"),
            ("192.0.2.0", "192.0.2.0/24"),
            ("10.0.0.0/8", "10.0.0.0/8"),
            ("0.0.0.0/0", "0.0.0.0/0"),
            ("2001:db8::/32", "2001:db8::/32"),
            ("2001:db8::1", "2001:db8::1/128"),
        ] {
            assert_eq!(
                parse(mask).map(|mask| mask.to_string()).as_deref(),
                Some(network),
                "{mask}"
            );
        }
        for text in ["", "*", "a", "1.2.3.4.5", "256.1", "1.2.3.4/33", "::/129", "1..2"] {
            assert_eq!(parse(text), None, "{text}");
        }
    }

    #[test]
    fn ends_are_times_from_now_or_in_the_calendar() {
        assert_eq!(parse_end("+60", 1000), Some(Some(1060)));
        assert_eq!(parse_end("2000", 1000), Some(Some(2000)));
        assert_eq!(parse_end("0", 1000), Some(None));
        for word in ["", "+", "-1", "+x", "1h"] {
            assert_eq!(parse_end(word, 1000), None, "{word}");
        }
    }
}
