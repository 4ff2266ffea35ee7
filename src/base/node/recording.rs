//! Recordings of a node: pieces of files that the driver writes in the background.
//!
//! A node names its recordings and never learns whether the disk took them, so that a replay of its inputs
//! does not depend on the disk.

/// Piece of a recording.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordingPiece {
    /// Number of the recording, not used again by this node.
    pub recording: u64,
    /// Content.
    pub content: RecordingContent,
}

/// Content of a piece. A recording is one `Begin`, any number of `Data`, one `End`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RecordingContent {
    /// Start of a file.
    Begin {
        /// Name without extension: letters, digits, `_`, `-` and `.`.
        name: String,
        /// Extension without the dot.
        extension: String,
    },
    /// Next bytes of the file.
    Data(Vec<u8>),
    /// End of the file.
    End,
}

impl RecordingPiece {
    /// Memory of the piece in bytes, for limits.
    #[must_use]
    pub fn len(&self) -> usize {
        match &self.content {
            RecordingContent::Begin { name, extension } => name.len() + extension.len(),
            RecordingContent::Data(bytes) => bytes.len(),
            RecordingContent::End => 0,
        }
    }

    /// Whether the piece has no bytes.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}
