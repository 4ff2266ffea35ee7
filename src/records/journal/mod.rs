//! Journal: recording and replay of every input of a node.
//!
//! ```text
//! loop ─ Journaled<Server> ─┬ Server ── RecordedAssets ── files
//!                           └ Recorder ─ records ─ sink (a file's thread, or memory)
//! file ─ Reader ─ Steps ─ Replay<Server> ── ReplayedAssets
//! ```
//!
//! A node has no input but time, datagrams, console lines and answers about game files. A [`Journaled`] node
//! records each of them before the node sees it, followed by the length and checksum of each datagram
//! that the node sends. A [`Replay`] gives the same inputs to a node made the same way and compares. The
//! start record holds what the node was made from: arguments, config text, random bytes.
//!
//! The *journal* is the file of inputs; the *game log* (`games.log`) and the *log* (diagnostics on standard
//! error) are other files.
//!
//! Invariants:
//! - Each record ends in a checksum of all records before it, so a [`Reader`] returns only what was written,
//!   up to the first damage.
//! - Reading is bounded for any bytes.
//! - Recording does not allocate per input once its buffers have grown.
//! - A journal starts with its node and cannot be split, because it stores inputs, not state. It has a
//!   size limit instead.

mod asset_answer;
mod assets;
mod encoding;
mod format;
mod journaled;
mod reader;
mod recorder;
mod replay;
mod steps;

pub use asset_answer::AssetAnswer;
pub use assets::{Answers, AssetMismatch, FindFile, ReadPack, RecordedAssets, ReplayedAssets};
pub use format::{Entry, FORMAT_VERSION, JournalEnd, JournalInput, MAGIC, Sent, Start, checksum};
pub use journaled::Journaled;
pub use reader::{Damage, DamageKind, JournalOpenError, Located, Reader};
pub use recorder::{Recorder, SharedRecorder, Sink};
pub use replay::{Divergence, Replay, StepResult};
pub use steps::{ReplayStep, Steps};
