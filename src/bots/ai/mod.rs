//! Bot input: wandering, aiming, firing and chat commands, one usercmd at a time.
//!
//! Everything is drawn from the seed, the milliseconds played and the bot's perception. Invariant: the same
//! seed on the same level gives the same usercmds on every machine.

mod perception;
mod stuck;
mod surroundings;

use rand_pcg::{
    Pcg32,
    rand_core::{Rng as _, SeedableRng as _},
};

use super::behavior::{Behavior, Behaviors};
use crate::model::{Buttons, UserCmd, Vec3, trig::sine_cosine};

use perception::LOOK_AHEAD;
pub(super) use perception::Perception;
use stuck::{DIRECTIONS, StuckDetector, StuckKind, keys_for, turn_for};

/// Odds against a weapon change, per update with a visible enemy.
const WEAPON_CHANGE_ODDS: u32 = 24;
/// Angles are 16-bit fractions of a turn.
const TURN: i32 = 1 << 16;
/// Fastest turn, in angle units per millisecond: about a third of a turn per second.
const MAX_YAW_RATE: i32 = 22;
/// Change of the yaw rate per usercmd.
const YAW_RATE_STEP: i32 = 2;
/// Largest pitch, up or down.
const MAX_PITCH: i32 = TURN / 8;
/// Fastest change of the pitch, in angle units per millisecond.
const PITCH_RATE: i32 = 5;
/// Fastest turn toward an enemy, in angle units per millisecond: a full turn in two thirds of a second.
const AIM_RATE: i32 = 98;
/// Largest aim error at which a bot fires: about 4 degrees.
const AIM_ERROR: i32 = TURN / 90;
/// Distance below which a direction counts as blocked, in units.
const MIN_CLEAR_DISTANCE: f32 = 48.0;
/// Time that a bot walks away from its spawn point or from a corner, even with an enemy in sight.
const ESCAPE_MS: u32 = 1500;

/// Input state of one bot.
#[derive(Debug)]
pub(super) struct BotAi {
    random: Pcg32,
    behaviors: Behaviors,
    yaw: i32,
    yaw_rate: i32,
    wanted_yaw_rate: i32,
    pitch: i32,
    wanted_pitch: i32,
    /// Pitch and yaw that the view turns to: an enemy, or the walking direction.
    wanted: Option<[i32; 2]>,
    /// Walking direction that does not follow the view: around an obstacle, or during a fight.
    heading: Option<i32>,
    /// Yaw that the server adds to that of the usercmd (`delta_angles`).
    level_yaw: i32,
    forward: i8,
    right: i8,
    up: i8,
    buttons: Buttons,
    weapon: u8,
    /// Milliseconds until the next random decision.
    decides_in: u32,
    /// Milliseconds until the next chat line, and until the next scoreboard request.
    talks_in: u32,
    scores_in: u32,
    stuck: StuckDetector,
    /// Remaining time of the walk away from a spawn point or corner, in milliseconds.
    escape_ms: u32,
    was_dead: bool,
}

/// Time between two chat lines of a talking bot, in ms. Servers silence clients with four lines in four seconds.
const TALK_INTERVAL: u32 = 2000;
/// Chat lines, chosen at random.
const CHAT_LINES: [&str; 6] =
    ["hello", "nice shot", "where is everybody?", "lag?", "good game", "one more round"];

impl BotAi {
    pub(super) fn new(seed: u64, behaviors: Behaviors) -> Self {
        let mut random = Pcg32::seed_from_u64(seed);
        let yaw = random.next_u32() as i32 & (TURN - 1);
        let talks_in = match random.next_u32() {
            number if behaviors.contains(Behavior::Talk) => number % TALK_INTERVAL,
            number => 5000 + number % 20_000,
        };
        let scores_in = 2000 + random.next_u32() % 10_000;
        Self {
            random,
            behaviors,
            yaw,
            yaw_rate: 0,
            wanted_yaw_rate: 0,
            pitch: 0,
            wanted_pitch: 0,
            wanted: None,
            heading: None,
            level_yaw: 0,
            forward: 0,
            right: 0,
            up: 0,
            buttons: Buttons::default(),
            weapon: 0,
            decides_in: 0,
            talks_in,
            scores_in,
            stuck: StuckDetector::default(),
            escape_ms: 0,
            was_dead: false,
        }
    }

