//! Client think: spawn, and the effects of each usercmd.
//!
//! Invariants: the entity is linked at the origin that others see, truncated to whole units; after the
//! usercmd its collision origin is the player's exact one. Source: the base game's think and spawn rules.
//! Engine names: `ClientThink_real`, `ClientSpawn`, `ClientEndFrame`.

use super::{
    activation::fire_targets, combat::player_state::PlayerCombatState, context::Context,
    damage::damage_player, extrapolation::extrapolate_missed_frames, hit::Hit,
    holdables::use_holdable, items::powerups::end_powerups, items::powerups::run_player_timers,
    items::speed_of, move_caches::MoveCaches, movers::bump_mover, player_world::clip_mask,
    player_world::player_world, rules::client_context, spawn_points::SpawnPoints, systems::Fight,
    systems::Systems, teleport::telefrag_overlapping, touch::touch_triggers, weapons::fire_weapon,
    weapons::gauntlet::gauntlet_attack, world_effects::apply_world_effects,
    world_effects::set_player_sound,
};
use crate::bg::{EntityType, Event, MeansOfDeath, PmType, Weapon, contents, dm_flag, player_box};
use crate::game::GameEvent;
use crate::game::clients::{Clients, Placement, Role, SPECTATOR_SPEED};
use crate::game::movement::{
    ClampedCommand, HEALTH, PmoveInput, clamp_command_time, events, move_player,
};
use crate::model::{
    Buttons, ClientNum, EntityNum, PlayerState, SvFlags, UserCmd, Vec3, contents::mask,
};

/// Damage of the two hardest falls.
const FALL_DAMAGE: [(Event, i32); 2] = [(Event::FallMedium, 5), (Event::FallFar, 10)];
/// Time after a fall without pain events, in ms.
const FALL_QUIET_MS: i32 = 200;

/// Spawns a client: a player at a spawn point, a spectator at the intermission point.
pub(super) fn spawn(cx: &mut Context<'_>, sys: &mut Systems, client: ClientNum, first: bool) {
    let role = cx.clients.role(client);
    let ruleset = cx.clients.ruleset;
    let Some(player) = cx.clients.player(client) else { return };
    let avoided = player.state.origin;
    let is_local_start = first && cx.host.is_local(client);
    let (placement, spawn_point) = if role.plays() {
        sys.spawn_points.select_spawn_point(cx, client, avoided, is_local_start)
    } else {
        (sys.spawn_points.select_view(cx), None)
    };
    reset_player(cx, &mut sys.fight, client, placement);
    for command in ruleset.spawning.commands {
        cx.host.send_command(Some(client), command);
    }
    if cx.clients.intermission {
        return sys.spawn_points.show_scoreboard(cx, client);
    }
    if role.plays() {
        if let Some(player) = cx.clients.players[client.index()].as_mut() {
            // A victim faces the place where the player appears.
            player.entity.pos.base = player.state.origin;
        }
        cx.emit(GameEvent::Spawn { client, origin: placement.origin });
        telefrag_overlapping(cx, &mut sys.fight, client);
        if let Some(spawn_point) = spawn_point {
            fire_targets(cx, sys, spawn_point, Some(client));
        }
        raise_highest_weapon(cx, client);
        if ruleset.spawning.effect_at_spot {
            cx.show_teleport(client, placement.origin, Event::PlayerTeleportIn);
        }
        sys.fight.combat.publish(cx, client);
        sys.fight.lag.reset(cx, client);
        link_player(cx, client);
    } else if let Some(player) = cx.clients.players[client.index()].as_mut() {
        player.unlink(cx.host);
        player.shared.contents = 0;
    }
    // The client's last usercmd runs at once, unless it is too old.
    let command = cx.clients.player(client).map(|player| player.command);
    if let Some(command) = command {
        let (now, frame) = (cx.clients.now, cx.clients.frame);
        if let Some(player) = cx.clients.players[client.index()].as_mut() {
            player.mark_usercmd(now, frame);
        }
        if role.plays() {
            step(cx, sys, client, &command);
            if ruleset.spawning.links_exactly {
                link_at_own_origin(cx, client);
            }
        } else {
            spectator_think(cx, sys, client, &command);
        }
    }
    end_frame(cx, &mut sys.fight, &mut sys.moves, client);
    if role.plays() {
        sys.fight.combat.publish_spawn(cx, client);
    }
}

