//! Options of `sim`.

use clap::Args;

use super::number::{ANY_U64, number};
use super::{folder_or_map, game_folder};
use crate::settings::GameFolder;

/// Examples and exit codes of the help.
pub(super) const EXAMPLES: &str = "\
Examples:
  fragd sim                                    seed 1, ten minutes of virtual time, 8 players
  fragd sim --seed 7 --minutes 60 --bots 16
  fragd sim --seed 7 --minutes 60 --bots 16 --map oa_dm3 --json
  fragd sim --seed 1 --minutes 10080 --bots 4 --calm      a week
  fragd sim --quakeworld --seed 7 --minutes 120

The seed determines latency, loss, duplication, reordering, truncated and corrupted datagrams, NAT \
rebinding, clock jumps, stalls, joins and leaves, map changes and floods. The same seed gives the same \
run. A violation is reported with its time and a command that reproduces it.
Exit codes: 0 no violation, 1 violation, 2 usage error.";

/// Options of `sim`.
#[derive(Args, Clone, Debug, PartialEq, Eq)]
pub struct SimOptions {
    /// Random seed
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = number::<u64>(ANY_U64))]
    pub seed: u64,
    /// Minutes of virtual time
    #[arg(long, value_name = "M", default_value_t = 10,
        value_parser = number::<u32>(1..=1_000_000))]
    pub minutes: u32,
    /// Number of players, 1 to 64
    #[arg(long, value_name = "COUNT", default_value_t = 8,
        value_parser = number::<u8>(1..=64))]
    pub bots: u8,
    /// Simulate a QuakeWorld server and bots, at most 32
    #[arg(long, conflicts_with_all = ["map", "game", "basepath", "level_time"])]
    pub quakeworld: bool,
    /// Inject no faults: only joins, leaves and map changes
    #[arg(long)]
    pub calm: bool,
    /// Map, if the game data is installed; default free flight
    #[arg(long, value_name = "NAME", value_parser = folder_or_map)]
    pub map: Option<String>,
    /// Game folder
    #[arg(long, value_name = "NAME", default_value = "baseoa", value_parser = game_folder)]
    pub game: GameFolder,
    /// Directories that contain the game folder, separated as in PATH
    #[arg(long, value_name = "FOLDERS", default_value = "", hide_default_value = true)]
    pub basepath: String,
    /// Initial server time in ms; 1879000000: 48 s before the clock restarts
    #[arg(long, value_name = "MS", default_value_t = 0, hide_default_value = true,
        value_parser = number::<i32>(0..=0x6fff_ffff))]
    pub level_time: i32,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}
