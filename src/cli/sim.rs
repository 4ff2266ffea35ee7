//! What `sim` is asked.

use clap::Args;

use super::{folder_or_map, serve};
use crate::settings::GameFolder;

/// Examples of use.
pub(super) const EXAMPLES: &str = "\
Examples:
  fragd sim                                    seed 1, ten minutes of virtual time, 8 players
  fragd sim --seed 7 --minutes 60 --bots 16
  fragd sim --seed 7 --minutes 60 --bots 16 --map oa_dm3 --json
  fragd sim --seed 1 --minutes 10080 --bots 4 --calm      a week

Latency, loss, doubling, reordering, cut and damaged datagrams, new ports, clocks that jump, stalls,
players who come and go, map changes and floods are drawn from the seed; the same seed gives the same
run. Whatever does not hold is said with the time and a command that has it again.
Exit codes: 0 all held, 1 something did not, 2 wrong command line.";

/// What `sim` is asked.
#[derive(Args, Clone, Debug, PartialEq, Eq)]
pub struct SimOptions {
    /// What all chance grows from
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,
    /// Minutes of virtual time
    #[arg(long, value_name = "M", default_value_t = 10,
        value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub minutes: u32,
    /// Players, 1 to 64
    #[arg(long, value_name = "COUNT", default_value_t = 8,
        value_parser = clap::value_parser!(u8).range(1..=64))]
    pub bots: u8,
    /// No faults: only joins, leaves and map changes
    #[arg(long)]
    pub calm: bool,
    /// Map to play, if the game's data is found; free flight without
    #[arg(long, value_name = "NAME", value_parser = folder_or_map)]
    pub map: Option<String>,
    /// Whose maps and rules
    #[arg(long, value_name = "NAME", default_value = "baseoa", value_parser = serve::game_profile)]
    pub game: GameFolder,
    /// Folders that hold the game's data folder, separated as in PATH
    #[arg(long, value_name = "FOLDERS", default_value = "", hide_default_value = true)]
    pub basepath: String,
    /// What the level's clock shows at the beginning, in milliseconds; 1879000000 is near its end
    #[arg(long, value_name = "MS", default_value_t = 0, hide_default_value = true,
        value_parser = clap::value_parser!(i32).range(0..0x7000_0000))]
    pub level_time: i32,
    /// As JSON
    #[arg(long)]
    pub json: bool,
}
