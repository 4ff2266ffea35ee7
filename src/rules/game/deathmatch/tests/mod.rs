//! Deathmatch tests through the game interface, on a level of boxes.

use super::*;
use crate::game::conformance;
use crate::game::deathmatch::damage::damage_player;
use crate::game::movement::HEALTH;

mod events;
mod hazards;
mod movers;
mod obstacles;
pub(crate) mod room;
mod spawning;
mod targets;
mod test_level;
mod triggers;

#[test]
fn deathmatch_conforms() {
    for variant in PmoveVariant::ALL {
        conformance::check(|| Box::new(Deathmatch::moving_as(variant)));
    }
}

#[test]
fn god_mode_and_noclip_prevent_damage() {
    let mut host = conformance::TestHost::of_ruleset(Ruleset::BASEQ3);
    host.set_setting("sv_cheats", "1");
    let mut game = Deathmatch::new(Ruleset::BASEQ3);
    game.init(&mut host, LevelStart { time: LevelTime(1000), seed: 1, restart: false })
        .expect("no fault");
    let client = ClientNum::new(0).expect("a client number");
    host.userinfos[0] = "\\name\\alpha".to_owned();
    game.client_connect(&mut host, client, true, false).expect("room");
    game.client_begin(&mut host, client).expect("no fault");
    let mut health_after = |line: &str| {
        game.client_command(&mut host, client, &CommandArgs::parse(line)).expect("no fault");
        game.with(&mut host, |cx, sys| {
            damage_player(
                cx,
                &mut sys.fight,
                client,
                &hit::Hit::by_world(10, crate::bg::MeansOfDeath::Lava),
            )
        });
        Game::player(&game, client).stats[HEALTH]
    };
    let healths = ["god", "god", "noclip", "noclip"].map(&mut health_after);
    assert_eq!(healths, [125, 115, 115, 105]);
}
