//! State of a server: the game, and everything else beside it.
//!
//! Invariant: no file with the state of a part imports this one.

use rand_pcg::Pcg32;

use super::{
    console::{budget::ConsoleBudget, start_state::Startup, texts::ConsoleTexts},
    core::Core,
    game_code::{GameFactory, GameRequest},
    game_faults::GameFaults,
    map_loader::MapLoader,
};
use crate::{game::Game, model::Millis, serving::connection::ReceiveBuffer};

/// A dedicated server of one level at a time.
pub struct Server {
    pub(super) core: Core,
    pub(super) maps: MapLoader,
    pub(super) games: GameFactory,
    /// Rules that replace those of `games` after repeated faults.
    pub(super) fallback: Option<GameFactory>,
    pub(super) game: Box<dyn Game>,
    /// Faults of the game in this level and before.
    pub(super) faults: GameFaults,
    /// Request that the game was created for.
    pub(super) request: GameRequest,
    /// Time of the next frame; `None` before the first.
    pub(super) due: Option<Millis>,
    pub(super) finished: bool,
    pub(super) console_budget: ConsoleBudget,
    /// Console texts that run or wait.
    pub(super) texts: ConsoleTexts,
    pub(super) startup: Startup,
    /// Time of the last restart on request. At one time a level is restarted once.
    pub(super) restarted_at: Option<Millis>,
    /// Random numbers of the server. Each level of the game is seeded from them.
    pub(super) random: Pcg32,
    /// Memory of the message that is processed; none before the first.
    pub(super) receive_buffer: Option<Box<ReceiveBuffer>>,
}
