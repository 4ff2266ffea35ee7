//! Ballots of a vote: cast votes, the holders that they count for, and the result.
//!
//! With `g_voteBallots` address, the clients of an address outside `sv_lanNetworks` hold one ballot together: the
//! latest vote among them. Otherwise a player with several connections outvotes players with one. If all voters
//! have the same address, each holds a ballot, so that no player decides alone.
//!
//! Invariant: voters and votes are counted by the same holders. Source: the base game's and OpenArena's majorities,
//! which count clients.

use crate::cvar::{BallotHolder, engine};
use crate::game::{Host, settings::key};
use crate::limits::AddressKey;
use crate::model::{ClientNum, LevelTime, limits::MAX_CLIENTS};

/// Duration of a vote, in ms.
const VOTE_MS: i32 = 30_000;

/// A vote of a client.
#[derive(Clone, Copy, Debug)]
struct Cast {
    yes: bool,
    /// Position among the votes of the poll.
    order: u32,
}

/// Votes of one poll.
#[derive(Clone, Debug)]
pub(super) struct Poll {
    since: LevelTime,
    /// Votes by client number; `None` for a client that has not voted.
    cast: [Option<Cast>; MAX_CLIENTS],
    /// Number of votes cast, with those that were replaced.
    orders: u32,
}

impl Poll {
    /// Begins a poll. Its caller votes yes.
    pub(super) fn new(now: LevelTime, caller: ClientNum) -> Self {
        let mut poll = Self { since: now, cast: [None; MAX_CLIENTS], orders: 0 };
        poll.cast(caller, true);
        poll
    }

    /// Returns a poll without votes whose time is over, so that it fails.
    pub(super) fn timed_out(now: LevelTime) -> Self {
        Self { since: now - VOTE_MS, cast: [None; MAX_CLIENTS], orders: 0 }
    }

    /// Stores the vote of a client, which replaces its earlier one.
    pub(super) fn cast(&mut self, client: ClientNum, yes: bool) {
        self.orders = self.orders.saturating_add(1);
        self.cast[client.index()] = Some(Cast { yes, order: self.orders });
    }

    /// Whether the client has voted.
    pub(super) fn has_cast(&self, client: ClientNum) -> bool {
        self.cast[client.index()].is_some()
    }

    /// Removes the vote of a client.
    pub(super) fn remove(&mut self, client: ClientNum) {
        self.cast[client.index()] = None;
    }
}

/// State of a poll.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PollState {
    Open,
    Passed,
    TwoOfThree,
    MoreYes,
    Failed,
}

/// Holder of one ballot, or of one number of calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Holder {
    /// A line of a provider, which has many IPv6 addresses.
    Site(AddressKey),
    /// A client without an address, or one that is counted for itself.
    Slot(ClientNum),
}

impl Holder {
    /// Returns the site of a client.
    pub(super) fn of(host: &dyn Host, client: ClientNum) -> Self {
        match host.address(client) {
            Some(address) => Self::Site(AddressKey::site(address)),
            None => Self::Slot(client),
        }
    }

    /// Returns the site of a client outside local networks.
    fn of_remote(host: &dyn Host, client: ClientNum) -> Self {
        let lan = host.settings().networks(engine::key::SV_LAN_NETWORKS);
        match host.address(client) {
            Some(address) if !lan.contains(address) => Self::Site(AddressKey::site(address)),
            _ => Self::Slot(client),
        }
    }
}

/// Holders of the ballots of a poll.
#[derive(Clone, Debug)]
pub(super) struct Electorate {
    /// Holders by client number; `None` for a client that does not vote.
    holders: [Option<Holder>; MAX_CLIENTS],
}

impl Electorate {
    /// Finds the holders of the ballots of the clients that vote.
    pub(super) fn new(host: &dyn Host, voters: impl Iterator<Item = ClientNum>) -> Self {
        let mut holders = [None; MAX_CLIENTS];
        let by_address = host.settings().choice(key::G_VOTE_BALLOTS) == BallotHolder::Address;
        for client in voters {
            holders[client.index()] = Some(match by_address {
                true => Holder::of_remote(host, client),
                false => Holder::Slot(client),
            });
        }
        let mut electorate = Self { holders };
        if electorate.voters() == 1 {
            electorate.count_clients();
        }
        electorate
    }

