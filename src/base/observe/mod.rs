//! Counters, Prometheus exposition and log rate limiting.
//!
//! Counters are plain numbers of one server; a table holds name and help of each, for the console and for
//! Prometheus. Invariant: nothing here is shared between threads or servers.

mod counter_table;
mod counters;
mod distribution;
mod exposition;
mod log_limiter;

pub(crate) use counter_table::counter_table;
pub use counters::{Counter, Counters};
pub use distribution::Distribution;
pub use exposition::{CONTENT_TYPE, Histogram, Sample, Value, exposition};
pub use log_limiter::{LogEvent, LogLimiter, Suppressed};
