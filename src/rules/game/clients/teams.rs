//! Teams: the `team` command, balance, leaders and announcements.
//!
//! Invariants: every player has a color in team games, and none in other games; a team has at most one
//! leader. Source: the base game's team rules; OpenArena's refusals and team lists.

use super::{ClientContext, Clients, Role, commands::answer};
use crate::model::ClientNum;
use crate::{
    bg::{Team, TeamColor},
    game::{
        Host,
        userinfo::{PlayerUserinfo, clean_text},
    },
};

/// Minimum time between two team changes of a client, in ms.
const TEAM_CHANGE_MS: i32 = 5000;
/// Maximum lead in players of a team that may be joined while `g_teamForceBalance` is on.
const MOST_AHEAD: usize = 1;
/// Maximum length of an argument in an answer, in bytes.
const MAX_ECHO_LEN: usize = 32;

/// Role requested by an argument of the `team` command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum TeamRequest {
    /// Player in the weaker team, or in no team outside team games.
    Play,
    Join(TeamColor),
    Other(Role),
}

/// Arguments of the `team` command.
const REQUESTS: &[(&str, TeamRequest)] = &[
    ("red", TeamRequest::Join(TeamColor::Red)),
    ("r", TeamRequest::Join(TeamColor::Red)),
    ("blue", TeamRequest::Join(TeamColor::Blue)),
    ("b", TeamRequest::Join(TeamColor::Blue)),
    ("free", TeamRequest::Play),
    ("f", TeamRequest::Play),
    ("auto", TeamRequest::Play),
    ("a", TeamRequest::Play),
    ("spectator", TeamRequest::Other(Role::Spectating)),
    ("s", TeamRequest::Other(Role::Spectating)),
    ("follow1", TeamRequest::Other(Role::AutoFollowing(0))),
    ("follow2", TeamRequest::Other(Role::AutoFollowing(1))),
    ("scoreboard", TeamRequest::Other(Role::Scoreboard)),
    ("score", TeamRequest::Other(Role::Scoreboard)),
];

fn team_request(word: &str) -> Option<TeamRequest> {
    REQUESTS.iter().find(|(known, _)| known.eq_ignore_ascii_case(word)).map(|&(_, request)| request)
}

/// Returns the team that a word of the `team` command names. The words `free` and `auto` mean players without a team.
pub(super) fn named_team(word: &str) -> Option<Team> {
    match team_request(word)? {
        TeamRequest::Join(color) => Some(color.team()),
        TeamRequest::Play => Some(Team::Free),
        TeamRequest::Other(Role::Spectating) => Some(Team::Spectator),
        TeamRequest::Other(_) => None,
    }
}

impl ClientContext<'_> {
    /// Runs the `team` command.
    pub(in crate::game) fn team_command(&mut self, client: ClientNum, wanted: &str) {
        let clients = &mut *self.clients;
        let Some(player) = clients.player(client) else { return };
        if wanted.is_empty() {
            let team = match clients.role(client) {
                Role::Playing(None) => clients.ruleset.teams.playing_answer,
                Role::Playing(Some(TeamColor::Red)) => "Red team",
                Role::Playing(Some(TeamColor::Blue)) => "Blue team",
                _ => "Spectator team",
            };
            return answer(self.host, client, team);
        }
        if player.team_change_at.distance(clients.now) > 0 {
            let refusal = "May not switch teams more than once per 5 seconds.";
            return answer(self.host, client, refusal);
        }
        let Some(request) = team_request(wanted) else {
            let typed = clean_text(wanted, MAX_ECHO_LEN);
            let words = if clients.game_type.has_teams() { "red, blue" } else { "free" };
            let refusal = format!("Unknown team {typed}: {words}, spectator, follow1, follow2");
            return answer(self.host, client, &refusal);
        };
        match clients.granted(client, request) {
            Ok(role) => {
                let free_at = clients.now + TEAM_CHANGE_MS;
                if let Some(player) = self.clients.players[client.index()].as_mut() {
                    player.team_change_at = free_at;
                }
                self.give_up(client, role);
                self.change_role(client, role);
            }
            Err(full) => {
                let text = format!("cp \"{} team has too many players.\n\"", full.title());
                self.host.send_command(Some(client), &text);
            }
        }
    }

    /// Moves a client to the role of a `team` argument, ignoring balance and limits. Returns
    /// false for an unknown argument.
    pub(in crate::game) fn force_team(&mut self, client: ClientNum, wanted: &str) -> bool {
        let Some(request) = team_request(wanted) else { return false };
        let role = self.clients.asked_role(client, request);
        self.give_up(client, role);
        self.change_role(client, role);
        true
    }

    /// Counts a loss for a player who stops playing in a tournament.
    pub(super) fn give_up(&mut self, client: ClientNum, role: Role) {
        let clients = &mut *self.clients;
        let plays = clients.role(client).plays() && !role.plays();
        if clients.join.plays_in_turn && plays {
            clients.count_loss(client);
        }
    }

    /// Changes a client's role and spawns it again. Does nothing for a player who keeps the role.
    pub(in crate::game) fn change_role(&mut self, client: ClientNum, role: Role) {
        let old = self.clients.role(client);
        if old == role && role.plays() {
            return;
        }
        if old.plays() {
            self.rules.leave_play(self.clients, self.host, client);
            self.clients.save_score(self.host, client);
        }
        let clients = &mut *self.clients;
        clients.set_role(client, role);
        clients.sessions[client.index()].leads = false;
        clients.clear_votes(client);
        clients.choose_leader(self.host, client, role.color());
        if old.color() != role.color() {
            clients.replace_leader(old.color());
        }
        clients.announce_role(self.host, client, Some(old));
        if old.plays() {
            self.stop_followers_of(client);
        }
        let clients = &mut *self.clients;
        clients.read_userinfo(self.host, client, false);
        self.rules.begin(self.clients, self.host, client);
        self.refresh_follower(client);
    }
}

