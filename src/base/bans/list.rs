//! Ban list with an index.
//!
//! A lookup compares one network per prefix length in use, not every entry.

use std::{
    collections::{BTreeMap, BTreeSet},
    net::IpAddr,
};

use ipnet::IpNet;
use thiserror::Error;

use super::{
    entry::{Draft, Entry, EntryKind},
    name_pattern::{NamePattern, plain_name},
    subject::Subject,
};

/// Most entries of a list.
pub const MAX_ENTRIES: usize = 4096;
/// Most patterns with wildcards, each of which is compared at every lookup.
pub const MAX_PATTERNS: usize = 64;

/// Seconds that an entry is kept after its end: a calendar may be wrong for a while.
const KEPT_ENDED_S: u64 = 86_400;

/// Client that is looked up.
#[derive(Clone, Copy, Debug)]
pub struct Client<'a> {
    /// Address, also as IPv4 inside IPv6.
    pub address: IpAddr,
    /// Value of `cl_guid`; empty for clients without one.
    pub guid: &'a str,
    /// Name with its colors.
    pub name: &'a str,
}

impl Client<'_> {
    /// An address alone.
    #[must_use]
    pub const fn at(address: IpAddr) -> Self {
        Self { address, guid: "", name: "" }
    }
}

/// Reason why an entry is not added.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
pub enum AddError {
    /// As many entries as the list holds.
    #[error("the list is full ({MAX_ENTRIES} entries)")]
    Full,
    /// As many patterns as the list holds.
    #[error("too many names with wildcards (at most {MAX_PATTERNS})")]
    TooManyPatterns,
}

/// List of bans, exceptions and mutes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BanList {
    entries: BTreeMap<u32, Draft>,
    /// Number of each entry by kind and subject.
    index: BTreeMap<(EntryKind, Subject), u32>,
    /// Number of networks by kind, family (IPv6 is true) and prefix length.
    prefixes: BTreeMap<(EntryKind, bool, u8), usize>,
    /// Numbers of the patterns with wildcards.
    patterns: BTreeSet<u32>,
    /// Entries that have ended, with the calendar time at which that was found.
    ended: BTreeMap<u32, u64>,
    last_id: u32,
}

impl BanList {
    /// Number of entries, those that have ended included.
    #[must_use]
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether the list has no entries.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// All entries, oldest first.
    pub fn entries(&self) -> impl Iterator<Item = Entry> {
        self.entries.iter().map(|(&id, content)| Entry { id, content: content.clone() })
    }

    /// All entries of a kind with their numbers, oldest first.
    pub fn of_kind(&self, kind: EntryKind) -> impl Iterator<Item = (u32, &Draft)> {
        let entries = self.entries.iter().map(|(&id, content)| (id, content));
        entries.filter(move |(_, content)| content.kind == kind)
    }

    /// Entry with a number.
    #[must_use]
    pub fn get(&self, id: u32) -> Option<&Draft> {
        self.entries.get(&id)
    }

    /// Number of the entry with this kind and subject.
    #[must_use]
    pub fn id_of(&self, kind: EntryKind, subject: &Subject) -> Option<u32> {
        self.index.get(&(kind, subject.clone())).copied()
    }

    /// Number of the mute or ban that applies to a client.
    #[must_use]
    pub fn applied_to(&self, kind: EntryKind, client: Client<'_>, now: u64) -> Option<u32> {
        let applied = match kind {
            EntryKind::Mute => self.mute_of(client, now),
            EntryKind::Ban | EntryKind::Exception => self.ban_of(client, now),
        };
        self.id_of(kind, &applied?.subject)
    }

    /// Adds an entry and returns its number. It replaces the entry of the same kind and subject.
    ///
    /// # Errors
    /// The list is full.
    pub fn add(&mut self, content: Draft) -> Result<u32, AddError> {
        if self.len() >= MAX_ENTRIES {
            self.remove_all(self.ended.keys().copied().collect());
        }
        let known = self.id_of(content.kind, &content.subject);
        let id = known.unwrap_or(self.last_id.saturating_add(1));
        self.insert(id, content).map(|()| id)
    }

