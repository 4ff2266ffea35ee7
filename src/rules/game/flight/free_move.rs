//! Free-flight movement and entity state of a player.
//!
//! Invariants: states are finite; only players have a linked entity. Source: the base game's think rules.

use crate::model::{ClientNum, EntityNum, LevelTime, UserCmd};
use crate::{
    bg::{EntityType, PmType, contents, player_box},
    game::{
        Host, Ruleset,
        clients::{GameSettings, Placement, Player, Role, SPECTATOR_SPEED},
        movement::{EntityStateOptions, noclip_move, player_entity},
    },
};

/// Maximum lag and lead of a usercmd relative to the level time, in ms.
const COMMAND_WINDOW_MS: (i32, i32) = (1000, 200);

impl Player {
    /// Spawns the player and runs its last usercmd.
    pub(super) fn spawn(
        &mut self,
        host: &mut dyn Host,
        client: ClientNum,
        spot: Placement,
        role: Role,
        cx: &FlightContext<'_>,
    ) {
        self.command = host.usercmd(client);
        self.reset(client, spot, role, cx.ruleset, cx.settings, cx.now);
        // Noclip movement has neither ducking nor ground.
        self.state.viewheight = player_box::VIEW_HEIGHT;
        self.state.ground_entity_num = EntityNum::NONE.index() as i32;
        self.set_movement(role, cx.settings);

        let command = self.command;
        if self.clamped_time(&command, cx.now) > self.state.command_time {
            self.fly(&command, cx);
        }
        self.publish(host, role, cx.settings);
        self.link(host, role);
    }

    /// Returns the usercmd's time, clamped to the window around the level time.
    fn clamped_time(&self, command: &UserCmd, now: LevelTime) -> i32 {
        let earliest = now.0.saturating_sub(COMMAND_WINDOW_MS.0);
        let latest = now.0.saturating_add(COMMAND_WINDOW_MS.1);
        command.server_time.clamp(earliest, latest)
    }

    /// Runs a usercmd. Returns false if it is too old.
    pub(super) fn fly(&mut self, command: &UserCmd, cx: &FlightContext<'_>) -> bool {
        let mut command = *command;
        command.server_time = self.clamped_time(&command, cx.now);
        if command.server_time <= self.state.command_time {
            return false;
        }
        let fixed = cx.settings.fixed_step_ms;
        if let Some(step) = fixed {
            // Round up to a whole sub-step. A time that would overflow stays.
            let rounded = command.server_time.checked_add(step - 1).map(|time| time / step * step);
            command.server_time = rounded.unwrap_or(command.server_time);
        }
        // Spectators use the same sub-steps as players, because their clients predict them.
        let GameSettings { acceleration, arithmetic, .. } = *cx.settings;
        noclip_move(&mut self.state, &command, fixed, acceleration, arithmetic);
        true
    }

    /// Sets movement type, gravity and speed for the next usercmd.
    ///
    /// Spectators use noclip too. The spectator type collides with walls, which only clients know here, so
    /// prediction would differ.
    pub(super) fn set_movement(&mut self, role: Role, settings: &GameSettings) {
        self.state.pm_type = PmType::Noclip as i32;
        self.state.gravity = settings.gravity;
        self.state.speed = if role.plays() { settings.speed } else { SPECTATOR_SPEED };
    }

    /// Updates the entity state from the player state.
    pub(super) fn publish(&mut self, host: &mut dyn Host, role: Role, settings: &GameSettings) {
        let how = EntityStateOptions { truncated: true, linear_stop_ms: settings.linear_stop_ms };
        player_entity(&mut self.state, &mut self.entity, how);
        if !role.plays() {
            self.entity.e_type = EntityType::Invisible as i32;
            self.unlink(host);
        }
    }

    /// Links a player's entity at its sent origin, so that snapshots include it.
    pub(super) fn link(&mut self, host: &mut dyn Host, role: Role) {
        if !role.plays() {
            return;
        }
        // Noclip has no box. The standing box lets clients show the name of an aimed-at player.
        self.shared.mins = player_box::MINS;
        self.shared.maxs = player_box::MAXS;
        self.shared.contents = contents::BODY;
        self.shared.owner_num = EntityNum::NONE.index() as i32;
        self.shared.current_origin = self.entity.pos.base;
        host.link_entity(&mut self.entity, &mut self.shared);
        self.shared.current_origin = self.state.origin;
    }
}

/// Context of a usercmd.
#[derive(Clone, Copy, Debug)]
pub(super) struct FlightContext<'a> {
    pub(super) ruleset: &'static Ruleset,
    pub(super) settings: &'a GameSettings,
    /// Level time of the last frame.
    pub(super) now: LevelTime,
}