    /// Updates aim, weapon and direction, once for all usercmds of a packet, which span `passed_ms`.
    pub(super) fn update(&mut self, perception: &Perception<'_>, passed_ms: u32) {
        self.weapon = perception.weapon;
        if !perception.plays {
            return;
        }
        if !perception.alive {
            // A new press of the attack button requests a respawn.
            self.buttons = Buttons(self.buttons.0 ^ Buttons::ATTACK.0);
            (self.wanted, self.heading, self.was_dead) = (None, None, true);
            return;
        }
        self.level_yaw = perception.delta_angles[1];
        self.wanted = perception.enemy.map(|enemy| perception.aim(enemy));
        if let Some([pitch, yaw]) = self.wanted {
            let aimed = angle_between(yaw, self.yaw) < AIM_ERROR
                && angle_between(pitch, self.pitch) < AIM_ERROR;
            self.buttons = if aimed { Buttons::ATTACK } else { Buttons::default() };
            self.choose_weapon(perception);
        } else if self.was_dead {
            self.buttons = Buttons::default();
        }
        if self.behaviors.contains(Behavior::Wander) {
            self.find_way(perception, passed_ms);
        }
        self.was_dead = false;
    }

    /// Changes to a random loaded weapon when the current one is empty, and at random times.
    fn choose_weapon(&mut self, perception: &Perception<'_>) {
        let is_good = perception.loaded >> perception.weapon.min(31) & 1 != 0;
        if is_good && self.below(WEAPON_CHANGE_ODDS) != 0 {
            return;
        }
        let loaded = perception.loaded;
        let count = loaded.count_ones();
        if count == 0 {
            return;
        }
        let which = self.below(count) as usize;
        let chosen = (0..32).filter(|weapon| loaded >> weapon & 1 != 0).nth(which);
        self.weapon = chosen.unwrap_or(0) as u8;
    }

    /// Keeps the walking direction, or chooses the clearest other one when it is blocked.
    fn find_way(&mut self, perception: &Perception<'_>, passed_ms: u32) {
        self.escape_ms = self.escape_ms.saturating_sub(passed_ms);
        let walk_yaw = self.walk_yaw();
        let stuck_kind = self.stuck.update(perception.origin, walk_yaw.is_some(), passed_ms);
        if stuck_kind == Some(StuckKind::Cornered) || self.was_dead {
            self.escape_ms = ESCAPE_MS;
            self.up = 0;
        }
        let free = walk_yaw.map_or(0.0, |yaw| self.clear_distance(perception, yaw));
        let is_blocked = free < MIN_CLEAR_DISTANCE && (walk_yaw.is_some() || self.escape_ms > 0);
        if stuck_kind.is_some() || is_blocked {
            let first = self.below(DIRECTIONS as u32) as i32;
            // All directions but the current one. The random start gives equally clear ones equal chances.
            let ways = (0..DIRECTIONS - 1)
                .map(|way| ((first + way) % (DIRECTIONS - 1) + 1) * (TURN / DIRECTIONS));
            let from = walk_yaw.unwrap_or(self.yaw);
            let best = ways
                .map(|turn| (self.clear_distance(perception, from + turn), turn))
                .max_by(|(one, _), (other, _)| one.total_cmp(other));
            self.heading = best.map(|(_, turn)| (from + turn) & (TURN - 1));
            self.wanted_yaw_rate = 0;
        } else if perception.enemy.is_some() && self.heading.is_none() {
            // During a fight the walking direction does not follow the view.
            self.heading = walk_yaw;
        }
        match (stuck_kind, self.up) {
            // A jump may climb an obstacle that is too high for a step-up. The key must be released between jumps.
            (Some(StuckKind::Stuck), ..=0) => self.up = 127,
            (Some(StuckKind::Stuck), _) => self.up = 0,
            // In the air a bot cannot stop before lava.
            (_, 1..) if free < LOOK_AHEAD => self.up = 0,
            _ => {}
        }
        if perception.swims {
            self.up = 127;
        }
        let Some(heading) = self.heading.filter(|_| perception.enemy.is_none()) else { return };
        if angle_between(heading, self.yaw) < AIM_ERROR {
            // From here on the walking direction follows the view.
            self.heading = None;
            (self.forward, self.right) = (127, 0);
        } else {
            self.wanted = Some([self.pitch, heading]);
        }
    }

