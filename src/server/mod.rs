//! (to be written)
mod challenge;
mod configstrings;
mod limiter;
mod snapshot;
mod status;
