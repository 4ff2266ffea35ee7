//! Roles of the program: each builds a node and runs it.

pub(crate) mod bots;
pub(crate) mod maps;
mod monitoring;
pub(crate) mod query;
pub(crate) mod replay;
pub(crate) mod serve;
pub(crate) mod sim;
