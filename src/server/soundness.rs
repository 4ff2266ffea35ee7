//! What must hold inside a server between any two calls, for simulations to ask.

use std::net::SocketAddr;

use super::{Server, client::Stage};
use crate::{
    model::{
        ClientNum, EntityNum, LevelTime, Millis, Qport, ServerId, limits::MAX_RELIABLE_COMMANDS,
    },
    settings::key,
};

/// How much later than it should a slot may be freed: frames are not run at every instant.
const LATE: Millis = Millis::seconds(2);
/// Commands that may wait for a client: texts, and each configstring once.
const MAX_WAITING: usize = 256 + 1024;

impl Server {
    /// Whether everything inside fits together.
    ///
    /// # Errors
    /// What does not, in a sentence.
    pub fn soundness(&self) -> Result<(), String> {
        let core = &self.core;
        let linger = Millis::seconds(core.settings.int(key::SV_ZOMBIETIME).max(0) as u64) + LATE;
        let mut known: Vec<(SocketAddr, Qport)> = Vec::new();
        for (number, client) in core.clients.iter() {
            let outstanding = client.backlog.commands.outstanding();
            if outstanding > MAX_RELIABLE_COMMANDS + 1 {
                return Err(format!("client {number} has {outstanding} commands under way"));
            }
            let waiting = client.backlog.waiting();
            if waiting > MAX_WAITING {
                return Err(format!("client {number} has {waiting} commands waiting"));
            }
            if let Stage::Zombie { since } = client.stage {
                if core.now.since(since) > linger {
                    return Err(format!("client {number} is gone since {since}, now {}", core.now));
                }
                continue;
            }
            let who = (client.remote.address(), client.remote.qport());
            if known.contains(&who) {
                return Err(format!("{} has two slots, one is {number}", who.0));
            }
            known.push(who);
            if client.is_active() && client.gamestate.is_none() {
                return Err(format!("client {number} plays without a gamestate"));
            }
        }
        let frame = core.frames.frame(core.frame_num).unwrap_or(&[]);
        if frame.len() > EntityNum::all().count() {
            return Err(format!("{} entities in a frame", frame.len()));
        }
        Ok(())
    }

    /// Who a client is by its address; none when there is none, or it is gone.
    #[must_use]
    pub fn peer(&self, number: ClientNum) -> Option<(SocketAddr, Qport)> {
        let client = self.core.clients.get(number).filter(|client| !client.is_zombie())?;
        Some((client.remote.address(), client.remote.qport()))
    }

    /// The number of the level in force.
    #[must_use]
    pub fn server_id(&self) -> ServerId {
        self.core.level.server_id
    }

    /// What the level's clock shows.
    #[must_use]
    pub fn level_time(&self) -> LevelTime {
        self.core.level.time
    }

    /// Slots in use, those of clients that are gone included.
    #[must_use]
    pub fn used_slots(&self) -> usize {
        self.core.clients.iter().count()
    }
}
