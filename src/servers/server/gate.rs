//! Gate to the game: its entries, and what follows from them for the server.
//!
//! Invariant: after a fault no entry of the game is called until a level starts with a new game.
//! Source: Quake III protocol 68, dropping and shutdown. Engine names: `VM_Call`, `SV_DropClient`, `SV_Shutdown`, `ERR_DROP`.

use super::{core::Core, game_faults::LEVEL_ENDED, state::Server};
use crate::{
    game::{ConnectError, Game, GameFault, Host},
    model::{ClientNum, text},
    observe::Counter,
    serving::connection::disconnect_all,
    settings::GameCode,
};

/// Longest logged line of a fault, and most lines, since the game chooses them.
const MAX_LOGGED_LINE: usize = 500;
const MAX_LOGGED_DETAILS: usize = 32;

impl Server {
    /// Calls an entry of the game. Returns `None` if the game faults, or has faulted in this level.
    pub(super) fn enter_game<T>(
        &mut self,
        entry: impl FnOnce(&mut dyn Game, &mut dyn Host) -> Result<T, GameFault>,
    ) -> Option<T> {
        if self.faults.has_ended_level {
            return None;
        }
        let code = self.game.code();
        match entry(&mut *self.game, &mut self.core.host(code)) {
            Ok(result) => Some(result),
            Err(fault) => {
                self.faults.has_ended_level = true;
                end_level(&mut self.core, &fault);
                None
            }
        }
    }

    /// Disconnects all clients with `reason` and ends.
    pub(super) fn stop(&mut self, reason: &str) {
        if self.finished {
            return;
        }
        self.core.recordings.end_all();
        disconnect_all(self, reason);
        let (mut connections, _, announcer) = self.core.services();
        announcer.announce_shutdown(&mut connections);
        self.enter_game(|game, host| game.shutdown(host, false));
        self.finished = true;
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

/// Ends the level of a game module that takes over a second in each frame, as a fault does.
pub(super) fn end_slow_game(server: &mut Server) {
    if server.faults.has_ended_level || server.game.code() == GameCode::Native {
        return;
    }
    let mut fault =
        GameFault::new("game module too slow: over a second in each frame for ten seconds");
    fault.details.extend(server.game.load_note());
    server.faults.has_ended_level = true;
    end_level(&mut server.core, &fault);
}

/// Logs a fault and tells clients that the level has ended.
fn end_level(core: &mut Core, fault: &GameFault) {
    core.stats.bump(Counter::GameFaults);
    core.level.restart_at = None;
    let shown = |line: &str| text::escaped(text::truncated(line, MAX_LOGGED_LINE).as_bytes());
    let mut entry = format!("map {}: game fault: {}", core.level.map, shown(&fault.summary));
    for line in fault.details.iter().take(MAX_LOGGED_DETAILS) {
        entry.push_str("; ");
        entry.push_str(&shown(line));
    }
    log::error!("{entry}");
    core.audience().send_to_all("print \"Game fault: the level has ended\n\"\n");
}
