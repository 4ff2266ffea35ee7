//! Bans and mutes of viewers: the list, and its effects.

use super::{
    console::find_viewer,
    state::{RelayState, harmless},
    viewer::{Viewer, ViewerKey},
};
use crate::{
    bans::{BanStore, Client, EntryKind, Moderated, Named},
    model::{Millis, text},
    node::Route,
    wire::{info::InfoString, userinfo::Userinfo},
};

/// Refusal of a client that connects and is banned.
pub(super) fn ban_refusal(state: &RelayState, route: Route, info: &InfoString) -> Option<String> {
    let info = Userinfo(info);
    let client = Client { address: route.remote.ip(), guid: info.guid(), name: info.name() };
    state.bans.refusal(client, state.calendar())
}

/// Drops a viewer that is banned, e.g. by its new name.
pub(super) fn drop_banned_viewer(state: &mut RelayState, key: ViewerKey) {
    let Some(viewer) = state.viewers.get(key).filter(|viewer| !viewer.is_zombie()) else { return };
    if let Some(reason) = state.bans.drop_reason(looked_up(viewer), state.calendar()) {
        state.drop_viewer(key, &reason);
    }
}

/// Answer to the chat of a viewer that is muted.
pub(super) fn mute_notice(state: &RelayState, key: ViewerKey) -> Option<String> {
    state.bans.mute_notice(looked_up(state.viewers.get(key)?), state.calendar())
}

fn looked_up(viewer: &Viewer) -> Client<'_> {
    let guid = Userinfo(&viewer.userinfo).guid();
    Client { address: viewer.remote.address().ip(), guid, name: &viewer.name }
}

fn named_viewer(state: &RelayState, key: ViewerKey) -> Option<Named> {
    let client = looked_up(state.viewers.get(key)?);
    Some(Named {
        slot: key,
        address: Some(client.address),
        guid: client.guid.to_owned(),
        name: client.name.to_owned(),
    })
}

impl Moderated for RelayState {
    fn bans(&self) -> &BanStore {
        &self.bans
    }

    fn bans_mut(&mut self) -> &mut BanStore {
        &mut self.bans
    }

    fn calendar(&self) -> u64 {
        (self.began + Millis(self.now.0)).0 / 1000
    }

    fn author(&self) -> String {
        self.bans.author(None)
    }

    fn print(&mut self, line: String) {
        self.print_line(line);
    }

    fn in_slot(&self, slot: usize) -> Result<Named, String> {
        named_viewer(self, slot).ok_or_else(|| format!("no viewer {slot}"))
    }

    fn find(&self, wanted: &str) -> Result<Named, String> {
        let found = find_viewer(self, wanted).and_then(|key| named_viewer(self, key));
        found.ok_or_else(|| format!("no viewer {}", text::shown_name(wanted.as_bytes())))
    }

    fn apply(&mut self, kind: EntryKind) {
        for key in self.viewers.keys() {
            match kind {
                EntryKind::Mute => {
                    if let Some(text) = mute_notice(self, key) {
                        self.tell(key, &harmless(&text));
                    }
                }
                EntryKind::Ban | EntryKind::Exception => drop_banned_viewer(self, key),
            }
        }
    }
}
