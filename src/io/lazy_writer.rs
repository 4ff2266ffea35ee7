//! Thread that writes files, started with its first message.
//!
//! Invariants: sending never waits; a thread that cannot be started costs one log line.

use std::thread::{self, JoinHandle};

use super::byte_queue::{Bounds, Receiver, Sender, byte_queue};

/// Handle to a writer thread.
#[derive(Debug)]
pub(super) struct LazyWriter<T> {
    /// Name of the thread, and subject of its log line.
    name: &'static str,
    bounds: Bounds,
    thread: Option<(Sender<T>, JoinHandle<()>)>,
    has_failed: bool,
}

impl<T: Send + 'static> LazyWriter<T> {
    pub(super) const fn new(name: &'static str, bounds: Bounds) -> Self {
        Self { name, bounds, thread: None, has_failed: false }
    }

    /// Returns the queue of the thread, which `writer` makes on the first call. `None` if it could not be started.
    pub(super) fn sender<W>(&mut self, writer: impl FnOnce() -> W) -> Option<&Sender<T>>
    where
        W: FnOnce(Receiver<T>) + Send + 'static,
    {
        if self.thread.is_none() && !self.has_failed {
            let (sender, receiver) = byte_queue(self.bounds);
            let write = writer();
            match thread::Builder::new().name(self.name.to_owned()).spawn(|| write(receiver)) {
                Ok(thread) => self.thread = Some((sender, thread)),
                Err(error) => {
                    log::error!("{} not written: {error}", self.name);
                    self.has_failed = true;
                }
            }
        }
        self.started()
    }

    /// Returns the queue of a thread that was started.
    pub(super) fn started(&self) -> Option<&Sender<T>> {
        self.thread.as_ref().map(|(sender, _)| sender)
    }

    /// Waits until everything is written.
    pub(super) fn finish(self) {
        if let Some((sender, thread)) = self.thread {
            drop(sender);
            let _ = thread.join();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::*;

    #[test]
    fn thread_starts_with_first_message_and_writes_all() {
        let (done, written) = mpsc::channel();
        let mut writer = LazyWriter::new("test", Bounds { messages: 8, bytes: 100 });
        assert!(writer.started().is_none());
        for number in 0..3 {
            let done = done.clone();
            let sender = writer.sender(|| {
                move |mut receiver: Receiver<i32>| {
                    while let Ok(number) = receiver.recv(None) {
                        let _ = done.send(number);
                    }
                }
            });
            assert_eq!(sender.expect("a thread").try_send(number, 1), Ok(()));
        }
        writer.finish();
        assert_eq!(written.try_iter().collect::<Vec<_>>(), [0, 1, 2]);
    }
}
