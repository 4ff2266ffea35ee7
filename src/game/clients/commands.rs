//! Client commands: one table, with the roles that may use each.
//!
//! Arguments come from hostile clients. Invariant: for any input an answer is complete, quoted and short.
//! Source: the base game's client commands and answers; OpenArena's.

use super::{
    ClientContext, Clients,
    chat::{Audience, ORDERS, VoiceChat},
    cheats::Cheat,
};
use crate::cvar::engine;
use crate::game::{
    BaseGame, Host, Ruleset,
    userinfo::{PlayerUserinfo, clean_text, team_task},
};
use crate::model::{
    ClientNum, CommandArgs,
    text::{atoi, strip_colors},
};

use std::fmt::Write as _;

/// A client command, by effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ClientCommand {
    Say,
    SayToTeam,
    Tell,
    /// Voice chat; true without the chat text.
    Voice(VoiceAudience, bool),
    Order,
    Scores,
    Accuracy,
    MapPage,
    Team,
    Follow,
    FollowNext,
    FollowPrevious,
    StopFollowing,
    Kill,
    Where,
    CallVote,
    Vote,
    CallTeamVote,
    TeamVote,
    TeamTask,
    Cheat(Cheat),
    /// Accepted and ignored.
    Silent,
}

/// Audience of a voice chat command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum VoiceAudience {
    All,
    Team,
    One,
    /// All clients, with the taunt voice.
    Taunt,
}

/// Role that a command requires, in rulesets with [role refusals](Ruleset::role_refusals).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum AllowedRole {
    Anyone,
    Player,
    Spectator,
}

/// Row of the command table.
struct CommandRow {
    name: &'static str,
    command: ClientCommand,
    allowed: AllowedRole,
    /// The only game with the command, if not all have it.
    only: Option<BaseGame>,
}

const fn row(name: &'static str, command: ClientCommand, allowed: AllowedRole) -> CommandRow {
    CommandRow { name, command, allowed, only: None }
}

const fn only(
    name: &'static str,
    command: ClientCommand,
    allowed: AllowedRole,
    base: BaseGame,
) -> CommandRow {
    CommandRow { name, command, allowed, only: Some(base) }
}

const COMMANDS: &[CommandRow] = &[
    row("say", ClientCommand::Say, AllowedRole::Anyone),
    row("say_team", ClientCommand::SayToTeam, AllowedRole::Anyone),
    row("tell", ClientCommand::Tell, AllowedRole::Anyone),
    row("score", ClientCommand::Scores, AllowedRole::Anyone),
    row("team", ClientCommand::Team, AllowedRole::Anyone),
    row("follow", ClientCommand::Follow, AllowedRole::Spectator),
    row("follownext", ClientCommand::FollowNext, AllowedRole::Spectator),
    row("followprev", ClientCommand::FollowPrevious, AllowedRole::Spectator),
    only(
        "freespectator",
        ClientCommand::StopFollowing,
        AllowedRole::Spectator,
        BaseGame::OpenArena,
    ),
    row("kill", ClientCommand::Kill, AllowedRole::Player),
    row("where", ClientCommand::Where, AllowedRole::Anyone),
    row("callvote", ClientCommand::CallVote, AllowedRole::Anyone),
    row("vote", ClientCommand::Vote, AllowedRole::Anyone),
    row("callteamvote", ClientCommand::CallTeamVote, AllowedRole::Player),
    row("teamvote", ClientCommand::TeamVote, AllowedRole::Player),
    row("teamtask", ClientCommand::TeamTask, AllowedRole::Player),
    row("give", ClientCommand::Cheat(Cheat::Give), AllowedRole::Anyone),
    row("god", ClientCommand::Cheat(Cheat::God), AllowedRole::Anyone),
    row("notarget", ClientCommand::Cheat(Cheat::NoTarget), AllowedRole::Anyone),
    row("noclip", ClientCommand::Cheat(Cheat::Noclip), AllowedRole::Anyone),
    row("setviewpos", ClientCommand::Cheat(Cheat::SetViewPos), AllowedRole::Anyone),
    row("levelshot", ClientCommand::Cheat(Cheat::LevelShot), AllowedRole::Anyone),
    row("stats", ClientCommand::Silent, AllowedRole::Anyone),
    row("gc", ClientCommand::Order, AllowedRole::Anyone),
    row("vsay", ClientCommand::Voice(VoiceAudience::All, false), AllowedRole::Anyone),
    row("vsay_team", ClientCommand::Voice(VoiceAudience::Team, false), AllowedRole::Anyone),
    row("vtell", ClientCommand::Voice(VoiceAudience::One, false), AllowedRole::Anyone),
    row("vosay", ClientCommand::Voice(VoiceAudience::All, true), AllowedRole::Anyone),
    row("vosay_team", ClientCommand::Voice(VoiceAudience::Team, true), AllowedRole::Anyone),
    row("votell", ClientCommand::Voice(VoiceAudience::One, true), AllowedRole::Anyone),
    row("vtaunt", ClientCommand::Voice(VoiceAudience::Taunt, false), AllowedRole::Anyone),
    only(
        "vsay_local",
        ClientCommand::Voice(VoiceAudience::All, false),
        AllowedRole::Anyone,
        BaseGame::OpenArena,
    ),
    only(
        "vosay_local",
        ClientCommand::Voice(VoiceAudience::All, true),
        AllowedRole::Anyone,
        BaseGame::OpenArena,
    ),
    only("acc", ClientCommand::Accuracy, AllowedRole::Anyone, BaseGame::OpenArena),
    only("getmappage", ClientCommand::MapPage, AllowedRole::Anyone, BaseGame::OpenArena),
];

