//! What happens where players are: pads, teleporters, places that hurt; and what fires what.
//!
//! Invariants: targets that fire each other in a circle stop after [`MAX_CHAIN`] links. Source: the base
//! game's triggers and targets.

use super::{Deathmatch, harm::Hit, things::What};
use crate::game::{
    Host,
    movement::{angles, push},
    numbers::{EntityType, Means, contents, event},
    userinfo::clean_text,
};
use crate::model::{ClientNum, EntityNum, SvFlags, Vec3};

/// How far around a player triggers are looked for.
const REACH: Vec3 = Vec3::new(40.0, 40.0, 52.0);
/// Most links of targets that fire targets.
const MAX_CHAIN: u8 = 16;
/// Bits of a place that hurts.
const HURT_SILENT: i32 = 4;
const HURT_SLOW: i32 = 16;
/// How often a place hurts, in milliseconds.
const HURT_MS: (i32, i32) = (100, 1000);
/// Bits of a speaker: heard everywhere, or from whoever set it off.
const SPEAKER_LOOPS: i32 = 1 | 2;
const SPEAKER_GLOBAL: i32 = 4;
const SPEAKER_ACTIVATOR: i32 = 8;

/// A place that hurts.
#[derive(Clone, Copy, Debug)]
pub(super) struct Hurt {
    pub(super) points: i32,
    pub(super) sound: i32,
    pub(super) next: crate::model::LevelTime,
}

/// How a trigger is set off, and what it does besides firing its targets.
#[derive(Clone, Debug)]
pub(super) enum Cause {
    /// Touched or used; then rests. Once, when there is no rest.
    Touch,
    /// By itself, once.
    Start,
    /// By itself, again and again while on.
    Clock { on: bool },
    /// Used.
    Relay,
    /// Used, and fires later.
    Delay,
    /// Used: a line in the middle of the screen.
    Print(Box<str>),
    /// Used: goes to the target.
    Teleport,
    /// Used: dies.
    Kill,
    /// Used: plays a sound.
    Speaker(i32),
}

/// Something that fires its targets.
#[derive(Clone, Debug)]
pub(super) struct Trigger {
    pub(super) cause: Cause,
    /// Seconds.
    pub(super) wait: f32,
    pub(super) random: f32,
    pub(super) activator: Option<ClientNum>,
}

