//! What the system or the operator's keyboard asks of the process.
//!
//! SIGINT and SIGTERM ask for a goodbye; the second of them ends the process at once, even when the loop
//! hangs, with the shell's usual status of 128 plus the signal's number. SIGHUP means "open your logs
//! anew". Elsewhere than on Unix there are no signals, and the system's own rules hold.

#[cfg(unix)]
pub use unix::Signals;

#[cfg(not(unix))]
pub use elsewhere::Signals;

/// What the loop is to do about a signal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Request {
    /// Say goodbye and end; the signal's number.
    Stop(i32),
    /// Reopen what was opened for writing.
    Hangup,
}

#[cfg(unix)]
mod unix {
    use super::Request;
    use mio::{Interest, Registry, Token};
    use signal_hook::{
        consts::{SIGHUP, SIGINT, SIGTERM},
        flag,
    };
    use std::{
        io,
        sync::{Arc, atomic::AtomicBool},
    };

    /// The process's signals, caught. One per process.
    pub struct Signals(signal_hook_mio::v1_0::Signals);

    impl Signals {
        /// Takes over SIGINT, SIGTERM and SIGHUP for the whole process.
        pub fn install() -> io::Result<Self> {
            let asked = Arc::new(AtomicBool::new(false));
            for signal in [SIGINT, SIGTERM] {
                // In this order: a first signal finds the flag down, and raises it.
                flag::register_conditional_shutdown(signal, 128 + signal, Arc::clone(&asked))?;
                flag::register(signal, Arc::clone(&asked))?;
            }
            signal_hook_mio::v1_0::Signals::new([SIGINT, SIGTERM, SIGHUP]).map(Self)
        }

        pub(in crate::io) fn register(
            &mut self,
            registry: &Registry,
            token: Token,
        ) -> io::Result<()> {
            registry.register(&mut self.0, token, Interest::READABLE)
        }

        pub(in crate::io) fn pending(&mut self) -> impl Iterator<Item = Request> {
            self.0.pending().map(|signal| match signal {
                SIGHUP => Request::Hangup,
                _ => Request::Stop(signal),
            })
        }
    }
}

#[cfg(not(unix))]
mod elsewhere {
    use super::Request;
    use mio::{Registry, Token};
    use std::io;

    /// Nothing to catch here.
    pub struct Signals(());

    impl Signals {
        /// Nothing to take over here.
        pub fn install() -> io::Result<Self> {
            Ok(Self(()))
        }

        pub(in crate::io) fn register(&mut self, _: &Registry, _: Token) -> io::Result<()> {
            Ok(())
        }

        pub(in crate::io) fn pending(&mut self) -> impl Iterator<Item = Request> {
            std::iter::empty()
        }
    }
}
