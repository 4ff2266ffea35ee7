//! Votes: `callvote` of all players, and `callteamvote` for a team's leader.
//!
//! Human players vote, bots do not. A player's vote is removed when it stops playing. Invariants: one
//! vote runs at a time; a passed proposal runs once; a vote on a player who has left fails.
//! Source: the base game's votes; OpenArena's light voting.

use super::{
    ClientContext, Clients,
    ballots::{Electorate, Holder, Poll, PollState},
    commands::answer,
    map_pool,
    proposal::{self, Proposal},
    vote_settings,
};
use crate::model::{ClientNum, CommandArgs, ConfigIndex, LevelTime};
use crate::{
    bg::{TeamColor, configstring, entity_flag},
    game::{ConsoleTiming, GameEvent, Host, settings::key},
};

/// Delay between a passed vote and its effect, in ms: the first frame after 3 seconds.
const PAUSE_MS: i32 = 3001;
/// Maximum sites (IPv4 addresses or IPv6 /56) whose calls are counted.
const MAX_CALLERS: usize = 256;
/// Bit of `dmflags`: a vote without an absolute majority can pass when the time is over.
const LIGHT_VOTING: i32 = 512;

/// Running and passed votes of a level.
#[derive(Clone, Debug, Default)]
pub(super) struct Votes {
    open: Option<(Proposal, Poll)>,
    /// Passed proposal, and the level time at which it runs.
    passed: Option<(Proposal, LevelTime)>,
    /// Team votes: proposed leader and poll.
    teams: [Option<(ClientNum, Poll)>; 2],
    /// Player whom the last vote named to kick.
    named: Option<ClientNum>,
    /// Callers of votes on this level, with their number of calls.
    callers: Vec<(Holder, i32)>,
    /// Whether the settings about votes were checked.
    has_checked_settings: bool,
}

impl Votes {
    /// Whether a passed vote is about to change or restart the level.
    fn changes_level(&self) -> bool {
        self.passed.as_ref().is_some_and(|(proposal, _)| proposal.changes_level())
    }
}

/// Returns the configstrings of a team's vote: time, text, yes, no.
fn team_strings(color: TeamColor) -> [ConfigIndex; 4] {
    [12, 14, 16, 18].map(|first| ConfigIndex::at(first + color as u16))
}

const STRINGS: [ConfigIndex; 4] = [
    configstring::VOTE_TIME,
    configstring::VOTE_STRING,
    configstring::VOTE_YES,
    configstring::VOTE_NO,
];

/// Whether a word means yes.
fn says_yes(word: &str) -> bool {
    word.starts_with(['y', 'Y', '1'])
}

/// Shows clients a vote that begins. `counts` are the ballots for and against.
fn show(
    host: &mut dyn Host,
    strings: [ConfigIndex; 4],
    since: LevelTime,
    text: &str,
    counts: [usize; 2],
) {
    let [yes, no] = counts;
    let values = [since.to_string(), text.to_owned(), yes.to_string(), no.to_string()];
    for (index, value) in strings.into_iter().zip(values) {
        host.set_configstring(index, &value);
    }
}

impl Clients {
    /// Sends a client the names of the custom votes, in rulesets whose clients list them.
    pub(super) fn list_custom_votes(&self, host: &mut dyn Host, client: ClientNum) {
        let names: Vec<&str> = proposal::custom_votes(&*host).collect();
        if self.ruleset.votes.lists_custom && !names.is_empty() {
            let text = format!("customvotes {}", names.join(" "));
            host.send_command(Some(client), &text);
        }
    }

    /// Whether a client's vote counts.
    fn votes(&self, client: ClientNum) -> bool {
        self.plays(client) && self.player(client).is_some_and(|player| !player.is_bot)
    }

    /// Returns the holders of ballots among all voters, or those of a team.
    fn electorate(&self, host: &dyn Host, color: Option<TeamColor>) -> Electorate {
        let side = |client: &ClientNum| {
            color.is_none_or(|color| self.role(*client).color() == Some(color))
        };
        let voters = ClientNum::all().filter(|&client| self.votes(client)).filter(side);
        Electorate::new(host, voters)
    }

    fn set_flag(&mut self, client: ClientNum, flag: i32, on: bool) {
        if let Some(player) = self.players[client.index()].as_mut() {
            player.state.e_flags = player.state.e_flags & !flag | if on { flag } else { 0 };
        }
    }

