//! Latency, ping and loss, measured over the last frames.
//!
//! Source: QuakeWorld protocol 28, time and loss measurements.

use crate::model::Millis;

/// Number of frames that are remembered.
pub const FRAMES: usize = 64;
/// Number of packets over which a client measures loss.
const LOSS_WINDOW: usize = 256;
/// Longest plausible latency, in ms.
const MAX_LATENCY_MS: u64 = 1000;
/// Ping of a client without a measured frame, in ms.
pub const NO_PING: u32 = 9999;

/// Index of a sequence in a ring of frames.
#[must_use]
pub const fn frame_index(sequence: u32) -> usize {
    sequence as usize & (FRAMES - 1)
}

/// Fate of a client's packet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Fate {
    /// Not sent.
    #[default]
    Unsent,
    /// Without an answer.
    Pending,
    /// Answered.
    Answered,
    /// Answer left out by the server for lack of rate.
    Choked,
    /// Answer with a delta from a base that the client does not have.
    Rejected,
}

/// Times of a client's packets.
#[derive(Clone, Debug)]
pub struct ClientTiming {
    sent: [Millis; FRAMES],
    fates: [Fate; LOSS_WINDOW],
    /// Newest sequence that is answered.
    newest: u32,
    /// Estimate in ms.
    latency: Option<f32>,
}

impl Default for ClientTiming {
    fn default() -> Self {
        let fates = [Fate::Unsent; LOSS_WINDOW];
        Self { sent: [Millis(0); FRAMES], fates, newest: 0, latency: None }
    }
}

impl ClientTiming {
    /// Notes a sent packet.
    pub const fn sent(&mut self, sequence: u32, now: Millis) {
        self.sent[frame_index(sequence)] = now;
        self.fates[sequence as usize % LOSS_WINDOW] = Fate::Pending;
    }

    /// Notes an answer. Returns the time since its packet was sent, if it is remembered and plausible.
    pub fn answered(&mut self, acknowledged: u32, newest_sent: u32, now: Millis) -> Option<Millis> {
        let age = newest_sent.checked_sub(acknowledged)?;
        let fate = &mut self.fates[acknowledged as usize % LOSS_WINDOW];
        if age as usize >= LOSS_WINDOW || *fate == Fate::Unsent {
            return None;
        }
        *fate = Fate::Answered;
        self.newest = self.newest.max(acknowledged);
        let sample = now.since(self.sent[frame_index(acknowledged)]);
        if age as usize >= FRAMES || sample.0 > MAX_LATENCY_MS {
            return None;
        }
        // A lower sample counts at once, a higher one raises the estimate by one ms.
        let ms = sample.0 as f32;
        self.latency = Some(self.latency.map_or(ms, |old| if ms < old { ms } else { old + 1.0 }));
        Some(sample)
    }

    /// Notes the packets before `acknowledged` whose answers were left out.
    pub fn choked(&mut self, acknowledged: u32, count: u8) {
        for back in 1..=u32::from(count) {
            let Some(sequence) = acknowledged.checked_sub(back) else { return };
            let fate = &mut self.fates[sequence as usize % LOSS_WINDOW];
            if *fate == Fate::Pending {
                *fate = Fate::Choked;
            }
        }
    }

    /// Notes that the answer to a packet had an unknown delta base.
    pub const fn rejected(&mut self, acknowledged: u32) {
        self.fates[acknowledged as usize % LOSS_WINDOW] = Fate::Rejected;
    }

    /// Fate of a packet of the last 256.
    #[must_use]
    pub const fn fate(&self, sequence: u32) -> Fate {
        self.fates[sequence as usize % LOSS_WINDOW]
    }

    /// Returns the estimated latency in ms.
    #[must_use]
    pub const fn latency_ms(&self) -> Option<f32> {
        self.latency
    }

    /// Returns the share of the last 256 packets without an answer, in percent. `newest_sent` is the newest sequence.
    ///
    /// Packets after the newest answered one are still on their way and do not count.
    #[must_use]
    pub fn loss_percent(&self, newest_sent: u32) -> u8 {
        let oldest = newest_sent.saturating_sub(LOSS_WINDOW as u32 - 1);
        let is_lost = |sequence: &u32| self.fate(*sequence) == Fate::Pending;
        let lost = (oldest..self.newest.max(oldest)).filter(is_lost).count();
        (lost * 100 / LOSS_WINDOW) as u8
    }
}

/// Times of a server's answers.
#[derive(Clone, Debug)]
pub struct ServerTiming {
    sent: [Millis; FRAMES],
    pings: [Option<u32>; FRAMES],
}

impl Default for ServerTiming {
    fn default() -> Self {
        Self { sent: [Millis(0); FRAMES], pings: [None; FRAMES] }
    }
}

impl ServerTiming {
    /// Notes an accepted packet: the answer that it acknowledges, then the answer `outgoing` that it gets.
    pub fn accepted(&mut self, acknowledged: u32, outgoing: u32, now: Millis) {
        let at = frame_index(acknowledged);
        // An answer that is older than the ring has lost its place to a newer one.
        if outgoing.wrapping_sub(acknowledged) as usize <= FRAMES && self.sent[at] != Millis(0) {
            self.pings[at] = Some(now.since(self.sent[at]).0.min(u64::from(NO_PING)) as u32);
        }
        let at = frame_index(outgoing);
        (self.sent[at], self.pings[at]) = (now, None);
    }

    /// Returns the mean round-trip time in ms, or [`NO_PING`].
    #[must_use]
    pub fn ping(&self) -> u32 {
        let (mut sum, mut count) = (0_u32, 0);
        for ping in self.pings.iter().flatten() {
            (sum, count) = (sum + ping, count + 1);
        }
        sum.checked_div(count).unwrap_or(NO_PING)
    }
}
