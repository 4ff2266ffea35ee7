//! Options of `query`.

use clap::Args;

use super::ServerAddress;

/// Examples of the help.
pub(super) const EXAMPLES: &str = "\
Examples:
  fragd query 127.0.0.1
  fragd query dm.example.org:27961 --settings
  fragd query [::1]:27960 --json --timeout 500";

/// Options of `query`.
#[derive(Args, Clone, Debug, PartialEq, Eq)]
pub struct QueryOptions {
    /// Server to query; default port 27960
    #[arg(value_name = "HOST[:PORT]")]
    pub server: ServerAddress,
    /// Print one JSON object
    #[arg(long)]
    pub json: bool,
    /// Milliseconds to wait for a reply
    #[arg(long = "timeout", value_name = "MS", default_value_t = 2000,
        value_parser = clap::value_parser!(u32).range(1..=60_000))]
    pub timeout_ms: u32,
    /// Print all settings of the serverinfo
    #[arg(long)]
    pub settings: bool,
}
