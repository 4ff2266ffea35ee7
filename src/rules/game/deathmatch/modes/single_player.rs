//! Single player: free for all without a warm-up. No server selects it.

use super::{Mode, free_for_all};
use crate::bg::GameType;

pub(super) const MODE: Mode =
    Mode { game_type: GameType::SinglePlayer, has_warmup: false, ..free_for_all::MODE };
