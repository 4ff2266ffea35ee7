//! Encoded `playerinfo` of a player for others: bytes that all viewers share.
//!
//! A player moves once per packet and is sent to each client who sees it. Only the age of its usercmd differs.
//!
//! Invariant: the bytes are those of a fresh encoding, as long as the player's revision is the same.

use crate::quakeworld::{
    Extensions, PlayerInfo, ServerMessage,
    bytes::{Element as _, Writer},
    players::flag,
};

/// Place of the age in the message: behind number, slot, flags, origin and frame.
const MSEC_AT: usize = 11;
/// Length of the longest message.
const MAX_LEN: usize = 64;

/// The last encoding of a player.
#[derive(Debug, Default)]
pub(super) struct EncodedPlayer {
    /// Revision of the player by the rules; `None` without an encoding.
    revision: Option<u64>,
    bytes: Vec<u8>,
}

impl EncodedPlayer {
    /// Whether the encoding is that of a revision.
    pub(super) fn is_of(&self, revision: u64) -> bool {
        self.revision == Some(revision)
    }

    /// Encodes a revision.
    pub(super) fn encode(&mut self, revision: u64, info: &PlayerInfo) {
        debug_assert!(info.has(flag::MSEC), "others are told the age");
        self.revision = Some(revision);
        self.bytes.clear();
        let mut writer = Writer::new(&mut self.bytes, MAX_LEN, Extensions::NONE);
        ServerMessage::PlayerInfo(*info).write(&mut writer);
    }

    /// Returns the message with an age of the usercmd in ms.
    pub(super) fn message(&mut self, msec: u8) -> &[u8] {
        if let Some(byte) = self.bytes.get_mut(MSEC_AT) {
            *byte = msec;
        }
        &self.bytes
    }

    /// Forgets the encoding, when something else than the player's state has changed.
    pub(super) const fn forget(&mut self) {
        self.revision = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::quakeworld::{Usercmd, bytes::Angle};

    fn fresh(info: &PlayerInfo) -> Vec<u8> {
        let mut bytes = Vec::new();
        ServerMessage::PlayerInfo(*info).write(&mut Writer::new(&mut bytes, 99, Extensions::NONE));
        bytes
    }

    #[test]
    fn message_of_another_age_is_that_of_fresh_encoding() {
        let mut info = PlayerInfo {
            player: 7,
            flags: flag::MSEC | flag::COMMAND | flag::ON_GROUND,
            origin: [12.5, -300.0, 24.125],
            command: Usercmd {
                angles: [Angle(5), Angle(900), Angle(0)],
                forward: 400,
                ..Usercmd::ZERO
            },
            velocity: [320, -1, 0],
            effects: 4,
            ..PlayerInfo::default()
        };
        info.set_field_flags();
        let mut encoded = EncodedPlayer::default();
        assert!(!encoded.is_of(0));
        encoded.encode(0, &info);
        assert!(encoded.is_of(0) && !encoded.is_of(1));
        for msec in [0, 13, 255] {
            info.msec = msec;
            assert_eq!(encoded.message(msec), fresh(&info), "{msec} ms");
        }
        encoded.forget();
        assert!(!encoded.is_of(0));
        assert!(fresh(&PlayerInfo { flags: u16::MAX, ..info }).len() <= MAX_LEN);
    }
}
