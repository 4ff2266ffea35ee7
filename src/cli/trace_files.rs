//! Options of roles that trace their datagrams.

use std::path::PathBuf;

use clap::Args;

/// Files that a running role writes about its datagrams.
#[derive(Args, Clone, Debug, Default, PartialEq, Eq)]
pub struct TraceFiles {
    /// Decode all datagrams to FILE, one JSON object per line (contains userinfos and chat)
    #[arg(long, value_name = "FILE")]
    pub trace: Option<PathBuf>,
    /// Capture all datagrams to FILE as pcapng with comments, for Wireshark and fragd trace
    #[arg(long, value_name = "FILE")]
    pub pcap: Option<PathBuf>,
}
