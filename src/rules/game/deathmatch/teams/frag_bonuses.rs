//! Bonus score for kills that defend a flag or its carrier.
//!
//! Source: the base game's frag bonuses.
//!
//! Engine names: `Team_FragBonuses`, `Team_CheckHurtCarrier`.

use crate::bg::{Persistent, entity_flag};
use crate::game::FlagAction;
use crate::game::deathmatch::teams::{TeamState, announce_action, position_of, within};
use crate::game::deathmatch::{
    combat::Combat, context::Context, flag::flag_of, matches::MatchState,
};
use crate::model::{ClientNum, Vec3};

/// Bonus points for a frag.
const CARRIER: i32 = 2;
const DANGER: i32 = 2;
const NEAR_FLAG: i32 = 1;
const NEAR_CARRIER: i32 = 1;
/// Time for which a player who hurt a flag carrier endangers it, in ms.
const DANGER_MS: i32 = 8000;
/// Radius around a flag or its carrier that counts as near, in units.
const NEAR: f32 = 1000.0;

impl TeamState {
    /// Records that a player hurt an enemy who carries the flag of the player's team.
    pub(crate) fn record_carrier_hurt(
        &mut self,
        cx: &mut Context<'_>,
        victim: ClientNum,
        attacker: ClientNum,
    ) {
        let [one, other] = [victim, attacker].map(|client| cx.clients.role(client).color());
        let (Some(victims), Some(attackers)) = (one, other) else { return };
        if victims != attackers && cx.has_powerup(victim, flag_of(attackers).powerup) {
            self.assists[attacker.index()].hurt_carrier_at = Some(cx.clients.now);
        }
    }
}

fn sees(cx: &Context<'_>, from: Vec3, to: Vec3) -> bool {
    cx.host.world().is_none_or(|world| world.bsp().sees(from, to, Some(world.areas())))
}

/// Whether one of two players is near a position and in sight of it.
fn guards(cx: &Context<'_>, players: [ClientNum; 2], position: Option<Vec3>) -> bool {
    let Some(position) = position else { return false };
    let mut places = players.into_iter().map(|client| position_of(cx, client));
    places.any(|at| (at - position).length() < NEAR && sees(cx, position, at))
}

/// Whether a kill protects a flag carrier of the killer's team.
fn guards_carrier(
    cx: &Context<'_>,
    [victim, killer]: [ClientNum; 2],
    carrier: ClientNum,
    flag: Option<Vec3>,
) -> bool {
    let carrier = position_of(cx, carrier);
    if !cx.clients.ruleset.scoring.guards_carriers_by_killer {
        return guards(cx, [victim, killer], Some(carrier));
    }
    // OpenArena overwrites the victim's distance by the killer's, and keeps that from the killer to the flag.
    let [dead, alive] = [victim, killer].map(|client| position_of(cx, client));
    (alive - carrier).length() < NEAR && sees(cx, carrier, dead)
        || flag.is_some_and(|flag| (alive - flag).length() < NEAR) && sees(cx, carrier, alive)
}

impl TeamState {
    /// Adds the team bonus for a kill. Must run while the victim still carries its flag.
    pub(crate) fn add_frag_bonus(
        &mut self,
        cx: &mut Context<'_>,
        matches: &mut MatchState,
        combat: &mut Combat,
        [victim, killer]: [ClientNum; 2],
    ) {
        let [one, other] = [victim, killer].map(|client| cx.clients.role(client).color());
        let (Some(victims), Some(killers)) = (one, other) else { return };
        if victims == killers {
            return;
        }
        let now = cx.clients.now;
        let at = position_of(cx, victim);
        let [own_flag, prize] = [killers, victims].map(|color| flag_of(color).powerup);
        if cx.has_powerup(victim, own_flag) {
            self.assists[killer.index()].fragged_carrier_at = Some(now);
            matches.add_score(cx, killer, CARRIER, at);
            announce_action(cx, killer, victims, FlagAction::CarrierFragged);
            // The former carrier is no longer in danger.
            for client in ClientNum::all() {
                if cx.clients.role(client).color() == Some(killers) {
                    self.assists[client.index()].hurt_carrier_at = None;
                }
            }
            return;
        }
        let danger = within(self.assists[victim.index()].hurt_carrier_at, now, DANGER_MS);
        let for_carriers = cx.clients.ruleset.scoring.rewards_endangered_carriers;
        let points = if danger && (for_carriers || !cx.has_powerup(killer, prize)) {
            self.assists[victim.index()].hurt_carrier_at = None;
            DANGER
        } else {
            let flag = cx.entities.flag_base(killers);
            let mut team = cx.clients.team_of(killers);
            let carrier = team.find(|&mate| mate != killer && cx.has_powerup(mate, prize));
            if guards(cx, [victim, killer], flag) {
                NEAR_FLAG
            } else if carrier
                .is_some_and(|carrier| guards_carrier(cx, [victim, killer], carrier, flag))
            {
                NEAR_CARRIER
            } else {
                return;
            }
        };
        matches.add_score(cx, killer, points, at);
        combat.award(cx, matches, killer, entity_flag::AWARD_DEFEND, Persistent::Defend);
    }
}
