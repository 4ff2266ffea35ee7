//! Sender: the outbox, the message that is written, and encoded deltas.

use crate::{node::Outbox, serving::delta_cache::DeltaCache, wire::bits::BitWriter};

/// Sends messages and connectionless packets; its memory is reused.
#[derive(Debug, Default)]
pub(super) struct Sender {
    pub(super) outbox: Outbox,
    /// The message that is written.
    pub(super) writer: BitWriter,
    /// Entity deltas to the newest frame, encoded once for all clients.
    pub(super) deltas: DeltaCache,
}

impl Sender {
    /// Message that is written.
    pub(super) fn writer(&mut self) -> &mut BitWriter {
        &mut self.writer
    }

    /// Discards encoded deltas, since baselines have changed.
    pub(super) fn clear_deltas(&mut self) {
        self.deltas.clear();
    }
}
