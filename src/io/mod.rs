//! The one door outside: sockets, clock, files, signals, the terminal. A thin shell.
//!
//! Nothing here knows what a datagram means. Every other room takes
//! time and datagrams as arguments, so whatever needs a test against bad weather is tested without this
//! room.

pub mod clock;
pub mod files;
pub mod logging;
pub mod resolve;

pub use clock::{Clock, random_bytes};
pub use files::{FileError, read_config};
pub use resolve::resolve;
