//! Client commands: one table, with the roles that may use each.
//!
//! Arguments come from hostile clients. Invariant: for any input an answer is complete, quoted and short.
//! Source: the base game's client commands and answers; OpenArena's.

use super::{
    ClientContext, Clients,
    chat::{ORDERS, VoiceChat},
    cheats::Cheat,
};
use crate::bg::{
    TeamColor,
    chat::{CHAT_COMMANDS, SCORE_COMMAND},
};
use crate::cvar::engine;
use crate::game::{
    Audience, BaseGame, Host, Ruleset,
    userinfo::{PlayerUserinfo, clean_text, team_task},
};
use crate::model::{
    ClientNum, CommandArgs,
    text::{atoi, strip_colors},
};

use std::fmt::Write as _;

/// Audience of a voice chat command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum VoiceAudience {
    All,
    Team,
    One,
    /// All clients, with the taunt voice.
    Taunt,
}

/// Role that a command requires, in rulesets with [role refusals](crate::game::ruleset::CommandRules::role_refusals).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum AllowedRole {
    Anyone,
    Player,
    Spectator,
}

/// Effect of a command of a client.
type Effect = fn(&mut ClientContext<'_>, ClientNum, &CommandArgs);

/// Row of the command table.
struct CommandRow {
    name: &'static str,
    allowed: AllowedRole,
    effect: Effect,
    /// Whether the command needs `sv_cheats`.
    is_cheat: bool,
    /// The only game with the command, if not all have it.
    only: Option<BaseGame>,
}

const fn row(name: &'static str, allowed: AllowedRole, effect: Effect) -> CommandRow {
    CommandRow { name, allowed, effect, is_cheat: false, only: None }
}

/// Command of OpenArena.
const fn open_arena(name: &'static str, allowed: AllowedRole, effect: Effect) -> CommandRow {
    CommandRow { only: Some(BaseGame::OpenArena), ..row(name, allowed, effect) }
}

const fn cheat(name: &'static str, effect: Effect) -> CommandRow {
    CommandRow { is_cheat: true, ..row(name, AllowedRole::Anyone, effect) }
}

#[rustfmt::skip]
const COMMANDS: &[CommandRow] = {
    use AllowedRole::{Anyone, Player, Spectator};
    use VoiceAudience::{All, One, Taunt, Team};
    const WITH_TEXT: VoiceChat = VoiceChat { only: false };
    const WITHOUT_TEXT: VoiceChat = VoiceChat { only: true };
    &[
        row("say", Anyone, |game, client, words| game.say(client, Audience::All, &words.rest(1))),
        row("say_team", Anyone, |game, client, words| game.say(client, Audience::Team, &words.rest(1))),
        row("tell", Anyone, |game, client, words| game.tell(client, words)),
        row("gc", Anyone, |game, client, words| game.give_order(client, words)),
        open_arena("vsay", Anyone, |game, client, words| game.voice(client, All, WITH_TEXT, words)),
        open_arena("vsay_team", Anyone, |game, client, words| game.voice(client, Team, WITH_TEXT, words)),
        open_arena("vtell", Anyone, |game, client, words| game.voice(client, One, WITH_TEXT, words)),
        open_arena("vosay", Anyone, |game, client, words| game.voice(client, All, WITHOUT_TEXT, words)),
        open_arena("vosay_team", Anyone, |game, client, words| game.voice(client, Team, WITHOUT_TEXT, words)),
        open_arena("votell", Anyone, |game, client, words| game.voice(client, One, WITHOUT_TEXT, words)),
        open_arena("vtaunt", Anyone, |game, client, words| game.voice(client, Taunt, WITH_TEXT, words)),
        open_arena("vsay_local", Anyone, |game, client, words| game.voice(client, All, WITH_TEXT, words)),
        open_arena("vosay_local", Anyone, |game, client, words| game.voice(client, All, WITHOUT_TEXT, words)),
        row("score", Anyone, |game, client, _| game.clients.send_scores(game.host, [client])),
        open_arena("acc", Anyone, |game, client, _| game.send_accuracy(client)),
        open_arena("getmappage", Anyone, |game, client, words| send_map_page(game, client, atoi(words.get(1)))),
        row("where", Anyone, |game, client, _| game.tell_place(client)),
        // Accepted and ignored.
        CommandRow { only: Some(BaseGame::Quake3), ..row("stats", Anyone, |_, _, _| {}) },
        row("team", Anyone, |game, client, words| game.team_command(client, words.get(1))),
        row("follow", Spectator, |game, client, words| game.follow_command(client, words)),
        row("follownext", Spectator, |game, client, _| game.follow_next(client, 1)),
        row("followprev", Spectator, |game, client, _| game.follow_next(client, -1)),
        open_arena("freespectator", Spectator, |game, client, _| game.stop_following(client)),
        row("kill", Player, |game, client, _| game.kill_self(client)),
        row("callvote", Anyone, |game, client, words| game.call_vote(client, words)),
        row("vote", Anyone, |game, client, words| game.cast_vote(client, words.get(1))),
        row("callteamvote", Player, |game, client, words| game.call_team_vote(client, words)),
        row("teamvote", Player, |game, client, words| game.cast_team_vote(client, words.get(1))),
        row("teamtask", Player, |game, client, words| game.set_team_task(client, atoi(words.get(1)))),
        cheat("give", |game, client, words| game.cheat(client, Cheat::Give, words)),
        cheat("god", |game, client, words| game.cheat(client, Cheat::God, words)),
        cheat("notarget", |game, client, words| game.cheat(client, Cheat::NoTarget, words)),
        cheat("noclip", |game, client, words| game.cheat(client, Cheat::Noclip, words)),
        cheat("setviewpos", |game, client, words| game.cheat(client, Cheat::SetViewPos, words)),
        cheat("levelshot", |game, client, words| game.cheat(client, Cheat::LevelShot, words)),
    ]
};

/// Map names per `mappage` command.
const MAPS_PER_PAGE: usize = 10;
/// Maximum length of an argument in an answer, in bytes.
const MAX_ECHO_LEN: usize = 64;
/// Maximum length of a client number, in digits.
const MAX_NUMBER_LEN: usize = 3;

impl ClientContext<'_> {
    pub(in crate::game) fn run_client_command(&mut self, client: ClientNum, words: &CommandArgs) {
        let ruleset = self.clients.ruleset;
        let known = COMMANDS.iter().find(|row| {
            row.name.eq_ignore_ascii_case(words.command())
                && row.only.is_none_or(|base| base == ruleset.base)
        });
        let allowed = known.is_some_and(|row| allowed_in_intermission(ruleset, row.name));
        if self.clients.intermission && !allowed {
            if ruleset.matches.intermission_text_is_chat {
                self.say(client, Audience::All, &words.rest(0));
            }
            return;
        }
        let Some(row) = known else {
            let typed = clean_text(words.command(), MAX_ECHO_LEN);
            return answer(self.host, client, &format!("{}{typed}", ruleset.commands.unknown));
        };
        match self.refusal(client, row) {
            Some(refusal) => answer(self.host, client, refusal),
            None => (row.effect)(self, client, words),
        }
    }

    /// Returns the answer to a client that may not use a command now.
    fn refusal(&self, client: ClientNum, row: &CommandRow) -> Option<&'static str> {
        let ruleset = self.clients.ruleset;
        if let Some(refusals) = ruleset.commands.role_refusals {
            let plays = self.clients.role(client).plays();
            match row.allowed {
                AllowedRole::Player if !plays => return Some(refusals.players_only),
                AllowedRole::Spectator if plays => return Some(refusals.spectators_only),
                AllowedRole::Anyone | AllowedRole::Player | AllowedRole::Spectator => {}
            }
        }
        if row.is_cheat && !self.host.settings().flag(engine::key::SV_CHEATS) {
            return Some(ruleset.commands.cheats_off);
        }
        let dead = self.clients.player(client).is_some_and(|player| !player.is_alive(ruleset));
        (dead && ruleset.commands.living_only.contains(&row.name))
            .then_some(ruleset.commands.living_refusal)
    }

    /// `tell PLAYER TEXT`.
    fn tell(&mut self, client: ClientNum, words: &CommandArgs) {
        if let Some(target) = self.named_player(client, words.get(1)) {
            self.say(client, Audience::One(target), &words.rest(2));
        }
    }

    /// `gc PLAYER NUMBER`: a chat line by its number.
    fn give_order(&mut self, client: ClientNum, words: &CommandArgs) {
        let number = atoi(words.get(2));
        let order = usize::try_from(number).ok().and_then(|number| ORDERS.get(number));
        if !self.clients.ruleset.game_log.has_orders {
            // OpenArena reads missing words as 0, refuses without an answer and logs nothing.
            let target = usize::try_from(atoi(words.get(1))).ok().and_then(ClientNum::new);
            if let (Some(target), Some(order)) = (target, order) {
                self.say_order(client, target, order);
            }
            return;
        }
        if words.len() != 3 {
            let usage = format!("Usage: gc <player id> <order 0-{}>", ORDERS.len() - 1);
            return answer(self.host, client, &usage);
        }
        let Some(order) = order else {
            return answer(self.host, client, &format!("Bad order: {number}"));
        };
        if let Some(target) = self.named_player(client, words.get(1)) {
            self.say(client, Audience::One(target), order);
        }
    }

    /// `follow [PLAYER]`: without a player, the end of following.
    fn follow_command(&mut self, client: ClientNum, words: &CommandArgs) {
        if words.len() < 2 {
            self.stop_following(client);
        } else if let Some(target) = self.named_player(client, words.get(1)) {
            self.follow(client, target);
        }
    }

    fn kill_self(&mut self, client: ClientNum) {
        if self.clients.plays(client) {
            self.rules.kill(self.clients, self.host, client);
        }
    }

    fn tell_place(&mut self, client: ClientNum) {
        let Some(player) = self.clients.player(client) else { return };
        let [x, y, z] = player.view_state().origin.0.map(|along| along as i32);
        answer(self.host, client, &format!("({x} {y} {z})"));
    }

    fn send_accuracy(&mut self, client: ClientNum) {
        let Some(player) = self.clients.player(client) else { return };
        self.host.send_command(Some(client), &player.accuracy.command());
    }
}

