//! Demos: reading, checking, cutting, and events of recorded play.
//!
//! ```text
//! file ─ wire::demo_file::Records ─ DemoReader ─┬ EventFinder ─ DemoSummary, DemoPaths
//!                                              ├ cut: a demo of a part
//!                                              └ Translation ─ convert: a demo of protocol 68
//! ```
//!
//! [`DemoReader`] decodes one file to its last bit, and continues behind a message that it cannot decode.
//! Invariants: memory is bounded for any input; every error and note has its byte offset.
//! Source: demo files and server messages of Quake III protocols 43 to 71, and of Quake Live.

#[cfg(feature = "server")]
mod chat;
mod clock;
mod convert;
mod cut;
#[cfg(feature = "server")]
mod events;
mod fault;
#[cfg(feature = "server")]
mod json;
mod origin;
#[cfg(feature = "server")]
mod paths;
mod quake_files;
mod reader;
#[cfg(test)]
pub(crate) mod sample;
mod spare_fields;
#[cfg(feature = "server")]
mod summary;
mod translation;
mod writer;

pub use clock::DemoClock;
pub use convert::{ConvertError, ConvertReport, LackingNumber, convert};
pub use cut::{CutError, CutReport, EmptyRange, check_order, cut};
#[cfg(feature = "server")]
pub use events::{DemoEvent, DemoEventKind, DemoPlayer, EventFinder};
#[cfg(feature = "server")]
pub use json::{event_json, message_json};
#[cfg(feature = "server")]
pub use paths::{Death, DemoPaths, PlayerPath};
#[cfg(feature = "server")]
pub use summary::{DemoSummary, PlayerSummary, error_json, note_json};

pub use fault::{DemoError, DemoErrorKind, DemoNote, DemoNoteKind};
pub use origin::{DemoFileError, recognize};
pub use reader::{DemoCommand, DemoCounts, DemoDownload, DemoMessage, DemoReader, DemoSnapshot};
pub use spare_fields::SpareFields;
pub use translation::Translation;
