//! Name lookups of a node, in a thread, because a name service may block for seconds.
//!
//! Invariants: the event loop never waits; at most `WAITING_MAX` lookups wait, and further ones are answered
//! with an error.

use std::{
    io,
    sync::{
        Arc,
        mpsc::{Receiver, Sender, SyncSender, channel, sync_channel},
    },
    thread,
};

use mio::Waker;

use super::resolve::resolve_families;
use crate::node::{Lookup, LookupAnswer};

/// Lookups that wait for the thread.
const WAITING_MAX: usize = 64;

/// The loop's end of the lookup thread, which starts with the first lookup.
pub(super) struct Lookups {
    waker: Arc<Waker>,
    thread: Option<SyncSender<Lookup>>,
    answered: Sender<LookupAnswer>,
    answers: Receiver<LookupAnswer>,
}

impl Lookups {
    /// Creates the queue. `waker` is called after each answer.
    pub(super) fn new(waker: Arc<Waker>) -> Self {
        let (answered, answers) = channel();
        Self { waker, thread: None, answered, answers }
    }

    /// Queues a lookup.
    pub(super) fn ask(&mut self, lookup: Lookup) {
        let queued = match &self.thread {
            Some(thread) => {
                thread.try_send(lookup.clone()).map_err(|_| "too many lookups".to_owned())
            }
            None => self.start(lookup.clone()).map_err(|error| error.to_string()),
        };
        if let Err(error) = queued {
            let found = Err(format!("host '{}' not looked up: {error}", lookup.name));
            // The receiver lives as long as the sender, and a failed wake-up only delays the answer.
            let _ = self.answered.send(LookupAnswer { lookup, found });
            let _ = self.waker.wake();
        }
    }

    /// Returns the next answer.
    pub(super) fn next(&self) -> Option<LookupAnswer> {
        self.answers.try_recv().ok()
    }

    fn start(&mut self, first: Lookup) -> io::Result<()> {
        let (sender, receiver) = sync_channel::<Lookup>(WAITING_MAX);
        let (answered, waker) = (self.answered.clone(), Arc::clone(&self.waker));
        thread::Builder::new().name("lookups".to_owned()).spawn(move || {
            for lookup in receiver {
                let found = resolve_families(&lookup.name, lookup.default_port);
                if answered.send(LookupAnswer { lookup, found }).is_err() || waker.wake().is_err() {
                    return;
                }
            }
        })?;
        // A new queue has room.
        let _ = sender.try_send(first);
        self.thread = Some(sender);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use mio::{Events, Poll, Token};

    use super::*;

    #[test]
    fn lookups_are_answered_in_order_and_wake_the_poll() {
        let mut poll = Poll::new().unwrap();
        let mut lookups = Lookups::new(Arc::new(Waker::new(poll.registry(), Token(3)).unwrap()));
        let names = ["127.0.0.1:5", "a b", "::1"];
        for name in names {
            lookups.ask(Lookup { name: name.to_owned(), default_port: 9 });
        }
        let (mut answers, mut events) = (Vec::new(), Events::with_capacity(4));
        let deadline = Instant::now() + Duration::from_secs(30);
        while answers.len() < names.len() && Instant::now() < deadline {
            poll.poll(&mut events, Some(Duration::from_secs(30))).unwrap();
            answers.extend(std::iter::from_fn(|| lookups.next()));
        }
        let found: Vec<_> = answers.iter().map(|one| one.found.clone().ok()).collect();
        let address = |text: &str| Some(vec![text.parse().unwrap()]);
        assert_eq!(found, [address("127.0.0.1:5"), None, address("[::1]:9")]);
        assert_eq!(answers.iter().map(|one| &*one.lookup.name).collect::<Vec<_>>(), names);
    }
}