impl Clients {
    /// Finds a player by number, or by name without colors and case.
    ///
    /// # Errors
    /// The answer for a word that matches no player.
    pub(super) fn player_called(&self, word: &str) -> Result<ClientNum, String> {
        let is_number = !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_digit());
        if is_number {
            let found = self.player_numbered(word);
            if found.is_ok() || self.ruleset.commands.slot_refusals {
                return found;
            }
        }
        let wanted = strip_colors(word);
        let found = ClientNum::all().find(|&other| {
            self.active(other)
                .is_some_and(|player| strip_colors(&player.name).eq_ignore_ascii_case(&wanted))
        });
        found.ok_or_else(|| no_user(word))
    }

    /// Finds a player of a team by its number, or by name without colors and case.
    ///
    /// # Errors
    /// The answer for a word that matches no player of the team.
    pub(super) fn team_player(&self, color: TeamColor, word: &str) -> Result<ClientNum, String> {
        let is_number = (1..=MAX_NUMBER_LEN).contains(&word.len())
            && word.bytes().all(|byte| byte.is_ascii_digit());
        let found = if is_number {
            Some(self.player_numbered(word)?)
        } else {
            let wanted = strip_colors(word);
            let mut team = self.team_of(color);
            team.find(|&mate| {
                let player = self.player(mate);
                player
                    .is_some_and(|player| strip_colors(&player.name).eq_ignore_ascii_case(&wanted))
            })
        };
        found.filter(|&client| self.role(client).color() == Some(color)).ok_or_else(|| {
            let word = clean_text(word, MAX_ECHO_LEN);
            format!("{word} is not a valid player on your team.")
        })
    }

    /// Finds a player by number.
    ///
    /// # Errors
    /// The answer for a number without a player.
    pub(super) fn player_numbered(&self, word: &str) -> Result<ClientNum, String> {
        let slot = word.parse().ok().and_then(ClientNum::new);
        let Some(slot) = slot else {
            return Err(format!("Bad client slot: {}", clean_text(word, MAX_ECHO_LEN)));
        };
        match self.active(slot) {
            Some(_) => Ok(slot),
            None => Err(format!("Client {slot} is not active")),
        }
    }
}

