//! Game log: the reader of game events that writes the lines of the match record.
//!
//! The writer prefixes each line with the clock. Source: the base game's log lines; OpenArena's clock,
//! which continues over restarts, and its lines about scores, awards and flags.

use super::Clients;
use crate::bg::{MeansOfDeath, Persistent, TeamColor};
use crate::cvar::engine;
use crate::game::{Audience, FlagAction, GameEvent, Host, MatchPhase, TeamScoreCause};
use crate::model::{ClientNum, EntityNum};

/// Line before and after each level.
const RULE: &str = "------------------------------------------------------------";
/// Maximum number of score lines at the end of a match.
const MAX_LINES: usize = 32;
/// Largest logged ping, in ms.
const MAX_PING_MS: i32 = 999;

/// Number and name of an award, by its counter.
const AWARDS: [(Persistent, u8, &str); 6] = [
    (Persistent::Gauntlet, 0, "GAUNTLET"),
    (Persistent::Excellent, 1, "EXCELLENT"),
    (Persistent::Impressive, 2, "IMPRESSIVE"),
    (Persistent::Defend, 3, "DEFENCE"),
    (Persistent::Captures, 4, "CAPTURE"),
    (Persistent::Assist, 5, "ASSIST"),
];

impl Clients {
    /// Emits an event to the game log and to the host.
    pub(in crate::game) fn emit(&self, host: &mut dyn Host, event: &GameEvent<'_>) {
        GameLog { clients: self, host }.write_event(event);
        host.handle_event(event);
    }
}

/// Writer of the lines of events.
struct GameLog<'a> {
    clients: &'a Clients,
    host: &'a mut dyn Host,
}

