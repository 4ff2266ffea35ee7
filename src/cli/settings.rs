//! Options of `settings`.

use clap::Args;

use super::game_folder;
use crate::settings::GameFolder;

/// Examples of the help.
pub(super) const EXAMPLES: &str = "\
Examples:
  fragd settings                               all settings with values, ranges and defaults
  fragd settings sv_maxRate                    one setting
  fragd settings --json --game baseq3
  fragd settings --toml >fragd.toml            config template";

/// Options of `settings`.
#[derive(Args, Clone, Debug, PartialEq, Eq)]
pub struct SettingsOptions {
    /// Setting to explain; default all
    #[arg(value_name = "NAME")]
    pub name: Option<String>,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
    /// Print a config template with all defaults
    #[arg(long, conflicts_with_all = ["json", "name", "game"])]
    pub toml: bool,
    /// Game whose defaults to show
    #[arg(long, value_name = "NAME", default_value = "baseoa", value_parser = game_folder)]
    pub game: GameFolder,
}