impl ClientContext<'_> {
    fn set_team_task(&mut self, client: ClientNum, task: i32) {
        let text = self.host.userinfo(client).to_owned();
        if let Some(info) = PlayerUserinfo::parse(&text) {
            self.host.set_userinfo(client, &info.with("teamtask", &team_task(task).to_string()));
            self.clients.read_userinfo(self.host, client, true);
        }
    }

    /// Finds a player as [`Clients::player_called`] does. Sends the refusal to the client.
    fn named_player(&mut self, client: ClientNum, word: &str) -> Option<ClientNum> {
        self.clients.player_called(word).map_err(|refusal| answer(self.host, client, &refusal)).ok()
    }

    /// Runs a voice chat command.
    fn voice(
        &mut self,
        client: ClientNum,
        to: VoiceAudience,
        kind: VoiceChat,
        words: &CommandArgs,
    ) {
        let (to, id) = match to {
            VoiceAudience::All => (Audience::All, words.get(1)),
            VoiceAudience::Team => (Audience::Team, words.get(1)),
            VoiceAudience::Taunt => (Audience::All, "taunt"),
            VoiceAudience::One => {
                let Some(target) = self.named_player(client, words.get(1)) else { return };
                (Audience::One(target), words.get(2))
            }
        };
        self.voice_chat(client, to, kind, id);
    }
}

