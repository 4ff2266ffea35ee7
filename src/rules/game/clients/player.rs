//! Player: a connected client with its state, entity and session.
//!
//! Source: the base game's client lifecycle and spawn rules.

use super::{Accuracy, GameSettings, cheats::Cheats};
use crate::model::{
    Buttons, ClientNum, EntityNum, EntityShared, EntityState, LevelTime, PlayerState, SvFlags,
    UserCmd, Vec3, prefetch,
};
use crate::{
    bg::{
        Persistent, Team, TeamColor, UNLIMITED_AMMO, Weapon, WeaponState, animation, entity_flag,
        pm_flag,
    },
    game::{Host, Ruleset, movement::angles},
};

/// Time that the clock of a spawned player is set back, in ms: its last usercmd still has to run.
const SPAWN_LAG_MS: i32 = 100;
/// Knockback timer of a spawned player, in ms.
const SPAWN_TIMER_MS: i32 = 100;
/// Health of a spawned player above the maximum.
const SPAWN_HEALTH: i32 = 25;
/// Machine gun rounds of a spawned player.
const SPAWN_BULLETS: i32 = 100;
/// Time between the inactivity warning and the drop, in ms.
const INACTIVITY_WARNING_MS: i32 = 10_000;
/// Inactivity limit while `g_inactivity` is 0, in ms: applies when the setting is turned on.
const INACTIVITY_GRACE_MS: i32 = 60_000;

/// Origin and view angles of a player to be placed.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(in crate::game) struct Placement {
    /// Origin.
    pub(in crate::game) origin: Vec3,
    /// Pitch, yaw and roll, in degrees.
    pub(in crate::game) angles: Vec3,
}

/// Role of a client in the level; kept over level changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::game) enum Role {
    /// Player in a team, or in no team.
    Playing(Option<TeamColor>),
    /// Free spectator.
    Spectating,
    /// Spectator that follows a player.
    Following(ClientNum),
    /// Spectator that follows the first (0) or second (1) player in slot order.
    AutoFollowing(u8),
    /// Spectator that views the scoreboard only.
    Scoreboard,
}

impl Role {
    /// Returns the team number of the role.
    pub(in crate::game) const fn team(self) -> Team {
        match self {
            Self::Playing(None) => Team::Free,
            Self::Playing(Some(color)) => color.team(),
            Self::Spectating | Self::Following(_) | Self::AutoFollowing(_) | Self::Scoreboard => {
                Team::Spectator
            }
        }
    }

    /// Whether the client is a player.
    pub(in crate::game) const fn plays(self) -> bool {
        matches!(self, Self::Playing(_))
    }

    /// Returns the color of a player in a team.
    pub(in crate::game) const fn color(self) -> Option<TeamColor> {
        match self {
            Self::Playing(color) => color,
            Self::Spectating | Self::Following(_) | Self::AutoFollowing(_) | Self::Scoreboard => {
                None
            }
        }
    }
}

/// State of a client that is kept over level changes.
#[derive(Clone, Copy, Debug)]
pub(in crate::game) struct Session {
    /// Role.
    pub(in crate::game) role: Role,
    /// Position in the tournament queue: the spectator that has waited longest has the smallest.
    pub(in crate::game) waiting_since: u32,
    /// Tournament games won.
    pub(in crate::game) wins: i32,
    pub(in crate::game) losses: i32,
    /// Whether the client leads its team.
    pub(in crate::game) leads: bool,
    /// Whether the role has been chosen. Otherwise it is chosen on connect.
    pub(in crate::game) is_settled: bool,
}

impl Session {
    /// Session of a free slot.
    pub(in crate::game) const NEW: Self = Self {
        role: Role::Playing(None),
        waiting_since: 0,
        wins: 0,
        losses: 0,
        leads: false,
        is_settled: false,
    };
}

/// Progress of a client from connect to play.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::game) enum JoinState {
    /// Loading the level.
    Connecting,
    /// Entered the level.
    Active,
}

