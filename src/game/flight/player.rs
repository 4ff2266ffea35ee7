//! One player of free flight: who it is, how it moves, what others see of it.
//!
//! Invariants: states are finite; a player's entity is linked only while it flies for all to see.
//! Source: the base game's client lifecycle, spawn and think rules.

use super::{levels::Spot, rules::Rules};
use crate::game::{
    Host, Profile,
    movement::{Publication, angles, fly_through, player_entity},
    numbers::{
        EntityType, PmType, Team, animation, contents, entity_flag, persistant, player_box,
        pm_flag, weapon, weapon_state,
    },
};
use crate::model::{
    Buttons, ClientNum, EntityNum, EntityShared, EntityState, LevelTime, PlayerState, SvFlags,
    UserCmd,
};

/// How far behind and ahead of the level's clock a command may be, in milliseconds.
const COMMAND_WINDOW_MS: (i32, i32) = (1000, 200);
/// How far back a spawned player's clock starts, so that its last command has time to run.
const SPAWN_LAG_MS: i32 = 100;
/// How long a spawned player is on the knockback timer.
const SPAWN_TIMER_MS: i32 = 100;
/// Health above the maximum that a player begins with.
const SPAWN_HEALTH: i32 = 25;
/// Rounds that a player begins with.
const SPAWN_BULLETS: i32 = 100;
/// How long before being dropped an inactive player is warned.
const INACTIVITY_WARNING_MS: i32 = 10_000;
/// Grace given while inactivity is not watched.
const INACTIVITY_GRACE_MS: i32 = 60_000;

/// What a client does in the level. Survives level changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    /// Flies for all to see.
    Playing,
    /// Flies unseen.
    Watching,
    /// Sees what a player sees.
    Following(ClientNum),
    /// Sees what the first (0) or second (1) player sees, whoever that is.
    FollowingPlace(u8),
    /// Sees the scoreboard.
    Scoreboard,
}

impl Role {
    /// The team that clients are told.
    pub(super) const fn team(self) -> Team {
        match self {
            Self::Playing => Team::Free,
            Self::Watching | Self::Following(_) | Self::FollowingPlace(_) | Self::Scoreboard => {
                Team::Spectator
            }
        }
    }

    /// Whether the client takes part.
    pub(super) const fn plays(self) -> bool {
        matches!(self, Self::Playing)
    }
}

/// What a client keeps over level changes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Session {
    /// What it does.
    pub(super) role: Role,
    /// Grows with each client that starts to watch: who has waited longest has the smallest.
    pub(super) waiting_since: u32,
}

/// How far a client has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stage {
    /// Loads the level.
    Connecting,
    /// In the game.
    Active,
}

/// A client that is connected.
#[derive(Clone, Debug)]
pub(super) struct Player {
    pub(super) stage: Stage,
    pub(super) is_bot: bool,
    pub(super) name: String,
    pub(super) max_health: i32,
    /// Its own state.
    pub(super) state: PlayerState,
    /// The state of the one it follows, as sent to it; `None` when it sees its own.
    pub(super) followed: Option<PlayerState>,
    pub(super) entity: EntityState,
    pub(super) shared: EntityShared,
    /// The last command that came.
    pub(super) command: UserCmd,
    /// Buttons of the last command that ran.
    pub(super) buttons: Buttons,
    /// When it entered the level.
    pub(super) entered: LevelTime,
    /// Round trip, as the server measured it.
    pub(super) ping_ms: i32,
    /// When a command came last, in level time and in frames since.
    pub(super) heard_at: LevelTime,
    pub(super) frames_missed: u32,
    /// When it is dropped for doing nothing, and whether it was told.
    pub(super) inactive_at: LevelTime,
    pub(super) inactivity_warned: bool,
    /// When it may change team again.
    pub(super) team_change_at: LevelTime,
    /// When it changed name last, and how often.
    pub(super) renamed_at: Option<LevelTime>,
    pub(super) renames: u32,
}