/// Resets a client that spawns: projectiles, combat, items, playerstate and entity.
fn reset_player(cx: &mut Context<'_>, fight: &mut Fight, client: ClientNum, placement: Placement) {
    let role = cx.clients.role(client);
    let (now, ruleset) = (cx.clients.now, cx.clients.ruleset);
    fight.projectiles.drop_hook(cx, client);
    fight.projectiles.remove_player_mine(cx, client);
    fight.projectiles.reset_client(client);
    cx.entities.player_event_at[client.index()] = now;
    fight.combat.players[client.index()] = PlayerCombatState {
        protected_until: (cx.frame.combat.protection_ms > 0)
            .then(|| now + cx.frame.combat.protection_ms),
        ..PlayerCombatState::new(now)
    };
    let (spawn_bullets, arms) = (cx.mode().spawn_bullets, cx.frame.combat.loadout);
    fight.items.clear_carried(client);
    let Clients { players, settings, .. } = &mut *cx.clients;
    let Some(player) = players[client.index()].as_mut() else { return };
    player.command = cx.host.usercmd(client);
    player.reset(client, placement, role, ruleset, settings, now);
    player.state.ammo[Weapon::Machinegun] = spawn_bullets;
    if role.plays() {
        arms.equip(&mut player.state, &ruleset.stats);
    }
    player.team_is_new = false;
    player.shared.mins = player_box::MINS;
    player.shared.maxs = player_box::MAXS;
    player.shared.contents = contents::BODY;
    player.shared.owner_num = EntityNum::NONE.index() as i32;
    player.shared.current_origin = placement.origin;
    player.entity.angles = placement.angles;
    player.entity.event = 0;
}

/// Puts the highest weapon of a player in hand, after the targets of its spawn point gave theirs.
fn raise_highest_weapon(cx: &mut Context<'_>, client: ClientNum) {
    let ruleset = cx.clients.ruleset;
    let Some(player) = cx.clients.players[client.index()].as_mut() else { return };
    let owned = player.state.stats[ruleset.stats.weapons];
    let raised = |&weapon: &i32| {
        owned >> weapon & 1 != 0 && !(ruleset.spawning.without_hook && weapon == Weapon::Grapple)
    };
    let highest = (1..=ruleset.equipment.last_weapon).rev().find(raised);
    player.state.weapon = highest.unwrap_or(Weapon::Gauntlet as i32);
}

/// Sends a predictable event that did not fit into the entity to the other clients.
fn send_pending_events(cx: &mut Context<'_>, client: ClientNum) {
    let Some(player) = cx.clients.players[client.index()].as_mut() else { return };
    let Some(shown) = events::pending_event(&mut player.state, 0) else { return };
    cx.temp_entity(shown.pos.base, Event::None, |state, shared| {
        let number = state.number;
        *state = shown;
        state.number = number;
        shared.sv_flags = SvFlags::NOT_SINGLE_CLIENT;
        shared.single_client = client.index() as i32;
    });
}

/// Links a player at the origin that others see.
fn link_player(cx: &mut Context<'_>, client: ClientNum) {
    let Some(player) = cx.clients.players[client.index()].as_mut() else { return };
    player.shared.current_origin = player.entity.pos.base;
    cx.host.link_entity(&mut player.entity, &mut player.shared);
}

/// Links a player at its own origin, which is not truncated.
fn link_at_own_origin(cx: &mut Context<'_>, client: ClientNum) {
    let Some(player) = cx.clients.players[client.index()].as_mut() else { return };
    player.shared.current_origin = player.state.origin;
    cx.host.link_entity(&mut player.entity, &mut player.shared);
}

/// Runs a client's last usercmd.
pub(super) fn think(cx: &mut Context<'_>, sys: &mut Systems, client: ClientNum) {
    if cx.clients.intermission {
        return sys.fight.match_state.handle_ready(cx, client);
    }
    let role = cx.clients.role(client);
    let now = cx.clients.now;
    let Clients { players, settings, .. } = &mut *cx.clients;
    let Some(player) = players[client.index()].as_mut() else { return };
    let command = player.command;
    if role.plays() {
        if player.is_inactive(cx.host, client, &command, settings, now) {
            cx.host.drop_client(client, "Dropped due to inactivity");
            return;
        }
        step(cx, sys, client, &command);
        return;
    }
    if player.followed.is_none() && role != Role::Scoreboard {
        spectator_think(cx, sys, client, &command);
    }
    let Some(player) = cx.clients.players[client.index()].as_mut() else { return };
    let pressed = command.buttons.0 & !player.buttons.0;
    player.buttons = command.buttons;
    client_context(cx, sys, |clients| clients.spectator_buttons(client, pressed));
}