    /// Returns the clear distance in the direction of a usercmd's yaw, in units.
    fn clear_distance(&self, perception: &Perception<'_>, yaw: i32) -> f32 {
        perception.clear_distance(direction_of(yaw.wrapping_add(self.level_yaw)))
    }

    fn keys(&self) -> [i8; 2] {
        self.heading.map_or([self.forward, self.right], |heading| keys_for(heading - self.yaw))
    }

    /// Returns the walking direction as a usercmd's yaw, or `None` when the bot stands.
    fn walk_yaw(&self) -> Option<i32> {
        Some((self.yaw + turn_for(self.keys())?) & (TURN - 1))
    }

    /// Returns the next usercmd, `step_ms` after the last one, for the level time `server_time`.
    pub(super) fn next_usercmd(&mut self, server_time: i32, step_ms: u32) -> UserCmd {
        match self.decides_in.checked_sub(step_ms) {
            Some(left) => self.decides_in = left,
            None => self.decide(),
        }
        self.talks_in = self.talks_in.saturating_sub(step_ms);
        self.scores_in = self.scores_in.saturating_sub(step_ms);
        let step = step_ms.min(200) as i32;
        if let Some([pitch, yaw]) = self.wanted {
            let most = AIM_RATE * step;
            let toward = |is: i32, wanted: i32| {
                (is + i32::from(wanted.wrapping_sub(is) as i16).clamp(-most, most)) & (TURN - 1)
            };
            self.yaw = toward(self.yaw, yaw);
            self.pitch = i32::from(toward(self.pitch, pitch) as i16);
            self.yaw_rate = 0;
        } else {
            self.yaw_rate +=
                (self.wanted_yaw_rate - self.yaw_rate).clamp(-YAW_RATE_STEP, YAW_RATE_STEP);
            self.yaw = (self.yaw + self.yaw_rate * step) & (TURN - 1);
            let most = PITCH_RATE * step;
            self.pitch += (self.wanted_pitch - self.pitch).clamp(-most, most);
        }
        let [forwardmove, rightmove] = self.keys();
        UserCmd {
            server_time,
            angles: [self.pitch & (TURN - 1), self.yaw, 0],
            buttons: self.buttons,
            weapon: self.weapon,
            forwardmove,
            rightmove,
            upmove: self.up,
        }
    }

    /// Returns the chat line or scoreboard request that is due, if any.
    pub(super) fn next_command(&mut self) -> Option<String> {
        let talks = self.behaviors.contains(Behavior::Talk);
        if (talks || self.behaviors.contains(Behavior::Chat)) && self.talks_in == 0 {
            self.talks_in = if talks { TALK_INTERVAL } else { 20_000 + self.below(20_000) };
            let which = self.below(CHAT_LINES.len() as u32);
            return CHAT_LINES.get(which as usize).map(|saying| format!("say {saying}"));
        }
        if self.behaviors.contains(Behavior::Scores) && self.scores_in == 0 {
            self.scores_in = 10_000 + self.below(10_000);
            return Some("score".to_owned());
        }
        None
    }

