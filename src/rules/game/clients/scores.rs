//! Ranks, score configstrings and scoreboard.
//!
//! Source: the base game's ranking and scoreboard command; OpenArena's longer form of it.

use super::{Clients, JoinState, Role};
use crate::{
    bg::{
        Persistent, TIED, configstring,
        scoreboard::{ScoreEntry, scoreboard},
    },
    game::Host,
    model::{ClientNum, limits::MAX_CLIENTS},
};

use std::cmp::Ordering;

/// Largest ping on the scoreboard, in ms.
const MAX_SHOWN_PING: i32 = 999;
/// Ping on the scoreboard of a client that loads the level.
const CONNECTING_PING: i32 = -1;
/// Connected clients in the order of the scoreboard.
struct Ranking {
    /// Sorted: the group, the time of waiting, the score, the client number.
    keys: [u128; MAX_CLIENTS],
    count: usize,
}

impl Ranking {
    fn clients(&self) -> impl Iterator<Item = ClientNum> + use<> {
        let keys = self.keys.into_iter().take(self.count);
        keys.filter_map(|key| ClientNum::new(usize::from(key as u8)))
    }
}

impl Clients {
    /// Updates the rank of every client and publishes the two best scores.
    pub(in crate::game) fn rank(&mut self, host: &mut dyn Host) {
        let ranking = self.ranking();
        self.ranked_players = self.count_players();
        let mut position = 0;
        let mut place = 0;
        let mut ahead: Option<(i32, ClientNum)> = None;
        for client in ranking.clients() {
            if !self.plays(client) {
                continue;
            }
            let score = self.score(client);
            if let Some((_, tied)) = ahead.filter(|&(other, _)| other == score) {
                set_rank(self, tied, place | TIED);
                set_rank(self, client, place | TIED);
            } else {
                place = position;
                set_rank(self, client, place);
            }
            ahead = Some((score, client));
            position += 1;
        }
        if self.game_type.has_teams() {
            self.rank_teams();
        }
        publish_scores(self, host, &ranking);
        if self.intermission {
            self.send_scores_to_all(host);
        }
    }

    /// Counts the players, also those that load the level.
    fn count_players(&self) -> usize {
        let players = ClientNum::all().filter(|&client| self.player(client).is_some());
        players.filter(|&client| self.role(client).plays()).count()
    }

    /// Sets the rank of every client to the leading team: 0 red, 1 blue, 2 tied.
    fn rank_teams(&mut self) {
        let [red, blue] = self.team_scores;
        let rank = match red.cmp(&blue) {
            Ordering::Greater => 0,
            Ordering::Less => 1,
            Ordering::Equal => 2,
        };
        ClientNum::all().for_each(|client| set_rank(self, client, rank));
    }

    /// Publishes the team scores, or the two best scores outside team games.
    pub(in crate::game) fn publish_scores(&self, host: &mut dyn Host) {
        publish_scores(self, host, &self.ranking());
    }

    /// Sends the scoreboard to clients. Bots have none.
    pub(in crate::game) fn send_scores(
        &self,
        host: &mut dyn Host,
        clients: impl IntoIterator<Item = ClientNum>,
    ) {
        let mut scores = None;
        for client in clients {
            if self.player(client).is_none_or(|player| !player.is_bot) {
                let scores = scores.get_or_insert_with(|| scoreboard_of(self));
                host.send_command(Some(client), scores);
            }
        }
    }

    /// Sends the scoreboard to every client in the level, in OpenArena with the time of the round.
    pub(in crate::game) fn send_scores_to_all(&self, host: &mut dyn Host) {
        let round = self.ruleset.scores.round_start_ms.map(|ms| {
            let [red, blue] = self.team_scores;
            format!("elimination {red} {blue} {}", self.started + ms)
        });
        let scores = scoreboard_of(self);
        for client in ClientNum::all() {
            let Some(player) = self.active(client) else { continue };
            if !player.is_bot {
                host.send_command(Some(client), &scores);
            }
            if let Some(round) = &round {
                host.send_command(Some(client), round);
            }
        }
    }

