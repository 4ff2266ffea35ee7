//! Spawn points of players and spectators.
//!
//! Source: the base game's choice of a spawn point, and OpenArena's. Engine names: `SelectSpawnPoint`,
//! `SelectRandomFurthestSpawnPoint`, `SelectCTFSpawnPoint`.

use super::context::Context;
use crate::bg::{EntityType, PmType, TeamColor, player_box};
use crate::game::{clients::Placement, movement::angles, ruleset::SpawnSelection};
use crate::model::{ClientNum, EntityNum, Vec3};
use crate::world::{MapEntities, entity_string::MapEntity};

/// Height of a spawned player above the spawn point, in units.
const SPAWN_RISE: f32 = 9.0;
/// Maximum number of spawn points of each kind; others are ignored.
const MAX_SPAWN_POINTS: usize = 128;
/// Maximum number of free team spawn points to choose from.
const MAX_TEAM_SPAWN_POINTS: usize = 32;
/// Retries when the nearest spawn point was picked.
const MAX_RETRIES: usize = 2;
/// Spawn flag of a point for the local player's first spawn.
const INITIAL: i32 = 1;

/// Spawn point of the map.
#[derive(Clone, Copy, Debug)]
pub(super) struct SpawnPoint {
    origin: Vec3,
    angles: Vec3,
    initial: bool,
    bots: bool,
    humans: bool,
    /// Entity of the spawn point; its targets fire at a spawn.
    pub(super) number: Option<EntityNum>,
}

/// All spawn points of the map.
#[derive(Clone, Debug, Default)]
pub(super) struct SpawnPoints {
    points: Vec<SpawnPoint>,
    intermission: Option<Placement>,
    /// View of the intermission.
    view: Placement,
    /// Team spawn points by color; for respawns, then for players new to the team.
    teams: [[Vec<SpawnPoint>; 2]; 2],
}

impl SpawnPoints {
    pub(super) fn is_empty(&self) -> bool {
        self.points.is_empty()
    }

    /// Adds the spawn point of a map entity, whose class can select a team and its list.
    pub(super) fn add(&mut self, map_entity: &MapEntity, number: Option<EntityNum>) {
        let class = map_entity.classname().to_ascii_lowercase();
        let points = if class.starts_with("team_") {
            let color = if class.contains("red") { TeamColor::Red } else { TeamColor::Blue };
            &mut self.teams[color as usize][usize::from(class.ends_with("player"))]
        } else {
            &mut self.points
        };
        if points.len() < MAX_SPAWN_POINTS {
            points.push(SpawnPoint::read(map_entity, number));
        }
    }

    /// Reads the intermission point of the map, where spectators start.
    pub(super) fn read_intermission(&mut self, entities: &MapEntities) {
        self.intermission = entities.of_class("info_player_intermission").next().map(|point| {
            let target = point.field("target").and_then(|name| entities.targets(name).next());
            let angles = target.map_or(point.angles(), |target| {
                angles::of_direction(target.origin() - point.origin())
            });
            Placement { origin: point.origin(), angles }
        });
    }

    pub(super) fn clear(&mut self) {
        self.points.clear();
        self.intermission = None;
        self.teams = Default::default();
    }
}

impl SpawnPoint {
    fn read(map_entity: &MapEntity, number: Option<EntityNum>) -> Self {
        let is = |key| map_entity.int(key).unwrap_or(0) != 0;
        Self {
            origin: map_entity.origin(),
            angles: map_entity.angles(),
            initial: map_entity.int("spawnflags").unwrap_or(0) & INITIAL != 0,
            bots: !is("nobots"),
            humans: !is("nohumans"),
            number,
        }
    }

    fn placement(&self) -> Placement {
        let mut origin = self.origin;
        origin[2] += SPAWN_RISE;
        Placement { origin, angles: self.angles }
    }
}

impl SpawnPoints {
    /// Selects the view of new spectators and of the intermission. Without an intermission point that is a spawn
    /// point far from the map's origin.
    pub(super) fn select_view(&mut self, cx: &mut Context<'_>) -> Placement {
        self.view =
            self.intermission.unwrap_or_else(|| self.select_common(cx, None, Vec3::ZERO, false).0);
        self.view
    }

    /// Returns the view of the intermission.
    pub(super) const fn view(&self) -> Placement {
        self.view
    }

    /// Selects the spawn point of a player away from `avoided`.
    ///
    /// Returns the placement and the entity of the spawn point.
    pub(super) fn select_spawn_point(
        &mut self,
        cx: &mut Context<'_>,
        client: ClientNum,
        avoided: Vec3,
        first: bool,
    ) -> (Placement, Option<EntityNum>) {
        if !cx.clients.game_type.has_flags() {
            return self.select_common(cx, Some(client), avoided, first);
        }
        match self.select_team_spawn_point(cx, client) {
            Some(point) => (point.placement(), point.number),
            // A team without spawn points of its own starts far from the map's origin.
            None => self.select_common(cx, Some(client), Vec3::ZERO, first),
        }
    }

    /// Selects the destination of a personal teleporter: a spawn point that serves all teams, in all game types.
    pub(super) fn select_destination(&self, cx: &mut Context<'_>, from: Vec3) -> Placement {
        self.select_common(cx, None, from, false).0
    }

