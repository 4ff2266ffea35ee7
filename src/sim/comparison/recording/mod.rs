//! Recordings of modules in plays, so that rules are compared where no module is.
//!
//! ```text
//! file    magic: 8 bytes, version: number, game: text, length and checksum of the module: number and word,
//!         count: number, plays, checksum of all before: word
//! play    name: text, checksums of play and map: words, steps of the join: number, faults: number,
//!         length of the entries: number, entries: bytes, deflated
//! entry   tag: 1 clients without a gamestate, 2 frame; steps since the last entry: number; content
//! ```
//! Numbers, texts and words are those of [`encoding`](crate::model::encoding); checksums are CRC-32. A frame holds what has
//! changed since the frame before: words of playerstates and entities as differences, configstrings, server commands by
//! player, lines of the game log.
//!
//! Invariants: for any input, memory and work are bounded by the limits below; a recording that is read and written is the
//! same; a play with other lines than at the time of the recording is refused.

mod frames;

use std::io::{Read as _, Write as _};

use flate2::{Compression, read::DeflateDecoder, write::DeflateEncoder};
use thiserror::Error;

pub(super) use frames::{PlayReader, PlayWriter};

use super::Play;
use crate::{
    journal::checksum,
    model::encoding::{Cursor, DecodeError, put_bytes, put_number, put_text},
    settings::{Choice as _, GameFolder},
};

/// First bytes of a file.
const MAGIC: &[u8; 8] = b"\x89FRGR\r\n\x1a";
/// Version of the format.
const VERSION: u64 = 1;
/// Longest file, in bytes.
pub const MAX_RECORDING_LEN: usize = 32 << 20;
/// Most plays of a file.
const MAX_PLAYS: usize = 20_000;
/// Longest entries of a play before compression, in bytes.
const MAX_ENTRIES_LEN: usize = 64 << 20;

/// Reason why bytes are not a recording of a module.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum RecordingError {
    /// Other first bytes.
    #[error("not a recording of a module (expected a file of `fragd qvm compare --record`)")]
    Magic,
    /// Another version of the format.
    #[error("recording has version {0} (expected {VERSION}); record it again")]
    Version(u64),
    /// More bytes than a recording may have.
    #[error("recording too long: {0} bytes (max {MAX_RECORDING_LEN})")]
    Length(usize),
    /// Bytes that changed or are missing.
    #[error("recording is damaged: wrong checksum")]
    Checksum,
    /// The checksum holds but the content is invalid.
    #[error("recording is damaged: {0}")]
    Content(&'static str),
}

/// The side of a module in one play.
#[derive(Clone, Debug, PartialEq, Eq)]
struct RecordedPlay {
    name: String,
    /// Checksum of the lines of the play.
    source: u32,
    /// Checksum of its map.
    map: u32,
    join_steps: u64,
    faults: u64,
    /// Length of the entries before compression.
    len: usize,
    packed: Vec<u8>,
}

/// Recording of a module in plays.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recording {
    game: String,
    /// Length and checksum of the module.
    module: (u64, u32),
    plays: Vec<RecordedPlay>,
}

impl Recording {
    /// Creates an empty recording of a module.
    #[must_use]
    pub fn new(game: GameFolder, module: &[u8]) -> Self {
        let module = (module.len() as u64, checksum(module));
        Self { game: game.name().to_owned(), module, plays: Vec::new() }
    }

    /// Ruleset of the module.
    #[must_use]
    pub fn game(&self) -> &str {
        &self.game
    }

    /// Length and CRC-32 of the module.
    #[must_use]
    pub const fn module(&self) -> (u64, u32) {
        self.module
    }

    /// Names of the plays.
    pub fn plays(&self) -> impl Iterator<Item = &str> {
        self.plays.iter().map(|play| play.name.as_str())
    }