    fn decide(&mut self) {
        self.decides_in = 400 + self.below(1600);
        let rate = self.below(2 * MAX_YAW_RATE as u32 + 1) as i32 - MAX_YAW_RATE;
        let pitch = self.below(2 * MAX_PITCH as u32 + 1) as i32 - MAX_PITCH;
        let forward = [127, 127, 127, 127, 127, 127, 64, 0, -127, 127][self.below(10) as usize];
        let right = [0, 0, 0, 127, -127][self.below(5) as usize];
        let up = [0, 0, 0, 0, 0, 0, 127, 127, -127][self.below(9) as usize];
        let attacks = self.below(4) == 0;
        if self.behaviors.contains(Behavior::Wander) {
            self.wanted_yaw_rate = rate;
            self.wanted_pitch = pitch;
            (self.forward, self.right, self.up) = (forward, right, up);
            if self.escape_ms == 0
                && let Some(heading) = &mut self.heading
            {
                *heading = (*heading + rate * (TURN / 4 / MAX_YAW_RATE)) & (TURN - 1);
            }
        }
        if self.behaviors.contains(Behavior::Fight) {
            self.buttons = if attacks { Buttons::ATTACK } else { Buttons::default() };
        }
    }

    fn below(&mut self, limit: u32) -> u32 {
        self.random.next_u32() % limit
    }
}

/// Returns the absolute difference of two angles.
fn angle_between(one: i32, other: i32) -> i32 {
    i32::from(one.wrapping_sub(other) as i16).abs()
}

