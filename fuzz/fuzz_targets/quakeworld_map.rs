//! QuakeWorld maps: what loads is traced through, seen through and walked on.
#![no_main]

use fragd::{
    bsp29::{Bsp29, HullSize, LeafSet},
    model::Vec3,
    qwgame::movement::{
        MoveCommand, MoveKind, MoveState, MoveVars, Scene, SolidEntity, player_move,
    },
};
use libfuzzer_sys::fuzz_target;

const KINDS: [MoveKind; 3] = [MoveKind::Normal, MoveKind::Fly, MoveKind::Spectator];

fuzz_target!(|data: &[u8]| {
    let Ok(map) = Bsp29::load(data) else { return };
    let _ = map.entities();
    let mut set = LeafSet::default();
    for n in 0..16_i16 {
        let at = |k: i16| f32::from(n.wrapping_mul(k) % 256);
        let (start, end) =
            (Vec3::new(at(37), at(101), at(211)), Vec3::new(at(307), at(401), at(503)));
        for model in 0..map.models().len().min(8) {
            for size in [HullSize::Point, HullSize::Player, HullSize::Large] {
                let hull = map.hull(model, size);
                let trace = hull.trace(start, end);
                assert!((0.0..=1.0).contains(&trace.fraction), "{trace:?}");
                let _ = hull.contents_at(trace.end);
            }
        }
        let leaf = map.leaf_at(start);
        let _ = map.visibility().pvs(leaf).contains(map.leaf_at(end));
        let _ = map.visibility().phs(leaf).contains(map.leaf_at(end));
        map.fat_pvs(start, 8.0, &mut set);
        let entities =
            [SolidEntity::model(usize::from(n.unsigned_abs()) % 4, end), SolidEntity::player(end)];
        let scene = Scene { map: &map, entities: &entities };
        let kind = KINDS[usize::from(n.unsigned_abs()) % 3];
        let mut state = MoveState { origin: start, velocity: end, kind, ..MoveState::default() };
        let command = MoveCommand {
            angles: [n * 900, n * 2000, 0],
            moves: [400, n * 20, -n],
            buttons: n as u8 & 3,
            msec: 50,
        };
        let _ = player_move(&scene, &MoveVars::default(), &mut state, &command);
    }
});
