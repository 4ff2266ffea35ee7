//! fragd: a headless Quake III Arena dedicated server, its clients, and the protocol between them.
//!
//! Only [`io`] touches sockets, clocks and files. Everything else takes time and datagrams as arguments
//! and returns datagrams, so it runs in tests and simulations as it runs on a network. `ARCHITECTURE.md`
//! lists the modules and what each may import.
//!
//! # Embed a server
//!
//! ```no_run
//! use fragd::{
//!     io::{self, Clock, Listen, Options, Sockets},
//!     server::Server,
//!     settings::{GameFolder, Settings},
//! };
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let mut settings = Settings::new(GameFolder::BaseOa);
//! settings.set("sv_hostname", "embedded")?;
//! let mut server = Server::builder(settings, io::random_bytes()?).build();
//! let sockets = Sockets::listen(&[Listen::default()])?;
//! io::run(&mut server, sockets, &Clock::start(), Options::default())?;
//! # Ok(())
//! # }
//! ```
//!
//! # Join it as a client
//!
//! ```no_run
//! use std::{net::UdpSocket, time::{Duration, Instant}};
//! use fragd::{
//!     client::{Client, ClientEvent, ClientOptions},
//!     model::{Millis, Qport, UserCmd},
//!     wire::{info::InfoString, protocol::Protocol},
//! };
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let start = Instant::now();
//! let server = "127.0.0.1:27960".parse()?;
//! let options = ClientOptions::new(server, &Protocol::IOQ3_71, InfoString::normal(), Qport(4711), 1);
//! let mut client = Client::new(options, Millis(0))?;
//! let socket = UdpSocket::bind("127.0.0.1:0")?;
//! socket.set_read_timeout(Some(Duration::from_millis(10)))?;
//! let (mut packet, mut buffer) = (Vec::new(), [0; 2048]);
//! while client.disconnect_reason().is_none() {
//!     let now = Millis(start.elapsed().as_millis() as u64);
//!     client.frame(now);
//!     while let Some(to) = client.poll_transmit(&mut packet) {
//!         socket.send_to(&packet, to)?;
//!     }
//!     while let Some(event) = client.poll_event() {
//!         if event == ClientEvent::Entered {
//!             client.disconnect(now);
//!         }
//!     }
//!     if let Ok((len, from)) = socket.recv_from(&mut buffer) {
//!         client.handle_datagram(now, from, &buffer[..len]);
//!     }
//!     client.push_usercmd(UserCmd { server_time: client.level_time(now).0, ..UserCmd::default() });
//! }
//! # Ok(())
//! # }
//! ```
//!
//! # Features
//!
//! `default` is everything but `compiler` (machine code of game modules). `default-features = false` leaves the
//! wire format, netchan, QuakeWorld and the codecs of discovery; add `client`, `server`, `trace` (decoder of both directions, captures), `discovery` (master,
//! browser, decoy), `load` (load test), `relay` (broadcast), `sim`, `maps`
//! (map compiler, drawings), `host` (sockets and event loop), `http` (downloads), `metrics`, `cli`.
//!
//! # Source folders
//!
//! Modules are grouped into folders. A module path has no group, because users, log filters and journals name it.

// Data types and interfaces of all modules.
#[cfg(feature = "server")]
#[path = "base/bans/mod.rs"]
pub mod bans;
#[cfg(feature = "server")]
#[path = "base/cvar/mod.rs"]
pub mod cvar;
#[cfg(feature = "load")]
#[path = "base/impairment/mod.rs"]
pub mod impairment;
#[cfg(any(feature = "server", feature = "http", feature = "metrics"))]
#[path = "base/limits/mod.rs"]
pub mod limits;
#[path = "base/model/mod.rs"]
pub mod model;
#[path = "base/node/mod.rs"]
pub mod node;
#[cfg(feature = "server")]
#[path = "base/observe/mod.rs"]
pub mod observe;

