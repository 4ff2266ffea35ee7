//! Single player: free for all without a warm-up. No server selects it.

use crate::bg::GameType;
use crate::game::deathmatch::modes::{Mode, free_for_all};

pub(super) const MODE: Mode =
    Mode { game_type: GameType::SinglePlayer, has_warmup: false, ..free_for_all::MODE };
