//! Lag compensation of hitscan weapons: a shot traces against earlier positions of the other players.
//!
//! Positions of the last 800 ms are kept by player. A shot moves the others to a time between two of them,
//! and back. Without `g_delagHitscan` the time is that of the previous frame, plus the delay of the usercmd
//! within its frame; with it, and if the client asks for it, the time that the client saw.
//!
//! Invariants: after a shot, every player that survived it is where it was; a player who dies is moved
//! back first. Source: OpenArena's lag compensation.
//!
//! Engine names: `G_TimeShiftAllClients`, `G_StoreHistory`, `cg_delag`.

mod history;
mod recent_positions;

use self::{
    history::{History, PlayerPosition},
    recent_positions::{RecentPositions, ShotTargets},
};
use super::{context::Context, projectiles::aim::ShotCone};
use crate::bg::Weapon;
use crate::game::{clients::Player, settings::key, userinfo::PlayerUserinfo};
use crate::model::{
    ClientNum, ClientSet, LevelTime, Millis, Vec3, limits::MAX_CLIENTS, text::atoi,
};

/// Bit of `cg_delag` that selects all weapons.
const ALL_WEAPONS: i32 = 1;
/// Bits of `cg_delag` by weapon number.
const WEAPON_BITS: [i32; 14] = [0, 0, 2, 4, 0, 0, 8, 16, 0, 0, 0, 32, 0, 64];
/// Maximum correction of the time by `cg_cmdTimeNudge`, in ms.
const MAX_NUDGE_MS: i32 = 999;
/// Time that `cg_cmdTimeNudge` may reach back beyond the measured ping, in ms: two snapshot intervals.
const NUDGE_SLACK_MS: i32 = 100;
/// Lag that the lightning gun keeps with `g_lagLightning`, in ms.
const LIGHTNING_HANDICAP_MS: i32 = 50;

/// Positions of all players.
#[derive(Debug)]
pub(crate) struct LagCompensation {
    players: Vec<History>,
    recent: RecentPositions,
    /// Players whose link is that of their position now: not moved since a shot linked them.
    settled: ClientSet,
    /// Players to link again after the shot.
    shifted: ClientSet,
    /// Positions of those among them who were moved, in ascending order.
    moved_from: Vec<(ClientNum, PlayerPosition)>,
    /// Server clock at the start of the current frame.
    frame_started: Millis,
}

impl Default for LagCompensation {
    fn default() -> Self {
        Self {
            players: vec![History::default(); MAX_CLIENTS],
            recent: RecentPositions::default(),
            settled: ClientSet::default(),
            shifted: ClientSet::default(),
            moved_from: Vec::with_capacity(MAX_CLIENTS),
            frame_started: Millis::default(),
        }
    }
}

fn position_of(cx: &Context<'_>, client: ClientNum) -> Option<PlayerPosition> {
    let player = cx.clients.player(client)?;
    let shared = &player.shared;
    let origin = player.entity.pos.base.truncated();
    Some(PlayerPosition { at: cx.clients.now, origin, mins: shared.mins, maxs: shared.maxs })
}

impl LagCompensation {
    /// Notes the start of a frame.
    pub(crate) fn begin_frame(&mut self, cx: &Context<'_>) {
        self.frame_started = cx.host.clock();
    }

    /// Forgets the positions of a player who spawns or teleports.
    pub(crate) fn reset(&mut self, cx: &Context<'_>, client: ClientNum) {
        let position = position_of(cx, client).unwrap_or_default();
        self.players[client.index()].reset(position);
        self.recent.reset(client, position.at, position.origin);
        self.settled.remove(client);
        self.take_shifted(client);
    }

    /// Removes a player from those to link again. Returns whether it was one, and its position if it was moved.
    fn take_shifted(&mut self, client: ClientNum) -> Option<Option<PlayerPosition>> {
        if !self.shifted.contains(client) {
            return None;
        }
        self.shifted.remove(client);
        let moved = self.moved_from.iter().position(|&(moved, _)| moved == client);
        Some(moved.map(|index| self.moved_from.remove(index).1))
    }

