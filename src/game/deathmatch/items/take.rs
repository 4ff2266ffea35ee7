//! Somebody takes an item: what everybody sees and hears of it, and when it is back.
//!
//! Clients predict a pick-up that is not a powerup's, unless they say that they don't. Source: the base
//! game's item touch.

use super::{Flag, Pickup, Step, effects::Gift};
use crate::model::{ClientNum, EntityNum, EntityState, SvFlags, Vec3, text::leading_int};
use crate::{
    bg::{Event, GameType, Persistent, contents, items::ItemKind, player_event},
    game::{
        Host,
        deathmatch::{Deathmatch, things::only_for},
        movement::{angles, events, pickup as rules, trajectory, velocity::direction},
        userinfo::Userinfo,
        values::whole,
    },
};

/// How near a player must be to a powerup, and how straight in front, to be denied it.
const DENIED_NEAR: f32 = 192.0;
const DENIED_FACING: f32 = 0.4;
/// Seconds until a weapon is back, unless the settings say otherwise.
const WEAPON_S: i32 = 5;
const TEAM_WEAPON_S: i32 = 30;
/// Longest absence in seconds.
const MAX_ABSENCE_S: f32 = 172_800.0;

/// What comes of a touch.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Outcome {
    /// The item stays as it is.
    Stays,
    /// It was taken, and is back after so many seconds, if at all.
    Taken(Option<f32>),
}

impl Deathmatch {
    /// Whether a player stands on an item.
    pub(in crate::game::deathmatch) fn stands_on_item(
        &self,
        client: ClientNum,
        number: EntityNum,
    ) -> bool {
        let (Some(thing), Some(player)) = (self.things.get(number), self.people.player(client))
        else {
            return false;
        };
        let at = trajectory::position(&thing.state.pos, self.people.now);
        rules::is_in_reach(at, player.state.origin)
    }

    /// Somebody who plays walks over an item.
    pub(in crate::game::deathmatch) fn touch_item(
        &mut self,
        host: &mut dyn Host,
        client: ClientNum,
        number: EntityNum,
    ) {
        let Some((thing, pickup)) = self.pickup(number) else { return };
        let is_there = thing.shared.contents & contents::TRIGGER != 0;
        if !is_there || !self.is_of_use(client, &thing.state) {
            return;
        }
        let (state, at, pickup) = (thing.state, thing.state.pos.base, pickup.clone());
        let Outcome::Taken(absence_s) = self.take(host, client, &pickup, &state, Some(number))
        else {
            return;
        };
        self.announce(host, client, &pickup, at);
        self.fire_targets(host, number, Some(client));
        if pickup.is_dropped {
            self.remove_item(host, number);
            return;
        }
        self.hide_item(host, number);
        if pickup.wait < 0.0 {
            self.things.unlink(host, number);
            return;
        }
        let absence_s = if pickup.wait > 0.0 { Some(pickup.wait) } else { absence_s };
        if let Some(seconds) = absence_s {
            let varied = seconds + self.either_way() * pickup.random;
            let seconds = if pickup.random > 0.0 { varied.max(1.0) } else { seconds };
            let ms = (seconds.clamp(0.0, MAX_ABSENCE_S) * 1000.0) as i32;
            self.plan(number, Step::ComeBack, ms);
        }
    }

    /// Gives somebody an item of the map for good, wherever it is and hidden or not.
    pub(in crate::game::deathmatch) fn give_item(
        &mut self,
        host: &mut dyn Host,
        client: ClientNum,
        number: EntityNum,
    ) {
        let Some((thing, pickup)) = self.pickup(number) else { return };
        let pickup = pickup.clone();
        let state = EntityState { modelindex: pickup.number, ..thing.state };
        if pickup.item.kind == ItemKind::Team || !self.is_of_use(client, &state) {
            return;
        }
        if let Outcome::Taken(_) = self.take(host, client, &pickup, &state, Some(number)) {
            self.announce(host, client, &pickup, state.pos.base);
            self.hide_item(host, number);
            self.things.unlink(host, number);
        }
    }

    /// Gives somebody an item that lies nowhere. Flags have one place at a time: they are not made.
    pub(in crate::game::deathmatch) fn hand_item(
        &mut self,
        host: &mut dyn Host,
        client: ClientNum,
        number: i32,
    ) {
        let Some(item) = self.people.profile.items.get(number) else { return };
        let Some(at) = self.people.player(client).map(|player| player.state.origin) else { return };
        let mut state = EntityState { modelindex: number, ..EntityState::default() };
        state.pos.base = at;
        if item.kind == ItemKind::Team || !self.is_of_use(client, &state) {
            return;
        }
        let pickup = Pickup::new(number, item);
        if let Outcome::Taken(_) = self.take(host, client, &pickup, &state, None) {
            self.announce(host, client, &pickup, at);
        }
    }

