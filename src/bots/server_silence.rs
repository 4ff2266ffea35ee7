//! Silence of one server: the time without any datagram of it, although bots ask.
//!
//! It is measured at the socket, apart from the simulated links, which delay, lose and damage datagrams of a server that
//! speaks. Unlike snapshot gaps it also shows a server that stands still while bots join, or during a map change.

use crate::model::Millis;

/// Shortest lateness of the load generator that is left out.
const LEFT_OUT_LATENESS: Millis = Millis(50);

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

    /// Leaves out the time by which the load generator was late: datagrams may have waited for it.
    pub(super) fn leave_out(&mut self, lateness: Millis, now: Millis) {
        if lateness >= LEFT_OUT_LATENESS
            && let Some(asked) = &mut self.asked
        {
            *asked = (*asked + lateness).min(now);
        }
    }

    /// Restarts the measurement after the warm-up.
    pub(super) fn restart(&mut self, now: Millis) {
        self.longest = Millis(0);
        self.asked = self.asked.map(|_| now);
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
        silence.ask(Millis(9000));
        silence.restart(Millis(9500));
        assert_eq!(silence.longest(Millis(9600)), Millis(100));
        for (lateness, length) in [(10, 500), (300, 200), (9000, 0)] {
            silence.leave_out(Millis(lateness), Millis(10_000));
            assert_eq!(silence.length(Millis(10_000)), Millis(length), "{lateness}");
        }
    }
}
