//! Load shedding: datagrams are dropped by traffic class when the budget of a window is spent.
//!
//! A window has the length of a frame. It begins with the first datagram after the last window, not with a frame, since
//! an idle server runs the frames of a second at once. Cost is counted in units: one for a datagram and one for every
//! 64 bytes of it. A unit is about a microsecond, and the same on every machine. Below the first limit every datagram is
//! processed. Beyond it queries are dropped first, then connects and rcon, and datagrams of clients last. The class is
//! read from a few bytes, so a dropped datagram costs next to nothing.
//!
//! Queries and connects beyond their limit are processed up to a second limit if their host asked before
//! ([`ReturningSenders`]). A flood of new sources therefore leaves a share to people, who ask again: the table remembers
//! a host for a second while at most 15,000 datagrams a second are shed.
//!
//! A `connect` also costs what decoding may take. The adaptive tree visits about a node for each
//! bit of the stream and for each byte of text; 128 of them make a unit (measured: 0.3 to 1.1
//! microseconds). This cost has a budget of its own, so that connects leave room for challenge
//! requests. [`super::connect_budget`] decides which connects may use its second half. Costs are
//! charged before the work is done.
//!
//! Invariant: the work of a window is bounded, and a datagram of a client is never shed before one of an
//! unproven address would be.

use std::net::SocketAddr;

use crate::{
    limits::{AddressKey, ReturningSenders},
    model::Millis,
    wire::connect::{CONNECT_PREFIX, Connect},
};

