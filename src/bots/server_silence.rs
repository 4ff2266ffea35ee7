//! Silence of one server: the time without any datagram of it, although bots ask.
//!
//! It is measured at the socket, apart from the simulated links: what a link delays, loses or damages is no silence.
//! Unlike snapshot gaps it also shows a server that stands still while bots join, or during a map change.

use crate::model::Millis;

/// Silence of a server.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ServerSilence {
    /// Bots in the game.
    playing: usize,
    /// Whether the server has refused a bot while none played. Servers limit refusals per address.
    refuses: bool,
    /// Time of the first datagram to the server since its last one.
    asked: Option<Millis>,
    /// Longest silence so far.
    longest: Millis,
}

impl ServerSilence {
    /// Records that an undamaged datagram of a connected or joining bot leaves for the server.
    pub(super) fn ask(&mut self, now: Millis) {
        if self.playing > 0 || !self.refuses {
            self.asked.get_or_insert(now);
        }
    }

    /// Ends the silence with a datagram of the server, or with a bot that leaves. Returns its length.
    pub(super) fn end(&mut self, now: Millis) -> Millis {
        let length = self.length(now);
        self.asked = None;
        self.longest = self.longest.max(length);
        length
    }

    /// Returns the length of the silence up to now.
    pub(super) fn length(&self, now: Millis) -> Millis {
        self.asked.map_or(Millis(0), |asked| now.since(asked))
    }

    /// Returns the longest silence up to now.
    pub(super) fn longest(&self, now: Millis) -> Millis {
        self.longest.max(self.length(now))
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
        let mut silence = ServerSilence::default();
        assert_eq!(silence.end(Millis(50)), Millis(0));
        silence.ask(Millis(100));
        silence.ask(Millis(400));
        assert_eq!(silence.length(Millis(500)), Millis(400));
        assert_eq!(silence.end(Millis(2100)), Millis(2000));
        silence.refuse();
        silence.ask(Millis(2150));
        assert_eq!(silence.end(Millis(8000)), Millis(0), "servers limit refusals");
        silence.begin_play();
        silence.refuse();
        silence.ask(Millis(8100));
        assert_eq!(silence.longest(Millis(11_000)), Millis(2900), "a server answers its players");
        assert_eq!(silence.end(Millis(8200)), Millis(100));
        assert_eq!(silence.longest(Millis(9000)), Millis(2000));
    }
}
