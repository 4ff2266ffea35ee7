//! fragd: a headless Quake III Arena dedicated server, its clients, and the protocol between them.
//!
//! Only [`io`] touches sockets, clocks and files. Everything else takes time and datagrams as arguments
//! and returns datagrams, so it runs in tests and simulations as it runs on a network. `ARCHITECTURE.md`
//! lists the modules and what each may import.

#[cfg(feature = "server")]
pub mod bg;
#[cfg(feature = "load")]
pub mod bots;
#[cfg(feature = "server")]
pub mod builder;
#[cfg(feature = "cli")]
pub mod cli;
#[cfg(feature = "client")]
pub mod client;
#[cfg(feature = "server")]
pub mod cvar;
#[cfg(feature = "server")]
pub mod game;
#[cfg(feature = "load")]
pub mod impairment;
#[cfg(feature = "host")]
pub mod io;
#[cfg(feature = "server")]
pub mod journal;
#[cfg(feature = "maps")]
pub mod mapdraw;
pub mod model;
pub mod netchan;
pub mod node;
#[cfg(feature = "server")]
pub mod observe;
#[cfg(feature = "server")]
pub mod server;
#[cfg(feature = "server")]
pub mod settings;
#[cfg(feature = "sim")]
pub mod sim;
#[cfg(any(test, feature = "testing"))]
pub mod testing;
pub mod wire;
#[cfg(any(feature = "server", feature = "load"))]
pub mod world;