    /// Selects a spawn point that serves all teams, for a human or the given client.
    fn select_common(
        &self,
        cx: &mut Context<'_>,
        client: Option<ClientNum>,
        avoided: Vec3,
        first: bool,
    ) -> (Placement, Option<EntityNum>) {
        let player = client.and_then(|client| cx.clients.player(client));
        let is_bot = player.is_some_and(|player| player.is_bot);
        let suits = |point: &SpawnPoint| if is_bot { point.bots } else { point.humans };
        let free: Vec<SpawnPoint> = self
            .points
            .iter()
            .filter(|point| suits(point) && !is_occupied(cx, client, point.origin))
            .copied()
            .collect();
        let chosen = if let Some(initial) = free.iter().find(|point| first && point.initial) {
            Some(*initial)
        } else if free.is_empty() {
            self.points.first().copied()
        } else {
            Some(match cx.clients.ruleset.spawning.selection {
                SpawnSelection::FarHalf => pick_from_far_half(cx, free, avoided),
                SpawnSelection::NotNearest => {
                    pick_not_nearest(cx, &free, nearest(&self.points, avoided), avoided)
                }
            })
        };
        chosen.map_or((Placement { origin: Vec3::ZERO, angles: Vec3::ZERO }, None), |point| {
            (point.placement(), point.number)
        })
    }

    /// Selects a spawn point of the player's team: a random free one, or else the first.
    fn select_team_spawn_point(
        &self,
        cx: &mut Context<'_>,
        client: ClientNum,
    ) -> Option<SpawnPoint> {
        let color = cx.clients.role(client).color()?;
        let is_new = cx.clients.player(client).is_some_and(|player| player.team_is_new);
        let points = &self.teams[color as usize][usize::from(is_new)];
        let first = *points.first()?;
        let free: Vec<SpawnPoint> = points
            .iter()
            .filter(|point| !is_occupied(cx, client, point.origin))
            .take(MAX_TEAM_SPAWN_POINTS)
            .copied()
            .collect();
        let chosen = cx.rng.pick(free.len());
        Some(free.get(chosen).copied().unwrap_or(first))
    }
}

/// Picks a random one of the farther half, sorted by distance.
fn pick_from_far_half(
    cx: &mut Context<'_>,
    mut free: Vec<SpawnPoint>,
    avoided: Vec3,
) -> SpawnPoint {
    let away = |point: &SpawnPoint| (point.origin - avoided).length();
    free.sort_by(|a, b| away(b).total_cmp(&away(a)));
    let half = free.len() / 2;
    let pick = (cx.rng.random() * half as f32) as usize;
    free[pick.min(free.len() - 1)]
}

/// Returns the distance of the nearest of all points, occupied ones included.
fn nearest(points: &[SpawnPoint], avoided: Vec3) -> f32 {
    let away = |point: &SpawnPoint| (point.origin - avoided).length();
    points.iter().map(away).fold(f32::INFINITY, f32::min)
}

/// Picks a random free one, and retries while that is as near as `nearest`.
fn pick_not_nearest(
    cx: &mut Context<'_>,
    free: &[SpawnPoint],
    nearest: f32,
    avoided: Vec3,
) -> SpawnPoint {
    let away = |point: &SpawnPoint| (point.origin - avoided).length();
    let mut point = free[cx.rng.pick(free.len())];
    for _ in 0..MAX_RETRIES {
        if away(&point) > nearest {
            break;
        }
        point = free[cx.rng.pick(free.len())];
    }
    point
}

/// Whether the bounds of a player at `origin` touch another player.
fn is_occupied(cx: &Context<'_>, client: impl Into<Option<ClientNum>>, origin: Vec3) -> bool {
    cx.others_in(client, origin + player_box::MINS, origin + player_box::MAXS).next().is_some()
}

impl SpawnPoints {
    /// Moves a client to the intermission camera.
    pub(crate) fn show_scoreboard(&mut self, cx: &mut Context<'_>, client: ClientNum) {
        let spot = self.view();
        let Some(player) = cx.clients.players[client.index()].as_mut() else { return };
        player.unlink(cx.host);
        let state = &mut player.state;
        state.pm_type = PmType::Intermission as i32;
        state.origin = spot.origin;
        state.viewangles = spot.angles;
        state.velocity = Vec3::ZERO;
        state.powerups.fill(0);
        state.e_flags = 0;
        state.loop_sound = 0;
        let entity = &mut player.entity;
        entity.e_type = EntityType::General as i32;
        entity.e_flags = 0;
        entity.powerups = 0;
        entity.modelindex = 0;
        entity.loop_sound = 0;
        entity.event = 0;
        entity.solid = 0;
        player.shared.contents = 0;
        player.shared.current_origin = spot.origin;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::game::{Ruleset, deathmatch::tests::room::TestRoom};

    #[test]
    fn free_point_is_kept_if_nearer_one_is_occupied() {
        let mut room = TestRoom::new(Ruleset::BASEOA);
        let point = |x: f32| SpawnPoint {
            origin: Vec3::new(x, 0.0, 0.0),
            angles: Vec3::ZERO,
            initial: false,
            bots: true,
            humans: true,
            number: None,
        };
        let all = [point(100.0), point(200.0), point(300.0)];
        let mut picked = |free: &[SpawnPoint]| {
            room.game.with(&mut room.host, |cx, _| {
                let picks = (0..400).filter(|_| {
                    let nearest = nearest(&all, Vec3::ZERO);
                    pick_not_nearest(cx, free, nearest, Vec3::ZERO).origin[0] < 300.0
                });
                picks.count()
            })
        };
        let evenly = picked(&all[1..]);
        assert!((150..250).contains(&evenly), "{evenly} of 400");
        let drawn_again = picked(&[all[0], all[2]]);
        assert!((20..90).contains(&drawn_again), "{drawn_again} of 400");
    }
}
