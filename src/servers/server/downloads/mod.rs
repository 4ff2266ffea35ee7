//! UDP downloads: the archives of a level, sent in blocks to clients that lack them.
//!
//! ```text
//! download NAME ─ offer: exact name ─┬ refusal with its reason
//!                                    └ Window ─ blocks within rate and sv_dlRate ─ client
//! nextdl N ─ first unacknowledged block     donedl ─ new gamestate     stopdl ─ end
//! ```
//!
//! A client accepts only the block that it expects and ignores all others, so a lost block costs every block
//! behind it. [`window::Window`] keeps these few and notices a loss by the sequence that the client
//! acknowledges.
//!
//! Invariants: only archives of the offer are read, found by their whole names; no text of a client becomes
//! a path. One file at a time per client. Blocks are the last datagrams of a frame.
//! Source: Quake III protocol 68, UDP download. Engine names: `SV_BeginDownload_f`, `SV_WriteDownloadToClient`.

mod budget;
mod chunks;
pub(super) mod commands;
pub(super) mod offer;
pub(super) mod send;
mod window;

use std::collections::BTreeSet;

use self::{
    budget::Budget,
    chunks::Chunks,
    offer::{Offer, OfferedFile},
    window::Window,
};
use crate::model::{Millis, Sequence};

/// Time without an acknowledgement after which a download ends.
const STALLED_AFTER: Millis = Millis::seconds(30);

/// State of all downloads.
#[derive(Debug, Default)]
pub(super) struct Downloads {
    /// Archives of the level in force.
    pub(super) offer: Offer,
    /// Archives that cannot be offered and were logged.
    pub(super) obstacles: BTreeSet<usize>,
    budget: Budget,
    chunks: Chunks,
    /// Slot that is served first in the next pass.
    first_slot: usize,
    /// Earliest time of the next pass.
    resume_at: Millis,
}

/// Downloads of one client.
#[derive(Debug, Default)]
pub(super) struct ClientDownloads {
    /// The file that is sent.
    current: Option<Box<Download>>,
    /// Rejection of the last request, until it is sent.
    refusal: Option<String>,
    /// Requests accepted since the client was last in the game.
    starts: u16,
    /// Gamestates requested after downloads since then.
    gamestates: u16,
    /// Time that the accepted requests add to the limit of joining.
    allowance: Millis,
}

/// A file that is sent to a client.
#[derive(Debug)]
struct Download {
    file: OfferedFile,
    window: Window,
    began_at: Millis,
    /// Time of the last acknowledgement.
    progress_at: Millis,
    /// Blocks that were sent again.
    resent: u32,
}

impl ClientDownloads {
    /// Whether a file is being sent.
    pub(super) fn is_active(&self) -> bool {
        self.current.is_some()
    }

    /// Time that downloads add to the limit of joining: a thousand bytes per second.
    pub(super) fn allowance(&self) -> Millis {
        self.allowance
    }

    /// Whether the download has had no acknowledgement for too long.
    pub(super) fn is_stalled(&self, now: Millis) -> bool {
        self.current.as_ref().is_some_and(|one| now.since(one.progress_at) >= STALLED_AFTER)
    }

    /// Records the newest message that the client has received, once its commands are run.
    pub(super) fn record_received(&mut self, acknowledged: Sequence) {
        if let Some(download) = &mut self.current {
            download.window.detect_loss(acknowledged);
        }
    }

    /// Name, acknowledged bytes and length of the file that is sent.
    pub(super) fn progress(&self) -> Option<(&str, u64, u64)> {
        let Download { file, window, .. } = &**self.current.as_ref()?;
        Some((&file.name, window.acknowledged_len().min(file.len), file.len))
    }
}