    /// Adds the side of the module in a play.
    pub(super) fn add(&mut self, play: &Play, map: u32, writer: PlayWriter) -> Result<(), String> {
        if self.plays.len() >= MAX_PLAYS || writer.entries.len() > MAX_ENTRIES_LEN {
            return Err("too long for a recording".to_owned());
        }
        let mut packer = DeflateEncoder::new(Vec::new(), Compression::best());
        let packed = packer.write_all(&writer.entries).and_then(|()| packer.finish());
        self.plays.push(RecordedPlay {
            name: play.name.clone(),
            source: checksum(play.source.as_bytes()),
            map,
            join_steps: writer.join_steps,
            faults: writer.faults,
            len: writer.entries.len(),
            packed: packed.map_err(|error| error.to_string())?,
        });
        Ok(())
    }

    /// Returns the reader of a play.
    pub(super) fn play(&self, play: &Play, game: GameFolder) -> Result<PlayReader, String> {
        if self.game != game.name() {
            return Err(format!("recording of {} (expected {})", self.game, game.name()));
        }
        let Some(known) = self.plays.iter().find(|known| known.name == play.name) else {
            return Err("not in the recording; record the plays again".to_owned());
        };
        if known.source != checksum(play.source.as_bytes()) {
            return Err("other lines than in the recording; record the plays again".to_owned());
        }
        let mut entries = Vec::new();
        let most = known.len.min(MAX_ENTRIES_LEN) as u64 + 1;
        DeflateDecoder::new(known.packed.as_slice())
            .take(most)
            .read_to_end(&mut entries)
            .map_err(|error| format!("recording is damaged: {error}"))?;
        if entries.len() != known.len {
            return Err("recording is damaged: wrong length".to_owned());
        }
        Ok(PlayReader::new(entries, known.join_steps, known.faults, known.map))
    }

