//! Relations between settings that are adjusted or noted: private slots and all slots, minimum and maximum.
//!
//! Invariant: every source of values follows one rule. Until the first level any order of changes is accepted; from then on
//! a value beyond its limit is reduced at once, with a note.

use std::net::Ipv4Addr;

use super::{store::Settings, table::key};
use crate::{
    cvar::{Int, Key, Networks, quoted},
    game::unreadable_masks,
    limits::SESSION_NETWORK,
};

/// Pairs of a minimum and a maximum, where 0 disables either, and the effect of a minimum above its maximum.
const RANGES: [(Key<Int>, Key<Int>, &str); 2] = [
    (key::SV_MIN_PING, key::SV_MAX_PING, "no client outside the local network may join"),
    (key::SV_MIN_RATE, key::SV_MAX_RATE, "the minimum applies"),
];

/// Networks that a server trusts, and what their hosts may do.
const TRUSTED: [(Key<Networks>, &str); 2] = [
    (key::SV_LAN_NETWORKS, "are exempt from limits per address"),
    (key::SV_RCON_ALLOW, "may use rcon"),
];

/// Most words of a list that a note names.
const MAX_NOTED_WORDS: usize = 4;

/// Changes of the ranges that were noted last.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct NotedRanges([(u32, u32); RANGES.len()]);

/// Adjusts what a change of `row` does not allow. Returns whether the value of the change was replaced, with a note.
pub(super) fn adjust_after(settings: &mut Settings, row: usize, given: &str) -> bool {
    if row == key::G_BAN_IPS.row() {
        note_unreadable_bans(settings, given);
    }
    if let Some((key, effect)) = TRUSTED.into_iter().find(|(key, _)| key.row() == row) {
        note_session_addresses(settings, key, effect);
    }
    // Scripts before the first level may change the other setting later.
    if !settings.has_level {
        return false;
    }
    if RANGES.iter().any(|(least, most, _)| [least.row(), most.row()].contains(&row)) {
        note_empty_ranges(settings);
    }
    row == key::SV_PRIVATE_CLIENTS.row() && fit_private_slots(settings, Some(given))
}

/// Reduces private slots beyond all slots, with a note. While a level runs, the slots of the next one count too.
pub(super) fn fit_private_slots(settings: &mut Settings, given: Option<&str>) -> bool {
    let private = settings.int(key::SV_PRIVATE_CLIENTS);
    let slots = settings.int(key::SV_MAXCLIENTS);
    let next = settings.slots[key::SV_MAXCLIENTS.row()].latched.as_ref();
    let slots = next.map_or(slots, |next| slots.max(next.int));
    if private <= slots {
        return false;
    }
    let place = given.is_none().then(|| settings.origin_of(key::SV_PRIVATE_CLIENTS));
    // A smaller number is accepted.
    let _ = settings.write(key::SV_PRIVATE_CLIENTS, slots);
    let given = quoted(&given.map_or_else(|| private.to_string(), str::to_owned));
    settings.notes.push(format!(
        "{}sv_privateClients: {given} read as {slots} (expected at most sv_maxclients, {slots})",
        place.unwrap_or_default()
    ));
    true
}

/// Notes the words of a ban list that match no address.
fn note_unreadable_bans(settings: &mut Settings, given: &str) {
    let words: Vec<_> = unreadable_masks(given).take(MAX_NOTED_WORDS).map(quoted).collect();
    if !words.is_empty() {
        settings.notes.push(format!(
            "g_banIPs: {} matches no address (expected IPv4 addresses or masks, e.g. 10.1.2.3 or 10.1.*, separated by spaces)",
            words.join(" ")
        ));
    }
}

/// Notes a list of loopback addresses that holds those of a proxy's clients, who come from anywhere.
fn note_session_addresses(settings: &mut Settings, key: Key<Networks>, effect: &str) {
    let list = settings.networks(key);
    let (network, len) = SESSION_NETWORK;
    if list.contains(network.into()) && !list.contains(Ipv4Addr::UNSPECIFIED.into()) {
        let name = key.setting().name;
        settings.notes.push(format!(
            "{name}: {network}/{len} is in the list: clients of a fragd proxy on this machine {effect} (127.0.0.0/10 leaves them out)"
        ));
    }
}

