//! Client commands: one table, with the roles that may use each.
//!
//! Invariants: whatever is typed, answers are whole, quoted and short; words come from hostile clients.
//! Source: the base game's client commands and answers; OpenArena's.

use super::{
    ClientContext, Clients,
    chat::{Audience, ORDERS, Voice},
    cheats::Cheat,
};
use crate::cvar::engine;
use crate::game::{
    BaseGame, Host, Profile,
    userinfo::{Userinfo, clean_text, team_task},
};
use crate::model::{
    ClientNum, Words,
    text::{leading_int, without_colours},
};

use std::fmt::Write as _;

/// What a command does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Verb {
    Say,
    SayToTeam,
    Tell,
    /// In a recorded voice; true without the text.
    Voice(Voiced, bool),
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
    /// Taken without an answer: nothing yet that it could do.
    Silent,
}

/// Whom a recorded voice speaks to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Voiced {
    All,
    Team,
    One,
    /// All, mockingly.
    Taunt,
}

/// Who may give a command, in games that refuse by role.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Who {
    Anyone,
    Player,
    Spectator,
}

/// One command.
struct Row {
    name: &'static str,
    verb: Verb,
    who: Who,
    /// The only game that has it.
    only: Option<BaseGame>,
}

const fn row(name: &'static str, verb: Verb, who: Who) -> Row {
    Row { name, verb, who, only: None }
}

const fn only(name: &'static str, verb: Verb, who: Who, base: BaseGame) -> Row {
    Row { name, verb, who, only: Some(base) }
}

const COMMANDS: &[Row] = &[
    row("say", Verb::Say, Who::Anyone),
    row("say_team", Verb::SayToTeam, Who::Anyone),
    row("tell", Verb::Tell, Who::Anyone),
    row("score", Verb::Scores, Who::Anyone),
    row("team", Verb::Team, Who::Anyone),
    row("follow", Verb::Follow, Who::Spectator),
    row("follownext", Verb::FollowNext, Who::Spectator),
    row("followprev", Verb::FollowPrevious, Who::Spectator),
    only("freespectator", Verb::StopFollowing, Who::Spectator, BaseGame::OpenArena),
    row("kill", Verb::Kill, Who::Player),
    row("where", Verb::Where, Who::Anyone),
    row("callvote", Verb::CallVote, Who::Anyone),
    row("vote", Verb::Vote, Who::Anyone),
    row("callteamvote", Verb::CallTeamVote, Who::Player),
    row("teamvote", Verb::TeamVote, Who::Player),
    row("teamtask", Verb::TeamTask, Who::Player),
    row("give", Verb::Cheat(Cheat::Give), Who::Anyone),
    row("god", Verb::Cheat(Cheat::God), Who::Anyone),
    row("notarget", Verb::Cheat(Cheat::NoTarget), Who::Anyone),
    row("noclip", Verb::Cheat(Cheat::Noclip), Who::Anyone),
    row("setviewpos", Verb::Cheat(Cheat::SetViewPos), Who::Anyone),
    row("levelshot", Verb::Cheat(Cheat::LevelShot), Who::Anyone),
    row("stats", Verb::Silent, Who::Anyone),
    row("gc", Verb::Order, Who::Anyone),
    row("vsay", Verb::Voice(Voiced::All, false), Who::Anyone),
    row("vsay_team", Verb::Voice(Voiced::Team, false), Who::Anyone),
    row("vtell", Verb::Voice(Voiced::One, false), Who::Anyone),
    row("vosay", Verb::Voice(Voiced::All, true), Who::Anyone),
    row("vosay_team", Verb::Voice(Voiced::Team, true), Who::Anyone),
    row("votell", Verb::Voice(Voiced::One, true), Who::Anyone),
    row("vtaunt", Verb::Voice(Voiced::Taunt, false), Who::Anyone),
    only("vsay_local", Verb::Voice(Voiced::All, false), Who::Anyone, BaseGame::OpenArena),
    only("vosay_local", Verb::Voice(Voiced::All, true), Who::Anyone, BaseGame::OpenArena),
    only("acc", Verb::Accuracy, Who::Anyone, BaseGame::OpenArena),
    only("getmappage", Verb::MapPage, Who::Anyone, BaseGame::OpenArena),
];

