//! Backlog: pieces that wait for their delay, and those that a new relay needs.
//!
//! Invariants: relays get pieces in order and decodable, first a header, then a key frame; pieces behind a
//! gap are dropped up to the next key frame.

use std::{collections::VecDeque, sync::Arc};

use super::message::{MessageKind, put_message};
use crate::{
    model::Millis,
    multiview::{FILE_HEAD_LEN, MAGIC, PIECE_HEAD_LEN, PieceKind, read_piece},
};

/// Most bytes that wait for their delay. At the limit all of them are dropped.
const MAX_WAITING: usize = 64 << 20;

/// A message of one piece, shared by all relays.
pub(super) type Packed = Arc<[u8]>;

/// A piece that waits for its delay.
struct Waiting {
    due: Millis,
    kind: PieceKind,
    packed: Packed,
}

/// Pieces of the running recording.
pub(super) struct Backlog {
    delay: Millis,
    waiting: VecDeque<Waiting>,
    waiting_bytes: usize,
    /// Whether pieces are dropped until a key frame.
    has_gap: bool,
    /// Released pieces that a new relay needs: the header, and all since the last key frame.
    header: Option<Packed>,
    since_key: Vec<Packed>,
}

impl Backlog {
    pub(super) const fn new(delay: Millis) -> Self {
        Self {
            delay,
            waiting: VecDeque::new(),
            waiting_bytes: 0,
            has_gap: false,
            header: None,
            since_key: Vec::new(),
        }
    }

    /// Takes whole pieces of a recording, at its start with the head of the file.
    pub(super) fn take(&mut self, now: Millis, mut bytes: &[u8]) {
        if bytes.starts_with(&MAGIC) {
            bytes = bytes.get(FILE_HEAD_LEN..).unwrap_or_default();
        }
        while let Ok(piece) = read_piece(bytes)
            && piece.missing == 0
        {
            let (whole, rest) = bytes.split_at(PIECE_HEAD_LEN + piece.content.len());
            bytes = rest;
            self.piece(now, piece.kind, whole);
        }
    }

    fn piece(&mut self, now: Millis, kind: PieceKind, whole: &[u8]) {
        match kind {
            // The index and the trailer behind it are for files.
            PieceKind::Index => return,
            PieceKind::Key => self.has_gap = false,
            PieceKind::Records if self.has_gap => return,
            PieceKind::Records | PieceKind::Header => {}
        }
        if self.waiting_bytes + whole.len() > MAX_WAITING {
            log::warn!("live stream: delayed pieces exceed {} MiB, dropped", MAX_WAITING >> 20);
            self.gap();
            return;
        }
        let mut message = Vec::with_capacity(whole.len() + 8);
        put_message(&mut message, MessageKind::Pieces, &[whole]);
        self.waiting_bytes += message.len();
        self.waiting.push_back(Waiting { due: now + self.delay, kind, packed: message.into() });
    }

    /// Drops pieces that wait, and all others until a key frame, because some are missing.
    pub(super) fn gap(&mut self) {
        self.waiting.retain(|waiting| waiting.kind == PieceKind::Header);
        self.waiting_bytes = self.waiting.iter().map(|waiting| waiting.packed.len()).sum();
        self.has_gap = true;
    }

    /// Returns the next piece whose delay is over.
    pub(super) fn release(&mut self, now: Millis) -> Option<Packed> {
        self.waiting.front().filter(|waiting| waiting.due <= now)?;
        let Waiting { kind, packed, .. } = self.waiting.pop_front()?;
        self.waiting_bytes -= packed.len();
        match kind {
            PieceKind::Header => {
                self.since_key.clear();
                self.header = Some(Arc::clone(&packed));
            }
            PieceKind::Key => {
                self.since_key.clear();
                self.since_key.push(Arc::clone(&packed));
            }
            PieceKind::Records | PieceKind::Index => self.since_key.push(Arc::clone(&packed)),
        }
        Some(packed)
    }

    /// Returns the pieces that a new relay needs before the next one released.
    pub(super) fn start(&self) -> impl Iterator<Item = &Packed> {
        self.header.iter().chain(&self.since_key)
    }

    /// Returns the time of the next [`Self::release`].
    pub(super) fn next_due(&self) -> Millis {
        self.waiting.front().map_or(Millis::NEVER, |waiting| waiting.due)
    }
}