    /// Removes the votes of a client that stops playing.
    pub(super) fn clear_votes(&mut self, client: ClientNum) {
        let votes = &mut self.votes;
        let polls = votes.open.iter_mut().map(|(_, poll)| poll);
        for poll in polls.chain(votes.teams.iter_mut().flatten().map(|(_, poll)| poll)) {
            poll.remove(client);
        }
        self.set_flag(client, super::player::VOTES, false);
    }

    /// Cancels kick votes on a client that has left. They must not hit the next client in its slot.
    pub(super) fn cancel_votes_about(&mut self, host: &mut dyn Host, gone: ClientNum) {
        let votes = &mut self.votes;
        votes.passed.take_if(|(proposal, _)| *proposal == Proposal::Kick(gone));
        if self.ruleset.votes.clears_kicked && votes.named.take_if(|named| *named == gone).is_some()
        {
            votes.open = None;
            STRINGS.into_iter().for_each(|index| host.set_configstring(index, ""));
        }
        if let Some((_, poll)) =
            votes.open.as_mut().filter(|(proposal, _)| *proposal == Proposal::Kick(gone))
        {
            // Let the vote time out without votes, so that it fails.
            *poll = Poll::timed_out(self.now);
        }
    }
}

impl ClientContext<'_> {
    /// Counts a vote call of a client. Returns false if the limit `g_maxVotes` is reached.
    fn may_call(&mut self, client: ClientNum) -> bool {
        let most = self.host.settings().int(key::G_MAX_VOTES);
        let caller = Holder::of(self.host, client);
        let callers = &mut self.clients.votes.callers;
        let at = callers.iter().position(|(known, _)| *known == caller).unwrap_or_else(|| {
            if callers.len() == MAX_CALLERS {
                callers.remove(0);
            }
            callers.push((caller, 0));
            callers.len() - 1
        });
        let calls = &mut callers[at].1;
        let allowed = most == 0 || *calls < most;
        *calls += i32::from(allowed);
        allowed
    }

    /// Runs the `callvote` command.
    pub(super) fn call_vote(&mut self, client: ClientNum, words: &CommandArgs) {
        let refusal = if self.host.settings().int(key::G_ALLOW_VOTE) == 0 {
            Some("Voting not allowed here.")
        } else if self.clients.votes.open.is_some() {
            Some("A vote is already in progress.")
        } else if self.clients.votes.changes_level() {
            Some("Vote after map change.")
        } else if !self.clients.role(client).plays() {
            Some("Not allowed to call a vote as spectator.")
        } else {
            None
        };
        if let Some(refusal) = refusal {
            return answer(self.host, client, refusal);
        }
        if let Some((passed, _)) = self.clients.votes.passed.take() {
            self.run_proposal(&passed);
        }
        let proposal = match proposal::read(self.clients, self.host, words) {
            Ok(proposal) => proposal,
            Err(lines) => return lines.iter().for_each(|line| answer(self.host, client, line)),
        };
        if !self.may_call(client) {
            return answer(self.host, client, "You have called the maximum number of votes.");
        }
        let Some(player) = self.clients.player(client) else { return };
        self.host.send_command(None, &format!("print \"{} called a vote.\n\"", player.name));
        let poll = Poll::new(self.clients.now, client);
        let text = proposal.text(self.clients);
        let electorate = self.clients.electorate(self.host, None);
        show(self.host, STRINGS, self.clients.now, &text, electorate.count(&poll));
        self.tell_shared_ballot(client, &electorate);
        self.clients.emit(self.host, &GameEvent::VoteCall { client, proposal: &text });
        for other in ClientNum::all() {
            self.clients.set_flag(other, entity_flag::VOTED, other == client);
        }
        self.clients.votes.named = match proposal {
            Proposal::Kick(named) => Some(named),
            _ => None,
        };
        self.clients.votes.open = Some((proposal, poll));
    }

    /// Runs the `vote` command.
    pub(super) fn cast_vote(&mut self, client: ClientNum, word: &str) {
        let plays = self.clients.role(client).plays();
        let may_change = self.clients.ruleset.votes.may_change;
        let Some((_, poll)) = &mut self.clients.votes.open else {
            return answer(self.host, client, "No vote in progress.");
        };
        let refusal = if poll.has_cast(client) && !may_change {
            Some("Vote already cast.")
        } else if !plays {
            Some("Not allowed to vote as spectator.")
        } else {
            None
        };
        if let Some(refusal) = refusal {
            return answer(self.host, client, refusal);
        }
        poll.cast(client, says_yes(word));
        let poll = poll.clone();
        let electorate = self.clients.electorate(self.host, None);
        let [yes, no] = electorate.count(&poll);
        self.host.set_configstring(configstring::VOTE_YES, &yes.to_string());
        self.host.set_configstring(configstring::VOTE_NO, &no.to_string());
        self.clients.set_flag(client, entity_flag::VOTED, true);
        answer(self.host, client, "Vote cast.");
        self.tell_shared_ballot(client, &electorate);
    }

    /// Tells a client that voted if its ballot is that of other players, too.
    fn tell_shared_ballot(&mut self, client: ClientNum, electorate: &Electorate) {
        if electorate.shares(client) {
            let text = "Players of your address share one ballot: the latest vote counts.";
            answer(self.host, client, text);
        }
    }

    /// Runs the `callteamvote` command.
    pub(super) fn call_team_vote(&mut self, client: ClientNum, words: &CommandArgs) {
        let color = self.clients.role(client).color();
        let open = color.is_some_and(|color| self.clients.votes.teams[color as usize].is_some());
        let refusal = match color {
            _ if self.host.settings().int(key::G_ALLOW_VOTE) == 0 => {
                Some("Voting not allowed here.")
            }
            None if self.clients.role(client).plays() => Some("There are no teams."),
            None => Some("Not allowed to call a vote as spectator."),
            Some(_) if open => Some("A team vote is already in progress."),
            Some(_) => None,
        };
        let (None, Some(color)) = (refusal, color) else {
            return answer(self.host, client, refusal.unwrap_or_default());
        };
        let clean = words.arguments().iter().all(|word| !word.contains([';', '\n', '\r', '"']));
        if !words.get(1).eq_ignore_ascii_case("leader") || !clean {
            answer(self.host, client, "Invalid vote string.");
            return answer(self.host, client, "Team vote commands are: leader <player>.");
        }
        let wanted = match words.len() {
            2 => Ok(client),
            _ => self.clients.team_player(color, &words.rest(2)),
        };
        let leader = match wanted {
            Ok(leader) => leader,
            Err(refusal) => return answer(self.host, client, &refusal),
        };
        if !self.may_call(client) {
            let refusal = "You have called the maximum number of team votes.";
            return answer(self.host, client, refusal);
        }
        let Some(caller) = self.clients.player(client) else { return };
        let called = format!("{} called a team vote.", caller.name);
        let poll = Poll::new(self.clients.now, client);
        let electorate = self.clients.electorate(self.host, Some(color));
        let counts = electorate.count(&poll);
        let text = format!("leader {leader}");
        show(self.host, team_strings(color), self.clients.now, &text, counts);
        self.tell_shared_ballot(client, &electorate);
        self.clients.print_to_team(self.host, color, &called);
        let team: Vec<ClientNum> = self.clients.team_of(color).collect();
        for member in team {
            self.clients.set_flag(member, entity_flag::TEAM_VOTED, member == client);
        }
        self.clients.votes.teams[color as usize] = Some((leader, poll));
    }

    /// Runs the `teamvote` command.
    pub(super) fn cast_team_vote(&mut self, client: ClientNum, word: &str) {
        let color = self.clients.role(client).color();
        let open = color.and_then(|color| {
            let (_, poll) = self.clients.votes.teams[color as usize].as_mut()?;
            Some((color, poll))
        });
        let Some((color, poll)) = open else {
            return answer(self.host, client, "No team vote in progress.");
        };
        if poll.has_cast(client) {
            return answer(self.host, client, "Team vote already cast.");
        }
        poll.cast(client, says_yes(word));
        let poll = poll.clone();
        let electorate = self.clients.electorate(self.host, Some(color));
        let counts = electorate.count(&poll);
        for (index, count) in team_strings(color)[2..].iter().zip(counts) {
            self.host.set_configstring(*index, &count.to_string());
        }
        self.clients.set_flag(client, entity_flag::TEAM_VOTED, true);
        answer(self.host, client, "Team vote cast.");
        self.tell_shared_ballot(client, &electorate);
    }

    fn end_team_vote(&mut self, color: TeamColor) {
        let Some((leader, poll)) = &self.clients.votes.teams[color as usize] else { return };
        let leader = *leader;
        let here = self.clients.role(leader).color() == Some(color)
            && self.clients.player(leader).is_some();
        let electorate = self.clients.electorate(self.host, Some(color));
        let poll_state = match electorate.poll_state(poll, self.clients.now, false) {
            _ if !here => PollState::Failed,
            poll_state => poll_state,
        };
        if poll_state == PollState::Open {
            return;
        }
        self.clients.votes.teams[color as usize] = None;
        self.host.set_configstring(team_strings(color)[0], "");
        if poll_state == PollState::Failed {
            return self.host.send_command(None, "print \"Team vote failed.\n\"");
        }
        self.host.send_command(None, "print \"Team vote passed.\n\"");
        self.clients.set_leader(self.host, leader, color);
    }
}

