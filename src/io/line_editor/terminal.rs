//! Terminal of an edited line: mode, size, foreground, bytes.
//!
//! Invariant: only a process in the foreground changes or reads the terminal.

use std::{
    collections::VecDeque,
    env,
    io::{self, IsTerminal as _},
    sync::{Mutex, PoisonError},
    thread,
    time::Duration,
};

use nix::sys::signal::{SigSet, Signal};
use rustix::{
    event::{PollFd, PollFlags, Timespec, poll},
    io::Errno,
    process::getpgrp,
    termios::{
        LocalModes, OptionalActions, SpecialCodeIndex, Termios, tcgetattr, tcgetpgrp, tcgetwinsize,
        tcsetattr,
    },
};

use super::{LOOK_AGAIN, TerminalSignals};

/// State of the terminal before the first editor.
static BEFORE: Mutex<Option<Termios>> = Mutex::new(None);

/// Whether standard input and output are a terminal that can move its cursor.
pub(super) fn is_available() -> bool {
    let is_dumb = env::var_os("TERM").is_none_or(|term| term == "dumb");
    io::stdin().is_terminal() && io::stdout().is_terminal() && !is_dumb
}

/// Keeps the state of the terminal. This thread is not stopped for its use of the terminal in the background.
///
/// # Errors
/// Standard input is not a terminal.
pub(super) fn keep() -> io::Result<()> {
    let mut stops = SigSet::empty();
    stops.add(Signal::SIGTTIN);
    stops.add(Signal::SIGTTOU);
    stops.thread_block()?;
    let mut before = BEFORE.lock().unwrap_or_else(PoisonError::into_inner);
    if before.is_none() {
        *before = Some(tcgetattr(io::stdin())?);
    }
    Ok(())
}

/// Whether this process may use the terminal. A terminal of another session has no foreground process group.
pub(super) fn is_in_foreground() -> bool {
    tcgetpgrp(io::stdin()).map_or(true, |owner| owner == getpgrp())
}

/// Waits until this process may use the terminal.
///
/// # Errors
/// Standard input has ceased to be a terminal.
pub(super) fn wait_for_foreground() -> io::Result<()> {
    while !is_in_foreground() {
        if !io::stdin().is_terminal() {
            return Err(io::ErrorKind::NotConnected.into());
        }
        thread::sleep(LOOK_AGAIN);
    }
    Ok(())
}

/// Takes the terminal: keys arrive at once and without an echo. Returns false if it was so before. A shell changes the mode
/// while the process is stopped.
///
/// # Errors
/// System errors of the terminal.
pub(super) fn take(signals: TerminalSignals) -> io::Result<bool> {
    // Held, so that a restored terminal stays so.
    let before = BEFORE.lock().unwrap_or_else(PoisonError::into_inner);
    if before.is_none() {
        return Ok(false);
    }
    let mut mode = tcgetattr(io::stdin())?;
    if !mode.local_modes.contains(LocalModes::ICANON) {
        return Ok(false);
    }
    mode.local_modes.remove(LocalModes::ICANON | LocalModes::ECHO | LocalModes::IEXTEN);
    mode.local_modes.set(LocalModes::ISIG, signals == TerminalSignals::Sent);
    mode.special_codes[SpecialCodeIndex::VMIN] = 1;
    mode.special_codes[SpecialCodeIndex::VTIME] = 0;
    tcsetattr(io::stdin(), OptionalActions::Now, &mode)?;
    Ok(true)
}

/// Restores the terminal.
pub(super) fn restore() {
    let before = BEFORE.lock().unwrap_or_else(PoisonError::into_inner).take();
    if let Some(before) = before.filter(|_| is_in_foreground()) {
        // An error has no remedy here.
        let _ = tcsetattr(io::stdin(), OptionalActions::Now, &before);
    }
}

/// Whether the terminal takes output now. One that its user has paused does not.
pub(super) fn accepts_output() -> bool {
    let stdout = io::stdout();
    let now = Timespec { tv_sec: 0, tv_nsec: 0 };
    poll(&mut [PollFd::new(&stdout, PollFlags::OUT)], Some(&now)).is_ok_and(|count| count > 0)
}

/// Returns the number of columns, if the terminal tells it.
pub(super) fn columns() -> Option<usize> {
    let size = tcgetwinsize(io::stdout()).ok()?;
    Some(usize::from(size.ws_col)).filter(|&columns| columns > 0)
}

/// Waits for input. Returns whether there is some.
///
/// # Errors
/// System errors of the terminal.
pub(super) fn has_input(longest: Duration) -> io::Result<bool> {
    let stdin = io::stdin();
    let longest = Timespec::try_from(longest).ok();
    match poll(&mut [PollFd::new(&stdin, PollFlags::IN)], longest.as_ref()) {
        Ok(count) => Ok(count > 0),
        Err(Errno::INTR) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

/// Reads the bytes that have arrived. Returns false at the end of the input.
///
/// # Errors
/// System errors of the terminal.
pub(super) fn read(bytes: &mut VecDeque<u8>) -> io::Result<bool> {
    let mut chunk = [0; 1024];
    // The buffer of the standard library would hide bytes from the next wait.
    match rustix::io::read(io::stdin(), &mut chunk) {
        Ok(count) => {
            bytes.extend(&chunk[..count]);
            Ok(count > 0)
        }
        // The process has left the foreground since the wait.
        Err(Errno::INTR | Errno::AGAIN) => Ok(true),
        Err(Errno::IO) if !is_in_foreground() => Ok(true),
        Err(error) => Err(error.into()),
    }
}