    /// Gives each client a ballot of its own.
    fn count_clients(&mut self) {
        for (holder, client) in self.holders.iter_mut().zip(ClientNum::all()) {
            *holder = holder.map(|_| Holder::Slot(client));
        }
    }

    /// Returns the number of ballots.
    fn voters(&self) -> usize {
        let first = |&(at, holder): &(usize, &Option<Holder>)| {
            holder.is_some() && !self.holders[..at].contains(holder)
        };
        self.holders.iter().enumerate().filter(first).count()
    }

    /// Whether other clients hold the ballot of a client, too.
    pub(super) fn shares(&self, client: ClientNum) -> bool {
        let own = self.holders[client.index()];
        own.is_some() && self.holders.iter().filter(|&&holder| holder == own).count() > 1
    }

    /// Returns the number of ballots for and against.
    pub(super) fn count(&self, poll: &Poll) -> [usize; 2] {
        let votes = || {
            self.holders
                .iter()
                .zip(&poll.cast)
                .filter_map(|(holder, cast)| Some((holder.as_ref()?, cast.as_ref()?)))
        };
        let is_latest = |(holder, cast): (&Holder, &Cast)| {
            !votes().any(|(other, later)| other == holder && later.order > cast.order)
        };
        [true, false].map(|side| {
            votes().filter(|&(holder, cast)| cast.yes == side && is_latest((holder, cast))).count()
        })
    }

    /// Returns the state of a poll. `light` lets it pass without an absolute majority when its time is over.
    pub(super) fn poll_state(&self, poll: &Poll, now: LevelTime, light: bool) -> PollState {
        let is_over = now.distance(poll.since) >= VOTE_MS;
        result(self.count(poll), self.voters(), is_over, light)
    }
}

/// Returns the state of a poll by its ballots.
fn result([yes, no]: [usize; 2], voters: usize, is_over: bool, light: bool) -> PollState {
    if is_over {
        return match () {
            () if light && yes > no * 2 => PollState::TwoOfThree,
            () if light && yes > no && yes >= 2 && yes * 10 > voters * 3 => PollState::MoreYes,
            () => PollState::Failed,
        };
    }
    if yes > voters / 2 {
        PollState::Passed
    } else if no >= voters / 2 {
        PollState::Failed
    } else {
        PollState::Open
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn vote_is_decided_by_absolute_majority() {
        let at = |yes, no, voters| result([yes, no], voters, false, false);
        assert_eq!(at(1, 0, 1), PollState::Passed);
        assert_eq!((at(1, 0, 2), at(1, 1, 2)), (PollState::Open, PollState::Failed));
        assert_eq!((at(2, 0, 2), at(2, 1, 4)), (PollState::Passed, PollState::Open));
        assert_eq!((at(3, 1, 4), at(1, 2, 4)), (PollState::Passed, PollState::Failed));
        assert_eq!((at(0, 0, 1), at(0, 0, 5)), (PollState::Failed, PollState::Open));
    }

    #[test]
    fn light_voting_counts_votes_cast_at_timeout() {
        let at = |yes, no| result([yes, no], 10, true, true);
        assert_eq!(
            (at(3, 1), at(2, 1), at(1, 0)),
            (PollState::TwoOfThree, PollState::Failed, PollState::TwoOfThree)
        );
        assert_eq!((at(4, 3), at(3, 3)), (PollState::MoreYes, PollState::Failed));
        assert_eq!(result([4, 3], 10, true, false), PollState::Failed);
        assert_eq!(result([4, 3], 10, false, true), PollState::Open);
    }

    #[test]
    fn poll_is_over_after_thirty_seconds() {
        let caller = ClientNum::new(0).expect("a client number");
        let poll = Poll::new(LevelTime(1000), caller);
        let mut electorate = Electorate { holders: [None; MAX_CLIENTS] };
        for client in ClientNum::all().take(10) {
            electorate.holders[client.index()] = Some(Holder::Slot(client));
        }
        let at = |ms| electorate.poll_state(&poll, LevelTime(ms), false);
        assert_eq!((at(30_999), at(31_000)), (PollState::Open, PollState::Failed));
    }
}
