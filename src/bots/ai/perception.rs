//! Perception of a bot: its own state, the nearest visible enemy and obstacles of the map.
//!
//! All numbers come from a server and may have any value. Source: playerstate and entities of snapshots;
//! statistics have other indices in OpenArena than in the base game.

use crate::{
    bg::{EntityType, PmType, StatLayout, configstring, entity_flag},
    bots::bot::QuakeWorldPlayer,
    bsp29::Bsp29,
    client::Client,
    model::{
        ConfigIndex, EntityNum, EntityState, PlayerState, Vec3, limits::MAX_CLIENTS,
        trig::arc_tangent,
    },
    qwgame::movement::MoveState,
    world::CollisionMap,
};

use super::surroundings::Surroundings;

/// Largest distance of an enemy, in units.
const SIGHT_RANGE: f32 = 2000.0;
/// Length of the obstacle trace ahead, in units.
pub(super) const LOOK_AHEAD: f32 = 160.0;
/// Step-up height of pmove, in units.
const STEP: f32 = 18.0;
/// Distance between the floor traces ahead, in units.
const FLOOR_SPACING: f32 = 40.0;
/// Stopping distance of a running player in units, including the latency of the stop.
const STOPPING_DISTANCE: f32 = 80.0;
/// Largest drop that a bot walks into, in units.
const MAX_DROP: f32 = 400.0;
/// Height of the eyes of QuakeWorld, in units.
const QUAKEWORLD_VIEW_HEIGHT: f32 = 22.0;

/// Current view of one bot: own state, enemy and map.
#[derive(Clone, Copy, Debug)]
pub(in crate::bots) struct Perception<'a> {
    pub(super) origin: Vec3,
    pub(super) view_height: f32,
    /// Angles that the server adds to those of a usercmd, as 16-bit fractions of a turn.
    pub(super) delta_angles: [i32; 3],
    pub(super) alive: bool,
    /// Whether the bot is in play, alive or dead, and not in an intermission.
    pub(super) plays: bool,
    pub(super) weapon: u8,
    /// One bit for each weapon with ammunition.
    pub(super) loaded: u32,
    pub(super) is_in_air: bool,
    pub(super) swims: bool,
    /// Position of the visible enemy to aim at.
    pub(super) enemy: Option<Vec3>,
    pub(super) surroundings: Surroundings<'a>,
}

impl<'a> Perception<'a> {
    /// Reads a client's last snapshot. `fights` adds the search for an enemy.
    pub(in crate::bots) fn of(
        client: &Client,
        player: &PlayerState,
        map: Option<&'a CollisionMap>,
        fights: bool,
    ) -> Self {
        let surroundings = map.map_or(Surroundings::Unknown, Surroundings::Quake3);
        let weapons = owned_weapons(player);
        let loaded = (1..16)
            .filter(|&weapon| weapons >> weapon & 1 != 0 && player.ammo[weapon] != 0)
            .fold(0, |all, weapon| all | 1 << weapon);
        let mut perception = Self {
            origin: player.origin,
            view_height: player.viewheight.clamp(-64, 64) as f32,
            delta_angles: player.delta_angles,
            alive: player.stats[StatLayout::BASEQ3.health] > 0,
            plays: [PmType::Normal, PmType::Noclip, PmType::Dead]
                .iter()
                .any(|&kind| kind as i32 == player.pm_type),
            weapon: u8::try_from(player.weapon).unwrap_or(0),
            loaded,
            is_in_air: player.ground_entity_num == EntityNum::NONE.index() as i32,
            swims: surroundings.swims(player.origin),
            enemy: None,
            surroundings,
        };
        if fights && perception.alive {
            perception.enemy = perception.find_enemy(client, player.client_num);
        }
        perception
    }

    /// Reads the newest answer to a QuakeWorld player. `state` is his predicted state, if there is one.
    pub(in crate::bots) fn of_quakeworld(
        player: &QuakeWorldPlayer,
        state: Option<MoveState>,
        map: Option<&'a Bsp29>,
        fights: bool,
    ) -> Self {
        let surroundings = map.map_or(Surroundings::Unknown, Surroundings::QuakeWorld);
        let own = player.own_origin();
        let origin = state.map_or(own, |state| state.origin);
        let mut perception = Self {
            origin,
            view_height: QUAKEWORLD_VIEW_HEIGHT,
            delta_angles: [0; 3],
            alive: player.is_alive(),
            plays: player.plays(),
            weapon: 0,
            loaded: 0,
            is_in_air: state.is_some_and(|state| !state.on_ground),
            swims: surroundings.swims(origin),
            enemy: None,
            surroundings,
        };
        if fights && perception.alive {
            let near = player.living_others();
            let near = near.map(|place| ((place - origin).length(), place));
            let near = near.filter(|(distance, _)| *distance < SIGHT_RANGE);
            let nearest = near.min_by(|(one, _), (other, _)| one.total_cmp(other));
            perception.enemy =
                nearest.map(|(_, place)| place).filter(|&place| perception.sees(place));
        }
        perception
    }

