//! Downloads of a client: archives that the systeminfo names, received in blocks.
//!
//! The owner starts a download when the client has a gamestate and no usercmd was sent on that level. The
//! server sends no other level until [`Client::finish_downloads`]. Invariants: usercmds are withheld during
//! and after a download, since the first one enters the game; memory is bounded by the length that the owner
//! accepts. Source: Quake III protocol 68, UDP download.

use crate::{
    model::{CommandNum, ConfigIndex, Millis, text::atoi},
    wire::{download::Block, info::InfoString},
};

use super::{
    connection::Connection,
    event::{ClientEvent, Events},
    session::{Client, CommandError},
};

/// Longest time from a block to the packet that acknowledges it.
const ACKNOWLEDGE_AFTER: Millis = Millis(10);
/// Unacknowledged commands beyond which blocks are ignored, so that acknowledgements overflow nothing.
const MAX_COMMANDS: usize = 56;

/// Result of a download.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DownloadEvent {
    /// All bytes were received.
    Finished {
        /// Folder, name and extension.
        name: String,
        /// The archive.
        bytes: Vec<u8>,
    },
    /// The download ended without the file.
    Failed {
        /// Folder, name and extension.
        name: String,
        /// Reason of the server, or of this client.
        reason: String,
    },
}

/// An archive that the clients of a level need.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReferencedPack {
    /// Folder, name and extension.
    pub name: String,
    /// Checksum of the content.
    pub checksum: i32,
}

/// Progress of downloads.
#[derive(Debug, Default)]
pub(super) enum DownloadState {
    /// None since the gamestate.
    #[default]
    Idle,
    /// A file is being received.
    Receiving(Receiving),
    /// Files were received; the next gamestate follows.
    Waiting,
}

/// A file that is being received.
#[derive(Debug)]
pub(super) struct Receiving {
    name: String,
    max_len: usize,
    /// Number of the next block.
    expected: u32,
    /// Length as announced with block 0.
    len: usize,
    bytes: Vec<u8>,
}

impl DownloadState {
    /// Whether usercmds may be sent.
    pub(super) fn allows_usercmds(&self) -> bool {
        matches!(self, Self::Idle)
    }

    /// Number of the next block, 0 without a download.
    pub(super) fn expected_block(&self) -> u32 {
        match self {
            Self::Receiving(file) => file.expected,
            Self::Idle | Self::Waiting => 0,
        }
    }

    /// Ends downloads because a gamestate was received.
    pub(super) fn end_for_gamestate(&mut self, events: &mut Events) {
        if let Self::Receiving(file) = std::mem::take(self) {
            fail(file.name, "the level has changed", events);
        }
    }
}

impl Receiving {
    /// Adds a block. Returns whether it ends the file.
    fn add(&mut self, file_size: Option<u32>, block: &[u8]) -> Result<bool, &'static str> {
        if let Some(size) = file_size {
            self.len = size as usize;
            if self.len > self.max_len {
                return Err("the file is too long");
            }
        }
        if block.is_empty() {
            return if self.bytes.len() == self.len { Ok(true) } else { Err("the file is cut") };
        }
        if self.bytes.len() + block.len() > self.len {
            return Err("more bytes than announced");
        }
        self.bytes.extend_from_slice(block);
        Ok(false)
    }
}

fn fail(name: String, reason: &str, events: &mut Events) {
    let reason = reason.to_owned();
    events.push(ClientEvent::Download(DownloadEvent::Failed { name, reason }));
}

impl Connection {
    /// Applies a received block.
    pub(super) fn apply_block(&mut self, now: Millis, block: Block, events: &mut Events) {
        let DownloadState::Receiving(file) = &mut self.download else { return };
        let (number, file_size, bytes) = match block {
            Block::Refused(reason) => {
                fail(std::mem::take(&mut file.name), &reason, events);
                self.download = DownloadState::Waiting;
                return;
            }
            Block::Data { number, file_size, bytes } => (number, file_size, bytes),
        };
        if file.expected as u16 != number || self.commands().outstanding() > MAX_COMMANDS {
            return;
        }
        let DownloadState::Receiving(file) = &mut self.download else { return };
        let added = file.add(file_size, &bytes);
        let command = match added {
            Ok(_) => format!("nextdl {}", file.expected),
            Err(_) => "stopdl".to_owned(),
        };
        file.expected += 1;
        let result = match added {
            Ok(false) => None,
            Ok(true) => {
                let name = std::mem::take(&mut file.name);
                Some(DownloadEvent::Finished { name, bytes: std::mem::take(&mut file.bytes) })
            }
            Err(reason) => {
                let name = std::mem::take(&mut file.name);
                Some(DownloadEvent::Failed { name, reason: reason.to_owned() })
            }
        };
        // There is room: the commands under way were counted.
        let _ = self.add_command(command.into());
        self.hasten_packet(now + ACKNOWLEDGE_AFTER);
        if let Some(result) = result {
            self.download = DownloadState::Waiting;
            events.push(ClientEvent::Download(result));
        }
    }
}

impl Client {
    /// Archives that clients of the level need, as the server names them.
    #[must_use]
    pub fn referenced_packs(&self) -> Vec<ReferencedPack> {
        let info = InfoString::parse_big(self.configstring(ConfigIndex::SYSTEMINFO));
        let names = info.get("sv_referencedPakNames").unwrap_or("").split_whitespace();
        let checksums = info.get("sv_referencedPaks").unwrap_or("").split_whitespace();
        names
            .zip(checksums)
            .map(|(name, checksum)| ReferencedPack {
                name: format!("{name}.pk3"),
                checksum: atoi(checksum),
            })
            .collect()
    }

    /// Starts to download an archive of at most `max_len` bytes. A running download ends.
    ///
    /// # Errors
    /// [`CommandError`]; an overflow has ended the connection.
    pub fn download(
        &mut self,
        now: Millis,
        name: &str,
        max_len: usize,
    ) -> Result<CommandNum, CommandError> {
        let added = self.send_command(now, &format!("download {name}"))?;
        if let Some(connection) = self.connection_mut() {
            let name = name.to_owned();
            let file = Receiving { name, max_len, expected: 0, len: 0, bytes: Vec::new() };
            connection.download = DownloadState::Receiving(file);
            connection.hasten_packet(now);
        }
        Ok(added)
    }

    /// Requests the gamestate again after downloads.
    ///
    /// # Errors
    /// [`CommandError`]; an overflow has ended the connection.
    pub fn finish_downloads(&mut self, now: Millis) -> Result<CommandNum, CommandError> {
        let added = self.send_command(now, "donedl")?;
        if let Some(connection) = self.connection_mut() {
            connection.download = DownloadState::Waiting;
            connection.hasten_packet(now);
        }
        Ok(added)
    }

    /// Received and announced bytes of the running download.
    #[must_use]
    pub fn download_progress(&self) -> Option<(usize, usize)> {
        match &self.connected()?.download {
            DownloadState::Receiving(file) => Some((file.bytes.len(), file.len)),
            DownloadState::Idle | DownloadState::Waiting => None,
        }
    }
}