    /// Stores the position of a player at the end of a frame.
    pub(crate) fn store(&mut self, cx: &Context<'_>, client: ClientNum) {
        let Some(position) = position_of(cx, client) else { return };
        self.players[client.index()].store(position);
        if let Some(player) = cx.clients.player(client) {
            self.recent.store(client, position.at, position.origin, &player.shared);
        }
    }

    /// Notes that a player moved, and that its link is not that of its position.
    pub(crate) const fn record_move(&mut self, client: ClientNum) {
        self.settled.remove(client);
    }

    /// Moves all players but the shooter to the time of a shot. `attack_time` is that of the usercmd.
    ///
    /// A player whom the shot cannot meet, neither at the earlier position nor at its own, stays. It is linked again
    /// after the shot as the others are, because the order of links decides the order of later damage.
    pub(crate) fn shift(
        &mut self,
        cx: &mut Context<'_>,
        shooter: ClientNum,
        attack_time: i32,
        cone: &ShotCone,
    ) {
        let Some(player) = cx.clients.player(shooter) else { return };
        if player.is_bot {
            return;
        }
        let now = cx.clients.now;
        let wanted = full_compensation(cx, shooter, player.entity.weapon);
        let at = match wanted {
            Some(nudge) => {
                let attack = LevelTime(attack_time);
                let asked = LevelTime(attack_time.saturating_add(nudge));
                // The client's own number reaches no farther back than its line explains.
                let reach = player.ping_ms.clamp(0, MAX_NUDGE_MS) + NUDGE_SLACK_MS;
                let earliest = now - reach;
                let earliest = if earliest.distance(attack) > 0 { attack } else { earliest };
                if asked.distance(earliest) < 0 { earliest } else { asked }
            }
            None => {
                let since = cx.host.clock().0.saturating_sub(self.frame_started.0);
                now - cx.frame.ms + i32::try_from(since).unwrap_or(i32::MAX).min(cx.frame.ms)
            }
        };
        let at = if at.distance(now) > 0 { now } else { at };
        for client in ClientSet::ALL.without(self.settled).iter() {
            if let Some(player) = cx.clients.player(client) {
                self.recent.record_move(client, &player.shared);
            }
        }
        let ShotTargets { mut compensated, mut near } = self.recent.targets(cone, at);
        compensated.remove(shooter);
        near.remove(shooter);
        debug_assert!(compensated.iter().all(|client| self.knows_origin(cx, client)));
        // A sphere deflects a shot in any direction.
        let is_straight = !near.iter().any(|client| cx.is_invulnerable(client));
        let moved = if is_straight { near } else { compensated };
        for client in moved.iter() {
            let Some(moment) = self.players[client.index()].moment(at) else { continue };
            let Some(player) = cx.clients.players[client.index()].as_mut() else { continue };
            let shared = &mut player.shared;
            if !shared.is_linked() {
                continue;
            }
            let position = PlayerPosition {
                at: now,
                origin: shared.current_origin,
                mins: shared.mins,
                maxs: shared.maxs,
            };
            self.moved_from.push((client, position));
            (shared.current_origin, shared.mins, shared.maxs) =
                (moment.origin(), moment.mins(), moment.maxs());
            cx.host.link_entity(&mut player.entity, &mut player.shared);
        }
        self.shifted = compensated;
    }

    /// Whether the recent positions of a player, if it is linked, contain its origin now.
    fn knows_origin(&self, cx: &Context<'_>, client: ClientNum) -> bool {
        cx.clients.player(client).is_none_or(|Player { shared, .. }| {
            !shared.is_linked() || self.recent.contains(client, shared)
        })
    }

    /// Moves a player back to its own time, before the shot has ended.
    pub(crate) fn restore(&mut self, cx: &mut Context<'_>, client: ClientNum) {
        if let Some(moved_from) = self.take_shifted(client) {
            restore(cx, client, moved_from);
        }
    }

