//! How much of what arrives is looked at in one frame, so that a flood costs datagrams and never frames.
//!
//! Work is counted in units, of which a datagram costs one and one more for every 64 bytes: about a
//! microsecond each, and the same on every machine. While a frame's work is low everything is served.
//! Beyond that queries are shed first, then newcomers and the remote console, and players last of all;
//! the kind is told from a few bytes, so what is shed costs next to nothing.
//! Invariant: whatever arrives, a frame's work is bounded, and a player's datagram is never shed
//! before a stranger's would be.

use crate::model::Millis;

/// Bytes of a datagram that make a unit.
const BYTES_PER_UNIT: usize = 64;
/// What an idle server's frame may take at least, however short it is.
const SHORTEST_FRAME: Millis = Millis(8);

/// What a datagram is, as far as its first bytes tell. In the order of shedding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Kind {
    /// Questions of browsers, and everything connectionless that is not known.
    Query,
    /// Those who want to come in, and the remote console.
    Newcomer,
    /// Anything with a message number.
    Sequenced,
}

impl Kind {
    /// The kind of a connectionless datagram by the text behind its mark.
    pub(super) fn of_connectionless(text: &[u8]) -> Self {
        let begins = |word: &[u8]| {
            text.get(..word.len()).is_some_and(|head| head.eq_ignore_ascii_case(word))
        };
        let newcomer = [&b"connect"[..], b"getchallenge", b"rcon"].into_iter().any(begins);
        if newcomer { Self::Newcomer } else { Self::Query }
    }

    /// Units in a millisecond of frame beyond which the kind is shed.
    const fn units_per_ms(self) -> u64 {
        match self {
            Self::Query => 40,
            Self::Newcomer => 80,
            Self::Sequenced => 320,
        }
    }
}

/// The work of the frame that runs.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Workload {
    units: u64,
    /// Length of a frame.
    frame: Millis,
    shed: bool,
}

impl Workload {
    /// Whether a datagram is to be served; if so, its work is counted.
    pub(super) fn admits(&mut self, kind: Kind, len: usize) -> bool {
        let limit = kind.units_per_ms() * self.frame.max(SHORTEST_FRAME).0;
        if self.units >= limit {
            self.shed = true;
            return false;
        }
        self.units += 1 + (len / BYTES_PER_UNIT) as u64;
        true
    }

    /// Begins the next frame. True when something was shed in the last one.
    pub(super) fn begin_frame(&mut self, length: Millis) -> bool {
        let shed = self.shed;
        *self = Self { frame: length, ..Self::default() };
        shed
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn admitted(workload: &mut Workload, kind: Kind, len: usize) -> usize {
        (0..100_000).take_while(|_| workload.admits(kind, len)).count()
    }

    #[test]
    fn queries_are_shed_first_then_newcomers_and_players_last() {
        let mut workload = Workload::default();
        assert!(!workload.begin_frame(Millis(50)));
        assert_eq!(admitted(&mut workload, Kind::Query, 14), 2000);
        assert_eq!(admitted(&mut workload, Kind::Newcomer, 500), 2000_usize.div_ceil(8));
        assert_eq!(admitted(&mut workload, Kind::Query, 14), 0);
        assert_eq!(admitted(&mut workload, Kind::Sequenced, 40), 12_000);
        assert_eq!(admitted(&mut workload, Kind::Sequenced, 40), 0);
        assert!(workload.begin_frame(Millis(50)));
        assert!(!workload.begin_frame(Millis(50)));
        assert!(workload.admits(Kind::Query, 14));
    }

    #[test]
    fn the_kind_is_told_from_the_first_bytes() {
        for (text, kind) in [
            (&b"getstatus"[..], Kind::Query),
            (b"getinfo xxx", Kind::Query),
            (b"", Kind::Query),
            (b"con", Kind::Query),
            (b"connect \x01\x02", Kind::Newcomer),
            (b"GetChallenge 5", Kind::Newcomer),
            (b"rcon pw status", Kind::Newcomer),
        ] {
            assert_eq!(Kind::of_connectionless(text), kind, "{text:?}");
        }
    }
}
