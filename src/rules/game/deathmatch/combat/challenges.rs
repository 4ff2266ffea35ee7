//! Challenges of OpenArena: events that clients count, with a command and a log line.
//!
//! Invariants: one table decides all of them; none is fulfilled in a warm-up. Source: OpenArena 0.8.8.
//!
//! Engine names: `ChallengeMessage`, `ch`.

use crate::bg::{MeansOfDeath, Persistent, Powerup, TeamColor};
use crate::game::GameEvent;
use crate::game::deathmatch::{context::Context, matches::MatchState};
use crate::model::ClientNum;

/// Condition that fulfills a challenge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Condition {
    /// Frag of an enemy.
    Frag,
    /// Death by an enemy.
    Death,
    /// Frag with a means of death.
    With(MeansOfDeath),
    /// Frag with a means of death while every hit kills.
    InstantWith(MeansOfDeath),
    /// Frag with a powerup.
    Boosted(Powerup),
    /// Frag of an enemy with a powerup.
    Against(Powerup),
    /// Frag with at least two of the powerups above.
    BoostedTwice,
    /// Frag of an enemy with at least two of the powerups above.
    AgainstTwo,
    /// Award, by its counter.
    Award(Persistent),
}

/// Number of each challenge, in the order in which one frag fulfills them.
const CHALLENGES: [(u16, Condition); 44] = [
    // OpenArena tells a frag with the gauntlet twice.
    (201, Condition::With(MeansOfDeath::Gauntlet)),
    (201, Condition::With(MeansOfDeath::Gauntlet)),
    (202, Condition::With(MeansOfDeath::Machinegun)),
    (203, Condition::With(MeansOfDeath::Shotgun)),
    (204, Condition::With(MeansOfDeath::Grenade)),
    (204, Condition::With(MeansOfDeath::GrenadeSplash)),
    (205, Condition::With(MeansOfDeath::Rocket)),
    (205, Condition::With(MeansOfDeath::RocketSplash)),
    (206, Condition::With(MeansOfDeath::Lightning)),
    (207, Condition::With(MeansOfDeath::Plasma)),
    (207, Condition::With(MeansOfDeath::PlasmaSplash)),
    (208, Condition::With(MeansOfDeath::Railgun)),
    (215, Condition::InstantWith(MeansOfDeath::Railgun)),
    (209, Condition::With(MeansOfDeath::Bfg)),
    (209, Condition::With(MeansOfDeath::BfgSplash)),
    (210, Condition::With(MeansOfDeath::Grapple)),
    (211, Condition::With(MeansOfDeath::Chaingun)),
    (212, Condition::With(MeansOfDeath::Nail)),
    (213, Condition::With(MeansOfDeath::ProximityMine)),
    (214, Condition::With(MeansOfDeath::Slime)),
    (214, Condition::With(MeansOfDeath::Lava)),
    (214, Condition::With(MeansOfDeath::Falling)),
    (214, Condition::With(MeansOfDeath::TriggerHurt)),
    (216, Condition::With(MeansOfDeath::Telefrag)),
    (217, Condition::With(MeansOfDeath::Crush)),
    (1, Condition::Frag),
    (2, Condition::Death),
    (401, Condition::Boosted(Powerup::Quad)),
    (406, Condition::Against(Powerup::Quad)),
    (402, Condition::Boosted(Powerup::Haste)),
    (407, Condition::Against(Powerup::Haste)),
    (404, Condition::Boosted(Powerup::Invisibility)),
    (409, Condition::Against(Powerup::Invisibility)),
    (403, Condition::Boosted(Powerup::Flight)),
    (408, Condition::Against(Powerup::Flight)),
    (410, Condition::Against(Powerup::BattleSuit)),
    (411, Condition::Against(Powerup::Regeneration)),
    (412, Condition::AgainstTwo),
    (405, Condition::BoostedTwice),
    (301, Condition::Award(Persistent::Impressive)),
    (302, Condition::Award(Persistent::Excellent)),
    (303, Condition::Award(Persistent::Captures)),
    (304, Condition::Award(Persistent::Assist)),
    (305, Condition::Award(Persistent::Defend)),
];

/// Fulfills the challenges of a frag of an enemy, for both players. Bots have none.
pub(super) fn fulfill_frag_challenges(
    cx: &mut Context<'_>,
    matches: &MatchState,
    killer: ClientNum,
    victim: ClientNum,
    means: MeansOfDeath,
) {
    if [killer, victim].into_iter().any(|client| is_bot(cx, client)) {
        return;
    }
    let is_instant = cx.frame.combat.loadout.is_instagib();
    let is_special = is_instant && means == MeansOfDeath::Railgun;
    let (mut boosts, mut opposed) = (0, 0);
    for (number, condition) in CHALLENGES {
        let is_fulfilled = match condition {
            Condition::Frag | Condition::Death => true,
            Condition::With(own) => own == means && !is_special,
            Condition::InstantWith(own) => own == means && is_special,
            Condition::Boosted(powerup) => count_if(cx.has_powerup(killer, powerup), &mut boosts),
            Condition::Against(powerup) => count_if(cx.has_powerup(victim, powerup), &mut opposed),
            Condition::BoostedTwice => boosts > 1,
            Condition::AgainstTwo => opposed > 1,
            Condition::Award(_) => false,
        };
        if is_fulfilled {
            let client = if condition == Condition::Death { victim } else { killer };
            fulfill(cx, matches, client, number);
        }
    }
}

