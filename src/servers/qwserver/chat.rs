//! Prints and chat: texts of the server and of clients, teams, flood protection.
//!
//! Source: QuakeWorld protocol 28, `print`, `say`, `say_team`.

use super::{QwServer, client::Client, drop::PRINT_HIGH, names::plain, settings::key};
use crate::{
    model::Millis,
    quakeworld::{ServerMessage, bytes::Text},
};

/// Level of chat.
const PRINT_CHAT: u8 = 3;
/// Longest chat line.
const MAX_LINE: usize = 200;
/// Longest text of one print.
const MAX_PRINT: usize = 1000;
/// Most chat lines that are counted.
const MAX_COUNTED: usize = 10;

/// Times of the last chat lines of a client.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ChatLimit {
    times: [Option<Millis>; MAX_COUNTED],
    next: usize,
    silent_until: Millis,
}

impl ChatLimit {
    /// Counts a line. Returns the time for which the client is silent otherwise.
    fn admit(
        &mut self,
        now: Millis,
        lines: usize,
        span: Millis,
        silence: Millis,
    ) -> Result<(), Millis> {
        if now < self.silent_until {
            return Err(self.silent_until.since(now));
        }
        let lines = lines.min(MAX_COUNTED);
        if lines == 0 {
            return Ok(());
        }
        let oldest = self.times[(self.next + MAX_COUNTED - lines) % MAX_COUNTED];
        if oldest.is_some_and(|oldest| now.since(oldest) < span) {
            self.silent_until = now + silence;
            return Err(silence);
        }
        self.times[self.next] = Some(now);
        self.next = (self.next + 1) % MAX_COUNTED;
        Ok(())
    }
}

/// Prints a text on the console of one client.
pub(super) fn print_client(server: &mut QwServer, slot: usize, level: u8, text: &[u8]) {
    for part in text.chunks(MAX_PRINT) {
        let is_wanted =
            server.clients[slot].as_deref().is_some_and(|one| level >= one.message_level);
        if is_wanted {
            server.queue_message(slot, &ServerMessage::Print { level, text: Text::new(part) });
        }
    }
}

/// Prints a text on the consoles of all clients, and in the log of the server's operator.
pub(super) fn print_all(server: &mut QwServer, level: u8, text: &[u8]) {
    super::write_message(
        &mut server.scratch,
        &ServerMessage::Print { level, text: Text::new(text) },
    );
    for client in server.clients.iter_mut().flatten() {
        if client.is_playing() && level >= client.message_level {
            client.queue_print(&server.scratch);
        }
    }
    server.console.echo(&plain(text.trim_ascii_end()));
}

/// Sends a chat line to all clients, or to the team.
pub(super) fn say(
    server: &mut QwServer,
    now: Millis,
    slot: usize,
    text: Text<'_>,
    is_for_team: bool,
) {
    let values = server.settings.values();
    let seconds = |key| Millis::seconds(u64::from(values.int(key).unsigned_abs()));
    let (lines, span) =
        (values.int(key::FP_MESSAGES).unsigned_abs() as usize, seconds(key::FP_PERSECOND));
    let (silence, players_hear) = (seconds(key::FP_SECONDSDEAD), values.flag(key::SV_SPECTALK));
    let mute = super::bans::mute_text(server, slot);
    let Some(client) = server.clients[slot].as_deref_mut().filter(|one| one.is_playing()) else {
        return;
    };
    if text.is_empty() {
        return;
    }
    if let Some(text) = mute {
        // The refusal itself is limited like other actions.
        if client.may_act(now) {
            print_client(server, slot, PRINT_CHAT, &text);
        }
        return;
    }
    if let Err(wait) = client.chat.admit(now, lines, span, silence) {
        let seconds = wait.0.div_ceil(1000);
        let text = format!("You can't talk for {seconds} more seconds\n");
        // The refusal itself is limited like other actions.
        if client.may_act(now) {
            print_client(server, slot, PRINT_CHAT, text.as_bytes());
        }
        return;
    }
    let (is_spectator, team) = (client.is_spectator, client.team().to_vec());
    let line = chat_line(client, text, is_for_team);
    log::info!("{}", plain(line.trim_ascii_end()));
    super::write_message(
        &mut server.scratch,
        &ServerMessage::Print { level: PRINT_CHAT, text: Text::new(&line) },
    );
    for (other, client) in server.clients.iter_mut().enumerate() {
        let Some(client) = client.as_deref_mut().filter(|one| one.is_playing()) else {
            continue;
        };
        let hears = match (is_spectator, is_for_team) {
            (true, true) => client.is_spectator,
            (true, false) => client.is_spectator || players_hear,
            (false, true) => !client.is_spectator && client.team() == team,
            (false, false) => true,
        };
        if (hears || other == slot) && PRINT_CHAT >= client.message_level {
            client.queue_print(&server.scratch);
        }
    }
    server.console.echo(&plain(line.trim_ascii_end()));
}

/// Sends a chat line of the operator.
pub(super) fn say_as_console(server: &mut QwServer, text: &str) {
    let text: Vec<u8> = super::names::printable(text.as_bytes()).take(MAX_LINE).collect();
    let line = [b"console: ", &text[..], b"\n"].concat();
    log::info!("console: {}", plain(&text));
    print_all(server, PRINT_CHAT.max(PRINT_HIGH), &line);
}

/// Returns the line that others see.
fn chat_line(client: &Client, text: Text<'_>, is_for_team: bool) -> Vec<u8> {
    let name = client.name();
    let (before, behind): (&[u8], &[u8]) = match (client.is_spectator, is_for_team) {
        (true, _) => (b"[SPEC] ", b": "),
        (false, true) => (b"(", b"): "),
        (false, false) => (b"", b": "),
    };
    let mut line = [before, name, behind].concat();
    line.extend(super::names::printable(text.bytes()).take(MAX_LINE));
    line.push(b'\n');
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flood_silences_for_the_set_time() {
        let mut limit = ChatLimit::default();
        let mut say = |ms| limit.admit(Millis(ms), 4, Millis(4000), Millis(10_000));
        for ms in [1000, 1100, 1200, 1300] {
            assert_eq!(say(ms), Ok(()));
        }
        assert_eq!(say(1400), Err(Millis(10_000)));
        assert_eq!(say(6400), Err(Millis(5000)));
        assert_eq!(say(11_400), Ok(()));
        let mut limit = ChatLimit::default();
        assert!((0..100).all(|ms| limit.admit(Millis(ms), 0, Millis(1), Millis(1)).is_ok()));
    }
}