/// Sends a client a page of map names for the vote menu.
fn send_map_page(game: &mut ClientContext<'_>, client: ClientNum, page: i32) {
    let names = game.clients.vote_maps.allowed(game.host.map_names());
    let last = names.len().saturating_sub(1) / MAPS_PER_PAGE;
    let page = usize::try_from(page).unwrap_or(0).min(last);
    let mut text = format!("mappage {page}");
    let legal = |name: &&&str| name.len() <= MAX_ECHO_LEN;
    let mut shown = names.iter().filter(legal).skip(page * MAPS_PER_PAGE);
    for _ in 0..MAPS_PER_PAGE {
        let name = shown.next().map_or("", |name| *name);
        let _ = write!(text, " \"{name}\"");
    }
    game.host.send_command(Some(client), &text);
}

/// Whether a command of the table is allowed in intermission.
fn allowed_in_intermission(ruleset: &Ruleset, command: &str) -> bool {
    CHAT_COMMANDS.contains(&command)
        || command == SCORE_COMMAND
        || command == ruleset.matches.intermission_command
}

/// Returns the answer for a word that names no player.
pub(super) fn no_user(word: &str) -> String {
    format!("User {} is not on the server", clean_text(word, MAX_ECHO_LEN))
}

/// Prints a line to one client. The text must be clean.
pub(super) fn answer(host: &mut dyn Host, client: ClientNum, text: &str) {
    host.send_command(Some(client), &format!("print \"{text}\n\""));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn command_names_are_unique_and_lower_case() {
        for (at, row) in COMMANDS.iter().enumerate() {
            assert!(COMMANDS[at + 1..].iter().all(|other| other.name != row.name), "{}", row.name);
            assert_eq!(row.name, row.name.to_ascii_lowercase());
        }
    }
}
