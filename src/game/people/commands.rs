//! What a client may type: one table of commands, and who may give them.
//!
//! Invariants: whatever is typed, answers are whole, quoted and short; words come from hostile clients.
//! Source: the base game's client commands and answers; OpenArena's.

use super::{People, Populated, cheats::Cheat};
use crate::game::{
    Host, Profile,
    userinfo::{Userinfo, clean_text},
};
use crate::model::{
    ClientNum, Words,
    text::{leading_int, without_colours},
};

/// What a command does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Verb {
    Say,
    Tell,
    Scores,
    Team,
    Follow,
    FollowNext,
    FollowPrevious,
    StopFollowing,
    Kill,
    Where,
    Accuracy,
    CallVote,
    Vote,
    TeamTask,
    Cheat(Cheat),
    /// Taken without an answer: nothing yet that it could do.
    Silent,
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
    /// The only game that knows it.
    only: Option<&'static Profile>,
}

const fn row(name: &'static str, verb: Verb, who: Who) -> Row {
    Row { name, verb, who, only: None }
}

const fn only(name: &'static str, verb: Verb, who: Who, profile: &'static Profile) -> Row {
    Row { name, verb, who, only: Some(profile) }
}

const COMMANDS: &[Row] = &[
    row("say", Verb::Say, Who::Anyone),
    row("say_team", Verb::Say, Who::Anyone),
    row("tell", Verb::Tell, Who::Anyone),
    row("score", Verb::Scores, Who::Anyone),
    row("team", Verb::Team, Who::Anyone),
    row("follow", Verb::Follow, Who::Spectator),
    row("follownext", Verb::FollowNext, Who::Spectator),
    row("followprev", Verb::FollowPrevious, Who::Spectator),
    only("freespectator", Verb::StopFollowing, Who::Spectator, Profile::BASEOA),
    row("kill", Verb::Kill, Who::Player),
    row("where", Verb::Where, Who::Anyone),
    row("callvote", Verb::CallVote, Who::Anyone),
    row("vote", Verb::Vote, Who::Anyone),
    row("callteamvote", Verb::CallVote, Who::Player),
    row("teamvote", Verb::Vote, Who::Player),
    row("teamtask", Verb::TeamTask, Who::Player),
    row("give", Verb::Cheat(Cheat::Give), Who::Anyone),
    row("god", Verb::Cheat(Cheat::God), Who::Anyone),
    row("notarget", Verb::Cheat(Cheat::NoTarget), Who::Anyone),
    row("noclip", Verb::Cheat(Cheat::Noclip), Who::Anyone),
    row("setviewpos", Verb::Cheat(Cheat::SetViewPos), Who::Anyone),
    row("levelshot", Verb::Cheat(Cheat::LevelShot), Who::Anyone),
    row("stats", Verb::Silent, Who::Anyone),
    row("gc", Verb::Silent, Who::Anyone),
    row("vsay", Verb::Silent, Who::Anyone),
    row("vsay_team", Verb::Silent, Who::Anyone),
    row("vtell", Verb::Silent, Who::Anyone),
    row("vosay", Verb::Silent, Who::Anyone),
    row("vosay_team", Verb::Silent, Who::Anyone),
    row("votell", Verb::Silent, Who::Anyone),
    row("vtaunt", Verb::Silent, Who::Anyone),
    only("vsay_local", Verb::Silent, Who::Anyone, Profile::BASEOA),
    only("vosay_local", Verb::Silent, Who::Anyone, Profile::BASEOA),
    only("acc", Verb::Accuracy, Who::Anyone, Profile::BASEOA),
    only("getmappage", Verb::Silent, Who::Anyone, Profile::BASEOA),
];

/// What may be said and asked while the scoreboard is shown.
const TALK: [&str; 11] = [
    "say",
    "say_team",
    "score",
    "vosay",
    "vosay_local",
    "vosay_team",
    "votell",
    "vsay",
    "vsay_local",
    "vsay_team",
    "vtaunt",
];

/// Longest part of a typed word that an answer repeats, in bytes.
const MAX_ECHO_LEN: usize = 64;

