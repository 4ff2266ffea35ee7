//! Demos: reading, checking, cutting, and events of recorded play.
//!
//! ```text
//! file ─ wire::demo_file::Records ─ DemoReader ─┬ Summary, Event
//!                                              ├ cut: a demo of a part
//!                                              └ paths: drawing data
//! ```
//!
//! [`DemoReader`] decodes one file to its last bit, and continues behind a message that it cannot decode.
//! Invariants: memory is bounded for any input; every error has its byte offset.
//! Source: demo files and server messages of Quake III protocols 66 to 71.

mod reader;
#[cfg(test)]
mod sample;

pub use reader::{
    DemoCommand, DemoCounts, DemoError, DemoErrorKind, DemoMessage, DemoReader, DemoSnapshot,
};