    /// Moves all players back to their own time, and links them again in ascending order.
    pub(crate) fn restore_all(&mut self, cx: &mut Context<'_>) {
        for (client, position) in self.moved_from.drain(..) {
            restore(cx, client, Some(position));
        }
        let shifted = std::mem::take(&mut self.shifted);
        for client in shifted.without(self.settled).iter() {
            restore(cx, client, None);
        }
        debug_assert!(shifted.iter().all(|client| is_linked_here(cx, client)));
        cx.host.relink_settled(shifted);
        self.settled = self.settled.with(shifted);
    }
}

/// Whether the link of a player, if it is linked, is that of its position now.
fn is_linked_here(cx: &Context<'_>, client: ClientNum) -> bool {
    cx.clients.player(client).is_none_or(|Player { shared, .. }| {
        let mins = shared.current_origin + shared.mins - Vec3([1.0; 3]);
        let maxs = shared.current_origin + shared.maxs + Vec3([1.0; 3]);
        !shared.is_linked() || (shared.absmin, shared.absmax) == (mins, maxs)
    })
}

/// Links a player again after a shot, at its position before the shot if it was moved.
fn restore(cx: &mut Context<'_>, client: ClientNum, moved_from: Option<PlayerPosition>) {
    let Some(player) = cx.clients.players[client.index()].as_mut() else { return };
    let shared = &mut player.shared;
    if let Some(position) = moved_from {
        (shared.current_origin, shared.mins, shared.maxs) =
            (position.origin, position.mins, position.maxs);
    }
    if shared.is_linked() {
        cx.host.link_entity(&mut player.entity, shared);
    }
}

