//! What targets do to whoever sets them off: tell, throw, kill, give, take, score, move.
//!
//! Source: the base game's targets.

use std::sync::Arc;

use super::{BLUE_ONLY, Cause, RED_ONLY, middle};
use crate::model::{ClientNum, EntityNum};
use crate::world::entity_string::MapEntity;
use crate::{
    bg::{Event, MeansOfDeath, Persistent, PmType, Powerup, Team},
    game::{
        Host,
        deathmatch::{
            Deathmatch,
            combat::{Hit, LETHAL},
            movers::direction_of,
            names::{PAD_SOUND, sound},
        },
        movement::push::pad_velocity,
        userinfo::clean_text,
    },
};

/// Bit of a print for whoever sets it off; of a push that sounds like a jump pad.
const PRIVATE: i32 = 4;
const LIKE_A_PAD: i32 = 1;
/// Longest text in the middle of the screen, in bytes.
const MAX_TEXT: usize = 1000;
/// Heard when something throws that is no pad.
const WIND_SOUND: &str = "sound/misc/windfly.wav";
/// When a push is aimed after the load, and how often it is heard, in milliseconds.
const AIM_MS: i32 = 100;
const WIND_MS: i32 = 1500;
/// Most points given or taken at once.
const MAX_POINTS: i32 = 32_767;

type Game<'a> = &'a mut Deathmatch;

/// `target_print`.
pub(in crate::game::deathmatch) fn print(game: Game<'_>, _host: &mut dyn Host, entity: &MapEntity) {
    let text = entity.text_field("message").unwrap_or_default();
    let lines: Vec<String> = text.split('\n').map(|line| clean_text(line, MAX_TEXT)).collect();
    let mut text = lines.join("\n");
    text.truncate(MAX_TEXT);
    game.add_target(entity, Cause::Print(text.into()));
}

/// `target_teleporter`.
pub(in crate::game::deathmatch) fn teleporter(
    game: Game<'_>,
    _host: &mut dyn Host,
    entity: &MapEntity,
) {
    game.add_target(entity, Cause::Teleport);
}

/// `target_kill`.
pub(in crate::game::deathmatch) fn kill(game: Game<'_>, _host: &mut dyn Host, entity: &MapEntity) {
    game.add_target(entity, Cause::Kill);
}

/// `target_give`.
pub(in crate::game::deathmatch) fn give(game: Game<'_>, _host: &mut dyn Host, entity: &MapEntity) {
    game.add_target(entity, Cause::Give);
}

/// `target_remove_powerups`.
pub(in crate::game::deathmatch) fn strip(game: Game<'_>, _host: &mut dyn Host, entity: &MapEntity) {
    game.add_target(entity, Cause::Strip);
}

/// `target_score`.
pub(in crate::game::deathmatch) fn score(game: Game<'_>, _host: &mut dyn Host, entity: &MapEntity) {
    let points = entity.int("count").filter(|&points| points != 0).unwrap_or(1);
    game.add_target(entity, Cause::Score(points.clamp(-MAX_POINTS, MAX_POINTS)));
}

/// `target_push`.
pub(in crate::game::deathmatch) fn push(game: Game<'_>, host: &mut dyn Host, entity: &MapEntity) {
    let like_a_pad = entity.int("spawnflags").unwrap_or(0) & LIKE_A_PAD != 0;
    let noise = sound(host, if like_a_pad { PAD_SOUND } else { WIND_SOUND });
    let speed = entity.float("speed").filter(|&speed| speed != 0.0).unwrap_or(1000.0);
    let due = game.people.now + AIM_MS;
    let Some(number) = game.add_target(entity, Cause::Push(noise)) else { return };
    let Some(thing) = game.things.get_mut(number) else { return };
    thing.state.origin2 = direction_of(entity.angles()) * speed.clamp(-100_000.0, 100_000.0);
    thing.think_at = (!thing.target.is_empty()).then_some(due);
}