/// Runs a usercmd of a spectator, whose flight only the world stops.
fn spectator_think(cx: &mut Context<'_>, sys: &mut Systems, client: ClientNum, command: &UserCmd) {
    let rules = cx.frame.movement.with_free_steps();
    let Some(player) = cx.clients.player(client) else { return };
    let mut state = player.state;
    let Some(timely) = clamp_command_time(&state, command, &cx.frame.movement, cx.clients.now)
    else {
        return;
    };
    state.pm_type = PmType::Spectator as i32;
    state.speed = SPECTATOR_SPEED;
    state.gravity = cx.clients.settings.gravity;
    let conditions = PmoveInput { mask: mask::DEAD_SOLID, gauntlet_hit: false };
    let outcome = {
        let mut world = player_world(cx, &mut sys.moves, client, &state, timely.ms);
        move_player(&mut state, &timely.command, &rules, conditions, &mut world)
    };
    let Some(player) = cx.clients.players[client.index()].as_mut() else { return };
    player.state = state;
    player.shared.mins = outcome.mins;
    player.shared.maxs = outcome.maxs;
    player.shared.current_origin = state.origin;
    touch_triggers(cx, sys, client);
    if let Some(player) = cx.clients.players[client.index()].as_mut() {
        player.unlink(cx.host);
    }
}

/// Runs a usercmd of a player.
fn step(cx: &mut Context<'_>, sys: &mut Systems, client: ClientNum, command: &UserCmd) {
    let asked_time = command.server_time;
    let Some(player) = cx.clients.player(client) else { return };
    let Some(ClampedCommand { mut command, ms }) =
        clamp_command_time(&player.state, command, &cx.frame.movement, cx.clients.now)
    else {
        return;
    };
    if std::mem::take(&mut sys.fight.combat.players[client.index()].must_gesture) {
        command.buttons.0 |= Buttons::GESTURE.0;
    }
    sys.fight.projectiles.begin_command(client, asked_time);
    sys.fight.combat.expire_award(cx, client);
    sys.fight.projectiles.hold_hook(cx, client, command.buttons);
    let gauntlet_hit = gauntlet_attack(cx, &mut sys.fight, client, &command);
    // A gauntlet hit can change the attacker's own state.
    let Some(player) = cx.clients.player(client) else { return };
    let mut state = player.state;
    let dead = state.stats[HEALTH] <= 0;
    let noclip = player.cheats.noclip;
    state.pm_type = match (noclip, dead) {
        (true, _) => PmType::Noclip,
        (false, true) => PmType::Dead,
        (false, false) => PmType::Normal,
    } as i32;
    state.gravity = cx.clients.settings.gravity;
    state.speed = speed_of(cx.clients.ruleset, cx.clients.settings.speed, &state);
    let mask = clip_mask(player);
    let seen_events = state.event_sequence;
    let outcome = {
        let mut world = player_world(cx, &mut sys.moves, client, &state, ms);
        let conditions = PmoveInput { mask, gauntlet_hit };
        move_player(&mut state, &command, &cx.frame.movement, conditions, &mut world)
    };
    let body = &mut sys.fight.combat.players[client.index()];
    body.water_level = outcome.water_level;
    body.water_type = outcome.water_type;
    let Some(player) = cx.clients.players[client.index()].as_mut() else { return };
    player.state = state;
    if !noclip {
        player.shared.mins = outcome.mins;
        player.shared.maxs = outcome.maxs;
    }
    player.buttons = command.buttons;
    sys.fight.combat.publish(cx, client);
    send_pending_events(cx, client);
    apply_move_events(cx, &mut sys.fight, &mut sys.spawn_points, client, seen_events);
    link_player(cx, client);
    if !noclip {
        touch_triggers(cx, sys, client);
    }
    if let Some(player) = cx.clients.players[client.index()].as_mut() {
        player.shared.current_origin = player.state.origin;
        sys.fight.lag.record_move(client);
    }
    for &number in outcome.touched.as_slice() {
        bump_mover(cx, number, client);
    }
    // Events of the move, of triggers and of items last from now on. Those that others add last as the ones before.
    let events = cx.clients.player(client).map(|player| player.state.event_sequence);
    if events.is_some_and(|sequence| sequence != seen_events) {
        cx.entities.player_event_at[client.index()] = cx.clients.now;
    }
    sys.fight.combat.forget_pusher_on_ground(cx, client);
    if cx.is_dead(client) {
        wait_for_respawn(cx, sys, client);
    } else {
        run_player_timers(cx, &mut sys.fight.combat, &mut sys.fight.items, client, ms);
    }
}

