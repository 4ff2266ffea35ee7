//! Game log lines: the match record that log tools read.
//!
//! The writer prefixes each line with the clock. Source: the base game's log lines; OpenArena's clock,
//! which continues over restarts, and its lines about scores, awards and flags.

use super::Clients;
use crate::bg::{Persistent, Team, TeamColor};
use crate::game::Host;
use crate::model::ClientNum;

/// Line before and after each level.
const RULE: &str = "------------------------------------------------------------";

/// Number and name of an award, by its counter.
const AWARDS: [(Persistent, u8, &str); 6] = [
    (Persistent::Gauntlet, 0, "GAUNTLET"),
    (Persistent::Excellent, 1, "EXCELLENT"),
    (Persistent::Impressive, 2, "IMPRESSIVE"),
    (Persistent::Defend, 3, "DEFENCE"),
    (Persistent::Captures, 4, "CAPTURE"),
    (Persistent::Assist, 5, "ASSIST"),
];

/// Event of a flag in the log, with its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::game) enum FlagLogEvent {
    Taken = 0,
    Captured = 1,
    Returned = 2,
    CarrierFragged = 3,
}

impl Clients {
    /// Writes a line to the log.
    pub(in crate::game) fn log(&self, host: &mut dyn Host, line: &str) {
        host.log_line(self.now.distance(self.logged_from).max(0), line);
    }

    /// Writes the header of a level with the serverinfo.
    pub(in crate::game) fn log_start(&self, host: &mut dyn Host) {
        self.log(host, RULE);
        let info = host.serverinfo();
        self.log(host, &format!("InitGame: {info}"));
    }

    /// Writes the footer of a level.
    pub(in crate::game) fn log_end(&self, host: &mut dyn Host) {
        self.log(host, "ShutdownGame:");
        self.log(host, RULE);
    }
}

/// Writes the score of a player.
pub(in crate::game) fn log_score(clients: &Clients, host: &mut dyn Host, client: ClientNum) {
    if let Some(player) = clients.player(client).filter(|_| clients.ruleset.logs_scores) {
        let (score, name) = (player.state.persistant[Persistent::Score], &player.name);
        let line = format!("PlayerScore: {client} {score}: {name} now has {score} points");
        clients.log(host, &line);
    }
}

/// Writes the score of a team.
pub(in crate::game) fn log_team_score(clients: &Clients, host: &mut dyn Host, color: TeamColor) {
    if clients.ruleset.logs_scores {
        let (team, score) = (color.team() as i32, clients.team_scores[color as usize]);
        let line = format!("TeamScore: {team} {score}: Team {team} now has {score} points");
        clients.log(host, &line);
    }
}

/// Writes an award of a player.
pub(in crate::game) fn log_award(
    clients: &Clients,
    host: &mut dyn Host,
    client: ClientNum,
    count: Persistent,
) {
    let award = AWARDS.iter().find(|(counter, ..)| *counter == count);
    if let (Some((_, number, title)), Some(player)) =
        (award.filter(|_| clients.ruleset.logs_scores), clients.player(client))
    {
        let line = format!("Award: {client} {number}: {} gained the {title} award!", player.name);
        clients.log(host, &line);
    }
}

/// Writes an event of a team's flag, with −1 instead of a missing client.
pub(in crate::game) fn log_flag(
    clients: &Clients,
    host: &mut dyn Host,
    client: Option<ClientNum>,
    team: Team,
    event: FlagLogEvent,
    text: &str,
) {
    if clients.ruleset.logs_scores {
        let number = client.map_or(-1, |client| client.index() as i32);
        let player = client.and_then(|client| clients.player(client));
        let (name, space) = player.map_or(("", ""), |player| (player.name.as_str(), " "));
        let (team, event) = (team as i32, event as u8);
        clients.log(host, &format!("CTF: {number} {team} {event}: {name}{space}{text}"));
    }
}
