//! The one door outside: sockets, clock, files, signals, the terminal. A thin shell.
//!
//! Nothing here knows what a datagram means. [`run`] drives any [`crate::node::Node`]: a server on one
//! port, thousands of bots on one port each, a query that ends after one reply. Every other room takes
//! time and datagrams as arguments, so whatever needs a test against bad weather is tested without this
//! room.

pub mod assets;
mod background;
mod batch;
mod byte_queue;
pub mod clock;
mod complaint;
pub mod console;
pub mod event_loop;
pub mod files;
pub mod game_log;
pub mod journal_file;
mod kernel_drops;
pub mod logging;
#[cfg(feature = "metrics")]
pub mod metrics;
pub mod process;
pub mod resolve;
mod send_queue;
pub mod signals;
pub mod socket;

pub use assets::GameData;
pub use clock::{Clock, random_bytes, unix_millis};
pub use console::Console;
pub use event_loop::{Ending, Options, Output, Progress, Summary, run};
pub use files::{FileError, read_config};
pub use game_log::{GameLog, LogFile};
pub use journal_file::JournalFile;
pub use process::Processes;
pub use resolve::resolve;
pub use signals::Signals;
pub use socket::{BindError, Listen, Sockets};
