//! What happens where players are: pads, teleporters, places that hurt, what they touch.
//!
//! Source: the base game's triggers.

use super::{
    Deathmatch,
    combat::Hit,
    names::{PAD_SOUND, sound},
    targets::Cause,
    things::What,
};
use crate::model::{ClientNum, EntityNum, LevelTime, SvFlags, Vec3};
use crate::world::entity_string::MapEntity;
use crate::{
    bg::{EntityType, Event, MeansOfDeath, contents},
    game::{Host, movement::push},
};

/// How far around a player triggers are looked for.
const REACH: Vec3 = Vec3::new(40.0, 40.0, 52.0);
/// When pads are aimed after the load, in milliseconds.
const AIM_MS: i32 = 100;
/// Bit of a teleporter for those who watch.
const SPECTATORS_ONLY: i32 = 1;
/// Bits of a place that hurts: not from the start; unheard; whatever protects; seldom.
const HURT_STARTS_OFF: i32 = 1;
const HURT_SILENT: i32 = 4;
const HURT_UNSTOPPABLE: i32 = 8;
const HURT_SLOW: i32 = 16;
/// How often a place hurts, in milliseconds.
const HURT_MS: (i32, i32) = (100, 1000);

/// A place that hurts.
#[derive(Clone, Copy, Debug)]
pub(super) struct Hurt {
    points: i32,
    sound: i32,
    next: LevelTime,
}

/// `trigger_push`.
pub(super) fn pad(game: &mut Deathmatch, host: &mut dyn Host, entity: &MapEntity) {
    sound(host, PAD_SOUND);
    let due = game.people.now + AIM_MS;
    let number = game.add_trigger(host, entity, What::Pad, Some(EntityType::PushTrigger));
    if let Some(pad) = number.and_then(|number| game.things.get_mut(number)) {
        pad.think_at = Some(due);
    }
}

/// `trigger_teleport`.
pub(super) fn teleporter(game: &mut Deathmatch, host: &mut dyn Host, entity: &MapEntity) {
    sound(host, PAD_SOUND);
    let spectators_only = entity.int("spawnflags").unwrap_or(0) & SPECTATORS_ONLY != 0;
    let shown = (!spectators_only).then_some(EntityType::TeleportTrigger);
    game.add_trigger(host, entity, What::Teleporter { spectators_only }, shown);
}

/// `trigger_hurt`.
pub(super) fn hurt(game: &mut Deathmatch, host: &mut dyn Host, entity: &MapEntity) {
    let flags = entity.int("spawnflags").unwrap_or(0);
    let what = What::Hurt(Hurt {
        points: entity.int("dmg").filter(|&points| points != 0).unwrap_or(5),
        sound: sound(host, "sound/world/electro.wav"),
        next: game.people.now,
    });
    let number = game.add_trigger(host, entity, what, None);
    if let Some(number) = number.filter(|_| flags & HURT_STARTS_OFF != 0) {
        game.things.unlink(host, number);
    }
}

impl Deathmatch {
    /// A trigger drawn in the map, which clients are not told of unless `shown`.
    pub(super) fn add_trigger(
        &mut self,
        host: &mut dyn Host,
        entity: &MapEntity,
        what: What,
        shown: Option<EntityType>,
    ) -> Option<EntityNum> {
        let number = self.add(entity, what)?;
        if !self.give_brushes(host, entity, number, contents::TRIGGER) {
            self.things.remove(host, number, self.people.now);
            return None;
        }
        let thing = self.things.get_mut(number)?;
        thing.state.angles = Vec3::ZERO;
        match shown {
            Some(kind) => thing.state.e_type = kind as i32,
            None => thing.shared.sv_flags = SvFlags::NO_CLIENT,
        }
        self.things.link(host, number);
        Some(number)
    }

