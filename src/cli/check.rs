//! Options of `check`.

use std::path::PathBuf;

use clap::Args;

use super::game_folder;
use crate::settings::GameFolder;

/// Examples of the help.
pub(super) const EXAMPLES: &str = "\
Examples:
  fragd check fragd.toml                       one config file
  fragd check fragd.toml server.cfg            as a server reads both, in order
  fragd check --json fragd.toml

Exit codes: 0 no errors, 2 errors. Notes, such as values that are read as others, are not errors.";

/// Options of `check`.
#[derive(Args, Clone, Debug, PartialEq, Eq)]
pub struct ConfigCheckOptions {
    /// Config files (.toml) and scripts (.cfg), in the order in which a server reads them
    #[arg(value_name = "FILE", required = true)]
    pub files: Vec<PathBuf>,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
    /// Game of the clients, if no file sets it
    #[arg(long, value_name = "NAME", default_value = "baseoa", value_parser = game_folder)]
    pub game: GameFolder,
}
