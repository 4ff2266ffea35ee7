//! Messages of a recording, encoded again with the bytes that were sent.
//!
//! Invariant: a message that cannot be equal is an error, not another message.
//! Source: server messages of Quake III protocol 68.

use super::{
    clients::ClientTrack,
    decoder::{Decoder, MessageContent},
    words::PlayerWords,
};
use crate::{
    model::{
        ClientNum, CommandNum, EntitySet, FrameNum, PlayerState, Sequence, limits::PACKET_BACKUP,
    },
    wire::{
        Protocol,
        bits::BitWriter,
        entity, gamestate,
        server_message::{self, ServerOp},
        snapshot::{self, SnapshotHeader},
    },
};

/// Snapshot that a client was sent.
#[derive(Clone, Debug)]
pub(super) struct SentSnapshot {
    pub(super) sequence: Sequence,
    pub(super) frame: FrameNum,
    pub(super) player: PlayerWords,
    pub(super) seen: EntitySet,
}

/// A client whose messages are recorded.
#[derive(Clone, Debug)]
pub(super) struct Client {
    pub(super) track: ClientTrack,
    /// Its last snapshots, by sequence.
    pub(super) history: Vec<Option<SentSnapshot>>,
    /// Header of the last snapshot.
    pub(super) head: SnapshotHeader,
}

impl Client {
    pub(super) fn new(track: ClientTrack) -> Self {
        Self { track, history: vec![None; PACKET_BACKUP], head: SnapshotHeader::default() }
    }

    pub(super) fn sent(&self, sequence: Sequence) -> Option<&SentSnapshot> {
        let sent = self.history[sequence.0 as usize % PACKET_BACKUP].as_ref();
        sent.filter(|sent| sent.sequence == sequence)
    }
}

impl Decoder {
    /// Writes the gamestate that a demo of a client starts with.
    pub fn gamestate(&self, client: ClientNum, writer: &mut BitWriter) -> Option<Sequence> {
        let track = self.track(client)?;
        self.write_gamestate(
            writer,
            track.protocol,
            client,
            track.acknowledge,
            track.commands.last(),
        );
        Some(track.sequence)
    }

    /// Writes a gamestate with the configstrings and baselines of now.
    pub fn write_gamestate(
        &self,
        writer: &mut BitWriter,
        protocol: &Protocol,
        client: ClientNum,
        acknowledge: CommandNum,
        last_command: CommandNum,
    ) {
        server_message::begin(writer, protocol, acknowledge);
        writer.byte(ServerOp::Gamestate as u8);
        gamestate::write(
            writer,
            last_command,
            self.configstrings.iter().map(|(index, text)| (*index, text.as_bytes())),
            self.baselines.all().iter(),
            client,
            Some(self.checksum_feed),
        );
        server_message::end(writer);
    }

    /// Writes the message of the last record again, with the bytes that the client was sent.
    ///
    /// # Errors
    /// A delta base that is not known; a message that is too long.
    pub fn message(
        &self,
        client: ClientNum,
        content: &MessageContent,
        writer: &mut BitWriter,
    ) -> Result<(), &'static str> {
        let client = self.clients[client.index()].as_ref().ok_or("an absent client")?;
        let track = &client.track;
        server_message::begin(writer, track.protocol, track.acknowledge);
        for (number, text) in track.commands.iter() {
            server_message::write_command(writer, number, text.as_bytes());
        }
        if *content == MessageContent::Snapshot {
            self.snapshot(client, writer)?;
        }
        server_message::end(writer);
        if writer.overflowed() { Err("a message that is too long") } else { Ok(()) }
    }

    fn snapshot(&self, client: &Client, writer: &mut BitWriter) -> Result<(), &'static str> {
        let sequence = client.track.sequence;
        let sent = client.sent(sequence).ok_or("no snapshot")?;
        let base = match client.head.delta_num {
            0 => None,
            age => {
                let base = Sequence(sequence.0.wrapping_sub(u32::from(age)) & Sequence::MASK);
                Some(client.sent(base).ok_or("a delta base that is not recorded")?)
            }
        };
        snapshot::begin(writer, client.track.acknowledge);
        let nothing = PlayerState::default();
        let old = base.map_or(&nothing, |base| bytemuck::must_cast_ref(&base.player));
        let player = bytemuck::must_cast_ref(&sent.player);
        snapshot::write_head(writer, &client.head, old, player);
        let entities = |sent: &SentSnapshot| {
            let entries = self.ring.frame(sent.frame).ok_or("a frame that is not kept")?;
            let seen = sent.seen.clone();
            Ok::<_, &'static str>(
                entries
                    .iter()
                    .filter(move |entry| seen.contains(entry.number))
                    .map(|entry| self.ring.state(entry.slot)),
            )
        };
        let baseline = |number: i32| self.baselines.get(number);
        match base {
            Some(base) => {
                entity::write_list(writer, entities(base)?, entities(sent)?, baseline);
            }
            None => {
                entity::write_list(writer, std::iter::empty(), entities(sent)?, baseline);
            }
        }
        Ok(())
    }
}
