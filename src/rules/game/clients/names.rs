//! Name changes: announcement to all clients, and the limits of the settings.
//!
//! Source: the base game's announcement; OpenArena's limits and answers.

use super::{Clients, JoinState};
use crate::game::{Host, userinfo::PlayerUserinfo};
use crate::model::ClientNum;

/// Announces the new name of a client and returns it. If the settings forbid the change, the userinfo gets
/// the old name back, which is returned.
pub(super) fn accept_name(
    clients: &mut Clients,
    host: &mut dyn Host,
    client: ClientNum,
    info: &PlayerUserinfo<'_>,
    name: String,
) -> String {
    let refusal = rename_refusal(clients, client);
    let now = clients.now;
    let Some(player) = clients.players[client.index()].as_mut() else { return name };
    if player.join_state != JoinState::Active || name == player.name {
        return name;
    }
    if let Some(refusal) = refusal {
        host.send_command(Some(client), &format!("print \"{refusal}\n\""));
        host.set_userinfo(client, &info.with("name", &player.name));
        return player.name.clone();
    }
    player.renamed_at = Some(now);
    player.renames = player.renames.saturating_add(1);
    let old = &player.name;
    host.send_command(None, &format!("print \"{old}^7 renamed to {name}\n\""));
    name
}

/// Returns the answer to a client that may not change its name now.
fn rename_refusal(clients: &Clients, client: ClientNum) -> Option<String> {
    let player = clients.player(client)?;
    let most = clients.settings.max_renames.filter(|&most| player.renames >= most.unsigned_abs());
    if let Some(most) = most {
        return Some(format!("Maximum name changes reached (g_maxNameChanges = {most})"));
    }
    let (period_s, last) = (clients.settings.rename_period_s?, player.renamed_at?);
    let is_soon = clients.now.distance(last) < period_s.saturating_mul(1000);
    is_soon.then(|| format!("Name change spam protection (g_minNameChangePeriod = {period_s})"))
}
