//! Message of the day: the text of `g_motdfile`, as a center print at each entry.
//!
//! Invariant: the text cannot end its quotes, and the command fits the limit of clients. Source: OpenArena.

use crate::game::{Host, Ruleset, settings::key};
use crate::model::{ClientNum, assets::GamePath};

/// Maximum length of the message, in bytes.
const MAX_LEN: usize = 1000;

/// Message of a level; `None` in games without one.
#[derive(Debug, Default)]
pub(super) struct MessageOfTheDay(Option<String>);

impl MessageOfTheDay {
    /// Reads the message of a level.
    pub(super) fn read(host: &mut dyn Host, ruleset: &Ruleset) -> Self {
        if !ruleset.players.greets_on_entry {
            return Self(None);
        }
        let name = host.settings().text(key::G_MOTDFILE).to_owned();
        let bytes = GamePath::new(name.as_bytes()).and_then(|path| host.files()?.read(&path));
        let default = key::G_MOTDFILE.setting().in_game(host.settings().game()).default;
        if bytes.is_none() && ![default, ""].contains(&&*name) {
            host.print(&format!("g_motdfile file not found: {name}"));
        }
        Self(Some(shown(&bytes.unwrap_or_default())))
    }

    /// Sends the message to a client. An empty one clears the center print, including the announcement of the
    /// client's own team change.
    pub(super) fn send(&self, host: &mut dyn Host, client: ClientNum) {
        if let Self(Some(text)) = self {
            host.send_command(Some(client), &format!("cp \"{text}\""));
        }
    }
}

/// Returns the printable part of a file: ASCII with line breaks, without quotes.
fn shown(bytes: &[u8]) -> String {
    let is_shown = |byte: &u8| matches!(byte, b'\n' | b' '..=b'~') && *byte != b'"';
    bytes.iter().copied().filter(is_shown).take(MAX_LEN).map(char::from).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn message_keeps_lines_without_quotes() {
        assert_eq!(shown(b"Welcome\r\nto \"us\"\t\xff!\n"), "Welcome\nto us!\n");
        assert_eq!(shown(&[b'a'; 5000]).len(), MAX_LEN);
    }
}