    /// Adds an entry with a number that no other one has.
    pub(super) fn insert(&mut self, id: u32, content: Draft) -> Result<(), AddError> {
        let replaced = self.id_of(content.kind, &content.subject);
        if replaced.is_none() && (self.len() >= MAX_ENTRIES || id == u32::MAX) {
            return Err(AddError::Full);
        }
        let has_wildcard = has_wildcard(&content.subject);
        if replaced.is_none() && has_wildcard && self.patterns.len() >= MAX_PATTERNS {
            return Err(AddError::TooManyPatterns);
        }
        if let Some(replaced) = replaced {
            self.remove(replaced);
        }
        if let Subject::Network(network) = &content.subject {
            *self.prefixes.entry(prefix_of(content.kind, network)).or_default() += 1;
        }
        if has_wildcard {
            self.patterns.insert(id);
        }
        self.index.insert((content.kind, content.subject.clone()), id);
        self.entries.insert(id, content);
        self.last_id = self.last_id.max(id);
        Ok(())
    }

    /// Removes an entry.
    pub fn remove(&mut self, id: u32) -> Option<Draft> {
        let content = self.entries.remove(&id)?;
        self.ended.remove(&id);
        self.index.remove(&(content.kind, content.subject.clone()));
        self.patterns.remove(&id);
        if let Subject::Network(network) = &content.subject {
            let prefix = prefix_of(content.kind, network);
            if let Some(count) = self.prefixes.get_mut(&prefix) {
                *count -= 1;
                if *count == 0 {
                    self.prefixes.remove(&prefix);
                }
            }
        }
        Some(content)
    }

    /// Removes the entries that ended a day ago, and notes those that have ended since. Returns whether the list has changed.
    ///
    /// The day counts from the first call that finds an entry ended: a calendar that was set years ahead deletes none before
    /// a day has passed, and an entry whose end lies ahead again is in force again.
    pub fn remove_ended(&mut self, now: u64) -> bool {
        let before = self.ended.len();
        let Self { entries, ended, .. } = self;
        ended.retain(|id, _| entries.get(id).is_some_and(|content| !content.is_in_force(now)));
        let mut is_changed = ended.len() != before;
        for (&id, _) in entries.iter().filter(|(_, content)| !content.is_in_force(now)) {
            is_changed |= !ended.contains_key(&id);
            ended.entry(id).or_insert(now);
        }
        let is_over = |at: u64| now >= at.saturating_add(KEPT_ENDED_S);
        let over: Vec<u32> =
            ended.iter().filter(|(_, at)| is_over(**at)).map(|(&id, _)| id).collect();
        is_changed |= !over.is_empty();
        self.remove_all(over);
        is_changed
    }

    fn remove_all(&mut self, ids: Vec<u32>) {
        ids.into_iter().for_each(|id| drop(self.remove(id)));
    }

    /// Calendar time at which an entry was found to have ended.
    pub(super) fn ended(&self, id: u32) -> Option<u64> {
        self.ended.get(&id).copied()
    }

    /// Notes when an entry was found to have ended.
    pub(super) fn set_ended(&mut self, id: u32, at: u64) {
        if self.entries.contains_key(&id) {
            self.ended.insert(id, at);
        }
    }

    /// Moves the times of entries by seconds, since the calendar that they were made with was wrong.
    pub fn shift(&mut self, ids: impl Iterator<Item = u32>, seconds: i64) {
        let moved = |at: u64| at.saturating_add_signed(seconds);
        for id in ids {
            if let Some(content) = self.entries.get_mut(&id) {
                content.made = moved(content.made);
                content.expires = content.expires.map(moved);
            }
            if let Some(at) = self.ended.get_mut(&id) {
                *at = moved(*at);
            }
        }
    }

    /// Removes the bans and exceptions. Returns their number.
    pub fn remove_bans(&mut self) -> usize {
        let bans: Vec<u32> = self
            .entries
            .iter()
            .filter(|(_, content)| content.kind != EntryKind::Mute)
            .map(|(&id, _)| id)
            .collect();
        bans.iter().for_each(|&id| drop(self.remove(id)));
        bans.len()
    }

    /// Ban of a client, unless an exception admits it. Of several, the one that ends last.
    #[must_use]
    pub fn ban_of(&self, client: Client<'_>, now: u64) -> Option<&Draft> {
        let ban = self.find(EntryKind::Ban, client, now)?;
        self.find(EntryKind::Exception, client, now).is_none().then_some(ban)
    }