impl Deathmatch {
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
            .map_or(0, |world| world.entities_in_box(origin - REACH, origin + REACH, &mut found));
        for &number in &found[..count] {
            let Some(thing) = self.things.get(number) else { continue };
            if thing.shared.contents & contents::TRIGGER == 0 {
                continue;
            }
            let for_all = matches!(thing.what, What::Teleporter { .. } | What::DoorHelper(_));
            if !plays && !for_all {
                continue;
            }
            let touched = host.world().is_some_and(|world| {
                world.scene(&*self, client.into()).touches(mins, maxs, number)
            });
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
            What::Teleporter { spectators_only } if !(spectators_only && plays) => {
                if !self.is_dead(client) {
                    self.teleport_to_target(host, client, number);
                }
            }
            What::Hurt(_) => self.hurt_by_place(host, client, number),
            What::Trigger(Trigger { cause: Cause::Touch, .. }) => {
                self.use_thing(host, number, Some(client), 0);
            }
            What::DoorHelper(door) if plays => self.use_mover(host, door, Some(client)),
            What::PlatHelper(plat) => self.stand_on_plat(host, plat, client),
            What::Teleporter { .. }
            | What::DoorHelper(_)
            | What::Trigger(_)
            | What::Event
            | What::Place
            | What::Mover(_)
            | What::Corpse(_)
            | What::Scenery => {}
        }
    }

    /// Somebody has run into something: buttons, lowered lifts.
    pub(super) fn bump(&mut self, host: &mut dyn Host, client: ClientNum, number: EntityNum) {
        self.bump_mover(host, number, client);
    }

    fn teleport_to_target(&mut self, host: &mut dyn Host, client: ClientNum, from: EntityNum) {
        let Some(destination) = self.pick_target(from) else { return };
        let Some(place) = self.things.get(destination) else { return };
        let (origin, angles) = (place.state.origin, place.state.angles);
        self.teleport(host, client, origin, angles);
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
        if flags & HURT_SILENT == 0 {
            self.show(client, event::GENERAL_SOUND, hurt.sound);
        }
        self.hurt(host, client, &Hit::by_world(hurt.points, Means::TriggerHurt));
    }

    /// A thing that another one aims at, by chance.
    pub(super) fn pick_target(&mut self, from: EntityNum) -> Option<EntityNum> {
        let name = self.things.get(from)?.target.clone();
        let count = self.things.named(&name).take(32).count();
        let nth = self.pick(count);
        self.things.named(&name).nth(nth)
    }

    /// Computes how a pad throws, once its target exists. One that cannot throw is gone.
    pub(super) fn aim_pad(&mut self, host: &mut dyn Host, number: EntityNum) {
        let now = self.people.now;
        let due = |at: crate::model::LevelTime| at.distance(now) <= 0;
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

    /// Uses everything that a thing aims at.
    pub(super) fn fire_targets(
        &mut self,
        host: &mut dyn Host,
        number: EntityNum,
        activator: Option<ClientNum>,
    ) {
        self.fire(host, number, activator, 0);
    }

    fn fire(
        &mut self,
        host: &mut dyn Host,
        number: EntityNum,
        activator: Option<ClientNum>,
        links: u8,
    ) {
        let Some(thing) = self.things.get(number) else { return };
        if thing.target.is_empty() || links >= MAX_CHAIN {
            return;
        }
        let name = thing.target.clone();
        for target in self.things.numbers() {
            let aimed_at = self
                .things
                .get(target)
                .is_some_and(|thing| thing.targetname.eq_ignore_ascii_case(&name));
            if aimed_at && target != number {
                self.use_thing(host, target, activator, links + 1);
            }
        }
    }

    fn use_thing(
        &mut self,
        host: &mut dyn Host,
        number: EntityNum,
        activator: Option<ClientNum>,
        links: u8,
    ) {
        let now = self.people.now;
        let Some(thing) = self.things.get(number) else { return };
        match &thing.what {
            What::Mover(_) => self.use_mover(host, number, activator),
            What::Hurt(_) => {
                if thing.shared.is_linked() {
                    self.things.unlink(host, number);
                } else {
                    self.things.link(host, number);
                }
            }
            What::Trigger(trigger) => {
                let (wait, random) = (trigger.wait, trigger.random);
                match trigger.cause.clone() {
                    Cause::Touch => {
                        if thing.think_at.is_some() {
                            return;
                        }
                        let rest = self.spread(wait, random);
                        if let Some(thing) = self.things.get_mut(number) {
                            // Without a rest it never comes back: the rest does not end.
                            let rest = if wait > 0.0 { rest.max(1) } else { i32::MAX / 2 };
                            thing.think_at = Some(now + rest);
                        }
                        self.fire(host, number, activator, links);
                    }
                    Cause::Start => {}
                    Cause::Clock { on } => {
                        self.set_cause(number, Cause::Clock { on: !on });
                        if let Some(thing) = self.things.get_mut(number) {
                            thing.think_at = (!on).then_some(now);
                        }
                    }
                    Cause::Relay => self.fire(host, number, activator, links),
                    Cause::Delay => {
                        let rest = self.spread(wait, random);
                        if let Some(thing) = self.things.get_mut(number) {
                            thing.think_at = Some(now + rest);
                            if let What::Trigger(trigger) = &mut thing.what {
                                trigger.activator = activator;
                            }
                        }
                    }
                    Cause::Print(text) => {
                        let private = thing.spawnflags & 4 != 0;
                        let to = activator.filter(|_| private);
                        host.send_command(to, &format!("cp \"{}\"", clean_text(&text, 200)));
                    }
                    Cause::Teleport => {
                        if let Some(client) = activator {
                            self.teleport_to_target(host, client, number);
                        }
                    }
                    Cause::Kill => {
                        if let Some(client) = activator {
                            self.hurt(host, client, &Hit::telefrag(client));
                        }
                    }
                    Cause::Speaker(sound) => self.speak(number, sound, activator),
                }
            }
            What::Event
            | What::Place
            | What::Pad
            | What::Teleporter { .. }
            | What::DoorHelper(_)
            | What::PlatHelper(_)
            | What::Corpse(_)
            | What::Scenery => {}
        }
    }

    fn set_cause(&mut self, number: EntityNum, cause: Cause) {
        if let Some(thing) = self.things.get_mut(number)
            && let What::Trigger(trigger) = &mut thing.what
        {
            trigger.cause = cause;
        }
    }

    fn speak(&mut self, number: EntityNum, sound: i32, activator: Option<ClientNum>) {
        let now = self.people.now;
        let Some(thing) = self.things.get_mut(number) else { return };
        let flags = thing.spawnflags;
        if flags & SPEAKER_LOOPS != 0 {
            thing.state.loop_sound = if thing.state.loop_sound == 0 { sound } else { 0 };
        } else if let Some(client) = activator.filter(|_| flags & SPEAKER_ACTIVATOR != 0) {
            self.show(client, event::GENERAL_SOUND, sound);
        } else if flags & SPEAKER_GLOBAL != 0 {
            thing.shared.sv_flags = thing.shared.sv_flags | SvFlags::BROADCAST;
            thing.raise(event::GLOBAL_SOUND, sound, now);
        } else {
            thing.raise(event::GENERAL_SOUND, sound, now);
        }
    }

    /// A time of `wait` seconds give or take `random`, in milliseconds.
    fn spread(&mut self, wait: f32, random: f32) -> i32 {
        let chance = 2.0 * (self.chance() - 0.5);
        ((wait + random * chance) * 1000.0).clamp(0.0, 86_400_000.0) as i32
    }

    /// A trigger's frame: clocks, delays, rests.
    pub(super) fn run_trigger(&mut self, host: &mut dyn Host, number: EntityNum) {
        let now = self.people.now;
        let Some(thing) = self.things.get_mut(number) else { return };
        if thing.think_at.is_none_or(|at| at.distance(now) > 0) {
            return;
        }
        thing.think_at = None;
        let What::Trigger(trigger) = &thing.what else { return };
        let (wait, random, activator) = (trigger.wait, trigger.random, trigger.activator);
        match trigger.cause {
            Cause::Start => {
                self.fire(host, number, None, 0);
                self.things.remove(host, number, now);
            }
            Cause::Delay => self.fire(host, number, activator, 0),
            Cause::Clock { on: true } => {
                self.fire(host, number, activator, 0);
                let rest = self.spread(wait, random).max(1);
                if let Some(thing) = self.things.get_mut(number) {
                    thing.think_at = Some(now + rest);
                }
            }
            // Plays by itself again and again; the client does so when there is chance in it.
            Cause::Speaker(_)
            | Cause::Touch
            | Cause::Clock { on: false }
            | Cause::Relay
            | Cause::Print(_)
            | Cause::Teleport
            | Cause::Kill => {}
        }
    }

    /// The direction that a map's angles mean for what moves or looks: two of them are up and down.
    pub(super) fn direction_of(given: Vec3) -> Vec3 {
        match given.0 {
            [0.0, -1.0, 0.0] => Vec3::new(0.0, 0.0, 1.0),
            [0.0, -2.0, 0.0] => Vec3::new(0.0, 0.0, -1.0),
            _ => angles::axes(given).forward,
        }
    }

    /// The entity type that clients must see a thing as.
    pub(super) fn set_type(&mut self, number: EntityNum, kind: EntityType) {
        if let Some(thing) = self.things.get_mut(number) {
            thing.state.e_type = kind as i32;
        }
    }
}