/// Commands allowed in intermission.
const INTERMISSION_COMMANDS: [&str; 13] = [
    "say",
    "say_team",
    "score",
    "tell",
    "vosay",
    "vosay_local",
    "vosay_team",
    "votell",
    "vsay",
    "vsay_local",
    "vsay_team",
    "vtaunt",
    "vtell",
];

/// Map names per `mappage` command.
const MAPS_PER_PAGE: usize = 10;
/// Maximum length of an argument in an answer, in bytes.
const MAX_ECHO_LEN: usize = 64;

impl ClientContext<'_> {
    pub(in crate::game) fn run_client_command(&mut self, client: ClientNum, words: &CommandArgs) {
        let known = COMMANDS.iter().find(|row| {
            row.name.eq_ignore_ascii_case(words.command())
                && row.only.is_none_or(|base| base == self.clients.ruleset.base)
        });
        let ruleset = self.clients.ruleset;
        if self.clients.intermission && !allowed_in_intermission(ruleset, words.command()) {
            if ruleset.intermission_text_is_chat {
                self.say(client, Audience::All, &words.rest(0));
            }
            return;
        }
        let Some(row) = known else {
            let typed = clean_text(words.command(), MAX_ECHO_LEN);
            answer(self.host, client, &format!("{}{typed}", self.clients.ruleset.unknown_command));
            return;
        };
        if let Some(refusals) = self.clients.ruleset.role_refusals {
            let plays = self.clients.role(client).plays();
            match row.allowed {
                AllowedRole::Player if !plays => {
                    return answer(self.host, client, refusals.players_only);
                }
                AllowedRole::Spectator if plays => {
                    return answer(self.host, client, refusals.spectators_only);
                }
                AllowedRole::Anyone | AllowedRole::Player | AllowedRole::Spectator => {}
            }
        }
        if matches!(row.command, ClientCommand::Cheat(_))
            && !self.host.settings().flag(engine::key::SV_CHEATS)
        {
            return answer(self.host, client, ruleset.cheats_off);
        }
        let dead = self.clients.player(client).is_some_and(|player| !player.is_alive(ruleset));
        if dead && ruleset.living_only.contains(&row.name) {
            return answer(self.host, client, ruleset.living_refusal);
        }
        match row.command {
            ClientCommand::Say => self.say(client, Audience::All, &words.rest(1)),
            ClientCommand::SayToTeam => self.say(client, Audience::Team, &words.rest(1)),
            ClientCommand::Tell => {
                if let Some(target) = self.named_player(client, words.get(1)) {
                    self.say(client, Audience::One(target), &words.rest(2));
                }
            }
            ClientCommand::Order => {
                let order = words.get(2).parse().ok().and_then(|order: usize| ORDERS.get(order));
                let Some(order) = order else {
                    return answer(self.host, client, "Usage: gc <player> <0-6>");
                };
                if let Some(target) = self.named_player(client, words.get(1)) {
                    self.say(client, Audience::One(target), order);
                }
            }
            ClientCommand::Voice(to, only) => self.voice(client, to, only, words),
            ClientCommand::MapPage => send_map_page(self.host, client, atoi(words.get(1))),
            ClientCommand::Scores => self.clients.send_scores(self.host, client),
            ClientCommand::Team => self.team_command(client, words.get(1)),
            ClientCommand::Follow if words.len() < 2 => self.stop_following(client),
            ClientCommand::Follow => {
                if let Some(target) = self.named_player(client, words.get(1)) {
                    self.follow(client, target);
                }
            }
            ClientCommand::FollowNext => self.follow_next(client, 1),
            ClientCommand::FollowPrevious => self.follow_next(client, -1),
            ClientCommand::StopFollowing => self.stop_following(client),
            ClientCommand::Kill if self.clients.plays(client) => {
                self.rules.kill(self.clients, self.host, client)
            }
            ClientCommand::Where => {
                let Some(player) = self.clients.player(client) else { return };
                let [x, y, z] = player.view_state().origin.0.map(|along| along as i32);
                answer(self.host, client, &format!("({x} {y} {z})"));
            }
            ClientCommand::Accuracy => {
                let Some(player) = self.clients.player(client) else { return };
                self.host.send_command(Some(client), &player.accuracy.command());
            }
            ClientCommand::CallVote => self.call_vote(client, words),
            ClientCommand::Vote => self.cast_vote(client, words.get(1)),
            ClientCommand::CallTeamVote => self.call_team_vote(client, words),
            ClientCommand::TeamVote => self.cast_team_vote(client, words.get(1)),
            ClientCommand::TeamTask => self.set_team_task(client, atoi(words.get(1))),
            ClientCommand::Cheat(cheat) => self.cheat(client, cheat, words),
            ClientCommand::Kill | ClientCommand::Silent => {}
        }
    }
}

