//! How players begin, and what each of their commands does: the move, what it touches, what follows.
//!
//! The order is what clients rely on: the entity is linked where others see it (cut to whole units) and
//! collides where the player really is. Source: the base game's think and spawn rules.

use super::{
    Deathmatch,
    body::Body,
    combat::{HEALTH, Hit},
    items::speed_of,
};
use crate::model::{
    Buttons, ClientNum, EntityNum, PlayerState, SvFlags, Trace, UserCmd, Vec3, contents::mask,
};
use crate::world::links::{CollisionScene, World};
use crate::{
    bg::{EntityType, Event, GameType, MeansOfDeath, PmType, Weapon, contents, player_box},
    game::{
        Host,
        movement::{
            Conditions, OpenSpace, Publication, Surroundings, Timely, events, move_player,
            player_entity, push, timely,
        },
        people::{Populated, Role, SPECTATOR_SPEED, TEAM_BULLETS},
    },
};

/// Damage of the two worse falls, and the bit of `dmflags` that spares it.
const FALL_DAMAGE: [(Event, i32); 2] = [(Event::FallMedium, 5), (Event::FallFar, 10)];
const NO_FALLING_DMFLAG: i32 = 8;
/// How long after a fall nothing else is heard to hurt, in milliseconds.
const FALL_QUIET_MS: i32 = 200;
/// Events of using what is held; the item's tag is added to the first, which is for none.

/// How far beyond its box a player looks who stands still: a step up or down. More, in units a second,
/// it is unlikely to gain while a command lasts.
const REACH: f32 = 20.0;
const GAIN: f32 = 400.0;

/// The world around one player; without a map there is nothing.
struct Around<'a> {
    scene: Option<CollisionScene<'a, Deathmatch>>,
}

impl Surroundings for Around<'_> {
    fn trace(&mut self, start: Vec3, mins: Vec3, maxs: Vec3, end: Vec3, mask: i32) -> Trace {
        match &self.scene {
            Some(scene) => scene.trace(start, mins, maxs, end, mask),
            None => OpenSpace.trace(start, mins, maxs, end, mask),
        }
    }

    fn point_contents(&mut self, point: Vec3) -> i32 {
        match &self.scene {
            Some(scene) => scene.point_contents(point),
            None => OpenSpace.point_contents(point),
        }
    }
}

