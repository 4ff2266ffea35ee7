//! Player entries: the configstring that tells all clients name, model, team and colors of a player.
//!
//! Source: the base game's userinfo rules; OpenArena's colors of teams in games with instant frags.

use super::Clients;
use crate::bg::{TeamColor, configstring};
use crate::game::{
    GameEvent, Host,
    settings::key,
    userinfo::{Detail, PlayerEntryFields, PlayerUserinfo, clean_text, player_entry},
};
use crate::model::ClientNum;

/// Longest `cl_guid` in the game log, in bytes.
const MAX_LOGGED_ID: usize = 32;

impl Clients {
    /// Publishes the player entry: name, model, team and handicap of a client.
    pub(super) fn publish_entry(&self, host: &mut dyn Host, client: ClientNum) {
        let text = host.userinfo(client).to_owned();
        let (Some(info), Some(player)) = (PlayerUserinfo::parse(&text), self.player(client)) else {
            return;
        };
        let fields = PlayerEntryFields {
            team: self.team(client) as i32,
            wins: self.sessions[client.index()].wins,
            losses: self.sessions[client.index()].losses,
            leader: self.sessions[client.index()].leads,
            in_team: self.game_type.has_teams(),
            bot: player.is_bot,
            color: self.team_color(host, client),
        };
        let index = configstring::player(client);
        let entries = Detail::ALL.map(|detail| player_entry(&info, &player.name, &fields, detail));
        let [.., shortest] = &entries;
        let entry = entries.iter().find(|entry| host.has_room(index, entry)).unwrap_or(shortest);
        host.set_configstring(index, entry);
        let guid = clean_text(info.value("cl_guid"), MAX_LOGGED_ID);
        self.emit(host, &GameEvent::PlayerEntry { client, entry, guid: &guid });
    }

    /// Returns the color of the rail trails of a team player, in games with instant frags.
    fn team_color(&self, host: &dyn Host, client: ClientNum) -> Option<&'static str> {
        let is_instant =
            self.ruleset.equipment.has_settings && host.settings().int(key::G_INSTANTGIB) != 0;
        let color = self.role(client).color().filter(|_| is_instant)?;
        Some(match color {
            TeamColor::Red => "4",
            TeamColor::Blue => "1",
        })
    }
}