    /// Whether somebody who lives may take an item.
    fn is_of_use(&self, client: ClientNum, item: &EntityState) -> bool {
        let people = &self.people;
        !self.is_dead(client)
            && people.plays(client)
            && people.player(client).is_some_and(|player| {
                rules::may_take(people.profile, people.game_type, item, &player.state)
            })
    }

    /// What an item does to who takes it and may.
    fn take(
        &mut self,
        host: &mut dyn Host,
        client: ClientNum,
        pickup: &Pickup,
        state: &EntityState,
        number: Option<EntityNum>,
    ) -> Outcome {
        let (profile, now, game_type) =
            (self.people.profile, self.people.now, self.people.game_type);
        let Some(player) = self.people.players[client.index()].as_mut() else {
            return Outcome::Stays;
        };
        let in_teams = game_type == GameType::TeamDeathmatch;
        let gift = Gift {
            profile,
            number: pickup.number,
            item: pickup.item,
            count: pickup.count,
            is_full: pickup.is_dropped || in_teams,
            now,
            max_health: player.max_health,
        };
        gift.give(&mut player.state);
        self.people.log(host, &format!("Item: {client} {}", pickup.item.class));
        let luggage = &mut self.items.luggage[client.index()];
        match pickup.item.kind {
            ItemKind::Rune => {
                luggage.rune = number;
                luggage.since_rounds_ms = [0; 16];
            }
            ItemKind::Powerup => self.deny_others(host, client, state.pos.base),
            ItemKind::Team => {
                let flag = Flag::of_item(pickup.number);
                let taken = flag.is_some_and(|flag| {
                    self.touch_team_item(host, client, flag, pickup.is_dropped)
                });
                if !taken {
                    return Outcome::Stays;
                }
            }
            _ => {}
        }
        let weapon_s = if in_teams {
            whole(host, "g_weaponTeamRespawn", TEAM_WEAPON_S)
        } else {
            whole(host, "g_weaponrespawn", WEAPON_S)
        };
        let absence_s = gift.absence_s(weapon_s as f32);
        // Weapons that take no time to be back stay, and nothing is heard of them.
        if absence_s == Some(0.0) { Outcome::Stays } else { Outcome::Taken(absence_s) }
    }

    /// Lets who takes an item hear of it, and everybody when it is a powerup or a flag.
    fn announce(&mut self, host: &mut dyn Host, client: ClientNum, pickup: &Pickup, at: Vec3) {
        let now = self.people.now;
        let predicts = pickup.item.kind != ItemKind::Powerup && predicts_items(host, client);
        if !predicts {
            self.show(client, Event::ItemPickup, pickup.number);
        } else if let Some(player) = self.people.players[client.index()].as_mut() {
            events::queue(&mut player.state, Event::ItemPickup, pickup.number);
            self.bodies[client.index()].event_at = now;
        }
        if matches!(pickup.item.kind, ItemKind::Powerup | ItemKind::Team) {
            let (parm, is_silent) = (pickup.number, pickup.is_silent);
            self.flash(host, at, Event::GlobalItemPickup, |state, shared| {
                state.event_parm = parm;
                if is_silent {
                    only_for(shared, client.index());
                } else {
                    shared.sv_flags = SvFlags::BROADCAST;
                }
            });
        }
    }

    /// Tells enemies who were about to take a powerup that they were too late.
    fn deny_others(&mut self, host: &dyn Host, taker: ClientNum, at: Vec3) {
        for other in ClientNum::all() {
            if other == taker || !self.people.plays(other) || self.people.are_mates(taker, other) {
                continue;
            }
            let Some(player) = self.people.player(other).filter(|_| !self.is_dead(other)) else {
                continue;
            };
            let origin = player.state.origin;
            let way = at - origin;
            let facing = angles::axes(player.state.viewangles).forward.dot(direction(way));
            let is_hidden = || {
                host.world().is_some_and(|world| {
                    let scene = world.scene(&*self, EntityNum::NONE);
                    let sight = scene.trace(origin, Vec3::ZERO, Vec3::ZERO, at, contents::SOLID);
                    sight.fraction < 1.0
                })
            };
            if way.length() > DENIED_NEAR || facing < DENIED_FACING || is_hidden() {
                continue;
            }
            if let Some(player) = self.people.players[other.index()].as_mut() {
                player.state.persistant[Persistent::PlayerEvents] ^= player_event::DENIED;
            }
        }
    }
}

/// Whether a client plays the sound of what it takes before the server says so.
fn predicts_items(host: &dyn Host, client: ClientNum) -> bool {
    Userinfo::parse(host.userinfo(client))
        .is_some_and(|info| leading_int(info.value("cg_predictItems")) != 0)
}
