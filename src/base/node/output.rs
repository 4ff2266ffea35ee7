//! Outputs of a node beside datagrams.

use std::net::{IpAddr, SocketAddr};

use super::{Hosted, LocalPort, Lookup, RecordingPiece};
use crate::model::FileWrite;

/// Change of a node's local ports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PortChange {
    /// Open a port, with a free port number.
    Open {
        /// Port.
        local: LocalPort,
        /// Remote address of its traffic.
        peer: SocketAddr,
        /// Address of this machine to send from; `None` for the one that the system chooses.
        source: Option<IpAddr>,
    },
    /// Close this port. Datagrams that wait in it are dropped.
    Close(LocalPort),
}

/// Output of a node beside datagrams.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Output {
    /// Change of the local ports. It takes effect before the next datagram is sent.
    PortChange(PortChange),
    /// Lines of the game log.
    GameLog(String),
    /// Lines of the audit log.
    Audit(String),
    /// Piece of a recording.
    Recording(RecordingPiece),
    /// Write to a file of the game. Writes of a file are coalesced until they are taken, so a driver may leave
    /// them while its disk is slow.
    FileWrite(FileWrite),
    /// Pieces of the live stream: whole pieces of a multi-view recording.
    Stream(Vec<u8>),
    /// Name to look up. The answer comes as [`super::Input::Lookup`].
    Lookup(Lookup),
    /// Console text, whole lines.
    Console(String),
}

/// Kind of an [`Output`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum OutputKind {
    /// [`Output::PortChange`].
    PortChange,
    /// [`Output::GameLog`].
    GameLog,
    /// [`Output::Audit`].
    Audit,
    /// [`Output::Recording`].
    Recording,
    /// [`Output::FileWrite`].
    FileWrite,
    /// [`Output::Stream`].
    Stream,
    /// [`Output::Lookup`].
    Lookup,
    /// [`Output::Console`].
    Console,
}

impl OutputKind {
    /// All kinds, in the order in which a driver takes them.
    pub const ALL: [Self; 8] = [
        Self::PortChange,
        Self::GameLog,
        Self::Audit,
        Self::Recording,
        Self::FileWrite,
        Self::Stream,
        Self::Lookup,
        Self::Console,
    ];
}

/// Takes all texts of a kind, [`OutputKind::Console`] or [`OutputKind::GameLog`]. Other outputs of the kind are dropped.
pub fn take_text(node: &mut (impl Hosted + ?Sized), kind: OutputKind) -> String {
    let mut all = String::new();
    while let Some(output) = node.poll_output(kind) {
        if let Output::Console(text) | Output::GameLog(text) = output {
            all.push_str(&text);
        }
    }
    all
}
