//! Deathmatch: players walk, jump, swim, ride, fight and die in the world of the map.
//!
//! Played are free for all, the tournament, team deathmatch and capture the flag; what one of them alone
//! has stands in `matches` and `teams`. Without a map, players float in open space and hit nobody.
//!
//! Invariants: entities 0 to 63 are the players, all else stands in `things`; a slot without a player
//! has no entity; the same seed and the same calls give the same states. Source: the base game's rules,
//! release 1.32 and its ioquake3 build; OpenArena 0.8.8.

#[cfg(test)]
mod arena;
mod body;
mod classes;
mod combat;
mod corpses;
mod environment;
mod items;
mod level;
mod matches;
mod movers;
mod names;
mod push;
mod spots;
mod targets;
mod teams;
mod things;
mod think;
mod triggers;
mod weapons;

use self::{
    body::Body,
    combat::CombatRules,
    items::Items,
    matches::Course,
    spots::Spots,
    targets::{MAX_USES, Remaps},
    teams::Fight,
    things::{Things, What},
};
use super::{
    EntityView, Game, Host, LevelStart, Profile, movement,
    movement::{Settings, Variant, events},
    people::{self, People, Player, Populated, Stage},
};
use crate::bg::{Event, Persistent};
use crate::model::{
    ClientNum, EntityNum, EntityShared, EntityState, LevelTime, PlayerState, UserCmd, Vec3, Words,
    limits::MAX_CLIENTS,
};
use crate::world::{MapEntities, links::EntityViews};

/// Deathmatch.
#[derive(Debug)]
pub struct Deathmatch {
    people: People,
    course: Course,
    /// By client number: what only this game knows of a player.
    bodies: Vec<Body>,
    things: Things,
    items: Items,
    fight: Fight,
    spots: Spots,
    /// Shaders that are drawn in place of others.
    remaps: Remaps,
    /// Things that may still be set off before the next frame.
    uses_left: u16,
    /// Slots for dead bodies, and the one that is used next.
    graves: Vec<EntityNum>,
    next_grave: usize,
    /// Which of the three ways to die is next.
    next_death: i32,
    /// How everybody fights, as the settings of this frame say.
    combat: CombatRules,
    /// How everybody moves, as the settings of this frame say.
    movement: movement::Rules,
    /// Time between this frame and the one before, in milliseconds.
    frame_ms: i32,
    /// The level's chance.
    seed: u32,
    /// What a free slot sees.
    nobody: PlayerState,
}

impl Deathmatch {
    /// A game for clients that have this profile's data.
    #[must_use]
    pub fn new(profile: &'static Profile) -> Self {
        Self::moving_as(Variant::of_profile(profile))
    }

    /// A game for clients that move like this, and have the data that goes with it.
    #[must_use]
    pub fn moving_as(variant: &'static Variant) -> Self {
        let settings = Settings { fixed: false, fixed_step_ms: 8, float: true, dmflags: 0 };
        Self {
            people: People::new(variant.profile),
            course: Course::default(),
            bodies: vec![Body::default(); MAX_CLIENTS],
            things: Things::default(),
            items: Items::default(),
            fight: Fight::default(),
            spots: Spots::default(),
            remaps: Remaps::default(),
            uses_left: MAX_USES,
            graves: Vec::new(),
            next_grave: 0,
            next_death: 0,
            combat: CombatRules::default(),
            movement: movement::Rules::new(variant, settings),
            frame_ms: 0,
            seed: 0,
            nobody: PlayerState::default(),
        }
    }

    /// Level time of the last frame, and of the level's start.
    fn clock(&self) -> (LevelTime, LevelTime) {
        (self.people.now, self.people.started)
    }

    /// The next number of the level's chance, from 0 up to 1.
    fn chance(&mut self) -> f32 {
        self.seed = self.seed.wrapping_mul(69_069).wrapping_add(1);
        (self.seed >> 16) as f32 / 65_536.0
    }

