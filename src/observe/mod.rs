//! What a server counts, and how often it may repeat itself in the log.
//!
//! Counters are plain numbers owned by whoever bumps them; the table names and explains each, for the
//! console and for monitoring. Invariant: nothing here is shared between threads or servers.

mod counters;
mod exposition;
mod log_limiter;

pub use counters::{Counter, Counters};
pub use exposition::{CONTENT_TYPE, Sample, Value, exposition};
pub use log_limiter::{Event, LogLimiter, Suppressed};
