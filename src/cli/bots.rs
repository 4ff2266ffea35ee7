//! Options of `bots`.

use std::{path::PathBuf, str::FromStr};

use clap::Args;

use super::{ExitStatus, LoadTest, ServerAddress, TraceFiles, game_folder};
use crate::{
    bots::{
        Verdict,
        expect::{default_expectations, metrics_help},
    },
    settings::GameFolder,
};

/// Examples of the help.
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
  regression test: no metric worse than in an earlier run by more than 10%
    fragd bots --connect 127.0.0.1 -n 16 --seed 42 --baseline before.json --json > now.json
  QuakeWorld, e.g. mvdsv
    fragd bots --connect 127.0.0.1 --protocol quakeworld -n 16 --basepath /srv/quake
  several servers at once
    fragd bots --connect 127.0.0.1,127.0.0.1:27961 -n 128
  pure server (sv_pure 1): the pk3 files of the game are installed, or named
    fragd bots --connect 127.0.0.1 -n 8 --basepath /srv/openarena
  scenario file
    fragd bots --connect 127.0.0.1 --scenario config/loadtests/smoke.toml
  limits for CI, with a JUnit report
    fragd bots --connect 127.0.0.1 -n 16 --junit junit.xml \\
      --expect 'snapshot_gap_p99<120ms,time_without_snapshot<0.5%,loss<1%'";

/// Returns examples, metrics and exit codes of the help.
pub(super) fn after_help() -> String {
    let codes = Verdict::EXIT_CODES.iter().map(|(_, code, meaning)| (*code, *meaning));
    let mut codes: Vec<_> = codes.chain([(ExitStatus::UsageError as u8, "usage error")]).collect();
    codes.sort_unstable();
    let codes: String =
        codes.iter().map(|(code, meaning)| format!("\n  {code}  {meaning}")).collect();
    format!(
        "{EXAMPLES}\n\nMetrics for --expect:\n{}\n\
         By default all bots must join, and: {}. Impaired links have more time to join and for map changes. \
         An expectation for a metric replaces its default.\n\nExit codes:{codes}",
        metrics_help(),
        default_expectations()
    )
}

/// Parses a share such as `10%`.
fn share(text: &str) -> Result<f64, String> {
    let number = text.strip_suffix('%').unwrap_or(text).trim().parse::<f64>().ok();
    let number = number.filter(|percent| (0.0..=1000.0).contains(percent));
    number.map(|percent| percent / 100.0).ok_or_else(|| "expected 0% to 1000%, e.g. 10%".to_owned())
}

/// Process ids, separated by commas or spaces.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProcessIds(pub Vec<u32>);

impl FromStr for ProcessIds {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let words = text.split([',', ' ', '\t', '\n']).filter(|word| !word.is_empty());
        let ids: Option<Vec<u32>> =
            words.map(|word| word.parse().ok().filter(|&id| id > 0)).collect();
        let ids = ids.filter(|ids| !ids.is_empty());
        let wanted =
            "expected process ids, e.g. 1234 or 1234,1235; no process if $(pidof …) found none";
        ids.map(Self).ok_or_else(|| wanted.to_owned())
    }
}

/// Options of `bots`.
#[derive(Args, Clone, Debug, PartialEq)]
pub struct BotsOptions {
    /// Server to join, or several separated by commas, used in turn; default port 27960, of QuakeWorld 27500
    #[arg(long, value_name = "HOST[:PORT]", required = true, value_delimiter = ',')]
    pub connect: Vec<ServerAddress>,
    /// Scenario file, e.g. config/loadtests/smoke.toml; options here override it
    #[arg(long, value_name = "FILE")]
    pub scenario: Option<PathBuf>,
    /// The load test.
    #[command(flatten)]
    pub test: Box<LoadTest>,
    /// Process id of a local server, to measure CPU time and memory. Several, separated by commas or spaces,
    /// are added
    #[arg(long, value_name = "PID", num_args = 1..)]
    pub pid: Vec<ProcessIds>,
    /// Print the summary as one JSON object
    #[arg(long)]
    pub json: bool,
    /// Write one line per second to this file
    #[arg(long, value_name = "FILE")]
    pub csv: Option<PathBuf>,
    /// Write an HTML report with charts to this file
    #[arg(long, value_name = "FILE")]
    pub report: Option<PathBuf>,
    /// Write a JUnit report (XML) to this file: a test case per expectation and stage
    #[arg(long, value_name = "FILE")]
    pub junit: Option<PathBuf>,
    /// Summary of an earlier run (JSON): fail if a metric is worse by more than --regression
    #[arg(long, value_name = "FILE")]
    pub baseline: Option<PathBuf>,
    /// Share by which metrics may be worse than those of --baseline, e.g. 10%
    #[arg(long, value_name = "SHARE", default_value = "10%", requires = "baseline", value_parser = share)]
    pub regression: f64,
    /// Trace and packet capture.
    #[command(flatten)]
    pub files: TraceFiles,
    /// Directories that contain the game folder, for navigation by map and for pure servers; separated as in PATH
    #[arg(long, value_name = "FOLDERS", default_value = "", hide_default_value = true)]
    pub basepath: String,
    /// Game folder of that data
    #[arg(long, value_name = "NAME", default_value = "baseoa", value_parser = game_folder)]
    pub game: GameFolder,
}
