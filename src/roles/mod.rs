//! The program's roles: each builds a node, gives it sockets and a clock, and lets the loop run.

pub(crate) mod bots;
pub(crate) mod maps;
mod monitoring;
pub(crate) mod query;
pub(crate) mod replay;
pub(crate) mod serve;
pub(crate) mod sim;
