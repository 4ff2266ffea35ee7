//! Server browser: asks masters for lists and the listed servers for their state.
//!
//! [`Browser`] is a sans-I/O node with one port. A round asks every master, queries each listed server, each
//! favorite and the local network, and ends when all lists and requests have ended. A watch repeats rounds
//! and keeps a history per server. [`Filter`] and [`Order`] select and sort servers, [`report`] writes them, and
//! [`view`] shows them in a terminal.
//!
//! Invariants: masters and servers cannot make a table, a queue or a text grow beyond its limit, nor a round
//! last beyond its limit; only asked addresses are heard; texts are printable ASCII.

pub mod favorites;
mod filter;
mod lan;
mod masters;
mod node;
mod options;
mod order;
mod packets;
mod printed;
mod queries;
pub mod report;
mod server;
mod table;
pub mod view;

#[cfg(test)]
mod tests;

pub use filter::Filter;
pub use masters::{Master, MasterState};
pub use node::{Browser, BrowserCounters};
pub use options::{BrowserOptions, MasterOptions, Question};
pub use order::{Column, Order};
pub use printed::{PrintedBrowser, ReportFormat};
pub use queries::MAX_ATTEMPTS;
pub use server::{Details, Origin, Player, Sample, Server, ServerState};
pub use table::{ServerIndex, ServerTable};