impl Clients {
    /// Finds a player by number, or by name without colors and case.
    ///
    /// # Errors
    /// The answer for a word that matches no player.
    pub(super) fn player_called(&self, word: &str) -> Result<ClientNum, String> {
        let is_number = !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_digit());
        if is_number {
            let found = self.player_numbered(word);
            if found.is_ok() || self.ruleset.slot_refusals {
                return found;
            }
        }
        let wanted = strip_colors(word);
        let found = ClientNum::all().find(|&other| {
            self.active(other)
                .is_some_and(|player| strip_colors(&player.name).eq_ignore_ascii_case(&wanted))
        });
        found.ok_or_else(|| format!("User {} is not on the server", clean_text(word, MAX_ECHO_LEN)))
    }

    /// Finds a player by number.
    ///
    /// # Errors
    /// The answer for a number without a player.
    pub(super) fn player_numbered(&self, word: &str) -> Result<ClientNum, String> {
        let slot = word.parse().ok().and_then(ClientNum::new);
        let Some(slot) = slot else {
            return Err(format!("Bad client slot: {}", clean_text(word, MAX_ECHO_LEN)));
        };
        match self.active(slot) {
            Some(_) => Ok(slot),
            None => Err(format!("Client {slot} is not active")),
        }
    }
}

impl ClientContext<'_> {
    fn set_team_task(&mut self, client: ClientNum, task: i32) {
        let text = self.host.userinfo(client).to_owned();
        if let Some(info) = PlayerUserinfo::parse(&text) {
            self.host.set_userinfo(client, &info.with("teamtask", &team_task(task).to_string()));
            self.clients.read_userinfo(self.host, client, true);
        }
    }

    /// Finds a player as [`Clients::player_called`] does. Sends the refusal to the client.
    fn named_player(&mut self, client: ClientNum, word: &str) -> Option<ClientNum> {
        self.clients.player_called(word).map_err(|refusal| answer(self.host, client, &refusal)).ok()
    }

    /// Runs a voice chat command.
    fn voice(&mut self, client: ClientNum, to: VoiceAudience, only: bool, words: &CommandArgs) {
        let (to, id) = match to {
            VoiceAudience::All => (Audience::All, words.get(1)),
            VoiceAudience::Team => (Audience::Team, words.get(1)),
            VoiceAudience::Taunt => (Audience::All, "taunt"),
            VoiceAudience::One => {
                let Some(target) = self.named_player(client, words.get(1)) else { return };
                (Audience::One(target), words.get(2))
            }
        };
        self.voice_chat(client, to, VoiceChat { only }, id);
    }
}

/// Sends a client a page of map names for the vote menu.
fn send_map_page(host: &mut dyn Host, client: ClientNum, page: i32) {
    let names = host.map_names();
    let last = names.len().saturating_sub(1) / MAPS_PER_PAGE;
    let page = usize::try_from(page).unwrap_or(0).min(last);
    let mut text = format!("mappage {page}");
    let legal = |name: &&String| name.len() <= MAX_ECHO_LEN;
    let mut shown = names.iter().filter(legal).skip(page * MAPS_PER_PAGE);
    for _ in 0..MAPS_PER_PAGE {
        let name = shown.next().map_or("", |name| name.as_str());
        let _ = write!(text, " \"{name}\"");
    }
    host.send_command(Some(client), &text);
}

/// Whether a command is allowed in intermission.
fn allowed_in_intermission(ruleset: &Ruleset, command: &str) -> bool {
    let word = command.to_ascii_lowercase();
    INTERMISSION_COMMANDS.contains(&word.as_str()) || word == ruleset.intermission_command
}

/// Prints a line to one client. The text must be clean.
pub(super) fn answer(host: &mut dyn Host, client: ClientNum, text: &str) {
    host.send_command(Some(client), &format!("print \"{text}\n\""));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn command_names_are_unique_and_lower_case() {
        for (at, row) in COMMANDS.iter().enumerate() {
            assert!(COMMANDS[at + 1..].iter().all(|other| other.name != row.name), "{}", row.name);
            assert_eq!(row.name, row.name.to_ascii_lowercase());
        }
    }
}
