//! Scrambling of clients of protocols 66 and 67: whether they scramble at all is not documented.
//!
//! A server begins with the first row of the number. The first messages of a client are too short to tell; when longer
//! ones can only be read under the other row, the client is remembered and has to connect again, since it could not
//! read its gamestate.
//!
//! Invariants: the memory is bounded; a client is judged by several messages, since a wrong reading can pass by chance;
//! the messages by which a client is judged are bounded.
//! Source: protocols 66 and 67, scrambling.

use std::{
    collections::VecDeque,
    net::{IpAddr, SocketAddr},
};

use crate::model::Qport;

/// Number of clients that are remembered.
const MAX_REMEMBERED: usize = 64;
/// Messages that are read as expected before the question is settled.
const PROOF: u8 = 8;
/// Messages that only the other row reads before it is chosen.
const OTHER_PROOF: u8 = 2;
/// Messages after which a client without a proof counts as one that scrambles as expected.
const MAX_JUDGED: u8 = 32;
/// Messages of this length or less hold nothing that is scrambled.
const CLEAR_LEN: usize = 12;

/// Clients that do not scramble their messages, the newest last.
#[derive(Debug, Default)]
pub(crate) struct UnscrambledClients(VecDeque<(IpAddr, Qport)>);

impl UnscrambledClients {
    /// Whether a client was remembered.
    pub(crate) fn contains(&self, from: SocketAddr, qport: Qport) -> bool {
        self.0.contains(&(from.ip(), qport))
    }

    /// Remembers a client whose messages are clear, and forgets one that scrambles after all.
    pub(crate) fn set(&mut self, from: SocketAddr, qport: Qport, is_clear: bool) {
        self.0.retain(|known| *known != (from.ip(), qport));
        if is_clear {
            if self.0.len() == MAX_REMEMBERED {
                self.0.pop_front();
            }
            self.0.push_back((from.ip(), qport));
        }
    }
}

/// Question whether a client scrambles as its row says.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ScramblingQuestion {
    expected: u8,
    other: u8,
    judged: u8,
}

/// Answer to a [`ScramblingQuestion`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ScramblingAnswer {
    /// More messages are needed.
    Open,
    /// As the row says.
    Expected,
    /// As the other row of the number says.
    Other,
}

impl ScramblingQuestion {
    /// Counts a message: whether the row reads it and, if not, whether the other one does.
    pub(crate) fn count(
        &mut self,
        len: usize,
        is_read: bool,
        other_reads: impl FnOnce() -> bool,
    ) -> ScramblingAnswer {
        if len <= CLEAR_LEN {
            return ScramblingAnswer::Open;
        }
        self.judged += 1;
        if is_read {
            self.expected += 1;
        } else if other_reads() {
            self.other += 1;
        }
        if self.other >= OTHER_PROOF && self.other > self.expected {
            ScramblingAnswer::Other
        } else if self.expected >= PROOF || self.judged >= MAX_JUDGED {
            ScramblingAnswer::Expected
        } else {
            ScramblingAnswer::Open
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn several_messages_decide() {
        let mut question = ScramblingQuestion::default();
        assert_eq!(question.count(12, false, || true), ScramblingAnswer::Open, "too short");
        assert_eq!(question.count(30, false, || false), ScramblingAnswer::Open, "damaged");
        assert_eq!(question.count(30, true, || false), ScramblingAnswer::Open, "by chance");
        assert_eq!(question.count(30, false, || true), ScramblingAnswer::Open);
        assert_eq!(question.count(30, false, || true), ScramblingAnswer::Other);
        let mut question = ScramblingQuestion::default();
        for _ in 1..PROOF {
            assert_eq!(question.count(30, true, || false), ScramblingAnswer::Open);
        }
        assert_eq!(question.count(30, true, || false), ScramblingAnswer::Expected);
        let mut question = ScramblingQuestion::default();
        for _ in 1..MAX_JUDGED {
            assert_eq!(question.count(30, false, || false), ScramblingAnswer::Open);
        }
        assert_eq!(question.count(30, false, || false), ScramblingAnswer::Expected, "not for ever");
    }

    #[test]
    fn remembered_clients_are_bounded() {
        let mut clients = UnscrambledClients::default();
        let from = |host: u8| SocketAddr::from(([10, 0, 0, host], 1));
        (0..=MAX_REMEMBERED as u8).for_each(|host| clients.set(from(host), Qport(1), true));
        assert!(!clients.contains(from(0), Qport(1)));
        assert!(clients.contains(from(1), Qport(1)) && !clients.contains(from(1), Qport(2)));
        clients.set(from(1), Qport(1), false);
        assert!(!clients.contains(from(1), Qport(1)));
    }
}