    /// One of `count` things by chance; 0 of none.
    fn pick(&mut self, count: usize) -> usize {
        ((self.chance() * count as f32) as usize).min(count.saturating_sub(1))
    }

    /// How everybody moves and fights from now on.
    fn refresh_movement(&mut self, host: &mut dyn Host) {
        if !self.people.seen.is_old(host) {
            return;
        }
        self.people.rules.refresh(host, self.people.profile);
        self.combat = CombatRules::read(host, self.people.profile);
        let rules = &self.people.rules;
        let settings = Settings {
            fixed: rules.fixed_step_ms.is_some(),
            fixed_step_ms: rules.step_ms,
            float: rules.float,
            dmflags: rules.dmflags,
        };
        self.movement = movement::Rules::new(self.movement.variant, settings);
    }

    /// Content bits at a point of the map; nothing without a map.
    fn contents_at(&self, host: &dyn Host, point: Vec3) -> i32 {
        host.world().map_or(0, |world| world.scene(self, EntityNum::NONE).point_contents(point))
    }

    /// Living players other than `client` whose box touches a box.
    fn others_in(
        &self,
        client: ClientNum,
        mins: Vec3,
        maxs: Vec3,
    ) -> impl Iterator<Item = ClientNum> + '_ {
        ClientNum::all().filter(move |&other| {
            other != client
                && self.people.plays(other)
                && self.people.player(other).is_some_and(|player| {
                    let shared = &player.shared;
                    shared.is_linked()
                        && player.state.stats[combat::HEALTH] > 0
                        && (0..3).all(|axis| {
                            shared.absmin[axis] <= maxs[axis] && shared.absmax[axis] >= mins[axis]
                        })
                })
        })
    }

    /// An event at a place, for everybody who sees it.
    fn flash(
        &mut self,
        host: &mut dyn Host,
        origin: Vec3,
        event: Event,
        fill: impl FnOnce(&mut EntityState, &mut EntityShared),
    ) {
        let clock = self.clock();
        self.things.flash(host, clock, origin, event, fill);
    }

    /// Shows that a player appears or vanishes at a place.
    fn show_teleport(
        &mut self,
        host: &mut dyn Host,
        client: ClientNum,
        origin: Vec3,
        event: Event,
    ) {
        self.flash(host, origin, event, |state, _| state.client_num = client.index() as i32);
    }

    /// Clears what was shown long enough, and frees what lived for it.
    fn fade_events(&mut self, host: &mut dyn Host) {
        let now = self.people.now;
        for (player, body) in self.people.players.iter_mut().zip(&mut self.bodies) {
            let Some(player) = player else { continue };
            if now.distance(body.event_at) > events::EVENT_MS {
                player.entity.event = 0;
                player.entity.event_parm = 0;
                player.state.external_event = 0;
            }
        }
        for number in self.things.numbers() {
            let Some(thing) = self.things.get_mut(number) else { continue };
            if now.distance(thing.event_at) <= events::EVENT_MS {
                continue;
            }
            if matches!(thing.what, What::Event) {
                self.things.remove(host, number, now);
            } else {
                thing.state.event = 0;
            }
        }
    }

    /// Every thing's frame, in order of their numbers.
    fn run_things(&mut self, host: &mut dyn Host) {
        for number in self.things.numbers() {
            let Some(thing) = self.things.get(number) else { continue };
            match thing.what {
                What::Mover(_) => self.run_mover_team(host, number),
                What::Corpse(_) => self.run_corpse(host, number),
                What::Trigger(_) => self.run_trigger(host, number),
                What::Pad => self.aim_pad(host, number),
                What::Location(_) => self.run_location(host, number),
                What::Missile(_) if !self.people.profile.fights.missiles_last => {
                    self.run_missile(host, number);
                }
                What::Kamikaze(_) => self.run_kamikaze(host, number),
                What::Item(_) => self.run_item(host, number),
                What::Event
                | What::Place
                | What::Teleporter { .. }
                | What::Hurt(_)
                | What::Corner(_)
                | What::DoorHelper { .. }
                | What::PlatHelper(_)
                | What::Missile(_)
                | What::Scenery => {}
            }
        }
    }

    /// What the server knows of an entity.
    fn shared(&self, number: EntityNum) -> Option<&EntityShared> {
        self.view(number).map(|(_, shared)| shared)
    }

    /// Where an entity is.
    fn origin_of(&self, number: EntityNum) -> Option<Vec3> {
        self.shared(number).map(|shared| shared.current_origin)
    }

    /// Takes an entity out of the world.
    fn unlink_entity(&mut self, host: &mut dyn Host, number: EntityNum) {
        match self.people.players.get_mut(number.index()) {
            Some(Some(player)) => player.unlink(host),
            Some(None) => {}
            None => self.things.unlink(host, number),
        }
    }

    /// Makes an entity part of the world where it is now.
    fn relink_entity(&mut self, host: &mut dyn Host, number: EntityNum) {
        match self.people.players.get_mut(number.index()) {
            Some(Some(player)) => host.link_entity(&mut player.entity, &mut player.shared),
            Some(None) => {}
            None => self.things.link(host, number),
        }
    }
}

