//! Inputs of a server's start, and what the start reports.

use std::rc::Rc;

use super::{downloads::offer::url_of, state::Server};
use crate::{
    model::{UnixMillis, state_folder::StateFolder},
    settings::{SetCommand, Settings, key},
};

/// Inputs of a server besides its settings, game data and game.
#[derive(Clone, Debug)]
pub struct ServerStart {
    /// Bytes of the operating system's random source: the key of challenges, and the seed of all random
    /// numbers.
    pub entropy: [u8; 32],
    /// Calendar time at the zero of the server's clock, for `g_timestamp`.
    pub epoch: Option<UnixMillis>,
    /// Changes of settings that override the configuration of a mod.
    pub overrides: Vec<(SetCommand, String, String)>,
    /// Console lines of the command line, which run in order around the first level, such as `exec server.cfg`.
    pub lines: Vec<String>,
    /// Whether a missing script of the lines or a missing first map ends the start, see [`start_error`].
    pub is_strict: bool,
    /// Folder of the files that outlast the server, such as the list of bans. Without one they are in memory only.
    pub state: Option<Rc<dyn StateFolder>>,
}

impl From<[u8; 32]> for ServerStart {
    /// A start without calendar time and commands.
    fn from(entropy: [u8; 32]) -> Self {
        Self {
            entropy,
            epoch: None,
            overrides: Vec::new(),
            lines: Vec::new(),
            is_strict: false,
            state: None,
        }
    }
}

impl Server {
    /// Console output of the start, which went to the log.
    #[must_use]
    pub fn start_messages(&self) -> &[String] {
        self.core.console.start_messages()
    }
}

/// Error that ends the start: a missing script of the command line, or a first map that cannot be loaded. The server
/// then runs free flight.
#[must_use]
pub fn start_error(server: &Server) -> Option<&str> {
    server.startup.error()
}

/// Names the server's own HTTP downloads in the serverinfo, unless the operator names others.
pub(super) fn announce_http(settings: &mut Settings) {
    if settings.endpoint(key::SV_HTTP).is_none() || !settings.text(key::SV_DL_URL).is_empty() {
        return;
    }
    match url_of(settings.values()) {
        // A URL of an address is valid text.
        Some(url) => drop(settings.write(key::SV_DL_URL, url)),
        None => log::warn!(
            "sv_http: clients do not know its address; set sv_dlURL to http://HOST:PORT, or sv_http \
             to an address that they reach"
        ),
    }
}
