//! Options of `maps` and `maps build`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::number::number;
use super::{GameDataArguments, folder_or_map};

/// Examples and exit codes of the help.
pub(super) const EXAMPLES: &str = "\
Examples:
  fragd maps                                   list all installed maps
  fragd maps oa_dm1 --json                     one map
  fragd maps oa_dm1 --draw oa_dm1.png          top view with spawn points and items
  fragd maps oa_dm1 --draw oa_dm1.svg --clusters
  fragd maps oa_dm3 --draw upper.png --floor 2   one floor of the map
  fragd maps --basepath \"/srv/quake3:/home/me/.q3a\" --game baseq3
  fragd maps build arena.map                   compile a map to arena.pk3

Without --basepath, game data is loaded from FRAGD_BASEPATH, or else from the usual directories.
Exit codes: 0 all maps valid, 1 nothing found or a map invalid, 2 usage error.";

/// Examples and exit codes of the help of `build`.
const BUILD_EXAMPLES: &str = "\
Examples:
  fragd maps build arena.map                   write arena.pk3 beside the source
  fragd maps build arena.map --fast            a draft in seconds: coarse light and visibility, no bounce
  fragd maps build arena.map -o /srv/quake3/baseoa/arena.pk3
  fragd maps build arena.map --verbose         all warnings, e.g. every missing image
  fragd maps build q3arena.map --game baseq3 --basepath /srv/quake3

Textures and shaders of installed game data are found as the server finds them.
They are named in the result and never copied to the pk3. A missing image is a warning.
Shader scripts are *.shader beside the source, and in the folder scripts there or one folder above.
Images are textures/... in the same two folders; fragd draws those of its own maps itself.
A map that is not closed is built without visibility data; NAME.lin shows the way out in the editor.
docs/mapmaking.md explains how to make a map.
Exit codes: 0 success, 1 an error in the source or of a file, 2 usage error.";

/// Subcommands of `maps`.
#[derive(Clone, Debug, PartialEq, Eq, Subcommand)]
pub enum MapsCommand {
    /// Compile a .map file to a pk3 with map, light, textures and levelshot
    #[command(after_help = BUILD_EXAMPLES)]
    Build(BuildOptions),
}

/// Options of `maps build`.
#[derive(Args, Clone, Debug, PartialEq, Eq)]
pub struct BuildOptions {
    /// Map source: classic, Valve 220 or brush primitives
    #[arg(value_name = "FILE.map", value_parser = map_source)]
    pub source: PathBuf,
    /// Write the pk3 to this file; default beside the source
    #[arg(short, long, value_name = "FILE.pk3", value_parser = pk3_file)]
    pub output: Option<PathBuf>,
    /// Compute coarse light and visibility, without a bounce, for drafts
    #[arg(long)]
    pub fast: bool,
    /// Show all warnings and names, not the first 12 of each kind
    #[arg(short, long)]
    pub verbose: bool,
    /// Game data with textures and shaders
    #[command(flatten)]
    pub data: GameDataArguments,
}

/// Options of `maps`.
#[derive(Args, Clone, Debug, PartialEq, Eq)]
#[command(args_conflicts_with_subcommands = true)]
pub struct MapsOptions {
    /// Other task than listing
    #[command(subcommand)]
    pub command: Option<MapsCommand>,
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
    /// Draw one floor only, counted from 1, the lowest; an SVG file without this has them all
    #[arg(long, value_name = "N", requires = "draw", value_parser = number::<u8>(1..=255))]
    pub floor: Option<u8>,
    /// Longer side of the drawing in pixels
    #[arg(long, value_name = "PIXELS", default_value_t = 1200, requires = "draw",
        value_parser = number::<u16>(200..=3000))]
    pub size: u16,
    /// Game data with the maps
    #[command(flatten)]
    pub data: GameDataArguments,
}

/// Parses a file name with the extension of a picture.
pub(super) fn picture_file(text: &str) -> Result<PathBuf, String> {
    file_with_extension(text, &["svg", "png"]).ok_or("expected a .svg or .png file".to_owned())
}

/// Parses the name of a map source. The map has the same name.
fn map_source(text: &str) -> Result<PathBuf, String> {
    let path = file_with_extension(text, &["map"]).ok_or("expected a .map file")?;
    folder_or_map(path.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default())?;
    Ok(path)
}

/// Parses the name of an archive.
fn pk3_file(text: &str) -> Result<PathBuf, String> {
    file_with_extension(text, &["pk3"]).ok_or("expected a .pk3 file".to_owned())
}

/// Returns the path if it has one of the extensions.
fn file_with_extension(text: &str, extensions: &[&str]) -> Option<PathBuf> {
    let path = PathBuf::from(text);
    let extension = path.extension()?.to_str()?;
    extensions.contains(&extension).then_some(path)
}
