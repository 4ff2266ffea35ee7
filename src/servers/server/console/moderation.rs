//! Bans and mutes of the server, as the shared commands change them.

use std::fmt::Display;

use super::players::{find_player, player_in};
use crate::{
    bans::{BanStore, Client as Looked, EntryKind, Moderated, Named, run as run_shared},
    model::{ClientNum, CommandArgs},
    server::{core::Core, moderation, state::Server},
    wire::userinfo::Userinfo,
};

/// Server whose list a command changes.
pub(super) struct Moderation<'a>(pub(super) &'a mut Server);

/// Runs a command of the list.
pub(super) fn run(server: &mut Server, words: &CommandArgs) {
    run_shared(&mut Moderation(server), words);
}

impl Moderated for Moderation<'_> {
    fn bans(&self) -> &BanStore {
        &self.0.core.bans
    }

    fn bans_mut(&mut self) -> &mut BanStore {
        &mut self.0.core.bans
    }

    fn calendar(&self) -> u64 {
        moderation::calendar(&self.0.core)
    }

    fn author(&self) -> String {
        self.0.core.bans.author(self.0.texts.place())
    }

    fn print(&mut self, line: String) {
        self.0.core.console.print(line);
    }

    fn in_slot(&self, slot: usize) -> Result<Named, String> {
        named(&self.0.core, player_in(&self.0.core, slot))
    }

    fn find(&self, wanted: &str) -> Result<Named, String> {
        named(&self.0.core, find_player(&self.0.core, wanted))
    }

    fn apply(&mut self, kind: EntryKind) {
        match kind {
            EntryKind::Mute => moderation::tell_muted(&mut self.0.core),
            EntryKind::Ban | EntryKind::Exception => moderation::drop_banned(self.0),
        }
    }
}

fn named<E: Display>(core: &Core, found: Result<ClientNum, E>) -> Result<Named, String> {
    let number = found.map_err(|error| error.to_string())?;
    let client = core.clients.get(number);
    Ok(Named {
        slot: number.index(),
        address: client.map(|client| client.remote.address().ip()),
        guid: client.map_or("", |client| Userinfo(&client.userinfo).guid()).to_owned(),
        name: client.map_or_else(String::new, |client| client.name.to_string()),
    })
}

/// Number of the mute or ban that applies to a player in the game.
pub(super) fn applied_to(server: &Server, kind: EntryKind, number: ClientNum) -> Option<u32> {
    let client = server.core.clients.get(number)?;
    let guid = Userinfo(&client.userinfo).guid();
    let looked = Looked { address: client.remote.address().ip(), guid, name: &client.name };
    server.core.bans.list().applied_to(kind, looked, moderation::calendar(&server.core))
}