    /// Living player without enemy and map.
    #[cfg(test)]
    pub(super) fn nowhere() -> Self {
        Self {
            origin: Vec3::ZERO,
            view_height: 26.0,
            delta_angles: [0; 3],
            alive: true,
            plays: true,
            weapon: 2,
            loaded: 0b110,
            is_in_air: false,
            swims: false,
            enemy: None,
            surroundings: Surroundings::Unknown,
        }
    }

    fn eye(&self) -> Vec3 {
        self.origin + Vec3::new(0.0, 0.0, self.view_height)
    }

    /// Returns the position of the nearest living player if it is visible and not a teammate.
    fn find_enemy(&self, client: &Client, own: i32) -> Option<Vec3> {
        let own_team = team(client, own);
        let near = client
            .entities()
            .filter(|entity| {
                entity.e_type == EntityType::Player as i32
                    && (0..MAX_CLIENTS as i32).contains(&entity.number)
                    && entity.number != own
                    && entity.e_flags & entity_flag::DEAD == 0
            })
            .map(|entity| (self.distance(entity), entity))
            .filter(|(distance, _)| *distance < SIGHT_RANGE)
            .min_by(|(one, _), (other, _)| one.total_cmp(other))?;
        let (_, entity) = near;
        let mates = matches!(own_team, b'1' | b'2') && team(client, entity.number) == own_team;
        (!mates && self.sees(entity.pos.base)).then_some(entity.pos.base)
    }

    fn distance(&self, entity: &EntityState) -> f32 {
        (entity.pos.base - self.origin).length()
    }

    fn sees(&self, point: Vec3) -> bool {
        self.surroundings.sees(self.eye(), point)
    }

    /// Returns the clear distance in a direction, in units up to [`LOOK_AHEAD`].
    ///
    /// A drop of more than [`MAX_DROP`], lava and slime end it. Without a map every direction is clear.
    pub(super) fn clear_distance(&self, direction: Vec3) -> f32 {
        let map = self.surroundings;
        let raised = self.origin + Vec3::new(0.0, 0.0, STEP);
        let ahead = |start: Vec3| map.walk(start, start.add_scaled(direction, LOOK_AHEAD));
        let (start, wall) = match ahead(raised) {
            // A low ceiling prevents the step-up.
            wall if wall.starts_in_wall => (self.origin, ahead(self.origin)),
            wall => (raised, wall),
        };
        let free = wall.fraction * LOOK_AHEAD;
        if self.is_in_air {
            return free;
        }
        let mut safe = 0.0;
        while safe < free {
            let next = free.min(safe + FLOOR_SPACING);
            let over = start.add_scaled(direction, next);
            if !map.has_floor(over, over - Vec3::new(0.0, 0.0, MAX_DROP)) {
                return (safe - STOPPING_DISTANCE).max(0.0);
            }
            safe = next;
        }
        safe
    }

    /// Returns pitch and yaw from the eye to a point, as a usercmd states them.
    pub(super) fn aim(&self, point: Vec3) -> [i32; 2] {
        let way = point - self.eye();
        let flat = Vec3::new(way[0], way[1], 0.0).length();
        let units = |radians: f32| (radians * (65_536.0 / std::f32::consts::TAU)) as i32;
        let pitch = -units(arc_tangent(way[2], flat));
        let yaw = units(arc_tangent(way[1], way[0]));
        [pitch.wrapping_sub(self.delta_angles[0]), yaw.wrapping_sub(self.delta_angles[1])]
            .map(|angle| angle & 0xffff)
    }
}

/// Returns the team in a player's configstring, an ASCII digit `0` to `3`.
fn team(client: &Client, number: i32) -> u8 {
    let place = usize::try_from(number)
        .ok()
        .and_then(|number| ConfigIndex::new(usize::from(configstring::PLAYERS) + number));
    let entry = place.map_or("", |index| client.configstring(index));
    entry.split_once("\\t\\").and_then(|(_, rest)| rest.bytes().next()).unwrap_or(b'0')
}

/// Returns one bit for each weapon that a player owns.
///
/// The layout of statistics differs between games, and the version string does not tell it: it is equal for
/// OpenArena and its next version. The maximum health of a player in play is above 0 and tells the layout:
/// at its index in the base game, OpenArena keeps the clients ready to leave the scoreboard, 0 in play.
fn owned_weapons(player: &PlayerState) -> u32 {
    let base = StatLayout::BASEQ3;
    let layout = if player.stats[base.max_health] > 0 { base } else { StatLayout::BASEOA };
    player.stats[layout.weapons] as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn owned_weapons_follow_the_layout_of_the_server() {
        for layout in [StatLayout::BASEQ3, StatLayout::BASEOA] {
            let mut player = PlayerState::default();
            player.stats[layout.weapons] = 0b110;
            player.stats[layout.armor] = 100;
            player.stats[layout.max_health] = 125;
            assert_eq!(owned_weapons(&player), 0b110, "{layout:?}");
        }
    }
}
