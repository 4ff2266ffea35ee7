//! Game faults: the level ends, connections stay, and `sv_gameFault` selects what follows.
//!
//! Invariants: after a fault no entry of the game is called until a level starts with a new game.
//! Faults restart three levels a minute at most, so clients that can cause them cost bounded work.
//! Engine names: `ERR_DROP`, `Com_Error`.

use std::collections::VecDeque;

use super::{Server, core::Core, disconnect};
use crate::{
    game::{ConnectError, Game, GameFault, Host},
    model::{ClientNum, Millis, text},
    observe::Counter,
    settings::{GameFaultPolicy, key},
};

/// Restarts after faults in [`RESTART_PERIOD`]. Further ones wait until the oldest is that old.
const MAX_RESTARTS: usize = 3;
const RESTART_PERIOD: Millis = Millis::seconds(60);
/// Longest logged line of a fault, and most lines, since the game chooses them.
const MAX_LOGGED_LINE: usize = 500;
const MAX_LOGGED_DETAILS: usize = 32;
/// Refusal while no game runs.
pub(super) const LEVEL_ENDED: &str = "The level has ended. Try again.";

/// Whether the game has faulted in this level, and the restarts after earlier faults.
#[derive(Debug, Default)]
pub(super) struct GameFaults {
    has_ended_level: bool,
    /// Whether the fallback rules run, until another map is loaded.
    uses_fallback: bool,
    /// Whether the next level needs a new game, although the last one has not faulted.
    game_is_outdated: bool,
    restarts: VecDeque<Millis>,
}

impl GameFaults {
    /// Whether a fault has ended the level.
    pub(super) fn has_ended_level(&self) -> bool {
        self.has_ended_level
    }

    /// Whether the fallback rules replace the chosen ones.
    pub(super) fn uses_fallback(&self) -> bool {
        self.uses_fallback
    }

    /// Chooses the rules for another map: the fallback rules end.
    pub(super) fn begin_map(&mut self) {
        self.game_is_outdated |= std::mem::take(&mut self.uses_fallback);
    }

    /// Begins a level. Returns whether it needs a new game: a fault ended the level before, or other rules
    /// begin.
    pub(super) fn begin_level(&mut self) -> bool {
        let is_outdated = std::mem::take(&mut self.game_is_outdated);
        std::mem::take(&mut self.has_ended_level) || is_outdated
    }

    /// Whether the level may restart now. If so, counts the restart.
    fn admits_restart(&mut self, now: Millis) -> bool {
        if self.restarts.len() == MAX_RESTARTS {
            if self.restarts.front().is_some_and(|&oldest| now.since(oldest) < RESTART_PERIOD) {
                return false;
            }
            self.restarts.pop_front();
        }
        self.restarts.push_back(now);
        true
    }
}

impl Server {
    /// Calls an entry of the game. Returns `None` if the game faults, or has faulted in this level.
    pub(super) fn enter_game<T>(
        &mut self,
        entry: impl FnOnce(&mut dyn Game, &mut dyn Host) -> Result<T, GameFault>,
    ) -> Option<T> {
        if self.faults.has_ended_level {
            return None;
        }
        match entry(&mut *self.game, &mut self.core) {
            Ok(result) => Some(result),
            Err(fault) => {
                self.faults.has_ended_level = true;
                self.core.end_level(&fault);
                None
            }
        }
    }
}

/// Connects a client to the game. A client that stays over a fault is connected to the next level.
///
/// # Errors
/// The refusal text sent to the client.
pub(super) fn connect_to_game(
    server: &mut Server,
    number: ClientNum,
    first_time: bool,
) -> Result<(), String> {
    let answer = server.enter_game(|game, host| {
        match game.client_connect(host, number, first_time, false) {
            Ok(()) => Ok(Ok(())),
            Err(ConnectError::Refused(reason)) => Ok(Err(reason)),
            Err(ConnectError::Fault(fault)) => Err(fault),
        }
    });
    match answer {
        Some(answer) => answer,
        None if first_time => Err(LEVEL_ENDED.to_owned()),
        None => Ok(()),
    }
}

/// Restarts a level that a fault has ended, changes the rules or stops the server, as `sv_gameFault` selects.
pub(super) fn continue_after_fault(server: &mut Server) {
    if !server.faults.has_ended_level {
        return;
    }
    let now = server.core.now;
    match server.core.settings.choice(key::SV_GAME_FAULT) {
        GameFaultPolicy::Stop => disconnect::stop(server, "Server stopped: game fault"),
        _ if server.faults.admits_restart(now) => server.reload_level(),
        GameFaultPolicy::Native if server.fallback.is_some() && !server.faults.uses_fallback => {
            let map = &server.core.level.map;
            log::warn!("map {map}: rules of the program replace the game until the next map");
            server.faults.uses_fallback = true;
            server.reload_level();
        }
        GameFaultPolicy::Native | GameFaultPolicy::Restart => {}
    }
}

impl Core {
    /// Logs a fault and tells clients that the level has ended.
    fn end_level(&mut self, fault: &GameFault) {
        self.stats.bump(Counter::GameFaults);
        self.level.restart_at = None;
        let shown = |line: &str| text::escaped(text::truncated(line, MAX_LOGGED_LINE).as_bytes());
        let mut entry = format!("map {}: game fault: {}", self.level.map, shown(&fault.summary));
        for line in fault.details.iter().take(MAX_LOGGED_DETAILS) {
            entry.push_str("; ");
            entry.push_str(&shown(line));
        }
        log::error!("{entry}");
        self.send_reliable_to_all("print \"Game fault: the level has ended\n\"\n");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fourth_restart_within_a_minute_waits() {
        let mut faults = GameFaults::default();
        let at = [0, 1, 2, 3, 59, 60, 60, 61].map(|at| faults.admits_restart(Millis::seconds(at)));
        assert_eq!(at, [true, true, true, false, false, true, false, true]);
    }
}
