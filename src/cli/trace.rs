//! Options of `trace`.

use std::{net::SocketAddr, path::PathBuf};

use clap::{Args, ValueEnum};

use super::address::own_address;
use crate::trace::View;

/// Examples and exit codes of the help.
pub(super) const EXAMPLES: &str = "\
Examples:
  fragd serve --pcap server.pcapng             capture while serving
  fragd trace server.pcapng                    decode to one JSON object per datagram
  fragd trace server.pcapng --show packets     one line per datagram
  fragd trace server.pcapng --show net         bytes and fields of each message
  fragd trace server.pcapng --show drops       losses, ignored and undecoded datagrams
  fragd trace server.pcapng --report trace.html
  fragd trace --follow server.pcapng --show packets
  tcpdump -U -i any -w - udp port 27960 | fragd trace - --show net
  fragd trace server.pcapng | jq 'select(.lost)'

Reads pcap and pcapng: Ethernet with VLAN tags, Linux cooked, raw IP, loopback; fragments of IP are \
reassembled. Connections are decoded from their handshake. Of those that began earlier, protocol 71 of \
ioquake3 is decoded, without the values of usercmds, and QuakeWorld.
Marks of QuakeWorld: R+ new reliable message, R- the same after its loss, R= its acknowledgment, choke=N \
answers left out.
Exit codes: 0 everything decoded; 1 file damaged or not readable, the rest is shown; 2 usage error; \
6 some datagrams not decoded.";

/// Options of `trace`.
#[derive(Args, Clone, Debug, PartialEq, Eq)]
pub struct TraceOptions {
    /// Capture to decode, pcap or pcapng; - reads standard input
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// Show a view for people instead of JSON lines
    #[arg(long, value_name = "VIEW", value_enum)]
    pub show: Option<ShownView>,
    /// Wait for more data at the end of the file
    #[arg(long, conflicts_with = "report")]
    pub follow: bool,
    /// Write an HTML report to this file instead of JSON lines; together with --show both
    #[arg(long, value_name = "FILE")]
    pub report: Option<PathBuf>,
    /// Address of the server, if handshake and ports do not tell
    #[arg(long, value_name = "IP:PORT", value_parser = own_address)]
    pub server: Option<SocketAddr>,
}

/// View for people.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ShownView {
    /// One line per datagram
    Packets,
    /// Bytes and fields of each message
    Net,
    /// Lost, ignored and undecoded datagrams
    Drops,
}

impl ShownView {
    /// The view.
    #[must_use]
    pub const fn view(self) -> View {
        match self {
            Self::Packets => View::Packets,
            Self::Net => View::Net,
            Self::Drops => View::Drops,
        }
    }
}