/// Applies the predictable events of a pmove: falling damage, attacks, used holdables.
fn apply_move_events(
    cx: &mut Context<'_>,
    fight: &mut Fight,
    spawn_points: &mut SpawnPoints,
    client: ClientNum,
    seen: i32,
) {
    let Some(player) = cx.clients.player(client) else { return };
    let PlayerState { event_sequence, events, .. } = player.state;
    let first = seen.max(event_sequence.wrapping_sub(2));
    for sequence in first..event_sequence {
        let raised = events[(sequence & 1) as usize];
        if raised == Event::FireWeapon {
            fire_weapon(cx, fight, client);
            continue;
        }
        if let Some(tag) = Event::used_item(raised) {
            use_holdable(cx, fight, spawn_points, client, tag);
            continue;
        }
        let Some((_, points)) = FALL_DAMAGE.into_iter().find(|(event, _)| *event == raised) else {
            continue;
        };
        let plays = cx
            .clients
            .player(client)
            .is_some_and(|player| player.entity.e_type == EntityType::Player);
        if !plays || cx.clients.settings.dmflags & dm_flag::NO_FALLING != 0 {
            continue;
        }
        fight.combat.players[client.index()].pain_debounce_until = cx.clients.now + FALL_QUIET_MS;
        damage_player(cx, fight, client, &Hit::by_world(points, MeansOfDeath::Falling));
    }
}

/// Respawns a dead player on request, or after `g_forcerespawn` seconds.
fn wait_for_respawn(cx: &mut Context<'_>, sys: &mut Systems, client: ClientNum) {
    let now = cx.clients.now;
    let since = now.distance(sys.fight.combat.players[client.index()].respawn_at);
    if since <= 0 {
        return;
    }
    let forced = cx.clients.settings.forced_respawn_s.map(|s| s.saturating_mul(1000));
    let Some(player) = cx.clients.player(client) else { return };
    let asked = player.buttons.0 & (Buttons::ATTACK.0 | Buttons::USE_HOLDABLE.0) != 0;
    let asked = asked || forced.is_some_and(|ms| since > ms);
    if asked {
        respawn(cx, sys, client);
    }
}

/// Copies the body to the body queue and spawns the player.
pub(super) fn respawn(cx: &mut Context<'_>, sys: &mut Systems, client: ClientNum) {
    sys.body_queue.copy_to_body_queue(cx, client);
    spawn(cx, sys, client, false);
    if !cx.clients.ruleset.spawning.effect_at_spot {
        let at = cx.clients.player(client).map(|player| player.shared.current_origin);
        let at = at.unwrap_or(Vec3::ZERO);
        cx.show_teleport(client, at, Event::PlayerTeleportIn);
    }
}

/// Ends a client's frame: powerups, world effects, pain, events.
pub(super) fn end_frame(
    cx: &mut Context<'_>,
    fight: &mut Fight,
    moves: &mut MoveCaches,
    client: ClientNum,
) {
    if cx.clients.intermission {
        return;
    }
    cx.clients.update_connection_flag(client);
    if cx.clients.role(client).plays() {
        end_powerups(cx, client);
        apply_world_effects(cx, fight, client);
        fight.combat.send_damage_feedback(cx, client);
        set_player_sound(cx, &fight.combat, client);
    }
    fight.combat.publish(cx, client);
    send_pending_events(cx, client);
    if cx.clients.settings.extrapolates && cx.clients.role(client).plays() {
        extrapolate_missed_frames(cx, moves, client);
    }
    if cx.clients.ruleset.combat.compensates_lag && cx.clients.role(client).plays() {
        fight.lag.store(cx, client);
    }
}