// Wire protocols, game vocabulary, client.
#[cfg(feature = "server")]
#[path = "protocol/bg/mod.rs"]
pub mod bg;
#[cfg(feature = "client")]
#[path = "protocol/client/mod.rs"]
pub mod client;
#[path = "protocol/discovery/mod.rs"]
pub mod discovery;
#[path = "protocol/netchan/mod.rs"]
pub mod netchan;
#[path = "protocol/quakeworld/mod.rs"]
pub mod quakeworld;
#[cfg(feature = "server")]
#[path = "protocol/rcon/mod.rs"]
pub mod rcon;
#[path = "protocol/wire/mod.rs"]
pub mod wire;

// Maps: files, traces, compiler, drawings.
#[cfg(any(feature = "server", feature = "load"))]
#[path = "maps/bsp29/mod.rs"]
pub mod bsp29;
#[cfg(feature = "maps")]
#[path = "maps/mapbuild/mod.rs"]
pub mod mapbuild;
#[cfg(feature = "maps")]
#[path = "maps/mapdraw/mod.rs"]
pub mod mapdraw;
#[cfg(any(feature = "server", feature = "load"))]
#[path = "maps/world/mod.rs"]
pub mod world;

// Game rules and game modules.
#[cfg(feature = "server")]
#[path = "rules/game/mod.rs"]
pub mod game;
#[cfg(feature = "server")]
#[path = "rules/qagame/mod.rs"]
pub mod qagame;
#[cfg(feature = "server")]
#[path = "rules/qvm/mod.rs"]
pub mod qvm;
#[cfg(any(feature = "server", feature = "load"))]
#[path = "rules/qwgame/mod.rs"]
pub mod qwgame;

// Demos, recordings, journals.
#[cfg(feature = "client")]
#[path = "records/demo/mod.rs"]
pub mod demo;
#[cfg(feature = "server")]
#[path = "records/journal/mod.rs"]
pub mod journal;
#[cfg(feature = "server")]
#[path = "records/multiview/mod.rs"]
pub mod multiview;
#[cfg(feature = "server")]
#[path = "records/stream/mod.rs"]
pub mod stream;

// Game server and relay.
#[cfg(feature = "server")]
#[path = "servers/builder.rs"]
pub mod builder;
#[cfg(feature = "server")]
#[path = "servers/qwserver/mod.rs"]
pub mod qwserver;
#[cfg(feature = "relay")]
#[path = "servers/relay/mod.rs"]
pub mod relay;
#[cfg(feature = "server")]
#[path = "servers/server/mod.rs"]
pub mod server;
#[cfg(feature = "server")]
#[path = "servers/serving/mod.rs"]
mod serving;
#[cfg(feature = "server")]
#[path = "servers/settings/mod.rs"]
pub mod settings;

// Views of traffic between others.
#[cfg(feature = "trace")]
#[path = "inspect/capture/mod.rs"]
pub mod capture;
#[cfg(feature = "trace")]
#[path = "inspect/chart/mod.rs"]
pub mod chart;
#[cfg(feature = "load")]
#[path = "inspect/proxy/mod.rs"]
pub mod proxy;
#[cfg(feature = "trace")]
#[path = "inspect/trace/mod.rs"]
pub mod trace;

// Lists of servers.
#[cfg(feature = "discovery")]
#[path = "listing/browser/mod.rs"]
pub mod browser;
#[cfg(feature = "discovery")]
#[path = "listing/decoy/mod.rs"]
pub mod decoy;
#[cfg(feature = "discovery")]
#[path = "listing/master/mod.rs"]
pub mod master;

// Load test, simulation, driver for real machines, command line.
#[cfg(feature = "load")]
pub mod bots;
#[cfg(feature = "cli")]
pub mod cli;
#[cfg(feature = "host")]
pub mod io;
#[cfg(feature = "sim")]
pub mod sim;
#[cfg(any(test, feature = "testing"))]
pub mod testing;
