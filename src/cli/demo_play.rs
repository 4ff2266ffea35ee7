//! Options of `demo play`.

use std::path::PathBuf;

use clap::Args;

use super::ViewerOptions;
use crate::relay::DemoEnd;

/// Options of `demo play`.
#[derive(Args, Clone, Debug, PartialEq, Eq)]
pub struct PlayOptions {
    /// Demo or multi-view recording
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// Play the demo again when it ends
    #[arg(long = "loop", conflicts_with = "once")]
    pub repeat: bool,
    /// Stop when the demo ends
    #[arg(long)]
    pub once: bool,
    /// Options for viewers
    #[command(flatten)]
    pub viewers: ViewerOptions,
}

impl PlayOptions {
    /// Returns the behavior at the end of the demo.
    #[must_use]
    pub const fn end(&self) -> DemoEnd {
        match (self.repeat, self.once) {
            (true, _) => DemoEnd::Repeat,
            (false, true) => DemoEnd::Stop,
            (false, false) => DemoEnd::Hold,
        }
    }
}
