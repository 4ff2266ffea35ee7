//! The scoreboard at the end of a level: everybody at one place, until enough want to go on.
//!
//! Invariant: while it lasts nobody plays, whoever enters. Source: the base game's intermission.

use super::{Deathmatch, Ending, RESTART};
use crate::model::{Buttons, ClientNum, LevelTime, Vec3};
use crate::{
    bg::{EntityType, GameType, Persistent, PmType},
    game::{
        Host,
        people::{Populated, Stage},
    },
};

/// How long the scoreboard is shown at least, in milliseconds.
const LEAST_MS: i32 = 5000;
/// How long the last ones are waited for, in milliseconds.
const HURRY_MS: i32 = 10_000;
/// Clients whose being ready is shown.
const SHOWN_READY: usize = 16;
/// Where a rotation of maps begins when no level was named: the operator's variable, and the next one.
const ROTATION: (&str, &str) = ("d1", "vstr d2");

impl Deathmatch {
    /// Everybody sees the scoreboard from now on.
    pub(super) fn begin_intermission(&mut self, host: &mut dyn Host) {
        if self.people.game_type == GameType::Tournament {
            self.settle_tournament(host);
        }
        let since = self.people.now;
        self.course.ending = Ending::Intermission { since, hurry_from: None };
        self.course.ready = 0;
        self.people.intermission = true;
        for client in ClientNum::all() {
            if self.people.active(client).is_none() {
                continue;
            }
            if self.people.plays(client) && self.is_dead(client) {
                self.respawn(host, client);
            }
            (self as &mut dyn Populated).stop_following(client);
            self.show_scoreboard(host, client);
        }
        self.people.send_scores_to_all(host);
        if let Some(ms) = self.people.profile.scores.round_start_ms {
            let [red, blue] = self.people.team_scores;
            let start = self.people.started + ms;
            host.send_command(None, &format!("elimination {red} {blue} {start}"));
        }
    }

    /// Takes a client to the place from where the level is shown.
    pub(in crate::game::deathmatch) fn show_scoreboard(
        &mut self,
        host: &mut dyn Host,
        client: ClientNum,
    ) {
        let spot = self.view_spot();
        let Some(player) = self.people.players[client.index()].as_mut() else { return };
        player.unlink(host);
        let state = &mut player.state;
        state.pm_type = PmType::Intermission as i32;
        state.origin = spot.origin;
        state.viewangles = spot.angles;
        state.velocity = Vec3::ZERO;
        state.powerups.fill(0);
        state.e_flags = 0;
        state.loop_sound = 0;
        let entity = &mut player.entity;
        entity.e_type = EntityType::General as i32;
        entity.e_flags = 0;
        entity.powerups = 0;
        entity.modelindex = 0;
        entity.loop_sound = 0;
        entity.event = 0;
        entity.solid = 0;
        player.shared.contents = 0;
        player.shared.current_origin = spot.origin;
    }

    /// A client's command while the scoreboard is shown: whether it wants to go on.
    pub(in crate::game::deathmatch) fn take_ready(&mut self, client: ClientNum) {
        let Some(player) = self.people.players[client.index()].as_mut() else { return };
        let pressed = player.command.buttons.0 & !player.buttons.0;
        player.buttons = player.command.buttons;
        if pressed & (Buttons::ATTACK.0 | Buttons::USE_HOLDABLE.0) != 0 {
            self.course.ready |= 1 << client.index();
        }
    }

    /// Goes on when all want to, or some and the others took too long. Bots do not count.
    pub(super) fn wait_for_ready(
        &mut self,
        host: &mut dyn Host,
        since: LevelTime,
        hurry_from: Option<LevelTime>,
    ) {
        let now = self.people.now;
        let humans = || {
            ClientNum::all()
                .filter(|&client| self.people.active(client).is_some_and(|player| !player.is_bot))
        };
        let is_ready = |client: &ClientNum| self.course.ready & (1 << client.index()) != 0;
        let (present, ready) = (humans().count(), humans().filter(is_ready).count());
        let bits = humans()
            .filter(|client| client.index() < SHOWN_READY && is_ready(client))
            .fold(0_u16, |bits, client| bits | 1 << client.index());
        let stat = self.people.profile.stats.clients_ready;
        for player in self.people.players.iter_mut().flatten() {
            // 16 bits travel, with a sign.
            player.state.stats[stat] = i32::from(bits as i16);
        }
        if now.distance(since) < LEAST_MS {
            return;
        }
        let hurry_from = match (present, ready) {
            (1.., 0) => None,
            (1.., _) if ready == present => return self.leave_level(host),
            _ => Some(hurry_from.unwrap_or(now)),
        };
        self.course.ending = Ending::Intermission { since, hurry_from };
        if hurry_from.is_some_and(|from| now.distance(from) >= HURRY_MS) {
            self.leave_level(host);
        }
    }

    /// Has the server play the next level.
    fn leave_level(&mut self, host: &mut dyn Host) {
        if self.people.game_type == GameType::Tournament {
            self.retire_loser(host);
            return self.lead_on(host, RESTART);
        }
        let next = host.setting("nextmap");
        let unnamed = next.is_empty() || next == RESTART;
        let (first, second) = ROTATION;
        if unnamed && !host.setting(first).is_empty() {
            host.set_setting("nextmap", second);
            self.lead_on(host, &format!("vstr {first}"));
        } else {
            let unset = next.is_empty();
            self.lead_on(host, if unset { RESTART } else { "vstr nextmap" });
        }
        self.people.team_scores = [0; 2];
        for player in self.people.players.iter_mut().flatten() {
            player.state.persistant[Persistent::Score] = 0;
            player.stage = Stage::Connecting;
        }
    }
}