/// Returns the client's time correction in ms, if it gets full compensation for a weapon.
fn full_compensation(cx: &Context<'_>, client: ClientNum, weapon: i32) -> Option<i32> {
    if !cx.host.settings().flag(key::G_DELAG_HITSCAN) {
        return None;
    }
    let info = PlayerUserinfo::parse(cx.host.userinfo(client))?;
    let asked = atoi(info.value("cg_delag"));
    let bit = usize::try_from(weapon).ok().and_then(|weapon| WEAPON_BITS.get(weapon).copied());
    let nudge = atoi(info.value("cg_cmdTimeNudge")).clamp(-MAX_NUDGE_MS, MAX_NUDGE_MS);
    let handicap = if weapon == Weapon::Lightning && cx.host.settings().flag(key::G_LAG_LIGHTNING) {
        LIGHTNING_HANDICAP_MS
    } else {
        0
    };
    (asked & (ALL_WEAPONS | bit.unwrap_or(0)) != 0).then_some(nudge + handicap)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bg::Weapon;
    use crate::game::{Ruleset, deathmatch::tests::room::TestRoom};

    /// Whether a shot with this `cg_cmdTimeNudge` meets a player where it was 400 ms ago.
    fn nudged_shot_hits(nudge_ms: i32, ping_ms: i32) -> bool {
        let mut room = TestRoom::with(Ruleset::BASEOA, &[], &[("g_delagHitscan", "1")]);
        let one = room.join(0, 0.0, 0.0, 0.0);
        let other = room.join(1, 500.0, -400.0, 0.0);
        room.host.userinfos[0].push_str(&format!("\\cg_delag\\1\\cg_cmdTimeNudge\\{nudge_ms}"));
        room.arm(one, Weapon::Railgun, 10);
        for step in 1..=12 {
            room.move_to(other, Vec3::new(500.0, -400.0 + 100.0 * step as f32, 24.125), Vec3::ZERO);
            room.frame();
        }
        let before = room.health(other);
        room.player(one).ping_ms = ping_ms;
        let now = room.now.0;
        room.player(one).command.server_time = now;
        room.player(one).state.command_time = now - 50;
        room.think(one, crate::model::Buttons::ATTACK);
        room.health(other) < before
    }

    #[test]
    fn nudge_reaches_back_by_ping_and_100_ms() {
        for (nudge_ms, ping_ms, hit) in [
            (-400, 300, true),
            (-400, 999, true),
            (-400, 0, false),
            (-400, 250, false),
            (-850, 50, false),
            (-850, 300, true),
        ] {
            assert_eq!(nudged_shot_hits(nudge_ms, ping_ms), hit, "{nudge_ms} {ping_ms}");
        }
    }

    /// Fires a weapon at the position where a moving player was `back_ms` ago. Returns whether it hit.
    fn hits(
        ruleset: &'static Ruleset,
        weapon: Weapon,
        settings: &[(&str, &str)],
        back_ms: i32,
    ) -> bool {
        let mut room = TestRoom::with(ruleset, &[], settings);
        let one = room.join(0, 0.0, 0.0, 0.0);
        let other = room.join(1, 500.0, -400.0, 0.0);
        room.host.userinfos[0].push_str("\\cg_delag\\1");
        room.arm(one, weapon, 10);
        // 100 units per frame along y; at y = 0 after the fourth frame.
        for step in 1..=4 + back_ms / 50 {
            room.move_to(other, Vec3::new(500.0, -400.0 + 100.0 * step as f32, 24.125), Vec3::ZERO);
            room.frame();
        }
        let before = room.health(other);
        room.player(one).command.server_time = room.now.0 - back_ms;
        let now = room.now.0;
        room.player(one).state.command_time = now - back_ms - 50;
        room.think(one, crate::model::Buttons::ATTACK);
        let position = room.player(other).shared.current_origin;
        assert_eq!(position[1], -400.0 + 100.0 * (4 + back_ms / 50) as f32, "moved back");
        room.health(other) < before
    }

    #[test]
    fn hitscan_meets_players_in_the_past() {
        for (ruleset, delag, back_ms, hit) in [
            (Ruleset::BASEOA, "0", 0, false),
            (Ruleset::BASEOA, "0", 50, true),
            (Ruleset::BASEOA, "0", 200, false),
            (Ruleset::BASEOA, "1", 0, true),
            (Ruleset::BASEOA, "1", 200, true),
            (Ruleset::BASEQ3, "0", 0, true),
            (Ruleset::BASEQ3, "0", 50, false),
        ] {
            let hits = hits(ruleset, Weapon::Railgun, &[("g_delagHitscan", delag)], back_ms);
            assert_eq!(hits, hit, "{} {delag} {back_ms}", ruleset.folder);
        }
    }

    #[test]
    fn lightning_gun_keeps_50_ms_of_lag() {
        for (lag, back_ms, hit) in
            [("1", 200, false), ("1", 250, false), ("0", 200, true), ("0", 150, true)]
        {
            let settings = [("g_delagHitscan", "1"), ("g_lagLightning", lag)];
            let hits = hits(Ruleset::BASEOA, Weapon::Lightning, &settings, back_ms);
            assert_eq!(hits, hit, "{lag} {back_ms}");
        }
    }

    #[test]
    fn player_killed_in_the_past_lies_in_the_present() {
        let mut room = TestRoom::with(Ruleset::BASEOA, &[], &[]);
        let one = room.join(0, 0.0, 0.0, 0.0);
        let other = room.join(1, 500.0, 0.0, 0.0);
        room.arm(one, Weapon::Railgun, 10);
        room.frame();
        room.frame();
        room.player(other).state.stats[0] = 1;
        room.move_to(other, Vec3::new(500.0, 300.0, 24.125), Vec3::ZERO);
        room.frame();
        room.fire(one);
        assert!(room.health(other) <= 0);
        let body = room.player(other).shared;
        assert_eq!((body.current_origin[1], body.maxs[2]), (300.0, -8.0));
    }

    #[test]
    fn teleport_forgets_earlier_positions() {
        let mut room = TestRoom::with(Ruleset::BASEOA, &[], &[]);
        let one = room.join(0, 0.0, 0.0, 0.0);
        let other = room.join(1, 500.0, 0.0, 0.0);
        room.arm(one, Weapon::Railgun, 10);
        room.frame();
        room.frame();
        let to = [Vec3::new(500.0, 300.0, 24.125), Vec3::ZERO];
        room.game.teleport(&mut room.host, other, to);
        let before = room.health(other);
        room.fire(one);
        assert_eq!(room.health(other), before, "not where it was");
    }
}