impl GameLog<'_> {
    /// Writes a line to the log.
    fn write(&mut self, line: &str) {
        let Clients { now, logged_from, .. } = self.clients;
        self.host.log_line(now.distance(*logged_from).max(0), line);
    }

    /// Writes the lines of an event, if the ruleset logs it.
    fn write_event(&mut self, event: &GameEvent<'_>) {
        let name = |client| self.name(Some(client), "");
        let line = match *event {
            GameEvent::Connect(client) => format!("ClientConnect: {client}"),
            GameEvent::Enter(client) => format!("ClientBegin: {client}"),
            GameEvent::Disconnect(client) => format!("ClientDisconnect: {client}"),
            GameEvent::PlayerEntry { client, entry, guid } => {
                let (field, guid) = if self.clients.ruleset.players.has_guids {
                    ("\\id\\", guid)
                } else {
                    ("", "")
                };
                format!("ClientUserinfoChanged: {client} {entry}{field}{guid}")
            }
            GameEvent::Kill { killer, victim, means } => self.kill_line(killer, victim, means),
            GameEvent::Pickup { client, class, .. } => format!("Item: {client} {class}"),
            GameEvent::Challenge { client, number } => {
                format!("Challenge: {client} {number} 1: Client {client} got award {number}")
            }
            GameEvent::Chat { client, to, text } => self.chat_line(client, to, text),
            GameEvent::VoiceChat { client, to: Audience::One(hearer), id } => {
                format!("vtell: {} to {}: {id}", name(client), name(hearer))
            }
            GameEvent::VoteCall { client, proposal } => {
                return self.write_vote(&format!("callvote: {client} {proposal}"));
            }
            GameEvent::VoteEnd { is_passed, votes: [yes, no], proposal } => {
                let result = if is_passed { "passed" } else { "failed" };
                return self.write_vote(&format!("vote {result}: {yes} {no} {proposal}"));
            }
            GameEvent::Phase(phase) => return self.write_phase(phase),
            GameEvent::ScoringAction { client } if self.clients.ruleset.game_log.has_scores => {
                let Some(player) = self.clients.player(client) else { return };
                let (score, name) = (self.clients.score(client), &player.name);
                format!("PlayerScore: {client} {score}: {name} now has {score} points")
            }
            GameEvent::TeamScore { team, score, cause: TeamScoreCause::Points }
                if self.clients.ruleset.game_log.has_scores =>
            {
                let team = team.team() as i32;
                format!("TeamScore: {team} {score}: Team {team} now has {score} points")
            }
            GameEvent::Award { client, award } if self.clients.ruleset.game_log.has_scores => {
                let row = AWARDS.iter().find(|row| row.0 == award);
                let Some(((_, number, title), player)) = row.zip(self.clients.player(client))
                else {
                    return;
                };
                format!("Award: {client} {number}: {} gained the {title} award!", player.name)
            }
            // A flag that returns without a player has no line.
            GameEvent::Flag { client: Some(client), team, action }
                if self.clients.ruleset.game_log.has_scores =>
            {
                self.flag_line(client, team, action)
            }
            GameEvent::Spawn { .. }
            | GameEvent::Hit { .. }
            | GameEvent::Score { .. }
            | GameEvent::ScoringAction { .. }
            | GameEvent::TeamScore { .. }
            | GameEvent::Award { .. }
            | GameEvent::Flag { .. }
            | GameEvent::VoiceChat { .. } => return,
        };
        self.write(&line);
    }

    /// Returns the name of a client, or `default` without one.
    fn name(&self, client: Option<ClientNum>, default: &'static str) -> &str {
        let player = client.and_then(|client| self.clients.player(client));
        player.map_or(default, |player| player.name.as_str())
    }

    /// Returns the line of a chat text.
    fn chat_line(&self, client: ClientNum, to: Audience, text: &str) -> String {
        let speaker = self.name(Some(client), "");
        match to {
            Audience::All => format!("say: {speaker}: {text}"),
            Audience::Team => format!("sayteam: {speaker}: {text}"),
            Audience::One(hearer) => {
                format!("tell: {speaker} to {}: {text}", self.name(Some(hearer), ""))
            }
        }
    }

    /// Returns the line of a kill.
    fn kill_line(
        &self,
        killer: Option<ClientNum>,
        victim: ClientNum,
        means: MeansOfDeath,
    ) -> String {
        let name = |client| self.name(client, "<world>");
        let by = killer.map_or(EntityNum::WORLD, EntityNum::from);
        let number = means.number(self.clients.ruleset.equipment.grapple_means);
        let (killer, killed, means) = (name(killer), name(Some(victim)), means.name());
        format!("Kill: {by} {victim} {number}: {killer} killed {killed} by {means}")
    }

    /// Returns the line of a player's action with a team's flag.
    fn flag_line(&self, client: ClientNum, team: TeamColor, action: FlagAction) -> String {
        let (name, text) = (self.name(Some(client), ""), action.text(team, true));
        format!("CTF: {client} {} {}: {name} {text}", team.team() as i32, action as u8)
    }

    /// Writes a vote to the server's log and to the game log.
    fn write_vote(&mut self, line: &str) {
        // Without a game log, its lines go to the server's log.
        if !self.host.settings().text(engine::key::G_LOG).is_empty() {
            self.host.print(line);
        }
        self.write(line);
    }

    /// Writes the header of a level with the serverinfo, its footer, or the scores of a match.
    fn write_phase(&mut self, phase: MatchPhase) {
        match phase {
            MatchPhase::LevelStart => {
                self.write(RULE);
                let info = self.host.serverinfo();
                self.write(&format!("InitGame: {info}"));
            }
            MatchPhase::LevelEnd => {
                self.write("ShutdownGame:");
                self.write(RULE);
            }
            MatchPhase::Waiting => self.write("Warmup:"),
            MatchPhase::Exit(reason) => self.write_exit(reason),
            MatchPhase::Countdown(_) | MatchPhase::Play | MatchPhase::Intermission => {}
        }
    }

    /// Writes the exit reason and the scores, best first.
    fn write_exit(&mut self, reason: &str) {
        self.write(&format!("Exit: {reason}"));
        if self.clients.game_type.has_teams() {
            let [red, blue] = self.clients.team_scores;
            self.write(&format!("red:{red}  blue:{blue}"));
        }
        for client in self.clients.players_by_score().take(MAX_LINES) {
            let Some(player) = self.clients.player(client) else { continue };
            let (score, ping, name) =
                (self.clients.score(client), player.ping_ms.min(MAX_PING_MS), &player.name);
            self.write(&format!("score: {score}  ping: {ping}  client: {client} {name}"));
        }
    }
}
