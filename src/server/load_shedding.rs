//! How much of what arrives is looked at in one frame, so that a flood costs datagrams and never frames.
//!
//! Work is counted in units, of which a datagram costs one and one more for every 64 bytes: about a
//! microsecond each, and the same on every machine. While a frame's work is low everything is served.
//! Beyond that queries are shed first, then newcomers and the remote console, and players last of all;
//! the class is told from a few bytes, so what is shed costs next to nothing.
//!
//! A `connect` costs as much again as decoding may take. The growing tree visits about a node for each bit
//! of the stream and for each byte of text, and 128 of them make a unit (measured: 0.3 to 1.1
//! microseconds). That work has an account of its own, so connects leave room for requests for a
//! challenge; [`super::connect_budget`] says which connects may use the second half of it. Work is charged
//! before it is done.
//!
//! Invariant: whatever arrives, a frame's work is bounded, and a player's datagram is never shed
//! before a stranger's would be.

use crate::{
    model::Millis,
    wire::connect::{CONNECT_PREFIX, Connect},
};

/// Bytes of a datagram that make a unit.
const BYTES_PER_UNIT: usize = 64;
/// Bits of a `connect` and bytes of its text that make a unit of decoding.
const STEPS_PER_UNIT: usize = 128;
/// Units of decoding in a millisecond of frame: for connects of any address, and for those with
/// priority. In a frame of 50 ms 64 clients of one address may join with 400 bytes of userinfo each.
const DECODE_UNITS_PER_MS: u64 = 40;
const PRIORITY_DECODE_UNITS_PER_MS: u64 = 80;
/// What an idle server's frame may take at least, however short it is.
const SHORTEST_FRAME: Millis = Millis(8);

/// What a datagram is, as far as its first bytes tell. In the order of shedding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum TrafficClass {
    /// Questions of browsers, and everything connectionless that is not known.
    Query,
    /// Those who want to come in, and the remote console.
    Connect,
    /// Anything with a message number.
    Client,
}

impl TrafficClass {
    /// The class of a connectionless datagram by the text behind its mark.
    pub(super) fn of_connectionless(text: &[u8]) -> Self {
        let begins = |word: &[u8]| {
            text.get(..word.len()).is_some_and(|head| head.eq_ignore_ascii_case(word))
        };
        let newcomer = [&b"connect"[..], b"getchallenge", b"rcon"].into_iter().any(begins);
        if newcomer { Self::Connect } else { Self::Query }
    }

    /// Units in a millisecond of frame beyond which the class is shed.
    const fn units_per_ms(self) -> u64 {
        match self {
            Self::Query => 40,
            Self::Connect => 80,
            TrafficClass::Client => 320,
        }
    }
}

/// Units that decoding a datagram costs, or `None` if it is not a compressed `connect`.
pub(super) fn decode_cost(datagram: &[u8]) -> Option<u64> {
    let connect = Connect::new(datagram.strip_prefix(CONNECT_PREFIX)?);
    // One that is refused before decoding costs no more than any datagram.
    let steps = connect.text_len().map_or(0, |text_len| text_len + 8 * datagram.len());
    Some((steps / STEPS_PER_UNIT) as u64)
}

/// The work of the frame that runs.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct LoadShedder {
    units: u64,
    /// Work of decoding connects.
    decode_cost: u64,
    /// Length of a frame.
    frame: Millis,
    shed: bool,
}

impl LoadShedder {
    /// Whether a datagram is to be served; if so, its work is counted.
    pub(super) fn admits(&mut self, class: TrafficClass, len: usize) -> bool {
        let limit = class.units_per_ms() * self.frame.max(SHORTEST_FRAME).0;
        if self.units >= limit {
            self.shed = true;
            return false;
        }
        self.units += 1 + (len / BYTES_PER_UNIT) as u64;
        true
    }

