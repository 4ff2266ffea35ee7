//! Real-machine driver: sockets, clock, files, signals, console, HTTP.
//!
//! The only module that touches the outside. [`run`] drives any [`crate::node::Hosted`] node: a server on one
//! port, thousands of bots with one port each, a query that ends after one reply. Nothing here interprets
//! datagrams. Every other module takes time and datagrams as arguments and is tested without this one.

pub mod assets;
mod association;
mod background;
mod batch;
pub mod bind;
mod byte_queue;
pub mod byte_source;
mod calendar_watch;
pub mod clock;
pub mod colors;
pub mod console;
#[cfg(unix)]
pub mod console_attach;
pub mod console_clients;
pub mod control_echo;
pub mod event_loop;
pub mod files;
pub mod game_folder;
pub mod game_log;
mod housekeeping;
#[cfg(feature = "http")]
pub mod http;
#[cfg(any(feature = "http", feature = "metrics"))]
mod http_counters;
#[cfg(any(feature = "http", feature = "metrics"))]
mod http_listener;
#[cfg(any(feature = "http", feature = "metrics"))]
mod http_places;
mod kernel_drops;
pub mod lan;
mod lazy_writer;
pub mod line_editor;
#[cfg(feature = "server")]
pub mod live;
mod local_addresses;
pub mod logging;
mod lookups;
pub mod machine;
mod on_demand;
mod open_files;
#[cfg(feature = "metrics")]
pub mod pages;
pub mod process;
mod pulse;
mod rate_limited_warning;
mod read_schedule;
pub mod recordings;
pub mod resolve;
pub mod run_options;
mod screen;
mod send_queue;
#[cfg(unix)]
mod service_manager;
pub mod signals;
mod slow_runs;
pub mod socket;
pub mod socks5;
pub mod state_file;
pub mod state_folder;
mod steering;
#[cfg(unix)]
mod stop_watch;
pub mod stream_file;
pub mod task;
#[cfg(feature = "cli")]
pub mod terminal;
mod udp_listeners;
mod uninterrupted;

pub use assets::{GameData, InstalledArchives};
pub use bind::{BindError, Listen, check_source};
pub use byte_source::ByteSource;
pub use clock::{Clock, random_bytes, unix_millis};
pub use colors::Colors;
pub use console::Console;
pub use console_clients::ConsoleSocket;
pub use event_loop::run;
pub use files::{FileError, read_config, read_file, read_regular_file, reread_config};
pub use game_folder::{GameFolder, read_game_folder};
pub use game_log::{GameLog, LogFile, LogKind};
#[cfg(any(feature = "http", feature = "metrics"))]
pub use http_counters::HttpCounters;
pub use line_editor::{LineEditor, restore_terminal};
pub use process::Processes;
pub use pulse::Pulse;
pub use recordings::{RecordingFolder, Recordings};
pub use resolve::resolve;
pub use run_options::{ConsoleOutput, ExitReason, Options, Progress, ProgressFn, RunSummary};
pub use signals::Signals;
pub use socket::Sockets;
pub use socks5::{Login, Socks5};
pub use state_file::StateFile;
pub use state_folder::DiskState;
pub use stream_file::StreamFile;
pub use udp_listeners::udp_listeners;
pub use uninterrupted::uninterrupted;
