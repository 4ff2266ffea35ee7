//! The journal of a node: every input, and what was sent upon it, so that a run can be had again.
//!
//! ```text
//! loop ─ Journaled<Server> ─┬ Server ── RecordedAssets ── files
//!                           └ Recorder ─ records ─ sink (a file's thread, or memory)
//! file ─ Reader ─ Steps ─ Replay<Server> ── ReplayedAssets
//! ```
//!
//! A node takes time, datagrams, lines and answers about game files from outside and nothing else; a
//! [`Journaled`] node stands around it and writes each of them down before the node sees it, and behind them
//! the length and checksum of each datagram the node sends. A [`Replay`] hands the same inputs to a node
//! made the same way and compares. What belongs to no node (arguments, config text, random bytes) stands
//! in the first record.
//!
//! Invariants: records end in a checksum that covers all records before them, so whatever a [`Reader`]
//! gives out is what was written, as far as the first damage; reading is bounded whatever the bytes are;
//! recording allocates nothing per input once its buffers have grown. A journal begins where its node does,
//! for what a node has become stands nowhere else: it has a limit, not parts.

mod assets;
mod encoding;
mod format;
mod journaled;
mod reader;
mod recorder;
mod replay;
mod steps;

pub use assets::{Answers, AssetAnswer, AssetMismatch, FindFile, RecordedAssets, ReplayedAssets};
pub use format::{Entry, FORMAT_VERSION, Input, JournalEnd, MAGIC, Sent, Start, checksum};
pub use journaled::Journaled;
pub use reader::{Damage, DamageKind, JournalOpenError, Located, Reader};
pub use recorder::{Recorder, SharedRecorder, Sink};
pub use replay::{Divergence, Replay, StepResult};
pub use steps::{Step, Steps};
