//! The numbers every peer of the protocol has agreed on. Source: Quake III protocol 68.

/// Player slots of one server.
pub const MAX_CLIENTS: usize = 64;
/// Entities of one level, the two reserved numbers included.
pub const MAX_ENTITIES: usize = 1024;
/// Configstrings of one level.
pub const MAX_CONFIGSTRINGS: usize = 1024;
/// Configstring text of a gamestate, each string counted with its terminator, plus one byte.
pub const MAX_GAMESTATE_CHARS: usize = 16_000;
/// Entities in one snapshot.
pub const MAX_SNAPSHOT_ENTITIES: usize = 256;
/// Snapshots that both ends remember.
pub const PACKET_BACKUP: usize = 32;
/// Largest message, after reassembly and as compressed on the wire, in bytes.
pub const MAX_MESSAGE_LEN: usize = 16_384;
/// Commands of one packet.
pub const MAX_PACKET_USERCMDS: usize = 32;
/// Reliable commands that the receiving end's ring holds.
pub const MAX_RELIABLE_COMMANDS: usize = 64;
/// Longest string a peer stores, without its terminator.
pub const MAX_STRING_LEN: usize = 1023;
/// Longest server command that no peer chokes on, in bytes.
pub const MAX_SERVER_COMMAND_LEN: usize = 1022;
/// Longest big string (a configstring), without its terminator.
pub const MAX_BIG_STRING_LEN: usize = 8191;
/// Longest normal info string, without its terminator.
pub const MAX_INFO_LEN: usize = 1023;
/// Bytes of an area mask.
pub const MAX_AREA_BYTES: usize = 32;
/// Player name, in bytes without the terminator, as the engine keeps it.
pub const MAX_NAME_LEN: usize = 31;
