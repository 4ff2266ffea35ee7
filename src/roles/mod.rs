//! Roles of the program, one per subcommand: each runs a node or reads files.

mod bots;
mod browse;
mod check;
mod config_files;
mod console;
mod decoy;
mod demo;
mod game_data;
mod health;
mod maps;
mod master;
mod master_pages;
mod monitoring;
pub(crate) mod output;
mod proxy;
mod query;
mod qvm;
mod qw;
mod rcon;
mod relay;
mod reload;
mod replay;
mod secret;
mod serve;
mod settings;
mod sim;
mod state;
mod tap;
mod trace;

use std::{iter, sync::Arc};

use fragd::{
    builder::ServerBuilder,
    cli::{Command, ExitStatus, ServeOptions},
    io::InstalledArchives,
    model::{UnixMillis, installed_packs::InstalledPacks},
    server::Server,
    settings::{Choice as _, GameFolder, Settings, masked_line},
};

/// Runs the role of a subcommand.
pub(crate) fn run(command: &Command) -> ExitStatus {
    match command {
        Command::Serve(options) => serve::run(options),
        Command::Query(options) => query::run(options),
        Command::Rcon(options) => rcon::run(options),
        Command::Console(options) => console::run(options),
        Command::Browse(options) => browse::run(options),
        Command::Bots(options) => bots::run(options),
        Command::Maps(options) => maps::run(options),
        Command::Master(options) => master::run(options),
        Command::Check(options) => check::run(options),
        Command::Secret(options) => secret::run(options),
        Command::Settings(options) => settings::run(options),
        Command::Relay(options) => relay::run(options),
        Command::Replay(options) => replay::run(options),
        Command::Demo(options) => demo::run(options),
        Command::Sim(options) => sim::run(options),
        Command::Decoy(options) => decoy::run(options),
        Command::Trace(options) => trace::run(options),
        Command::Proxy(options) => proxy::run(options),
        Command::Qvm(options) => qvm::run(options),
        Command::Qw(options) => qw::run(options),
    }
}

/// Returns the builder of the server that the options ask for, as it starts and as it is replayed.
fn server_of(
    asked: &ServeOptions,
    settings: Settings,
    entropy: [u8; 32],
    began: UnixMillis,
) -> ServerBuilder {
    Server::builder(settings, entropy)
        .started_at(Some(began))
        .overrides(asked.overrides())
        .lines(asked.start_lines())
}

/// Whether a console line holds a secret, which no history keeps.
fn is_secret_line(line: &str) -> bool {
    masked_line(line) != line
}

/// Returns the installed archives that clients of this process prove to pure servers. Those of the chosen game come
/// first, since a server does not name its game.
fn installed_packs(basepath: &str, game: GameFolder) -> Arc<dyn InstalledPacks> {
    let chosen = game.name();
    let others = GameFolder::NAMES.iter().copied().filter(|&name| name != chosen);
    let games: Vec<_> = iter::once(chosen).chain(others).collect();
    Arc::new(InstalledArchives::new(basepath, &games, "--basepath"))
}
