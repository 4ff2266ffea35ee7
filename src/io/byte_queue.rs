//! Queue to a writing thread, bounded in messages and bytes.
//!
//! Invariants: sending never waits; memory is used for queued messages only; the bytes of a message count until
//! the receiver requests the next message, so 0 bytes mean that everything was written.

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
        mpsc::{self, RecvTimeoutError},
    },
    time::Instant,
};

/// Bounds of a queue.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bounds {
    /// Maximum queued messages.
    pub(super) messages: usize,
    /// Maximum queued bytes, including the message being written.
    pub(super) bytes: usize,
}

/// Reason why a message was not queued.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Refused {
    /// The queue is full.
    Full,
    /// The receiver has ended.
    Closed,
}

/// Sending end of a queue.
#[derive(Debug)]
pub(super) struct Sender<T> {
    queue: mpsc::Sender<(T, usize)>,
    held: Arc<Held>,
    bounds: Bounds,
}

/// Messages and bytes in a queue.
#[derive(Debug, Default)]
struct Held {
    messages: AtomicUsize,
    /// Including the message being written.
    bytes: AtomicUsize,
}

impl<T> Clone for Sender<T> {
    fn clone(&self) -> Self {
        let held = Arc::clone(&self.held);
        Self { queue: self.queue.clone(), held, bounds: self.bounds }
    }
}

/// Receiving end of a queue.
#[derive(Debug)]
pub(super) struct Receiver<T> {
    queue: mpsc::Receiver<(T, usize)>,
    held: Arc<Held>,
    /// Bytes of the message that is being written.
    taken: usize,
}

/// Creates a queue.
pub(super) fn byte_queue<T>(bounds: Bounds) -> (Sender<T>, Receiver<T>) {
    let (sender, receiver) = mpsc::channel();
    let held = Arc::new(Held::default());
    (
        Sender { queue: sender, held: Arc::clone(&held), bounds },
        Receiver { queue: receiver, held, taken: 0 },
    )
}

impl<T> Sender<T> {
    /// Queues a message of `bytes` bytes.
    pub(super) fn try_send(&self, message: T, bytes: usize) -> Result<(), Refused> {
        let Held { messages: queued, bytes: held } = &*self.held;
        let messages = queued.fetch_add(1, Ordering::Relaxed) + 1;
        let total = held.fetch_add(bytes, Ordering::Relaxed).saturating_add(bytes);
        let sent = if messages > self.bounds.messages || total > self.bounds.bytes {
            Err(Refused::Full)
        } else {
            self.queue.send((message, bytes)).map_err(|_| Refused::Closed)
        };
        if sent.is_err() {
            queued.fetch_sub(1, Ordering::Relaxed);
            held.fetch_sub(bytes, Ordering::Relaxed);
        }
        sent
    }

    /// Whether half of the messages or bytes are used.
    pub(super) fn is_half_full(&self) -> bool {
        let Held { messages, bytes } = &*self.held;
        messages.load(Ordering::Relaxed) >= self.bounds.messages / 2
            || bytes.load(Ordering::Relaxed) >= self.bounds.bytes / 2
    }

    /// Returns the queued bytes, including the message being written.
    pub(super) fn held(&self) -> usize {
        self.held.bytes.load(Ordering::Relaxed)
    }
}

impl<T> Receiver<T> {
    /// Returns the next message, after a wait until `end` at most, or while a sender exists.
    pub(super) fn recv(&mut self, end: Option<Instant>) -> Result<T, RecvTimeoutError> {
        self.held.bytes.fetch_sub(std::mem::take(&mut self.taken), Ordering::Relaxed);
        let (message, bytes) = match end {
            None => self.queue.recv().map_err(|_| RecvTimeoutError::Disconnected),
            Some(end) => self.queue.recv_timeout(end.saturating_duration_since(Instant::now())),
        }?;
        self.held.messages.fetch_sub(1, Ordering::Relaxed);
        self.taken = bytes;
        Ok(message)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn queue_is_bounded_in_messages_and_bytes() {
        let (sender, mut receiver) = byte_queue(Bounds { messages: 3, bytes: 100 });
        assert_eq!(
            [60, 41, 40].map(|bytes| sender.try_send(bytes, bytes)),
            [Ok(()), Err(Refused::Full), Ok(())]
        );
        assert_eq!(sender.try_send(0, 0), Ok(()));
        assert_eq!(sender.try_send(0, 0), Err(Refused::Full), "three messages wait");
        assert_eq!(receiver.recv(None), Ok(60));
        assert_eq!(sender.held(), 100, "the message being written counts");
        assert_eq!(receiver.recv(None), Ok(40));
        assert_eq!(sender.try_send(60, 60), Ok(()));
        assert_eq!((receiver.recv(None), receiver.recv(None)), (Ok(0), Ok(60)));
        assert_eq!(receiver.recv(Some(Instant::now())), Err(RecvTimeoutError::Timeout));
        assert_eq!(sender.held(), 0);
        drop(receiver);
        assert_eq!(sender.try_send(1, 1), Err(Refused::Closed));
    }
}
