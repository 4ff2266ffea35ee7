//! Roles of the program: each builds a node, its sockets and clock, and runs the event loop.

pub(crate) mod bots;
pub(crate) mod maps;
mod monitoring;
pub(crate) mod query;
pub(crate) mod replay;
pub(crate) mod serve;
pub(crate) mod sim;