impl EntityViews for Deathmatch {
    fn view(&self, number: EntityNum) -> Option<(&EntityState, &EntityShared)> {
        match self.people.players.get(number.index()) {
            Some(player) => player.as_ref().map(|player| (&player.entity, &player.shared)),
            None => self.things.get(number).map(|thing| (&thing.state, &thing.shared)),
        }
    }
}

impl Populated for Deathmatch {
    fn people(&self) -> &People {
        &self.people
    }

    fn people_mut(&mut self) -> &mut People {
        &mut self.people
    }

    fn begin(&mut self, host: &mut dyn Host, client: ClientNum) {
        self.people.enter(client);
        if let Some(player) = self.people.players[client.index()].as_mut() {
            player.unlink(host);
            // Scores, too, begin anew with a change of teams, where they are not kept.
            let PlayerState { e_flags, ping, .. } = player.state;
            player.state = PlayerState { e_flags, ping, ..PlayerState::default() };
        }
        self.people.return_counts(host, client);
        self.spawn(host, client, true);
        if !self.people.profile.shown_at_spot && self.people.role(client).plays() {
            let at = self.people.player(client).map(|player| player.shared.current_origin);
            let at = at.unwrap_or(Vec3::ZERO);
            self.show_teleport(host, client, at, Event::PlayerTeleportIn);
        }
        self.people.entered(host, client);
    }

    fn kill(&mut self, host: &mut dyn Host, client: ClientNum) {
        self.take_own_life(host, client);
    }

    fn put(&mut self, host: &mut dyn Host, client: ClientNum, origin: Vec3, angles: Vec3) {
        self.teleport(host, client, origin, angles);
    }

    fn hand(&mut self, host: &mut dyn Host, client: ClientNum, item: i32) {
        self.hand_item(host, client, item);
    }

    fn retire(&mut self, host: &mut dyn Host, client: ClientNum) {
        if self.is_dead(client) {
            self.leave_body(host, client);
        } else {
            self.die_for_another_side(host, client);
        }
    }
}

impl Game for Deathmatch {
    fn init(&mut self, host: &mut dyn Host, start: LevelStart) {
        self.seed = start.seed;
        self.frame_ms = 0;
        self.people.start(host, &start);
        self.bodies.fill(Body::default());
        self.refresh_movement(host);
        self.start_level(host, &start);
    }

    fn shutdown(&mut self, host: &mut dyn Host, _restart: bool) {
        for player in self.people.players.iter_mut().flatten() {
            player.unlink(host);
        }
        for number in self.things.numbers() {
            self.things.unlink(host, number);
        }
        self.things.clear();
        self.graves.clear();
        self.people.log_end(host);
    }

