//! Options of `maps`.

use std::path::PathBuf;

use clap::Args;

use super::{folder_or_map, game_folder};
use crate::settings::GameFolder;

/// Examples and exit codes of the help.
pub(super) const EXAMPLES: &str = "\
Examples:
  fragd maps                                   list all installed maps
  fragd maps oa_dm1 --json                     one map
  fragd maps oa_dm1 --draw oa_dm1.png          top view with spawn points and items
  fragd maps oa_dm1 --draw oa_dm1.svg --clusters
  fragd maps --basepath \"/srv/quake3:/home/me/.q3a\" --game baseq3

Without --basepath, game data is loaded from FRAGD_BASEPATH, or else from the usual directories.
Exit codes: 0 all maps valid, 1 nothing found or a map invalid, 2 usage error.";

/// Options of `maps`.
#[derive(Args, Clone, Debug, PartialEq, Eq)]
pub struct MapsOptions {
    /// Map to show; default all
    #[arg(value_name = "NAME", value_parser = folder_or_map)]
    pub name: Option<String>,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
    /// Draw a top view of the map to this .svg or .png file
    #[arg(long, value_name = "FILE", requires = "name", value_parser = picture_file)]
    pub draw: Option<PathBuf>,
    /// Color the drawing by PVS cluster
    #[arg(long, requires = "draw")]
    pub clusters: bool,
    /// Longer side of the drawing in pixels
    #[arg(long, value_name = "PIXELS", default_value_t = 1200, requires = "draw",
        value_parser = clap::value_parser!(u16).range(200..=3000))]
    pub size: u16,
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

/// Parses a file name with the extension of a picture.
fn picture_file(text: &str) -> Result<PathBuf, String> {
    let path = PathBuf::from(text);
    let extension = path.extension().and_then(|extension| extension.to_str());
    match extension {
        Some("svg" | "png") => Ok(path),
        _ => Err("expected a .svg or .png file".to_owned()),
    }
}
