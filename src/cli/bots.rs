//! Options of `bots`.

use std::path::PathBuf;

use clap::Args;

use super::{LoadTest, ServerAddress, TraceFiles, game_folder};
use crate::settings::GameFolder;

/// Examples and exit codes of the help.
pub(super) const EXAMPLES: &str = "\
Examples:
  one bot for half a minute, with progress lines
    fragd bots --connect 127.0.0.1
  64 players, an HTML report, and the CPU time of the server process
    fragd bots --connect 127.0.0.1 -n 64 --seconds 60 --report report.html --pid $(pidof fragd)
  capacity: stop at the first stage that fails
    fragd bots --connect 127.0.0.1 --stages 16:30s,32:30s,64:30s \\
      --expect 'snapshot_gap_p99<120ms,drops=0'
  impaired network with NAT rebinding
    fragd bots --connect 127.0.0.1 -n 16 --network latency=80ms,jitter=20ms,loss=2% --rebind 30s
  ioquake3, which limits handshakes per address after a burst of ten
    fragd bots --connect 127.0.0.1 -n 32 --ramp 5/s
  repeatable run with machine-readable output
    fragd bots --connect [::1] -n 8 --seed 42 --json --csv seconds.csv
  several servers at once
    fragd bots --connect 127.0.0.1,127.0.0.1:27961 -n 128
  scenario file
    fragd bots --connect 127.0.0.1 --scenario config/loadtests/smoke.toml

Metrics for --expect:
  bots in_game refused drops protocol_errors walked_per_second scored snapshots_per_second
  join_p50 join_p99 join_max snapshot_gap_p50 snapshot_gap_p90 snapshot_gap_p99 snapshot_gap_max
  jitter_p99 ping_p50 ping_p99 command_p99 (ms)   loss late rate_delayed delta (%)
  bytes_per_snapshot bytes_in_per_second   cpu_per_client_second (ms) memory (MB), with --pid
By default all bots must join, none may be dropped and no protocol error may occur; naming in_game,
refused, drops or protocol_errors replaces that check.

Exit codes: 0 passed, 1 expectation failed, 2 usage error, 3 no answer, 4 refused, 5 disconnected,
6 protocol error.";

/// Options of `bots`.
#[derive(Args, Clone, Debug, PartialEq)]
pub struct BotsOptions {
    /// Server to join, or several separated by commas, used in turn; default port 27960
    #[arg(long, value_name = "HOST[:PORT]", required = true, value_delimiter = ',')]
    pub connect: Vec<ServerAddress>,
    /// Scenario file, e.g. config/loadtests/smoke.toml; options here override it
    #[arg(long, value_name = "FILE")]
    pub scenario: Option<PathBuf>,
    /// The load test.
    #[command(flatten)]
    pub test: Box<LoadTest>,
    /// Process id of a local server, to measure CPU time and memory; several (comma-separated) are added
    #[arg(long, value_name = "PID", value_delimiter = ',')]
    pub pid: Vec<u32>,
    /// Print the summary as one JSON object
    #[arg(long)]
    pub json: bool,
    /// Write one line per second to this file
    #[arg(long, value_name = "FILE")]
    pub csv: Option<PathBuf>,
    /// Write an HTML report with charts to this file
    #[arg(long, value_name = "FILE")]
    pub report: Option<PathBuf>,
    /// Trace and packet capture.
    #[command(flatten)]
    pub files: TraceFiles,
    /// Directories that contain the game folder, for navigation by map; separated as in PATH
    #[arg(long, value_name = "FOLDERS", default_value = "", hide_default_value = true)]
    pub basepath: String,
    /// Game folder of that data
    #[arg(long, value_name = "NAME", default_value = "baseoa", value_parser = game_folder)]
    pub game: GameFolder,
}
