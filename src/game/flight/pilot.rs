//! Free-flight movement and entity state of a player.
//!
//! Invariants: states are finite; a player's entity is linked only while it flies for all to see.
//! Source: the base game's think rules.

use crate::model::{ClientNum, EntityNum, LevelTime, UserCmd};
use crate::{
    bg::{EntityType, PmType, contents, player_box},
    game::{
        Host, Ruleset,
        clients::{GameSettings, Placement, Player, Role, SPECTATOR_SPEED},
        movement::{Publication, noclip_move, player_entity},
    },
};

/// How far behind and ahead of the level's clock a command may be, in milliseconds.
const COMMAND_WINDOW_MS: (i32, i32) = (1000, 200);

impl Player {
    /// Puts the player at a spot with everything a newcomer has, and runs the last command that came.
    pub(super) fn spawn(
        &mut self,
        host: &mut dyn Host,
        client: ClientNum,
        spot: Placement,
        role: Role,
        around: &Around<'_>,
    ) {
        self.command = host.usercmd(client);
        self.reset(client, spot, role, around.ruleset, around.settings, around.now);
        // Who flies has neither stance nor ground.
        self.state.viewheight = player_box::VIEW_HEIGHT;
        self.state.ground_entity_num = EntityNum::NONE.index() as i32;
        self.set_movement(role, around.settings);

        let command = self.command;
        if self.clamped_time(&command, around.now) > self.state.command_time {
            self.fly(&command, around);
        }
        self.publish(host, role, around.settings);
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
        let fixed = around.settings.fixed_step_ms;
        if let Some(step) = fixed {
            // Up to the next whole step; the clock is far from its end, or the command waits there.
            let rounded = command.server_time.checked_add(step - 1).map(|time| time / step * step);
            command.server_time = rounded.unwrap_or(command.server_time);
        }
        // Spectators fly by the same steps as players: that is what their clients predict.
        noclip_move(&mut self.state, &command, fixed, around.settings.acceleration);
        true
    }

    /// What kind of movement the next command is.
    ///
    /// Spectators pass through walls as well. Their own kind stops at walls, which only clients know
    /// here: they would predict one place and be told another.
    pub(super) fn set_movement(&mut self, role: Role, settings: &GameSettings) {
        self.state.pm_type = PmType::Noclip as i32;
        self.state.gravity = settings.gravity;
        self.state.speed = if role.plays() { settings.speed } else { SPECTATOR_SPEED };
    }

    /// Brings the entity up to date with the state.
    pub(super) fn publish(&mut self, host: &mut dyn Host, role: Role, settings: &GameSettings) {
        let how = Publication { truncated: true, linear_stop_ms: settings.linear_stop_ms };
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
}

/// What a player's step depends on, besides the player.
#[derive(Clone, Copy, Debug)]
pub(super) struct Around<'a> {
    pub(super) ruleset: &'static Ruleset,
    pub(super) settings: &'a GameSettings,
    /// Level time of the last frame.
    pub(super) now: LevelTime,
}
