//! Single player: free for all without a warm-up. No server selects it.

use crate::bg::GameType;
use crate::game::deathmatch::{
    mode::Mode, modes::ModeRow, modes::free_for_all, systems::ModeHooks,
};

pub(super) const ROW: ModeRow = ModeRow {
    mode: Mode { game_type: GameType::SinglePlayer, has_warmup: false, ..free_for_all::MODE },
    hooks: ModeHooks::NONE,
};
