//! Capture the flag: red against blue for each other's flag.

use crate::bg::GameType;
use crate::game::deathmatch::{
    context::Context, matches::exit_rules::capturelimit, mode::Mode, modes::ModeRow,
    modes::free_for_all, systems::Fight, systems::ModeHooks,
};
use crate::model::ClientNum;

pub(super) const ROW: ModeRow = ModeRow {
    mode: Mode {
        game_type: GameType::CaptureTheFlag,
        enough_players: |present| present.red > 0 && present.blue > 0,
        score_limit: capturelimit,
        ..free_for_all::MODE
    },
    hooks: ModeHooks { kill_bonus, ..ModeHooks::NONE },
};

fn kill_bonus(cx: &mut Context<'_>, fight: &mut Fight, victim: ClientNum, killer: ClientNum) {
    let Fight { team_state, match_state, combat, .. } = fight;
    team_state.add_frag_bonus(cx, match_state, combat, [victim, killer]);
}
