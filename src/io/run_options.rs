//! Options and result of an event loop run.

use std::io::Write;

#[cfg(feature = "server")]
use super::live::LiveListener;
use super::{
    console::Console, console_clients::ConsoleSocket, game_folder::GameFolder, game_log::GameLog,
    recordings::Recordings, signals::Signals,
};
use crate::{model::Millis, node::LoopCounters};

/// Reason why a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExitReason {
    /// The node finished.
    Finished,
    /// The node did not finish within the grace time after a stop request.
    GraceOver,
    /// A second signal arrived.
    Forced,
}

/// Result of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RunSummary {
    /// Reason why it ended.
    pub reason: ExitReason,
    /// Counters of the loop.
    pub counters: LoopCounters,
}

/// Progress callback: the node, the time, the counters.
pub type ProgressFn<'a, N> = dyn FnMut(&N, Millis, &LoopCounters) + 'a;

/// Callback during a run.
pub struct Progress<'a, N: ?Sized> {
    /// Time of the first call after the start, in ms; 0 is before the node counts as started.
    pub first: Millis,
    /// Minimum time between two calls, in ms.
    pub interval: Millis,
    /// The callback.
    pub call: Box<ProgressFn<'a, N>>,
}

/// Destination of the node's console output.
#[derive(Default)]
pub enum ConsoleOutput<'a> {
    /// Standard output, written by a thread: text that it does not accept is dropped and counted.
    #[default]
    Stdout,
    /// Any writer, called by the loop: a writer that blocks stalls the node.
    Writer(Box<dyn Write + 'a>),
}

/// Options of a run. The default has no signals, no console and no deadline.
pub struct Options<'a, N: ?Sized> {
    /// Signals of the process, if this run handles them.
    pub signals: Option<Signals>,
    /// Called on SIGHUP, to reopen log files. Returns console lines for the node.
    pub on_hangup: Option<Box<dyn FnMut() -> Vec<String> + 'a>>,
    /// Source of console lines.
    pub console: Console,
    /// Socket on which consoles attach.
    pub console_socket: Option<ConsoleSocket>,
    /// Destination of the node's console output.
    pub output: ConsoleOutput<'a>,
    /// Destination of the game log; None drops it.
    pub game_log: Option<GameLog>,
    /// Destination of the audit log; None drops it.
    pub audit_log: Option<GameLog>,
    /// Destination of recordings; None drops them.
    pub recordings: Option<Recordings>,
    /// Folder of the files that a game writes; None leaves them to the node.
    pub game_folder: Option<GameFolder>,
    /// Destination of the live stream; None drops it.
    #[cfg(feature = "server")]
    pub live: Option<LiveListener>,
    /// Time between two updates of the node's loop counters.
    pub count_interval: Millis,
    /// Callback during the run.
    pub progress: Option<Progress<'a, N>>,
    /// Time at which the node is asked to stop.
    pub deadline: Millis,
    /// Time that the node may take to finish after a stop request.
    pub grace: Millis,
}

impl<N: ?Sized> Default for Options<'_, N> {
    fn default() -> Self {
        Self {
            signals: None,
            on_hangup: None,
            console: Console::Off,
            console_socket: None,
            output: ConsoleOutput::default(),
            game_log: None,
            audit_log: None,
            recordings: None,
            game_folder: None,
            #[cfg(feature = "server")]
            live: None,
            count_interval: Millis::NEVER,
            progress: None,
            deadline: Millis::NEVER,
            grace: Millis(4000),
        }
    }
}