impl dyn Populated + '_ {
    pub(in crate::game) fn run_client_command(
        &mut self,
        host: &mut dyn Host,
        client: ClientNum,
        words: &Words,
    ) {
        let known = COMMANDS.iter().find(|row| {
            row.name.eq_ignore_ascii_case(words.command())
                && row.only.is_none_or(|profile| profile == self.people().profile)
        });
        if self.people().intermission && !may_talk(self.people().profile, words.command()) {
            if self.people().profile.says_at_intermission {
                self.people().say(host, client, &words.from(0));
            }
            return;
        }
        let Some(row) = known else {
            let typed = clean_text(words.command(), MAX_ECHO_LEN);
            answer(host, client, &format!("{}{typed}", self.people().profile.unknown_command));
            return;
        };
        if let Some(refusals) = self.people().profile.role_refusals {
            let plays = self.people().role(client).plays();
            match row.who {
                Who::Player if !plays => return answer(host, client, refusals.players_only),
                Who::Spectator if plays => return answer(host, client, refusals.spectators_only),
                Who::Anyone | Who::Player | Who::Spectator => {}
            }
        }
        let profile = self.people().profile;
        if matches!(row.verb, Verb::Cheat(_)) && leading_int(host.setting("sv_cheats")) == 0 {
            return answer(host, client, profile.cheats_off);
        }
        let dead = self.people().player(client).is_some_and(|player| !player.is_alive(profile));
        if dead && profile.living_only.contains(&row.name) {
            return answer(host, client, profile.living_refusal);
        }
        match row.verb {
            Verb::Say => self.people().say(host, client, &words.from(1)),
            Verb::Tell => {
                if let Some(target) = self.people().named_player(host, client, words.get(1)) {
                    self.people().tell(host, client, target, &words.from(2));
                }
            }
            Verb::Scores => self.people().send_scores(host, client),
            Verb::Team => self.team_command(host, client, words.get(1)),
            Verb::Follow if words.len() < 2 => self.stop_following(client),
            Verb::Follow => {
                if let Some(target) = self.people().named_player(host, client, words.get(1)) {
                    self.follow(host, client, target);
                }
            }
            Verb::FollowNext => self.follow_next(host, client, 1),
            Verb::FollowPrevious => self.follow_next(host, client, -1),
            Verb::StopFollowing => self.stop_following(client),
            Verb::Kill if self.people().plays(client) => self.kill(host, client),
            Verb::Where => {
                let Some(player) = self.people().player(client) else { return };
                let [x, y, z] = player.seen().origin.0.map(|along| along as i32);
                answer(host, client, &format!("({x} {y} {z})"));
            }
            Verb::Accuracy => {
                let Some(player) = self.people().player(client) else { return };
                host.send_command(Some(client), &player.accuracy.command());
            }
            Verb::CallVote => answer(host, client, "Voting not allowed here."),
            Verb::Vote => answer(host, client, "No vote in progress."),
            Verb::TeamTask => {
                self.people_mut().set_team_task(host, client, leading_int(words.get(1)))
            }
            Verb::Cheat(cheat) => self.cheat(host, client, cheat, words),
            Verb::Kill | Verb::Silent => {}
        }
    }
}

impl People {
    fn set_team_task(&mut self, host: &mut dyn Host, client: ClientNum, task: i32) {
        let text = host.userinfo(client).to_owned();
        if let Some(info) = Userinfo::parse(&text) {
            host.set_userinfo(client, &info.with("teamtask", &task.to_string()));
            self.read_userinfo(host, client, true);
        }
    }

    /// The player that a word names, by number or by name without colours and case. The client is told
    /// when there is none.
    fn named_player(
        &self,
        host: &mut dyn Host,
        client: ClientNum,
        word: &str,
    ) -> Option<ClientNum> {
        let shown = clean_text(word, MAX_ECHO_LEN);
        let is_number = !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_digit());
        if is_number {
            let slot = word.parse().ok().and_then(ClientNum::new);
            if let Some(found) = slot.filter(|&slot| self.active(slot).is_some()) {
                return Some(found);
            }
            if self.profile.slot_refusals {
                let refusal = match slot {
                    Some(slot) => format!("Client {slot} is not active"),
                    None => format!("Bad client slot: {shown}"),
                };
                answer(host, client, &refusal);
                return None;
            }
        }
        let wanted = without_colours(word);
        let found = ClientNum::all().find(|&other| {
            self.active(other)
                .is_some_and(|player| without_colours(&player.name).eq_ignore_ascii_case(&wanted))
        });
        if found.is_none() {
            answer(host, client, &format!("User {shown} is not on the server"));
        }
        found
    }
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
