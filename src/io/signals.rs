//! Process signals: stop and reopen requests.
//!
//! While the loop runs, SIGINT and SIGTERM stop the node; a node may let its peers finish after the first SIGTERM. Before that, while files are loaded, they end the
//! process at once, as does a second one when the loop hangs, with the shell's usual status of 128 plus the
//! signal number. SIGHUP reopens log files. Other systems than Unix have no signals here.

#[cfg(unix)]
pub use unix::Signals;

#[cfg(not(unix))]
pub use elsewhere::Signals;

/// Request to the event loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Request {
    /// Stop the node and exit, with the signal's number.
    Stop(i32),
    /// End the node, which may let its peers finish, with the signal's number.
    Terminate(i32),
    /// Reopen log files.
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
        sync::{
            Arc,
            atomic::{AtomicBool, Ordering},
        },
    };

    /// Signal handlers of the process. One instance per process.
    pub struct Signals {
        caught: signal_hook_mio::v1_0::Signals,
        /// Whether the next signal ends the process.
        ends: Arc<AtomicBool>,
    }

    impl Signals {
        /// Installs handlers of SIGINT, SIGTERM and SIGHUP for the whole process.
        ///
        /// They are needed from the start: the first process of a container ignores signals without a handler.
        pub fn install() -> io::Result<Self> {
            let ends = Arc::new(AtomicBool::new(true));
            for signal in [SIGINT, SIGTERM] {
                // The order matters: a first signal sees the flag unset, and sets it.
                flag::register_conditional_shutdown(signal, 128 + signal, Arc::clone(&ends))?;
                flag::register(signal, Arc::clone(&ends))?;
            }
            let caught = signal_hook_mio::v1_0::Signals::new([SIGINT, SIGTERM, SIGHUP])?;
            Ok(Self { caught, ends })
        }

        pub(in crate::io) fn register(
            &mut self,
            registry: &Registry,
            token: Token,
        ) -> io::Result<()> {
            registry.register(&mut self.caught, token, Interest::READABLE)?;
            // From here on the loop handles the first signal.
            self.ends.store(false, Ordering::Relaxed);
            Ok(())
        }

        /// Leaves the next signal to the loop too, since it has handled one that does not stop the node.
        pub(in crate::io) fn rearm(&self) {
            self.ends.store(false, Ordering::Relaxed);
        }

        pub(in crate::io) fn pending(&mut self) -> impl Iterator<Item = Request> {
            self.caught.pending().map(|signal| match signal {
                SIGHUP => Request::Hangup,
                SIGTERM => Request::Terminate(signal),
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

    /// Signal handlers of other systems: none.
    pub struct Signals(());

    impl Signals {
        /// Installs no handlers.
        pub fn install() -> io::Result<Self> {
            Ok(Self(()))
        }

        pub(in crate::io) fn register(&mut self, _: &Registry, _: Token) -> io::Result<()> {
            Ok(())
        }

        pub(in crate::io) fn rearm(&self) {}

        pub(in crate::io) fn pending(&mut self) -> impl Iterator<Item = Request> {
            std::iter::empty()
        }
    }
}