impl Clients {
    /// Returns the connected clients of a team.
    pub(in crate::game) fn team_of(
        &self,
        color: TeamColor,
    ) -> impl Iterator<Item = ClientNum> + '_ {
        ClientNum::all().filter(move |&client| {
            self.player(client).is_some() && self.role(client).color() == Some(color)
        })
    }

    /// Prints a line to every client of a team. The text must be clean.
    pub(in crate::game) fn print_to_team(&self, host: &mut dyn Host, color: TeamColor, text: &str) {
        for client in self.team_of(color).filter(|&client| self.active(client).is_some()) {
            answer(host, client, text);
        }
    }

    /// Counts the players of a team without `client`.
    fn others_in_team(&self, client: ClientNum, color: TeamColor) -> usize {
        self.team_of(color).filter(|&other| other != client).count()
    }

    /// Returns the team that a client should join: the smaller one, then the one with the lower score.
    pub(in crate::game) fn weaker_team(&self, client: ClientNum) -> TeamColor {
        let [red, blue] = TeamColor::ALL.map(|color| self.others_in_team(client, color));
        let [red_score, blue_score] = self.team_scores;
        if (red, red_score) < (blue, blue_score) { TeamColor::Red } else { TeamColor::Blue }
    }

    fn asked_role(&self, client: ClientNum, request: TeamRequest) -> Role {
        match request {
            TeamRequest::Other(role) => role,
            _ if !self.game_type.has_teams() => Role::Playing(None),
            TeamRequest::Join(color) => Role::Playing(Some(color)),
            TeamRequest::Play => Role::Playing(Some(self.weaker_team(client))),
        }
    }

    /// Returns the role granted for a request: a spectator when the maximum of players is reached.
    ///
    /// # Errors
    /// The requested team, if it has too many players.
    fn granted(&self, client: ClientNum, request: TeamRequest) -> Result<Role, TeamColor> {
        let role = self.asked_role(client, request);
        let is_bot = self.player(client).is_some_and(|player| player.is_bot);
        if let Some(color) = role.color().filter(|_| self.settings.force_balance && !is_bot) {
            let [own, other] =
                [color, color.other()].map(|color| self.others_in_team(client, color));
            if own > other + MOST_AHEAD {
                return Err(color);
            }
        }
        Ok(if role.plays() && self.is_full(client) { Role::Spectating } else { role })
    }

    /// Returns the role of a client on connect, from its userinfo and the settings.
    pub(in crate::game) fn first_role(&self, client: ClientNum, info: &PlayerUserinfo<'_>) -> Role {
        let wanted = info.value(self.ruleset.teams.preference_key);
        if !self.game_type.has_teams() {
            let watches = wanted.starts_with(['s', 'S']) || self.is_full(client);
            return if watches { Role::Spectating } else { Role::Playing(None) };
        }
        let request = if self.settings.auto_join {
            Some(TeamRequest::Play)
        } else {
            team_request(wanted).filter(|_| self.ruleset.teams.preference_joins)
        };
        request.and_then(|request| self.granted(client, request).ok()).unwrap_or(Role::Spectating)
    }

    /// Announces a client's new role to all clients. `old` is `None` for a client that has connected.
    pub(in crate::game) fn announce_role(
        &self,
        host: &mut dyn Host,
        client: ClientNum,
        old: Option<Role>,
    ) {
        let Some(player) = self.player(client) else { return };
        let joined = match self.role(client) {
            Role::Playing(Some(TeamColor::Red)) => "joined the red team.",
            Role::Playing(Some(TeamColor::Blue)) => "joined the blue team.",
            Role::Playing(None) => "joined the battle.",
            _ if old.is_some_and(Role::plays) => "joined the spectators.",
            _ => return,
        };
        host.send_command(None, &format!("cp \"{}^7 {joined}\n\"", player.name));
    }

    /// Makes a client that joined a team its leader, if the team has none or a bot leads it.
    pub(super) fn choose_leader(
        &mut self,
        host: &mut dyn Host,
        client: ClientNum,
        color: Option<TeamColor>,
    ) {
        let Some(color) = color else { return };
        let is_bot =
            |client| self.player(client).is_some_and(|player: &super::Player| player.is_bot);
        let leader = self.team_of(color).find(|&other| self.sessions[other.index()].leads);
        if leader.is_none_or(|leader| is_bot(leader) && !is_bot(client)) {
            self.set_leader(host, client, color);
        }
    }

    /// Chooses a new leader for a team whose leader has changed teams. Human players take precedence over bots. The
    /// player entry shows it when it is published next.
    pub(super) fn replace_leader(&mut self, color: Option<TeamColor>) {
        let Some(color) = color else { return };
        if self.team_of(color).any(|client| self.sessions[client.index()].leads) {
            return;
        }
        let human = |&client: &ClientNum| self.player(client).is_some_and(|player| !player.is_bot);
        let next = self.team_of(color).find(human).or_else(|| self.team_of(color).next());
        if let Some(next) = next {
            self.sessions[next.index()].leads = true;
        }
    }

    /// Makes a client the leader of a team and announces it to the team.
    pub(super) fn set_leader(&mut self, host: &mut dyn Host, client: ClientNum, color: TeamColor) {
        let team: Vec<ClientNum> = self.team_of(color).collect();
        for member in team {
            let leads = member == client;
            if std::mem::replace(&mut self.sessions[member.index()].leads, leads) != leads {
                self.publish_entry(host, member);
            }
        }
        if let Some(player) = self.player(client) {
            let text = format!("{} is the new team leader", player.name);
            self.print_to_team(host, color, &text);
        }
    }

    /// Sends the teams whose members have changed the list of them, in rulesets with team lists. Runs when a client has
    /// entered. The list of an empty team keeps that of the team before it, as in the game.
    pub(super) fn list_teams(&mut self, host: &mut dyn Host) {
        if !self.ruleset.teams.has_lists || !self.game_type.has_teams() {
            return;
        }
        let mut list = String::new();
        for color in TeamColor::ALL {
            let members = self.team_of(color).map(|client| client.index().to_string());
            let members: Vec<String> = members.collect();
            if !members.is_empty() {
                list = members.join(",");
            }
            if self.team_lists[color as usize] == list {
                continue;
            }
            self.team_lists[color as usize].clone_from(&list);
            let text = format!("team \"{list}\"");
            for client in self.team_of(color).filter(|&client| self.active(client).is_some()) {
                host.send_command(Some(client), &text);
            }
        }
    }
}

impl ClientContext<'_> {
    /// Assigns all players to teams by score, the best two to different teams. They spawn with the
    /// next restart.
    pub(super) fn shuffle(&mut self) {
        let mut players: Vec<ClientNum> =
            TeamColor::ALL.into_iter().flat_map(|color| self.clients.team_of(color)).collect();
        players.sort_by_key(|&client| (std::cmp::Reverse(self.clients.score(client)), client));
        for (place, &client) in players.iter().enumerate() {
            // Red, blue, blue, red: alternating strictly would give red the better player of each pair.
            let color = if place.div_ceil(2) % 2 == 0 { TeamColor::Red } else { TeamColor::Blue };
            self.clients.sessions[client.index()].leads = false;
            self.clients.set_role(client, Role::Playing(Some(color)));
        }
        for color in TeamColor::ALL {
            self.clients.replace_leader(Some(color));
        }
        for &client in &players {
            self.clients.publish_entry(self.host, client);
        }
    }
}
