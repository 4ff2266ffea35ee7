//! Options of tools that read game data: base paths, mod, game folder.

use clap::Args;

use super::{folder_or_map, game_folder};
use crate::settings::GameFolder;

/// Game data that a tool reads.
#[derive(Args, Clone, Debug, PartialEq, Eq)]
pub struct GameDataArguments {
    /// Directories that contain the game folder, separated as in PATH
    #[arg(long, value_name = "FOLDERS", default_value = "", hide_default_value = true)]
    pub basepath: String,
    /// Mod folder to search before the game folder
    #[arg(long = "mod", value_name = "FOLDER", value_parser = folder_or_map)]
    pub mod_folder: Option<String>,
    /// Game folder
    #[arg(long, value_name = "NAME", default_value = "baseoa", value_parser = game_folder)]
    pub game: GameFolder,
}
