//! fragd: a headless Quake III Arena dedicated server, its clients, and the protocol between them.
//!
//! The modules, in reading order. What each may import is in `ARCHITECTURE.md` and held by
//! `tests/architecture.rs`. Only [`io`] touches sockets, clocks and files; everything else takes time
//! and datagrams as arguments and gives datagrams back as values.

pub mod bg;
pub mod bots;
pub mod cli;
pub mod client;
pub mod cvar;
pub mod game;
pub mod impairment;
pub mod io;
pub mod journal;
pub mod mapdraw;
pub mod model;
pub mod netchan;
pub mod node;
pub mod observe;
pub mod server;
pub mod settings;
pub mod sim;
pub mod wire;
pub mod world;
