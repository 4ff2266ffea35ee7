//! Family of a client: texts that it shows outside a connection.

use crate::{quakeworld::connectionless::Reply, wire::connectionless::Message};

/// Family of protocols of a client.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Family {
    /// Quake III and its descendants.
    #[default]
    Quake3,
    /// QuakeWorld.
    QuakeWorld,
}

impl Family {
    /// Replaces the content of `out` with a packet whose text the client shows.
    pub(super) fn write_print(self, text: &str, out: &mut Vec<u8>) {
        match self {
            Self::Quake3 => {
                out.clear();
                Message::Print(text.into()).write(out);
            }
            Self::QuakeWorld => {
                Reply::Print { text: text.as_bytes() }.write(out);
                out.push(0);
            }
        }
    }
}
