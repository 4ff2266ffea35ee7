//! Counters, Prometheus exposition and log rate limiting.
//!
//! Counters are plain numbers of one server; a table holds name and help of each, for the console and for
//! Prometheus. Invariant: nothing here is shared between threads or servers.

mod counter_table;
mod counters;
mod exposition;
mod log_limiter;

pub(crate) use counter_table::counter_table;
pub use counters::{Counter, Counters};
pub use exposition::{CONTENT_TYPE, HISTOGRAM_BUCKETS, Histogram, Sample, Value, exposition};
pub use log_limiter::{LogEvent, LogLimiter, Suppressed};
