//! Encoded `playerinfo` of a player for others: bytes that all viewers share.
//!
//! A player moves once per packet and is sent to each client who sees it. Only the age of its usercmd differs, and the
//! form of coordinates.
//!
//! Invariant: the bytes are those of a fresh encoding, as long as the player's revision is the same.

use crate::quakeworld::{
    Extensions, PlayerInfo, ServerMessage,
    bytes::{Element as _, Writer},
    players::flag,
};

/// Place of the age in the message: behind number, slot, flags, origin and frame; without and with float coordinates.
const MSEC_AT: [usize; 2] = [11, 17];
/// Length of the longest message.
const MAX_LEN: usize = 64;

/// The last encoding of a player.
#[derive(Debug, Default)]
pub(super) struct EncodedPlayer {
    /// Forms without and with float coordinates.
    forms: [Form; 2],
}

/// An encoding with one form of coordinates.
#[derive(Debug, Default)]
struct Form {
    /// Revision of the player by the rules; `None` without an encoding.
    revision: Option<u64>,
    bytes: Vec<u8>,
}

impl EncodedPlayer {
    /// Whether the encoding for clients with these extensions is that of a revision.
    pub(super) fn is_of(&self, revision: u64, ext: Extensions) -> bool {
        self.forms[usize::from(ext.has_float_coords())].revision == Some(revision)
    }

    /// Encodes a revision for clients with these extensions.
    pub(super) fn encode(&mut self, revision: u64, info: &PlayerInfo, ext: Extensions) {
        debug_assert!(info.has(flag::MSEC), "others are told the age");
        let form = &mut self.forms[usize::from(ext.has_float_coords())];
        form.revision = Some(revision);
        form.bytes.clear();
        ServerMessage::PlayerInfo(*info).write(&mut Writer::new(&mut form.bytes, MAX_LEN, ext));
    }

    /// Returns the message for clients with these extensions, with an age of the usercmd in ms.
    pub(super) fn message(&mut self, msec: u8, ext: Extensions) -> &[u8] {
        let is_float = usize::from(ext.has_float_coords());
        let form = &mut self.forms[is_float];
        if let Some(byte) = form.bytes.get_mut(MSEC_AT[is_float]) {
            *byte = msec;
        }
        &form.bytes
    }

    /// Forgets the encoding, when something else than the player's state has changed.
    pub(super) fn forget(&mut self) {
        self.forms.iter_mut().for_each(|form| form.revision = None);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::quakeworld::{Usercmd, bytes::Angle};

    const FLOAT: Extensions =
        Extensions { mvd1: crate::quakeworld::extensions::MVD1_FLOAT_COORDS, ..Extensions::NONE };

    fn fresh(info: &PlayerInfo, ext: Extensions) -> Vec<u8> {
        let mut bytes = Vec::new();
        ServerMessage::PlayerInfo(*info).write(&mut Writer::new(&mut bytes, 99, ext));
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
        for ext in [Extensions::NONE, FLOAT] {
            assert!(!encoded.is_of(0, ext));
            encoded.encode(0, &info, ext);
            assert!(encoded.is_of(0, ext) && !encoded.is_of(1, ext));
            for msec in [0, 13, 255] {
                info.msec = msec;
                assert_eq!(encoded.message(msec, ext), fresh(&info, ext), "{msec} ms");
            }
        }
        encoded.forget();
        for ext in [Extensions::NONE, FLOAT] {
            assert!(!encoded.is_of(0, ext));
            assert!(fresh(&PlayerInfo { flags: u16::MAX, ..info }, ext).len() <= MAX_LEN);
        }
    }
}