impl ClientContext<'_> {
    /// Ends votes that are decided or timed out, and runs passed proposals.
    pub(super) fn count_votes(&mut self) {
        self.check_vote_settings();
        self.run_passed();
        TeamColor::ALL.into_iter().for_each(|color| self.end_team_vote(color));
        let clients = &mut *self.clients;
        let Some((_, poll)) = &clients.votes.open else { return };
        let light =
            clients.ruleset.votes.has_light_flag && clients.settings.dmflags & LIGHT_VOTING != 0;
        let electorate = clients.electorate(self.host, None);
        let poll_state = electorate.poll_state(poll, clients.now, light);
        let text = match poll_state {
            PollState::Open => return,
            PollState::Passed => "Vote passed.",
            PollState::TwoOfThree => "Vote passed. At least 2 of 3 voted yes",
            PollState::MoreYes => "Vote passed. More yes than no.",
            PollState::Failed => "Vote failed.",
        };
        self.end_vote(poll_state != PollState::Failed, &electorate, text);
    }

    /// Ends the vote that runs, and tells all clients so.
    fn end_vote(&mut self, is_passed: bool, electorate: &Electorate, told: &str) {
        let clients = &mut *self.clients;
        if let Some((proposal, poll)) = clients.votes.open.take() {
            let votes = electorate.count(&poll);
            let text = proposal.text(clients);
            if is_passed {
                clients.votes.passed = Some((proposal, clients.now + PAUSE_MS));
            }
            let event = GameEvent::VoteEnd { is_passed, votes, proposal: &text };
            self.clients.emit(self.host, &event);
        }
        self.host.send_command(None, &format!("print \"{told}\n\""));
        self.host.set_configstring(configstring::VOTE_TIME, "");
    }

    /// Ends votes on order of the operator. Without a vote that runs, one that has passed or those of teams are canceled.
    pub(super) fn order_end_of_vote(&mut self, is_passed: bool) {
        let told = if is_passed { "Vote passed." } else { "Vote canceled." };
        if self.clients.votes.open.is_some() {
            let electorate = self.clients.electorate(self.host, None);
            self.end_vote(is_passed, &electorate, told);
            return self.host.reply(told);
        }
        let is_pending = !is_passed && self.clients.votes.passed.take().is_some();
        let teams = TeamColor::ALL.into_iter().filter(|_| !is_passed);
        let teams: Vec<_> = teams
            .filter(|&color| self.clients.votes.teams[color as usize].take().is_some())
            .collect();
        if !is_pending && teams.is_empty() {
            return self.host.reply("No vote in progress.");
        }
        for color in teams {
            self.host.set_configstring(team_strings(color)[0], "");
        }
        self.host.send_command(None, &format!("print \"{told}\n\""));
        self.host.reply(told);
    }

    /// Checks the settings once in a level, after the scripts that started it.
    fn check_vote_settings(&mut self) {
        let Clients { now, started, votes, ruleset, .. } = &mut *self.clients;
        if !votes.has_checked_settings && now.distance(*started) >= PAUSE_MS {
            votes.has_checked_settings = true;
            vote_settings::report(self.host, ruleset);
        }
    }

    fn run_passed(&mut self) {
        let clients = &mut *self.clients;
        let now = clients.now;
        let Some((proposal, _)) = clients.votes.passed.take_if(|(_, at)| now.distance(*at) >= 0)
        else {
            return;
        };
        self.run_proposal(&proposal);
    }

    fn run_proposal(&mut self, proposal: &Proposal) {
        if *proposal == Proposal::Shuffle {
            self.shuffle();
        }
        if *proposal == Proposal::NextMap
            && let Some(map) =
                map_pool::next_map(self.host, self.clients.game_type, self.clients.seed)
        {
            return self.host.run_console(ConsoleTiming::Append, &format!("map {map}"));
        }
        let nextmap = self.host.settings().text(key::NEXTMAP).to_owned();
        for line in proposal.lines(self.clients.ruleset.base, &nextmap) {
            self.host.run_console(ConsoleTiming::Append, &line);
        }
    }
}
