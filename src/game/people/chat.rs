//! Talk between players: in writing, by recorded voices, by orders that go with a key.
//!
//! Invariants: nothing a player types can end its quotes or its line; no command is longer than every
//! client takes. Source: the base game's chat commands and their escape byte, which clients strip.

use super::People;
use crate::model::{ClientNum, text::truncated};
use crate::{
    bg::GameType,
    game::{Host, userinfo::clean_text},
};

/// Longest text, in bytes.
const MAX_SAY_LEN: usize = 149;
/// Longest name before a text, in bytes.
const MAX_SPEAKER_LEN: usize = 63;
/// Longest name of a recorded voice, in bytes.
const MAX_VOICE_LEN: usize = 31;

/// What the command `gc` says, by number.
pub(super) const ORDERS: [&str; 7] = [
    "hold your position",
    "hold this position",
    "come here",
    "cover me",
    "guard location",
    "search and destroy",
    "report",
];

/// Who hears it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Audience {
    All,
    /// One's own side; all where there are none.
    Team,
    One(ClientNum),
}

/// How a voice is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Voice {
    /// Without the text that goes with it.
    pub(super) only: bool,
}

impl People {
    /// Says something.
    pub(super) fn say(&self, host: &mut dyn Host, client: ClientNum, to: Audience, text: &str) {
        let text = clean_text(text, MAX_SAY_LEN);
        let Some(player) = self.player(client).filter(|_| !text.trim().is_empty()) else { return };
        let to = self.audience(to);
        let name = truncated(&player.name, MAX_SPEAKER_LEN);
        let at = self.place_of(&*host, client).map(|place| format!(" ({place})"));
        let at = at.unwrap_or_default();
        match to {
            Audience::All => {
                let line = format!("chat \"{name}^7\x19: ^2{text}\"");
                self.send_to_hearers(host, client, to, &line);
                self.log(host, &format!("say: {name}: {text}"));
            }
            Audience::Team => {
                let line = format!("tchat \"\x19({name}^7\x19){at}\x19: ^5{text}\"");
                self.send_to_hearers(host, client, to, &line);
                self.log(host, &format!("sayteam: {name}: {text}"));
            }
            Audience::One(target) => {
                let Some(hearer) = self.player(target) else { return };
                let at = if self.are_mates(client, target) { at.as_str() } else { "" };
                let line = format!("chat \"\x19[{name}^7\x19]{at}\x19: ^6{text}\"");
                if self.is_heard(client, target, to) {
                    host.send_command(Some(target), &line);
                }
                if target != client {
                    host.send_command(Some(client), &line);
                }
                self.log(host, &format!("tell: {name} to {}: {text}", hearer.name));
            }
        }
    }

    /// Says something in a recorded voice.
    pub(super) fn speak(
        &self,
        host: &mut dyn Host,
        client: ClientNum,
        to: Audience,
        Voice { only }: Voice,
        id: &str,
    ) {
        let id: String = clean_text(id, MAX_VOICE_LEN)
            .chars()
            .filter(|&c| c.is_ascii_alphanumeric() || c == '_' || c == '-')
            .collect();
        if id.is_empty() || !self.profile.voices {
            return;
        }
        let to = self.audience(to);
        // The colour of the text that goes with it, as the character's code.
        let (command, colour) = match to {
            Audience::All => ("vchat", b'2'),
            Audience::Team => ("vtchat", b'5'),
            Audience::One(_) => ("vtell", b'6'),
        };
        let number = client.index();
        let line = format!("{command} {} {number} {colour} {id}", u8::from(only));
        self.send_to_hearers(host, client, to, &line);
        if matches!(to, Audience::One(target) if target != client) {
            host.send_command(Some(client), &line);
        }
    }

    /// Where there are no teams, everybody is one's own.
    fn audience(&self, to: Audience) -> Audience {
        if to == Audience::Team && !self.game_type.has_teams() { Audience::All } else { to }
    }

    fn send_to_hearers(&self, host: &mut dyn Host, from: ClientNum, to: Audience, line: &str) {
        let undisturbed = self.game_type != GameType::Tournament || self.role(from).plays();
        if to == Audience::All && undisturbed {
            return host.send_command(None, line);
        }
        for client in ClientNum::all().filter(|&client| self.is_heard(from, client, to)) {
            host.send_command(Some(client), line);
        }
    }

    /// Whether what `from` says to `to` reaches `client`. Who plays a tournament is left in peace.
    fn is_heard(&self, from: ClientNum, client: ClientNum, to: Audience) -> bool {
        let disturbs = self.game_type == GameType::Tournament
            && self.role(client).plays()
            && !self.role(from).plays();
        let meant = match to {
            Audience::All => true,
            Audience::Team => self.team(from) == self.team(client),
            Audience::One(target) => target == client,
        };
        meant && !disturbs && self.active(client).is_some()
    }
}
