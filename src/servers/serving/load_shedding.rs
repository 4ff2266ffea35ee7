//! Load shedding: datagrams are dropped by traffic class when a frame's budget is spent.
//!
//! Cost is counted in units: one for a datagram and one for every 64 bytes of it. A unit is about a
//! microsecond, and the same on every machine. Below the first limit every datagram is processed.
//! Beyond it queries are dropped first, then connects and rcon, and datagrams of clients last. The
//! class is read from a few bytes, so a dropped datagram costs next to nothing.
//!
//! A `connect` also costs what decoding may take. The adaptive tree visits about a node for each
//! bit of the stream and for each byte of text; 128 of them make a unit (measured: 0.3 to 1.1
//! microseconds). This cost has a budget of its own, so that connects leave room for challenge
//! requests. [`super::connect_budget`] decides which connects may use its second half. Costs are
//! charged before the work is done.
//!
//! Invariant: the work of a frame is bounded, and a datagram of a client is never shed before one of an
//! unproven address would be.

use crate::{
    model::Millis,
    wire::connect::{CONNECT_PREFIX, Connect},
};

/// Bytes of a datagram that cost one unit.
const BYTES_PER_UNIT: usize = 64;
/// Bits of a `connect`, and bytes of its text, that cost one unit of decoding.
const STEPS_PER_UNIT: usize = 128;
/// Decoding budget in units per ms of frame: for connects of any address, and for those with
/// priority. In a frame of 50 ms, 64 clients of one address may join with 400 bytes of userinfo
/// each.
const DECODE_UNITS_PER_MS: u64 = 40;
const PRIORITY_DECODE_UNITS_PER_MS: u64 = 80;
/// Shortest frame that budgets are computed from.
const SHORTEST_FRAME: Millis = Millis(8);

/// Class of a datagram by its first bytes, in the order of shedding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum TrafficClass {
    /// Queries of server browsers, and unknown connectionless packets.
    Query,
    /// Challenge requests, connects and rcon.
    Connect,
    /// Datagrams with a sequence number.
    Client,
}

impl TrafficClass {
    /// Class of a connectionless packet by the text after its four 0xFF bytes.
    pub(crate) fn of_connectionless(text: &[u8]) -> Self {
        let begins = |word: &[u8]| {
            text.get(..word.len()).is_some_and(|head| head.eq_ignore_ascii_case(word))
        };
        let newcomer = [&b"connect"[..], b"getchallenge", b"rcon"].into_iter().any(begins);
        if newcomer { Self::Connect } else { Self::Query }
    }

    /// Budget in units per ms of frame, beyond which the class is shed.
    const fn units_per_ms(self) -> u64 {
        match self {
            Self::Query => 40,
            Self::Connect => 80,
            Self::Client => 320,
        }
    }
}

/// Decoding cost of a datagram in units; `None` if it is not a compressed `connect`.
pub(crate) fn decode_cost(datagram: &[u8]) -> Option<u64> {
    let connect = Connect::new(datagram.strip_prefix(CONNECT_PREFIX)?);
    // A connect that is rejected before decoding costs no more than other datagrams.
    let steps = connect.text_len().map_or(0, |text_len| text_len + 8 * datagram.len());
    Some((steps / STEPS_PER_UNIT) as u64)
}

/// Budget of the current frame.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct LoadShedder {
    /// Units that are spent.
    cost: u64,
    /// Cost of decoding connects, in units.
    decode_cost: u64,
    /// Length of a frame.
    frame: Millis,
    shed: bool,
}

impl LoadShedder {
    /// Whether a datagram is processed; if so, its cost is charged.
    pub(crate) fn admits(&mut self, class: TrafficClass, len: usize) -> bool {
        let limit = class.units_per_ms() * self.frame.max(SHORTEST_FRAME).0;
        if self.cost >= limit {
            self.shed = true;
            return false;
        }
        self.cost += 1 + (len / BYTES_PER_UNIT) as u64;
        true
    }

    /// Whether a `connect` is processed; if so, its cost and its decoding cost are charged.
    /// `has_priority` is called once half of the decoding budget is spent.
    pub(crate) fn admits_connect(
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

    /// Starts the next frame. Returns whether the last one shed datagrams.
    pub(crate) fn begin_frame(&mut self, length: Millis) -> bool {
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
    fn queries_are_shed_first_then_connects_then_clients() {
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

    /// A `connect` that announces `text_len` bytes of text, in the fewest bits possible.
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
    fn decoding_budget_keeps_half_for_priority() {
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
    fn class_is_read_from_first_bytes() {
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