impl Player {
    pub(super) fn new(client: ClientNum, is_bot: bool, now: LevelTime) -> Self {
        let state = PlayerState { client_num: client.index() as i32, ..PlayerState::default() };
        let mut shared = EntityShared::default();
        if is_bot {
            shared.sv_flags = SvFlags::BOT;
        }
        Self {
            stage: Stage::Connecting,
            is_bot,
            name: String::new(),
            max_health: 100,
            state,
            followed: None,
            entity: EntityState::numbered(client.into()),
            shared,
            command: UserCmd::default(),
            buttons: Buttons::default(),
            entered: now,
            ping_ms: 0,
            heard_at: now,
            frames_missed: 0,
            inactive_at: now + INACTIVITY_GRACE_MS,
            inactivity_warned: false,
            team_change_at: now,
            renamed_at: None,
            renames: 0,
        }
    }

    /// Puts the player at a spot with everything a newcomer has, and runs the last command that came.
    pub(super) fn spawn(
        &mut self,
        host: &mut dyn Host,
        client: ClientNum,
        spot: Spot,
        role: Role,
        around: &Around<'_>,
    ) {
        let (profile, now) = (around.profile, around.now);
        self.command = host.usercmd(client);
        self.followed = None;
        let old = &self.state;
        let mut state = PlayerState {
            client_num: client.index() as i32,
            command_time: (now - SPAWN_LAG_MS).0,
            e_flags: (old.e_flags & (entity_flag::TELEPORT | VOTES)) ^ entity_flag::TELEPORT,
            event_sequence: old.event_sequence,
            entity_event_sequence: old.entity_event_sequence,
            persistant: old.persistant,
            ping: old.ping,
            pm_flags: pm_flag::RESPAWNED | pm_flag::TIME_KNOCKBACK,
            pm_time: SPAWN_TIMER_MS,
            origin: spot.origin,
            viewheight: player_box::VIEW_HEIGHT,
            ground_entity_num: EntityNum::NONE.index() as i32,
            legs_anim: animation::LEGS_IDLE,
            torso_anim: animation::TORSO_STAND,
            weaponstate: weapon_state::READY,
            weapon: if role.plays() { weapon::MACHINEGUN } else { weapon::NONE },
            ..PlayerState::default()
        };
        state.persistant[persistant::TEAM] = role.team() as i32;
        // 16 bits travel.
        let count = &mut state.persistant[persistant::SPAWN_COUNT];
        *count = (*count + 1) & 0x7fff;
        state.stats[profile.stats.health] = self.max_health + SPAWN_HEALTH;
        state.stats[profile.stats.max_health] = self.max_health;
        state.stats[profile.stats.weapons] = 1 << weapon::GAUNTLET | 1 << weapon::MACHINEGUN;
        state.ammo[weapon::GAUNTLET as usize] = weapon::ENDLESS;
        state.ammo[weapon::MACHINEGUN as usize] = SPAWN_BULLETS;
        state.ammo[weapon::GRAPPLE as usize] = weapon::ENDLESS;
        if role == Role::Scoreboard {
            state.pm_flags |= pm_flag::SCOREBOARD;
        }
        angles::look(&mut state, spot.angles, &self.command);
        self.state = state;
        self.buttons = self.command.buttons;
        self.set_movement(role, around.rules);
        self.inactive_at = now + around.rules.inactivity_ms.unwrap_or(INACTIVITY_GRACE_MS);
        self.inactivity_warned = false;

        let command = self.command;
        if self.clamped_time(&command, now) > self.state.command_time {
            self.fly(&command, around);
        }
        self.publish(host, role, around.rules);
        self.link(host, role);
    }

    /// The command's time within what the level's clock allows.
    fn clamped_time(&self, command: &UserCmd, now: LevelTime) -> i32 {
        let earliest = now.0.saturating_sub(COMMAND_WINDOW_MS.0);
        let latest = now.0.saturating_add(COMMAND_WINDOW_MS.1);
        command.server_time.clamp(earliest, latest)
    }

    /// Runs one command of somebody who flies. False when it was too old.
    pub(super) fn fly(&mut self, command: &UserCmd, around: &Around<'_>) -> bool {
        let mut command = *command;
        command.server_time = self.clamped_time(&command, around.now);
        if command.server_time <= self.state.command_time {
            return false;
        }
        let fixed = around.rules.fixed_step_ms;
        if let Some(step) = fixed {
            // Up to the next whole step; the clock is far from its end, or the command waits there.
            let rounded = command.server_time.checked_add(step - 1).map(|time| time / step * step);
            command.server_time = rounded.unwrap_or(command.server_time);
        }
        // Spectators fly by the same steps as players: that is what their clients predict.
        fly_through(&mut self.state, &command, fixed, around.rules.acceleration);
        true
    }

