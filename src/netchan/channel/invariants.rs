//! What must hold inside a channel between any two calls, for simulations to ask.

use super::{Channel, LAST_SEQUENCE, MAX_QUEUED, Unsent};
use crate::model::limits::MAX_MESSAGE_LEN;

impl<K: Copy> Channel<K> {
    /// Whether numbers, fragments and queue fit together.
    ///
    /// # Errors
    /// What does not, in a sentence.
    pub fn check_invariants(&self) -> Result<(), String> {
        self.assembly.check_invariants(self.last_received)?;
        let (next, last) = (self.next_sequence, self.last_sent);
        if last.distance(next) >= 0 || next.0 > LAST_SEQUENCE.0 + 1 {
            return Err(format!("message {last} has left and {next} is the next"));
        }
        if let Some(Unsent { sequence, pieces, .. }) = &self.unsent {
            pieces.check_invariants()?;
            let left = i32::from(pieces.have_left_once());
            if sequence.next() != next || last.distance(*sequence) >= left {
                return Err(format!("{sequence} is leaving, {last} has left, {next} is the next"));
            }
        }
        if self.queue.len() > MAX_QUEUED {
            return Err(format!("{} messages wait", self.queue.len()));
        }
        match self.queue.iter().find(|queued| queued.message.len() > MAX_MESSAGE_LEN) {
            Some(queued) => Err(format!("a message of {} bytes waits", queued.message.len())),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::{
        model::{Challenge, Qport, Sequence},
        netchan::{
            ChannelSide,
            channel::{Key, Queued},
            header::FRAGMENT_LEN,
        },
        wire::Protocol,
    };

    /// A channel with one message gone, one leaving in pieces and one waiting.
    fn busy() -> Channel {
        let mut channel =
            Channel::new(ChannelSide::Server, Protocol::IOQ3_71, Challenge(1), Qport(2));
        let mut out = Vec::new();
        for len in [10, 3 * FRAGMENT_LEN, 20] {
            channel.send(&vec![0; len], &Arc::default(), (), &mut out).unwrap();
        }
        channel
    }

    #[test]
    fn each_thing_that_does_not_fit_is_found() {
        assert_eq!(busy().check_invariants(), Ok(()));
        let check = |change: fn(&mut Channel)| {
            let mut channel = busy();
            change(&mut channel);
            channel.check_invariants().unwrap_err()
        };
        assert_eq!(check(|c| c.last_sent = Sequence(3)), "message 3 has left and 3 is the next");
        assert_eq!(check(|c| c.last_sent = Sequence(2)), "2 is leaving, 2 has left, 3 is the next");
        assert_eq!(
            check(|c| c.next_sequence = Sequence(9)),
            "2 is leaving, 1 has left, 9 is the next"
        );
        assert_eq!(
            check(|c| {
                let queued =
                    |_| Queued { message: vec![], key: Key::Clear, text: Arc::default(), kind: () };
                c.queue = (0..9).map(queued).collect();
            }),
            "9 messages wait"
        );
        assert_eq!(
            check(|c| c.queue[0].message = vec![0; MAX_MESSAGE_LEN + 1]),
            "a message of 16385 bytes waits"
        );
    }
}