/// Bytes of a datagram that cost one unit.
const BYTES_PER_UNIT: usize = 64;
/// Bits of a `connect`, and bytes of its text, that cost one unit of decoding.
const STEPS_PER_UNIT: usize = 128;
/// Decoding budget in units per ms of a window: for connects of any address, and for those with
/// priority. In a frame of 50 ms, 64 clients of one address may join with 400 bytes of userinfo
/// each.
const DECODE_UNITS_PER_MS: u64 = 40;
const PRIORITY_DECODE_UNITS_PER_MS: u64 = 80;
/// Shortest window.
const SHORTEST_WINDOW: Millis = Millis(8);
/// Silence after which a host counts as new. Browsers refresh their list within minutes.
const SENDER_LIFE: Millis = Millis::seconds(600);

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
        let newcomer =
            [&b"connect"[..], b"getchallenge", b"rcon", b"srcon"].into_iter().any(begins);
        if newcomer { Self::Connect } else { Self::Query }
    }

    /// Units per ms of a window, beyond which the class is shed: for any host, and for returning ones.
    const fn units_per_ms(self) -> [u64; 2] {
        match self {
            Self::Query => [40, 60],
            Self::Connect => [80, 120],
            Self::Client => [320, 320],
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

/// Budget of the current window.
#[derive(Debug)]
pub(crate) struct LoadShedder {
    /// Units that are spent.
    cost: u64,
    /// Cost of decoding connects, in units.
    decode_cost: u64,
    began: Millis,
    /// Length of a window.
    length: Millis,
    /// Hosts of datagrams beyond the first limit.
    senders: ReturningSenders,
    /// Whether a datagram was shed since the last report.
    shed: bool,
}

impl LoadShedder {
    /// Creates an unspent budget. `seed` must be secret.
    pub(crate) fn new(seed: u64) -> Self {
        Self {
            cost: 0,
            decode_cost: 0,
            began: Millis(0),
            length: SHORTEST_WINDOW,
            senders: ReturningSenders::new(seed, SENDER_LIFE),
            shed: false,
        }
    }

    /// Sets the length of a window to that of a frame.
    pub(crate) fn set_length(&mut self, frame: Millis) {
        self.length = frame.max(SHORTEST_WINDOW);
    }

    /// Returns whether datagrams were shed since the last call.
    pub(crate) fn take_shed(&mut self) -> bool {
        std::mem::take(&mut self.shed)
    }

    /// Whether a datagram is processed; if so, its cost is charged.
    pub(crate) fn admits(
        &mut self,
        now: Millis,
        class: TrafficClass,
        from: SocketAddr,
        len: usize,
    ) -> bool {
        self.begin_window(now);
        let [limit, returning_limit] = class.units_per_ms().map(|units| units * self.length.0);
        let is_admitted = self.cost < limit
            || self.cost < returning_limit
                && self.senders.is_returning(now, AddressKey::host(from.ip()));
        if is_admitted {
            self.cost += 1 + (len / BYTES_PER_UNIT) as u64;
        }
        self.shed |= !is_admitted;
        is_admitted
    }

    /// Whether a `connect` is processed; if so, its cost and its decoding cost are charged.
    /// `has_priority` is called once half of the decoding budget is spent.
    pub(crate) fn admits_connect(
        &mut self,
        now: Millis,
        from: SocketAddr,
        len: usize,
        decode_cost: u64,
        has_priority: impl FnOnce() -> bool,
    ) -> bool {
        self.begin_window(now);
        let fits = |per_ms| self.decode_cost + decode_cost <= per_ms * self.length.0;
        let fits =
            fits(DECODE_UNITS_PER_MS) || fits(PRIORITY_DECODE_UNITS_PER_MS) && has_priority();
        let is_admitted = fits && self.admits(now, TrafficClass::Connect, from, len);
        if is_admitted {
            self.decode_cost += decode_cost;
        }
        self.shed |= !is_admitted;
        is_admitted
    }

    /// Starts a window if the last one is over.
    fn begin_window(&mut self, now: Millis) {
        if now.since(self.began) >= self.length {
            (self.began, self.cost, self.decode_cost) = (now, 0, 0);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;

    use super::*;

    const HOST: SocketAddr = SocketAddr::new(std::net::IpAddr::V4(Ipv4Addr::new(192, 0, 2, 1)), 5);

    fn shedder() -> LoadShedder {
        let mut shedder = LoadShedder::new(5);
        shedder.set_length(Millis(50));
        shedder
    }

    fn source(number: u32) -> SocketAddr {
        (Ipv4Addr::from_bits(0x1400_0000 | number), 27_960).into()
    }

    #[test]
    fn queries_are_shed_first_then_connects_then_clients() {
        let mut shedder = shedder();
        let mut admitted = |class, len| {
            (0..100_000).take_while(|_| shedder.admits(Millis(7000), class, HOST, len)).count()
        };
        assert_eq!(admitted(TrafficClass::Query, 14), 2000);
        assert_eq!(admitted(TrafficClass::Connect, 500), 2000_usize.div_ceil(8));
        assert_eq!(admitted(TrafficClass::Query, 14), 0);
        assert_eq!(admitted(TrafficClass::Client, 40), 12_000);
        assert_eq!(admitted(TrafficClass::Client, 40), 0);
        assert!(shedder.take_shed() && !shedder.take_shed());
        assert!(!shedder.admits(Millis(7049), TrafficClass::Query, source(1), 14));
        assert!(shedder.admits(Millis(7050), TrafficClass::Query, source(1), 14));
    }

    #[test]
    fn returning_hosts_have_a_share_of_queries_and_connects() {
        let mut number = 0;
        for class in [TrafficClass::Query, TrafficClass::Connect] {
            let mut shedder = shedder();
            let mut answers = Vec::new();
            for ms in 0..10_000 {
                // Each source once.
                for _ in 0..class.units_per_ms()[0] + 15 {
                    number += 1;
                    shedder.admits(Millis(ms), class, source(number), 14);
                }
                if ms % 997 == 996 {
                    answers.push(shedder.admits(Millis(ms), class, HOST, 14));
                }
            }
            assert!(answers[4..].iter().all(|answer| *answer), "{class:?}: {answers:?}");
        }
    }

    #[test]
    fn idle_server_sheds_no_flood_within_the_rate() {
        let mut shedder = shedder();
        // An idle server reports once in 900 ms.
        let shed = (0..900 * 39)
            .filter(|at| !shedder.admits(Millis(at / 39), TrafficClass::Query, source(1), 14));
        assert_eq!(shed.count(), 0);
        assert!(!shedder.take_shed());
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
        let mut shedder = shedder();
        let mut asked = 0;
        let mut admitted = |priority: bool| {
            (0..10_000)
                .take_while(|_| {
                    shedder.admits_connect(Millis(7000), HOST, 453, 63, || {
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
        assert!(shedder.admits(Millis(7049), TrafficClass::Connect, HOST, 20));
        // 64 clients behind one address join in one window.
        let join = |_: &i32| {
            shedder.admits_connect(Millis(7050), HOST, 300, (400 + 8 * 300) / 128, || false)
        };
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
            (b"srcon HMAC-MD4", TrafficClass::Connect),
        ] {
            assert_eq!(TrafficClass::of_connectionless(text), class, "{text:?}");
        }
    }
}
