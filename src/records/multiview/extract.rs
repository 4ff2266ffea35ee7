//! Own view: the demo of one player, with the bytes that the player was sent.
//!
//! A demo starts with a gamestate made from the recorded level, and then has every message from the first
//! full snapshot on. Source: demo files of Quake III protocol 68.

use super::{
    decoder::{Decoder, MessageContent, Record},
    format::Session,
};
use crate::{
    model::{ClientNum, Sequence, text},
    wire::{Protocol, bits::BitWriter, demo_file},
};

/// State of an extraction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// Sessions of the slot that come first.
    Before(usize),
    /// The gamestate of that sequence waits for a full snapshot.
    Started(Sequence),
    Running,
    Ended,
}

/// Extraction of one player's demo.
pub struct OwnView {
    client: ClientNum,
    phase: Phase,
    gamestate: Vec<u8>,
    protocol: Option<&'static Protocol>,
    writer: BitWriter,
    /// Messages written.
    messages: u64,
}

impl OwnView {
    /// Extracts session `number` of an index. The records must start with the first one of the file.
    #[must_use]
    pub fn new(sessions: &[Session], number: usize) -> Option<Self> {
        let session = sessions.get(number)?;
        let before = sessions[..number].iter().filter(|other| other.client == session.client);
        Some(Self {
            client: ClientNum::new(usize::from(session.client))?,
            phase: Phase::Before(before.count()),
            gamestate: Vec::new(),
            protocol: None,
            writer: BitWriter::new(),
            messages: 0,
        })
    }

    /// Protocol of the messages, once the session has started.
    #[must_use]
    pub fn protocol(&self) -> Option<&'static Protocol> {
        self.protocol
    }

    /// Number of messages written, without the gamestate.
    #[must_use]
    pub fn messages(&self) -> u64 {
        self.messages
    }

    /// Appends what a record adds to the demo. The decoder is behind that record.
    ///
    /// # Errors
    /// A message that cannot be written again, because records in front of it are lost.
    pub fn record(
        &mut self,
        decoder: &Decoder,
        record: &Record,
        out: &mut Vec<u8>,
    ) -> Result<(), &'static str> {
        match record {
            Record::Start(client) if *client == self.client => self.start(decoder),
            Record::End(client)
                if *client == self.client && !matches!(self.phase, Phase::Before(_)) =>
            {
                self.phase = Phase::Ended;
            }
            Record::Message(client, content) if *client == self.client => {
                return self.message(decoder, content, out);
            }
            _ => {}
        }
        Ok(())
    }

    fn start(&mut self, decoder: &Decoder) {
        match self.phase {
            Phase::Before(0) => {}
            Phase::Before(count) => {
                self.phase = Phase::Before(count - 1);
                return;
            }
            Phase::Started(_) | Phase::Running | Phase::Ended => {
                self.phase = Phase::Ended;
                return;
            }
        }
        let Some(sequence) = decoder.gamestate(self.client, &mut self.writer) else { return };
        self.gamestate = self.writer.message().to_vec();
        self.protocol = decoder.track(self.client).map(|track| track.protocol);
        self.phase = Phase::Started(sequence);
    }

    fn message(
        &mut self,
        decoder: &Decoder,
        content: &MessageContent,
        out: &mut Vec<u8>,
    ) -> Result<(), &'static str> {
        let Some(track) = decoder.track(self.client) else { return Ok(()) };
        match self.phase {
            Phase::Before(_) | Phase::Ended => return Ok(()),
            Phase::Started(sequence) => {
                if *content != MessageContent::Snapshot {
                    return Ok(());
                }
                decoder.message(self.client, content, &mut self.writer)?;
                demo_file::write_record(out, sequence.0, &self.gamestate);
                self.phase = Phase::Running;
            }
            Phase::Running => {}
        }
        match content {
            MessageContent::Raw(bytes) => demo_file::write_record(out, track.sequence.0, bytes),
            MessageContent::Snapshot | MessageContent::Commands => {
                decoder.message(self.client, content, &mut self.writer)?;
                demo_file::write_record(out, track.sequence.0, self.writer.message());
            }
        }
        self.messages += 1;
        Ok(())
    }
}

/// Returns the sessions of a player, by client slot or by name without colors and case.
#[must_use]
pub fn sessions_of(sessions: &[Session], player: &str) -> Vec<usize> {
    let wanted = plain(player);
    let by_name = |session: &Session| plain(&session.name) == wanted;
    let found = |matches: &dyn Fn(&Session) -> bool| {
        let numbers = sessions.iter().enumerate().filter(|(_, session)| matches(session));
        numbers.map(|(number, _)| number).collect::<Vec<_>>()
    };
    let named = found(&by_name);
    match player.parse::<u8>() {
        Ok(slot) if named.is_empty() => found(&|session| session.client == slot),
        _ => named,
    }
}

fn plain(name: &str) -> String {
    text::strip_colors(name).to_lowercase()
}