/// A connected client: player state, entity, and state of the server side.
#[derive(Clone, Debug)]
pub(in crate::game) struct Player {
    pub(in crate::game) join_state: JoinState,
    pub(in crate::game) is_bot: bool,
    pub(in crate::game) name: String,
    pub(in crate::game) max_health: i32,
    pub(in crate::game) cheats: Cheats,
    /// Own player state.
    pub(in crate::game) state: PlayerState,
    /// Player state of the followed player, as sent to this client; `None` without one.
    pub(in crate::game) followed: Option<PlayerState>,
    pub(in crate::game) entity: EntityState,
    pub(in crate::game) shared: EntityShared,
    /// Last usercmd received.
    pub(in crate::game) command: UserCmd,
    /// Buttons of the last usercmd that ran.
    pub(in crate::game) buttons: Buttons,
    /// Level time of entry.
    pub(in crate::game) entered: LevelTime,
    /// Shots and hits by weapon.
    pub(in crate::game) accuracy: Accuracy,
    /// Ping measured by the server, in ms.
    pub(in crate::game) ping_ms: i32,
    /// Level time of the last usercmd that was received or ran at a spawn; the number of its frame follows.
    pub(super) received_at: LevelTime,
    received_in: u32,
    /// Level time of the drop for inactivity; whether the client was warned follows.
    pub(in crate::game) inactive_at: LevelTime,
    pub(in crate::game) inactivity_warned: bool,
    /// Level time from which the client may change teams again.
    pub(in crate::game) team_change_at: LevelTime,
    /// Whether the client has not spawned in its team yet: the first spawn point is near the flag.
    pub(in crate::game) team_is_new: bool,
    /// Whether the client gets the team overlay.
    pub(in crate::game) team_overlay: bool,
    /// Level time of the last name change; the number of changes follows.
    pub(in crate::game) renamed_at: Option<LevelTime>,
    pub(in crate::game) renames: u32,
}

impl Player {
    /// Requests the memory that usercmds need.
    pub(in crate::game) fn expect_usercmds(&self) {
        prefetch(&self.state);
        prefetch(&self.entity);
        prefetch(&self.shared);
        prefetch(&self.command);
    }

    /// Marks that a usercmd was received in a frame, or ran again at a spawn.
    pub(in crate::game) fn mark_usercmd(&mut self, now: LevelTime, frame: u32) {
        self.received_at = now;
        self.received_in = frame;
    }

    /// Returns the number of frames before a frame in which no usercmd was received.
    pub(in crate::game) fn missed_frames(&self, frame: u32) -> u32 {
        frame.wrapping_sub(self.received_in).saturating_sub(1)
    }

    pub(in crate::game) fn new(client: ClientNum, is_bot: bool, now: LevelTime) -> Self {
        let state = PlayerState { client_num: client.index() as i32, ..PlayerState::default() };
        let mut shared = EntityShared::default();
        if is_bot {
            shared.sv_flags = SvFlags::BOT;
        }
        Self {
            join_state: JoinState::Connecting,
            is_bot,
            name: String::new(),
            max_health: 100,
            cheats: Cheats::default(),
            state,
            followed: None,
            entity: EntityState::numbered(client.into()),
            shared,
            command: UserCmd::default(),
            buttons: Buttons::default(),
            entered: now,
            accuracy: Accuracy::default(),
            ping_ms: 0,
            received_at: now,
            received_in: 0,
            inactive_at: now + INACTIVITY_GRACE_MS,
            inactivity_warned: false,
            team_change_at: now,
            team_is_new: true,
            team_overlay: false,
            renamed_at: None,
            renames: 0,
        }
    }

