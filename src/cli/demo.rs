//! Options of `demo`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::number::number;
use super::{GameDataArguments, PlayOptions, folder_or_map, maps::picture_file};
use crate::model::{Millis, Vec3, text::ColorCodes};

/// Examples and exit codes of the help.
pub(super) const EXAMPLES: &str = "\
Examples:
  fragd demo info match.dm_68                  map, players, length, frags
  fragd demo check demos/*.dm_71               decode every message, name the first error
  fragd demo events match.dm_68                frags, flags and chat with times
  fragd demo json match.dm_68 | jq .snapshot.server_time
  fragd demo cut match.dm_68 --from 1:30 --to 2:00 -o frag.dm_68
  fragd demo draw match.dm_68 -o match.png     paths and deaths on the map
  fragd demo convert old.dm3 -o new.dm_68      a demo of protocol 43 to 67 for current clients
  fragd demo play match.dm_68 --port 27970     serve it to clients; /say !pause, !seek 1:30
  fragd demo extract --player Kim match.mv -o kim.dm_68
  fragd demo extract --free 100,-200,64,90 match.mv -o camera.dm_68

Times are those since the first snapshot: 90s, 1:30, 1500ms or 2m. The protocol is that of the file \
name (.dm3, .dm_48, .dm_66 to .dm_68, .dm_71; Quake Live: .dm_73, .dm_90, .dm_91) or, if its messages have another \
form, that of the content. Demos of Quake Live are not cut, converted or played. Files with .mv are multi-view recordings of a \
server, files with .part recordings that are not complete. A client plays a demo from its folder demos with \
+demo NAME.
Exit codes: 0 success, 1 an error in a demo or of a file, 2 usage error. A demo that ends early is an error \
of info, check and time alone, and a note if its name ends with .part; the other tasks say so and succeed. What \
clients play is a note, not an error.";

/// Options of `demo`.
#[derive(Args, Clone, Debug, PartialEq)]
pub struct DemoOptions {
    /// Task
    #[command(subcommand)]
    pub task: DemoTask,
}

/// Subcommands of `demo`.
#[derive(Clone, Debug, PartialEq, Subcommand)]
pub enum DemoTask {
    /// Show map, players, length and frags
    Info(DemoInfo),
    /// Decode every message strictly and name the errors
    Check(DemoFiles),
    /// Print messages and events as JSON lines
    Json(DemoJson),
    /// List frags, flags, chat and names with their times
    Events(DemoEvents),
    /// Write the demo of a part
    Cut(CutOptions),
    /// Write a demo of protocol 43 to 67 as one of protocol 68
    Convert(ConvertOptions),
    /// Draw paths of players and deaths on the map
    Draw(DemoDrawOptions),
    /// Serve a demo to clients that connect
    Play(PlayOptions),
    /// Measure the speed of decoding
    Time(DemoFiles),
    /// Write one view of a multi-view recording as a demo
    Extract(ExtractOptions),
}

/// Demos to read.
#[derive(Args, Clone, Debug, PartialEq, Eq)]
pub struct DemoFiles {
    /// Demo files
    #[arg(value_name = "FILE", required = true)]
    pub files: Vec<PathBuf>,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// Names and texts of players in the output.
#[derive(Args, Clone, Copy, Debug, PartialEq, Eq)]
pub struct DemoNames {
    /// Remove the color codes ^xRRGGBB and ^xRGB of mods from names and texts, too
    #[arg(long)]
    pub hex_colors: bool,
}

impl DemoNames {
    /// Color codes that are removed.
    #[must_use]
    pub const fn colors(self) -> ColorCodes {
        if self.hex_colors { ColorCodes::Hex } else { ColorCodes::Short }
    }
}

/// Options of `demo info`.
#[derive(Args, Clone, Debug, PartialEq, Eq)]
pub struct DemoInfo {
    /// Demos to read
    #[command(flatten)]
    pub files: DemoFiles,
    /// Names of players
    #[command(flatten)]
    pub names: DemoNames,
}

/// Options of `demo json`.
#[derive(Args, Clone, Debug, PartialEq, Eq)]
pub struct DemoJson {
    /// Part to print
    #[command(flatten)]
    pub range: DemoRange,
    /// Names and texts of the events
    #[command(flatten)]
    pub names: DemoNames,
}

/// Part of a demo.
#[derive(Args, Clone, Debug, PartialEq, Eq)]
pub struct DemoRange {
    /// Demo file
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// Time of the first snapshot
    #[arg(long, value_name = "TIME", value_parser = demo_time, default_value = "0s")]
    pub from: Millis,
    /// Time of the last snapshot; default the end
    #[arg(long, value_name = "TIME", value_parser = demo_time)]
    pub to: Option<Millis>,
}

/// Options of `demo events`.
#[derive(Args, Clone, Debug, PartialEq, Eq)]
pub struct DemoEvents {
    /// Demo file
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// Names and texts of the events
    #[command(flatten)]
    pub names: DemoNames,
    /// Print JSON lines
    #[arg(long)]
    pub json: bool,
}

/// Options of `demo cut`.
#[derive(Args, Clone, Debug, PartialEq, Eq)]
pub struct CutOptions {
    /// Part to keep
    #[command(flatten)]
    pub range: DemoRange,
    /// Demo to write
    #[arg(short, long, value_name = "FILE")]
    pub output: PathBuf,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// Options of `demo convert`.
#[derive(Args, Clone, Debug, PartialEq, Eq)]
pub struct ConvertOptions {
    /// Demo file
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// Demo to write, .dm_68
    #[arg(short, long, value_name = "FILE")]
    pub output: PathBuf,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// Options of `demo extract`.
#[derive(Args, Clone, Debug, PartialEq)]
#[command(group = clap::ArgGroup::new("view").required(true))]
pub struct ExtractOptions {
    /// Multi-view recording
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// Demo to write, .dm_68 or .dm_71
    #[arg(short, long, value_name = "FILE")]
    pub output: PathBuf,
    /// Own view of a player, by name or slot: the messages that the player was sent
    #[arg(long, value_name = "NAME", group = "view")]
    pub player: Option<String>,
    /// View of a spectator that follows a player, by name or slot
    #[arg(long, value_name = "NAME", group = "view")]
    pub follow: Option<String>,
    /// View from a place, with an optional direction in degrees
    #[arg(long, value_name = "X,Y,Z[,YAW]", group = "view", value_parser = place,
        allow_hyphen_values = true)]
    pub free: Option<DemoPosition>,
    /// Stay of the player, if it left and joined again: 1 is the first
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = number::<usize>(1..=65535))]
    pub session: usize,
    /// Directories that contain the game folder, separated as in PATH
    #[arg(long, value_name = "FOLDERS", default_value = "", hide_default_value = true)]
    pub basepath: String,
    /// Mod folder to search before the game folder
    #[arg(long = "mod", value_name = "FOLDER", value_parser = folder_or_map)]
    pub mod_folder: Option<String>,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// A place in a map.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DemoPosition {
    /// Position.
    pub origin: Vec3,
    /// Direction in degrees.
    pub yaw: f32,
}

/// Parses a place: three or four numbers.
fn place(text: &str) -> Result<DemoPosition, String> {
    let numbers: Result<Vec<f32>, _> = text.split(',').map(|part| part.trim().parse()).collect();
    let numbers = numbers.ok().filter(|all| all.iter().all(|n| n.abs() <= 131_072.0));
    match numbers.as_deref() {
        Some(&[x, y, z]) => Ok(DemoPosition { origin: Vec3::new(x, y, z), yaw: 0.0 }),
        Some(&[x, y, z, yaw]) => Ok(DemoPosition { origin: Vec3::new(x, y, z), yaw }),
        _ => Err("expected a place, e.g. 100,-200,64 or 100,-200,64,90".to_owned()),
    }
}

/// Options of `demo draw`.
#[derive(Args, Clone, Debug, PartialEq, Eq)]
pub struct DemoDrawOptions {
    /// Demo file
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// Picture to write, .svg or .png
    #[arg(short, long, value_name = "FILE", value_parser = picture_file)]
    pub output: PathBuf,
    /// Longer side of the map in pixels
    #[arg(long, value_name = "PIXELS", default_value_t = 1200,
        value_parser = number::<u16>(200..=3000))]
    pub size: u16,
    /// Game data with the map
    #[command(flatten)]
    pub data: GameDataArguments,
    /// Names of players
    #[command(flatten)]
    pub names: DemoNames,
}

/// Parses a time of a demo: `M:SS`, or a number with the unit `ms`, `s` or `m`; default seconds.
fn demo_time(text: &str) -> Result<Millis, String> {
    let parse = || {
        if let Some((minutes, seconds)) = text.split_once(':') {
            let (minutes, seconds): (u64, f64) = (minutes.parse().ok()?, seconds.parse().ok()?);
            let is_valid = (0.0..60.0).contains(&seconds) && minutes < 100_000;
            return is_valid.then(|| minutes * 60_000 + (seconds * 1000.0) as u64);
        }
        let units = [("ms", 1.0), ("s", 1000.0), ("m", 60_000.0)];
        let (number, unit) = units
            .iter()
            .find_map(|(name, unit)| Some((text.strip_suffix(name)?, *unit)))
            .unwrap_or((text, 1000.0));
        let number: f64 = number.parse().ok()?;
        (0.0..1e9).contains(&number).then_some((number * unit) as u64)
    };
    parse().map(Millis).ok_or_else(|| "expected a time, e.g. 90s, 1:30, 1500ms or 2m".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_parsed() {
        let at = |x, y, z, yaw| Ok(DemoPosition { origin: Vec3::new(x, y, z), yaw });
        assert_eq!(place("1,-2,3.5"), at(1.0, -2.0, 3.5, 0.0));
        assert_eq!(place("1, 2, 3, -90"), at(1.0, 2.0, 3.0, -90.0));
        for text in ["", "1,2", "1,2,3,4,5", "a,b,c", "nan,0,0", "inf,0,0", "1e9,0,0"] {
            assert!(place(text).is_err(), "{text}");
        }
    }

    #[test]
    fn demo_times_are_parsed() {
        for (text, ms) in [
            ("90s", 90_000),
            ("1:30", 90_000),
            ("0:01.5", 1500),
            ("1500ms", 1500),
            ("2m", 120_000),
            ("2.5", 2500),
        ] {
            assert_eq!(demo_time(text), Ok(Millis(ms)), "{text}");
        }
        for text in ["", "s", "-1s", "1:60", "1:-1", ":", "nan", "inf", "1e99", "99999999:00"] {
            assert!(demo_time(text).is_err(), "{text}");
        }
    }
}