    /// Mute of a client. Of several, the one that ends last.
    #[must_use]
    pub fn mute_of(&self, client: Client<'_>, now: u64) -> Option<&Draft> {
        self.find(EntryKind::Mute, client, now)
    }

    /// Entry of a kind for a client: of those in force, the one that ends last.
    fn find(&self, kind: EntryKind, client: Client<'_>, now: u64) -> Option<&Draft> {
        if self.is_empty() {
            return None;
        }
        let by_subject = |subject| self.entries.get(self.index.get(&(kind, subject))?);
        let address = client.address.to_canonical();
        let family = (kind, address.is_ipv6(), 0)..=(kind, address.is_ipv6(), 128);
        let networks = self.prefixes.range(family).filter_map(|(&(.., len), _)| {
            let network = IpNet::new(address, len).ok()?.trunc();
            by_subject(Subject::Network(network))
        });
        let guid = Subject::guid(client.guid).ok().and_then(by_subject);
        // A name without text matches nothing.
        let name = (!client.name.is_empty()).then(|| plain_name(client.name));
        let exact = name.as_deref().and_then(NamePattern::parse).map(Subject::Name);
        let exact = exact.and_then(by_subject);
        let patterns = name.iter().flat_map(|name| {
            let patterns = self.patterns.iter().filter_map(|id| self.entries.get(id));
            patterns.filter(|content| match &content.subject {
                Subject::Name(pattern) => content.kind == kind && pattern.matches_plain(name),
                Subject::Network(_) | Subject::Guid(_) => false,
            })
        });
        networks
            .chain(guid)
            .chain(exact)
            .chain(patterns)
            .filter(|content| content.is_in_force(now))
            .max_by_key(|content| content.end())
    }
}

fn prefix_of(kind: EntryKind, network: &IpNet) -> (EntryKind, bool, u8) {
    (kind, network.addr().is_ipv6(), network.prefix_len())
}

