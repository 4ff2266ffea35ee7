//! Computation in a thread of its own, for a caller that must not block.

use std::{
    io,
    sync::mpsc::{Receiver, TryRecvError, sync_channel},
    thread,
};

/// A running computation.
#[derive(Debug)]
pub struct Task<T>(Receiver<T>);

impl<T: Send + 'static> Task<T> {
    /// Starts a thread that computes a value.
    ///
    /// # Errors
    /// System errors of the thread.
    pub fn start(name: &str, compute: impl FnOnce() -> T + Send + 'static) -> io::Result<Self> {
        let (sender, receiver) = sync_channel(1);
        thread::Builder::new().name(name.to_owned()).spawn(move || {
            // The caller may have lost interest.
            let _ = sender.send(compute());
        })?;
        Ok(Self(receiver))
    }

    /// Returns the value once it is computed; an error if the thread has ended without one.
    pub fn poll(&self) -> Option<Result<T, io::Error>> {
        match self.0.try_recv() {
            Ok(value) => Some(Ok(value)),
            Err(TryRecvError::Empty) => None,
            Err(TryRecvError::Disconnected) => Some(Err(io::ErrorKind::BrokenPipe.into())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn task_returns_its_value_once() {
        let task = Task::start("test", || 7).unwrap();
        let value = loop {
            if let Some(value) = task.poll() {
                break value.unwrap();
            }
            thread::yield_now();
        };
        assert_eq!(value, 7);
        assert!(task.poll().is_none_or(|again| again.is_err()));
    }
}
