//! Cheat commands while `sv_cheats` is 1.
//!
//! Invariants: without the setting no command here has an effect; numbers from clients are clamped to
//! the range of the wire format. Source: the base game's cheats and their answers.

use super::{ClientContext, commands::answer};
use crate::bg::{GameType, Persistent, Weapon};
use crate::model::{ClientNum, CommandArgs, Vec3};

/// Rounds of every weapon after `give ammo`.
const GIVEN_ROUNDS: i32 = 999;
/// Armor after `give armor`.
const GIVEN_ARMOR: i32 = 200;
/// Largest coordinate of `setviewpos`: every map is smaller, and the wire format can send it.
const FARTHEST: f32 = 65_536.0;

/// A cheat command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Cheat {
    Give,
    God,
    NoTarget,
    Noclip,
    SetViewPos,
    LevelShot,
}

/// Cheats that are on for a player, until it dies.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::game) struct Cheats {
    /// Whether the player takes no damage.
    pub(in crate::game) god: bool,
    /// Whether bots ignore the player.
    pub(in crate::game) notarget: bool,
    /// Whether the player flies through solid, without touching triggers or items.
    pub(in crate::game) noclip: bool,
}

impl ClientContext<'_> {
    /// Runs a cheat command of a client.
    pub(super) fn cheat(&mut self, client: ClientNum, cheat: Cheat, words: &CommandArgs) {
        match cheat {
            Cheat::Give => self.give(client, &words.rest(1)),
            Cheat::God => self.switch(client, "godmode", |cheats| &mut cheats.god),
            Cheat::NoTarget => self.switch(client, "notarget", |cheats| &mut cheats.notarget),
            Cheat::Noclip => self.switch(client, "noclip", |cheats| &mut cheats.noclip),
            Cheat::SetViewPos => self.set_view(client, words),
            Cheat::LevelShot => self.show_level(client),
        }
    }

    /// Begins the intermission, of which a local client takes its picture.
    fn show_level(&mut self, client: ClientNum) {
        if !self.host.is_local(client) {
            let refusal = "The levelshot command must be executed by a local client";
            return answer(self.host, client, refusal);
        }
        if self.clients.ruleset.commands.pictures_free_for_all
            && self.clients.game_type != GameType::FreeForAll
        {
            return answer(self.host, client, "Must be in g_gametype 0 for levelshot");
        }
        self.rules.begin_intermission(self.clients, self.host);
        self.host.send_command(Some(client), "clientLevelShot");
    }

    fn switch(&mut self, client: ClientNum, name: &str, of: fn(&mut Cheats) -> &mut bool) {
        let Some(player) = self.clients.players[client.index()].as_mut() else { return };
        let switch = of(&mut player.cheats);
        *switch = !*switch;
        answer(self.host, client, &format!("{name} {}", if *switch { "ON" } else { "OFF" }));
    }

    fn set_view(&mut self, client: ClientNum, words: &CommandArgs) {
        if words.len() != 5 {
            return answer(self.host, client, "usage: setviewpos x y z yaw");
        }
        let along = |word| coordinate(words.get(word));
        let origin = Vec3::new(along(1), along(2), along(3));
        let yaw = along(4) % 360.0;
        self.rules.teleport(self.clients, self.host, client, origin, Vec3::new(0.0, yaw, 0.0));
    }

    fn give(&mut self, client: ClientNum, wanted: &str) {
        let clients = &mut *self.clients;
        let ruleset = clients.ruleset;
        if !clients.plays(client) {
            return;
        }
        let Some(player) = clients.players[client.index()].as_mut() else { return };
        let (state, most) = (&mut player.state, player.max_health);
        let is = |name: &str| wanted.eq_ignore_ascii_case(name);
        let all = is("all");
        if all || is("health") {
            state.stats[ruleset.stats.health] = most;
        }
        if all || is("weapons") {
            let hook = Weapon::Grapple.bit();
            let below = (1 << (ruleset.equipment.last_weapon + 1)) - (Weapon::Gauntlet.bit());
            state.stats[ruleset.stats.weapons] = below & !hook;
        }
        if all || is("ammo") {
            state.ammo.fill(GIVEN_ROUNDS);
        }
        if all || is("armor") {
            state.stats[ruleset.stats.armor] = GIVEN_ARMOR;
        }
        let award = [
            ("excellent", Persistent::Excellent),
            ("impressive", Persistent::Impressive),
            ("gauntletaward", Persistent::Gauntlet),
            ("defend", Persistent::Defend),
            ("assist", Persistent::Assist),
        ];
        if let Some((_, index)) = award.into_iter().find(|(name, _)| is(name)) {
            let count = &mut state.persistant[index];
            *count = (*count + 1) & 0x7fff;
            return;
        }
        if let Some((number, _)) = ruleset.items.by_name(wanted) {
            self.rules.give_item(self.clients, self.host, client, number);
        }
    }
}

/// Parses a coordinate and clamps it; 0 for other text.
fn coordinate(word: &str) -> f32 {
    let number: f32 = word.parse().unwrap_or(0.0);
    if number.is_nan() { 0.0 } else { number.clamp(-FARTHEST, FARTHEST) }
}