/// Fulfills the challenge of an award. A level with bots has none, nor has a capture without an enemy team.
pub(super) fn fulfill_award_challenge(
    cx: &mut Context<'_>,
    matches: &MatchState,
    client: ClientNum,
    award: Persistent,
) {
    let has_members = |color| cx.clients.team_of(color).next().is_some();
    if ClientNum::all().any(|client| is_bot(cx, client))
        || award == Persistent::Captures
            && !(has_members(TeamColor::Red) && has_members(TeamColor::Blue))
    {
        return;
    }
    for (number, condition) in CHALLENGES {
        if condition == Condition::Award(award) {
            fulfill(cx, matches, client, number);
        }
    }
}

fn is_bot(cx: &Context<'_>, client: ClientNum) -> bool {
    cx.clients.player(client).is_some_and(|player| player.is_bot)
}

/// Counts a true condition, and returns it.
fn count_if(condition: bool, count: &mut i32) -> bool {
    *count += i32::from(condition);
    condition
}

/// Tells a player that it fulfilled a challenge, and logs it.
fn fulfill(cx: &mut Context<'_>, matches: &MatchState, client: ClientNum, number: u16) {
    if !cx.clients.ruleset.scoring.has_challenges || matches.is_warmup() {
        return;
    }
    cx.host.send_command(Some(client), &format!("ch {number}"));
    cx.emit(GameEvent::Challenge { client, number });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::game::Ruleset;
    use crate::game::deathmatch::{damage::damage_player, hit::Hit, tests::room::TestRoom};

    /// Returns the challenges of a frag with a means of death, of the killer and of the victim.
    fn frag(
        ruleset: &'static Ruleset,
        settings: &[(&str, &str)],
        means: MeansOfDeath,
        powerups: [&[Powerup]; 2],
    ) -> [Vec<u16>; 2] {
        let mut room = TestRoom::with(ruleset, &[], settings);
        let players = [room.join(0, 0.0, 0.0, 0.0), room.join(1, 300.0, 0.0, 180.0)];
        for (client, powerups) in players.into_iter().zip(powerups) {
            for &powerup in powerups {
                room.player(client).state.powerups[powerup] = 99_000;
            }
        }
        room.host.logged.clear();
        let hit = Hit { attacker: Some(players[0]), ..Hit::by_world(9999, means) };
        room.game
            .with(&mut room.host, |cx, sys| damage_player(cx, &mut sys.fight, players[1], &hit));
        let told = |client| {
            let sent = room.host.sent_to(client).into_iter();
            sent.filter_map(|text| text.strip_prefix("ch ")?.parse().ok()).collect()
        };
        let told: [Vec<u16>; 2] = players.map(told);
        let lines = room.host.logged.iter().filter(|(_, line)| line.starts_with("Challenge: "));
        assert_eq!(lines.count(), told.iter().map(Vec::len).sum::<usize>());
        told
    }

    #[test]
    fn frag_fulfills_challenges_in_openarena_only() {
        let none: [&[Powerup]; 2] = [&[], &[]];
        for (means, numbers) in [
            (MeansOfDeath::Gauntlet, &[201, 201, 1][..]),
            (MeansOfDeath::RocketSplash, &[205, 1]),
            (MeansOfDeath::Railgun, &[208, 1]),
            (MeansOfDeath::Lava, &[214, 1]),
            (MeansOfDeath::Grapple, &[210, 1]),
            (MeansOfDeath::Kamikaze, &[1]),
        ] {
            let told = frag(Ruleset::BASEOA, &[], means, none);
            assert_eq!(told, [numbers.to_vec(), vec![2]], "{}", means.name());
            let told = frag(Ruleset::BASEQ3, &[], means, none);
            assert_eq!(told, [Vec::<u16>::new(), Vec::new()], "{}", means.name());
        }
        let settings = [("g_instantgib", "1")];
        let told = frag(Ruleset::BASEOA, &settings, MeansOfDeath::Railgun, none);
        assert_eq!(told, [vec![215, 1], vec![2]]);
        let warmup = [("g_doWarmup", "1"), ("g_warmup", "60")];
        let told = frag(Ruleset::BASEOA, &warmup, MeansOfDeath::Railgun, none);
        assert_eq!(told, [Vec::<u16>::new(), Vec::new()]);
    }

    #[test]
    fn powerups_of_both_players_fulfill_challenges() {
        use Powerup::{Flight, Haste, Invisibility, Quad, Regeneration};
        for (powerups, numbers) in [
            ([&[Quad][..], &[][..]], &[206, 1, 401][..]),
            ([&[], &[Regeneration]], &[206, 1, 411]),
            ([&[Haste, Flight], &[]], &[206, 1, 402, 403, 405]),
            ([&[Regeneration], &[Invisibility, Quad]], &[206, 1, 406, 409, 412]),
        ] {
            let told = frag(Ruleset::BASEOA, &[], MeansOfDeath::Lightning, powerups);
            assert_eq!(told, [numbers.to_vec(), vec![2]]);
        }
    }

    #[test]
    fn numbers_are_in_the_log() {
        let mut room = TestRoom::new(Ruleset::BASEOA);
        let one = room.join(0, 0.0, 0.0, 0.0);
        room.host.logged.clear();
        room.game.with(&mut room.host, |cx, sys| {
            sys.fight.combat.count_rail_hits(cx, &sys.fight.match_state, one, 2);
        });
        let lines: Vec<_> = room.host.logged.iter().map(|(_, line)| line.as_str()).collect();
        let expected = [
            "Award: 0 2: player0 gained the IMPRESSIVE award!",
            "Challenge: 0 301 1: Client 0 got award 301",
        ];
        assert_eq!(lines, expected);
    }
}
