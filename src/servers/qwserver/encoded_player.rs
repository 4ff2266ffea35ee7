//! Encoded `playerinfo` of a player for others, reused while only the age of the usercmd changes.
//!
//! A player moves once per packet and is sent to each client who sees it.
//!
//! Invariant: the bytes are those of a fresh encoding.

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
    info: PlayerInfo,
    bytes: Vec<u8>,
}

impl EncodedPlayer {
    /// Returns the message.
    pub(super) fn encode(&mut self, info: &PlayerInfo) -> &[u8] {
        let is_known = PlayerInfo { msec: info.msec, ..self.info } == *info;
        if !is_known || self.bytes.is_empty() {
            self.bytes.clear();
            let mut writer = Writer::new(&mut self.bytes, MAX_LEN, Extensions::NONE);
            ServerMessage::PlayerInfo(*info).write(&mut writer);
        } else if info.has(flag::MSEC)
            && let Some(byte) = self.bytes.get_mut(MSEC_AT)
        {
            *byte = info.msec;
        }
        self.info = *info;
        &self.bytes
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
    fn reused_bytes_are_those_of_fresh_encoding() {
        let mut encoded = EncodedPlayer::default();
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
        let steps: [fn(&mut PlayerInfo); 8] = [
            |_| {},
            |info| info.msec = 13,
            |info| info.msec = 14,
            |info| info.origin[2] += 0.125,
            |info| info.command.side = -400,
            |info| info.flags |= flag::DEAD,
            |info| info.flags &= !flag::MSEC,
            |info| info.msec = 99,
        ];
        for (number, step) in steps.into_iter().enumerate() {
            step(&mut info);
            assert_eq!(encoded.encode(&info), fresh(&info), "step {number}");
        }
        assert!(fresh(&PlayerInfo { flags: u16::MAX, ..info }).len() <= MAX_LEN);
    }
}
