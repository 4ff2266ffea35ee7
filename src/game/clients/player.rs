//! Player: a connected client with its state, entity and session.
//!
//! Source: the base game's client lifecycle and spawn rules.

use super::{Accuracy, GameSettings, cheats::Cheats};
use crate::model::{
    Buttons, ClientNum, EntityNum, EntityShared, EntityState, LevelTime, PlayerState, SvFlags,
    UserCmd, Vec3,
};
use crate::{
    bg::{
        Persistent, Team, TeamColor, UNLIMITED_AMMO, Weapon, WeaponState, animation, entity_flag,
        pm_flag,
    },
    game::{Host, Ruleset, movement::angles},
};

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

/// A place to be and a direction to look.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in crate::game) struct Placement {
    /// Where the player's origin goes.
    pub(in crate::game) origin: Vec3,
    /// Pitch, yaw, roll in degrees.
    pub(in crate::game) angles: Vec3,
}

/// What a client does in the level. Survives level changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::game) enum Role {
    /// Plays for all to see: in a team, or for itself.
    Playing(Option<TeamColor>),
    /// Flies unseen.
    Spectating,
    /// Sees what a player sees.
    Following(ClientNum),
    /// Sees what the first (0) or second (1) player sees, whoever that is.
    AutoFollowing(u8),
    /// Sees the scoreboard.
    Scoreboard,
}

impl Role {
    /// The team that clients are told.
    pub(in crate::game) const fn team(self) -> Team {
        match self {
            Self::Playing(None) => Team::Free,
            Self::Playing(Some(color)) => color.team(),
            Self::Spectating | Self::Following(_) | Self::AutoFollowing(_) | Self::Scoreboard => {
                Team::Spectator
            }
        }
    }

    /// Whether the client takes part.
    pub(in crate::game) const fn plays(self) -> bool {
        matches!(self, Self::Playing(_))
    }

    /// The color that it plays for.
    pub(in crate::game) const fn color(self) -> Option<TeamColor> {
        match self {
            Self::Playing(color) => color,
            Self::Spectating | Self::Following(_) | Self::AutoFollowing(_) | Self::Scoreboard => {
                None
            }
        }
    }
}

/// What a client keeps over level changes.
#[derive(Clone, Copy, Debug)]
pub(in crate::game) struct Session {
    /// What it does.
    pub(in crate::game) role: Role,
    /// Grows with each client that starts to watch: who has waited longest has the smallest.
    pub(in crate::game) waiting_since: u32,
    /// Tournament games won and lost.
    pub(in crate::game) wins: i32,
    pub(in crate::game) losses: i32,
    /// Leads its team.
    pub(in crate::game) leads: bool,
    /// Whether the client has chosen what it does. Otherwise it is asked as it connects.
    pub(in crate::game) is_settled: bool,
}

impl Session {
    /// Nobody's.
    pub(in crate::game) const NEW: Self = Self {
        role: Role::Playing(None),
        waiting_since: 0,
        wins: 0,
        losses: 0,
        leads: false,
        is_settled: false,
    };
}

/// How far a client has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::game) enum JoinState {
    /// Loads the level.
    Connecting,
    /// In the game.
    Active,
}

/// A client that is connected.
#[derive(Clone, Debug)]
pub(in crate::game) struct Player {
    pub(in crate::game) join_state: JoinState,
    pub(in crate::game) is_bot: bool,
    pub(in crate::game) name: String,
    pub(in crate::game) max_health: i32,
    pub(in crate::game) cheats: Cheats,
    /// Its own state.
    pub(in crate::game) state: PlayerState,
    /// The state of the one it follows, as sent to it; `None` when it sees its own.
    pub(in crate::game) followed: Option<PlayerState>,
    pub(in crate::game) entity: EntityState,
    pub(in crate::game) shared: EntityShared,
    /// The last command that came.
    pub(in crate::game) command: UserCmd,
    /// Buttons of the last command that ran.
    pub(in crate::game) buttons: Buttons,
    /// When it entered the level.
    pub(in crate::game) entered: LevelTime,
    /// How well it shoots.
    pub(in crate::game) accuracy: Accuracy,
    /// Round trip, as the server measured it.
    pub(in crate::game) ping_ms: i32,
    /// When a command came last, in level time and in frames since.
    pub(in crate::game) heard_at: LevelTime,
    pub(in crate::game) frames_missed: u32,
    /// When it is dropped for doing nothing, and whether it was told.
    pub(in crate::game) inactive_at: LevelTime,
    pub(in crate::game) inactivity_warned: bool,
    /// When it may change team again.
    pub(in crate::game) team_change_at: LevelTime,
    /// Whether its team was entered since it came: the first spot is nearer to the flag.
    pub(in crate::game) team_is_new: bool,
    /// Wants to be told where its team mates are.
    pub(in crate::game) team_overlay: bool,
    /// When it changed name last, and how often.
    pub(in crate::game) renamed_at: Option<LevelTime>,
    pub(in crate::game) renames: u32,
}

impl Player {
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
            heard_at: now,
            frames_missed: 0,
            inactive_at: now + INACTIVITY_GRACE_MS,
            inactivity_warned: false,
            team_change_at: now,
            team_is_new: true,
            team_overlay: false,
            renamed_at: None,
            renames: 0,
        }
    }

    /// Everything that somebody who appears at a spot has: the state is new but for what outlives death.
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
            event_sequence: old.event_sequence,
            entity_event_sequence: old.entity_event_sequence,
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
        // 16 bits travel.
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

    /// Takes the player out of the world.
    pub(in crate::game) fn unlink(&mut self, host: &mut dyn Host) {
        if self.shared.is_linked() {
            let number = EntityNum::new(self.entity.number as usize).unwrap_or(EntityNum::NONE);
            host.unlink_entity(number, &mut self.shared);
        }
    }

    /// Watches for players who do nothing. True when this one has to go.
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

    /// Sees through the eyes of `other` from now on.
    pub(in crate::game) fn follow(&mut self, other: &PlayerState) {
        let mut seen = *other;
        seen.pm_flags |= pm_flag::FOLLOW;
        seen.e_flags = (seen.e_flags & !VOTES) | (self.state.e_flags & VOTES);
        self.followed = Some(seen);
    }

    /// Goes on alone from where the one followed was.
    pub(in crate::game) fn stop_following(&mut self, now: LevelTime) {
        let Some(seen) = self.followed.take() else { return };
        self.state.origin = seen.origin;
        self.state.velocity = seen.velocity;
        self.state.command_time = now.0;
        angles::look(&mut self.state, seen.viewangles, &self.command);
    }

    /// Whether it is not dead.
    pub(in crate::game) fn is_alive(&self, ruleset: &Ruleset) -> bool {
        self.state.stats[ruleset.stats.health] > 0
    }

    /// The state that the client views from.
    pub(in crate::game) fn view_state(&self) -> &PlayerState {
        self.followed.as_ref().unwrap_or(&self.state)
    }
}

/// Flags that stay the client's own whatever it looks at.
pub(in crate::game) const VOTES: i32 = entity_flag::VOTED | entity_flag::TEAM_VOTED;
