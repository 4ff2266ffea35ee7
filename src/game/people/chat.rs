//! Talk between players.
//!
//! Invariants: nothing a player types can end its quotes or its line; no command is longer than every
//! client takes. Source: the base game's chat commands and their escape byte, which clients strip.

use super::People;
use crate::game::{Host, userinfo::clean_text};
use crate::model::{ClientNum, text::truncated};

/// Longest text, in bytes.
const MAX_SAY_LEN: usize = 149;
/// Longest name before a text, in bytes.
const MAX_SPEAKER_LEN: usize = 63;

impl People {
    /// Says something to everybody. There are no teams to say it to.
    pub(in crate::game) fn say(&self, host: &mut dyn Host, client: ClientNum, text: &str) {
        let text = clean_text(text, MAX_SAY_LEN);
        let Some(player) = self.player(client).filter(|_| !text.is_empty()) else { return };
        let name = truncated(&player.name, MAX_SPEAKER_LEN);
        host.send_command(None, &format!("chat \"{name}^7\x19: ^2{text}\""));
        self.log(host, &format!("say: {name}: {text}"));
    }

    /// Says something to one player, and shows the sender that it was said.
    pub(in crate::game) fn tell(
        &self,
        host: &mut dyn Host,
        client: ClientNum,
        target: ClientNum,
        text: &str,
    ) {
        let text = clean_text(text, MAX_SAY_LEN);
        let (Some(from), Some(to)) = (self.player(client), self.player(target)) else { return };
        if text.is_empty() {
            return;
        }
        let name = truncated(&from.name, MAX_SPEAKER_LEN);
        let line = format!("chat \"\x19[{name}^7\x19]\x19: ^6{text}\"");
        host.send_command(Some(target), &line);
        if target != client {
            host.send_command(Some(client), &line);
        }
        self.log(host, &format!("tell: {name} to {}: {text}", to.name));
    }
}