    /// Returns the players in the level, the best first.
    pub(in crate::game) fn players_by_score(&self) -> impl Iterator<Item = ClientNum> + '_ {
        self.ranking().clients().filter(|&client| self.plays(client))
    }

    /// Returns the first two players of the ranking.
    pub(in crate::game) fn leaders(&self) -> [Option<ClientNum>; 2] {
        let mut best: [Option<ClientNum>; 2] = [None; 2];
        for client in ClientNum::all().filter(|&client| self.plays(client)) {
            let beats = |other: Option<ClientNum>| {
                other.is_none_or(|other| self.score(client) > self.score(other))
            };
            if beats(best[0]) {
                best = [Some(client), best[0]];
            } else if beats(best[1]) {
                best[1] = Some(client);
            }
        }
        best
    }

    fn ranking(&self) -> Ranking {
        let mut ranking = Ranking { keys: [0; MAX_CLIENTS], count: 0 };
        for client in ClientNum::all().filter(|&client| self.player(client).is_some()) {
            let session = &self.sessions[client.index()];
            let connecting = self.active(client).is_none();
            let (group, waiting) = match session.role {
                Role::Scoreboard | Role::AutoFollowing(_) => (3_u8, 0),
                _ if connecting => (2, 0),
                Role::Spectating | Role::Following(_) => (1, session.waiting_since),
                Role::Playing(_) => (0, 0),
            };
            // The best first; the client number breaks ties.
            let behind = i32::MAX.abs_diff(self.score(client));
            ranking.keys[ranking.count] = u128::from(group) << 96
                | u128::from(waiting) << 64
                | u128::from(behind) << 32
                | client.index() as u128;
            ranking.count += 1;
        }
        ranking.keys[..ranking.count].sort_unstable();
        ranking
    }

    pub(in crate::game) fn score(&self, client: ClientNum) -> i32 {
        self.player(client).map_or(0, |player| player.state.persistant[Persistent::Score])
    }
}

fn publish_scores(clients: &Clients, host: &mut dyn Host, ranking: &Ranking) {
    let mut shown = clients.team_scores;
    if !clients.game_type.has_teams() {
        let mut best = ranking.clients().map(|client| clients.score(client));
        shown = [0; 2].map(|_: i32| best.next().unwrap_or(configstring::NO_SCORE));
    }
    for (index, score) in [configstring::SCORES1, configstring::SCORES2].into_iter().zip(shown) {
        if host.configstring(index).parse() != Ok(score) {
            host.set_configstring(index, &score.to_string());
        }
    }
}

fn scoreboard_of(clients: &Clients) -> String {
    let ranking = clients.ranking();
    let lines = ranking.clients().filter_map(|client| score_entry(clients, client));
    scoreboard(clients.ruleset.scores, clients.team_scores, clients.started, lines)
}

/// Returns the scoreboard entry of a client.
fn score_entry(clients: &Clients, client: ClientNum) -> Option<ScoreEntry> {
    let player = clients.player(client)?;
    let values = &player.state.persistant;
    Some(ScoreEntry {
        client: client.index(),
        score: values[Persistent::Score],
        ping: match player.join_state {
            JoinState::Connecting => CONNECTING_PING,
            JoinState::Active => player.state.ping.min(MAX_SHOWN_PING),
        },
        minutes: clients.now.distance(player.entered) / 60_000,
        powerups: player.entity.powerups,
        accuracy: player.accuracy.percent(),
        impressive: values[Persistent::Impressive],
        excellent: values[Persistent::Excellent],
        gauntlet: values[Persistent::Gauntlet],
        defend: values[Persistent::Defend],
        assist: values[Persistent::Assist],
        perfect: values[Persistent::Rank] == 0 && values[Persistent::Deaths] == 0,
        captures: values[Persistent::Captures],
    })
}

/// Sets the rank in a client's player state.
fn set_rank(clients: &mut Clients, client: ClientNum, rank: i32) {
    if let Some(player) = clients.players[client.index()].as_mut() {
        player.state.persistant[Persistent::Rank] = rank;
    }
}