    /// Whether a `connect` of which decoding costs so much is to be served; if so, all of its work is
    /// counted. `has_priority` is asked once half of the work for connects is spent.
    pub(super) fn admits_connect(
        &mut self,
        len: usize,
        decode_cost: u64,
        has_priority: impl FnOnce() -> bool,
    ) -> bool {
        let frame_ms = self.frame.max(SHORTEST_FRAME).0;
        let fits = |per_ms| self.decode_cost + decode_cost <= per_ms * frame_ms;
        let fits =
            fits(DECODE_UNITS_PER_MS) || fits(PRIORITY_DECODE_UNITS_PER_MS) && has_priority();
        if !fits {
            self.shed = true;
            return false;
        }
        let admitted = self.admits(TrafficClass::Connect, len);
        if admitted {
            self.decode_cost += decode_cost;
        }
        admitted
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

    fn admitted(shedder: &mut LoadShedder, class: TrafficClass, len: usize) -> usize {
        (0..100_000).take_while(|_| shedder.admits(class, len)).count()
    }

    #[test]
    fn queries_are_shed_first_then_newcomers_and_players_last() {
        let mut shedder = LoadShedder::default();
        assert!(!shedder.begin_frame(Millis(50)));
        assert_eq!(admitted(&mut shedder, TrafficClass::Query, 14), 2000);
        assert_eq!(admitted(&mut shedder, TrafficClass::Connect, 500), 2000_usize.div_ceil(8));
        assert_eq!(admitted(&mut shedder, TrafficClass::Query, 14), 0);
        assert_eq!(admitted(&mut shedder, TrafficClass::Client, 40), 12_000);
        assert_eq!(admitted(&mut shedder, TrafficClass::Client, 40), 0);
        assert!(shedder.begin_frame(Millis(50)));
        assert!(!shedder.begin_frame(Millis(50)));
        assert!(shedder.admits(TrafficClass::Query, 14));
    }

    /// A `connect` that announces so much text, in as many bits as it takes at least.
    fn connect(text_len: u16) -> Vec<u8> {
        let stream = vec![0; usize::from(text_len) / 8 + 1];
        [CONNECT_PREFIX, &text_len.to_be_bytes(), &stream].concat()
    }

    #[test]
    fn decoding_is_charged_by_bits_and_text() {
        for (text_len, units) in [(0, 0), (30, 1), (350, 6), (1013, 16), (1024, 16), (1025, 0)] {
            assert_eq!(decode_cost(&connect(text_len)), Some(units), "{text_len}");
        }
        let long = [CONNECT_PREFIX, &[4, 0], &[0; 1282]].concat();
        assert_eq!(decode_cost(&long), Some(89));
        // Bits for less text than announced.
        assert_eq!(decode_cost(&[CONNECT_PREFIX, &[4, 0], &[0; 100]].concat()), Some(0));
        assert_eq!(decode_cost(b"\xff\xff\xff\xffgetchallenge"), None);
    }

    #[test]
    fn connects_are_bounded_by_decoding_and_half_is_for_priority() {
        let mut shedder = LoadShedder::default();
        shedder.begin_frame(Millis(50));
        let mut asked = 0;
        let mut admitted = |priority: bool| {
            (0..10_000)
                .take_while(|_| {
                    shedder.admits_connect(453, 63, || {
                        asked += 1;
                        priority
                    })
                })
                .count()
        };
        // Costly content: less than one in a millisecond.
        assert_eq!(admitted(false), 50 * 40 / 63);
        assert_eq!(admitted(true), 50 * 80 / 63 - 50 * 40 / 63);
        assert_eq!(admitted(true), 0);
        // The first to be shed, and all with priority: never before.
        assert_eq!(asked, 1 + 50 * 80 / 63 - 50 * 40 / 63);
        // Requests for a challenge have room yet.
        assert!(shedder.admits(TrafficClass::Connect, 20));
        assert!(shedder.begin_frame(Millis(50)));
        // 64 clients behind one address join in one frame.
        let join = |_: &i32| shedder.admits_connect(300, (400 + 8 * 300) / 128, || false);
        assert_eq!((0..64).filter(join).count(), 64);
    }

    #[test]
    fn the_kind_is_told_from_the_first_bytes() {
        for (text, class) in [
            (&b"getstatus"[..], TrafficClass::Query),
            (b"getinfo xxx", TrafficClass::Query),
            (b"", TrafficClass::Query),
            (b"con", TrafficClass::Query),
            (b"connect \x01\x02", TrafficClass::Connect),
            (b"GetChallenge 5", TrafficClass::Connect),
            (b"rcon pw status", TrafficClass::Connect),
        ] {
            assert_eq!(TrafficClass::of_connectionless(text), class, "{text:?}");
        }
    }
}
