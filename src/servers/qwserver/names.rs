//! Texts of players: plain form for logs, names of new players.
//!
//! Source: QuakeWorld protocol 28, userinfo; the upper half of the character set repeats the lower one in color.

use super::QwServer;

/// Longest name of a player.
pub(super) const MAX_NAME_LEN: usize = 31;

/// Returns a text in ASCII, for logs and consoles.
pub(super) fn plain(text: &[u8]) -> String {
    crate::discovery::quakeworld::plain_text(crate::wire::text::WireText::new(text))
}

/// Returns the bytes of a text that may be a part of a print.
pub(super) fn printable(text: &[u8]) -> impl Iterator<Item = u8> {
    text.iter().copied().filter(|byte| !matches!(byte, 0..=0x0f | 0x7f))
}

impl QwServer {
    /// Returns the name that a client gets: not empty, not too long, not that of another client.
    pub(super) fn free_name(&self, slot: usize, wanted: &[u8]) -> Vec<u8> {
        let mut name: Vec<u8> = printable(wanted).take(MAX_NAME_LEN).collect();
        let blank = |byte: &u8| matches!(byte & 0x7f, b' ');
        while name.last().is_some_and(blank) {
            name.pop();
        }
        let start = name.iter().take_while(|byte| blank(byte)).count();
        name.drain(..start);
        // `console` is the name under which the operator speaks.
        if name.is_empty() || name.eq_ignore_ascii_case(b"console") {
            name = b"unnamed".to_vec();
        }
        let is_taken = |name: &[u8]| {
            let others = self.clients.iter().enumerate().filter(|(other, _)| *other != slot);
            others
                .filter_map(|(_, client)| client.as_deref())
                .any(|client| client.is_connected() && client.name().eq_ignore_ascii_case(name))
        };
        let mut numbered = name.clone();
        for number in 1..=super::MAX_CLIENTS {
            if !is_taken(&numbered) {
                break;
            }
            numbered = format!("({number})").into_bytes();
            numbered.extend(&name);
            numbered.truncate(MAX_NAME_LEN);
        }
        numbered
    }
}
