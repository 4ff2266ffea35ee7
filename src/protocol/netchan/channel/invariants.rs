//! Invariants of a channel between calls, for simulations.

use super::{Channel, LAST_SEQUENCE, MAX_QUEUED, Unsent};
use crate::model::limits::MAX_MESSAGE_LEN;

impl<K: Copy> Channel<K> {
    /// Checks numbers, fragments and queue against each other.
    ///
    /// # Errors
    /// A sentence with the violated invariant.
    pub fn check_invariants(&self) -> Result<(), String> {
        self.assembly.check_invariants(self.last_received)?;
        let (next, last) = (self.next_sequence, self.last_sent);
        if last.distance(next) >= 0 || next.0 > LAST_SEQUENCE.0 + 1 {
            return Err(format!("message {last} is sent and {next} is the next"));
        }
        if let Some(Unsent { sequence, pieces, .. }) = &self.unsent {
            pieces.check_invariants()?;
            let left = i32::from(pieces.have_left_once());
            if sequence.next() != next || last.distance(*sequence) >= left {
                return Err(format!(
                    "message {sequence} in transmission, {last} sent, {next} next"
                ));
            }
        }
        if self.queue.len() > MAX_QUEUED {
            return Err(format!("{} messages queued", self.queue.len()));
        }
        match self.queue.iter().find(|queued| queued.message.len() > MAX_MESSAGE_LEN) {
            Some(queued) => Err(format!("message of {} bytes queued", queued.message.len())),
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

    /// A channel with one message sent, one in transmission and one queued.
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
    fn every_inconsistency_is_reported() {
        assert_eq!(busy().check_invariants(), Ok(()));
        let check = |change: fn(&mut Channel)| {
            let mut channel = busy();
            change(&mut channel);
            channel.check_invariants().unwrap_err()
        };
        assert_eq!(check(|c| c.last_sent = Sequence(3)), "message 3 is sent and 3 is the next");
        assert_eq!(
            check(|c| c.last_sent = Sequence(2)),
            "message 2 in transmission, 2 sent, 3 next"
        );
        assert_eq!(
            check(|c| c.next_sequence = Sequence(9)),
            "message 2 in transmission, 1 sent, 9 next"
        );
        assert_eq!(
            check(|c| {
                let queued =
                    |_| Queued { message: vec![], key: Key::Clear, text: Arc::default(), kind: () };
                c.queue = (0..9).map(queued).collect();
            }),
            "9 messages queued"
        );
        assert_eq!(
            check(|c| c.queue[0].message = vec![0; MAX_MESSAGE_LEN + 1]),
            "message of 16385 bytes queued"
        );
    }
}