    /// What kind of movement the next command is.
    ///
    /// Spectators pass through walls as well. Their own kind stops at walls, which only clients know
    /// here: they would predict one place and be told another.
    pub(super) fn set_movement(&mut self, role: Role, rules: &Rules) {
        self.state.pm_type = PmType::Noclip as i32;
        self.state.gravity = rules.gravity;
        self.state.speed = if role.plays() { rules.speed } else { super::rules::SPECTATOR_SPEED };
    }

    /// Brings the entity up to date with the state.
    pub(super) fn publish(&mut self, host: &mut dyn Host, role: Role, rules: &Rules) {
        let how = Publication { truncated: true, linear_stop_ms: rules.linear_stop_ms };
        player_entity(&mut self.state, &mut self.entity, how);
        if !role.plays() {
            self.entity.e_type = EntityType::Invisible as i32;
            self.unlink(host);
        }
    }

    /// Makes a player part of the world, where its entity stands, so that others are told of it.
    pub(super) fn link(&mut self, host: &mut dyn Host, role: Role) {
        if !role.plays() {
            return;
        }
        // A flier's movement has no box. Others keep the standing one: names show when aimed at.
        self.shared.mins = player_box::MINS;
        self.shared.maxs = player_box::MAXS;
        self.shared.contents = contents::BODY;
        self.shared.owner_num = EntityNum::NONE.index() as i32;
        self.shared.current_origin = self.entity.pos.base;
        host.link_entity(&mut self.entity, &mut self.shared);
        self.shared.current_origin = self.state.origin;
    }

    /// Takes the player out of the world.
    pub(super) fn unlink(&mut self, host: &mut dyn Host) {
        if self.shared.is_linked() {
            let number = EntityNum::new(self.entity.number as usize).unwrap_or(EntityNum::NONE);
            host.unlink_entity(number, &mut self.shared);
        }
    }

    /// Watches for players who do nothing. True when this one has to go.
    pub(super) fn is_inactive(
        &mut self,
        host: &mut dyn Host,
        client: ClientNum,
        command: &UserCmd,
        around: &Around<'_>,
    ) -> bool {
        let now = around.now;
        let moves = command.forwardmove != 0 || command.rightmove != 0 || command.upmove != 0;
        let Some(limit_ms) = around.rules.inactivity_ms else {
            self.inactive_at = now + INACTIVITY_GRACE_MS;
            self.inactivity_warned = false;
            return false;
        };
        if moves || command.buttons.contains(Buttons::ATTACK) {
            self.inactive_at = now + limit_ms;
            self.inactivity_warned = false;
            return false;
        }
        let left_ms = self.inactive_at.distance(now);
        if left_ms < 0 {
            return true;
        }
        if left_ms < INACTIVITY_WARNING_MS && !self.inactivity_warned {
            self.inactivity_warned = true;
            host.send_command(Some(client), "cp \"Ten seconds until inactivity drop!\n\"");
        }
        false
    }

    /// Sees through the eyes of `other` from now on.
    pub(super) fn follow(&mut self, other: &PlayerState) {
        let mut seen = *other;
        seen.pm_flags |= pm_flag::FOLLOW;
        seen.e_flags = (seen.e_flags & !VOTES) | (self.state.e_flags & VOTES);
        self.followed = Some(seen);
    }

    /// Goes on alone from where the one followed was.
    pub(super) fn stop_following(&mut self, now: LevelTime) {
        let Some(seen) = self.followed.take() else { return };
        self.state.origin = seen.origin;
        self.state.velocity = seen.velocity;
        self.state.command_time = now.0;
        angles::look(&mut self.state, seen.viewangles, &self.command);
    }

    /// The state that the client views from.
    pub(super) fn seen(&self) -> &PlayerState {
        self.followed.as_ref().unwrap_or(&self.state)
    }
}

/// Flags that stay the client's own whatever it looks at.
const VOTES: i32 = entity_flag::VOTED | entity_flag::TEAM_VOTED;

/// What a player's step depends on, besides the player.
#[derive(Clone, Copy, Debug)]
pub(super) struct Around<'a> {
    pub(super) profile: &'static Profile,
    pub(super) rules: &'a Rules,
    /// Level time of the last frame.
    pub(super) now: LevelTime,
}