/// Returns the horizontal unit vector of a yaw.
fn direction_of(yaw: i32) -> Vec3 {
    let (sine, cosine) =
        sine_cosine((yaw & (TURN - 1)) as f32 * (std::f32::consts::TAU / TURN as f32));
    Vec3::new(cosine, sine, 0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn play(seed: u64, behaviors: Behaviors) -> Vec<UserCmd> {
        let mut ai = BotAi::new(seed, behaviors);
        (0..6000).map(|step| ai.next_usercmd(step * 16, 16)).collect()
    }

    #[test]
    fn same_seed_gives_same_usercmds() {
        assert_eq!(play(1, Behaviors::PLAYER), play(1, Behaviors::PLAYER));
        assert_ne!(play(1, Behaviors::PLAYER), play(2, Behaviors::PLAYER));
    }

    #[test]
    fn bot_turns_smoothly_and_presses_every_key() {
        let played = play(3, Behaviors::PLAYER);
        for pair in played.windows(2) {
            for axis in [0, 1] {
                let turned = (pair[1].angles[axis] - pair[0].angles[axis]) as i16;
                assert!(turned.unsigned_abs() <= 16 * 22, "{turned}");
            }
            assert!(pair[1].angles.iter().all(|angle| (0..TURN).contains(angle)));
        }
        let pressed = |key: fn(&UserCmd) -> bool| played.iter().any(key);
        assert!(pressed(|usercmd| usercmd.forwardmove > 0) && pressed(|u| u.forwardmove < 0));
        assert!(pressed(|usercmd| usercmd.rightmove > 0) && pressed(|u| u.rightmove < 0));
        assert!(pressed(|usercmd| usercmd.upmove > 0) && pressed(|u| u.upmove < 0));
        assert!(pressed(|u| u.buttons == Buttons::ATTACK) && pressed(|u| u.buttons.0 == 0));
    }

    #[test]
    fn idle_bot_stands_and_peaceful_bot_does_not_fire() {
        let still = |usercmd: &UserCmd| {
            (usercmd.forwardmove, usercmd.rightmove, usercmd.upmove, usercmd.buttons.0)
                == (0, 0, 0, 0)
        };
        assert!(play(4, Behaviors::default()).iter().all(still));
        let walks = play(4, Behaviors::default().with(Behavior::Wander));
        assert!(walks.iter().any(|usercmd| usercmd.forwardmove != 0));
        assert!(walks.iter().all(|usercmd| usercmd.buttons.0 == 0));
    }

    #[test]
    fn bot_turns_to_enemy_and_fires_when_aimed() {
        let mut ai = BotAi::new(5, Behaviors::PLAYER);
        // West of the bot at eye height, on a server that adds a quarter turn to every yaw.
        let perception = Perception {
            enemy: Some(Vec3::new(-500.0, 0.0, 26.0)),
            delta_angles: [0, TURN / 4, 0],
            ..Perception::nowhere()
        };
        for step in 0..60 {
            ai.update(&perception, 16);
            ai.next_usercmd(step * 16, 16);
        }
        ai.update(&perception, 16);
        let usercmd = ai.next_usercmd(1000, 16);
        assert_eq!(usercmd.angles, [0, TURN / 4, 0]);
        assert_eq!(usercmd.buttons, Buttons::ATTACK);
    }

    #[test]
    fn stuck_bot_turns_and_jumps() {
        let mut ai = BotAi::new(6, Behaviors::default().with(Behavior::Wander));
        (ai.forward, ai.decides_in) = (127, 60_000);
        let before = ai.yaw;
        let mut jumped = false;
        for _ in 0..30 {
            ai.update(&Perception::nowhere(), 33);
            jumped |= ai.next_usercmd(0, 33).upmove == 127;
        }
        assert_ne!(ai.yaw, before);
        assert!(jumped);
    }

    #[test]
    fn cornered_bot_leaves_even_with_enemy_in_sight() {
        let mut ai = BotAi::new(8, Behaviors::PLAYER);
        (ai.forward, ai.decides_in) = (0, 60_000);
        let at = |step: u16| Perception {
            origin: Vec3::new(f32::from(step % 2) * 40.0, 0.0, 0.0),
            enemy: Some(Vec3::new(500.0, 0.0, 26.0)),
            ..Perception::nowhere()
        };
        let mut left = 0;
        for step in 0..120 {
            ai.update(&at(step), 33);
            let usercmd = ai.next_usercmd(0, 33);
            left += u32::from(ai.escape_ms > 0 && usercmd.forwardmove != 0);
            assert!(
                angle_between(ai.yaw, 0) < AIM_ERROR || step < 20,
                "the view stays on the enemy"
            );
        }
        assert!((20..=46).contains(&left), "{left} of 120 updates");
    }

    #[test]
    fn walking_direction_is_independent_of_view_in_fight() {
        let mut ai = BotAi::new(9, Behaviors::PLAYER);
        (ai.yaw, ai.forward, ai.decides_in) = (0, 127, 60_000);
        for step in 0..20_u16 {
            // The bot walks east and its enemy is in the north.
            let perception = Perception {
                origin: Vec3::new(f32::from(step) * 30.0, 0.0, 0.0),
                enemy: Some(Vec3::new(f32::from(step) * 30.0, 500.0, 26.0)),
                ..Perception::nowhere()
            };
            ai.update(&perception, 33);
            ai.next_usercmd(0, 33);
        }
        let usercmd = ai.next_usercmd(0, 33);
        assert_eq!((usercmd.angles[1], usercmd.buttons), (TURN / 4, Buttons::ATTACK));
        assert_eq!((usercmd.forwardmove, usercmd.rightmove), (0, 127));
    }

    #[test]
    fn dead_bot_respawns_and_leaves_spawn_point() {
        let mut ai = BotAi::new(10, Behaviors::default().with(Behavior::Wander));
        ai.decides_in = 60_000;
        let dead = Perception { alive: false, ..Perception::nowhere() };
        let mut look = |perception: &Perception<'_>| {
            ai.update(perception, 33);
            ai.next_usercmd(0, 33)
        };
        let pressed = [(); 4].map(|()| look(&dead).buttons);
        assert_eq!(pressed.map(|buttons| buttons == Buttons::ATTACK), [true, false, true, false]);
        look(&dead);
        let alive = look(&Perception::nowhere());
        assert_eq!(alive.buttons, Buttons::default());
        assert_ne!((alive.forwardmove, alive.rightmove), (0, 0));
    }

    #[test]
    fn bot_survives_invalid_server_state() {
        let mut ai = BotAi::new(7, Behaviors::PLAYER);
        for origin in [Vec3::new(f32::NAN, f32::INFINITY, -1e38), Vec3::ZERO] {
            let perception = Perception {
                origin,
                delta_angles: [i32::MIN, i32::MAX, -1],
                weapon: 255,
                loaded: u32::MAX,
                enemy: Some(origin),
                ..Perception::nowhere()
            };
            ai.update(&perception, u32::MAX / 2);
            ai.next_usercmd(i32::MAX, 16);
        }
    }
}
