//! Work that a signal does not divide, such as writing a file.

/// Does some work. SIGINT and SIGTERM during the work end the process after it, with the shell's usual status.
pub fn uninterrupted<T>(work: impl FnOnce() -> T) -> T {
    #[cfg(unix)]
    {
        unix::uninterrupted(work)
    }
    #[cfg(not(unix))]
    {
        work()
    }
}

#[cfg(unix)]
mod unix {
    use std::{
        process,
        sync::{
            Arc,
            atomic::{AtomicUsize, Ordering},
        },
    };

    use signal_hook::{
        consts::{SIGINT, SIGTERM},
        flag, low_level,
    };

    pub(super) fn uninterrupted<T>(work: impl FnOnce() -> T) -> T {
        let caught = Arc::new(AtomicUsize::new(0));
        let handle = |signal: i32| {
            flag::register_usize(signal, Arc::clone(&caught), signal.unsigned_abs() as usize).ok()
        };
        let handlers = [SIGINT, SIGTERM].map(handle);
        let result = work();
        handlers.into_iter().flatten().for_each(|handler| {
            low_level::unregister(handler);
        });
        match caught.load(Ordering::Relaxed) {
            0 => result,
            signal => process::exit(128 + signal as i32),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::uninterrupted;

    #[test]
    fn work_returns_its_result() {
        assert_eq!(uninterrupted(|| 6 * 7), 42);
    }
}
