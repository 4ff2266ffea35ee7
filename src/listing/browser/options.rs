//! Options of a browser: masters, servers, limits.

use std::net::SocketAddr;

use crate::{discovery::Game, model::Millis};

/// Question to a master.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Question {
    /// Game.
    pub game: &'static Game,
    /// Protocol number.
    pub protocol: i32,
    /// Game name for `getserversExt`, which also returns IPv6 servers. `None` asks `getservers`.
    pub extended: Option<String>,
}

/// Master to ask.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MasterOptions {
    /// Name as the operator wrote it.
    pub label: String,
    /// Address.
    pub address: SocketAddr,
    /// Questions, all sent at once.
    pub questions: Vec<Question>,
}

/// Options of a browser.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BrowserOptions {
    /// Masters to ask.
    pub masters: Vec<MasterOptions>,
    /// Servers to query without a master.
    pub favorites: Vec<(&'static Game, SocketAddr)>,
    /// Broadcast and multicast addresses to query.
    pub lan: Vec<(&'static Game, SocketAddr)>,
    /// Seed of the challenges; must be secret.
    pub seed: u64,
    /// Maximum number of unanswered requests.
    pub outstanding: usize,
    /// Time that a server has for its answer.
    pub timeout: Millis,
    /// Number of further requests to a silent server.
    pub retries: usize,
    /// Whether to ask servers for their players.
    pub players: bool,
    /// Maximum number of servers in the table.
    pub max_servers: usize,
    /// Maximum length of a round.
    pub round_limit: Millis,
    /// Time between the starts of two rounds; `None` ends after the first.
    pub watch: Option<Millis>,
}

impl BrowserOptions {
    /// Creates options without masters and servers.
    ///
    /// 16 requests at a time are Enemy Territory's, and 800 ms are Quake III's default.
    #[must_use]
    pub const fn new(seed: u64) -> Self {
        Self {
            masters: Vec::new(),
            favorites: Vec::new(),
            lan: Vec::new(),
            seed,
            outstanding: 16,
            timeout: Millis(800),
            retries: 1,
            players: false,
            max_servers: 16_384,
            round_limit: Millis::seconds(120),
            watch: None,
        }
    }
}