impl Deathmatch {
    /// What a player meets on its way from a state, for so long.
    fn around<'a>(
        &'a self,
        host: &'a dyn Host,
        client: ClientNum,
        state: &PlayerState,
        ms: i32,
    ) -> Around<'a> {
        let reach = REACH + (state.velocity.length() + GAIN) * ms as f32 / 1000.0;
        let reach = Vec3::new(reach, reach, reach);
        let mins = state.origin + player_box::MINS - reach;
        let maxs = state.origin + player_box::MAXS + reach;
        let scene = |world: &'a World| world.scene(self, client.into()).with_candidates(mins, maxs);
        Around { scene: host.world().map(scene) }
    }

    /// How players' entities are made from their states.
    fn publication(&self) -> Publication {
        Publication { truncated: true, linear_stop_ms: self.people.rules.linear_stop_ms }
    }

    /// Puts a client into the level: at a spot, or at the view of those who watch.
    pub(super) fn spawn(&mut self, host: &mut dyn Host, client: ClientNum, first: bool) {
        let role = self.people.role(client);
        let (now, profile) = (self.people.now, self.people.profile);
        let Some(player) = self.people.player(client) else { return };
        let avoided = player.state.origin;
        let is_local_start = first && host.is_local(client);
        let (spot, start) = if role.plays() {
            self.choose_spot(client, avoided, is_local_start)
        } else {
            (self.view_spot(), None)
        };
        self.drop_hook(host, client);
        self.drop_ticking_mine(host, client);
        self.bodies[client.index()] = Body {
            protected_until: (self.combat.protection_ms > 0)
                .then(|| now + self.combat.protection_ms),
            ..Body::new(now)
        };
        let (game_type, arms) = (self.people.game_type, self.combat.arms);
        self.forget_luggage(client);
        let Turn { player, rules } = self.player_and_rules(client);
        let Some(player) = player else { return };
        player.command = host.usercmd(client);
        player.reset(client, spot, role, profile, rules, now);
        if game_type == GameType::TeamDeathmatch {
            player.state.ammo[Weapon::Machinegun] = TEAM_BULLETS;
        }
        if role.plays() {
            arms.equip(&mut player.state, &profile.stats);
        }
        player.team_is_new = false;
        player.shared.mins = player_box::MINS;
        player.shared.maxs = player_box::MAXS;
        player.shared.contents = contents::BODY;
        player.shared.owner_num = EntityNum::NONE.index() as i32;
        player.shared.current_origin = spot.origin;
        player.entity.event = 0;
        for command in profile.spawn_commands {
            host.send_command(Some(client), command);
        }
        if self.people.intermission {
            return self.show_scoreboard(host, client);
        }
        if role.plays() {
            self.crush_others(host, client);
            if let Some(start) = start {
                self.fire_targets(host, start, Some(client));
            }
            if profile.shown_at_spot {
                self.show_teleport(host, client, spot.origin, Event::PlayerTeleportIn);
            }
            self.publish(client);
            self.link_player(host, client);
        } else if let Some(player) = self.people.players[client.index()].as_mut() {
            player.unlink(host);
            player.shared.contents = 0;
        }
        // What the client had asked for runs at once, as far as it is not too old.
        let command = self.people.player(client).map(|player| player.command);
        if let Some(command) = command {
            if role.plays() {
                self.step(host, client, &command);
            } else {
                self.drift(host, client, &command);
            }
        }
        self.end_frame(host, client);
    }

    /// Kills whoever stands where a player has just appeared.
    pub(super) fn crush_others(&mut self, host: &mut dyn Host, client: ClientNum) {
        let Some(player) = self.people.player(client) else { return };
        let (mins, maxs) = (player.shared.mins, player.shared.maxs);
        let origin = player.state.origin;
        let met: Vec<ClientNum> = self.others_in(client, origin + mins, origin + maxs).collect();
        for other in met {
            self.hurt(host, other, &Hit::telefrag(client));
        }
    }

    /// Brings a player's entity up to date, and shows an event that it has no room for.
    fn publish(&mut self, client: ClientNum) {
        let how = self.publication();
        let watches = !self.people.role(client).plays();
        let Some(player) = self.people.players[client.index()].as_mut() else { return };
        player_entity(&mut player.state, &mut player.entity, how);
        if watches {
            player.entity.e_type = EntityType::Invisible as i32;
        }
        if self.bodies[client.index()].gibbed {
            player.entity.e_type = EntityType::Invisible as i32;
        }
    }

    /// Shows one more predictable event to the others, when the entity could not.
    fn show_left_over(&mut self, host: &mut dyn Host, client: ClientNum) {
        let Some(player) = self.people.players[client.index()].as_mut() else { return };
        let Some(shown) = events::left_over(&mut player.state, 0) else { return };
        self.flash(host, shown.pos.base, Event::None, |state, shared| {
            let number = state.number;
            *state = shown;
            state.number = number;
            shared.sv_flags = SvFlags::NOT_SINGLE_CLIENT;
            shared.single_client = client.index() as i32;
        });
    }

    /// Links a player where others see it; it collides where it really is.
    fn link_player(&mut self, host: &mut dyn Host, client: ClientNum) {
        let Some(player) = self.people.players[client.index()].as_mut() else { return };
        player.shared.current_origin = player.entity.pos.base;
        host.link_entity(&mut player.entity, &mut player.shared);
    }

    /// Runs a client's last command.
    pub(super) fn think(&mut self, host: &mut dyn Host, client: ClientNum) {
        if self.people.intermission {
            return self.take_ready(client);
        }
        let role = self.people.role(client);
        let now = self.people.now;
        let Turn { player, rules } = self.player_and_rules(client);
        let Some(player) = player else { return };
        let command = player.command;
        if role.plays() {
            if player.is_inactive(host, client, &command, rules, now) {
                host.drop_client(client, "Dropped due to inactivity");
                return;
            }
            self.step(host, client, &command);
            return;
        }
        if player.followed.is_none() && role != Role::Scoreboard {
            self.drift(host, client, &command);
        }
        let Some(player) = self.people.players[client.index()].as_mut() else { return };
        let pressed = command.buttons.0 & !player.buttons.0;
        player.buttons = command.buttons;
        (self as &mut dyn Populated).watch_buttons(host, client, pressed);
    }

    /// One command of somebody who watches: flies, stopped by walls only.
    fn drift(&mut self, host: &mut dyn Host, client: ClientNum, command: &UserCmd) {
        let rules = self.movement.with_free_steps();
        let Some(player) = self.people.player(client) else { return };
        let mut state = player.state;
        let Some(timely) = timely(&state, command, &self.movement, self.people.now) else { return };
        state.pm_type = PmType::Spectator as i32;
        state.speed = SPECTATOR_SPEED;
        state.gravity = self.people.rules.gravity;
        let conditions = Conditions { mask: mask::DEAD_SOLID, gauntlet_hit: false };
        let outcome = {
            let mut around = self.around(&*host, client, &state, timely.ms);
            move_player(&mut state, &timely.command, &rules, conditions, &mut around)
        };
        let Some(player) = self.people.players[client.index()].as_mut() else { return };
        player.state = state;
        player.shared.mins = outcome.mins;
        player.shared.maxs = outcome.maxs;
        player.shared.current_origin = state.origin;
        self.touch_triggers(host, client);
        if let Some(player) = self.people.players[client.index()].as_mut() {
            player.unlink(host);
        }
    }

    /// One command of somebody who plays.
    fn step(&mut self, host: &mut dyn Host, client: ClientNum, command: &UserCmd) {
        let asked_time = command.server_time;
        let Some(player) = self.people.player(client) else { return };
        let Some(Timely { command, ms }) =
            timely(&player.state, command, &self.movement, self.people.now)
        else {
            return;
        };
        self.bodies[client.index()].attack_time = asked_time;
        self.fade_award(client);
        self.hold_hook(host, client, command.buttons);
        let before = self.people.player(client).map(|player| player.state);
        let gauntlet_hit = before.is_some_and(|state| self.saw(host, client, &state, &command));
        // What the gauntlet does may come back to who uses it.
        let Some(player) = self.people.player(client) else { return };
        let (mut state, is_bot) = (player.state, player.is_bot);
        let dead = state.stats[HEALTH] <= 0;
        let noclip = player.cheats.noclip;
        state.pm_type = match (noclip, dead) {
            (true, _) => PmType::Noclip,
            (false, true) => PmType::Dead,
            (false, false) => PmType::Normal,
        } as i32;
        state.gravity = self.people.rules.gravity;
        state.speed = speed_of(self.people.profile, self.people.rules.speed, &state);
        let mask = match (is_bot, dead) {
            (true, _) => mask::BOT_SOLID,
            (false, true) => mask::DEAD_SOLID,
            (false, false) => mask::PLAYER_SOLID,
        };
        let seen_events = state.event_sequence;
        let outcome = {
            let mut around = self.around(&*host, client, &state, ms);
            let conditions = Conditions { mask, gauntlet_hit };
            move_player(&mut state, &command, &self.movement, conditions, &mut around)
        };
        let now = self.people.now;
        let body = &mut self.bodies[client.index()];
        body.water_level = outcome.water_level;
        body.water_type = outcome.water_type;
        if state.event_sequence != seen_events {
            body.event_at = now;
        }
        let Some(player) = self.people.players[client.index()].as_mut() else { return };
        player.state = state;
        if !noclip {
            player.shared.mins = outcome.mins;
            player.shared.maxs = outcome.maxs;
        }
        player.buttons = command.buttons;
        self.publish(client);
        self.show_left_over(host, client);
        self.feel_events(host, client, seen_events);
        self.link_player(host, client);
        if !noclip {
            self.touch_triggers(host, client);
        }
        if let Some(player) = self.people.players[client.index()].as_mut() {
            player.shared.current_origin = player.state.origin;
        }
        for &number in outcome.touched.as_slice() {
            self.bump(host, client, number);
        }
        if self.is_dead(client) {
            self.wait_for_respawn(host, client);
        } else {
            self.pass_time(&*host, client, ms);
        }
    }

    /// What the predictable events of a move do: falls hurt, weapons fire, what is held is used.
    fn feel_events(&mut self, host: &mut dyn Host, client: ClientNum, seen: i32) {
        let Some(player) = self.people.player(client) else { return };
        let PlayerState { event_sequence, events, .. } = player.state;
        let first = seen.max(event_sequence.wrapping_sub(2));
        for sequence in first..event_sequence {
            let raised = events[(sequence & 1) as usize];
            if raised == Event::FireWeapon {
                self.fire_weapon(host, client);
                continue;
            }
            if let Some(tag) = Event::used_item(raised) {
                self.use_holdable(host, client, tag);
                continue;
            }
            let Some((_, points)) = FALL_DAMAGE.into_iter().find(|(event, _)| *event == raised)
            else {
                continue;
            };
            let plays = self
                .people
                .player(client)
                .is_some_and(|player| player.entity.e_type == EntityType::Player);
            if !plays || self.people.rules.dmflags & NO_FALLING_DMFLAG != 0 {
                continue;
            }
            self.bodies[client.index()].quiet_until = self.people.now + FALL_QUIET_MS;
            self.hurt(host, client, &Hit::by_world(points, MeansOfDeath::Falling));
        }
    }

    /// The dead come back when they ask for it, or after a while.
    fn wait_for_respawn(&mut self, host: &mut dyn Host, client: ClientNum) {
        let now = self.people.now;
        let since = now.distance(self.bodies[client.index()].respawn_at);
        if since <= 0 {
            return;
        }
        let forced = self.people.rules.forced_respawn_s.map(|s| s.saturating_mul(1000));
        let Some(player) = self.people.player(client) else { return };
        let asked = player.buttons.0 & (Buttons::ATTACK.0 | Buttons::USE_HOLDABLE.0) != 0;
        if asked || forced.is_some_and(|ms| since > ms) {
            self.respawn(host, client);
        }
    }

    /// Leaves the body and begins anew.
    pub(super) fn respawn(&mut self, host: &mut dyn Host, client: ClientNum) {
        self.leave_body(host, client);
        self.spawn(host, client, false);
        if !self.people.profile.shown_at_spot {
            let at = self.people.player(client).map(|player| player.shared.current_origin);
            let at = at.unwrap_or(Vec3::ZERO);
            self.show_teleport(host, client, at, Event::PlayerTeleportIn);
        }
    }

    /// What is due to a client at the end of each frame.
    pub(super) fn end_frame(&mut self, host: &mut dyn Host, client: ClientNum) {
        if self.people.intermission {
            return;
        }
        self.people.watch_connection(client);
        if self.people.role(client).plays() {
            self.end_powerups(client);
            self.feel_surroundings(host, client);
            self.show_pain(client);
        }
        self.publish(client);
        self.show_left_over(host, client);
    }

    /// Goes elsewhere: through a teleporter.
    pub(super) fn teleport(
        &mut self,
        host: &mut dyn Host,
        client: ClientNum,
        origin: Vec3,
        angles: Vec3,
    ) {
        let plays = self.people.role(client).plays();
        let Some(player) = self.people.player(client) else { return };
        let from = player.state.origin;
        if plays {
            self.show_teleport(host, client, from, Event::PlayerTeleportOut);
            self.show_teleport(host, client, origin, Event::PlayerTeleportIn);
        }
        let Some(player) = self.people.players[client.index()].as_mut() else { return };
        player.unlink(host);
        push::teleport(&mut player.state, origin, angles, &player.command);
        if plays {
            self.crush_others(host, client);
        }
        self.publish(client);
        if let Some(player) = self.people.players[client.index()].as_mut() {
            player.shared.current_origin = player.state.origin;
            if plays {
                host.link_entity(&mut player.entity, &mut player.shared);
            }
        }
    }
}

/// A player, and the settings that everybody goes by, at once.
pub(super) struct Turn<'a> {
    pub(super) player: Option<&'a mut crate::game::people::Player>,
    pub(super) rules: &'a crate::game::people::Rules,
}

impl Deathmatch {
    pub(super) fn player_and_rules(&mut self, client: ClientNum) -> Turn<'_> {
        let people = &mut self.people;
        Turn { player: people.players[client.index()].as_mut(), rules: &people.rules }
    }
}