    /// Resets the player state for a spawn. Score, ping, flags of votes and event numbers stay.
    pub(in crate::game) fn reset(
        &mut self,
        client: ClientNum,
        placement: Placement,
        role: Role,
        ruleset: &Ruleset,
        settings: &GameSettings,
        now: LevelTime,
    ) {
        self.followed = None;
        self.cheats = Cheats::default();
        let old = &self.state;
        let mut state = PlayerState {
            client_num: client.index() as i32,
            command_time: (now - SPAWN_LAG_MS).0,
            e_flags: (old.e_flags & (entity_flag::TELEPORT | VOTES)) ^ entity_flag::TELEPORT,
            // The entity's sequence starts again: it shows two empty events, which clear the parameter of the
            // last one.
            event_sequence: old.event_sequence,
            persistant: old.persistant,
            ping: old.ping,
            pm_flags: pm_flag::RESPAWNED | pm_flag::TIME_KNOCKBACK,
            pm_time: SPAWN_TIMER_MS,
            origin: placement.origin,
            legs_anim: animation::LEGS_IDLE,
            torso_anim: animation::TORSO_STAND,
            weaponstate: WeaponState::Ready as i32,
            weapon: Weapon::Machinegun as i32,
            ..PlayerState::default()
        };
        state.persistant[Persistent::Team] = role.team() as i32;
        // The counter is sent in 16 bits and must stay positive.
        let count = &mut state.persistant[Persistent::SpawnCount];
        *count = (*count + 1) & 0x7fff;
        state.stats[ruleset.stats.health] = self.max_health + SPAWN_HEALTH;
        state.stats[ruleset.stats.max_health] = self.max_health;
        state.stats[ruleset.stats.weapons] = Weapon::Gauntlet.bit() | Weapon::Machinegun.bit();
        state.ammo[Weapon::Gauntlet] = UNLIMITED_AMMO;
        state.ammo[Weapon::Machinegun] = SPAWN_BULLETS;
        state.ammo[Weapon::Grapple] = UNLIMITED_AMMO;
        if role == Role::Scoreboard {
            state.pm_flags |= pm_flag::SCOREBOARD;
        }
        angles::look(&mut state, placement.angles, &self.command);
        self.state = state;
        self.buttons = self.command.buttons;
        self.inactive_at = now + settings.inactivity_ms.unwrap_or(INACTIVITY_GRACE_MS);
        self.inactivity_warned = false;
    }

    /// Unlinks the player's entity from the world.
    pub(in crate::game) fn unlink(&mut self, host: &mut dyn Host) {
        if self.shared.is_linked() {
            let number = EntityNum::new(self.entity.number as usize).unwrap_or(EntityNum::NONE);
            host.unlink_entity(number, &mut self.shared);
        }
    }

    /// Updates the inactivity timer and sends the warning. Returns whether the player is to be dropped.
    pub(in crate::game) fn is_inactive(
        &mut self,
        host: &mut dyn Host,
        client: ClientNum,
        command: &UserCmd,
        settings: &GameSettings,
        now: LevelTime,
    ) -> bool {
        let moves = command.forwardmove != 0 || command.rightmove != 0 || command.upmove != 0;
        let Some(limit_ms) = settings.inactivity_ms else {
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

    /// Sets the view to the player state of `other`.
    pub(in crate::game) fn follow(&mut self, other: &PlayerState) {
        let mut seen = *other;
        seen.pm_flags |= pm_flag::FOLLOW;
        seen.e_flags = (seen.e_flags & !VOTES) | (self.state.e_flags & VOTES);
        self.followed = Some(seen);
    }

    /// Ends following and becomes a free spectator at the origin of the followed player.
    pub(in crate::game) fn stop_following(&mut self, now: LevelTime) {
        let Some(seen) = self.followed.take() else { return };
        self.state.origin = seen.origin;
        self.state.velocity = seen.velocity;
        self.state.command_time = now.0;
        angles::look(&mut self.state, seen.viewangles, &self.command);
    }

    /// Whether the player's health is above zero.
    pub(in crate::game) fn is_alive(&self, ruleset: &Ruleset) -> bool {
        self.state.stats[ruleset.stats.health] > 0
    }

    /// Returns the player state that the client is sent: the followed one or its own.
    pub(in crate::game) fn view_state(&self) -> &PlayerState {
        self.followed.as_ref().unwrap_or(&self.state)
    }
}

/// Entity flags that a spectator keeps while it follows a player.
pub(in crate::game) const VOTES: i32 = entity_flag::VOTED | entity_flag::TEAM_VOTED;
