//! QuakeWorld protocol 28: packets, channel, messages of both sides.

pub mod bytes;
pub mod channel;
pub mod checksum;
pub mod client_message;
pub mod effects;
pub mod entities;
pub mod extensions;
pub mod level;
pub mod moves;
pub mod packet;
pub mod players;
pub mod server_message;
mod table;
pub mod usercmd;
