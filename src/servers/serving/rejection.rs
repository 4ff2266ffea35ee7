//! Rejection of a `connect`: reason, and how it is answered.
//!
//! Source: ioquake3, texts of the original server.

use crate::wire::connect::ConnectError;

/// Answer to a userinfo that leaves no room for what the server adds.
pub(crate) const USERINFO_TOO_LONG: &str =
    "Userinfo string length exceeded.  Try removing setu cvars from your config.";

/// Reason for rejecting a `connect`, and how it is answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Rejection {
    /// Answered with this text.
    Message(String),
    /// A repeated request, answered with another `connectResponse`.
    ResendAccept,
    /// A packet that no client sends; not answered.
    Unanswered,
}

impl Rejection {
    pub(crate) fn message(text: &str) -> Self {
        Self::Message(text.to_owned())
    }
}

impl From<&ConnectError> for Rejection {
    fn from(error: &ConnectError) -> Self {
        match error {
            ConnectError::UserinfoTooLong(_) => Self::message(USERINFO_TOO_LONG),
            ConnectError::Userinfo(_) => Self::message("Invalid userinfo."),
            ConnectError::PacketTooLong(_)
            | ConnectError::TooFewBits { .. }
            | ConnectError::Truncated(_) => Self::Unanswered,
        }
    }
}

impl From<ConnectError> for Rejection {
    fn from(error: ConnectError) -> Self {
        Self::from(&error)
    }
}