    /// Returns the bytes of a file.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut out = MAGIC.to_vec();
        put_number(&mut out, VERSION);
        put_text(&mut out, &self.game);
        put_number(&mut out, self.module.0);
        out.extend_from_slice(&self.module.1.to_le_bytes());
        put_number(&mut out, self.plays.len() as u64);
        for play in &self.plays {
            put_text(&mut out, &play.name);
            out.extend_from_slice(&play.source.to_le_bytes());
            out.extend_from_slice(&play.map.to_le_bytes());
            for number in [play.join_steps, play.faults, play.len as u64] {
                put_number(&mut out, number);
            }
            put_bytes(&mut out, &play.packed);
        }
        let sum = checksum(&out);
        out.extend_from_slice(&sum.to_le_bytes());
        out
    }

    /// Reads a file. The entries of a play are read with the play.
    ///
    /// # Errors
    /// Bytes that are not a complete recording of this version.
    pub fn parse(bytes: &[u8]) -> Result<Self, RecordingError> {
        if bytes.len() > MAX_RECORDING_LEN {
            return Err(RecordingError::Length(bytes.len()));
        }
        let body = bytes.strip_prefix(MAGIC).ok_or(RecordingError::Magic)?;
        let version = Cursor(body).number().map_err(RecordingError::Content)?;
        if version != VERSION {
            return Err(RecordingError::Version(version));
        }
        let (content, sum) = bytes.split_last_chunk::<4>().ok_or(RecordingError::Checksum)?;
        if checksum(content) != u32::from_le_bytes(*sum) {
            return Err(RecordingError::Checksum);
        }
        let content = content.strip_prefix(MAGIC).ok_or(RecordingError::Checksum)?;
        Self::read(Cursor(content)).map_err(RecordingError::Content)
    }

    fn read(mut from: Cursor<'_>) -> Result<Self, DecodeError> {
        from.number()?;
        let game = from.text()?;
        let module = (from.number()?, from.word()?);
        let count: usize = from.small()?;
        if count > MAX_PLAYS {
            return Err("too many plays");
        }
        let mut plays = Vec::new();
        for _ in 0..count {
            plays.push(RecordedPlay {
                name: from.text()?,
                source: from.word()?,
                map: from.word()?,
                join_steps: from.number()?,
                faults: from.number()?,
                len: from.small()?,
                packed: from.bytes()?.to_vec(),
            });
        }
        from.end()?;
        Ok(Self { game, module, plays })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        model::assets::MemoryAssets,
        sim::comparison::{Reference, Rules, compare, record},
    };

    const PLAYS: &str = "play shots\nplayer\nplayer\nwait 500\nplace 0 -900 0 24 180\nbegin\n\
                         cmd 0 say hello\nkeys 0 forward attack yaw=90\nwait 2000\njoin name=late\nwait 1000\n\
                         leave 1\nwait 500\n";

    /// Records native rules in a play.
    fn recorded(play: &Play) -> Recording {
        let data = MemoryAssets::default();
        let reference = Reference::Module { image: &[], symbols: &[], engine: "0" };
        let rules = Rules { game: GameFolder::BaseOa, reference, data: &data };
        let mut recording = Recording::new(GameFolder::BaseOa, &[]);
        let found = record(play, &rules, &mut recording).unwrap();
        assert_eq!(found.kinds(), []);
        recording
    }

    /// Compares a play with a recording.
    fn judge(play: &Play, recording: &Recording) -> Result<Vec<String>, String> {
        let data = MemoryAssets::default();
        let reference = Reference::Recording(recording);
        let rules = Rules { game: GameFolder::BaseOa, reference, data: &data };
        let found = compare(play, &rules).map_err(|error| error.to_string())?;
        assert!(found.frames > 50, "{found:?}");
        Ok(found.kinds().iter().map(|kind| kind.kind.clone()).collect())
    }

    #[test]
    fn recording_judges_rules_as_the_module_does() {
        let play = Play::parse(PLAYS).unwrap().remove(0);
        let recording = recorded(&play);
        let bytes = recording.to_bytes();
        let read = Recording::parse(&bytes).unwrap();
        assert_eq!((&read, read.to_bytes() == bytes), (&recording, true));
        assert_eq!(read.plays().collect::<Vec<_>>(), ["shots"]);
        assert_eq!(judge(&play, &read), Ok(Vec::new()));
        // The same input with other random numbers.
        let other = Play { luck: 30_000, ..play.clone() };
        assert_ne!(judge(&other, &read), Ok(Vec::new()));
        let changed = Play { source: "wait 1\n".to_owned(), ..play.clone() };
        assert!(judge(&changed, &read).unwrap_err().contains("record the plays again"));
        let missing = Play { name: "other".to_owned(), ..play };
        assert!(judge(&missing, &read).unwrap_err().contains("not in the recording"));
    }

    #[test]
    fn damaged_recording_is_refused_without_panic() {
        let play = Play::parse(PLAYS).unwrap().remove(0);
        let recording = recorded(&play);
        let bytes = recording.to_bytes();
        assert_eq!(Recording::parse(b"x"), Err(RecordingError::Magic));
        let mut other = bytes.clone();
        other[8] = 9;
        assert_eq!(Recording::parse(&other), Err(RecordingError::Version(9)));
        for at in [9, bytes.len() / 2, bytes.len() - 1] {
            let mut other = bytes.clone();
            other[at] ^= 1;
            assert_eq!(Recording::parse(&other), Err(RecordingError::Checksum), "{at}");
            assert!(Recording::parse(&bytes[..at]).is_err());
        }
        // Entries with a valid checksum around them.
        let mut entries = Vec::new();
        let known = &recording.plays[0];
        DeflateDecoder::new(known.packed.as_slice()).read_to_end(&mut entries).unwrap();
        for at in (0..entries.len()).step_by(entries.len() / 40) {
            let mut hostile = entries.clone();
            hostile[at] ^= 0xff;
            hostile.truncate(entries.len() - at / 2);
            let mut reader = PlayReader::new(hostile, known.join_steps, 0, 0);
            let mut seen = super::super::observation::Observation::default();
            let is_wrong = (0..1000).any(|step| {
                reader.loading(step).is_err() || reader.frame(step, &mut seen).is_err()
            });
            assert!(is_wrong || reader.end().is_err() || at > 0);
        }
    }
}
