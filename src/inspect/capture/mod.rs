//! Packet captures: observer of a node, writer of pcapng, reader of pcap and pcapng.
//!
//! ```text
//! node events ─ Tap ─┬ trace::Lines ─ JSON lines
//!                    └ pcapng with comments
//! file ─ PacketReader ─ DatagramReader (link layers, IP fragments, UDP) ─ trace::Lines
//! ```
//!
//! Invariants: a datagram read from a capture gives the same record as the live one; memory is bounded
//! for any file; errors name the byte of the file.
//! Source: draft-ietf-opsawg-pcapng; draft-ietf-opsawg-pcap; RFC 768, 791, 1071, 8200.

mod datagrams;
mod packets;
mod pcapng;
mod tap;

pub use datagrams::{Datagram, DatagramReader, Skipped};
pub use packets::{CaptureError, Packet, PacketReader};
pub use tap::{CaptureSink, Tap, TapOptions};
