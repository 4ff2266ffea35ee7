//! Writer of demos: messages in one protocol, with snapshots relative to the newest one.
//!
//! Invariant: the delta base of each snapshot is in the file, at most 31 messages back.

use std::sync::Arc;

use crate::{
    model::{Baselines, ClientNum, CommandNum, PlayerState, limits::PACKET_BACKUP},
    wire::{
        Protocol,
        bits::BitWriter,
        demo_file::{END_MARK, write_record},
        gamestate::{self, Gamestate},
        server_message::{self, ServerOp},
        snapshot::{self, SnapshotHeader, SnapshotView},
    },
};

use super::reader::{DemoMessage, DemoSnapshot};

/// Part of a message that was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Written {
    /// All of it.
    Whole,
    /// Nothing, or all but a snapshot that exceeds a message.
    Part,
}

/// Length of a demo that is not finished.
#[derive(Clone, Copy, Debug)]
pub(super) struct DemoLength {
    bytes: usize,
    messages: usize,
}

/// A demo that is written message by message.
pub(super) struct DemoWriter {
    protocol: &'static Protocol,
    writer: BitWriter,
    out: Vec<u8>,
    messages: usize,
    /// Newest snapshot, the base of the next one.
    newest: Option<(u32, Arc<DemoSnapshot>)>,
}

impl DemoWriter {
    pub(super) fn new(protocol: &'static Protocol) -> Self {
        Self { protocol, writer: BitWriter::new(), out: Vec::new(), messages: 0, newest: None }
    }

    /// Messages so far.
    pub(super) const fn messages(&self) -> usize {
        self.messages
    }

    pub(super) fn length(&self) -> DemoLength {
        DemoLength { bytes: self.out.len(), messages: self.messages }
    }

    /// Removes all behind a length.
    pub(super) fn truncate(&mut self, length: DemoLength) {
        self.out.truncate(length.bytes);
        self.messages = length.messages;
    }

    /// Ends the demo.
    pub(super) fn finish(mut self) -> Vec<u8> {
        self.out.extend(END_MARK);
        self.out
    }

    /// Appends a message as it was recorded.
    pub(super) fn copy(&mut self, message: &DemoMessage<'_>) {
        if message.gamestate.is_some() {
            self.newest = None;
        }
        if let Some(snapshot) = &message.snapshot {
            self.newest = Some((message.sequence, Arc::clone(snapshot)));
        }
        write_record(&mut self.out, message.sequence, message.bytes);
        self.messages += 1;
    }

    /// Appends a message with nothing but a gamestate. Returns false if it exceeds a message.
    pub(super) fn write_gamestate(
        &mut self,
        sequence: u32,
        acknowledge: CommandNum,
        gamestate: &Gamestate,
    ) -> bool {
        server_message::begin(&mut self.writer, self.protocol, acknowledge);
        self.encode_gamestate(gamestate);
        server_message::end(&mut self.writer);
        self.newest = None;
        let fits = !self.writer.overflowed();
        if fits {
            self.record(sequence);
        }
        fits
    }

    /// Encodes and appends a message. Refused commands are empty. A snapshot that exceeds a message is left out, but
    /// not the commands in front of it.
    pub(super) fn write(
        &mut self,
        message: &DemoMessage<'_>,
        baselines: Option<&Baselines>,
    ) -> Written {
        if message.gamestate.is_some() {
            self.newest = None;
        }
        let snapshot = message.snapshot.as_ref().zip(baselines);
        self.encode(message, snapshot);
        if !self.writer.overflowed() {
            self.record(message.sequence);
            if let Some((snapshot, _)) = snapshot {
                self.newest = Some((message.sequence, Arc::clone(snapshot)));
            }
            return Written::Whole;
        }
        self.encode(message, None);
        if !self.writer.overflowed() {
            self.record(message.sequence);
        }
        Written::Part
    }

    fn record(&mut self, sequence: u32) {
        write_record(&mut self.out, sequence, self.writer.message());
        self.messages += 1;
    }

    fn encode(
        &mut self,
        message: &DemoMessage<'_>,
        snapshot: Option<(&Arc<DemoSnapshot>, &Baselines)>,
    ) {
        server_message::begin(&mut self.writer, self.protocol, message.acknowledge);
        for command in &message.commands {
            let text = if command.is_refused { "" } else { &command.text };
            server_message::write_command(&mut self.writer, command.number, text.as_bytes());
        }
        if let Some(state) = &message.gamestate {
            self.encode_gamestate(state);
        }
        if let Some((snapshot, baselines)) = snapshot {
            self.encode_snapshot(message, snapshot, baselines);
        }
        server_message::end(&mut self.writer);
    }

    fn encode_gamestate(&mut self, state: &Gamestate) {
        let strings = state.configstrings.iter();
        self.writer.byte(ServerOp::Gamestate as u8);
        gamestate::write(
            &mut self.writer,
            state.command_num,
            strings.map(|(index, text)| (*index, text.as_bytes())),
            state.baselines.iter(),
            // Only in forms that hold it.
            state.client_num.unwrap_or(ClientNum::FIRST),
            state.checksum_feed,
        );
    }

    fn encode_snapshot(
        &mut self,
        message: &DemoMessage<'_>,
        snapshot: &DemoSnapshot,
        baselines: &Baselines,
    ) {
        let base = self.newest.as_ref().and_then(|(sequence, base)| {
            let back = message.sequence.checked_sub(*sequence)?;
            (1..PACKET_BACKUP as u32).contains(&back).then_some((back as u8, base))
        });
        snapshot::begin(&mut self.writer, message.acknowledge);
        let delta_num = base.map_or(0, |(back, _)| back);
        let head = SnapshotHeader { delta_num, ..snapshot.head };
        let null_player = PlayerState::default();
        let (old_player, old) =
            base.map_or((&null_player, &[][..]), |(_, base)| (&base.player, &base.entities));
        snapshot::write(
            &mut self.writer,
            &head,
            SnapshotView { player: old_player, entities: old.iter() },
            SnapshotView { player: &snapshot.player, entities: snapshot.entities.iter() },
            |number| baselines.get(number),
        );
    }
}
