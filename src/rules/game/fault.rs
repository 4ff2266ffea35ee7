//! Game fault: an error after which a game can no longer be called in its level.
//!
//! Hosted code faults when it traps, exceeds a limit or reports an error. The native rules do not
//! fault. Source: the game interface, version 8. Engine names: `G_ERROR`, `Com_Error`.

/// A fault of a game: one line for the log, and further lines such as a call stack.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{summary}")]
pub struct GameFault {
    /// Error and its place, in one line.
    pub summary: String,
    /// Further lines of the log entry.
    pub details: Vec<String>,
}

impl GameFault {
    /// Creates a fault without further lines.
    #[must_use]
    pub fn new(summary: impl Into<String>) -> Self {
        Self { summary: summary.into(), details: Vec::new() }
    }
}

/// Why a game did not connect a client.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ConnectError {
    /// The game refused the client with this text.
    #[error("{0}")]
    Refused(String),
    /// The game faulted.
    #[error(transparent)]
    Fault(#[from] GameFault),
}