    /// Everything that a player's box is in acts on it.
    pub(super) fn touch_triggers(&mut self, host: &mut dyn Host, client: ClientNum) {
        let plays = self.people.role(client).plays();
        if plays && self.is_dead(client) {
            return;
        }
        let Some(player) = self.people.player(client) else { return };
        let origin = player.state.origin;
        let (mins, maxs) = (origin + player.shared.mins, origin + player.shared.maxs);
        let mut found = [EntityNum::NONE; crate::model::limits::MAX_ENTITIES];
        let count = host
            .world()
            .map_or(0, |world| world.bodies_in_box(origin - REACH, origin + REACH, &mut found));
        for &number in &found[..count] {
            let Some(thing) = self.things.get(number) else { continue };
            if thing.shared.contents & contents::TRIGGER == 0 {
                continue;
            }
            let for_all = matches!(thing.what, What::Teleporter { .. } | What::DoorHelper { .. });
            if !plays && !for_all {
                continue;
            }
            let touched = if matches!(thing.what, What::Item(_)) {
                self.stands_on_item(client, number)
            } else {
                host.world().is_some_and(|world| {
                    world.scene(&*self, client.into()).touches(mins, maxs, number)
                })
            };
            if touched {
                self.touch(host, client, number);
            }
        }
        if let Some(player) = self.people.players[client.index()].as_mut() {
            push::leave_jump_pad(&mut player.state);
        }
    }

    fn touch(&mut self, host: &mut dyn Host, client: ClientNum, number: EntityNum) {
        let plays = self.people.role(client).plays();
        let Some(thing) = self.things.get(number) else { return };
        match thing.what {
            What::Pad => {
                let velocity = thing.state.origin2;
                if let Some(player) = self.people.players[client.index()].as_mut() {
                    let before = player.state.event_sequence;
                    push::touch_jump_pad(&mut player.state, number.index() as i32, velocity);
                    if player.state.event_sequence != before {
                        self.bodies[client.index()].event_at = self.people.now;
                    }
                }
            }
            What::Teleporter { spectators_only }
                if !(spectators_only && plays || self.is_dead(client)) =>
            {
                self.teleport_to_target(host, client, number);
            }
            What::Hurt(_) => self.hurt_by_place(host, client, number),
            What::Trigger(ref trigger) if matches!(trigger.cause, Cause::Touch) => {
                self.use_thing(host, number, Some(client));
            }
            What::DoorHelper { .. } => self.come_near_door(host, number, client),
            What::PlatHelper(plat) => self.stand_on_plat(host, plat, client),
            What::Item(_) => self.touch_item(host, client, number),
            _ => {}
        }
    }

    /// Somebody has run into something: buttons, lowered lifts.
    pub(super) fn bump(&mut self, host: &mut dyn Host, client: ClientNum, number: EntityNum) {
        self.bump_mover(host, number, client);
    }

    fn hurt_by_place(&mut self, host: &mut dyn Host, client: ClientNum, number: EntityNum) {
        let now = self.people.now;
        let Some(thing) = self.things.get_mut(number) else { return };
        let (flags, (fast, slow)) = (thing.spawnflags, HURT_MS);
        let What::Hurt(hurt) = &mut thing.what else { return };
        if hurt.next.distance(now) > 0 {
            return;
        }
        hurt.next = now + if flags & HURT_SLOW != 0 { slow } else { fast };
        let hurt = *hurt;
        if flags & HURT_SILENT == 0
            && let Some(player) = self.people.player(client)
        {
            let at = player.shared.current_origin;
            self.flash(host, at, Event::GeneralSound, |state, _| state.event_parm = hurt.sound);
        }
        let hit = Hit::by_world(hurt.points, MeansOfDeath::TriggerHurt);
        self.hurt(host, client, &Hit { unstoppable: flags & HURT_UNSTOPPABLE != 0, ..hit });
    }

    /// A place that hurts stops to, or begins to.
    pub(super) fn toggle_place(&mut self, host: &mut dyn Host, number: EntityNum) {
        if self.things.get(number).is_some_and(|place| place.shared.is_linked()) {
            self.things.unlink(host, number);
        } else {
            self.things.link(host, number);
        }
    }

    /// Computes how a pad throws, once its target exists. One that cannot throw is gone.
    pub(super) fn aim_pad(&mut self, host: &mut dyn Host, number: EntityNum) {
        let now = self.people.now;
        let due = |at: LevelTime| at.distance(now) <= 0;
        if !self.things.get(number).is_some_and(|pad| pad.think_at.is_some_and(due)) {
            return;
        }
        let target = self.pick_target(number).and_then(|target| self.things.get(target));
        let target = target.map(|target| target.state.origin);
        let gravity = self.people.rules.gravity as f32;
        let Some(pad) = self.things.get_mut(number) else { return };
        pad.think_at = None;
        let center = (pad.shared.absmin + pad.shared.absmax) * 0.5;
        match target.and_then(|target| push::pad_velocity(center, target, gravity)) {
            Some(velocity) => pad.state.origin2 = velocity,
            None => self.things.remove(host, number, now),
        }
    }
}
