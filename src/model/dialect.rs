//! Which of the wires a connection speaks. Source: Quake III protocol 68, ioquake3 protocol 71.

use std::fmt;

/// How two ends frame and hide the messages that all dialects share.
///
/// The protocol number does not decide it: 68 is always [`Dialect::Compat`], but 71 is
/// [`Dialect::Compat`] to OpenArena and [`Dialect::Native`] to ioquake3.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Dialect {
    /// The wire of protocol 68: messages are scrambled, headers carry no checksum.
    Compat,
    /// The wire of ioquake3's protocol 71: messages travel clear, headers carry a checksum made of
    /// the connection's challenge, and voice may be among the message parts.
    Native,
}

impl Dialect {
    /// Both.
    pub const ALL: [Self; 2] = [Self::Compat, Self::Native];
}

impl fmt::Display for Dialect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Compat => "compat",
            Self::Native => "native",
        })
    }
}
