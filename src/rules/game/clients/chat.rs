//! Chat: text, voice chat and canned orders.
//!
//! Invariants: chat text cannot end its quotes or its line; no command exceeds the limit of any client.
//! Source: the base game's chat commands and their escape byte, which clients strip.

use super::{ClientContext, Clients};
use crate::game::{Audience, GameEvent, userinfo::clean_text};
use crate::model::{ClientNum, text::truncated};

/// Maximum length of a chat text, in bytes.
pub(super) const MAX_SAY_LEN: usize = 149;
/// Maximum length of the name before a chat text, in bytes.
const MAX_SPEAKER_LEN: usize = 63;
/// Maximum length of a voice chat id, in bytes.
const MAX_VOICE_LEN: usize = 31;

/// Texts of the command `gc` by number.
pub(super) const ORDERS: [&str; 7] = [
    "hold your position",
    "hold this position",
    "come here",
    "cover me",
    "guard location",
    "search and destroy",
    "report",
];

/// Options of a voice chat.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct VoiceChat {
    /// Whether clients omit the chat text of the voice.
    pub(super) only: bool,
}

impl ClientContext<'_> {
    /// Sends a chat text to its audience and logs it.
    pub(super) fn say(&mut self, client: ClientNum, to: Audience, text: &str) {
        let text = clean_text(text, MAX_SAY_LEN);
        let Some(player) = self.clients.player(client).filter(|_| !text.trim().is_empty()) else {
            return;
        };
        let to = self.audience(to);
        let name = truncated(&player.name, MAX_SPEAKER_LEN).to_owned();
        let at = self
            .clients
            .location_name(&*self.host, client)
            .map(|location| format!(" ({location})"));
        let at = at.unwrap_or_default();
        match to {
            Audience::All => {
                let line = format!("chat \"{name}^7\x19: ^2{text}\"");
                self.send_to_hearers(client, to, &line);
            }
            Audience::Team => {
                let line = format!("tchat \"\x19({name}^7\x19){at}\x19: ^5{text}\"");
                self.send_to_hearers(client, to, &line);
            }
            Audience::One(target) => {
                if self.clients.player(target).is_none() {
                    return;
                }
                let at = if self.clients.are_mates(client, target) { at.as_str() } else { "" };
                let line = format!("chat \"\x19[{name}^7\x19]{at}\x19: ^6{text}\"");
                if is_heard(self.clients, client, target, to) {
                    self.host.send_command(Some(target), &line);
                }
                if target != client {
                    self.host.send_command(Some(client), &line);
                }
            }
        }
        self.clients.emit(self.host, &GameEvent::Chat { client, to, text: &text });
    }

    /// Sends an order to a player, and to the player who gives it. It is not logged.
    pub(super) fn say_order(&mut self, client: ClientNum, target: ClientNum, order: &str) {
        let Some(player) = self.clients.player(client) else { return };
        let name = truncated(&player.name, MAX_SPEAKER_LEN).to_owned();
        for hearer in [target, client] {
            if !is_heard(self.clients, client, hearer, Audience::One(hearer)) {
                continue;
            }
            let location = match self.clients.are_mates(client, hearer) {
                true => self.clients.location_name(&*self.host, client),
                false => None,
            };
            let at = location.map(|location| format!(" ({location})")).unwrap_or_default();
            let line = format!("chat \"\x19[{name}^7\x19]{at}\x19: ^6{order}\"");
            self.host.send_command(Some(hearer), &line);
        }
    }

    /// Sends a voice chat to its audience.
    pub(super) fn voice_chat(
        &mut self,
        client: ClientNum,
        to: Audience,
        VoiceChat { only }: VoiceChat,
        id: &str,
    ) {
        let id: String = clean_text(id, MAX_VOICE_LEN)
            .chars()
            .filter(|&c| c.is_ascii_alphanumeric() || c == '_' || c == '-')
            .collect();
        if id.is_empty() {
            return;
        }
        let to = self.audience(to);
        // Color of the chat text, as the code of its character.
        let (command, color) = match to {
            Audience::All => ("vchat", b'2'),
            Audience::Team => ("vtchat", b'5'),
            Audience::One(_) => ("vtell", b'6'),
        };
        let number = client.index();
        let line = format!("{command} {} {number} {color} {id}", u8::from(only));
        self.send_to_hearers(client, to, &line);
        if matches!(to, Audience::One(target) if target != client) {
            self.host.send_command(Some(client), &line);
        }
        self.clients.emit(self.host, &GameEvent::VoiceChat { client, to, id: &id });
    }

    /// Widens team chat to all clients outside team games.
    fn audience(&self, to: Audience) -> Audience {
        if to == Audience::Team && !self.clients.game_type.has_teams() { Audience::All } else { to }
    }

    fn send_to_hearers(&mut self, from: ClientNum, to: Audience, line: &str) {
        let undisturbed = !self.clients.join.mutes_spectators || self.clients.role(from).plays();
        if to == Audience::All && undisturbed {
            return self.host.send_command(None, line);
        }
        let clients = &*self.clients;
        for client in ClientNum::all().filter(|&client| is_heard(clients, from, client, to)) {
            self.host.send_command(Some(client), line);
        }
    }
}

/// Whether a text from `from` to `to` reaches `client`. Tournament players do not hear spectators.
fn is_heard(clients: &Clients, from: ClientNum, client: ClientNum, to: Audience) -> bool {
    let disturbs = clients.join.mutes_spectators
        && clients.role(client).plays()
        && !clients.role(from).plays();
    let meant = match to {
        Audience::All => true,
        Audience::Team => clients.team(from) == clients.team(client),
        Audience::One(target) => target == client,
    };
    meant && !disturbs && clients.active(client).is_some()
}
