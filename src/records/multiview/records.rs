//! Record tags of the uncompressed content.
//!
//! ```text
//! key            frame count | server time | checksum feed | configstrings | baselines | clients
//! frame          see `scene`
//! configstring   index | text
//! broadcast      text
//! start          client: 1 byte | track of the client, see `clients`
//! end            client: 1 byte
//! message        see `clients`; a message of another kind has its bytes behind its sequence
//! ```

/// Everything that later records refer to.
pub(super) const KEY: u8 = 1;
/// Entities and players of the next server frame.
pub(super) const FRAME: u8 = 2;
/// A configstring changes.
pub(super) const CONFIGSTRING: u8 = 3;
/// A reliable command to all clients.
pub(super) const BROADCAST: u8 = 4;
/// Messages of a client follow.
pub(super) const START: u8 = 5;
/// No more messages of a client follow.
pub(super) const END: u8 = 6;
/// First of 64 tags of snapshot messages, by client.
pub(super) const SNAPSHOT: u8 = 0x40;
/// First of 64 tags of messages with commands alone.
pub(super) const COMMANDS: u8 = 0x80;
/// First of 64 tags of other messages, as bytes.
pub(super) const RAW: u8 = 0xc0;
/// Bits of a message's tag that are the client.
pub(super) const CLIENT: u8 = 0x3f;
