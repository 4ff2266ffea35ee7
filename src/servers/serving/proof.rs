//! Proof that a message with an unexpected port or sequence belongs to the client.
//!
//! Host and qport of a client can be forged. If a whole message fits into the bytes that are not
//! scrambled, or a sequence makes the checksum guessable, a forged message parses. A message from
//! another port, or one that skips many sequences, therefore needs content that only the client
//! knows:
//!
//! - a usercmd with a plausible time, which on a scrambled connection takes the challenge to write.
//!   The clock of a suspended computer may be off by a minute, or by the time it was silent;
//! - an acknowledgement of a message that the client can have received last: near the last one that it
//!   acknowledged, or near the last one that was sent.
//!
//! A client that was away for minutes has both, since it acknowledges what it received last. A
//! joining client has neither. Its port may change once the old one has been silent for longer than
//! a joining client is, and it may skip as many sequences as a client sends in that time. After a
//! forgery the client's first usercmd restores its own port.
//!
//! Invariant: without proof, the port of a client in the game does not change, and at most a few
//! sequences are skipped. Source: Quake III protocol 68, client messages and their scrambling;
//! ioquake3 protocol 71, checksum.

use crate::model::{LevelTime, Millis, Sequence, UserCmd};

/// Lost messages that need no proof.
const MAX_LOST_UNPROVEN: u32 = 64;
/// Silence after which a joining client may change its port. It sends a packet a second while it
/// waits for its gamestate.
const JOINING_SILENCE: Millis = Millis::seconds(2);
/// Shortest interval between two packets of a client, in ms.
const PACKET_INTERVAL_MS: u64 = 8;
/// Largest distance of an acknowledgement from the last acknowledged or the last sent message.
const ACKNOWLEDGE_WINDOW: i32 = 64;
/// Largest difference between the time of a usercmd and level time, in ms.
const USERCMD_WINDOW_MS: i32 = 60_000;

/// State of the client that a message claims to be from.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Known {
    /// Level time.
    pub(crate) level_time: LevelTime,
    /// Whether the client is in the game. Before that its usercmds carry no time.
    pub(crate) is_active: bool,
    /// Whether the client has sent a message.
    pub(crate) has_sent_message: bool,
    /// Time since its last message.
    pub(crate) silence: Millis,
    /// Time of its newest usercmd.
    pub(crate) usercmd_time: LevelTime,
    /// Newest message that it acknowledged.
    pub(crate) acknowledged: Sequence,
    /// Newest message sent to it.
    pub(crate) sent: Sequence,
}

impl Known {
    /// Whether a message needs proof: it skips many sequences, or comes from another port.
    pub(crate) fn needs_proof(self, lost: u32, is_from_its_port: bool) -> bool {
        let joins = !self.is_active && self.silence >= JOINING_SILENCE;
        let sent_meanwhile = if joins { self.silence.0 / PACKET_INTERVAL_MS } else { 0 };
        u64::from(lost) > u64::from(MAX_LOST_UNPROVEN) + sent_meanwhile
            || self.has_sent_message && !joins && !is_from_its_port
    }

    /// Whether this acknowledgement and this newest usercmd prove that a message is the client's.
    pub(crate) fn proves(self, acknowledged: Sequence, newest: Option<&UserCmd>) -> bool {
        self.knows_messages(acknowledged) && newest.is_some_and(|usercmd| self.knows_time(usercmd))
    }

    fn knows_messages(self, acknowledged: Sequence) -> bool {
        let since = acknowledged.distance(self.acknowledged);
        let until = self.sent.distance(acknowledged);
        acknowledged != Sequence(0)
            && since >= 0
            && until >= 0
            && since.min(until) <= ACKNOWLEDGE_WINDOW
    }

    fn knows_time(self, usercmd: &UserCmd) -> bool {
        let time = LevelTime(usercmd.server_time);
        let ahead = time.distance(self.level_time);
        ahead.saturating_abs() <= USERCMD_WINDOW_MS
            || ahead < 0 && time.distance(self.usercmd_time) >= 0
            || !self.is_active && usercmd.server_time == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KNOWN: Known = Known {
        level_time: LevelTime(100_000),
        is_active: true,
        has_sent_message: true,
        silence: Millis(30),
        usercmd_time: LevelTime(99_970),
        acknowledged: Sequence(1000),
        sent: Sequence(1005),
    };

    fn proves(known: Known, acknowledged: u32, server_time: i32) -> bool {
        let usercmd = UserCmd { server_time, ..UserCmd::default() };
        known.proves(Sequence(acknowledged), Some(&usercmd))
    }

    #[test]
    fn n13_acknowledgement_must_name_a_message_the_client_can_have() {
        for (acknowledged, proof) in
            [(0, false), (999, false), (1000, true), (1005, true), (1006, false), (900, false)]
        {
            assert_eq!(proves(KNOWN, acknowledged, 100_000), proof, "{acknowledged}");
        }
        let away = Known { sent: Sequence(3000), ..KNOWN };
        for (acknowledged, proof) in
            [(1000, true), (1064, true), (1065, false), (2935, false), (2936, true), (3000, true)]
        {
            assert_eq!(
                proves(away, acknowledged, 100_000),
                proof,
                "{acknowledged} after a silence"
            );
        }
        let nothing_sent = Known { acknowledged: Sequence(0), sent: Sequence(0), ..KNOWN };
        assert!(!proves(nothing_sent, 0, 100_000));
    }

    #[test]
    fn n13_usercmd_time_must_be_near_the_level() {
        for (time, proof) in [
            (0, false),
            (39_999, false),
            (40_000, true),
            (160_000, true),
            (160_001, false),
            (i32::MIN, false),
            (i32::MAX, false),
        ] {
            assert_eq!(proves(KNOWN, 1001, time), proof, "{time}");
        }
        assert!(!KNOWN.proves(Sequence(1001), None), "no usercmd");
        let loading = Known { is_active: false, ..KNOWN };
        assert!(proves(loading, 1001, 0) && !proves(loading, 1001, 5), "no snapshot yet");
        let suspended = Known { level_time: LevelTime(250_000), ..KNOWN };
        assert!(proves(suspended, 1001, 99_970) && !proves(suspended, 1001, 99_969));
    }

    #[test]
    fn n13_port_changes_and_jumps_need_proof() {
        let joining = Known { is_active: false, ..KNOWN };
        let waiting = Known { silence: Millis(2000), ..joining };
        for (known, lost, is_from_its_port, needs_proof) in [
            (KNOWN, 0, true, false),
            (KNOWN, 64, true, false),
            (KNOWN, 65, true, true),
            (KNOWN, 0, false, true),
            (Known { silence: Millis(9000), ..KNOWN }, 0, false, true),
            (joining, 0, false, true),
            (joining, 65, true, true),
            (waiting, 64 + 250, false, false),
            (waiting, 64 + 251, false, true),
            (Known { has_sent_message: false, ..joining }, 0, false, false),
        ] {
            assert_eq!(known.needs_proof(lost, is_from_its_port), needs_proof, "{known:?} {lost}");
        }
    }
}
