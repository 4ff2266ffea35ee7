//! Silence of one server while bots join and none is in the game.
//!
//! Bots in the game show a stall by their snapshot gaps. Before, only the time to join shows it, which a lost
//! handshake packet lengthens as much. Of several bots some hear from a healthy server at any time.

use crate::model::Millis;

/// Silence of a server.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct JoinSilence {
    /// Bots in the game.
    playing: usize,
    /// Whether the server has refused a bot. Servers limit refusals per address, so that a silence may follow.
    refuses: bool,
    /// Time of the first request since the last datagram of the server.
    asked: Option<Millis>,
}

impl JoinSilence {
    /// Records that a joining bot sends a datagram.
    pub(super) fn ask(&mut self, now: Millis) {
        if self.playing == 0 && !self.refuses {
            self.asked.get_or_insert(now);
        }
    }

    /// Ends the silence with a datagram of the server, or with a bot that leaves. Returns its length.
    pub(super) fn end(&mut self, now: Millis) -> Millis {
        self.asked.take().map_or(Millis(0), |asked| now.since(asked))
    }

    /// Returns the length of the silence up to now.
    pub(super) fn length(&self, now: Millis) -> Millis {
        self.asked.map_or(Millis(0), |asked| now.since(asked))
    }

    /// Records that the server has refused a bot.
    pub(super) fn refuse(&mut self) {
        self.refuses = true;
        self.asked = None;
    }

    /// Records that a bot has entered the game.
    pub(super) fn begin_play(&mut self) {
        self.playing += 1;
        self.refuses = false;
    }

    /// Records that a bot has left the game.
    pub(super) fn end_play(&mut self) {
        self.playing = self.playing.saturating_sub(1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn silence_lasts_from_first_request_to_next_datagram() {
        let mut silence = JoinSilence::default();
        assert_eq!(silence.end(Millis(50)), Millis(0));
        silence.ask(Millis(100));
        silence.ask(Millis(400));
        assert_eq!(silence.length(Millis(500)), Millis(400));
        assert_eq!(silence.end(Millis(2100)), Millis(2000));
        silence.refuse();
        silence.ask(Millis(2150));
        assert_eq!(silence.end(Millis(8000)), Millis(0), "servers limit refusals");
        silence.begin_play();
        silence.ask(Millis(2200));
        assert_eq!(silence.end(Millis(9000)), Millis(0), "gaps measure a bot in the game");
        silence.end_play();
        silence.ask(Millis(9100));
        assert_eq!(silence.end(Millis(9300)), Millis(200));
    }
}