impl Deathmatch {
    /// A target acts on whoever set it off.
    pub(super) fn act_on(
        &mut self,
        host: &mut dyn Host,
        number: EntityNum,
        cause: &Cause,
        client: ClientNum,
    ) {
        match cause {
            Cause::Teleport => self.teleport_to_target(host, client, number),
            Cause::Kill => {
                let hit = Hit::by_world(LETHAL, MeansOfDeath::Telefrag);
                self.hurt(host, client, &Hit { unstoppable: true, ..hit });
            }
            Cause::Push(sound) => self.throw(host, number, *sound, client),
            Cause::Give => self.give_targets(host, number, client),
            Cause::Strip => {
                self.return_flags_of(host, client);
                if let Some(player) = self.people.players[client.index()].as_mut() {
                    player.state.powerups = [0; 16];
                }
            }
            Cause::Score(points) => {
                let at = self.things.get(number).map(|thing| thing.shared.current_origin);
                if let Some(at) = at {
                    self.add_score(host, client, *points, at);
                }
            }
            _ => {}
        }
    }

    pub(super) fn print_target(
        &self,
        host: &mut dyn Host,
        number: EntityNum,
        text: &Arc<str>,
        activator: Option<ClientNum>,
    ) {
        let flags = self.things.get(number).map_or(0, |thing| thing.spawnflags);
        let command = format!("cp \"{text}\"");
        if let Some(client) = activator.filter(|_| flags & PRIVATE != 0) {
            host.send_command(Some(client), &command);
            return;
        }
        if flags & (RED_ONLY | BLUE_ONLY) == 0 {
            host.send_command(None, &command);
            return;
        }
        for (bit, team) in [(RED_ONLY, Team::Red), (BLUE_ONLY, Team::Blue)] {
            let members = ClientNum::all().filter(|&client| {
                flags & bit != 0
                    && self.people.active(client).is_some_and(|player| {
                        player.state.persistant[Persistent::Team] == team as i32
                    })
            });
            for client in members {
                host.send_command(Some(client), &command);
            }
        }
    }

    /// Aims a push at its target, once that exists: the target is the top of the leap. One that cannot
    /// throw there is gone.
    pub(super) fn aim_push(&mut self, host: &mut dyn Host, number: EntityNum) {
        let target = self.pick_target(number).and_then(|target| self.things.get(target));
        let target = target.map(|target| target.state.origin);
        let gravity = self.people.rules.gravity as f32;
        let Some(thing) = self.things.get_mut(number) else { return };
        let center = middle(thing);
        match target.and_then(|target| pad_velocity(center, target, gravity)) {
            Some(velocity) => thing.state.origin2 = velocity,
            None => self.things.remove(host, number, self.people.now),
        }
    }

    fn throw(&mut self, host: &mut dyn Host, number: EntityNum, sound: i32, client: ClientNum) {
        let now = self.people.now;
        let Some(velocity) = self.things.get(number).map(|thing| thing.state.origin2) else {
            return;
        };
        let Some(player) = self.people.players[client.index()].as_mut() else { return };
        if player.state.pm_type != PmType::Normal || player.state.powerups[Powerup::Flight] != 0 {
            return;
        }
        player.state.velocity = velocity;
        let at = player.shared.current_origin;
        let body = &mut self.bodies[client.index()];
        if now.distance(body.wind_until) > 0 {
            body.wind_until = now + WIND_MS;
            self.flash(host, at, Event::GeneralSound, |state, _| state.event_parm = sound);
        }
    }

    /// Goes to one of the places that a thing aims at.
    pub(in crate::game::deathmatch) fn teleport_to_target(
        &mut self,
        host: &mut dyn Host,
        client: ClientNum,
        from: EntityNum,
    ) {
        let Some(destination) = self.pick_target(from) else { return };
        let Some(place) = self.things.get(destination) else { return };
        let (origin, angles) = (place.state.origin, place.state.angles);
        self.teleport(host, client, origin, angles);
    }

    fn give_targets(&mut self, host: &mut dyn Host, number: EntityNum, client: ClientNum) {
        let Some(name) = self.things.get(number).map(|thing| thing.target.clone()) else { return };
        for target in self.things.numbers() {
            let aimed_at = self.things.get(target).is_some_and(|thing| {
                !name.is_empty() && thing.targetname.eq_ignore_ascii_case(&name)
            });
            if aimed_at {
                self.give_item(host, client, target);
            }
        }
    }
}