    fn client_connect(
        &mut self,
        host: &mut dyn Host,
        client: ClientNum,
        first_time: bool,
        is_bot: bool,
    ) -> Result<(), String> {
        self.people.connect(host, client, first_time, is_bot)?;
        self.forget_ready(client);
        self.bodies[client.index()] = Body::default();
        Ok(())
    }

    fn client_begin(&mut self, host: &mut dyn Host, client: ClientNum) {
        if self.people.player(client).is_some() {
            // A flag of a player that begins again would be lost with the player's state.
            self.drop_flags(host, client);
            Populated::begin(self, host, client);
        }
    }

    fn client_userinfo_changed(&mut self, host: &mut dyn Host, client: ClientNum) {
        self.people.read_userinfo(host, client, true);
    }

    fn client_disconnect(&mut self, host: &mut dyn Host, client: ClientNum) {
        self.forfeit(host, client);
        self.drop_hook(host, client);
        self.drop_ticking_mine(host, client);
        if self.people.plays(client) {
            if self.people.profile.leaves_by_dying {
                self.die_for_good(host, client);
            } else if let Some(player) = self.people.player(client) {
                let origin = player.state.origin;
                self.show_teleport(host, client, origin, Event::PlayerTeleportOut);
                if !self.is_dead(client) {
                    self.drop_at_death(host, client);
                }
            }
        }
        self.forget_luggage(client);
        (self as &mut dyn Populated).disconnect(host, client);
    }

    fn client_command(&mut self, host: &mut dyn Host, client: ClientNum, words: &Words) {
        if self.people.active(client).is_some() {
            (self as &mut dyn Populated).run_client_command(host, client, words);
        }
    }

    fn client_think(&mut self, host: &mut dyn Host, client: ClientNum, command: &UserCmd) {
        if self.people.hear(client, command) {
            self.think(host, client);
        }
    }

    fn run_frame(&mut self, host: &mut dyn Host, time: LevelTime) {
        self.frame_ms = time.distance(self.people.now).clamp(0, 1000);
        self.people.now = time;
        if self.is_leaving(host) {
            return;
        }
        self.uses_left = MAX_USES;
        self.refresh_movement(host);
        self.fade_events(host);
        self.run_things(host);
        for client in ClientNum::all() {
            let Some(player) = self.people.active(client) else { continue };
            if self.people.rules.synchronous || player.is_bot {
                self.think(host, client);
            }
        }
        if self.people.profile.fights.missiles_last {
            self.run_missiles(host);
        }
        for client in ClientNum::all() {
            if self.people.active(client).is_some() {
                self.end_frame(host, client);
            }
        }
        (self as &mut dyn Populated).attend(host);
        self.run_match(host);
    }

    fn console_command(&mut self, host: &mut dyn Host, words: &Words) -> bool {
        (self as &mut dyn Populated).run_console(host, words)
    }

    fn entity_count(&self) -> usize {
        let players = self.people.players.iter().rposition(Option::is_some);
        players.map_or(0, |last| last + 1).max(self.things.end())
    }

    fn entity(&self, number: EntityNum) -> Option<EntityView<'_>> {
        let (state, shared) = self.view(number)?;
        Some(EntityView { state, shared })
    }

    fn player(&self, client: ClientNum) -> &PlayerState {
        self.people.player(client).map_or(&self.nobody, Player::seen)
    }

    fn set_ping(&mut self, client: ClientNum, ping_ms: i32) {
        if let Some(player) = self.people.players[client.index()].as_mut() {
            player.ping_ms = ping_ms;
            if player.stage == Stage::Active {
                player.state.ping = ping_ms;
            }
        }
    }

    fn score(&self, client: ClientNum) -> i32 {
        self.player(client).persistant[Persistent::Score]
    }

    fn has_spawn_point(&self, entities: &MapEntities) -> bool {
        classes::has_spawn_point(entities)
    }

    fn show_restart_countdown(&mut self, host: &mut dyn Host, at: LevelTime) -> bool {
        people::show_restart_countdown(host, at)
    }
}

#[cfg(test)]
mod tests;