/// Notes a minimum above its maximum, once for each change of the two.
pub(super) fn note_empty_ranges(settings: &mut Settings) {
    for (at, (least, most, effect)) in RANGES.into_iter().enumerate() {
        let (from, to) = (settings.int(least), settings.int(most));
        let changes = (settings.slots[least.row()].changes, settings.slots[most.row()].changes);
        let is_news = settings.noted_ranges.0[at] != changes;
        settings.noted_ranges.0[at] = changes;
        if is_news && from > to && to > 0 {
            let (least, most) = (least.setting().name, most.setting().name);
            settings.notes.push(format!("{least} {from} is above {most} {to}: {effect}"));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::{ChangeSource, SetCommand};

    fn notes(settings: &mut Settings) -> Vec<String> {
        std::iter::from_fn(|| settings.poll_note()).collect()
    }

    #[test]
    fn unreadable_bans_are_noted() {
        let mut settings = Settings::default();
        let noted = |settings: &mut Settings, list: &str| {
            let source = ChangeSource::Script;
            settings.set_with(SetCommand::Set, source, "g_banIPs", list).expect("a text");
            notes(settings)
        };
        assert_eq!(noted(&mut settings, "10.1.2.3 192.168.*"), [""; 0]);
        let [note] = &noted(&mut settings, "banana 10.1.2.3 ::1 10.0.0.0/8")[..] else {
            panic!("one note")
        };
        assert!(note.starts_with("g_banIPs: \"banana\" \"::1\" \"10.0.0.0/8\" matches no address"));
    }

    #[test]
    fn trusted_session_addresses_are_noted() {
        let mut settings = Settings::default();
        let mut noted = |name: &str, list: &str| {
            let source = ChangeSource::Script;
            settings.set_with(SetCommand::Set, source, name, list).expect("networks");
            notes(&mut settings)
        };
        for list in ["private", "any", "127.0.0.0/10 10.0.0.0/8", ""] {
            assert_eq!(noted("sv_lanNetworks", list), [""; 0], "{list}");
        }
        let [note] = &noted("sv_lanNetworks", "10.0.0.0/8 127.0.0.0/8")[..] else {
            panic!("one note")
        };
        assert!(note.starts_with("sv_lanNetworks: 127.64.0.0/10 is in the list"), "{note}");
        assert!(noted("sv_rconAllow", "127.0.0.0/8")[0].contains("may use rcon"));
    }

    #[test]
    fn private_slots_are_reduced_for_every_source() {
        for source in [ChangeSource::Operator, ChangeSource::Console, ChangeSource::Script] {
            let mut settings = Settings::default();
            let set = |settings: &mut Settings, name: &str, value: &str| {
                settings.set_with(SetCommand::Set, source, name, value).expect("a number");
                notes(settings)
            };
            settings.start().expect("defaults");
            settings.set_place(Some("server.cfg:5".to_owned()));
            assert!(set(&mut settings, "sv_privateClients", "10").is_empty(), "compared later");
            settings.set_place(None);
            settings.begin_first_level();
            let reduced = "sv_privateClients: \"10\" read as 8 (expected at most sv_maxclients, 8)";
            assert_eq!(notes(&mut settings), [format!("server.cfg:5: {reduced}")]);
            assert_eq!(set(&mut settings, "sv_privateClients", "10"), [reduced]);
            assert_eq!(settings.int(key::SV_PRIVATE_CLIENTS), 8);
            // The next level has more slots.
            set(&mut settings, "sv_maxclients", "32");
            assert!(set(&mut settings, "sv_privateClients", "10").is_empty());
            settings.begin_level();
            assert_eq!(
                (notes(&mut settings).len(), settings.int(key::SV_PRIVATE_CLIENTS)),
                (0, 10)
            );
            set(&mut settings, "sv_maxclients", "4");
            settings.begin_level();
            assert_eq!((notes(&mut settings).len(), settings.int(key::SV_PRIVATE_CLIENTS)), (1, 4));
        }
    }

    #[test]
    fn minimum_above_maximum_is_noted_once() {
        let mut settings = Settings::default();
        settings.start().expect("defaults");
        settings.set("sv_minPing", "200").expect("a ping");
        settings.set("sv_maxPing", "100").expect("a ping");
        settings.begin_first_level();
        let note =
            "sv_minPing 200 is above sv_maxPing 100: no client outside the local network may join";
        assert_eq!(notes(&mut settings), [note]);
        settings.begin_level();
        assert!(notes(&mut settings).is_empty());
        settings.set("sv_maxPing", "150").expect("a ping");
        assert_eq!(notes(&mut settings).len(), 1);
        settings.set("sv_maxPing", "0").expect("off");
        assert!(notes(&mut settings).is_empty());
    }
}