fn has_wildcard(subject: &Subject) -> bool {
    matches!(subject, Subject::Name(pattern) if pattern.has_wildcard())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn draft(kind: EntryKind, subject: Subject, expires: Option<u64>) -> Draft {
        let (reason, author) = (String::new(), String::new());
        Draft { kind, subject, reason, author, made: 0, expires }
    }

    fn client<'a>(address: &str, guid: &'a str, name: &'a str) -> Client<'a> {
        Client { address: address.parse().unwrap(), guid, name }
    }

    const GUID: &str = "0123456789ABCDEF0123456789ABCDEF";

    #[test]
    fn clients_are_found_by_each_subject() {
        let mut list = BanList::default();
        for subject in [
            Subject::network("10.0.0.0/8"),
            Subject::network("2001:db8::/32"),
            Subject::guid(GUID),
            Subject::name("^1Bad Name"),
            Subject::name("*bot*"),
        ] {
            list.add(draft(EntryKind::Ban, subject.unwrap(), None)).unwrap();
        }
        for (address, guid, name, is_banned) in [
            ("10.255.0.1", "", "a", true),
            ("::ffff:10.255.0.1", "", "a", true),
            ("11.0.0.1", "", "a", false),
            ("2001:db8:1::1", "", "a", true),
            ("2001:db9::1", "", "a", false),
            ("11.0.0.1", &GUID.to_lowercase(), "a", true),
            ("11.0.0.1", "1123456789ABCDEF0123456789ABCDEF", "a", false),
            ("11.0.0.1", "", "bad ^5NAME", true),
            ("11.0.0.1", "", "robotics", true),
            ("11.0.0.1", "", "", false),
        ] {
            let found = list.ban_of(client(address, guid, name), 9).is_some();
            assert_eq!(found, is_banned, "{address} {guid} {name}");
            assert!(list.mute_of(client(address, guid, name), 9).is_none());
        }
    }

    #[test]
    fn exceptions_win_over_bans_and_expire() {
        let mut list = BanList::default();
        let network = |text| Subject::network(text).unwrap();
        let ban = list.add(draft(EntryKind::Ban, network("0.0.0.0/0"), Some(100))).unwrap();
        list.add(draft(EntryKind::Exception, network("10.0.0.1"), Some(50))).unwrap();
        let is_banned = |list: &BanList, at: &str, now| {
            list.ban_of(Client::at(at.parse().unwrap()), now).is_some()
        };
        assert!(!is_banned(&list, "10.0.0.1", 49) && is_banned(&list, "10.0.0.1", 50));
        assert!(is_banned(&list, "10.0.0.2", 99) && !is_banned(&list, "10.0.0.2", 100));
        assert!(!is_banned(&list, "::1", 0));
        // Of several bans the last end counts.
        list.add(draft(EntryKind::Ban, network("10.0.0.0/8"), None)).unwrap();
        assert_eq!(list.ban_of(client("10.0.0.2", "", ""), 60).unwrap().expires, None);
        assert!(list.remove_ended(100) && !list.remove_ended(101));
        assert_eq!(list.len(), 3, "kept for a day");
        assert!(list.remove_ended(49) && is_banned(&list, "10.0.0.2", 49), "a calendar set back");
        assert!(list.remove_ended(1 << 40) && !list.remove_ended(1 << 40));
        assert_eq!(BanList::parse(&list.to_text()), Ok(list.clone()));
        assert!(list.remove_ended((1 << 40) + KEPT_ENDED_S));
        assert_eq!(list.len(), 1);
        assert_eq!(list.get(ban), None);
    }

    #[test]
    fn shifted_entries_keep_their_length() {
        let mut list = BanList::default();
        let network = |text| Subject::network(text).unwrap();
        let old = list.add(draft(EntryKind::Ban, network("10.0.0.1"), Some(100))).unwrap();
        let new = list.add(draft(EntryKind::Ban, network("10.0.0.2"), Some(100))).unwrap();
        list.shift([new, 99].into_iter(), 1000);
        assert_eq!(list.get(new).and_then(|content| content.expires), Some(1100));
        list.shift([new].into_iter(), -5000);
        assert_eq!(list.get(new).and_then(|content| content.expires), Some(0));
        assert_eq!(list.get(old).and_then(|content| content.expires), Some(100));
    }

    #[test]
    fn same_subject_keeps_its_number() {
        let mut list = BanList::default();
        let subject = Subject::network("10.0.0.1").unwrap();
        let first = list.add(draft(EntryKind::Ban, subject.clone(), None)).unwrap();
        assert_eq!(list.add(draft(EntryKind::Ban, subject.clone(), Some(7))), Ok(first));
        assert_eq!(list.get(first).unwrap().expires, Some(7));
        let mute = list.add(draft(EntryKind::Mute, subject.clone(), None)).unwrap();
        assert_ne!(mute, first);
        assert!(list.mute_of(client("10.0.0.1", "", "x"), 9).is_some());
        list.remove(mute);
        assert_ne!(list.add(draft(EntryKind::Mute, subject, None)), Ok(first));
        assert_eq!((list.remove_bans(), list.len()), (1, 1));
    }

    #[test]
    fn entries_and_patterns_are_bounded() {
        let mut list = BanList::default();
        let pattern = |n: usize| Subject::name(&format!("x{n}*")).unwrap();
        for n in 0..MAX_PATTERNS {
            list.add(draft(EntryKind::Ban, pattern(n), None)).unwrap();
        }
        let full = list.add(draft(EntryKind::Ban, pattern(MAX_PATTERNS), None));
        assert_eq!(full, Err(AddError::TooManyPatterns));
        let address = |n: usize| Subject::address(IpAddr::from((n as u32).to_be_bytes()));
        for n in MAX_PATTERNS..MAX_ENTRIES {
            list.add(draft(EntryKind::Ban, address(n), None)).unwrap();
        }
        assert_eq!(list.add(draft(EntryKind::Ban, address(0), None)), Err(AddError::Full));
        assert!(list.add(draft(EntryKind::Ban, address(MAX_PATTERNS), Some(1))).is_ok());
        assert_eq!(list.len(), MAX_ENTRIES);
        // Entries that have ended make room.
        list.remove_ended(2);
        assert!(list.add(draft(EntryKind::Ban, address(0), None)).is_ok());
        assert_eq!(list.len(), MAX_ENTRIES);
    }
}
