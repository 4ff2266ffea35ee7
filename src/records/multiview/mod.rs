//! Multi-view recording: a whole match in one file, with every player's own view.
//!
//! ```text
//! server ─ Writer ─ pieces ─ file ─ Reader ─ Decoder ─┬ OwnView: the demo that a player would have
//!                                                   └ SpectatorDemo: a followed player, a fixed place
//! ```
//!
//! A server frame holds all entities and all playerstates once. A message of a player adds its visible
//! entities, acknowledgements and commands. Both are exact, so the message is encoded again bit for bit.
//! `docs/multiview.md` describes the format.
//!
//! Invariants: states are exact words, not values of the protocol; a file cut anywhere gives everything
//! in front of the cut. Source: server messages of Quake III protocol 68.

mod clients;
mod decoder;
mod encode;
mod extract;
mod format;
mod predict;
mod reader;
mod records;
mod scene;
#[cfg(test)]
mod tests;
mod view;
mod words;
mod writer;

pub use clients::{ClientTrack, CommandWindow};
pub use decoder::{Decoder, MessageContent, Record};
pub use extract::{OwnView, sessions_of};
pub use format::{
    FILE_HEAD_LEN, FormatError, Header, Index, IndexedKey, MAGIC, MAX_PIECE_LEN, PIECE_HEAD_LEN,
    Piece, PieceKind, Session, put_piece, read_piece,
};
pub use reader::{Fault, Reader};
pub use scene::{Scene, SceneEntity};
pub use view::{Shown, SpectatorDemo, Viewpoint};
pub use writer::{ClientMessage, ClientStart, LevelStart, Writer, WriterOptions};
