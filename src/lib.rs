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
//! `default` is everything. `default-features = false` leaves the wire format, netchan and the codecs of
//! discovery; add `client`, `server`, `trace` (decoder of both directions, captures), `discovery` (master,
//! browser, decoy), `load` (load test), `relay` (broadcast), `sim`, `maps`
//! (map compiler, drawings), `host` (sockets and event loop), `http` (downloads), `metrics`, `cli`.

#[cfg(feature = "server")]
pub mod bg;
#[cfg(feature = "load")]
pub mod bots;
#[cfg(feature = "relay")]
pub mod broadcast;
#[cfg(feature = "discovery")]
pub mod browser;
#[cfg(feature = "server")]
pub mod builder;
#[cfg(feature = "trace")]
pub mod capture;
#[cfg(feature = "trace")]
pub mod chart;
#[cfg(feature = "cli")]
pub mod cli;
#[cfg(feature = "client")]
pub mod client;
#[cfg(feature = "server")]
pub mod cvar;
#[cfg(feature = "discovery")]
pub mod decoy;
#[cfg(feature = "client")]
pub mod demo;
pub mod discovery;
#[cfg(feature = "server")]
pub mod game;
#[cfg(feature = "load")]
pub mod impairment;
#[cfg(feature = "host")]
pub mod io;
#[cfg(feature = "server")]
pub mod journal;
#[cfg(feature = "server")]
pub mod limits;
#[cfg(feature = "maps")]
pub mod mapbuild;
#[cfg(feature = "maps")]
pub mod mapdraw;
#[cfg(feature = "discovery")]
pub mod master;
pub mod model;
#[cfg(feature = "server")]
pub mod multiview;
pub mod netchan;
pub mod node;
#[cfg(feature = "server")]
pub mod observe;
#[cfg(feature = "load")]
pub mod proxy;
#[cfg(feature = "server")]
pub mod qagame;
#[cfg(feature = "server")]
pub mod qvm;
#[cfg(feature = "server")]
pub mod server;
#[cfg(feature = "server")]
mod serving;
#[cfg(feature = "server")]
pub mod settings;
#[cfg(feature = "sim")]
pub mod sim;
#[cfg(feature = "server")]
pub mod stream;
#[cfg(any(test, feature = "testing"))]
pub mod testing;
#[cfg(feature = "trace")]
pub mod trace;
pub mod wire;
#[cfg(any(feature = "server", feature = "load"))]
pub mod world;
