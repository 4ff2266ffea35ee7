//! What teams score by: flags brought, returned and guarded.
//!
//! Where a flag is, is the items' matter; here stands what whoever moved it gets, and what everybody is
//! told. Invariant: only one bonus is given for a kill, the first that applies. Source: the base game's
//! capture the flag and its table of bonuses.

mod kills;
#[cfg(test)]
mod tests;

use super::{Deathmatch, items::Flag};
use crate::model::{ClientNum, LevelTime, Vec3, limits::MAX_CLIENTS};
use crate::{
    bg::{Event, GameType, Persistent, TeamColor, TeamSound, entity_flag},
    game::Host,
};

/// Points for what is done with flags.
const CAPTURE: i32 = 5;
const RETURN: i32 = 1;
const RETURN_ASSIST: i32 = 1;
const FRAG_ASSIST: i32 = 2;
/// For how long an assist counts, in milliseconds.
const ASSIST_MS: i32 = 10_000;
/// How often everybody hears that the same flag is taken, in milliseconds.
const TAKEN_MS: i32 = 10_000;

/// What somebody has done lately.
#[derive(Clone, Copy, Debug, Default)]
struct Deeds {
    returned_at: Option<LevelTime>,
    fragged_carrier_at: Option<LevelTime>,
    hurt_carrier_at: Option<LevelTime>,
}

/// What is remembered of the teams' fight over a level.
#[derive(Clone, Debug)]
pub(super) struct Fight {
    /// By client number.
    deeds: [Deeds; MAX_CLIENTS],
    /// When everybody heard last that a flag is taken; by its colour.
    taken_at: [Option<LevelTime>; 2],
}

impl Default for Fight {
    fn default() -> Self {
        Self { deeds: [Deeds::default(); MAX_CLIENTS], taken_at: [None; 2] }
    }
}

/// Whether something has happened within so many milliseconds.
fn lately(at: Option<LevelTime>, now: LevelTime, ms: i32) -> bool {
    at.is_some_and(|at| now.distance(at) < ms)
}

impl Deathmatch {
    /// A name as it stands in a line about flags.
    fn quoted_name(&self, client: ClientNum) -> String {
        let player = self.people.player(client);
        player.map_or_else(String::new, |player| player.name.replace('"', "'"))
    }

    fn print_deed(&self, host: &mut dyn Host, client: ClientNum, deed: &str) {
        let name = self.quoted_name(client);
        host.send_command(None, &format!("print \"{name}^7 {deed}\n\""));
    }

    fn place_of(&self, client: ClientNum) -> Vec3 {
        self.people.player(client).map_or(Vec3::ZERO, |player| player.state.origin)
    }

    /// Somebody has taken the flag of the others.
    pub(super) fn tell_flag_taken(&mut self, host: &mut dyn Host, client: ClientNum, flag: Flag) {
        self.print_deed(host, client, &format!("got the {} flag!", flag.name()));
        let now = self.people.now;
        let heard = &mut self.fight.taken_at[flag as usize];
        if !lately(*heard, now, TAKEN_MS) {
            *heard = Some(now);
            let sound = match flag {
                Flag::Blue => TeamSound::RedTook,
                Flag::Red => TeamSound::BlueTook,
            };
            self.tell_team_sound(host, sound);
        }
        if self.people.profile.shows_every_score {
            let at = self.place_of(client);
            self.add_score(host, client, 0, at);
        }
    }

    /// Somebody has brought the flag of its own team home.
    pub(super) fn reward_return(&mut self, host: &mut dyn Host, client: ClientNum, flag: Flag) {
        self.print_deed(host, client, &format!("returned the {} flag!", flag.name()));
        self.fight.deeds[client.index()].returned_at = Some(self.people.now);
        self.fight.taken_at[flag as usize] = None;
        let at = self.place_of(client);
        self.add_score(host, client, RETURN, at);
    }

    /// Somebody has brought the flag of the others to its own.
    pub(super) fn reward_capture(&mut self, host: &mut dyn Host, client: ClientNum, own: Flag) {
        let colour = own.colour();
        self.print_deed(host, client, &format!("captured the {} flag!", own.other().name()));
        self.fight.taken_at = [None; 2];
        self.score_for_team(host, colour);
        let team: Vec<ClientNum> = self.people.team_of(colour).collect();
        for &mate in &team {
            if self.people.plays(mate) && !self.is_dead(mate) {
                self.show(mate, Event::Taunt, 0);
            }
        }
        self.award(client, entity_flag::AWARD_CAPTURE, Persistent::Captures);
        let at = self.place_of(client);
        self.add_score(host, client, CAPTURE, at);
        self.tell_team_sound(
            host,
            match colour {
                TeamColor::Red => TeamSound::RedCaptured,
                TeamColor::Blue => TeamSound::BlueCaptured,
            },
        );
        let now = self.people.now;
        for mate in team.into_iter().filter(|&mate| mate != client) {
            let deeds = self.fight.deeds[mate.index()];
            for (at, points) in
                [(deeds.returned_at, RETURN_ASSIST), (deeds.fragged_carrier_at, FRAG_ASSIST)]
            {
                if lately(at, now, ASSIST_MS) {
                    self.award(mate, entity_flag::AWARD_ASSIST, Persistent::Assist);
                    let at = self.place_of(mate);
                    self.add_score(host, mate, points, at);
                }
            }
        }
    }

    /// A point for a team, and how that changes the game.
    fn score_for_team(&mut self, host: &mut dyn Host, colour: TeamColor) {
        let scores = &mut self.people.team_scores;
        let (own, other) = (scores[colour as usize], scores[colour.other() as usize]);
        scores[colour as usize] = own.saturating_add(1);
        let sounds = match colour {
            TeamColor::Red => [TeamSound::RedLeads, TeamSound::RedScored],
            TeamColor::Blue => [TeamSound::BlueLeads, TeamSound::BlueScored],
        };
        let sound = if own + 1 == other {
            TeamSound::Tied
        } else if own <= other && own + 1 > other {
            sounds[0]
        } else {
            sounds[1]
        };
        self.tell_team_sound(host, sound);
        self.people.rank(host);
    }

    /// A player's points count for its team, too, where teams are all there is.
    pub(super) fn share_score(&mut self, client: ClientNum, points: i32) {
        let colour = self.people.role(client).colour();
        if let Some(colour) = colour.filter(|_| self.people.game_type == GameType::TeamDeathmatch) {
            let score = &mut self.people.team_scores[colour as usize];
            *score = score.saturating_add(points);
        }
    }
}