/// What may be said and asked while the scoreboard is shown.
const TALK: [&str; 13] = [
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

/// Names of maps that are sent at once.
const MAPS_PER_PAGE: usize = 10;
/// Longest part of a typed word that an answer repeats, in bytes.
const MAX_ECHO_LEN: usize = 64;

impl ClientContext<'_> {
    pub(in crate::game) fn run_client_command(&mut self, client: ClientNum, words: &Words) {
        let known = COMMANDS.iter().find(|row| {
            row.name.eq_ignore_ascii_case(words.command())
                && row.only.is_none_or(|base| base == self.clients.profile.base)
        });
        let profile = self.clients.profile;
        if self.clients.intermission && !may_talk(profile, words.command()) {
            if profile.says_at_intermission {
                self.say(client, Audience::All, &words.from(0));
            }
            return;
        }
        let Some(row) = known else {
            let typed = clean_text(words.command(), MAX_ECHO_LEN);
            answer(self.host, client, &format!("{}{typed}", self.clients.profile.unknown_command));
            return;
        };
        if let Some(refusals) = self.clients.profile.role_refusals {
            let plays = self.clients.role(client).plays();
            match row.who {
                Who::Player if !plays => return answer(self.host, client, refusals.players_only),
                Who::Spectator if plays => {
                    return answer(self.host, client, refusals.spectators_only);
                }
                Who::Anyone | Who::Player | Who::Spectator => {}
            }
        }
        if matches!(row.verb, Verb::Cheat(_)) && !self.host.settings().flag(engine::key::SV_CHEATS)
        {
            return answer(self.host, client, profile.cheats_off);
        }
        let dead = self.clients.player(client).is_some_and(|player| !player.is_alive(profile));
        if dead && profile.living_only.contains(&row.name) {
            return answer(self.host, client, profile.living_refusal);
        }
        match row.verb {
            Verb::Say => self.say(client, Audience::All, &words.from(1)),
            Verb::SayToTeam => self.say(client, Audience::Team, &words.from(1)),
            Verb::Tell => {
                if let Some(target) = self.named_player(client, words.get(1)) {
                    self.say(client, Audience::One(target), &words.from(2));
                }
            }
            Verb::Order => {
                let order = words.get(2).parse().ok().and_then(|order: usize| ORDERS.get(order));
                let Some(order) = order else {
                    return answer(self.host, client, "Usage: gc <player> <0-6>");
                };
                if let Some(target) = self.named_player(client, words.get(1)) {
                    self.say(client, Audience::One(target), order);
                }
            }
            Verb::Voice(to, only) => self.voice(client, to, only, words),
            Verb::MapPage => send_map_page(self.host, client, leading_int(words.get(1))),
            Verb::Scores => self.clients.send_scores(self.host, client),
            Verb::Team => self.team_command(client, words.get(1)),
            Verb::Follow if words.len() < 2 => self.stop_following(client),
            Verb::Follow => {
                if let Some(target) = self.named_player(client, words.get(1)) {
                    self.follow(client, target);
                }
            }
            Verb::FollowNext => self.follow_next(client, 1),
            Verb::FollowPrevious => self.follow_next(client, -1),
            Verb::StopFollowing => self.stop_following(client),
            Verb::Kill if self.clients.plays(client) => {
                self.rules.kill(self.clients, self.host, client)
            }
            Verb::Where => {
                let Some(player) = self.clients.player(client) else { return };
                let [x, y, z] = player.seen().origin.0.map(|along| along as i32);
                answer(self.host, client, &format!("({x} {y} {z})"));
            }
            Verb::Accuracy => {
                let Some(player) = self.clients.player(client) else { return };
                self.host.send_command(Some(client), &player.accuracy.command());
            }
            Verb::CallVote => self.call_vote(client, words),
            Verb::Vote => self.cast_vote(client, words.get(1)),
            Verb::CallTeamVote => self.call_team_vote(client, words),
            Verb::TeamVote => self.cast_team_vote(client, words.get(1)),
            Verb::TeamTask => self.set_team_task(client, leading_int(words.get(1))),
            Verb::Cheat(cheat) => self.cheat(client, cheat, words),
            Verb::Kill | Verb::Silent => {}
        }
    }
}

impl Clients {
    /// The player that a word names, by number or by name without colours and case.
    ///
    /// # Errors
    /// The answer to who named nobody.
    pub(super) fn player_called(&self, word: &str) -> Result<ClientNum, String> {
        let is_number = !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_digit());
        if is_number {
            let found = self.player_numbered(word);
            if found.is_ok() || self.profile.slot_refusals {
                return found;
            }
        }
        let wanted = without_colours(word);
        let found = ClientNum::all().find(|&other| {
            self.active(other)
                .is_some_and(|player| without_colours(&player.name).eq_ignore_ascii_case(&wanted))
        });
        found.ok_or_else(|| format!("User {} is not on the server", clean_text(word, MAX_ECHO_LEN)))
    }

    /// The player of a number.
    ///
    /// # Errors
    /// The answer to who named nobody.
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
        if let Some(info) = Userinfo::parse(&text) {
            self.host.set_userinfo(client, &info.with("teamtask", &team_task(task).to_string()));
            self.clients.read_userinfo(self.host, client, true);
        }
    }

    /// The player that a word names. The client is told when there is none.
    fn named_player(&mut self, client: ClientNum, word: &str) -> Option<ClientNum> {
        self.clients.player_called(word).map_err(|refusal| answer(self.host, client, &refusal)).ok()
    }

    /// The commands that speak in recorded voices.
    fn voice(&mut self, client: ClientNum, to: Voiced, only: bool, words: &Words) {
        let (to, id) = match to {
            Voiced::All => (Audience::All, words.get(1)),
            Voiced::Team => (Audience::Team, words.get(1)),
            Voiced::Taunt => (Audience::All, "taunt"),
            Voiced::One => {
                let Some(target) = self.named_player(client, words.get(1)) else { return };
                (Audience::One(target), words.get(2))
            }
        };
        self.speak(client, to, Voice { only }, id);
    }
}

/// Sends a client some names of maps to vote for.
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

/// Whether a command is given as ever while the scoreboard is shown.
fn may_talk(profile: &Profile, command: &str) -> bool {
    let word = command.to_ascii_lowercase();
    TALK.contains(&word.as_str()) || word == profile.intermission_command
}

/// Prints a line to one client. The text is clean.
pub(super) fn answer(host: &mut dyn Host, client: ClientNum, text: &str) {
    host.send_command(Some(client), &format!("print \"{text}\n\""));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_command_has_one_row() {
        for (at, row) in COMMANDS.iter().enumerate() {
            assert!(COMMANDS[at + 1..].iter().all(|other| other.name != row.name), "{}", row.name);
            assert_eq!(row.name, row.name.to_ascii_lowercase());
        }
    }
}
