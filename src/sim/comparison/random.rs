//! Random plays: seeded input of several players.

use super::play::{Keys, Play, PlayAction};
use crate::{
    impairment::SeededRng,
    model::{Buttons, UserCmd},
};

/// Time between two changes of input, in ms.
const CHANGE_MS: u32 = 100;

/// Returns a play of seeded random input on a map; an empty name means an arena without boxes.
#[must_use]
pub fn random_play(seed: u64, map: &str, players: usize, seconds: u32) -> Play {
    let mut rng = SeededRng::new(seed);
    let mut play = Play {
        name: format!("random {seed}"),
        source: format!("random {seed} {map} {players} {seconds}\n"),
        about: "Seeded random input".to_owned(),
        map: map.to_owned(),
        luck: rng.below(0x8000) as u16,
        ends_at_rounding: true,
        ..Play::default()
    };
    // A module gives the excellent award for any frag in the first 3000 ms, e.g. to a player that spawns in another.
    play.wait(3500);
    for _ in 0..players {
        play.actions.push(PlayAction::Join(Vec::new()));
        play.wait(300);
    }
    for client in 0..players {
        play.actions.push(PlayAction::Command(client, "give all".to_owned()));
    }
    play.wait(200);
    // Loading takes longer on the side with more configstrings.
    play.actions.push(PlayAction::Begin);
    for _ in 0..seconds.saturating_mul(1000 / CHANGE_MS) {
        for client in 0..players {
            if rng.below(4) == 0 {
                play.actions.push(PlayAction::Keys(client, random_keys(&mut rng)));
            }
        }
        play.wait(CHANGE_MS);
    }
    play
}

fn random_keys(rng: &mut SeededRng) -> Keys {
    let mut way = |stays| match rng.below(stays) {
        0 => -127,
        1 | 2 => 127,
        _ => 0,
    };
    let (forwardmove, rightmove, upmove) = (way(5), way(6), way(9));
    let buttons = match rng.below(8) {
        0..=2 => Buttons::ATTACK,
        3 => Buttons::WALKING,
        4 => Buttons::USE_HOLDABLE,
        _ => Buttons::default(),
    };
    let weapon = 1 + rng.below(9) as u8;
    let view = Some([rng.below(120) as f32 - 60.0, rng.below(360) as f32]);
    let input = UserCmd { buttons, weapon, forwardmove, rightmove, upmove, ..UserCmd::default() };
    Keys { input, view }
}
