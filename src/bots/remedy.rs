//! Remedies of refusals: settings of the server by the names of its family.
//!
//! Source: Quake III protocol 68 and QuakeWorld protocol 28, texts of refusals.

use crate::{model::limits::MAX_CLIENTS, qwgame::level::MAX_PLAYERS};

/// Server that refuses bots, and the bots.
#[derive(Clone, Copy, Debug)]
pub(super) struct RefusedBots {
    /// Number of refused bots.
    pub(super) count: usize,
    /// Whether the server is one of QuakeWorld.
    pub(super) is_quakeworld: bool,
    /// Whether the bots are spectators.
    pub(super) spectate: bool,
}

impl RefusedBots {
    /// Returns the reason of the server with its remedy, if there is one.
    pub(super) fn with_remedy(self, reason: &str) -> String {
        if reason.starts_with("Server uses protocol version") {
            let reason = reason.trim_end_matches('.');
            return format!("{reason}; set --protocol auto, or the protocol of the server");
        }
        let lower = reason.to_ascii_lowercase();
        let remedy = if lower.contains("password") {
            "set --password".to_owned()
        } else if lower.contains("too many connections") {
            "raise sv_maxclientsPerIP on the server, or name this network in sv_lanNetworks; \
             behind fragd proxy, --session-network none"
                .to_owned()
        } else if lower.contains("server is full") {
            self.more_places()
        } else {
            return reason.to_owned();
        };
        format!("{reason} ({remedy})")
    }

    /// Other clients have places too, so that the places that lack are known, but not their sum.
    fn more_places(self) -> String {
        let (setting, most) = match (self.is_quakeworld, self.spectate) {
            (false, _) => ("sv_maxclients", MAX_CLIENTS),
            (true, false) => ("maxclients", MAX_PLAYERS),
            (true, true) => ("maxspectators", MAX_PLAYERS),
        };
        format!("raise {setting} on the server by {}, to at most {most}", self.count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_have_the_name_of_the_family() {
        let refused = |is_quakeworld, spectate| RefusedBots { count: 3, is_quakeworld, spectate };
        for (family, setting) in [
            (refused(false, false), "raise sv_maxclients on the server by 3, to at most 64"),
            (refused(true, false), "raise maxclients on the server by 3, to at most 32"),
            (refused(true, true), "raise maxspectators on the server by 3, to at most 32"),
        ] {
            assert_eq!(family.with_remedy("server is full"), format!("server is full ({setting})"));
        }
    }
}
