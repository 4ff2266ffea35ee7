//! Delta sink: receiver of the size of each decoded value, for traces.
//!
//! Readers of deltas call a sink once per changed value. The empty sink `()` compiles to nothing.
//! Source: Quake III protocol 68, delta codecs.

use crate::model::EntityNum;

/// Form of an entity record in a snapshot's list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EntityChange {
    /// Not in the old list: delta to its baseline.
    Added,
    /// In the old list: delta to its old state.
    Changed,
    /// Removed from the list.
    Removed,
}

impl EntityChange {
    /// Name in traces.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Added => "added",
            Self::Changed => "changed",
            Self::Removed => "removed",
        }
    }
}

/// Receiver of decoded values and their sizes.
pub trait DeltaSink {
    /// Handles a changed field: index in its table, new value, bits with its flags.
    #[inline(always)]
    fn field(&mut self, index: usize, value: u32, bits: usize) {
        let _ = (index, value, bits);
    }

    /// Handles a changed array element of a playerstate: array in wire order, index, new value, bits.
    #[inline(always)]
    fn element(&mut self, array: usize, index: usize, value: u32, bits: usize) {
        let _ = (array, index, value, bits);
    }

    /// Handles the end of a snapshot's header: bit position in the message.
    #[inline(always)]
    fn header_end(&mut self, at: usize) {
        let _ = at;
    }

    /// Handles the end of a snapshot's playerstate: bit position in the message.
    #[inline(always)]
    fn player_end(&mut self, at: usize) {
        let _ = at;
    }

    /// Handles the end of an entity record. Its fields came before; `bits` covers all of it.
    #[inline(always)]
    fn entity(&mut self, number: EntityNum, change: EntityChange, bits: usize) {
        let _ = (number, change, bits);
    }
}

impl DeltaSink for () {}
