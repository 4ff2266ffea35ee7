//! Spawn points of players and spectators.
//!
//! Source: the base game's choice of a spawn spot, and OpenArena's.

use crate::game::deathmatch::context::Context;
use crate::model::{ClientNum, Vec3};
use crate::world::MapEntities;
use crate::{
    bg::{TeamColor, player_box},
    game::{clients::Placement, movement::angles, ruleset::SpawnRule},
};

/// How far above its spot a player appears.
const SPAWN_RISE: f32 = 9.0;
/// Spots that are looked at.
const MAX_SPOTS: usize = 128;
/// Free spots of a team that one is chosen from.
const MAX_TEAM_SPOTS: usize = 32;
/// How often a spot too near is given back.
const MAX_SECOND_THOUGHTS: usize = 2;
/// Spawn flag of a spot for those who are there from the start.
const INITIAL: i32 = 1;

/// A spot of the map.
#[derive(Clone, Copy, Debug)]
pub(super) struct Start {
    origin: Vec3,
    angles: Vec3,
    initial: bool,
    bots: bool,
    humans: bool,
    /// The entity that stands for it, whose targets fire.
    pub(super) number: Option<crate::model::EntityNum>,
}

/// All spots of the map.
#[derive(Clone, Debug, Default)]
pub(super) struct Spots {
    starts: Vec<Start>,
    view: Option<Placement>,
    /// Spots of the teams: by color, for those who come back, and then for those who have just joined.
    teams: [[Vec<Start>; 2]; 2],
}

impl Spots {
    pub(super) fn is_empty(&self) -> bool {
        self.starts.is_empty()
    }

    /// Where those who watch begin, as the map says it.
    pub(super) fn read_view(&mut self, entities: &MapEntities) {
        self.view = entities.of_class("info_player_intermission").next().map(|point| {
            let target = point.field("target").and_then(|name| entities.targets(name).next());
            let angles = target.map_or(point.angles(), |target| {
                angles::of_direction(target.origin() - point.origin())
            });
            Placement { origin: point.origin(), angles }
        });
    }

    pub(super) fn clear(&mut self) {
        self.starts.clear();
        self.view = None;
        self.teams = Default::default();
    }

    /// Adds a spot for a team: which one, and for whom, says its class.
    pub(super) fn add_for_team(
        &mut self,
        map_entity: &crate::world::entity_string::MapEntity,
        number: Option<crate::model::EntityNum>,
    ) {
        let class = map_entity.classname().to_ascii_lowercase();
        let color = if class.contains("red") { TeamColor::Red } else { TeamColor::Blue };
        let is_first = class.ends_with("player");
        let spots = &mut self.teams[color as usize][usize::from(is_first)];
        if spots.len() < MAX_SPOTS {
            spots.push(Start::read(map_entity, number));
        }
    }

    pub(super) fn add(
        &mut self,
        map_entity: &crate::world::entity_string::MapEntity,
        number: Option<crate::model::EntityNum>,
    ) {
        if self.starts.len() == MAX_SPOTS {
            return;
        }
        self.starts.push(Start::read(map_entity, number));
    }
}

impl Start {
    fn read(
        map_entity: &crate::world::entity_string::MapEntity,
        number: Option<crate::model::EntityNum>,
    ) -> Self {
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

    fn spot(&self) -> Placement {
        let mut origin = self.origin;
        origin[2] += SPAWN_RISE;
        Placement { origin, angles: self.angles }
    }
}

impl Spots {
    /// Where those who watch begin.
    pub(super) fn view_spot(&mut self) -> Placement {
        match (self.view, self.starts.first()) {
            (Some(view), _) => view,
            (None, Some(first)) => first.spot(),
            (None, None) => Placement { origin: Vec3::ZERO, angles: Vec3::ZERO },
        }
    }

    /// Where a player begins who should not be near `avoided`; and which spot of the map that is.
    pub(super) fn choose_spot(
        &mut self,
        cx: &mut Context<'_>,
        client: ClientNum,
        avoided: Vec3,
        first: bool,
    ) -> (Placement, Option<crate::model::EntityNum>) {
        if let Some(start) = self.team_start(cx, client) {
            return (start.spot(), start.number);
        }
        let is_bot = cx.clients.player(client).is_some_and(|player| player.is_bot);
        let suits = |start: &Start| if is_bot { start.bots } else { start.humans };
        let free: Vec<Start> = self
            .starts
            .iter()
            .filter(|start| suits(start) && !is_taken(cx, client, start.origin))
            .copied()
            .collect();
        let chosen = if let Some(initial) = free.iter().find(|start| first && start.initial) {
            Some(*initial)
        } else if free.is_empty() {
            self.starts.first().copied()
        } else {
            Some(match cx.clients.ruleset.spawn_rule {
                SpawnRule::FarHalf => far_spot(cx, free, avoided),
                SpawnRule::NotNearest => any_spot(cx, &free, avoided),
            })
        };
        chosen.map_or((Placement { origin: Vec3::ZERO, angles: Vec3::ZERO }, None), |start| {
            (start.spot(), start.number)
        })
    }

    /// A spot of a player's own team, in games with flags: a free one by chance, or else the first.
    fn team_start(&mut self, cx: &mut Context<'_>, client: ClientNum) -> Option<Start> {
        let color = cx.clients.role(client).color()?;
        if !cx.clients.game_type.has_flags() {
            return None;
        }
        let is_new = cx.clients.player(client).is_some_and(|player| player.team_is_new);
        let spots = &self.teams[color as usize][usize::from(is_new)];
        let first = *spots.first()?;
        let free: Vec<Start> = spots
            .iter()
            .filter(|start| !is_taken(cx, client, start.origin))
            .take(MAX_TEAM_SPOTS)
            .copied()
            .collect();
        let chosen = cx.rng.pick(free.len());
        Some(free.get(chosen).copied().unwrap_or(first))
    }
}

fn far_spot(cx: &mut Context<'_>, mut free: Vec<Start>, avoided: Vec3) -> Start {
    let away = |start: &Start| (start.origin - avoided).length();
    free.sort_by(|a, b| away(b).total_cmp(&away(a)));
    let half = free.len() / 2;
    let pick = (cx.rng.chance() * half as f32) as usize;
    free[pick.min(free.len() - 1)]
}

fn any_spot(cx: &mut Context<'_>, free: &[Start], avoided: Vec3) -> Start {
    let away = |start: &Start| (start.origin - avoided).length();
    let nearest = free.iter().map(away).fold(f32::INFINITY, f32::min);
    let mut start = free[cx.rng.pick(free.len())];
    for _ in 0..MAX_SECOND_THOUGHTS {
        if away(&start) > nearest {
            break;
        }
        start = free[cx.rng.pick(free.len())];
    }
    start
}

/// Whether somebody else stands where a player at `origin` would.
fn is_taken(cx: &Context<'_>, client: ClientNum, origin: Vec3) -> bool {
    cx.others_in(client, origin + player_box::MINS, origin + player_box::MAXS).next().is_some()
}
